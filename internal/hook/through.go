package hook

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/tasklist"
)

// letThrough lets a command with which the agent works on a workflow run without a permission
// question, if it stands alone: the gates decide about it. Everything else is left to the
// client. So are in plan mode the commands that change something, of which only the hook knows the mode.
func (h *hook) letThrough(line string) client.Answer {
	words, ok := shell.Call(line)
	if !ok || len(words) < 2 || !isOwn(words[0]) || !h.isOrdinary() || !h.fromClient() {
		return client.Answer{}
	}
	call, ok := h.flags.Read(words[1:])
	if !ok || !h.isWork(call) || !h.isAboutOwnList(call) || h.Planning && call.Rule.Command != "next" {
		return client.Answer{}
	}
	return client.Allow("fsmtx: the gates of the workflow decide about fsmtx " + call.Rule.Command)
}

// isOrdinary reports whether the call of Bash has no other input than the command and how long
// it may take. The client's sandbox, for example, can be left by another one.
func (h *hook) isOrdinary() bool {
	members, err := jsonx.Members(h.call.ToolInput)
	if err != nil {
		return false
	}
	for name := range members {
		if !slices.Contains([]string{"command", "description", "timeout", "run_in_background"}, name) {
			return false
		}
	}
	return true
}

// isOwn reports whether the program in a line of the agent's shell is this one: its whole
// path, or its name if that leads to it. A relative path does not count: it depends on the directory.
func isOwn(name string) bool {
	self, err := programs.Path()
	if err != nil {
		return false
	}
	if name == settings.Program || name == settings.Program+".exe" {
		if name, err = exec.LookPath(name); err != nil {
			return false
		}
	}
	return filepath.IsAbs(name) && safefile.Same(name, self)
}

// isAboutOwnList reports whether the command is about the list of this session. Of another one,
// perhaps another project's, its person has to be asked.
func (h *hook) isAboutOwnList(call Invocation) bool {
	list := call.Flags.Lookup("list")
	if list == nil || list.Value.String() == "" {
		return true
	}
	found, err := tasklist.Find(context.Background(), tasklist.Query{Lookup: h.streams.Getenv, Named: list.Value.String(), Dir: h.call.Cwd})
	return err == nil && found.Dir == h.List.Dir
}

// isWork reports whether the command is one with which an agent works on a workflow. A
// directory is not: the client does not know it as a skill, so the person has never allowed the
// commands of its checks.
func (h *hook) isWork(call Invocation) bool {
	if call.Fails {
		return false // it would fail
	}
	switch args := call.Args; call.Rule.Command {
	case "next", "start", "complete":
		return true
	case "begin":
		if len(args) == 0 { // --plan
			return false
		}
		info, err := os.Stat(filepath.Join(h.call.Cwd, args[0]))
		named := !filepath.IsAbs(args[0]) && (err != nil || !info.IsDir())
		return named && hydrate.IsSkill(h.streams.Getenv, args[0], h.call.Cwd)
	}
	return false
}
