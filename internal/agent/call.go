package agent

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Call is one call of a hook: the event, and what it means whatever the agent calls it.
type Call struct {
	*client.Event
	Moment  Moment
	Cwd     string
	Resumed bool // at Start: the session existed before

	Command string   // the line that the tool runs in a shell
	Paths   []string // absolute paths of the files that the tool changes, as far as they are known

	Prompt  string // what the person has sent; at Stop only from some agents
	Message string // the agent's last one, at Stop
}

// Read returns what the event says. ok is false for an event that needs no hook.
func (a *Agent) Read(e *client.Event) (c Call, ok bool) {
	c = Call{Event: e, Moment: a.moment(e.Name), Cwd: e.Cwd, Resumed: e.Source == "resume" || e.Source == "compact",
		Prompt: e.Prompt, Message: e.LastAssistantMessage}
	if a.said != "" {
		c.Message = e.Text(a.said)
	}
	if a.sent != "" {
		c.Prompt = cmp.Or(e.Text(a.sent), c.Prompt)
	}
	if slices.Contains(a.shells, e.ToolName) {
		c.Command = e.InputText("command")
		if a.PowerShell && isOfWindows(e.Cwd) {
			e.ToolName = permission.PowerShell
		}
	}
	if slices.Contains(a.edits, e.ToolName) || a.patches && strings.Contains(c.Command, "apply") {
		c.Paths = changed(e, directory(c))
	}
	return c, c.Moment != ""
}

// isOfWindows reports whether a path has a drive, or begins with the name of a server.
func isOfWindows(path string) bool {
	return len(path) > 1 && path[1] == ':' || strings.HasPrefix(path, `\\`)
}

// Takes reports whether the call may take up a skill by a tool of the agent. An event without a name or a tool is that tool's.
func (a *Agent) Takes(c Call) bool {
	return c.Moment == After && (c.Name == "" || c.ToolName == "" || c.ToolName == a.skillTool.name)
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
func changed(e *client.Event, dir string) (paths []string) {
	for _, field := range []string{"file_path", "path", "notebook_path"} {
		paths = append(paths, e.InputText(field))
	}
	for _, field := range []string{"command", "input", "patch"} {
		paths = append(paths, patched(e.InputText(field))...)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	for i, path := range paths {
		if !isWhole(path) {
			paths[i] = filepath.Clean(safefile.Absolute(path, dir))
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !isWhole(path) })
}

func isWhole(path string) bool { return filepath.IsAbs(path) || strings.HasPrefix(path, "~") }

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
	case c.Moment == After && a.skillTool.name != "" && c.ToolName == a.skillTool.name:
		return s.Find(c.InputText(a.skillTool.field), c.Cwd)
	case c.Moment == After && a.takenByReading && c.Command != "":
		return s.readBy(c)
	}
	return nil
}

// namedIn returns the names that a prompt may mean as those of skills.
func (a *Agent) namedIn(prompt string) (names []string) {
	if a.anywhereInPrompt {
		for i := range prompt {
			rest, ok := strings.CutPrefix(prompt[i:], a.typed)
			if ok && (i == 0 || strings.ContainsAny(prompt[i-1:i], " \t\r\n(\"'`,;[")) {
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
