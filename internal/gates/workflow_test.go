package gates

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

func release() workflow.Workflow {
	return workflow.Workflow{
		Version: workflow.Version, Command: "release", Spec: "/skills/release/fsm.json", SHA256: strings.Repeat("ab",
			32), Session: "s1", Dir: "/project",
		Steps: []workflow.Step{
			{ID: 8, Local: 1, Subject: "Build", Status: "completed", Produces: []string{"dist/*.tar.gz"}},
			{
				ID: 9, Local: 2, Subject: "Test", Status: "pending", BlockedBy: []int64{8}, Ready: []string{"dist/app.tar.gz"},
				Check: &workflow.Check{Run: "make test", Timeout: 0.5, Dir: "app"}, Approval: "Publish?",
			},
		},
	}
}

func TestEncodeAndParseWorkflow(t *testing.T) {
	line, err := release().Encode()
	require.NoError(t, err)
	require.Equal(t, `{"version":6,"command":"release","spec":"/skills/release/fsm.json","sha256":"`+strings.Repeat("ab", 32)+
		`","session":"s1","dir":"/project","steps":[`+
		`{"id":8,"local":1,"subject":"Build","status":"completed","produces":["dist/*.tar.gz"]},`+
		`{"id":9,"local":2,"subject":"Test","status":"pending","blockedBy":[8],"ready":["dist/app.tar.gz"],"check":{"run":"make `+
		`test","timeout":0.5,"dir":"app"},"approval":"Publish?"}]}`, line)
	back, err := workflow.ParseWorkflow(line)
	require.NoError(t, err)
	require.NotNil(t, back.Machine)
	back.Machine = nil
	require.Equal(t, release(), back)
	require.Equal(t, 500*time.Millisecond, back.Steps[1].Check.Limit())
}

// An invalid record must not become a workflow with fewer gates.
func TestInvalidRecords(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *workflow.Workflow)
		want   string
	}{
		"dir":     {func(w *workflow.Workflow) { w.Dir = "" }, "has no dir"},
		"number":  {func(w *workflow.Workflow) { w.Steps[0].ID = 0 }, "step #0: the number is out of range or not unique"},
		"twice":   {func(w *workflow.Workflow) { w.Steps[0].ID = 9 }, "step #9: the number is out of range or not unique"},
		"local":   {func(w *workflow.Workflow) { w.Steps[0].Local = 2 }, "step #9: local id 2 is out of range or not unique"},
		"status":  {func(w *workflow.Workflow) { w.Steps[0].Status = "done" }, `step #8: unknown status "done"`},
		"blocker": {func(w *workflow.Workflow) { w.Steps[1].BlockedBy = []int64{7} }, "step #9: blocked by #7, which is not a step"},
		"run":     {func(w *workflow.Workflow) { w.Steps[1].Check.Run = " " }, "step #9: a check without a command"},
		"timeout": {func(w *workflow.Workflow) { w.Steps[1].Check.Timeout = 0 }, "step #9: a check with a timeout of 0 seconds"},
		"huge":    {func(w *workflow.Workflow) { w.Steps[1].Check.Timeout = 1e300 }, "step #9: a check with a timeout of 1e+300 seconds"},
		"tiny":    {func(w *workflow.Workflow) { w.Steps[1].Check.Timeout = 1e-300 }, "step #9: a check with a timeout of 1e-300 seconds"},
		"limit":   {func(w *workflow.Workflow) { w.Steps[1].Check.Timeout = 1801 }, "step #9: a check with a timeout of 1801 seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			w := release()
			c.change(&w)
			_, err := w.Encode()
			require.ErrorContains(t, err, c.want)
		})
	}
	for text, want := range map[string]string{
		``:                        "the record of a workflow: 1:1: unexpected end of file",
		`{"version":6,"dir":3}`:   "the record of a workflow: 1:20: dir: got a number",
		`{"version":1}x`:          "the record of a workflow: 1:14: ",
		`{"version":3,"gates":1}`: "the workflow was recorded by another version of fsmtx: version 3, want 6",
		`{"version":6,"dir":"/p","steps":[{"id":1,"local":1,"status":"pending","check":"make"}]}`: "check: got a string",
	} {
		_, err := workflow.ParseWorkflow(text)
		require.ErrorContains(t, err, want, text)
	}
	_, err := workflow.ParseWorkflow(`{"version":9}`)
	require.ErrorIs(t, err, workflow.ErrVersion)
}

func TestAnyWorkflowSurvivesEncodeAndParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := workflow.Workflow{
			Version: workflow.Version, Command: rapid.String().Draw(t, "command"), Spec: rapid.String().Draw(t, "spec"),
			Session: rapid.String().Draw(t, "session"), Dir: "/" + rapid.String().Draw(t, "dir"),
		}
		for i := range rapid.IntRange(0, 6).Draw(t, "steps") {
			s := workflow.Step{ID: 40 + int64(i), Local: int64(i) + 1, Subject: rapid.String().Draw(t, "subject"),
				Status: rapid.SampledFrom([]string{"pending", "in_progress", "completed"}).Draw(t, "status")}
			if i > 0 && rapid.Bool().Draw(t, "blocked") {
				s.BlockedBy = []int64{40}
			}
			if rapid.Bool().Draw(t, "gated") {
				s.Produces = rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "produces")
				s.Check = &workflow.Check{Run: "x" + rapid.String().Draw(t, "run"), Timeout: rapid.Float64Range(0.001, 1800).Draw(t, "timeout")}
				s.Approval = rapid.String().Draw(t, "approval")
			}
			w.Steps = append(w.Steps, s)
		}
		line, err := w.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "\n") {
			t.Fatalf("more than one line: %q", line)
		}
		back, err := workflow.ParseWorkflow(line)
		if err != nil {
			t.Fatal(err)
		}
		back.Machine = nil
		if len(w.Steps) == 0 {
			w.Steps, back.Steps = nil, nil
		}
		require.Equal(t, w, back)
	})
}
