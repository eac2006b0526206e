package guard

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// SkillFilesBypass is the environment variable that lets the model read the
// workflow file of a skill, for who writes skills.
const SkillFilesBypass = "FSMTX_ALLOW_SKILL_FILES"

// SkillFilesMatcher is what the client matches for SkillFiles.
const SkillFilesMatcher = "Read|Glob|Grep"

const workflowFile = "fsm.json"

// SkillFiles answers a PreToolUse event: the model is kept from reading the
// fsm.json of a skill, whose steps it has as tasks. It keeps no files, and
// belongs to no planning workflow. The results are those of Run.
func SkillFiles(s terminal.Streams) (int, error) {
	a := skillFiles(s.In, s).answer(event.PreToolUse)
	return a.Exit, a.Write(s.Out, s.Err)
}

func skillFiles(in io.Reader, s terminal.Streams) Verdict {
	if s.Env(SkillFilesBypass) != "" {
		return passed(0, "bypassed")
	}
	e, err := event.Read(in)
	if err != nil {
		text := "fsmtx guard skill-files could not read its input and let the call pass: " + short(err)
		return noticed("ERROR", text, text)
	}
	config, err := claude.ConfigDir(s.Getenv)
	if err != nil {
		config = "" // then nothing is known to be the client's own
	}
	for _, w := range wanted(e) {
		if w.pattern || isWorkflow(resolve(w.path), config) || isWorkflow(w.path, config) {
			return denied(1, fmt.Sprintf("DENIED: %s holds the workflow behind a skill. Its steps are tasks in your task list already, so reading the file only costs context: use TaskList and TaskGet and work from the tasks. If the user wants the skill itself reviewed or changed, ask them to start the client with %s=1.", oneLine(w.path), SkillFilesBypass))
		}
	}
	return passed(2, "not the workflow of a skill")
}

// want is a file named fsm.json that a tool call asks for.
type want struct {
	path    string
	pattern bool // with wildcards: it may find any skill's
}

func wanted(e *event.Event) []want {
	base := orElse(absolute(inputText(e, "path"), e.Cwd), e.Cwd)
	var names []string
	switch e.ToolName {
	case "Read":
		names = []string{inputText(e, "file_path")}
	case "Glob":
		names = []string{inputText(e, "pattern")}
	case "Grep": // whose pattern is a regular expression, no path
		names = []string{base, inputText(e, "glob")}
	}
	var wants []want
	for _, name := range names {
		if path := absolute(name, base); named(path, workflowFile) || named(resolve(path), workflowFile) {
			wants = append(wants, want{path, name != base && e.ToolName != "Read" && strings.ContainsAny(name, "*?[{")})
		}
	}
	return wants
}

func named(path, name string) bool { return strings.EqualFold(filepath.Base(path), name) }

// isWorkflow tells the fsm.json of a skill from a file of a project that
// happens to have the name: SKILL.md is beside it, or it is below the skills or
// commands of the client's configuration, a project's .claude, or a plugin.
func isWorkflow(path, config string) bool {
	dir := filepath.Dir(path)
	if isFile(filepath.Join(dir, "SKILL.md")) {
		return true
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if name := filepath.Base(dir); name != "skills" && name != "commands" {
			continue
		}
		owner := filepath.Dir(dir)
		_, inConfig := within(config, owner)
		if filepath.Base(owner) == ".claude" || owner == config || config != "" && inConfig || isDir(filepath.Join(owner, ".claude-plugin")) {
			return true
		}
	}
	return false
}
