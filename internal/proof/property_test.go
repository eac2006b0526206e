package proof

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// TestEachFileOfTheCommit: a later commit has another file, in each way in which one can be other. The statement does not hold for it, but
// where the policy ignores the path. The bytes of workflows are compared whatever it ignores.
func TestEachFileOfTheCommit(t *testing.T) {
	worlds.Long(t)
	r := aRepository(t)
	r.put("skills/notes/fsm.json", aNested)
	r.put("skills/release/SKILL.md", "x")
	r.put("docs/a.md", "x")
	commit := r.commitAll()
	signer := signerOf(t, newEd25519(t))
	j := judge{in: r.repository, now: someTime.Add(time.Hour),
		signers: parseAllowed([]byte("ada " + string(ssh.MarshalAuthorizedKey(signer.PublicKey()))))}
	s := about(commit, func(s *Statement) {
		nest(&s.Predicate)
		s.Predicate.Skillmd = &File{Path: "skills/release/SKILL.md", SHA256: digest("x")}
	})
	stands(r, &s)
	envelope := sealed(t, s, signer)
	names := strings.Fields(r.git("ls-tree", "-r", "--name-only", "HEAD"))
	require.Len(t, names, 5)
	changes := map[string]func(file string) error{
		"bytes": func(file string) error { return os.WriteFile(file, []byte("other"), 0o644) },
		"mode":  func(file string) error { return os.Chmod(file, 0o755) },
		"gone":  os.Remove,
		"link": func(file string) error {
			_ = os.Remove(file)
			return os.Symlink("x", file)
		},
	}
	for _, name := range append(names, "new") {
		for kind, change := range changes {
			r.git("reset", "-q", "--hard", commit)
			if name == "new" && kind == "gone" {
				continue
			} else if name == "new" {
				r.put(name, "x")
			}
			require.NoError(t, change(filepath.Join(r.Dir, name)))
			j.commit = r.commitAll()
			for ignored, want := range map[string]bool{
				"docs/**": name == "docs/a.md",
				"**":      filepath.Base(name) != "fsm.json" || kind == "mode",
			} {
				j.policy = policy{Ignore: []string{ignored}}
				v, err := j.of(t.Context(), "a.json", envelope)
				require.NoError(t, err)
				require.Equal(t, want, v.Holds, "%s of %s, %s is ignored: %v", kind, name, ignored, v.Problems)
			}
		}
	}
}

// TestEachWordOfAPolicy changes one word of a policy after the other, and leaves each out. It is refused then, or the answer to the run of
// its row is another one.
func TestEachWordOfAPolicy(t *testing.T) {
	worlds.Long(t)
	r := aRepository(t)
	first := r.git("rev-parse", "HEAD")
	r.put("dist/more.md", "x")
	r.put("docs/a.md", "x")
	commit := r.commitAll()
	r.put("generated/a", "x")
	later := r.commitAll()
	ada, bob := signerOf(t, newEd25519(t)), signerOf(t, newEd25519(t))
	keys := "ada " + string(ssh.MarshalAuthorizedKey(ada.PublicKey())) + "bob " + string(ssh.MarshalAuthorizedKey(bob.PublicKey()))

	// world is a run that is judged: one that holds, but for this.
	type world struct {
		change func(*Run)
		signer ssh.Signer // nil for Ada
		commit string     // that is judged; empty for the one of the statement
		base   string
		none   bool // there is no statement
	}
	on := func(name string, steps ...int) world { // their checks passed on other content
		return world{change: func(r *Run) {
			for _, i := range steps {
				r.Steps[i].Decisions[0].Content = &Content{Trees: []string{strings.Repeat("d", 40)}, Differs: []string{name}}
			}
		}}
	}
	past := func(kind, subject string) world {
		return world{change: func(r *Run) {
			r.Overrides = []Override{{Time: someTime, Kind: kind, Step: 2, Subject: subject}}
		}}
	}
	other := world{change: func(r *Run) { r.FSM = File{Path: "other/fsm.json", SHA256: digest("[]")} }}
	longAago := world{change: func(r *Run) { r.Ended, r.Began = someTime.AddDate(0, 0, -40), someTime.AddDate(0, 0, -41) }}
	answer := func(p policy, w world) (problems string) {
		j := judge{in: r.repository, commit: cmp.Or(w.commit, commit), base: w.base, now: someTime.Add(time.Hour), policy: p,
			signers: parseAllowed([]byte(keys))}
		var found []verdict
		if !w.none {
			s := about(commit)
			s.Predicate.Steps[1].Decisions = slices.Clone(s.Predicate.Steps[0].Decisions)
			s.Predicate.Steps[0].Decisions[0].Time = someTime.Add(-time.Minute)
			stands(r, &s)
			if w.change != nil {
				w.change(&s.Predicate)
			}
			signer := w.signer
			if signer == nil {
				signer = ada
			}
			found = append(found, must(j.of(t.Context(), "a.json", sealed(t, s, signer))))
		}
		found = append(found, must(j.missing(t.Context(), found))...)
		for _, v := range found {
			problems += strings.Join(v.Problems, "\n")
		}
		return problems
	}
	for text, rows := range map[string]map[string]world{
		`{"policy": 1, "ignore": ["generated/**"], "overrides": {"skip": ["Sign"], "end": ["Tag"]}, "approvals": "question", "unenforced": true,
			"signers": ["ada"], "maxAge": "30d", "nothing": true, "checks": ["Test"], "after": ["log/**"],
			"skills": {"release": {"workflow": "skills/release/fsm.json", "project": ".", "paths": ["dist/**"]}}}`: {
			"ignore":                  {commit: later, base: later},
			"overrides":               past("skip", "Sign"),
			"overrides.skip":          past("skip", "Sign"),
			"overrides.end":           past("end", "Tag"),
			"approvals":               {change: func(r *Run) { r.Steps[0].Decisions[0].Answer, r.Steps[0].Decisions[0].How = "yes", "terminal" }},
			"unenforced":              {change: func(r *Run) { r.Unenforced = []Span{{someTime, someTime, "x"}} }},
			"signers":                 {signer: bob},
			"maxAge":                  longAago,
			"nothing":                 {none: true, base: commit},
			"checks":                  on("src/a.go", 0),
			"after":                   on("log/b", 0),
			"skills":                  {none: true, base: first},
			"skills.release":          {none: true, base: first},
			"skills.release.workflow": other,
			"skills.release.project":  {change: func(r *Run) { r.Project = "log" }},
			"skills.release.paths":    {none: true, base: first},
		},
		`{"policy": 1, "content": "any", "overrides": ["Sign"], "skills": {"write": ["docs/*.md"]}}`: {
			"content":      on("src/a.go", 1),
			"overrides":    past("done", "Sign"),
			"skills":       {none: true, base: first},
			"skills.write": {none: true, base: first},
		},
		`{"policy": 1, "skills": {"release": {"paths": ["dist/**"], "checks": ["Test"], "after": ["log/**"]}}}`: {
			"skills":                {none: true, base: first},
			"skills.release":        {none: true, base: first},
			"skills.release.paths":  {none: true, base: first},
			"skills.release.checks": on("src/a.go", 0),
			"skills.release.after":  on("log/b", 0),
		},
		`{"policy": 1, "skills": {"release": {"paths": ["dist/**"], "content": "any"}}}`: {
			"skills":                 on("src/a.go", 1),
			"skills.release":         on("src/a.go", 1),
			"skills.release.paths":   {none: true, base: first},
			"skills.release.content": on("src/a.go", 1),
		},
	} {
		var whole any
		require.NoError(t, json.Unmarshal([]byte(text), &whole))
		p, err := parsePolicy([]byte(text))
		require.NoError(t, err)
		answers := map[string]string{}
		wordsOf(whole, "", func(x any) { whole = x }, func(path string) {
			changed, err := parsePolicy(must(json.Marshal(whole)))
			if err != nil {
				return
			}
			w, ok := rows[path]
			require.True(t, ok, "%q has no row", path)
			if _, ok := answers[path]; !ok {
				answers[path] = answer(p, w)
			}
			require.NotEqual(t, answers[path], answer(changed, w), "%s: %s", path, must(json.Marshal(whole)))
		})
		require.ElementsMatch(t, slices.Collect(maps.Keys(rows)), slices.Collect(maps.Keys(answers)))
	}
}

// wordsOf calls try with each word of a document changed, and each member and element left out.
func wordsOf(v any, path string, set func(any), try func(path string)) {
	with := func(other any) {
		set(other)
		try(path)
		set(v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			was, inside := v[name], strings.TrimPrefix(path+"."+name, ".")
			wordsOf(was, inside, func(x any) { v[name] = x }, try)
			delete(v, name)
			try(inside)
			v[name+"x"] = was
			try(inside)
			delete(v, name+"x")
			v[name] = was
		}
	case []any:
		for i := range v {
			wordsOf(v[i], path, func(x any) { v[i] = x }, try)
			with(slices.Delete(slices.Clone(v), i, i+1))
		}
	case string:
		with(v + "x")
		with("x" + v)
	case bool:
		with(!v)
	case float64:
		with(v + 1)
	}
}
