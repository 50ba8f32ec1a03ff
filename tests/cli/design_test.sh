#!/bin/sh
# stoika design: the comparison, its questions, its refusals.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

cat >chat.yaml <<'END'
design: a chat and a small model
gpus: [rtx-pro-6000-bw-server, h200-sxm-141gb, l4, b300-sxm]
workloads:
  - {name: chat, model: llama-3.1-70b, precision: awq, prompt: 8192, answer: 512}
  - {name: small, model: llama-3.1-8b, precision: fp8, prompt: 1000, answer: 200, rps: 5, ttft_s: 0.6, itl_ms: 25}
END
expect 0 "$STOIKA" design chat.yaml
says '^chat: Llama 3.1 70B in int4, 16 sequences of 8192 [+] 512 tokens$'
says 'price unknown'
says "^  question: what is 'sequences'[?] 16 is used; 4 would need [0-9]* GPUs, 128 [0-9]* GPUs$"
says '^one card for all, with one to spare:$'
expect 0 "$STOIKA" --json design chat.yaml
says '"fits": true'
says '"used": 16'

echo 'workloads: [{model: llama-3.1-405b, precision: bf16}]' >large.yaml
echo 'gpus: [l4]' >>large.yaml
expect 1 "$STOIKA" design large.yaml
says ' l4  *no: 8 x 24.0 GB hold no sequence of 2560 tokens beside weights of 811.7 GB$'

echo 'workloads: [{model: llama-3.1-8b, precision: fp5}]' >bad.yaml
expect 3 "$STOIKA" design bad.yaml
warns "bad.yaml:1:.*there is no precision 'fp5'"
expect 2 "$STOIKA" design absent.yaml
