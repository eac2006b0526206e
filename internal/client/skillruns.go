package client

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// SkillRun is a skill that the client ran from a folder.
type SkillRun struct {
	Name    string // as the model called it or the user typed it, without a slash
	ToolUse string // the id of the model's call; empty if the user typed it
	Dir     string // the skill's folder
	Args    string // the arguments of the call
}

// basePrefix begins the text of a skill that the client adds to the conversation (fact
// 47, client 2.1.329).
const basePrefix = "Base directory for this skill: "

// SkillRuns returns the skills that ran since the user's prompt with this id, the last
// one first. A skill that was loaded in an earlier turn is missing, because the client
// does not add its text again (fact 62, client 2.1.329). The folder of a relative
// --add-dir is relative to start.
//
// SkillRuns returns nothing if promptID is empty, because then the beginning of the turn
// is unknown. It reads at most limit bytes, from the end.
func SkillRuns(path, promptID, start string, limit int64) []SkillRun {
	if promptID == "" {
		return nil
	}
	t := turn{prompt: promptID, promptID: []byte(`"promptId":"` + promptID + `"`)}
	backwards(path, limit, t.read)
	var runs []SkillRun
	for _, r := range t.runs {
		if r.Name == "" {
			continue
		}
		if !filepath.IsAbs(r.Dir) {
			r.Dir = filepath.Join(start, r.Dir)
		}
		runs = append(runs, r)
	}
	return runs
}

// turn collects the skill runs of a turn, whose lines are read from the last to the
// first.
type turn struct {
	prompt   string
	promptID []byte // prompt as a member of a line
	runs     []SkillRun
}

// headBytes is how much of a line is searched, to keep the hook fast. The client writes
// promptId and the beginning of a skill's text before fields that can be long.
const headBytes = 1 << 10

// read reads the next line, towards the beginning. It returns false if the line belongs
// to an earlier turn. Only lines that can matter are parsed.
func (t *turn) read(raw []byte) bool {
	head := raw[:min(len(raw), headBytes)]
	if bytes.Contains(head, []byte(`"promptId":"`)) && !bytes.Contains(head, t.promptID) {
		return false
	}
	switch {
	case bytes.Contains(head, []byte(`"`+basePrefix)):
		if l, ok := parse(raw, "user"); ok && l.IsMeta && !l.IsSidechain && l.PromptID == t.prompt {
			t.ran(l)
		}
	case !t.incomplete():
	case bytes.Contains(raw, []byte(`"tool_use"`)):
		if l, ok := parse(raw, "assistant"); ok {
			t.called(l.Content)
		}
	case bytes.Contains(raw, []byte(commandTag)):
		if l, ok := parse(raw, "user"); ok {
			text := textOf(l.Content)
			t.typed(commandName(text), commandArgs(text))
		}
	}
	return true
}

// ran adds a run. Its name follows from an earlier line.
func (t *turn) ran(l line) {
	first, _, _ := strings.Cut(textOf(l.Content), "\n")
	if dir, ok := strings.CutPrefix(first, basePrefix); ok && dir != "" {
		t.runs = append(t.runs, SkillRun{ToolUse: l.SourceToolUseID, Dir: dir})
	}
}

// incomplete reports whether the name of a run is still missing.
func (t *turn) incomplete() bool {
	return slices.ContainsFunc(t.runs, func(r SkillRun) bool { return r.Name == "" })
}

// called sets the names of the runs that the calls in a message of the model started.
func (t *turn) called(content jsontext.Value) {
	for id, call := range skillCalls(content) {
		for i, r := range t.runs {
			if r.ToolUse != "" && r.ToolUse == id {
				t.runs[i].Name, t.runs[i].Args = call.name, call.args
			}
		}
	}
}

// typed sets the name of the run that a typed command started, if the last run was
// typed.
func (t *turn) typed(name, args string) {
	last := len(t.runs) - 1
	if t.runs[last].ToolUse == "" {
		t.runs[last].Name, t.runs[last].Args = name, args
	}
}
