package rules

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// SkillFilesBypass is the environment variable that switches the guard off, for authors of skills.
const SkillFilesBypass = "FSMTX_ALLOW_SKILL_FILES"

// SkillFilesMatcher is the hook's matcher: the tools that read files.
const SkillFilesMatcher = "Read|Glob|Grep"

const workflowFile = "fsm.json"

// SkillFileHooks returns the hook that runs the guard of skill files in the given program.
func SkillFileHooks(program string) []settings.Hook {
	return []settings.Hook{{
		Event: client.PreToolUse, Matcher: SkillFilesMatcher, Command: program, Args: []string{"guard", "skill-files"}, Timeout: 3,
	}}
}

// RunSkillFiles keeps the model from reading the fsm.json of a skill: the model has the skill's steps
// as tasks, and the file would only fill its context. This guard is independent of the planning
// workflow, has no session files and no configuration, and is installed only on request.
//
// It decides the PreToolUse event on standard input. If the event cannot be read, the
// call is allowed and the user gets a notice, also after a panic, whose exit code 2 would
// refuse the call.
func RunSkillFiles(in io.Reader, getenv func(string) (string, bool)) (answer client.Answer) {
	defer func() {
		if p := recover(); p != nil {
			answer = client.Tell(client.PreToolUse, "", message.ForPerson(
				guard.OneLine(fmt.Sprintf("fsmtx guard skill-files failed and let the call pass: internal error: %v", p))))
		}
	}()
	if bypass, _ := getenv(SkillFilesBypass); bypass != "" {
		return client.Answer{}
	}
	e, err := client.Read(in)
	if err != nil {
		return client.Tell(client.PreToolUse, "", message.ForPerson(
			guard.OneLine("fsmtx guard skill-files could not read its input and let the call pass: "+err.Error())))
	}
	if e.Foreign() {
		return client.Answer{}
	}
	configDir, err := client.ConfigDir(getenv)
	if err != nil {
		configDir = "" // no folder is then treated as part of the client's configuration
	}
	for _, r := range fileRequests(e) {
		if r.pattern || isWorkflow(safefile.Resolve(r.path), configDir) || isWorkflow(r.path, configDir) {
			return client.Refuse(message.ForAgent(skillFileRefusal(r.path)))
		}
	}
	return client.Answer{}
}

func skillFileRefusal(path string) string {
	return fmt.Sprintf("DENIED: %s holds the workflow behind a skill. Its steps are tasks in your task list already, so reading the file "+
		"only costs context: use TaskList and TaskGet and work from the tasks. If the user wants the skill itself reviewed or changed, "+
		"ask them to start the client with %s=1.",
		guard.OneLine(path), SkillFilesBypass)
}

// fileRequest is a path of a tool call that names an fsm.json.
type fileRequest struct {
	path    string
	pattern bool // path has wildcards and may match the file of any skill
}

// fileRequests returns the paths of a tool call that name an fsm.json or resolve to one.
func fileRequests(e *client.Event) []fileRequest {
	input := func(name string) string { return jsonx.StringMember(e.ToolInput, name) }
	base := cmp.Or(safefile.Absolute(input("path"), e.Cwd), e.Cwd)
	var names []string
	switch e.ToolName {
	case "Read":
		names = []string{input("file_path")}
	case "Glob":
		names = []string{input("pattern")}
	case "Grep": // its pattern is a regular expression, not a path
		names = []string{base, input("glob")}
	}
	var all []fileRequest
	for _, name := range names {
		if path := safefile.Absolute(name, base); path != "" && (hasName(path) || hasName(safefile.Resolve(path))) {
			all = append(all, fileRequest{path, name != base && e.ToolName != "Read" && strings.ContainsAny(name, "*?[{")})
		}
	}
	return all
}

func hasName(path string) bool { return strings.EqualFold(filepath.Base(path), workflowFile) }

// isWorkflow distinguishes the fsm.json of a skill from other files of that name. SKILL.md
// is beside it, or it is below the directory skills or commands of the client's
// configuration, of a project's .claude or of a plugin.
func isWorkflow(path, configDir string) bool {
	dir := filepath.Dir(path)
	if safefile.IsFile(filepath.Join(dir, "SKILL.md")) {
		return true
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if name := filepath.Base(dir); name == "skills" || name == "commands" {
			if ownsSkills(filepath.Dir(dir), configDir) {
				return true
			}
		}
	}
	return false
}

// ownsSkills reports whether the client looks for skills in dir/skills and for
// commands in dir/commands.
func ownsSkills(dir, configDir string) bool {
	if filepath.Base(dir) == ".claude" || safefile.IsDir(filepath.Join(dir, ".claude-plugin")) {
		return true
	}
	if configDir == "" {
		return false
	}
	_, inside := safefile.Within(configDir, dir)
	return inside || dir == configDir
}
