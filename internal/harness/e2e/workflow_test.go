//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// steps is a workflow of three tasks, one after the other.
func steps(prefix string) string {
	return fmt.Sprintf(`[
	{"id": 1, "subject": "%[1]s: collect"},
	{"id": 2, "subject": "%[1]s: write", "blockedBy": [1]},
	{"id": 3, "subject": "%[1]s: publish", "blockedBy": [2]}
]`, prefix)
}

// listed returns the lines of TaskList for the tasks of steps, with IDs from base+1.
func listed(prefix string, base int) []string {
	return []string{
		fmt.Sprintf("#%d [pending] %s: collect", base+1, prefix),
		fmt.Sprintf("#%d [pending] %s: write [blocked by #%d]", base+2, prefix, base+1),
		fmt.Sprintf("#%d [pending] %s: publish [blocked by #%d]", base+3, prefix, base+2),
	}
}

// skill writes a skill with a workflow into a directory of skills, a path as in
// Sandbox.Write.
func skill(s *realclient.Sandbox, dir, name, fsm string) {
	s.Write(dir+"/"+name+"/SKILL.md", strings.ReplaceAll(plainSkill, "plain", name))
	s.Write(dir+"/"+name+"/fsm.json", fsm)
}

// installed runs fsmtx install with these flags. Unless they say otherwise the model has the
// task tools, and the agent may stop at any time, so that a script need not work the whole
// workflow off.
func installed(t *testing.T, s *realclient.Sandbox, flags ...string) {
	t.Helper()
	if !slices.Contains(flags, "--stop") && !slices.Contains(flags, "--no-steps") {
		flags = append([]string{"--stop", "off"}, flags...)
	}
	if !slices.Contains(flags, "--task-tools=false") {
		flags = append([]string{"--task-tools"}, flags...)
	}
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = "" // what install writes has to do
	out := s.Command("", fsmtx, append([]string{"install"}, flags...)...)
	require.Zero(t, out.Code, out)
}

// hydrating installs the hooks without those of the steps, for tests of what is put into
// the list: their agents leave it alone.
func hydrating(t *testing.T, s *realclient.Sandbox, flags ...string) {
	t.Helper()
	installed(t, s, append([]string{"--no-steps"}, flags...)...)
}

// systemPath is a PATH without fsmtx.
const systemPath = "/usr/local/bin:/usr/bin:/bin"

// onPath puts fsmtx on the client's PATH.
func onPath(s *realclient.Sandbox) {
	s.Env["PATH"] = filepath.Dir(fsmtx) + ":" + systemPath
}

// load loads the task tools.
var load = Do(LoadTools("load", "TaskList", "TaskCreate", "TaskUpdate"))

// invoke has the model call a skill and list the tasks.
func invoke(name string) Script {
	return Script{Main: []Turn{Do(Skill("skill", name)), load, Do(TaskList("list")), Say("done")}}
}

// look has the model list the tasks.
func look() Script {
	return Script{Main: []Turn{load, Do(TaskList("list")), Say("done")}}
}

// attended starts the client in a terminal, and types the first prompt when it is ready.
func attended(s *realclient.Sandbox, prompt string, script Script, args ...string) *realclient.Terminal {
	m := s.Attend(script, args...)
	m.See(0, "❯")
	m.Enter(prompt)
	return m
}

var taskLine = regexp.MustCompile(`(?m)^#\d+ \[.*$`)

// taskLines returns the lines of a TaskList result.
func taskLines(t *testing.T, r *realclient.Run, id string) []string {
	t.Helper()
	return taskLine.FindAllString(r.Text(id), -1)
}

// list returns the directory of the session's task list.
func list(s *realclient.Sandbox) string {
	return filepath.Join(s.Home, ".claude", "tasks", s.Session)
}
