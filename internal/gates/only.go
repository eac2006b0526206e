package gates

import (
	"errors"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
)

// ToolCall is a call of a tool that the agent is about to make.
type ToolCall struct {
	Tool  string
	Line  string // the command line, if the tool is a shell
	Path  string // the file, if the tool works on one; as the agent wrote it
	Agent string // the id of the subagent; empty for the session's own agent
	Cwd   string // the directory in which the agent is; empty if unknown
	Use   string // the id of the call; empty if unknown
}

// listing is a rule that a step lists.
type listing struct {
	step *state.RecordedStep
	text string
	rule permission.Rule
}

// rulesOf returns the rules that the steps list.
func rulesOf(all state.RecordedSteps) (list []listing) {
	for i := range all {
		for _, text := range all[i].Only {
			rule, _ := permission.Parse(text) // ParseWorkflow has checked it
			list = append(list, listing{&all[i], text, rule})
		}
	}
	return list
}

// part is a part of a call that rules cover.
type part struct {
	facts.Part
	listed []listing // the rules that cover it
}

// isCovered reports whether a rule covers the part. dir is the project's directory.
func (p part) isCovered(r permission.Rule, dir string) bool {
	if !facts.IsAbout(r, p.Call.Tool) {
		return false
	}
	return p.Matches(r) || permission.IsFileTool(r.Tool) && p.Call.OnPath(r.Content, workplace(dir, p.Call.Cwd))
}

// covered returns the parts of a call that rules cover.
func (x ToolCall) covered(list []listing) (covered []part) {
	list = slices.DeleteFunc(slices.Clone(list), func(l listing) bool { return !facts.IsAbout(l.rule, x.Tool) })
	if len(list) == 0 {
		return nil
	}
	for _, one := range (facts.Call{Tool: x.Tool, Line: x.Line, Path: x.Path, Cwd: x.Cwd}).Parts() {
		p := part{Part: one}
		for _, l := range list {
			switch {
			case !p.isCovered(l.rule, l.step.Workflow.Dir):
			case p.Doubt == nil:
				p.listed = append(p.listed, l)
			case !slices.ContainsFunc(covered, func(o part) bool { return slices.Contains(o.listed, l) }): // for each rule by itself
				one := p
				one.listed = []listing{l}
				covered = append(covered, one)
			}
		}
		if len(p.listed) > 0 && !slices.ContainsFunc(covered, func(o part) bool { return slices.Equal(p.listed, o.listed) }) {
			covered = append(covered, p)
		}
	}
	return covered
}

// isAway returns an error if the call is about a file, and the directory is away below which files belong to steps.
func (x ToolCall) isAway(all state.RecordedSteps, list string) error {
	if x.Path == "" {
		return nil
	}
	for _, r := range all {
		if len(r.Only) > 0 && r.Workflow.Dir != "" {
			if away := state.AwayText(r.Workflow); away != "" {
				return errors.New(message.Sprintf("the directory %s %s; a person can say where it is now: %s", r.Workflow.Dir, away,
					moveCommand(list)))
			}
		}
	}
	return nil
}

// subject returns what is refused, for a sentence.
func (p part) subject() string {
	if words := p.listed[0].rule.Words(); permission.IsShell(p.listed[0].rule.Tool) && len(words) > 0 {
		return message.Clip(message.Words(strings.Join(words, " ")), message.MaxSubject)
	}
	return message.Clip(message.Words(strings.ReplaceAll(p.Name, shell.Unknown, "…")), message.MaxSubject)
}
