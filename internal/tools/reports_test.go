//go:build unix

package tools_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// report is something that users have reported of what they wrote, and the answer to it.
type report struct {
	wrote string // into plan.md, and the fsm.json of the skill s
	run   string // a line of the shell, in which plan and begin are those of reportShell
	code  int
	want  string // what is printed, and nothing of wrong, as expressions
	wrong string
}

// reportShell has what the lines of reports call: plan begins the plan, begin the skill s, and turn ends a turn of an agent to which
// a person has said something, with --stop hold.
const reportShell = `
plan() { fsmtx begin --list plan --plan plan.md "$@"; }
begin() { fsmtx begin s >/dev/null; }
turn() {
	printf '{"type": "user", "message": {"role": "user", "content": "%s"}}\n' "$1" >said.jsonl
	at="\"session_id\": \"session\", \"cwd\": \"$PWD\", \"transcript_path\": \"$PWD/said.jsonl\""
	echo "{$at, \"hook_event_name\": \"PostToolUse\", \"tool_name\": \"Skill\", \"tool_input\": {\"skill\": \"s\"}," \
		'"tool_response": {"success": true, "commandName": "s"}}' | fsmtx hook --agent claude >/dev/null
	echo "{$at, \"hook_event_name\": \"Stop\"}" | fsmtx hook --agent claude --stop hold
}
invalid() {
	mkdir -p $1/skills/bad && echo '[' >$1/skills/bad/fsm.json && fsmtx validate
}
policy() {
	git init -q . && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m x && touch ../signers
	printf '{"policy": 1, "skills": {"s": ["%s"]}}' "$1" >../policy.json
	fsmtx verify --policy ../policy.json --allowed-signers ../signers none
}
`

// TestReports: each row is a report, and the answer of the program. What cannot be said in a line of the shell has a test of its own: a new
// id after compact (hook_resume), a broken program (TestABrokenProgram), repositories of others and shallow clones (TestCausesAreNamed).
func TestReports(t *testing.T) {
	worlds.Long(t)
	one := func(members string) string { return `[{"id": 1, "subject": "A", ` + members + `}]` }
	const two = `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1]}]`
	back, held := `^\{"continue": true\}\n$`, `"additionalContext": "s: 0 of 2 steps done`
	for name, rows := range map[string][]report{
		"every box of a plan is a step, or it is refused with the line": {
			{wrote: "- [-] 1. Write\n- [ ] 2. Wire\n", run: "plan", want: `2 tasks #1, #2\.`},
			{wrote: "- [ ] 1. Write\n- [~] 2. Wire\n- [/] 3. Test\n", run: "plan", want: `3 tasks #1–#3\.(?s).*#2 2\. Wire, after #1`},
			{wrote: "- [] 1. Write\n- [ ] 2. Wire\n", run: "plan", want: `2 tasks #1, #2\.`},
			{wrote: "\ufeff- [ ] Write\n- [ ] Wire\n", run: "plan", want: `2 tasks #1, #2\.`},
			{wrote: "### Task 1: A\n\n- [ ] Write\n- [ ] Wire\n\n## Completion checklist\n\n- [ ] It works\n", run: "plan", want: `3 tasks #1–#3\.`},
			{wrote: "## Phase 1: A\n- [ ] Write\n## Phase 2: B\n- [ ] Test\n", run: "plan", want: `2 tasks #1, #2\.`},
			{wrote: "### Task 1: A\n- [ ] Write\n### Task 2: B\n- [ ] Test\n", run: "plan", want: `2 tasks #1, #2\.`},
			{wrote: "## Step 1: A\n- [ ] Write\n## Step 2: B\n- [ ] Test\n", run: "plan", want: `2 tasks #1, #2\.`},
			{wrote: "- [x] 1. Write\n  - [ ] 1.1 Test\n- [ ] 2. Ship\n", run: "plan", code: 1,
				want: `line 1: it is ticked, and its part in line 2 is not\nhint: .*--form tasks:LINE`},
			{wrote: "- [ ] 1.1 Write\n- [ ] 1.2 Test\n- [ ] 1. Parser\n", run: "plan", want: `3 tasks #1–#3\.(?s).*#3 1\. Parser, after #2`},
			{wrote: "- [ ] １．书写\n- [ ] ２．测试\n", run: "plan", want: `2 tasks #1, #2\.`},
			{wrote: "- [ ] а. Написать\n- [ ] б. Проверить\n", run: "plan", want: `2 tasks #1, #2\.`},
			{wrote: "1. Write\n2. Test\n", run: "plan", code: 1, want: `it has no boxes such as - \[ \]\nhint: fsmtx new DIR --from`},
			{wrote: "- [ ] T002 [SKIP] Drop the table\n- [ ] S3 bucket: empty\n- [ ] Lint `src/**/*.ts`\n", run: "plan",
				want: `#1 T002 \[SKIP\] Drop the table(?s).*#2 S3 bucket: empty.*#3 Lint .src/\*\*/\*\.ts.`},
			{wrote: "- [ ] T003 (after T009) [x](http://y) go\n- [ ] 3.14 is pi\n- [ ]* Test\n", run: "plan",
				want: `#1 T003 \(after T009\) \[x\]\(http://y\) go\n(?s).*#2 3\.14 is pi.*#3 Test \(optional\)`},
			{wrote: "- [ ] one\n- ✅ two\n- ⬜ three\n", run: "plan", code: 1, want: `line 2: write the mark as a box.*; line 3: write the box as`},
			{wrote: "- [ ] 2. Models\n- [ ] 2.1 Types\n", run: "plan", want: `2 tasks(?s).*#1 2\.1 Types.*#2 2\. Models`},
			{wrote: "- [ ] Models\n\n          - [ ] code\n", run: "plan", code: 1, want: `line 3: it is indented as code below a box`},
			{wrote: "- Write [ ]\n- [ ] Test\n", run: "plan", code: 1, want: `line 1: the box stands behind the text`},
		},
		"the box of the step is ticked, and nothing else changes": {
			{wrote: "```\n- [ ] Write\n```\n<!-- - [ ] Write -->\n- [ ] Write\n", run: "plan >out && fsmtx complete 1 --list plan >out; cat plan.md",
				want: "^```\n- \\[ \\] Write\n```\n<!-- - \\[ \\] Write -->\n- \\[x\\] Write\n$"},
			{wrote: "- [ ] Parse [x] boxes\n", run: "plan >out && fsmtx complete 1 --list plan >out; cat plan.md; " +
				"FSMTX_TEST_CALLER=person fsmtx step reopen 1 --because x --list plan >out; cat plan.md",
				want: `^- \[x\] Parse \[x\] boxes\n- \[ \] Parse \[x\] boxes\n$`},
			{wrote: "- [ ] Café\r\n- [ ] Ship", run: "plan >out && fsmtx complete 1 --list plan >out; cat plan.md",
				want: "^- \\[x\\] Café\r\n- \\[ \\] Ship$"},
			{wrote: "## A\n- [ ] test\n## B\n- [ ] test\n", run: `plan >out && printf '## B\n- [ ] test\n## A\n- [ ] test\n' >plan.md && ` +
				"fsmtx complete 1 --list plan >out; cat plan.md", want: "^## B\n- \\[ \\] test\n## A\n- \\[x\\] test\n$"},
			{wrote: "- [ ] a\n", run: "plan >out && echo '- [ ] c' >>plan.md && fsmtx complete 1 --list plan",
				want: `plan\.md differs from its workflow: it has a box that is no step: line 2, "c".* The workflow is complete\.`},
			{wrote: "- [ ] Caf\xe9\n", run: "plan", code: 1, want: `line 1: this is not text in UTF-8: save it as UTF-8`},
		},
		"a pattern means what it says": {
			{wrote: one(`"produces": ["app/[slug]/page.tsx"]`),
				run: `begin; mkdir -p 'app/[slug]' && echo x >'app/[slug]/page.tsx' && fsmtx complete 1`, want: `"A" is done`},
			{wrote: one(`"produces": ["{a,b}"]`), run: "fsmtx validate", code: 1, want: `braces are not expanded: list each pattern`},
			{wrote: one(`"ready": ["!a"]`), run: "fsmtx validate", code: 1, want: `a pattern cannot be negated: list what is wanted`},
			{wrote: two, run: "policy '{a,b}'", code: 2, want: `braces are not expanded`},
			{wrote: two, run: "policy '!x'", code: 2, want: `cannot be negated`},
			{wrote: two, run: "policy src/", code: 2, want: `this is a directory: write src/\*\*`},
			{wrote: two, run: "policy 'app/[slug]/**'", code: 2, want: `^none: no such file or directory\n`},
		},
		"stop is a stop if nothing else is said": {
			{wrote: two, run: "turn 'Stop it from crashing on empty input.'", want: held},
			{wrote: two, run: "turn 'Abort all pending requests when the client disconnects.'", want: held},
			{wrote: two, run: "turn 'Exit it with code 2 if the file is missing.'", want: held},
			{wrote: two, run: "turn 'Stop working on the docs and do the tests first.'", want: held},
			{wrote: two, run: "turn Stop", want: back},
			{wrote: two, run: "turn 'please stop here'", want: back},
			{wrote: two, run: "turn 'Stop. Do not write any more files.'", want: back},
		},
		"a check that is no shell is a mistake of the file": {
			{wrote: one(`"check": "if make test; then"`), run: "fsmtx validate", code: 1, want: `cannot run: shell syntax error`},
			{wrote: one(`"check": "if make test; then"`), run: "begin; fsmtx complete 1", code: 1,
				want: `its check cannot run(?s).*That is no failure of the work`},
			{wrote: one(`"check": "echo \"x"`), run: "fsmtx validate", code: 1, want: `without closing quote`},
			{wrote: one(`"check": "diff <(a) <(b)"`), run: "fsmtx validate", code: 1, want: `it is for bash, and /bin/sh runs it`},
			{wrote: one(`"check": "pytest | tee log"`), run: "fsmtx validate", want: `warning: .*its status is that of tee`},
			{wrote: one(`"check": "pytest || true"`), run: "fsmtx validate", want: `warning: .*its status is always 0: leave that out`},
			{wrote: one(`"check": "pytest; exit 0"`), run: "fsmtx validate", want: `warning: .*it ends with exit 0`},
		},
		"what a check has started ends with it at its limit": {
			{wrote: one(`"check": {"run": "setsid sh -c 'echo $$ >left; sleep 100' & sleep 100", "timeout": 1}`),
				run: "begin; fsmtx complete 1; kill -0 $(cat left)", code: 1, want: `it did not end within 1s(?s).*No such process`},
		},
		"what is produced is a file with something in it": {
			{wrote: one(`"produces": ["out"]`), run: `begin; printf ' \n\t\n' >out; fsmtx complete 1`, code: 1,
				want: `out has nothing but white space, and counts as empty`},
			{wrote: one(`"produces": ["out"]`), run: "begin; mkdir out; fsmtx complete 1", code: 1, want: `out is a directory, not a file`},
			{wrote: one(`"produces": ["out"]`), run: "begin; echo x >real; ln -s real out; fsmtx complete 1", want: `"A" is done`},
		},
		"the steps of a text are whole, or it is not sure": {
			{wrote: "1. Build it\n2. Test it\n\n**IMPORTANT**: After the tests, tell them.\n**MANDATORY:** Run the linter.\n",
				run: "fsmtx new d --from plan.md", want: `2 steps(?s).*plan\.md:4: left out: IMPORTANT`, wrong: `3 (IMPORTANT|MANDATORY)`},
			{wrote: "- **IMPORTANT**: After the build, tell them.\n- **MANDATORY:** Run the linter.\n", run: "fsmtx new d --from plan.md", code: 1,
				want: `no steps were found in the text of`},
			{wrote: "```dot\ndigraph {\nt [shape=diamond, label=\"Do the tests pass?\"];\nw [label=\"Write the code\"];\n" +
				"w -> t;\nt -> d [label=\"yes\"];\nt -> w [label=\"no\"];\nd [label=\"Ship it\"];\n}\n```\n",
				run: "fsmtx new d --from plan.md", want: `1 Write the code \(line 4\)\n +2 Do the tests pass\? \(line 3\)`},
			{wrote: "- [ ] T001 [Describe the first task]\n- [ ] T002 [Describe the second task]\n", run: "fsmtx new d --from plan.md", code: 1,
				want: `has a placeholder, as in a template(?s).*nothing was written`},
			{wrote: "# Tasks\n\n- [ ] T001 [P] [US1] [Title] in [path]\n- [ ] TXXX Another\n", run: "fsmtx new d --from plan.md", code: 1,
				want: `has a placeholder, as in a template(?s).*nothing was written`},
			{wrote: "## Steps\n\n1. Upload to S3 in `a/**/*.js`\n2. Read [it](b.md)\n", run: "fsmtx new d --from plan.md",
				want: "1 Upload to S3 in `a/\\*\\*/\\*\\.js`(?s).*2 Read \\[it\\]\\(b\\.md\\)"},
			{wrote: "## Steps\n\n1. Write {key} into the file\n2. Run it for <change-id>\n", run: "fsmtx new d --from plan.md",
				want: `1 Write \{key\} into the file(?s).*2 Run it for <change-id>`},
			{wrote: "## 1. Install the compiler\ntext\n## 1.1 Install the linter\ntext\n## 1.1.1 Clone the repository\ntext\n## 2. Build it\ntext\n",
				run: "fsmtx new d --from plan.md", want: `4 steps(?s).*1 Install the compiler.*2 Install the linter.*3 Clone.*4 Build it`},
			{wrote: "## 1 Setup\n### 1.1 Tools\n#### 1.1.1 Install the compiler\nDo it.\n### 1.2 Repo\n#### 1.2.1 Clone it\nDo it.\n",
				run: "fsmtx new d --from plan.md", code: 1, want: `plan\.md:2: --form headings:2(?s).*nothing was written`},
			{wrote: "## Steps\n\n1. Write it\n2. Test it\n\n## Acceptance criteria\n\n1. It reads ten files\n2. Errors have lines\n",
				run: "fsmtx new d --from plan.md", want: `2 steps(?s).*plan\.md:6: left out: Acceptance criteria`},
			{wrote: "- [ ] Write it\n- [ ] Test it\n\n## Acceptance criteria\n\n- [ ] It reads ten files\n", run: "fsmtx new d --from plan.md",
				want: `3 steps from plan\.md: a list of checkboxes(?s).*3 It reads ten files \(line 6\)`},
			{wrote: "- [ ] Write it\n- [ ] Test it\n\n## Acceptance criteria\n\n- [ ] It reads ten files\n", run: "plan", want: `3 tasks #1–#3\.`},
		},
		"validate looks where agents look": {
			{wrote: two, run: "invalid .agents", code: 1, want: `\.agents/skills/bad/fsm\.json:2:1: error`},
			{wrote: two, run: "invalid .qwen", code: 1, want: `\.qwen/skills/bad/fsm\.json:2:1: error`},
			{wrote: two, run: "invalid .gemini", code: 1, want: `\.gemini/skills/bad/fsm\.json:2:1: error`},
			{wrote: two, run: "invalid .github", code: 1, want: `\.github/skills/bad/fsm\.json:2:1: error`},
			{wrote: two, run: "invalid .opencode", code: 1, want: `\.opencode/skills/bad/fsm\.json:2:1: error`},
			{wrote: two, run: "invalid .codex", code: 1, want: `\.codex/skills/bad/fsm\.json:2:1: error`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range rows {
				r.check(t)
			}
		})
	}
}

func (r report) check(t *testing.T) {
	home, project := t.TempDir(), filepath.Join(t.TempDir(), "project")
	put := func(name, text string) {
		file := filepath.Join(project, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	put("plan.md", r.wrote)
	if r.wrote[0] == '[' {
		put(".claude/skills/s/SKILL.md", "---\nname: s\ndescription: A skill.\n---\n")
		put(".claude/skills/s/fsm.json", r.wrote)
	}
	c := exec.Command("/bin/sh", "-c", reportShell+r.run)
	c.Dir = project
	c.Env = []string{"HOME=" + home, "PATH=" + program.Dir(t) + ":/usr/bin:/bin", "FSMTX_TEST_CALLER=script", "LC_ALL=C"}
	out, err := c.CombinedOutput()
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		require.NoError(t, err)
	}
	assert.Equal(t, r.code, code, "%q: %s: %s", r.wrote, r.run, out)
	assert.Regexp(t, r.want, string(out), "%q: %s", r.wrote, r.run)
	if r.wrong != "" {
		assert.NotRegexp(t, r.wrong, string(out), "%q: %s", r.wrote, r.run)
	}
}
