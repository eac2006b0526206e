package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// Workflow is a workflow that is visible from a directory, with the state of its file.
type Workflow struct {
	locator.Workflow
	Steps   int        `json:"steps"`
	Valid   bool       `json:"valid"`
	Problem string     `json:"problem"` // the first one, "" if it is valid
	Only    CallableBy `json:"only"`    // who alone can call the skill
	Agents  []string   `json:"agents"`  // those that find it if Claude Code does not; empty otherwise

	Unedited int   `json:"-"` // steps that are examples of fsmtx new
	more     int   // problems
	unread   bool  // it cannot be read, so its content is unknown
	bare     bool  // there is no SKILL.md
	apart    bool  // the client runs it in an agent of its own
	noShell  error // why a command of it cannot run on this machine
}

// CallableBy is who alone can call a skill in Claude Code; empty is everybody.
type CallableBy string

// The callers of a skill, by its frontmatter (fact 167, client 2.1.329).
const (
	byPerson CallableBy = "person" // disable-model-invocation
	byAgent  CallableBy = "agent"  // user-invocable: false
	byNobody CallableBy = "nobody" // both
)

// Note says who alone can call the skill, for people. It is empty for everybody.
func (c CallableBy) Note() string {
	switch c {
	case byPerson:
		return "only a person can call it: disable-model-invocation"
	case byAgent:
		return "only the agent can call it: user-invocable is false"
	case byNobody:
		return "nobody can call it: disable-model-invocation, and user-invocable is false"
	}
	return ""
}

// CallableByOf returns who alone can call the skill with this SKILL.md or command file. It is
// empty for a file that cannot be read.
func CallableByOf(files locator.FS, document string) CallableBy {
	data, err := client.ReadSkill(files, document)
	if err != nil {
		return ""
	}
	noAgent, _ := frontmatter.SkillSwitch(data, "disable-model-invocation")
	person, said := frontmatter.SkillSwitch(data, "user-invocable")
	switch noPerson := said && !person; {
	case noAgent && noPerson:
		return byNobody
	case noAgent:
		return byPerson
	case noPerson:
		return byAgent
	}
	return ""
}

// documentOf returns the SKILL.md beside a workflow, or the command's file that has its folder's name.
func documentOf(files locator.FS, w locator.Workflow) string {
	folder := filepath.Dir(w.Path)
	skill := filepath.Join(folder, "SKILL.md")
	if _, err := files.Lstat(skill); err == nil {
		return skill
	}
	return folder + ".md"
}

// ReadWorkflow reads and checks the file of a workflow.
func ReadWorkflow(files locator.FS, w locator.Workflow) Workflow {
	v := read(files, w)
	document := documentOf(files, w)
	v.Only = CallableByOf(files, document)
	if head, err := client.ReadSkill(files, document); err == nil {
		v.apart = frontmatter.RunsApart(head)
	}
	_, err := files.Lstat(document)
	v.bare = errors.Is(err, fs.ErrNotExist) && slices.Contains(ofSkills(), w.Rule)
	return v
}

// ofSkills are the kinds of places whose folders are skills only with a SKILL.md.
func ofSkills() []locator.Rule {
	return []locator.Rule{locator.RuleManaged, locator.RuleUser, locator.RuleProject, locator.RuleParent, locator.RuleMainWorkTree,
		locator.RuleAddDir, locator.RuleNestedSkill, locator.RulePluginSkill}
}

func read(files locator.FS, w locator.Workflow) Workflow {
	data, err := locator.ReadSpec(files, w.Path, fsmspec.MaxBytes)
	if err != nil {
		return Workflow{Workflow: w, unread: true, Problem: strings.TrimPrefix(err.Error(), w.Path+": ")} // the path is shown beside it
	}
	spec, err := fsmspec.Parse(data)
	if invalid, ok := errors.AsType[*fsmspec.InvalidError](err); ok {
		return Workflow{Workflow: w, Problem: invalid.Problems[0].Error(), more: len(invalid.Problems) - 1}
	}
	if err != nil {
		return Workflow{Workflow: w, Problem: err.Error()}
	}
	return Workflow{Workflow: w, Steps: spec.Len(), Valid: true, Unedited: len(outline.Unedited(spec.Tasks())), noShell: noShell(spec.Tasks())}
}

// noShell returns why a command of the tasks, or of their parts, cannot run on this machine.
func noShell(tasks []fsmspec.Task) error {
	for _, t := range tasks {
		commands := t.Commands()
		if t.Each != nil && t.Each.Run != nil {
			commands = append(commands, *t.Each.Run)
		}
		for _, c := range commands {
			if err := hydrate.NoShell(c.Shell); err != nil {
				return err
			}
		}
		if err := noShell(t.Parts); err != nil {
			return err
		}
	}
	return nil
}

// State returns the number of steps, or the first error of an invalid file.
func (v Workflow) State() string {
	switch {
	case v.unread:
		return "cannot be read: " + v.Problem
	case v.more > 0:
		return fmt.Sprintf("not valid: %s … and %d more", v.Problem, v.more)
	case !v.Valid:
		return "not valid: " + v.Problem
	}
	return terminal.Count(v.Steps, "step")
}

// Reason returns the reason why the client does not run the workflow, empty if it does.
func (v Workflow) Reason() string {
	switch {
	case v.Off != "":
		return v.Off
	case v.ShadowedBy != "":
		return "shadowed by " + v.ShadowedBy
	case v.Unused:
		return "no name leads to it"
	case v.bare:
		return "the client does not see this skill: it has no SKILL.md"
	case v.apart:
		return "it runs in an agent of its own, where no step is enforced: context: fork"
	}
	return ""
}

// Deep is a workflow that the client does not see, because its skill is not directly in a directory of skills (fact 193).
type Deep struct{ Path, Why, Remedy string }

// TooDeep returns a workflow as one that the client does not see; ok is false if that is not known of it.
func TooDeep(path string) (d Deep, ok bool) {
	abs, err := filepath.Abs(path)
	folder := filepath.Dir(abs)
	if err != nil || !exists(folder, "SKILL.md") {
		return d, false
	}
	for dir := filepath.Dir(folder); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		above := filepath.Dir(dir)
		if filepath.Base(dir) == "skills" && (filepath.Base(above) == ".claude" || exists(above, client.ManifestPath)) {
			return Deep{path, "the client does not see this skill: it has those that are directly in " + dir,
				"mv " + shell.Join(folder, dir)}, dir != filepath.Dir(folder)
		}
	}
	return d, false
}

// DeepBelow returns the workflows in and below a directory that are too deep.
func DeepBelow(dir string) (all []Deep) {
	paths, _ := locator.SpecsBelow(locator.OS{}, dir, maxSearched)
	for _, path := range paths {
		if d, ok := TooDeep(path); ok {
			all = append(all, d)
		}
	}
	return all
}

// maxSearched limits the directories in which workflows are looked for.
const maxSearched = 5000
