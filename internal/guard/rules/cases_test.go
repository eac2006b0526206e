package rules_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
)

// A scenario is a case of testdata/guards/cases.json.
type scenario struct {
	ID      string            `json:"id"`
	Title   string            `json:"title"`
	Git     *repository       `json:"git"`
	NoGit   bool              `json:"-"`
	Config  any               `json:"config"` // false: no file; a string: the file
	DevMode bool              `json:"dev_mode"`
	Env     map[string]string `json:"env"`
	Hide    []string          `json:"hide"` // programs that are not on the PATH
	Steps   []*step           `json:"steps"`
	step    `json:",inline"`
}

type repository struct {
	Branch   string `json:"branch"`
	Unborn   bool   `json:"unborn"`
	Detached bool   `json:"detached"`
}

// A step is one call, repeated, or several at once.
type step struct {
	Hook     string         `json:"hook"`
	Event    string         `json:"event"`
	Files    map[string]any `json:"files"`
	Stdin    any            `json:"stdin"` // a string is sent verbatim, any other value as JSON
	Parallel []any          `json:"parallel"`
	Repeat   int            `json:"repeat"`
	Expect   expectation    `json:"expect"`
}

type expectation struct {
	Decision         string              `json:"decision"`
	Exit             *int                `json:"exit"`
	Blocked          int                 `json:"blocked"` // of parallel calls
	ModelContains    []string            `json:"model_contains"`
	ModelNotContains []string            `json:"model_not_contains"`
	UserContains     []string            `json:"user_contains"`
	LogContains      []string            `json:"log_contains"`
	StdoutJSON       map[string]any      `json:"stdout_json"`
	Files            map[string]fileWant `json:"files"`
}

type fileWant struct {
	Exists      *bool          `json:"exists"`
	Contains    []string       `json:"contains"`
	NotContains []string       `json:"not_contains"`
	Matches     []string       `json:"matches"`
	Equals      *string        `json:"equals"`
	Lines       *int           `json:"lines"`
	JSON        map[string]any `json:"json"`
	Sh          *struct {
		Run    string `json:"run"`
		Prints string `json:"prints"`
	} `json:"sh"`
}

func TestCases(t *testing.T) {
	data := must(os.ReadFile("../../../testdata/guards/cases.json"))
	var all struct {
		Cases []jsontext.Value `json:"cases"`
	}
	require.NoError(t, json.Unmarshal(data, &all))
	require.Len(t, all.Cases, 186)
	for _, raw := range all.Cases {
		var s scenario
		require.NoError(t, json.Unmarshal(raw, &s))
		var git struct {
			Git jsontext.Value `json:"git"`
		}
		require.NoError(t, json.Unmarshal(raw, &git))
		s.NoGit = string(git.Git) == "null"
		if d, ok := departures[s.ID]; ok {
			s.Expect = expectation{Decision: d.decision}
			s.Title += ", but " + d.why
		}
		t.Run(s.ID, func(t *testing.T) {
			if !slices.ContainsFunc(s.Steps, func(st *step) bool { return st.Parallel != nil }) {
				t.Parallel() // but not beside a case that itself makes parallel calls
			}
			t.Log(s.Title)
			newWorld(t, s).play(s)
		})
	}
}

// departures are the cases whose expected decision was changed later on purpose.
var departures = map[string]struct{ decision, why string }{
	"H01-027": {"deny", "decisions may be in a list"},
}

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// A world is the files and the environment of one case.
type world struct {
	*testing.T
	dir  string
	vars *strings.Replacer
	env  map[string]string
	log  string
	last map[string]string
}

const testSession = "5e55-10n_1d"

func newWorld(t *testing.T, s scenario) *world {
	w := &world{T: t, dir: t.TempDir(), last: map[string]string{}}
	for _, d := range []string{"proj", "plugin", "outside", "state", "bin"} {
		require.NoError(t, os.Mkdir(w.at(d), 0o755))
	}
	session := func(name string) string { return w.at("state", fmt.Sprintf(name, testSession)) }
	w.log = session("planning-hooks-%s.log")
	w.vars = strings.NewReplacer("{PROJ}", w.at("proj"), "{PLUGIN}", w.at("plugin"), "{OUTSIDE}", w.at("outside"), "{STATE}",
		w.at("state"), "{SID}", testSession,
		"{LOG}", w.log, "{BUDGET}", session("planning-research-budget-%s.json"), "{BREAKER}", session("planning-hook-breaker-%s.json"),
		"{BLOCKS}", session("planning-stop-blocks-%s.json"))
	require.NoError(t, os.CopyFS(w.at("plugin"), os.DirFS("../../../testdata/guards/plugin")))
	w.configure(s)
	w.env = map[string]string{"CLAUDE_PLUGIN_ROOT": w.at("plugin"), "PLANNING_STATE_DIR": w.at("state"), "HOME": w.at("outside"),
		"PATH": w.at("bin"), "PLANNING_BINDS": "always"}
	for name, value := range s.Env {
		w.env[name] = w.vars.Replace(value)
	}
	// Git is on the PATH but fails if it is run: the branch must be read from its files.
	if len(s.Hide) == 0 {
		w.write(w.at("bin", "git"), "#!/bin/sh\nexit 9\n", 0o755)
	}
	if !s.NoGit {
		w.repository(s.Git)
	}
	return w
}

func (w *world) at(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

func (w *world) write(path, text string, mode os.FileMode) {
	require.NoError(w, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w, os.WriteFile(path, []byte(text), mode))
}

func (w *world) configure(s scenario) {
	file := w.at("plugin", "config", "planning-config.yaml")
	if text, ok := s.Config.(string); ok {
		w.write(file, text, 0o600)
	} else if s.Config == false {
		require.NoError(w, os.Remove(file))
	}
	if s.DevMode {
		w.write(w.at("plugin", "hooks", ".dev-mode"), "", 0o600)
	}
}

// repository writes the files of a git repository.
func (w *world) repository(r *repository) {
	if r == nil {
		r = &repository{Branch: "feature/foo"}
	}
	const commit = "1f6e9d3a5c7b8e2f4a6d8c0b9e7f5a3d1c2b4e6f"
	head := "ref: refs/heads/" + r.Branch
	if r.Detached {
		head = commit
	}
	w.write(w.at("proj", ".git", "HEAD"), head+"\n", 0o644)
	if !r.Unborn {
		w.write(w.at("proj", ".git", "refs", "heads", r.Branch), commit+"\n", 0o644)
	}
}

func (w *world) play(s scenario) {
	steps := s.Steps
	if len(steps) == 0 {
		steps = []*step{&s.step}
	}
	w.place(s.Files)
	for i, st := range steps {
		if i > 0 || len(s.Steps) > 0 {
			w.place(st.Files)
		}
		if st.Hook == "" {
			st.Hook, st.Event = s.Hook, s.Event
		}
		if st.Parallel != nil {
			w.together(st)
		} else {
			w.once(st)
		}
		w.checkFiles(st.Expect)
	}
}

func (w *world) place(files map[string]any) {
	for path, content := range files {
		path = w.path(path)
		require.NoError(w, os.MkdirAll(filepath.Dir(path), 0o755))
		m, special := w.substitute(content).(map[string]any)
		switch {
		case !special:
			w.write(path, w.substitute(content).(string), 0o600)
		case m["symlink"] != nil:
			_ = os.Remove(path)
			require.NoError(w, os.Symlink(m["symlink"].(string), path))
		case m["dir"] == true:
			require.NoError(w, os.MkdirAll(path, 0o755))
		default:
			w.write(path, string(must(json.Marshal(m["json"]))), 0o600)
		}
	}
}

func (w *world) path(p string) string {
	if p = w.vars.Replace(p); filepath.IsAbs(p) {
		return p
	}
	return w.at("proj", p)
}

// substitute replaces the placeholders and generates the values that are too long to be
// written out in the cases.
func (w *world) substitute(v any) any {
	switch v := v.(type) {
	case string:
		return w.vars.Replace(v)
	case []any:
		for i := range v {
			v[i] = w.substitute(v[i])
		}
	case map[string]any:
		if again, ok := v["$repeat"].([]any); ok {
			head, _ := v["head"].(string)
			return head + strings.Repeat(again[0].(string), int(again[1].(float64)))
		}
		if n, ok := v["$hashes"].(float64); ok {
			return hashes(int(n))
		}
		for k := range v {
			v[k] = w.substitute(v[k])
		}
	}
	return v
}

func hashes(n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = fmt.Sprintf("mcp__Ref__x_%040d", i)
	}
	return all
}

func (w *world) call(hook string, stdin any) client.Answer {
	input, isText := stdin.(string)
	if !isText {
		input = string(must(json.Marshal(stdin, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))))
	}
	g, ok := rules.Find(hook)
	require.True(w, ok, hook)
	return guard.Run(g, strings.NewReader(input), func(name string) string { return w.env[name] }, nil)
}

func (w *world) once(st *step) {
	var a client.Answer
	for range max(1, st.Repeat) {
		a = w.call(st.Hook, w.substitute(st.Stdin))
	}
	checkAnswer(w, st.Event, st.Expect, w.vars, a)
	for _, text := range st.Expect.LogContains {
		log, _ := os.ReadFile(w.log)
		assert.Contains(w, string(log), w.vars.Replace(text))
	}
}

func (w *world) together(st *step) {
	blocked := make([]bool, len(st.Parallel))
	var all sync.WaitGroup
	for i, stdin := range st.Parallel {
		stdin = w.substitute(stdin)
		all.Go(func() { blocked[i] = asSeen(st.Event, w.call(st.Hook, stdin)).blocked })
	}
	all.Wait()
	n := 0
	for _, b := range blocked {
		if b {
			n++
		}
	}
	assert.Equal(w, st.Expect.Blocked, n, "blocked")
}

func (w *world) checkFiles(e expectation) {
	for name, want := range e.Files {
		w.checkFile(name, w.path(name), want)
	}
}

func (w *world) checkFile(name, path string, want fileWant) {
	if want.Exists != nil && !*want.Exists {
		assert.NoFileExists(w, path, name)
		return
	}
	data, err := os.ReadFile(path)
	if !assert.NoError(w, err, name) {
		return
	}
	text := string(data)
	for _, s := range want.Contains {
		assert.Contains(w, text, w.vars.Replace(s), name)
	}
	for _, s := range want.NotContains {
		assert.NotContains(w, text, w.vars.Replace(s), name)
	}
	for _, s := range want.Matches {
		assert.Regexp(w, regexp.MustCompile("(?m)"+s), text, name)
	}
	if want.Equals != nil {
		assert.Equal(w, *want.Equals, text, name)
	}
	if want.Lines != nil {
		assert.Len(w, strings.Split(strings.TrimSuffix(text, "\n"), "\n"), *want.Lines, name)
	}
	if want.Sh != nil {
		out := must(exec.Command("/bin/sh", "-c", `. "$0"; `+want.Sh.Run, path).CombinedOutput())
		assert.Contains(w, string(out), w.vars.Replace(want.Sh.Prints), name)
	}
	for pointer, value := range want.JSON {
		assert.Equal(w, w.substitute(value), pointed(w, data, pointer), name+pointer)
	}
}

// pointed returns the value at a JSON pointer, nil if there is none.
func pointed(t require.TestingT, data []byte, pointer string) any {
	var v any
	require.NoError(t, json.Unmarshal(data, &v), "%s", data)
	for _, name := range strings.Split(pointer, "/")[1:] {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}
