package fidelity

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/program"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if os.Getenv(formsServer) != "" {
		if err := serveForms(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	return program.Run(m)
}

// ranProgram is a program with which hooks record that they ran.
const ranProgram = "#!/bin/sh\necho \"$1\" >> \"$FIDELITY_RAN\"\n"

// ranIn returns the hooks that recorded that they ran, sorted.
func ranIn(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return slices.Sorted(slices.Values(strings.Fields(string(text))))
}

// world is the directories of one case.
type world struct{ root, home, project, bin, ran string }

func newWorld(t testing.TB) world {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := world{root, filepath.Join(root, "home"), filepath.Join(root, "project"), filepath.Join(root, "bin"), filepath.Join(root, "ran")}
	for _, dir := range []string{w.home, w.project, w.bin} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	writeFile(t, filepath.Join(w.bin, "ran"), ranProgram)
	return w
}

// writeFile writes a file that may be a program.
func writeFile(t testing.TB, path, content string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o755))
}

// settingsOf returns the files of a case; a command becomes the settings that have it.
func settingsOf(c fidelityCase, settings string) map[string]string {
	if c.command == "" {
		return c.files
	}
	type object = map[string]any
	text, err := json.Marshal(object{"hooks": object{c.event: []object{{"hooks": []object{{"type": "command", "command": c.command}}}}}})
	if err != nil {
		panic(err)
	}
	return map[string]string{settings: string(text)}
}

// policy is what the tests read of fire's policy. gemini.mjs prints what became of a case
// in the same form.
type policy struct {
	Verdict           string         `json:"verdict"`
	Blocking          bool           `json:"blocking"`
	Stop              bool           `json:"stop"`
	Reason            string         `json:"reason"`
	AdditionalContext string         `json:"additionalContext"`
	ToolInput         jsontext.Value `json:"toolInput"`
	ToolOutput        jsontext.Value `json:"toolOutput"`
	Content           jsontext.Value `json:"content"`
	SystemMessage     string         `json:"systemMessage"`
	SyntheticResponse jsontext.Value `json:"syntheticResponse"`
	ModifiedRequest   jsontext.Value `json:"modifiedRequest"`
	ModifiedResponse  jsontext.Value `json:"modifiedResponse"`
	ToolConfig        jsontext.Value `json:"toolConfig"`
	TailToolCall      jsontext.Value `json:"tailToolCall"`
	ClearContext      bool           `json:"clearContext"`
}

// fire runs "fsmtx hooks fire" on a case. It returns the policy and the hooks that ran.
func (w world) fire(t testing.TB, c fidelityCase, dialect, settings, event string) (policy, []string) {
	server := ""
	if c.uses("{{HTTP}}") {
		server = newServer(t)
	}
	for path, content := range settingsOf(c, settings) {
		where := w.project
		if strings.HasPrefix(path, "home/") {
			where = w.root
		}
		writeFile(t, filepath.Join(where, path), strings.NewReplacer("{{PROJECT}}", w.project, "{{HTTP}}", server).Replace(content))
	}
	args := []string{"hooks", "fire", c.event, "--dialect", dialect, "--json"}
	for _, dir := range pluginsOf(c) {
		args = append(args, "--plugin-dir", filepath.Join(w.project, dir))
	}
	for _, skill := range skillsOf(c) {
		args = append(args, "--skill", skill)
	}
	command := exec.Command(program.Path(t), args...)
	command.Dir = w.project
	command.Env = []string{
		"HOME=" + w.home, "PATH=" + w.bin + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TMPDIR=" + w.root, "FIDELITY_RAN=" + w.ran,
		"FIDELITY_MARK=" + headerMark,
	}
	command.Stdin = strings.NewReader(event)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		failure, ok := errors.AsType[*exec.ExitError](err)
		require.True(t, ok && failure.ExitCode() > 0 && out.Len() > 0, "%s: %v\n%s", c.name, err, errs.String())
	}
	var got struct {
		Policy policy `json:"policy"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &got), "%s: %s", c.name, out.String())
	return got.Policy, ranIn(w.ran)
}

// skillsOf returns the skills that are called before the event of a case: those with hooks,
// unless their names begin with other.
func skillsOf(c fidelityCase) []string {
	var found []string
	for path, content := range c.files {
		plugin, name, ok := strings.Cut(strings.TrimSuffix(path, "/SKILL.md"), "/skills/")
		if !ok || !strings.Contains(content, "hooks:") || strings.HasPrefix(name, "other") {
			continue
		}
		if strings.HasPrefix(plugin, "plugin") {
			name = "p:" + name // what the manifests of cases call their plugin
		}
		found = append(found, name)
	}
	slices.Sort(found)
	return found
}

// pluginsOf returns the plugins among the files of a case: the directories plugin*.
func pluginsOf(c fidelityCase) []string {
	var found []string
	for path := range c.files {
		if dir, _, _ := strings.Cut(path, "/"); strings.HasPrefix(dir, "plugin") && !slices.Contains(found, dir) {
			found = append(found, dir)
		}
	}
	slices.Sort(found)
	return found
}

// each runs a function for every case, some at a time.
func each(cases []fidelityCase, width int, one func(fidelityCase)) {
	var group sync.WaitGroup
	room := make(chan struct{}, width)
	for _, c := range cases {
		group.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			one(c)
		})
	}
	group.Wait()
}
