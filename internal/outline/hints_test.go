package outline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// TestHints are proposed only where the text says so: a false one costs more trust than a
// missing one.
func TestHints(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"check", "Run `go test ./...` and make sure it passes.", `"check": "go test ./..."`},
		{"check in the next sentence", "Run `npm run lint`. It must be clean.", `"check": "npm run lint"`},
		{"check and what follows if it fails", "Run the tests with `make test`. If they fail, fix the code.", `"check": "make test"`},
		{"command without a result", "Run `go test ./...`.", ""},
		{"result without a command", "All tests must pass.", ""},
		{"command with a placeholder", "Run `npm test <file>` until it passes.", ""},
		{"command with a variable", "Run `make $TARGET`; it must succeed.", ""},
		{"product", "Write the findings to `docs/findings.md`.", `"produces": ["docs/findings.md"]`},
		{"product with a placeholder", "Write it to `docs/{name}.md`.", ""},
		{"product elsewhere", "Save it as `/tmp/x.md`.", ""},
		{"a file that is read", "Read `docs/findings.md`.", ""},
		{"approval", "Wait for the user's approval.", `"approval": "Do you approve this step: Draft it?"`},
		{"approval by a noun", "Human approval required.", `"approval": "Do you approve this step: Draft it?"`},
		{"approval that is awaited", "Await approval.", `"approval": "Do you approve this step: Draft it?"`},
		{"somebody signs off", "The DBA signs off.", `"approval": "Do you approve this step: Draft it?"`},
		{"question before the next step", "Stop and ask the user before continuing.", `"approval": "Do you approve this step: Draft it?"`},
		{"nothing without approval", "Do not go on without asking for approval.", `"approval": "Do you approve this step: Draft it?"`},
		{"nobody is asked", "Do not ask the user for confirmation.", ""},
		{"nobody is asked, in another way", "Proceed without asking for approval.", ""},
		{"no approval", "No user confirmation is needed.", ""},
		{"approval that is not needed", "User approval is not required.", ""},
		{"a file that is not to be written", "Never write to `.env.local`.", ""},
		{"a file that is not to be committed", "Don't commit `secrets.json`.", ""},
		{"a question that is not asked, beside one that is", "Do not ask twice, but wait for approval.", ""},
		{"no approval by a program", "There is no automatic approval: wait for the user to approve.", ""},
		{"approval that is demanded twice", "Ask for confirmation; approval is required.", `"approval": "Do you approve this step: Draft it?"`},
		{"approval of some cases", "Ask for approval on big changes.", "it is not sure that this approval is always wanted, and of whom: if it " +
			"is, add it to this step, or to the one before"},
		{"something before approval", "Do not request review until the user approves.", "the approval has to come before something that " +
			"is not a step: make that a step of its own, after one with the approval"},
		{"approval by a noun at the end", "Pause here for human review.", `"approval": "Do you approve this step: Draft it?"`},
		{"nothing is awaited", "Don't await confirmation; go straight on.", ""},
		{"no need of approval", "There is no need to ask the user for confirmation.", ""},
		{"approval as a subject", "Explain why human approval matters.", ""},
		{"confirmation as a product", "Implement the user confirmation email.", ""},
		{"review as a source", "Read the human review comments.", ""},
		{"a program that is awaited", "Await the response, then confirm the status.", ""},
		{"a session that signs off", "The session signs off automatically.", ""},
		{"another question before a step", "Ask the user for their name before greeting them.", ""},
		{"a program that asks", "The CLI will ask the user before deleting.", ""},
		{"a file that is written, and what is not", "Do not write code yet; save the plan to `plan.md`.", `"produces": ["plan.md"]`},
		{"product of a name in capitals", "Write the entry into CHANGELOG.md.", `"produces": ["CHANGELOG.md"]`},
		{"capitals that are read", "Look into CHANGELOG.md.", ""},
		{"question for leave", "Show the diff to the user and ask whether it is all right.",
			`"approval": "Do you approve this step: Draft it?"`},
		{"question for a wish", "Ask the user whether they like tea.", ""},
		{"loop", "Repeat until nothing is left.",
			`the text goes back or repeats, and here each step is done once: in the object form "outcomes" lead back, ` +
				`such as {"again": {"back": 1, "max": 3}, "done": {}}`},
		{"back", "If it fails, go back to step 1.",
			`the text goes back or repeats, and here each step is done once: in the object form "outcomes" lead back, ` +
				`such as {"again": {"back": 1, "max": 3}, "done": {}}`},
		{"order", "Do this in parallel with the next one.",
			"the text gives an order of its own, and here each step waits for the one before it: see blockedBy"},
		{"optional", "Skip this step for small changes.",
			`the text makes this optional, and here every step is done: in the object form "when" leaves steps out`},
		{"a file that is read before it is written", "Before the first write, read `references/x.md`.", ""},
		{"a file that is read when one writes", "When you write, read `references/x.md`.", ""},
		{"a file that is read before something is written", "Read `references/x.md` before the first write, see `y.md`.", ""},
		{"nothing", "Look at every file.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := outline.Markdown([]byte("## Step 1: Draft it\n\n"+c.line+"\n\n## Step 2: Stop\n"), "")
			got := ""
			for _, h := range o.Hints {
				assert.EqualValues(t, 1, h.Step)
				assert.Equal(t, 3, h.Line)
				got += h.Gate + h.Note
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestApprovalOfAStepThatAsks: a step that only asks for approval is about the steps before it.
func TestApprovalOfAStepThatAsks(t *testing.T) {
	o := outline.Markdown([]byte("1. Write the plan.\n2. Ask the user for approval.\n3. Publish.\n"), "")
	require.Len(t, o.Hints, 1)
	assert.Equal(t, `"approval": "Do you approve of the work so far?"`, o.Hints[0].Gate)
}

// TestGatesProposeAnApproval: a heading that is a gate is one.
func TestGatesProposeAnApproval(t *testing.T) {
	o := outline.Markdown([]byte("## Step 1: Write\n\n## Step 2: Send\n\n## GATE 2: Final Confirmation\n"), "")
	require.Len(t, o.Steps, 3)
	require.Len(t, o.Hints, 1)
	assert.EqualValues(t, 3, o.Hints[0].Step)
	assert.Equal(t, `"approval": "Do you approve this step: Final Confirmation?"`, o.Hints[0].Gate)
}

// TestApprovalBeforeAnAct: an approval that has to come before what a step does is not asked for at its end.
func TestApprovalBeforeAnAct(t *testing.T) {
	const split = "the approval has to come before what this step goes on to do: make that a step of its own, after one with the approval"
	const other = "the approval has to come before something that is not a step: make that a step of its own, after one with the approval"
	const where = "it is not sure whether the approval comes before this step or at its end: add it to the step before, or to this one"
	const some = "it is not sure that this approval is always wanted, and of whom: if it is, add it to this step, or to the one before"
	const before = `"approval": "May the next step begin: Post the report?"`
	for _, c := range []struct {
		name, text string
		step       int64
		want       string
	}{
		{"it is the act of the step", "1. Draft the report\n2. Post the report. Ask the user for approval before posting.\n", 1, before},
		{"it comes first in the step", "1. Draft the report\n2. Post the report: get approval from the user, then post it.\n", 1,
			`"approval": "May the next step begin: Post the report: get approval from the user, then post it?"`},
		{"the step asks and acts", "1. Build\n2. Ask the user for approval, then post the report\n", 2, split},
		{"it names an earlier step", "1. Build\n2. Deploy\n3. Watch. Ask the user for approval before step 2.\n", 0, ""},
		{"it names the next step", "1. Build\n2. Push\n\n   **Gate:** the team lead approves before Step 3.\n3. Roll it out\n", 2,
			`"approval": "Do you approve this step: Push?"`},
		{"it names a later step", "1. Build. Before step 3, ask the team lead for approval.\n2. Push\n3. Roll it out\n", 2,
			`"approval": "May the next step begin: Roll it out?"`},
		{"it names this step", "1. Build\n2. Push. Ask the user for approval before you start step 2.\n3. Roll it out\n", 1,
			`"approval": "May the next step begin: Push?"`},
		{"it asks for another thing, and acts", "1. Build\n2. Publish\n3. Ask the user for approval of the text, then post it\n", 3,
			split},
		{"the act waits for it", "1. Draft it\n2. Publish after the maintainer has approved it\n3. Rest\n", 1,
			`"approval": "May the next step begin: Publish after the maintainer has approved it?"`},
		{"the act is in the next sentence", "1. Build\n2. Draft the report. Wait for the user's approval. Then post it.\n", 2, split},
		{"the act is in the next item", "1. Build\n2. Report\n   - Draft the report\n   - Ask the user for approval\n   - Post it\n", 2, split},
		{"there is no step before", "1. Ask the user for approval, then post the report\n2. Rest\n", 1, split},
		{"the act is the next step", "1. Draft the report. Ask the user for approval before posting.\n2. Post the report\n", 1,
			`"approval": "Do you approve this step: Draft the report?"`},
		{"it is for the act, in a noun", "1. Draft it\n2. Commit the change. Obtain the user's approval for the commit.\n", 1,
			`"approval": "May the next step begin: Commit the change?"`},
		{"it is needed for the act", "1. Draft it\n2. Publish the package. Approval is needed for publishing.\n", 1,
			`"approval": "May the next step begin: Publish the package?"`},
		{"the act needs it", "1. Draft it\n2. Delete the old data. Deletion requires the user's approval.\n", 1,
			`"approval": "May the next step begin: Delete the old data?"`},
		{"it is for a later act", "1. Fix the code. Get the user's approval for the commit.\n2. Test it\n3. Commit the change\n", 2,
			`"approval": "May the next step begin: Commit the change?"`},
		{"it is for an act of no step", "1. Draft it\n2. Fix the code. Get the user's approval for the commit.\n", 2, other},
		{"it is of what the step makes", "1. Draft it\n2. Write the plan. Get the user's approval of the plan.\n", 2,
			`"approval": "Do you approve this step: Write the plan?"`},
		{"the act cannot be taken back", "1. Draft it\n2. Rotate the keys. Approval by the owner is required.\n", 2, where},
		{"the step does more", "1. Draft it\n2. Write the script and run it. Ask the user for approval.\n", 2, where},
		{"the text does more", "1. Draft it\n2. Write the script.\n   - Upload it.\n   - Approval is required.\n", 2, where},
		{"the first step only asks", "1. Get the user's approval first.\n2. Post the report\n", 1,
			`"approval": "Do you approve of the work so far?"`},
		{"it is only of some", "1. Draft it\n2. Post the report. Breaking changes need the user's approval.\n", 2, some},
		{"what is done if it is refused", "1. Build\n2. Draft the report. Ask the user for approval. If they refuse, delete it.\n", 2,
			`"approval": "Do you approve this step: Draft the report?"`},
		{"what is not done before", "1. Build\n2. Draft the report. Ask the user for approval. Do not post it yet.\n", 2,
			`"approval": "Do you approve this step: Draft the report?"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := outline.Markdown([]byte("## Steps\n\n"+c.text), "")
			if c.want == "" {
				require.Empty(t, o.Hints)
				return
			}
			require.Len(t, o.Hints, 1, "%v", o.Hints)
			assert.Equal(t, c.want, o.Hints[0].Gate+o.Hints[0].Note)
			assert.Equal(t, c.step, o.Hints[0].Step)
		})
	}
}

// TestTakenBackIsTold: which sentence takes a proposal back is said, and nothing if there is none to take back.
func TestTakenBackIsTold(t *testing.T) {
	const steps = "# Steps\n1. Write the plan. Ask the user for approval.\n2. Run `make test`. It must pass.\n"
	for before, want := range map[string]string{
		"---\nname: x\ndescription: Shop release automation helper\n---\n": "3: Shop release automation helper: it is not known what this " +
			"says, and it may forbid something, so nothing is proposed that the text demands",
		"---\ndescription: >\n  Releases it.\n  Do not use it.\n---\n": "2: Do not use it: it may say that the steps are not binding, or " +
			"not always, so nothing is proposed that the text demands",
		"---\nstatus: draft\n---\n": "2: status: draft: it may say that the steps are not binding, or not always, so nothing is proposed that " +
			"the text demands",
		"For large changes.\n\n": "1: For large changes: it may say that the steps are not binding, or not always, so nothing is proposed that " +
			"the text demands",
		"Step 2 is optional.\n\n":                      "1: Step 2 is optional: it may take back what a step demands, so that is not proposed",
		"There is no one to ask.\n\n":                  "1: There is no one to ask: it may say that nobody is asked, so no approval is proposed",
		"## Commands\n\n- Test: slow.\n\n":             "3: Test: slow: it may forbid `make test`, so that is not proposed as a check",
		"---\ndescription: Test the change.\n---\n":    "",
		"---\ndescription: Create a blog post.\n---\n": "",
	} {
		o := outline.Markdown([]byte(before+steps), "list")
		var told []string
		for _, l := range o.Left {
			if l.Why != "" {
				told = append(told, fmt.Sprintf("%d: %s", l.Line, l))
			}
		}
		assert.Equal(t, want, strings.Join(told, "; "), before)
		o = outline.Markdown([]byte(before+"# Steps\n1. Write it.\n2. Rest.\n"), "list")
		for _, l := range o.Left {
			assert.Empty(t, l.Why, before)
		}
	}
}
