package hooks_test

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
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/sessions"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// TestHookCases runs every case, and then checks that each requirement of the hook runtime is
// covered by a case that passed, a test or a session.
func TestHookCases(t *testing.T) {
	worlds.Long(t)
	cases := slices.Concat(readHookCases(t, "cases.json"), readHookCases(t, "more.json"), readHookCases(t, "dialects.json"))
	timed := func(c sessions.HookCase) bool { return slices.Contains(c.Tags, "timing") }
	var mutex sync.Mutex
	passed := map[string]sessions.HookCase{}
	run := func(t *testing.T, c sessions.HookCase) {
		runCase(t, c)
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

func readHookCases(t *testing.T, name string) []sessions.HookCase {
	data, err := os.ReadFile(filepath.Join("../../testdata/hooks", name))
	require.NoError(t, err)
	var file struct {
		Cases []sessions.HookCase `json:"cases"`
	}
	require.NoError(t, json.Unmarshal(data, &file))
	require.NotEmpty(t, file.Cases)
	return file.Cases
}

func runCase(t *testing.T, c sessions.HookCase) {
	dir := filepath.Join(t.TempDir(), cmp.Or(c.Dirname, "w"))
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range c.Files {
		mode := os.FileMode(0o755)
		if strings.HasSuffix(name, ".noexec") {
			mode = 0o644
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, sessions.WriteProgram(path, sessions.InDir(text, dir).(string), mode))
	}
	stdin := c.Stdin(t, dir)
	start := time.Now()
	got := evaluate(t, stdin)
	got["@elapsed_ms"] = float64(time.Since(start).Milliseconds())
	got["@files"] = newFiles(t, c, dir)

	want := map[string]any{}
	for _, expectations := range []map[string]any{c.Expect, c.Recommend} {
		for path, value := range expectations {
			want[path] = sessions.InDir(value, dir)
		}
	}
	require.NotEmpty(t, want, "%s expects nothing", c.ID)
	checkMembers(t, c, got, want)
	for path, value := range want {
		found := lookup(got, path)
		require.True(t, matches(found, value), "%s (%s)\n  %s\n  want %v\n  got  %v", c.ID, c.Title, path, value, found)
	}
}

// checkMembers fails if the result lacks a member that every result of its mode has, or if no
// hook ran. Otherwise an empty result would meet the expectation that something is absent,
// and a run without hooks the expectation that nothing blocks.
func checkMembers(t *testing.T, c sessions.HookCase, got, want map[string]any) {
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

func evaluate(t *testing.T, stdin []byte) map[string]any {
	var out, errs bytes.Buffer
	code := tools.Main([]string{"hooks", "eval"}, terminal.Streams{In: bytes.NewReader(stdin), Out: &out, Err: &errs, Getenv: os.LookupEnv})
	require.Zero(t, code, errs.String())
	var got map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &got), out.String())
	return got
}

// newFiles returns the files that hooks created, with dots in names as underscores.
func newFiles(t *testing.T, c sessions.HookCase, dir string) map[string]any {
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
