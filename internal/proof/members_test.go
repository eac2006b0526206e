package proof

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// TestWhatIsCompared changes one member of a statement after the other, leaves each out, adds each that is not there, and signs it again.
// Those of which the answer depends are those that docs/internals/attestation.md names; the others are for the reader.
func TestWhatIsCompared(t *testing.T) {
	worlds.Long(t)
	const plan = "- [x] Test\n- [x] Sign\n"
	r := aRepository(t)
	r.put("skills/notes/fsm.json", "[1]")
	r.put("docs/release.md", plan)
	base := r.git("rev-parse", "HEAD")
	commit := r.commitAll()
	signer := signerOf(t, newEd25519(t))
	j := judge{in: r.repository, commit: commit, now: someTime.Add(time.Hour),
		signers: parseAllowed([]byte("ada " + string(ssh.MarshalAuthorizedKey(signer.PublicKey()))))}
	holds := func(s Statement) bool {
		parsed, err := parseStatement(must(s.encode()))
		if err != nil {
			return false
		}
		v, err := j.of(t.Context(), "a.json", sealed(t, parsed, signer))
		require.NoError(t, err)
		missing, err := j.missing(t.Context(), []verdict{v})
		require.NoError(t, err)
		return v.Holds && len(missing) == 0
	}
	whole := func(s *Statement) { // with every member that a statement about a commit can have
		x := &s.Predicate
		x.Agent, x.BegunBy = Agent{"claude-code", "2.1.329"}, &Beginner{"person", "prompt"}
		x.Nested = []Nested{{"notes", 1, File{Path: "skills/notes/fsm.json", SHA256: digest("[1]")}}}
		x.Skillmd = &File{Path: "skills/release/SKILL.md", SHA256: digest("x")}
		x.Lists = []Place{{List: "a", Session: "b", Began: someTime}}
		x.Overrides = []Override{{Time: someTime, Kind: "skip", Step: 2, Subject: "Sign", Because: "no key", How: "terminal",
			NotNeeded: []string{"Tell"}}}
		x.Steps[1].State, x.Steps[1].Under = isSkipped, 9
		d := &x.Steps[0].Decisions[0]
		fill(reflect.ValueOf(&d.Watched).Elem())
		d.How, d.Question, d.Answer, d.Outcome, d.Why = "approval", "Good?", "yes", "done", "its check passed"
		d.Same, d.Reopens, d.Skips = []string{"a"}, []int64{1}, []int64{2}
	}
	onTree := func(s *Statement) { // that is not in this clone, and has a file more than the commit
		other := aRepository(t)
		other.git("fetch", "-q", r.Dir, "main")
		other.git("reset", "-q", "--hard", commit)
		other.put("docs/more.md", "more")
		tree := must(other.Tree(t.Context(), other.Dir+"/.git/objects"))
		s.Subject[0] = treeSubject(tree)
		s.Predicate.Tree = &Tree{Base: base, Files: must(other.entries(t.Context(), base, tree))}
		s.Predicate.Steps[0].Decisions[0].Content = &Content{Head: base, Trees: []string{commit}, Differs: []string{"docs/more.md"}}
		s.Predicate.Content = &Content{Unknown: "git took long"}
	}
	byPlan := func(s *Statement) {
		s.Predicate.FSM = File{Path: "docs/release.md", SHA256: digest(checklist.Unticked(plan)), Plan: true}
		s.Predicate.Unenforced = []Span{{someTime, someTime, "hooks were off"}}
	}
	compared, left, tried := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, made := range []func(*Statement){whole, onTree, byPlan} {
		s := about(commit)
		stands(r, &s)
		made(&s)
		var err error
		j.policy, err = parsePolicy([]byte(`{"policy": 1, "unenforced": ` + strconv.FormatBool(s.Predicate.FSM.Plan) + `, "overrides": {"skip": ["Sign", "Tell"]}, "approvals": "question",
			"maxAge": "30d", "checks": ["Test"], "ignore": ["docs/**"],
			"skills": {"release": {"workflow": "` + s.Predicate.FSM.Path + `", "project": ".", "paths": ["dist/**"]}}}`))
		require.NoError(t, err)
		require.True(t, holds(s))
		vary(reflect.ValueOf(&s).Elem(), "", func(path string) {
			switch path = strings.TrimPrefix(path, "predicate."); {
			case tried[path]: // in a statement before this one
			case holds(s):
				left[path] = true
			default:
				compared[path] = true
			}
		})
		maps.Copy(tried, compared)
		maps.Copy(tried, left)
		require.True(t, holds(s))
	}
	for _, path := range paths(reflect.TypeFor[Statement](), "") {
		require.True(t, compared[path] || left[path], "%s was not tried", path)
	}
	page := string(must(os.ReadFile("../../docs/internals/attestation.md")))
	_, section, _ := strings.Cut(page, "## What is compared\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1) {
		named[m[1]] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(compared)), slices.Sorted(maps.Keys(named)), "left: %v", slices.Sorted(maps.Keys(left)))
}

// paths returns the paths of all members of a type that have none themselves.
func paths(t reflect.Type, path string) (all []string) {
	switch {
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
		return paths(t.Elem(), path)
	case t.Kind() != reflect.Struct, t == reflect.TypeFor[time.Time]():
		return []string{strings.TrimPrefix(path, "predicate.")}
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			all = append(all, paths(t.Field(i).Type, strings.TrimPrefix(path+"."+name, "."))...)
		}
	}
	return all
}

// vary gives each member of a value other values, one after the other: other ones of its form, none, and one element more or less.
func vary(v reflect.Value, path string, try func(path string)) {
	with := func(other reflect.Value) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.Set(other)
		try(path)
		v.Set(was)
	}
	filled := func(t reflect.Type) reflect.Value {
		made := reflect.New(t).Elem()
		fill(made)
		return made
	}
	switch v.Kind() {
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			with(reflect.ValueOf(at.AddDate(-1, 0, 0)))
			return
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			vary(v.Field(i), strings.TrimPrefix(path+"."+name, "."), try)
		}
	case reflect.Pointer:
		if v.IsNil() {
			with(filled(v.Type()))
			return
		}
		vary(v.Elem(), path, try)
		with(reflect.Zero(v.Type()))
	case reflect.Slice:
		with(reflect.Append(v.Slice3(0, v.Len(), v.Len()), filled(v.Type().Elem())))
		for i := range v.Len() {
			vary(v.Index(i), path, try)
			with(reflect.AppendSlice(v.Slice3(0, i, i), v.Slice(i+1, v.Len())))
		}
	default:
		for _, other := range others(v.Interface()) {
			with(reflect.ValueOf(other))
		}
	}
}

// others returns other values of the same form.
func others(v any) []any {
	switch v := v.(type) {
	case int:
		return []any{v + 1}
	case int64:
		return []any{v + 1}
	case float64:
		return []any{v + 1}
	case bool:
		return []any{!v}
	case string:
		if regexp.MustCompile(`^[0-9a-f]{40,64}$`).MatchString(v) {
			return []any{strings.Repeat("9", len(v))}
		}
		if strings.Contains(v, "/") {
			return []any{"x" + v, ""}
		}
		return []any{v + "x"}
	}
	panic(v)
}
