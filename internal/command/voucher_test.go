package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// usual are lines as agents write them, each with how many commands in it are vouched for. They are never refused.
var usual = map[string]int{
	"fsmtx complete 2":                1,
	"fsmtx start 1":                   1,
	"fsmtx finish 2":                  1,
	`fsmtx complete "#2"`:             1,
	"fsmtx next":                      0,
	"fsmtx status --json | jq .next":  0,
	"/usr/local/bin/fsmtx complete 2": 1,
	"cd /src/app && fsmtx complete 2": 1,
	"cd packages/api && npm test && cd ../.. && fsmtx complete 2": 1,
	"fsmtx complete 2 2>&1":                                                                                 1,
	"fsmtx complete 2 2>&1 | tail -20":                                                                      1,
	"fsmtx complete 2 > /tmp/out.txt 2>&1; cat /tmp/out.txt":                                                1,
	"fsmtx complete 2 | tee -a log.txt":                                                                     1,
	"fsmtx complete 1 && fsmtx start 2":                                                                     2,
	"fsmtx complete 1; fsmtx start 2; fsmtx next":                                                           2,
	"fsmtx complete 2 || fsmtx next":                                                                        1,
	"npm test && fsmtx complete 2":                                                                          1,
	"npm run lint && npm test -- --run && fsmtx complete 2 --outcome approved":                              1,
	"NODE_ENV=test npm test && fsmtx complete 2":                                                            1,
	"CI=1 npx vitest run 2>&1 | tail -n 40; fsmtx complete 2":                                               1,
	"PYTHONPATH=src python -m pytest -q && fsmtx complete 2":                                                1,
	"GOFLAGS=-mod=mod go test ./... && fsmtx complete 3":                                                    1,
	"(cd pkg && make -s test) && fsmtx complete 2":                                                          1,
	"(source .venv/bin/activate && pytest -x) && fsmtx complete 2":                                          1,
	"nvm use 20 && npm ci && fsmtx complete 1":                                                              1,
	"conda run -n app pytest && fsmtx complete 2":                                                           1,
	"git add -A && git commit -m 'Add the parser' && fsmtx complete 4":                                      1,
	"git commit -m \"$(cat <<'EOF'\nAdd fsmtx complete 2\n\nCo-Authored-By: X\nEOF\n)\"":                    0,
	"fsmtx complete 2 --note \"$(git log -1 --oneline)\"":                                                   1,
	"fsmtx complete 2 --note=\"built $(date +%F)\"":                                                         1,
	"fsmtx complete 2 --note \"$(cat <<'EOF'\nTests pass.\nEOF\n)\"":                                        1,
	"VERSION=$(node -p \"require('./package.json').version\"); fsmtx complete 3 --set version=\"$VERSION\"": 1,
	"VERSION=$(cat VERSION) && echo $VERSION && fsmtx complete 3 --set version=1.4.0":                       1,
	"RESULT=$(npm test 2>&1); echo \"$RESULT\" | tail -20; fsmtx complete 2":                                1,
	"npx tsc --noEmit; echo \"exit: $?\"; fsmtx complete 2":                                                 1,
	"set -euo pipefail; make build; fsmtx complete 1":                                                       1,
	"if fsmtx complete 2; then echo ok; else fsmtx next; fi":                                                1,
	"while ! curl -sf localhost:3000/health; do sleep 1; done; fsmtx complete 3":                            1,
	"for f in src/*.ts; do npx eslint \"$f\"; done; fsmtx complete 2":                                       1,
	"for i in 1 2 3; do fsmtx complete 2 && break; sleep 5; done":                                           1,
	"timeout 600 fsmtx complete 2":                                                                          1,
	"time fsmtx complete 2":                                                                                 1,
	"nohup fsmtx complete 2 > check.log 2>&1 &":                                                             1,
	"sleep 2 && fsmtx start 3":                                                                              1,
	"bash scripts/test.sh && fsmtx complete 2":                                                              1,
	"bash -c 'npm test' && fsmtx complete 2":                                                                1,
	"python3 - <<'EOF'\nprint('fsmtx complete 2')\nEOF\nfsmtx complete 2":                                   1,
	"cat > notes.md <<'EOF'\nThen run fsmtx complete 2\nEOF":                                                0,
	"grep -rn 'fsmtx complete' docs | head":                                                                 0,
	"echo 'Run: fsmtx complete 2'":                                                                          0,
	"command -v fsmtx && fsmtx next":                                                                        0,
	"which fsmtx; fsmtx --version":                                                                          0,
	"fsmtx begin release --args \"1.4.0\"":                                                                  1,
	"fsmtx begin .agents/skills/release":                                                                    1,
	"fsmtx continue":                                                                                        1,
	"exec 2>&1; fsmtx complete 2":                                                                           1,
	"trap 'rm -f /tmp/x' EXIT; npm test; fsmtx complete 2":                                                  1,
	"docker compose up -d && fsmtx complete 3":                                                              1,
	"echo '{\"a\": 1}' | jq . && fsmtx start 2":                                                             1,
	"cd \"$(git rev-parse --show-toplevel)\" && fsmtx complete 2":                                           1,
	"cd /src/app && npx vitest run 2>&1 | tail -20 && npm run build 2>&1 | tail -20 && fsmtx complete 2":    1,
	"cd /src/app\npython -m pytest -q 2>&1 | tail -20\nfsmtx complete 2":                                    1,
	"fsmtx complete 2 || true":                                                                              1,
	"fsmtx complete 2; echo \"exit: $?\"":                                                                   1,
	"fsmtx complete 2 >/dev/null 2>&1 && echo ok || echo refused":                                           1,
	"fsmtx complete 2 2>&1 | tee /tmp/fsm.log | tail -3":                                                    1,
	"fsmtx complete 2 2>&1 | head -50":                                                                      1,
	"pushd packages/a >/dev/null && fsmtx complete 2; popd >/dev/null":                                      1,
	"{ npm test && fsmtx complete 2; } 2>&1 | tail -5":                                                      1,
	"npm test > /tmp/t.log 2>&1 && fsmtx complete 2 || tail /tmp/t.log":                                     1,
	"fsmtx complete 2 &":                                                                                    1,
	"~/go/bin/fsmtx complete 2":                                                                             1,
	"$HOME/.local/bin/fsmtx complete 2":                                                                     1,
	"\"${HOME}/go/bin/fsmtx\" complete 2 | cat":                                                             1,
	"./node_modules/.bin/fsmtx complete 2":                                                                  1,
	"set -e\nnpm run lint\nfsmtx complete 2 --note 'lint is clean'":                                         1,
	"fsmtx complete 2 --note \"all 41 tests pass\" 2>&1":                                                    1,
	"(cd web && npm ci && npm test) 2>&1 | tail -40; fsmtx complete 2":                                      1,
	"test -f notes.md && wc -l notes.md && fsmtx complete 2":                                                1,
	"[ -d dist ] || npm run build; fsmtx complete 2":                                                        1,
	"curl -s localhost:3000/health | grep -q ok && fsmtx complete 2":                                        1,
	"rc=0; make -s test || rc=$?; fsmtx complete 2":                                                         1,
	"DIR=$(pwd) && cd sub && fsmtx complete 2":                                                              1,
	"A=1; fsmtx complete 2":                                                                                 1,
	"files=(a b); wc -l \"${files[@]}\"; fsmtx complete 2":                                                  1,
	"declare -a files=(a b); fsmtx complete 2":                                                              1,
	"check() { npm test; }; check && fsmtx complete 2":                                                      1,
	"unset x; fsmtx complete 2":                                                                             1,
	"export -p > /dev/null; fsmtx complete 2":                                                               1,
	"while read -r l; do echo \"$l\"; done < list.txt; fsmtx complete 2":                                    1,
	"mapfile -t files < <(git ls-files); fsmtx complete 2":                                                  1,
	"printf '%s\n' \"$x\"; fsmtx complete 2":                                                                1,
	"printf -v now '%(%F)T'; fsmtx complete 2":                                                              1,
	"n=$((n + 1)); ((n++)); let n=n+1; fsmtx complete 2":                                                    1,
	"npm test & wait $!; fsmtx complete 2":                                                                  1,
	"shopt -s globstar; ls **/*.go; fsmtx complete 2":                                                       1,
	"\"$(npm root)/.bin/jest\" && fsmtx complete 2":                                                         1,
	"timeout -k 5 60s fsmtx complete 2":                                                                     1,
	"timeout -s KILL 10 nice -n 5 fsmtx complete 2":                                                         1,
	"x=$(export A=1; echo $A); fsmtx complete 2":                                                            1,
	"source .venv/bin/activate && fsmtx complete 2":                                                         1,
	"cd app && source venv/bin/activate && pytest -q && fsmtx start 2":                                      1,
	". .venv/bin/activate; pytest -q; fsmtx complete 2":                                                     1,
	". ~/.nvm/nvm.sh && nvm use 20 && fsmtx complete 2":                                                     1,
	"source ~/.bashrc; fsmtx complete 2":                                                                    1,
	"source ~/miniconda3/etc/profile.d/conda.sh && conda activate x; fsmtx complete 2":                      1,
	`source "$(conda info --base)/etc/profile.d/conda.sh" && conda activate x && fsmtx complete 2`:          1,
	`. "$HOME/.cargo/env" && fsmtx complete 2`:                                                              1,
	"stdbuf -oL fsmtx complete 2":                                                                           1,
	"declare -p PATH; fsmtx complete 2":                                                                     1,
	"conda activate app && fsmtx complete 2":                                                                1,
	"eval \"$(direnv export bash)\" && fsmtx complete 2":                                                    1,
	"eval \"$(pyenv init -)\"; pyenv shell 3.12; fsmtx complete 2":                                          1,
	"eval `opam env`; fsmtx complete 2":                                                                     1,
	"alias ll='ls -l'; alias; ll; fsmtx complete 2":                                                         1,
}

// hiding are lines in which something changes the environment of the command, or hides what it is.
var hiding = map[string]string{
	"MAKEFLAGS=-n fsmtx complete 2":                                    "MAKEFLAGS=…",
	"PATH=$PWD/fake:$PATH fsmtx complete 2":                            "PATH=…",
	"A=1 fsmtx start 2":                                                "A=…",
	"PATH=$PWD/fake:$PATH; fsmtx complete 2":                           "what sets PATH",
	"PATH=$PWD/fake:$PATH; ls $PATH; fsmtx complete 2":                 "what sets PATH",
	"HOME=/tmp; echo $HOME; fsmtx complete 2":                          "what sets HOME",
	"MAKEFLAGS=-n; fsmtx complete 2":                                   "what sets MAKEFLAGS",
	"export MAKEFLAGS=-n && fsmtx complete 2":                          "export",
	"declare -x MAKEFLAGS=-n; fsmtx complete 2":                        "declare",
	"set -a; X=1; fsmtx complete 2":                                    "set -a",
	"set -o allexport; fsmtx complete 2":                               "set allexport",
	"(export A=1; fsmtx complete 2)":                                   "export",
	"exec env fsmtx complete 2":                                        "exec",
	"unset CLAUDECODE; fsmtx complete 2":                               "what sets CLAUDECODE",
	". ./env.sh; fsmtx complete 2":                                     ".",
	"source env && fsmtx complete 2":                                   "source",
	"source ~/project/.env; fsmtx complete 2":                          "source",
	"eval \"$(cat env)\" && fsmtx complete 2":                          "eval",
	"eval \"$(pyenv init -; cat env)\"; fsmtx complete 2":              "eval",
	"eval export MAKEFLAGS=-n; fsmtx complete 2":                       "eval",
	"eval \"$(cat env)\" MAKEFLAGS=-n; fsmtx complete 2":               "eval",
	"alias fsmtx='env A=1 fsmtx'; fsmtx complete 2":                    "an alias",
	"alias nice='env A=1'; nice fsmtx complete 2":                      "an alias",
	"alias $a; fsmtx complete 2":                                       "an alias",
	"fsmtx() { MAKEFLAGS=-n command fsmtx \"$@\"; }; fsmtx complete 2": "a function",
	"hash -p ./fake make; fsmtx complete 2":                            "hash",
	"command export A=1; fsmtx complete 2":                             "export",
	"env MAKEFLAGS=-n fsmtx complete 2":                                "env would run it",
	"env -u CLAUDECODE fsmtx start 2":                                  "env would run it",
	"sudo fsmtx complete 2":                                            "sudo would run it",
	"sh -c 'fsmtx complete 2'":                                         "handed to another program",
	"bash -lc 'MAKEFLAGS=-n fsmtx complete 2'":                         "handed to another program",
	"for n in 2 3; do fsmtx complete $n; done":                         "known only when it runs",
	"fsmtx complete $(fsmtx next --json | jq .next)":                   "known only when it runs",
	"echo 2 | xargs fsmtx complete":                                    "xargs would run it",
	"HOME=/tmp; ~/bin/fsmtx complete 2":                                "what sets HOME",
	"npx fsmtx complete 2":                                             "npx would run it",
	"npx --yes fsmtx start 2 2>&1 | tail -5":                           "npx would run it",
	"bash -lc \"cd /src && fsmtx complete 2\"":                         "handed to another program",
	"export CI=1; npm test && fsmtx complete 2":                        "export",
	"env -C /src fsmtx complete 2":                                     "env would run it",
	"direnv exec . fsmtx complete 2":                                   "direnv would run it",
	"uv run fsmtx complete 2":                                          "uv would run it",
	"docker compose exec app fsmtx complete 2":                         "docker would run it",
	"timeout 60 env MAKEFLAGS=-n fsmtx complete 2":                     "env would run it",
	"nice env PATH=$PWD/fake fsmtx complete 2":                         "env would run it",
	"nohup env MAKEFLAGS=-n fsmtx complete 2":                          "env would run it",
	"command env MAKEFLAGS=-n fsmtx complete 2":                        "env would run it",
	"nice -n 5 sudo fsmtx complete 2":                                  "sudo would run it",
	"timeout 5 $RUN fsmtx complete 2":                                  "$RUN would run it",
	"read PATH <<< $PWD/fake:$PATH; fsmtx complete 2":                  "what sets PATH changes",
	"read HOME <<< /tmp; fsmtx complete 2":                             "what sets HOME changes",
	"read CLAUDE_CODE_SESSION_ID <<< x; fsmtx complete 2":              "what sets CLAUDE_CODE_SESSION_ID",
	"printf -v PATH %s $PWD/fake; fsmtx complete 2":                    "what sets PATH",
	"for PATH in $PWD/fake; do fsmtx complete 2; done":                 "what sets PATH",
	"select PATH in a b; do fsmtx complete 2; break; done <<< 1":       "what sets PATH",
	"let HOME=1; fsmtx complete 2":                                     "what sets HOME",
	"((HOME = 1)); fsmtx complete 2":                                   "what sets HOME",
	"((HOME++)); fsmtx complete 2":                                     "what sets HOME",
	": ${GIT_DIR:=x}; fsmtx complete 2":                                "what sets GIT_DIR",
	"readonly PATH=$PWD/fake; fsmtx complete 2":                        "what sets PATH",
	"unset PATH; fsmtx complete 2":                                     "what sets PATH",
	"trap 'export MAKEFLAGS=-n' DEBUG; fsmtx complete 2":               "trap may change",
	"mapfile -c 1 -C 'export A=1; :' x < Makefile; fsmtx complete 2":   "mapfile may change",
	"E=export; $E MAKEFLAGS=-n; fsmtx complete 2":                      "$E may change",
	"\"$(echo export)\" MAKEFLAGS=-n; fsmtx complete 2":                "$(echo export) may change",
	"set -k; fsmtx complete MAKEFLAGS=-n 2":                            "set -k may change",
	"set -o keyword; fsmtx complete 2":                                 "set keyword may change",
	"declare -n p=PATH; p=$PWD/fake; fsmtx complete 2":                 "declare may change",
	"command() { \"$@\"; }; command fsmtx complete 2":                  "a function may change",
	"find . -name go.mod -exec fsmtx complete 2 \\;":                   "find would run it",
}

// lineRun gives a line of the agent's shell to the hook, in an event as the client sends it, and returns its exit code, what it said,
// and the vouchers.
func lineRun(t *testing.T, line string) (code int, said string, vouchers []state.Voucher) {
	home := t.TempDir()
	env := map[string]string{"HOME": home, "CLAUDE_PROJECT_DIR": home, "CLAUDECODE": "1"}
	input, err := json.Marshal(map[string]any{"command": line, "description": "Work on the step"})
	require.NoError(t, err)
	event := fmt.Sprintf(`{"session_id": "s", "transcript_path": "%[1]s/s.jsonl", "cwd": %[1]q, "prompt_id": "p", "permission_mode": "default",
"effort": {"level": "high"}, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": %[2]s, "tool_use_id": "t"}`,
		home, input)
	var out, errs bytes.Buffer
	s := terminal.Streams{In: strings.NewReader(event), Out: &out, Err: &errs,
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Caller: func() caller.Caller { return caller.Caller{Kind: caller.Agent, Program: caller.Claude} }}
	list := filepath.Join(home, ".claude/tasks/s")
	dir, err := txn.StateDir(list)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.MkdirAll(list, 0o700))
	code = hook.Run(t.Context(), s, hookFlags())
	return code, errs.String(), presence.Of(list).Vouchers
}

func TestUsualLinesOfAgentsAreNotRefused(t *testing.T) {
	require.GreaterOrEqual(t, len(usual), 50)
	for line, want := range usual {
		code, said, vouchers := lineRun(t, line)
		assert.Equal(t, ExitOK, code, "%s\n%s", line, said)
		assert.Len(t, vouchers, want, line)
	}
}

func TestLinesThatHideACommandAreRefused(t *testing.T) {
	for line, why := range hiding {
		code, said, vouchers := lineRun(t, line)
		assert.Equal(t, ExitBlock, code, line)
		assert.Contains(t, said, why, line)
		assert.Contains(t, said, "Run it plainly, without variables: fsmtx ", line)
		assert.Empty(t, vouchers, line)
	}
}
