#!/bin/sh
# Recipes before any node: list, show, check with its warnings, new, and what needs what.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

recipe() { # NAME: from standard input
	mkdir -p "recipes/$1"
	cat > "recipes/$1/recipe.yaml"
}
export STOIKA_RECIPES="$PWD/recipes"

# a new one is right at once
mkdir recipes
expect 0 "$STOIKA" recipe new demo --in recipes
says '^new recipe recipes/demo$'
ok 'undo is left to what nodes remember' sh -c '! grep -q ^undo: recipes/demo/recipe.yaml'
expect 0 "$STOIKA" recipe check demo --strict
says 'no mistakes: 2 steps, 0 handlers, 1 check$'
expect 2 "$STOIKA" recipe new demo --in recipes
warns "cannot make the folder 'recipes/demo'"
expect 2 "$STOIKA" recipe new 'a b'
warns "'a b' is no name for a recipe"

expect 0 "$STOIKA" recipe list
says "^$PWD/recipes:\$"
says '^  demo +a greeting for who logs in$'
says '^  base '
expect 0 "$STOIKA" recipe list --names
says '^demo$'
expect 0 "$STOIKA" recipe list --json
ok 'where each is from' jq -e '.[0].recipe == "demo" and (.[0].dir | endswith("recipes/demo")) and .[0].hidden == false' "$CHECK_DIR/out"
recipe broken <<'EOF'
recipe: broken
stepps: []
EOF
expect 0 "$STOIKA" recipe list
says '^  broken +broken: unknown key'
mkdir -p other/demo && cp -r recipes/demo/. other/demo
STOIKA_RECIPES="$PWD/recipes:$PWD/other" expect 0 "$STOIKA" recipe list
says 'hidden by the one of a folder above'
rm -r recipes/broken other

expect 0 "$STOIKA" recipe show demo
says '^demo: a greeting'
says "^folder: .*recipes/demo\$"
says '^  greeting +text +the words$'
says '^ +default: welcome$'
says '^   1 directory '
says '^   1 the text is there$'
says '^# demo$'
expect 0 "$STOIKA" recipe show base --json
ok 'steps with their kinds' jq -e '.step_list[0].kind == "package" and .params[0].type == "list"' "$CHECK_DIR/out"
expect 2 "$STOIKA" recipe show dmo
warns "there is no recipe 'dmo'"
warns "did you mean 'demo'"
expect 2 "$STOIKA" recipe show elsewhere
warns "hint: recipes are looked for in $PWD/recipes; STOIKA_RECIPES names more folders, ./elsewhere is one here"

# its own tests, on throw-away roots
[ -x "$STOIKA_BUILD/bin/stoika-agent" ] || skip 'needs stoika-agent'
expect 0 "$STOIKA" recipe test demo
says '^ok .* by-hand$'
says '^ok .* fresh$'
says '^2 tests, 0 failed$'
echo other > recipes/demo/tests/fresh/after/etc/demo/text
expect 1 "$STOIKA" recipe test ./recipes/demo
says '^FAILED .* fresh$'
says "first run: the tree is not as it should be:$"
says "^ +'etc/demo/text' has other bytes$"
says '^2 tests, 1 failed; --keep leaves'
expect 1 "$STOIKA" recipe test demo --keep
says '^2 tests, 1 failed$'
kept=$(sed -n 's/^ *the tree is in //p' "$CHECK_DIR/out")
ok 'both trees are kept' test "$(echo "$kept" | wc -l)" -eq 2
for root in $kept; do
	case $root in
	/tmp/stoika-trial-*/root)
		ok 'what the recipe made is in it' test -f "$root/etc/demo/text"
		rm -r "${root%/root}"
		;;
	esac
done
expect 1 "$STOIKA" recipe test demo --json
ok 'results in JSON' jq -e '[.[].good] == [true, false]' "$CHECK_DIR/out"
echo hello > recipes/demo/tests/fresh/after/etc/demo/text
echo 'frst: {state: ok}' >> recipes/demo/tests/fresh/case.yaml
expect 1 "$STOIKA" recipe test demo
says "cannot be laid: .*the case has no key 'frst'"
says 'demo/tests/fresh/case.yaml: the case has no key'
sed -i '$d' recipes/demo/tests/fresh/case.yaml

# a secret that a test needs is in the test
recipe sealed <<'EOF'
recipe: sealed
about: a file with a secret in it
params:
  token: {type: secret, about: what it holds}
steps:
  - file: {path: /etc/token, mode: "0600", content: "token={{ params.token }}"}
EOF
mkdir -p recipes/sealed/tests/one/after/etc
printf 'token=abc' > recipes/sealed/tests/one/after/etc/token
cat > recipes/sealed/tests/one/case.yaml <<'EOF'
about: the value is in the file
params: {sealed: {token: {$secret: t}}}
secrets: {t: abc}
first: {state: changed}
EOF
expect 0 "$STOIKA" recipe test sealed
says '^ok .* one$'
sed -i 's/t: abc/t: 5/' recipes/sealed/tests/one/case.yaml
expect 1 "$STOIKA" recipe test sealed
says "the secret 't' must be a text; put it in quotes"
sed -i '/^secrets/d' recipes/sealed/tests/one/case.yaml
expect 1 "$STOIKA" recipe test sealed
says "needs secret 't'"
rm recipes/sealed/tests/one/case.yaml
mkfifo recipes/sealed/tests/one/case.yaml # nobody ever writes to it
expect 1 timeout 20 "$STOIKA" recipe test sealed
says 'case.yaml. is no plain file'
rm -r recipes/sealed

# killed in the middle, it leaves no agent at work
mkdir -p recipes/long/tests/one
cat > recipes/long/recipe.yaml <<'EOF'
recipe: long
about: takes its time
steps:
  - command: {run: [sh, -c, "echo begun > /srv/begun; while :; do :; done"], creates: /srv/ended, timeout: 50}
EOF
mkdir -p recipes/long/tests/one/before/srv
printf 'about: it ends\nfirst: {state: changed}\n' > recipes/long/tests/one/case.yaml
"$STOIKA" recipe test long > long.out 2>&1 &
tester=$!
at_work() { # is there an agent that tries this test's recipe?
	for cmd in /proc/[0-9]*/cmdline; do
		tr '\0' ' ' < "$cmd" | grep -q "stoika-agent[ ]trial .*$PWD/recipes/long/" && return 0
	done 2> "$PWD/gone"
	return 1
}
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	! at_work || break
	sleep 0.2
done
ok 'the agent is at work' at_work
kill -KILL "$tester"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	at_work || break
	sleep 0.2
done
at_rest() { ! at_work; }
ok 'and ends with who asked for it' at_rest
rm -r recipes/long
expect 2 "$STOIKA" recipe test base
warns 'has no tests'
STOIKA_AGENT=/nonexistent expect 2 "$STOIKA" recipe test demo

# warnings
recipe sloppy <<'EOF'
recipe: sloppy
params:
  port: {type: int, default: 1}
  unread: {type: text, default: x, about: nothing reads it}
steps:
  - command: {run: [echo, "{{ params.port }}"]}
EOF
mkdir recipes/sloppy/files && : > recipes/sloppy/files/left-over
expect 0 "$STOIKA" recipe check sloppy
says 'no mistakes: 1 step, 0 handlers, 0 checks; 6 warnings'
says 'recipe.yaml:1:1: warning: .*not say what it is about \(no-about\)'
says 'warning: nothing checks .* \(no-check\)'
says 'recipe.yaml:6:5: warning: the command runs at each apply.* \(unguarded-command\)'
says "recipe.yaml:4:.*nothing reads the parameter 'unread' \(unused-param\)"
says "recipe.yaml:3:.*'port' is not explained \(param-without-about\)"
says 'no step uses files/left-over \(unused-file\)'
expect 1 "$STOIKA" recipe check sloppy --strict
expect 0 "$STOIKA" recipe check sloppy --json
ok 'warnings in JSON' jq -e '[.warnings[].warning] | length == 6' "$CHECK_DIR/out"

# text from outside in a line for a shell
recipe bare <<'EOF'
recipe: bare
about: a test
params:
  user: {type: text, default: x, about: who}
steps:
  - command: {shell: "useradd {{ params.user }}", creates: /home/x}
  - command: {shell: "useradd {{ quote(params.user) }}", creates: /home/x}
check: [{name: is there, expect: exists('/home/x')}]
EOF
expect 0 "$STOIKA" recipe check bare
says '1 warning$'
says "recipe.yaml:6:.*'params.user' stands in a shell's line without quote\(\) \(unquoted-shell\)"
says 'hint: write \{\{ quote\(params.user\) \}\}'

# what needs what: the place of the word, and the chain
recipe a <<'EOF'
recipe: a
needs: [b]
steps: [{directory: {path: /a}}]
EOF
recipe b <<'EOF'
recipe: b
needs: [demo, c]
steps: [{directory: {path: /b}}]
EOF
recipe c <<'EOF'
recipe: c
needs:
  - a
steps: [{directory: {path: /c}}]
EOF
expect 3 "$STOIKA" recipe check a
warns 'c/recipe.yaml:3:5: error: recipes need each other in a circle: a -> b -> c -> a$'
warns "take one of these names out of a 'needs:'"
recipe c <<'EOF'
recipe: c
needs: [deno]
steps: [{directory: {path: /c}}]
EOF
expect 3 "$STOIKA" recipe check a
warns "c/recipe.yaml:2:9: error: recipe 'c' needs 'deno': there is no recipe 'deno'"
warns "did you mean 'demo'"
recipe c <<'EOF'
recipe: c
steps: [{directory: {path: /c}}]
EOF
expect 0 "$STOIKA" recipe check a

# apply wants both words, or --roles
expect 2 "$STOIKA" apply gpu01
warns "'apply' needs RECIPE and NODES"
warns 'RECIPE NODES; or --roles NODES'
expect 2 "$STOIKA" plan --roles a gpu01
warns "takes the recipes from the nodes' roles"

# completion asks for recipes and knows the kinds of step
expect 0 "$STOIKA" completion bash
cp "$CHECK_DIR/out" completion
complete_words() { # WORD ...: what comes for the last of them
	PATH="$(dirname "$STOIKA"):$PATH" bash -c '. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stoika; echo "${COMPREPLY[*]}"' - "$@"
}
if command -v bash > /dev/null; then
	expect 0 complete_words stoika recipe show de
	says '^demo$'
	expect 0 complete_words stoika apply ba
	says 'base'
	expect 0 complete_words stoika help step sys
	says '^sysctl$'
	expect 0 complete_words stoika manual stoika-step-fil
	says '^stoika-step-file '
	expect 0 complete_words stoika recipe ''
	says 'list show check new test'
fi
