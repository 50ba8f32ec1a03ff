/* domain_priv - what the core's domains share: models, GPUs and precisions from inputs. */
#pragma once

#include "inventory/design/ask.h"
#include "inventory/design/card.h"
#include "inventory/design/domain.h"
#include "inventory/design/llm.h"

/* The model by name and its stated figures over it; need_layers: refuses one without. */
void domain_model(struct ask *a, struct llm *m, bool need_layers);
/* Total parameters: stated, computed from the architecture, or by params_rule. */
double domain_params(struct ask *a, struct llm *m);
/* False when no GPU is named; otherwise its record, fallback when the input is absent. */
bool domain_card(struct ask *a, const char *fallback, struct card *out);
void domain_precision(struct ask *a, const char *key, const char *fallback, struct precision *out);
/* Memory of the GPU in bytes by whichever key has it; 0: none. */
double domain_memory(struct ask *a, const struct card *c);

void domain_model_params(struct ask *a);
void domain_weights(struct ask *a);
void domain_kv(struct ask *a);
void domain_budget(struct ask *a);
void domain_capacity(struct ask *a);
void domain_decode(struct ask *a);
void domain_latency(struct ask *a);
void domain_throughput(struct ask *a);
void domain_states(struct ask *a);
void domain_zero(struct ask *a);
void domain_finetune(struct ask *a);
void domain_activations(struct ask *a);
void domain_parallelism(struct ask *a);
void domain_time(struct ask *a);
void domain_mfu(struct ask *a);
void domain_moe(struct ask *a);
void domain_video_decode(struct ask *a);
void domain_video_inference(struct ask *a);
