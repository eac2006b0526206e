package agent

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Call is one call of a hook, as far as fsmtx needs it.
type Call struct {
	Moment  Moment
	Event   string // as the agent calls it
	Session string
	Cwd     string
	Resumed bool // at Start: the session existed before

	Tool    string   // as the agent calls it
	Use     string   // id of the tool call; empty if the agent has none
	Command string   // the line that the tool runs in a shell
	Paths   []string // absolute paths of the files that the tool changes, as far as they are known

	skill string // the name in the input of the tool that takes up skills

	Prompt  string // what the person has sent; at Stop only from some agents
	Message string // the agent's last one, at Stop
	Output  string // of the shell, after the tool has run
}

// Read returns what the event says. ok is false for an event that needs no hook.
func (a *Agent) Read(e *event.Event) (c Call, ok bool) {
	c = Call{
		Moment: a.moment(e.Name), Event: e.Name, Session: e.SessionID, Cwd: e.Cwd,
		Resumed: e.Source == "resume" || e.Source == "compact", Tool: e.ToolName, Use: e.ToolUseID,
		Prompt: e.Prompt, Message: e.LastAssistantMessage,
	}
	if c.Message == "" {
		c.Message = jsonx.StringMember(e.Raw, "prompt_response") // Gemini
	}
	if typed := jsonx.StringMember(e.Raw, "submitted_prompt"); typed != "" {
		c.Prompt = typed // Qwen Code 0.24.4, whose prompt has the skill's text and more around it
	}
	if slices.Contains(a.shells, c.Tool) {
		c.Command = jsonx.StringMember(e.ToolInput, "command")
		_ = json.Unmarshal(e.ToolResponse, &c.Output, jsonx.Tolerant) // only Codex has a text here
	}
	if c.Tool == a.take.name {
		c.skill = jsonx.StringMember(e.ToolInput, a.take.field)
	}
	if slices.Contains(a.edits, c.Tool) || a.patches && strings.Contains(c.Command, "apply") {
		c.Paths = changed(e, directory(c))
	}
	return c, c.Moment != ""
}

// directory returns the one in which a command of the shell works that begins with cd, else that of the event.
func directory(c Call) string {
	script, _ := shell.Parse(c.Command)
	if words := script.FirstCommand(); len(words) == 2 {
		program, _ := words[0].Literal()
		if dir, known := words[1].Literal(); known && program == "cd" {
			return safefile.Absolute(dir, c.Cwd)
		}
	}
	return c.Cwd
}

// changed returns the files that a tool changes: the one that its input names, or those of a
// patch in it, which are below dir.
func changed(e *event.Event, dir string) (paths []string) {
	for _, field := range []string{"file_path", "path", "notebook_path"} {
		paths = append(paths, jsonx.StringMember(e.ToolInput, field))
	}
	for _, field := range []string{"command", "input", "patch"} {
		paths = append(paths, patched(jsonx.StringMember(e.ToolInput, field))...)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	for i, path := range paths {
		if !filepath.IsAbs(path) {
			paths[i] = filepath.Join(dir, path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}

// patched returns the files that a patch in the form of Codex's apply_patch changes.
func patched(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if path, ok := strings.CutPrefix(strings.TrimSpace(line), head); ok {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}

// nameIn returns a name that begins a text: letters, digits and what else skills' names have. It is
// empty for a path.
func nameIn(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:", r))
	})
	switch {
	case end >= 0 && text[end] == '/':
		return ""
	case end >= 0:
		text = text[:end]
	}
	return strings.TrimRight(text, ".:-")
}

// TakenUp returns the skill that the call takes up, nil if it takes up none that the agent finds.
// Editing the files of a skill is not taking it up.
func (s Search) TakenUp(c Call) *Skill {
	a := s.agent
	switch {
	case c.Moment == Prompt && a.typed != "":
		for _, name := range a.namedIn(c.Prompt) {
			if found := s.Find(name, c.Cwd); found != nil && found.taken() {
				return found
			}
		}
	case c.Moment == After && a.take.name != "" && c.Tool == a.take.name:
		return s.Find(c.skill, c.Cwd)
	case c.Moment == After && a.reads && c.Command != "":
		return s.readBy(c)
	}
	return nil
}

// namedIn returns the names that a prompt may mean as those of skills.
func (a *Agent) namedIn(prompt string) (names []string) {
	if a.inside {
		for i, rest := range after(prompt, a.typed) {
			if i == 0 || strings.ContainsAny(prompt[i-1:i], " \t\r\n(\"'`,;[") {
				names = append(names, nameIn(rest))
			}
		}
		return slices.DeleteFunc(names, func(name string) bool { return name == "" })
	}
	text := strings.TrimSpace(prompt)
	lines := []string{text, text[strings.LastIndexByte(text, '\n')+1:]} // Qwen Code puts the SKILL.md before the line
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, a.typed); ok && nameIn(rest) != "" {
			names = append(names, nameIn(rest))
		}
	}
	return slices.Compact(names)
}

// after yields the texts after each occurrence of mark, by the offset of the mark.
func after(text, mark string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; ; {
			i := strings.Index(text[at:], mark)
			if i < 0 || !yield(at+i, text[at+i+len(mark):]) {
				return
			}
			at += i + len(mark)
		}
	}
}

// shows reports whether an output contains the beginning of a document, at least its first
// line with a letter.
func shows(output string, document []byte) bool {
	for line := range bytes.Lines(document) {
		if line = bytes.TrimSpace(line); bytes.IndexFunc(line, isLetter) >= 0 {
			return strings.Contains(output, string(line))
		}
	}
	return false
}

func isLetter(r rune) bool { return r > 0x7f || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
