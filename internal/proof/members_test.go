package proof

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// TestWhatIsCompared changes one member of a statement after the other, and signs it again. Those of which the answer depends are those
// that docs/internals/attestation.md names; the others are for the reader.
func TestWhatIsCompared(t *testing.T) {
	r := aRepository(t)
	r.put("skills/notes/fsm.json", "[1]")
	commit := r.commitAll()
	signer := signerOf(t, newEd25519(t))
	p, err := parsePolicy([]byte(`{"policy": 1, "overrides": {"skip": ["Sign", "Tell"]}, "approvals": "question", "maxAge": "30d",
		"checks": ["Test"], "ignore": ["docs/**"],
		"skills": {"release": {"workflow": "skills/release/fsm.json", "project": ".", "paths": ["dist/**"]}}}`))
	require.NoError(t, err)
	j := judge{in: r.repository, commit: commit, now: someTime.Add(time.Hour), policy: p,
		signers: parseAllowed([]byte("ada " + string(ssh.MarshalAuthorizedKey(signer.PublicKey()))))}
	s := about(commit, func(s *Statement) {
		x := &s.Predicate
		x.Agent = Agent{"claude-code", "2.1.329"}
		x.Nested = []Nested{{"notes", 1, File{Path: "skills/notes/fsm.json", SHA256: digest("[1]")}}}
		x.Skillmd = &File{Path: "skills/release/SKILL.md", SHA256: digest("x")}
		x.Overrides = []Override{{Time: someTime, Kind: "skip", Step: 2, Subject: "Sign", Because: "no key", How: "terminal",
			NotNeeded: []string{"Tell"}}}
		d := &x.Steps[0].Decisions[0]
		d.How, d.Question, d.Answer, d.Outcome, d.Why = "approval", "Good?", "yes", "done", "its check passed"
		x.Steps[1].State, x.Steps[1].Under = isSkipped, 9
	})
	stands(r, &s)
	s.Predicate.Steps[0].Decisions[0].Content.Head = commit
	s.Predicate.Content = &Content{Head: commit, Trees: []string{strings.Repeat("c", 40)}, Differs: []string{"x"}}
	holds := func(text []byte) bool {
		parsed, err := parseStatement(text)
		if err != nil {
			return false
		}
		v, err := j.of(t.Context(), "a.json", sealed(t, parsed, signer))
		require.NoError(t, err)
		missing, err := j.missing(t.Context(), []verdict{v})
		require.NoError(t, err)
		return v.Holds && len(missing) == 0
	}
	text := must(s.encode())
	require.True(t, holds(text))
	var whole any
	require.NoError(t, json.Unmarshal(text, &whole))
	compared, left := map[string]bool{}, map[string]bool{}
	for _, leaf := range leaves(whole, "", func(v any) { whole = v }) {
		was := leaf.value
		for _, other := range others(was) {
			leaf.set(other)
			if changed := must(json.Marshal(whole)); holds(changed) {
				left[leaf.path] = true
			} else {
				compared[leaf.path] = true
			}
		}
		leaf.set(was)
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

// leaf is a value in a document that has no members.
type leaf struct {
	path  string // without indices
	value any
	set   func(any)
}

func leaves(v any, path string, set func(any)) (all []leaf) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leaves(v[name], strings.TrimPrefix(path+"."+name, "."), func(x any) { v[name] = x })...)
		}
	case []any:
		for i := range v {
			all = append(all, leaves(v[i], path, func(x any) { v[i] = x })...)
		}
	default:
		all = append(all, leaf{strings.TrimPrefix(path, "predicate."), v, set})
	}
	return all
}

// others returns other values of the same form.
func others(v any) []any {
	switch v := v.(type) {
	case float64:
		return []any{v + 1}
	case bool:
		return []any{!v}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return []any{at.AddDate(-1, 0, 0).Format(time.RFC3339Nano)}
		}
		if regexp.MustCompile(`^[0-9a-f]{40,64}$`).MatchString(v) {
			return []any{strings.Repeat("9", len(v))}
		}
		return []any{v + "x"}
	}
	return []any{fmt.Sprint(v)}
}
