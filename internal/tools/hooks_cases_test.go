package tools_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// hookCase is one case of cases.json, more.json or dialects.json in testdata/hooks.
type hookCase struct {
	ID           string            `json:"id"`
	Title        string            `json:"title"`
	Requirements []string          `json:"reqs"`
	Request      jsontext.Value    `json:"request"`
	Files        map[string]string `json:"files"`
	Dirname      string            `json:"dirname"`
	GenInput     *genInput         `json:"gen_input"`
	Expect       map[string]any    `json:"expect"`
	Recommend    map[string]any    `json:"recommend"`
	Tags         []string          `json:"tags"`
}

// genInput describes a large input, which is generated.
type genInput struct {
	Path []string `json:"path"`
	Char string   `json:"char"`
	N    int      `json:"n"`
}

// TestHookCases runs every case, and then checks that each requirement of the hook runtime is
// covered by a case that passed, a test or a session.
func TestHookCases(t *testing.T) {
	worlds.Long(t)
	cases := slices.Concat(readHookCases(t, "cases.json"), readHookCases(t, "more.json"), readHookCases(t, "dialects.json"))
	timed := func(c hookCase) bool { return slices.Contains(c.Tags, "timing") }
	var mutex sync.Mutex
	passed := map[string]hookCase{}
	run := func(t *testing.T, c hookCase) {
		c.run(t)
		mutex.Lock()
		defer mutex.Unlock()
		passed[c.ID] = c
	}
	t.Run("together", func(t *testing.T) {
		for _, c := range cases {
			if !timed(c) {
				t.Run(c.ID, func(t *testing.T) { t.Parallel(); run(t, c) })
			}
		}
	})
	for _, c := range cases {
		if timed(c) {
			t.Run(c.ID, func(t *testing.T) { run(t, c) })
		}
	}
	t.Run("requirements", func(t *testing.T) {
		if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
			t.Skip("-run selected some of the cases")
		}
		require.Len(t, passed, len(cases), "cases failed, or two have the same ID")
		checkRequirements(t, passed)
	})
}

// writeProgram writes a file that will be executed. It prevents forks meanwhile: a child
// inherits the open file until its exec, and until then executing the file fails with
// ETXTBSY.
func writeProgram(path, text string, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), mode)
}

func readHookCases(t *testing.T, name string) []hookCase {
	data, err := os.ReadFile(filepath.Join("../../testdata/hooks", name))
	require.NoError(t, err)
	var file struct {
		Cases []hookCase `json:"cases"`
	}
	require.NoError(t, json.Unmarshal(data, &file))
	require.NotEmpty(t, file.Cases)
	return file.Cases
}

func (c hookCase) run(t *testing.T) {
	dir := filepath.Join(t.TempDir(), cmp.Or(c.Dirname, "w"))
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range c.Files {
		mode := os.FileMode(0o755)
		if strings.HasSuffix(name, ".noexec") {
			mode = 0o644
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, writeProgram(path, inDir(text, dir).(string), mode))
	}
	stdin := c.stdin(t, dir)
	start := time.Now()
	got := evaluate(t, stdin)
	got["@elapsed_ms"] = float64(time.Since(start).Milliseconds())
	got["@files"] = c.newFiles(t, dir)

	want := map[string]any{}
	for _, expectations := range []map[string]any{c.Expect, c.Recommend} {
		for path, value := range expectations {
			want[path] = inDir(value, dir)
		}
	}
	require.NotEmpty(t, want, "%s expects nothing", c.ID)
	c.checkMembers(t, got, want)
	for path, value := range want {
		found := lookup(got, path)
		require.True(t, matches(found, value), "%s (%s)\n  %s\n  want %v\n  got  %v", c.ID, c.Title, path, value, found)
	}
}

// checkMembers fails if the result lacks a member that every result of its mode has, or if no
// hook ran. Otherwise an empty result would meet the expectation that something is absent,
// and a run without hooks the expectation that nothing blocks.
func (c hookCase) checkMembers(t *testing.T, got, want map[string]any) {
	var request struct {
		Mode string `json:"mode"`
	}
	require.NoError(t, json.Unmarshal(c.Request, &request))
	members := map[string][]string{
		"":          {"plan", "results", "aggregated", "policy", "logs"},
		"fire":      {"plan", "results", "aggregated", "policy", "logs"},
		"tool":      {"tool", "before", "after", "logs"},
		"model":     {"model", "selection", "before", "after", "logs"},
		"translate": {"value"}, "status": {"enabled"}, "factory": {"blocking", "stop", "reason"},
	}[request.Mode]
	require.NotEmpty(t, members, "%s: unknown mode", c.ID)
	require.Subset(t, slices.Collect(maps.Keys(got)), members, c.ID)
	results, fired := got["results"].([]any)
	if _, empty := want["plan"]; !fired || empty || equal(want["results"], []any{}) || equal(want["results|len"], 0.0) {
		return
	}
	require.NotEmpty(t, results, "%s: no hook ran", c.ID)
}

// stdin returns the request for a directory. Numbers are not reformatted.
func (c hookCase) stdin(t *testing.T, dir string) []byte {
	var request map[string]jsontext.Value
	require.NoError(t, json.Unmarshal([]byte(inDir(string(c.Request), dir).(string)), &request))
	if request["cwd"] == nil {
		cwd, err := json.Marshal(dir)
		require.NoError(t, err)
		request["cwd"] = cwd
	}
	if g := c.GenInput; g != nil {
		var input map[string]any
		require.NoError(t, json.Unmarshal(request["input"], &input))
		g.into(input)
		generated, err := json.Marshal(input)
		require.NoError(t, err)
		request["input"] = generated
	}
	stdin, err := json.Marshal(request)
	require.NoError(t, err)
	return stdin
}

func (g genInput) into(input map[string]any) {
	for _, key := range g.Path[:len(g.Path)-1] {
		input = input[key].(map[string]any)
	}
	input[g.Path[len(g.Path)-1]] = strings.Repeat(g.Char, g.N)
}

func evaluate(t *testing.T, stdin []byte) map[string]any {
	var out, errs bytes.Buffer
	code := tools.Main([]string{"hooks", "eval"}, terminal.Streams{
		In: bytes.NewReader(stdin), Out: &out, Err: &errs, Getenv: os.LookupEnv,
	})
	require.Zero(t, code, errs.String())
	var got map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &got), out.String())
	return got
}

// newFiles returns the files that hooks created, with dots in names as underscores.
func (c hookCase) newFiles(t *testing.T, dir string) map[string]any {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	found := map[string]any{}
	for _, e := range entries {
		if _, given := c.Files[e.Name()]; given || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		found[strings.ReplaceAll(e.Name(), ".", "_")] = string(text)
	}
	return found
}

// inDir replaces {{CWD}} by the case's directory in every string.
func inDir(v any, dir string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "{{CWD}}", dir)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = inDir(v[i], dir)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[inDir(k, dir).(string)] = inDir(v[k], dir)
		}
		return out
	}
	return v
}

// missing is what lookup returns for a path that does not exist.
type missing struct{}

// lookup follows a dotted path through a value, and applies the filters after a |.
func lookup(v any, path string) any {
	path, filters, _ := strings.Cut(path, "|")
	v = walk(v, path)
	for filter := range strings.SplitSeq(filters, "|") {
		name, rest, _ := strings.Cut(filter, ".")
		switch name {
		case "json":
			var inner any
			text, ok := v.(string)
			if !ok || json.Unmarshal([]byte(text), &inner) != nil {
				return missing{}
			}
			v = walk(inner, rest)
		case "len":
			v = float64(length(v))
		case "lines":
			lines := []any{}
			for line := range strings.SplitSeq(fmt.Sprint(v), "\n") {
				lines = append(lines, line)
			}
			v = lines
		case "warntext":
			v = logText(v, "warn", "error", "user")
		case "alltext":
			v = logText(v, "debug", "info", "warn", "error", "user")
		}
	}
	return v
}

func walk(v any, path string) any {
	if path == "" {
		return v
	}
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				return missing{}
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return missing{}
			}
			v = at[i]
		default:
			return missing{}
		}
	}
	return v
}

func length(v any) int {
	switch v := v.(type) {
	case string:
		return len([]rune(v))
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

func logText(v any, levels ...string) string {
	var texts []string
	entries, _ := v.([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		if level, _ := entry["level"].(string); slices.Contains(levels, level) {
			texts = append(texts, fmt.Sprint(entry["msg"]))
		}
	}
	return strings.Join(texts, "\n")
}

// matches compares a value with an expected one, or applies operators.
func matches(found, want any) bool {
	operators, ok := want.(map[string]any)
	if !ok || len(operators) == 0 || !allOperators(operators) {
		return equal(found, want)
	}
	for name, operand := range operators {
		if !apply(name, found, operand) {
			return false
		}
	}
	return true
}

func allOperators(m map[string]any) bool {
	for key := range m {
		if !strings.HasPrefix(key, "$") {
			return false
		}
	}
	return true
}

func equal(found, want any) bool {
	if _, none := found.(missing); none {
		return want == nil
	}
	a, errA := json.Marshal(found, json.Deterministic(true))
	b, errB := json.Marshal(want, json.Deterministic(true))
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func apply(operator string, found, operand any) bool {
	_, none := found.(missing)
	text, isText := found.(string)
	if !isText && !none && found != nil {
		encoded, _ := json.Marshal(found)
		text = string(encoded)
	}
	switch operator {
	case "$absent":
		return none || found == nil
	case "$re":
		return isText && regexp.MustCompile("(?s)"+operand.(string)).MatchString(text)
	case "$contains":
		return strings.Contains(text, operand.(string))
	case "$lacks":
		return !strings.Contains(text, operand.(string))
	case "$nonempty":
		return !none && found != nil && text != "" && text != "[]" && text != "{}"
	case "$ne":
		return !none && !equal(found, operand)
	case "$lt":
		return compare(found, operand) < 0
	case "$gt":
		return compare(found, operand) > 0
	case "$in":
		return slices.ContainsFunc(operand.([]any), func(v any) bool { return equal(found, v) })
	case "$subset":
		for key, value := range operand.(map[string]any) {
			if !matches(walk(found, key), value) {
				return false
			}
		}
		return true
	}
	panic("unknown operator " + operator)
}

// compare compares two numbers. For other values it returns 0, which satisfies neither $lt
// nor $gt.
func compare(a, b any) int {
	x, okX := a.(float64)
	y, okY := b.(float64)
	if !okX || !okY {
		return 0
	}
	return cmp.Compare(x, y)
}
