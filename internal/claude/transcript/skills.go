package transcript

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// SkillRun is a skill that the client ran from a folder.
type SkillRun struct {
	Name    string // as the model called it or the user typed it, without a slash
	ToolUse string // the id of the model's call; empty if the user typed it
	Dir     string // the folder that the client named
}

// maxTurn bounds what is read of a turn, from its end, in bytes.
const maxTurn = 4 << 20

// basePrefix begins what the model reads of a skill (fact 47).
const basePrefix = "Base directory for this skill: "

// SkillRuns returns the skills that ran since the user's prompt with this id, the last
// one first. A skill that is still in the conversation from before is not among them,
// because the client does not print it again (fact 62). A relative folder, which
// --add-dir can bring, is relative to start.
//
// Without promptID the turn's beginning is not known, and none are returned.
func SkillRuns(path, promptID, start string) []SkillRun {
	if promptID == "" {
		return nil
	}
	t := turn{prompt: promptID, promptID: []byte(`"promptId":"` + promptID + `"`)}
	left := maxTurn
	backwards(path, func(raw []byte) bool {
		left -= len(raw)
		return t.read(raw) && left > 0
	})
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

// turn is what was read of a turn, from its end.
type turn struct {
	prompt   string
	promptID []byte // the same as a member of a line
	runs     []SkillRun
}

// headBytes is how much of a line is looked at first. The client writes promptId and the
// beginning of a skill's text before what can be long, and the hook runs often.
const headBytes = 1 << 10

// read reads the line before those read so far. It returns false for one of an earlier
// turn. Only the lines that matter are parsed.
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
			t.called(l.Message.Content)
		}
	case bytes.Contains(raw, []byte("<command-name>")):
		if l, ok := parse(raw, "user"); ok {
			t.typed(textOf(l.Message.Content))
		}
	}
	return true
}

// ran adds a skill, whose name is in an earlier line.
func (t *turn) ran(l line) {
	first, _, _ := strings.Cut(textOf(l.Message.Content), "\n")
	if dir, ok := strings.CutPrefix(first, basePrefix); ok && dir != "" {
		t.runs = append(t.runs, SkillRun{ToolUse: l.SourceToolUseID, Dir: dir})
	}
}

// incomplete reports whether the name of a run is still missing.
func (t *turn) incomplete() bool {
	return slices.ContainsFunc(t.runs, func(r SkillRun) bool { return r.Name == "" })
}

// called names the runs of the calls in a message of the model.
func (t *turn) called(content jsontext.Value) {
	var blocks []jsontext.Value
	_ = json.Unmarshal(content, &blocks, jsonx.Tolerant) // content of another type has no calls
	for _, b := range blocks {
		id := jsonx.StringMember(b, "id")
		for i, r := range t.runs {
			if r.ToolUse != "" && r.ToolUse == id {
				t.runs[i].Name = strings.TrimPrefix(jsonx.StringMember(jsonx.Member(b, "input"), "skill"), "/")
			}
		}
	}
}

// typed names the run of a command that the user typed: <command-name>/name</command-name>.
func (t *turn) typed(text string) {
	_, rest, _ := strings.Cut(text, "<command-name>")
	name, _, ok := strings.Cut(rest, "</command-name>")
	last := len(t.runs) - 1
	if ok && t.runs[last].ToolUse == "" {
		t.runs[last].Name = strings.TrimPrefix(name, "/")
	}
}
