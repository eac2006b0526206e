package hooktest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/settings"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Got is the result of a case.
type Got struct {
	Policy string            // the policy as JSON, without empty members
	Files  map[string]string // new and changed files by name; Removed for removed ones
	Result *hooks.Result
}

// removed is the content by which a case describes a file that hooks removed.
const removed = "(removed)\n"

func (g Got) names() []string { return slices.Sorted(maps.Keys(g.Files)) }

// Loader reads the configuration of a case.
type Loader func(d dialect.Dialect, paths []string) (settings.Found, error)

// Run creates the files of the case in root, fires the event and returns the result. environ
// is the environment that hooks inherit.
func (c Case) Run(ctx context.Context, root string, load Loader, environ []string) (Got, error) {
	place, err := c.layOut(root)
	if err != nil {
		return Got{}, err
	}
	found, err := load(c.dialect, c.config)
	if err != nil {
		return Got{}, err
	}
	if !found.Enabled {
		return Got{}, fmt.Errorf("%w: its configuration turns hooks off; %s runs hooks only with %s", errCase, c.dialect.Title,
			c.dialect.Settings.ToEnable)
	}
	before, err := snapshot(place.root)
	if err != nil {
		return Got{}, err
	}
	event := jsontext.Value(place.fill(c.section(eventSection)))
	session, err := sessionOf(event, place.project)
	if err != nil {
		return Got{}, fmt.Errorf("%w: event.json:%w", errCase, jsonx.Explain(event, err))
	}
	engine := hooks.New(hooks.Config{
		Dialect: c.dialect,
		Session: session,
		Enabled: true,
		Load:    func() ([]hooks.Source, error) { return found.Sources, nil },
		Environ: append(c.environ(environ, place), found.Env...),
	})
	result := engine.Fire(ctx, c.event, hooks.Input{Fields: event})
	after, err := snapshot(place.root)
	if err != nil {
		return Got{}, err
	}
	changed := changes(before, after)
	maps.DeleteFunc(changed, func(name, _ string) bool { return c.ignores(name) })
	return place.got(result, changed)
}

// place is the directory tree in which a case runs: root, and in it project and home. dir is
// the directory of the case file.
type place struct{ root, project, home, dir string }

// layOut creates the files of the case.
func (c Case) layOut(root string) (place, error) {
	dir, err := filepath.Abs(filepath.Dir(c.path))
	if err != nil {
		return place{}, err
	}
	p := place{root, filepath.Join(root, "project"), filepath.Join(root, "home"), dir}
	for _, d := range []string{p.project, p.home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return place{}, err
		}
	}
	for _, f := range c.layout() {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if !strings.HasPrefix(path, root+string(filepath.Separator)) {
			return place{}, fmt.Errorf("%w: %s is outside the case's directory", errCase, f.Name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return place{}, err
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(string(f.Data), "#!") {
			mode = 0o755
		}
		err := safefile.Unheld.WriteNew(path, []byte(p.fill(string(f.Data))), mode)
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%w: %s is in it twice", errCase, f.Name)
		}
		if err != nil {
			return place{}, err
		}
	}
	return p, nil
}

// fill replaces {{CWD}} and the like in a text by the case's directories.
func (p place) fill(text string) string {
	return strings.NewReplacer("{{CWD}}", p.project, "{{HOME}}", p.home, "{{DIR}}", p.dir).Replace(text)
}

// unfill is the inverse of fill.
func (p place) unfill(text string) string {
	return strings.NewReplacer(p.project, "{{CWD}}", p.home, "{{HOME}}", p.dir, "{{DIR}}").Replace(text)
}

// environ returns the environment of the hooks. It does not depend on the home directory and
// the agents' variables of the user who runs the test.
func (c Case) environ(inherited []string, p place) []string {
	env := slices.DeleteFunc(slices.Clone(inherited), func(v string) bool {
		return strings.HasPrefix(v, "CLAUDE_") || strings.HasPrefix(v, "GEMINI_") || strings.HasPrefix(v, "LLXPRT_")
	})
	env = append(env, "HOME="+p.home)
	for _, v := range c.env {
		env = append(env, p.fill(v))
	}
	return env
}

func sessionOf(event jsontext.Value, project string) (hooks.Session, error) {
	var fields struct {
		ID         string `json:"session_id"`
		Cwd        string `json:"cwd"`
		Transcript string `json:"transcript_path"`
	}
	if err := json.Unmarshal(event, &fields, jsonx.Tolerant); err != nil {
		return hooks.Session{}, err
	}
	s := hooks.Session{ID: fields.ID, Cwd: fields.Cwd, Project: project, TranscriptPath: fields.Transcript}
	if s.Cwd == "" {
		s.Cwd = project
	}
	return s, nil
}

func (p place) got(r *hooks.Result, files map[string]string) (Got, error) {
	shown := struct {
		Hooks  int            `json:"hooks"`
		Failed int            `json:"failed,omitzero"` // the hooks among them that failed
		Policy jsontext.Value `json:",embed"`
	}{len(r.Results), failedOf(r), r.Policy.Compact()}
	text, err := json.Marshal(shown, jsontext.Multiline(true), jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return Got{}, err
	}
	g := Got{Policy: p.unfill(string(text)) + "\n", Files: map[string]string{}, Result: r}
	for name, content := range files {
		g.Files[name] = p.unfill(content)
	}
	return g, nil
}

func failedOf(r *hooks.Result) int {
	failed := 0
	for _, one := range r.Results {
		if one.Failed() {
			failed++
		}
	}
	return failed
}

// maxFile bounds a file that a hook leaves, in bytes.
const maxFile = 64 << 20

// snapshot reads every file below root.
func snapshot(root string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := safefile.ReadFile(path, maxFile, safefile.NoFollow)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	return files, err
}

// changes returns the new, changed and removed files. A content without a final newline gets
// one, because a txtar file cannot represent it otherwise.
func changes(before, after map[string]string) map[string]string {
	changed := map[string]string{}
	for name, content := range after {
		if was, ok := before[name]; !ok || was != content {
			changed[name] = withNewline(content)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			changed[name] = removed
		}
	}
	return changed
}

func withNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
