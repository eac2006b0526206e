package trial_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// report is what fsmtx test --json prints.
type report struct {
	Tests []struct {
		File, Result, Message, Log string
	}
	Workflows []struct {
		Skill string
		Tests int
		Gates []struct {
			Step, Kind, Outcome string
			Refused, Passed     int
		}
		Outcomes []struct {
			Step, Outcome string
			Taken         int
		}
		Branches []struct {
			Step              string
			Needed, NotNeeded bool
		}
	}
}

// tested requires that the tests of all workflows in a directory pass, and have seen all that a test can.
func tested(t *testing.T, dir string) {
	c := exec.Command(program.Path(t), "test", "--strict", "--json", dir)
	c.Dir, c.Env = dir, append(os.Environ(), "HOME="+t.TempDir())
	c.Stderr = os.Stderr
	out, err := c.Output()
	var r report
	require.NoError(t, json.Unmarshal(out, &r, json.MatchCaseInsensitiveNames(true)), "%s", out)
	require.NotEmpty(t, r.Workflows)
	for _, one := range r.Tests {
		assert.Equal(t, "passed", one.Result, "%s: %s\n%s", one.File, one.Message, one.Log)
	}
	for _, w := range r.Workflows {
		assert.NotZero(t, w.Tests, w.Skill)
		for _, g := range w.Gates {
			assert.True(t, g.Refused > 0 && g.Passed > 0, "%s: %+v", w.Skill, g)
		}
		for _, o := range w.Outcomes {
			assert.NotZero(t, o.Taken, "%s: %+v", w.Skill, o)
		}
		for _, b := range w.Branches {
			assert.True(t, b.Needed && b.NotNeeded, "%s: %+v", w.Skill, b)
		}
	}
	require.NoError(t, err)
}

// TestEveryTemplateIsTested: each gate of a template is seen refusing and passing, each outcome taken, and each branch needed and not.
func TestEveryTemplateIsTested(t *testing.T) {
	worlds.Long(t)
	dir := filepath.Join(t.TempDir(), "skills")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../testdata/workflows")))
	tested(t, dir)
}

// TestTheExampleRepositoryIsTested: so is the skill of the complete repository in the documents.
func TestTheExampleRepositoryIsTested(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repository")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../docs/examples/skills-repository")))
	tested(t, dir)
}

// TestTheWorkflowsOfTheMachineAreTested: so are the eight workflows by which the language was made.
func TestTheWorkflowsOfTheMachineAreTested(t *testing.T) {
	worlds.Long(t)
	dir := filepath.Join(t.TempDir(), "skills")
	files, err := filepath.Glob("../../testdata/machine/*.json")
	require.NoError(t, err)
	require.Len(t, files, 8)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		skill(t, dir, name, string(text), "../../testdata/machine/tests/"+name)
	}
	for _, name := range []string{"release-notes", "speckit-specify", "speckit-plan"} {
		skill(t, dir, name, "", "")
	}
	tested(t, dir)
}

// skill writes a skill with a workflow and its tests, if there are any.
func skill(t *testing.T, dir, name, spec, tests string) {
	t.Helper()
	put := func(file, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o644))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	put("SKILL.md", "---\nname: "+name+"\ndescription: A skill.\n---\n")
	if spec != "" {
		put("fsm.json", spec)
		require.NoError(t, os.CopyFS(filepath.Join(dir, name, "tests"), os.DirFS(tests)))
	}
}

// TestTheWorkflowsInTheDocumentsAreTested: so is every workflow that a page shows.
func TestTheWorkflowsInTheDocumentsAreTested(t *testing.T) {
	worlds.Long(t)
	dir := filepath.Join(t.TempDir(), "skills")
	block := regexp.MustCompile("(?ms)^```json\n(.*?)^```$")
	for page, names := range map[string][]string{
		"README.md": {"readme"}, "docs/comparison.md": {"numbers"}, "docs/start.md": {"start"}, "docs/steps.md": {"tdd"},
		"docs/write.md":   {"release", "retry", "kind", "review", "packages", "only"},
		"docs/measure.md": {""}, // has its own test, and runs it
		"docs/faq.md":     nil, "docs/agents.md": nil, "docs/windows.md": nil, "docs/compatibility.md": nil, "docs/commands.md": nil,
		"docs/README.md": nil, "docs/ci.md": {"", ""}, // a policy, and settings
	} {
		text, err := os.ReadFile("../../" + page)
		require.NoError(t, err)
		blocks := block.FindAllStringSubmatch(string(text), -1)
		require.Len(t, blocks, len(names), page)
		for i, name := range names {
			spec := blocks[i][1]
			if name == "only" { // the page shows one step of it
				spec = `{"fsm": 2, "steps": [{"id": 4, "subject": "Review"}, ` + spec + "]}"
			}
			if name != "" {
				skill(t, dir, name, spec, "../../testdata/docs/"+name)
			}
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.Len(t, pages, 12, "a page that is new belongs into the table")
	tested(t, dir)
}
