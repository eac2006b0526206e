//go:build oracle && unix

package tools_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/sessions"
)

// run runs a program of the scene with an environment that has nothing else, and adds a point.
// What did not end in a minute is killed.
func (w *scene) run(t testing.TB, did, dir, stdin string, env []string, args ...string) (stdout string, code int) {
	c := exec.CommandContext(t.Context(), w.at("bin", "fsmtx"), args...)
	c.Dir, c.Stdin, c.WaitDelay = dir, strings.NewReader(stdin), time.Second
	c.Env = append([]string{"HOME=" + w.at("home"), "PATH=" + w.at("bin") + ":/usr/local/bin:/usr/bin:/bin"}, env...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	stop := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	_ = c.Run()
	stop.Stop()
	saw := fmt.Sprintf("[stdout]\n%s\n[stderr]\n%s\n", strings.TrimSuffix(out.String(), "\n"), strings.TrimSuffix(errs.String(), "\n"))
	if code = c.ProcessState.ExitCode(); code != 0 {
		saw += fmt.Sprintf("[exit status %d]\n", code)
	}
	saw = labelled(saw + "[files]\n" + w.changes(t) + "\n")
	w.points = append(w.points, point{did, strings.ReplaceAll(saw, w.dir, "DIR")})
	return out.String(), code
}

func (w *scene) write(t testing.TB, path, text string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
}

// rawCases are the cases of files of the oracle's source, and those here that differ from them.
func rawCases(t testing.TB, source string, names ...string) (cases []jsontext.Value) {
	known := map[string]bool{}
	for _, root := range []string{source, "../.."} {
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join(root, name))
			require.NoError(t, err)
			var file struct {
				Cases []jsontext.Value `json:"cases"`
			}
			require.NoError(t, json.Unmarshal(data, &file))
			require.NotEmpty(t, file.Cases)
			for _, c := range file.Cases {
				if !known[string(c)] {
					known[string(c)] = true
					cases = append(cases, c)
				}
			}
		}
	}
	return cases
}

// named returns the name of a case, which that of the tree has too if it has changed since.
func named(name string, inputs []input) string {
	if slices.ContainsFunc(inputs, func(in input) bool { return in.name == name }) {
		return name + "(now)"
	}
	return name
}

// hookInputs are the cases of the hook runtime.
func hookInputs(t testing.TB, source string) (inputs []input) {
	for _, raw := range rawCases(t, source, "testdata/hooks/cases.json", "testdata/hooks/more.json", "testdata/hooks/dialects.json") {
		var c sessions.HookCase
		require.NoError(t, json.Unmarshal(raw, &c))
		inputs = append(inputs, input{named("hooks "+c.ID, inputs), string(raw), func(t testing.TB, w *scene) []point {
			dir := w.at(cmp.Or(c.Dirname, "w"))
			require.NoError(t, os.Mkdir(dir, 0o755))
			for name, text := range c.Files {
				w.write(t, filepath.Join(dir, name), sessions.InDir(text, dir).(string))
				if strings.HasSuffix(name, ".noexec") {
					require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o644))
				}
			}
			w.changes(t)
			stdin := c.Stdin(t.(*testing.T), dir)
			w.run(t, "eval", dir, string(stdin), nil, "hooks", "eval")
			return w.points
		}})
	}
	return inputs
}

// A guardCase is a case of testdata/guards/cases.json: a project, and one or several calls.
type guardCase struct {
	ID        string            `json:"id"`
	Git       jsontext.Value    `json:"git"`
	Config    any               `json:"config"`
	DevMode   bool              `json:"dev_mode"`
	Env       map[string]string `json:"env"`
	Steps     []guardCall       `json:"steps"`
	guardCall `json:",inline"`
}

type guardCall struct {
	Hook     string         `json:"hook"`
	Files    map[string]any `json:"files"`
	Stdin    any            `json:"stdin"`
	Parallel []any          `json:"parallel"`
	Repeat   int            `json:"repeat"`
}

// guardInputs are the cases of the planning guards.
func guardInputs(t testing.TB, source string) (inputs []input) {
	for _, raw := range rawCases(t, source, "testdata/guards/cases.json") {
		var c guardCase
		require.NoError(t, json.Unmarshal(raw, &c))
		inputs = append(inputs, input{named("guard "+c.ID, inputs), string(raw), func(t testing.TB, w *scene) []point {
			g := &guardScene{scene: w, vars: strings.NewReplacer("{PROJ}", w.at("proj"), "{PLUGIN}", w.at("plugin"), "{OUTSIDE}", w.at("home"),
				"{STATE}", w.at("state"), "{SID}", "s1", "{LOG}", w.at("state/planning-hooks-s1.log"),
				"{BUDGET}", w.at("state/planning-research-budget-s1.json"), "{BREAKER}", w.at("state/planning-hook-breaker-s1.json"),
				"{BLOCKS}", w.at("state/planning-stop-blocks-s1.json"))}
			g.prepare(t, c)
			calls := c.Steps
			if len(calls) == 0 {
				calls = []guardCall{c.guardCall}
			} else {
				g.place(t, c.Files)
			}
			for _, call := range calls {
				call.Hook = cmp.Or(call.Hook, c.Hook)
				g.call(t, c, call)
			}
			return w.points
		}})
	}
	return inputs
}

type guardScene struct {
	*scene
	vars *strings.Replacer
}

func (g *guardScene) prepare(t testing.TB, c guardCase) {
	for _, d := range []string{"proj", "home", "state"} {
		require.NoError(t, os.Mkdir(g.at(d), 0o755))
	}
	require.NoError(t, os.CopyFS(g.at("plugin"), os.DirFS("../../testdata/guards/plugin")))
	config := g.at("plugin/config/planning-config.yaml")
	if text, is := c.Config.(string); is {
		g.write(t, config, text)
	} else if c.Config == false {
		require.NoError(t, os.Remove(config))
	}
	if c.DevMode {
		g.write(t, g.at("plugin/hooks/.dev-mode"), "")
	}
	if string(c.Git) == "null" {
		return
	}
	repository := struct {
		Branch           string
		Unborn, Detached bool
	}{Branch: "feature/foo"}
	if c.Git != nil {
		require.NoError(t, json.Unmarshal(c.Git, &repository, json.MatchCaseInsensitiveNames(true)))
	}
	commit, head := strings.Repeat("1f", 20)+"\n", "ref: refs/heads/"+repository.Branch+"\n"
	if repository.Detached {
		head = commit
	}
	g.write(t, g.at("proj/.git/HEAD"), head)
	if !repository.Unborn {
		g.write(t, g.at("proj/.git/refs/heads", repository.Branch), commit)
	}
}

func (g *guardScene) place(t testing.TB, files map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := g.vars.Replace(name)
		if !filepath.IsAbs(path) {
			path = g.at("proj", path)
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch v := g.substitute(files[name]).(type) {
		case string:
			g.write(t, path, v)
		case map[string]any:
			if target, is := v["symlink"].(string); is {
				_ = os.Remove(path)
				require.NoError(t, os.Symlink(target, path))
			} else if v["dir"] == true {
				require.NoError(t, os.MkdirAll(path, 0o755))
			} else if v["remove"] == true {
				require.NoError(t, os.RemoveAll(path))
			} else {
				text, err := json.Marshal(v["json"], json.Deterministic(true))
				require.NoError(t, err)
				g.write(t, path, string(text))
			}
		}
	}
}

// substitute replaces the variables of the cases, and generates their long values.
func (g *guardScene) substitute(v any) any {
	switch v := v.(type) {
	case string:
		return g.vars.Replace(v)
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = g.substitute(out[i])
		}
		return out
	case map[string]any:
		if again, is := v["$repeat"].([]any); is {
			head, _ := v["head"].(string)
			return head + strings.Repeat(again[0].(string), int(again[1].(float64)))
		}
		if n, is := v["$hashes"].(float64); is {
			all := make([]any, int(n))
			for i := range all {
				all[i] = fmt.Sprintf("mcp__Ref__x_%040d", i)
			}
			return all
		}
		out := map[string]any{}
		for k := range v {
			out[k] = g.substitute(v[k])
		}
		return out
	}
	return v
}

func (g *guardScene) call(t testing.TB, c guardCase, call guardCall) {
	g.place(t, call.Files)
	g.changes(t)
	env := []string{"CLAUDE_PLUGIN_ROOT=" + g.at("plugin"), "PLANNING_STATE_DIR=" + g.at("state"), "PLANNING_BINDS=always"}
	for name, value := range c.Env {
		env = append(env, name+"="+g.vars.Replace(value))
	}
	inputs := slices.Repeat([]any{call.Stdin}, max(1, call.Repeat))
	if call.Parallel != nil { // one after the other: what they do together is tested elsewhere
		inputs = call.Parallel
	}
	for _, stdin := range inputs {
		text, is := g.substitute(stdin).(string)
		if !is {
			data, err := json.Marshal(g.substitute(stdin), jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), json.Deterministic(true))
			require.NoError(t, err)
			text = string(data)
		}
		g.run(t, call.Hook, g.at("proj"), text, env, "guard", call.Hook)
	}
}
