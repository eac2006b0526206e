package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fsmtx/fsmtx/internal/git"
)

// testRepository is a repository with a commit.
type testRepository struct {
	repository
	t *testing.T
}

// aRepository makes a repository, or skips the test where there is no git.
func aRepository(t *testing.T) testRepository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	r := testRepository{repository{git.Repository{Dir: t.TempDir(), Sub: "."}}, t}
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.name", "Ada")
	r.git("config", "user.email", "ada@example.org")
	r.put("skills/release/fsm.json", aWorkflow)
	r.put("dist/notes.md", "notes")
	r.commitAll()
	return r
}

func (r testRepository) git(args ...string) string {
	r.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = r.Dir
	out, err := c.CombinedOutput()
	require.NoError(r.t, err, string(out))
	return strings.TrimSpace(string(out))
}

func (r testRepository) put(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.Dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(r.t, os.WriteFile(file, []byte(text), 0o644))
}

// commitAll commits everything, and returns the id of the commit.
func (r testRepository) commitAll() string {
	r.t.Helper()
	r.git("add", "--all")
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	return r.git("rev-parse", "HEAD")
}

// TestStatementsAddedAtOnceAreAllInTheNote: none is lost to another that was added meanwhile, and one of the same run replaces it.
func TestStatementsAddedAtOnceAreAllInTheNote(t *testing.T) {
	r := aRepository(t)
	id := r.git("rev-parse", "HEAD")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			run := strconv.Itoa(i % 4)
			text, err := seal(about(id, func(s *Statement) { s.Predicate.ID = run }), nil)
			assert.NoError(t, err)
			assert.NoError(t, r.addNote(t.Context(), id, run, text))
		})
	}
	all.Wait()
	notes, err := r.notes(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, notes, 4)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// about returns a statement about a commit of the repository.
func about(commit string, change ...func(*Statement)) Statement {
	r := aRun()
	r.FSM.SHA256 = digest(aWorkflow)
	s := newStatement(commitSubject(commit), []Subject{fileSubject("dist/notes.md", digest("notes"))}, r)
	for _, c := range change {
		c(&s)
	}
	return s
}

// stands lets the checks of a statement stand on what it is about.
func stands(r testRepository, s *Statement) {
	tree := s.Subject[0].Digest.Tree
	if id := s.Subject[0].Digest.Commit; id != "" {
		if tree = strings.Repeat("b", 40); r.has(r.t.Context(), id) {
			tree = r.git("rev-parse", id+"^{tree}")
		}
	}
	for i := range s.Predicate.Steps {
		for k := range s.Predicate.Steps[i].Decisions {
			if d := &s.Predicate.Steps[i].Decisions[k]; d.Check != nil {
				d.Content = &Content{Trees: []string{tree}}
			}
		}
	}
}

// TestWhatHoldsAndWhatDoesNot: each row changes one thing of what holds.
func TestWhatHoldsAndWhatDoesNot(t *testing.T) {
	signer := signerOf(t, newEd25519(t))
	line := "ada@example.org " + string(ssh.MarshalAuthorizedKey(signer.PublicKey()))
	type world struct {
		r      testRepository
		j      *judge
		commit string
	}
	run := func(change func(*Run)) func(world) func(*Statement) {
		return func(world) func(*Statement) { return func(s *Statement) { change(&s.Predicate) } }
	}
	const past, lets = `skip: a person's word on step "Sign" at 2026-11-28T12:00:00Z: no key`, " (the policy lets that pass)"
	override := Override{Time: someTime, Kind: "skip", Step: 2, Subject: "Sign", Because: "no key", How: "terminal"}
	for name, c := range map[string]struct {
		policy string
		change func(world) func(*Statement) // of the statement; it may change the repository, too
		want   []string                     // the problems
		notes  []string
	}{
		"it holds": {},
		"open": {"", run(func(r *Run) { r.Steps[1].State, r.Ended = isOpen, time.Time{} }),
			[]string{`step "Sign" is open`, "the run has not ended"}, nil},
		"gone": {"", run(func(r *Run) { r.Steps[1].State = isGone }), []string{`step "Sign" is gone`}, nil},
		"not needed": {"", run(func(r *Run) { r.Steps[1].State = notNeeded }),
			[]string{`step "Sign" is said not to be needed, and nothing on record makes it so`}, nil},
		"skipped without an entry": {"", run(func(r *Run) { r.Steps[1].State = isSkipped }), []string{`step "Sign" was skipped`}, nil},
		"an override": {"", run(func(r *Run) { r.Steps[1].State, r.Overrides = isSkipped, []Override{override} }),
			[]string{`skip: a person's word on step "Sign" at 2026-11-28T12:00:00Z: no key`}, nil},
		"an override that the policy allows": {`{"policy": 1, "overrides": ["Sign"]}`,
			run(func(r *Run) { r.Steps[1].State, r.Overrides = isSkipped, []Override{override} }), nil, []string{past + lets}},
		"a skip without an entry that the policy allows": {`{"policy": 1, "overrides": ["Sign"]}`,
			run(func(r *Run) { r.Steps[1].State = isSkipped }), nil, []string{`step "Sign" was skipped` + lets}},
		"an override that the policy allows for another kind": {`{"policy": 1, "overrides": {"done": ["Sign"]}}`,
			run(func(r *Run) { r.Steps[1].State, r.Overrides = isSkipped, []Override{override} }),
			[]string{`skip: a person's word on step "Sign" at 2026-11-28T12:00:00Z: no key`}, nil},
		"an override that the policy allows for this kind": {`{"policy": 1, "overrides": {"skip": ["Sign"]}}`,
			run(func(r *Run) { r.Steps[1].State, r.Overrides = isSkipped, []Override{override} }), nil, []string{past + lets}},
		"an end of which the policy allows one step": {`{"policy": 1, "overrides": ["Sign"]}`, run(func(r *Run) {
			r.Steps[1].State = notNeeded
			r.Overrides = []Override{{Time: someTime, Kind: "end", Step: 2, Subject: "Sign", Because: "enough", NotNeeded: []string{"Tag"}}}
		}), []string{`end: a person's word on step "Sign" at 2026-11-28T12:00:00Z made step "Tag" unnecessary`},
			[]string{`end: a person's word on step "Sign" at 2026-11-28T12:00:00Z: enough` + lets}},
		"an end of which the policy allows all": {`{"policy": 1, "overrides": {"end": ["Sign", "Tag"]}}`, run(func(r *Run) {
			r.Overrides = []Override{{Time: someTime, Kind: "end", Step: 2, Subject: "Sign", NotNeeded: []string{"Tag"}}}
		}), nil, []string{`end: a person's word on step "Sign"`, `made step "Tag" unnecessary` + lets}},
		"a terminal that the agent could have opened": {"", run(func(r *Run) {
			r.Overrides = []Override{{Time: someTime, Kind: isYoung, Step: 2, Subject: "Sign", Because: "pts/5"}}
		}), []string{`young: a person's word on step "Sign"`}, nil},
		"a yes in a terminal": {"", run(func(r *Run) { r.Steps[1].Decisions[0].Answer, r.Steps[1].Decisions[0].How = "yes", "terminal" }),
			nil, nil},
		"a yes in a terminal, where the policy wants a question": {`{"policy": 1, "approvals": "question"}`,
			run(func(r *Run) { r.Steps[1].Decisions[0].Answer, r.Steps[1].Decisions[0].How = "yes", "terminal" }),
			[]string{`step "Sign" was answered in another way (terminal) at 2026-11-28T12:00:00Z, and the policy wants a question of the client`},
			nil},
		"a yes to a question": {`{"policy": 1, "approvals": "question"}`,
			run(func(r *Run) { r.Steps[1].Decisions[0].Answer, r.Steps[1].Decisions[0].How = "yes", "approval" }), nil, nil},
		"it ended before it began": {"", run(func(r *Run) { r.Ended = r.Began.Add(-time.Second) }), []string{"before it began"}, nil},
		"not enforced": {"", run(func(r *Run) { r.Unenforced = []Span{{someTime, someTime, "hooks were off"}} }),
			[]string{"the steps were not enforced from 2026-11-28T12:00:00Z to 2026-11-28T12:00:00Z: hooks were off"}, nil},
		"not enforced, which the policy allows": {`{"policy": 1, "unenforced": true}`,
			run(func(r *Run) { r.Unenforced = []Span{{someTime, someTime, "hooks were off"}} }), nil,
			[]string{"the steps were not enforced from 2026-11-28T12:00:00Z to 2026-11-28T12:00:00Z: hooks were off" + lets}},
		"a check that failed, which the policy allows": {`{"policy": 1, "unenforced": true}`, run(func(r *Run) {
			r.Steps[0].Decisions[0].Check.Exit, r.Unenforced = 2, []Span{{someTime, someTime, "observing"}}
		}), nil, []string{"observing" + lets, "no check of it has passed, so the content at its end was compared"}},
		"too old": {`{"policy": 1, "maxAge": "90m"}`, run(func(r *Run) { r.Ended = someTime.Add(-time.Hour) }),
			[]string{"the run ended at 2026-11-28T11:00:00Z, which is too long ago"}, nil},
		"not too old": {`{"policy": 1, "maxAge": "2h"}`, nil, nil, nil},
		"in the future": {"", run(func(r *Run) { r.Ended = someTime.Add(2 * time.Hour) }),
			[]string{"the run ended in the future, at 2026-11-28T14:00:00Z"}, nil},
		"another signer by the policy": {`{"policy": 1, "signers": ["bob@example.org"]}`, nil,
			[]string{"ada@example.org may not sign by the policy, which wants bob@example.org"}, nil},
		"a signer by the policy": {`{"policy": 1, "signers": ["bob@example.org", "ada@example.org"]}`, nil, nil, nil},
		"another commit": {"", func(w world) func(*Statement) {
			w.r.put("src/a.go", "x")
			w.j.commit = w.r.commitAll()
			return nil
		}, []string{"not about", "since then these have changed: src/a.go"}, nil},
		"a later commit that changes only what is ignored": {`{"policy": 1, "ignore": ["docs/**", "*.json"]}`, func(w world) func(*Statement) {
			w.r.put("docs/deep/a.md", "x")
			w.r.put("release.json", "x")
			w.j.commit = w.r.commitAll()
			return nil
		}, nil, nil},
		"a commit that does not come after it": {`{"policy": 1, "ignore": ["**"]}`, func(w world) func(*Statement) {
			w.r.git("checkout", "-q", "--orphan", "other")
			w.r.put("src/a.go", "x")
			w.j.commit = w.r.commitAll()
			return nil
		}, []string{"which does not come after it"}, nil},
		"a commit that is not here": {`{"policy": 1, "ignore": ["**"]}`, func(world) func(*Statement) {
			return func(s *Statement) { s.Subject[0].Digest.Commit = strings.Repeat("a", 40) }
		}, []string{"it is not in this clone"}, nil},
		"its tree": {"", func(w world) func(*Statement) {
			return func(s *Statement) { s.Subject[0] = treeSubject(w.r.git("rev-parse", w.commit+"^{tree}")) }
		}, nil, nil},
		"another tree": {"", func(w world) func(*Statement) {
			tree := w.r.git("rev-parse", w.commit+"^{tree}")
			w.r.put("src/a.go", "x")
			w.j.commit = w.r.commitAll()
			return func(s *Statement) { s.Subject[0] = treeSubject(tree) }
		}, []string{"since then these have changed: src/a.go"}, nil},
		"another workflow": {"", run(func(r *Run) { r.FSM.SHA256 = digest("[{}]") }),
			[]string{"the run was by another skills/release/fsm.json than the commit has"}, nil},
		"a workflow elsewhere": {"", run(func(r *Run) { r.FSM.Path = "" }),
			[]string{"the workflow of release is not a file of the repository"}, nil},
		"a workflow that the commit does not have": {"", run(func(r *Run) { r.FSM.Path = "fsm.json" }),
			[]string{"the commit does not have the workflow's file, fsm.json"}, nil},
		"a workflow that is a directory": {"", run(func(r *Run) { r.FSM.Path = "skills" }),
			[]string{"the commit does not have the workflow's file, skills"}, nil},
		"a workflow at another path": {`{"policy": 1, "skills": {"release": {"workflow": "other/release/fsm.json", "paths": ["x"]}}}`, nil,
			[]string{`the run was by the workflow "skills/release/fsm.json", and the policy wants other/release/fsm.json`}, nil},
		"a workflow at the path of the policy": {`{"policy": 1, "skills": {"release": {"workflow": "skills/release/fsm.json", "paths": ["x"]}}}`,
			nil, nil, nil},
		"a workflow of which the commit has two": {"", func(w world) func(*Statement) {
			w.r.put("a/release/fsm.json", "[]")
			w.j.commit = w.r.commitAll()
			return func(s *Statement) { s.Subject[0].Digest.Commit = w.j.commit }
		}, []string{`the commit has several workflows release (a/release/fsm.json, skills/release/fsm.json), so the policy has to name one`},
			nil},
		"a workflow in a folder that ends alike": {"", func(w world) func(*Statement) {
			w.r.put("a/prerelease/fsm.json", "[]")
			w.j.commit = w.r.commitAll()
			return func(s *Statement) { s.Subject[0].Digest.Commit = w.j.commit }
		}, nil, nil},
		"another nested workflow": {"", func(w world) func(*Statement) {
			w.r.put("skills/notes/fsm.json", "[1]")
			w.j.commit = w.r.commitAll()
			return func(s *Statement) {
				s.Subject[0].Digest.Commit = w.j.commit
				s.Predicate.Nested = []Nested{{"notes", 1, File{Path: "skills/notes/fsm.json", SHA256: digest("[]")}}}
			}
		}, []string{"the run was by another skills/notes/fsm.json than the commit has"}, nil},
		"the nested workflow": {"", func(w world) func(*Statement) {
			w.r.put("skills/notes/fsm.json", aNested)
			w.j.commit = w.r.commitAll()
			return func(s *Statement) {
				s.Subject[0].Digest.Commit = w.j.commit
				nest(&s.Predicate)
			}
		}, nil, nil},
		"a nested workflow elsewhere": {"", run(func(r *Run) { r.Nested = []Nested{{"notes", 1, File{Path: "", SHA256: digest("[]")}}} }),
			[]string{"the workflow of notes is not a file of the repository"}, nil},
		"another project": {`{"policy": 1, "skills": {"release": {"project": "packages/b", "paths": ["x"]}}}`, nil,
			[]string{"the run was in the project ., and the policy wants one in packages/b"}, nil},
		"another file": {"", func(world) func(*Statement) {
			return func(s *Statement) { s.Subject[1].Digest.SHA256 = digest("others") }
		}, []string{"dist/notes.md is not the file that was produced"}, nil},
		"a file that the commit does not have": {"", func(world) func(*Statement) {
			return func(s *Statement) { s.Subject[1].Name = "dist/other.md" }
		}, nil, []string{"dist/other.md was not compared: the commit does not have it"}},
		"a link": {`{"policy": 1, "ignore": ["dist/*"]}`, func(w world) func(*Statement) {
			require.NoError(w.r.t, os.Remove(filepath.Join(w.r.Dir, "dist/notes.md")))
			require.NoError(w.r.t, os.Symlink("../README", filepath.Join(w.r.Dir, "dist/notes.md")))
			w.j.commit = w.r.commitAll()
			return nil
		}, nil, []string{"dist/notes.md was not compared: it is a link or a submodule in the commit"}},
		"a project below the repository": {"", func(world) func(*Statement) {
			return func(s *Statement) { s.Predicate.Project, s.Subject[1].Name = "dist", "notes.md" }
		}, nil, nil},
		"a workflow that the base branch does not have": {"", func(w world) func(*Statement) {
			w.j.base = w.r.git("commit-tree", w.r.git("mktree"), "-m", "empty")
			return nil
		}, nil, []string{"skills/release/fsm.json is new or changed, so read it: the base branch does not have this workflow"}},
		"a workflow that the base branch has": {"", func(w world) func(*Statement) {
			w.j.base = w.commit
			return nil
		}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := aRepository(t)
			w := world{r, &judge{in: r.repository, commit: r.git("rev-parse", "HEAD"), now: someTime.Add(time.Hour)}, ""}
			w.commit = w.j.commit
			var err error
			w.j.signers = parseAllowed([]byte(line))
			if c.policy != "" {
				w.j.policy, err = parsePolicy([]byte(c.policy))
				require.NoError(t, err)
			}
			s := about(w.commit)
			if c.change != nil {
				if change := c.change(w); change != nil {
					change(&s)
				}
			}
			stands(r, &s)
			v, err := w.j.of(t.Context(), "release.json", sealed(t, s, signer))
			require.NoError(t, err)
			require.Equal(t, len(c.want) == 0, v.Holds, v.Problems)
			require.Len(t, v.Notes, len(c.notes), v.Notes)
			all := strings.Join(append(v.Problems, v.Notes...), "\n")
			for _, want := range append(c.want, c.notes...) {
				require.Contains(t, all, want)
			}
		})
	}
}

// TestAStatementIsNeededForWhatThePolicySays: a change of a path that a skill covers needs a statement that holds.
func TestAStatementIsNeededForWhatThePolicySays(t *testing.T) {
	r := aRepository(t)
	base := r.git("rev-parse", "HEAD")
	r.put("docs/a.md", "x")
	docs := r.commitAll()
	r.put("src/a.go", "x")
	both := r.commitAll()
	r.put("app/[slug]/page.tsx", "x")
	app := r.commitAll()
	p, err := parsePolicy([]byte(`{"policy": 1, "skills": {"release": ["src/**"], "write": ["docs/*.md"], "other": ["none"],
		"app": ["./app/[slug]/**"]}}`))
	require.NoError(t, err)
	missing := func(base, commit string, found ...verdict) (skills []string) {
		found = append(found, verdict{Skill: "none"})
		all, err := judge{in: r.repository, commit: commit, base: base, policy: p}.missing(t.Context(), found)
		require.NoError(t, err)
		for _, v := range all {
			require.False(t, v.Holds)
			require.Len(t, v.Problems, 1)
			skills = append(skills, v.Skill)
		}
		return skills
	}
	require.Equal(t, []string{"write"}, missing(base, docs))
	require.Equal(t, []string{"release", "write"}, missing(base, both))
	require.Equal(t, []string{"release"}, missing(docs, both))
	require.Empty(t, missing(both, both))
	require.Equal(t, []string{"app"}, missing(both, app))
	require.Equal(t, []string{"release", "write"}, missing("", both), "without a branch every file counts")
	require.Equal(t, []string{"write"}, missing(base, both, verdict{Skill: "release", Holds: true, project: "."}, verdict{Skill: "write"}))
}

// TestARunCountsForItsProject: a run in packages/a proves nothing for packages/b, unless the policy says so.
func TestARunCountsForItsProject(t *testing.T) {
	r := aRepository(t)
	base := r.git("rev-parse", "HEAD")
	r.put("packages/a/x", "x")
	r.put("packages/b/x", "x")
	r.put("packages/ab/x", "x")
	missing := func(policy string, projects ...string) string {
		p, err := parsePolicy([]byte(policy))
		require.NoError(t, err)
		found := []verdict{{Skill: "other"}}
		for _, project := range projects {
			found = append(found, verdict{Skill: "release", Holds: true, project: project})
		}
		all, err := judge{in: r.repository, commit: r.commitAll(), base: base, policy: p}.missing(t.Context(), found)
		require.NoError(t, err)
		if len(all) == 0 {
			return ""
		}
		return all[0].Problems[0]
	}
	const all = `{"policy": 1, "skills": {"release": ["packages/**"]}}`
	require.Contains(t, missing(all), "no statement of release holds, which packages/a/x needs")
	require.Contains(t, missing(all, "packages/a"), "which packages/ab/x needs by the policy: those that hold are of runs in packages/a;")
	require.Contains(t, missing(all, "packages/a", "packages/ab"), "packages/b/x")
	require.Empty(t, missing(all, "packages/a", "packages/ab", "packages/b"))
	require.Empty(t, missing(all, "packages"))
	require.Empty(t, missing(all, "."))
	require.Empty(t, missing(`{"policy": 1, "skills": {"release": {"paths": ["packages/**"], "project": "packages/a"}}}`, "packages/a"))
}

// TestSomethingIsDemanded: a job in which nothing was demanded is not green by itself.
func TestSomethingIsDemanded(t *testing.T) {
	r := aRepository(t)
	base := r.git("rev-parse", "HEAD")
	for policy, want := range map[string]int{`{"policy": 1, "skills": {"release": ["src/**"]}}`: 1, `{"policy": 1}`: 1,
		`{"policy": 1, "nothing": true, "skills": {"release": ["src/**"]}}`: 0, `{"policy": 1, "nothing": false}`: 1} {
		p, err := parsePolicy([]byte(policy))
		require.NoError(t, err)
		all, err := judge{in: r.repository, commit: base, base: base, policy: p}.missing(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, all, want, policy)
		all, err = judge{in: r.repository, commit: base, base: base, policy: p}.missing(t.Context(), []verdict{{Skill: "release", Holds: true}})
		require.NoError(t, err)
		require.Empty(t, all, "that a statement holds was demanded")
	}
}

// TestNothingThatARepositoryNamesIsRun: programs in its configuration, attributes and hooks.
func TestNothingThatARepositoryNamesIsRun(t *testing.T) {
	r := aRepository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\ncat\n"), 0o755))
	for _, name := range []string{"core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager", "core.sshCommand",
		"pager.diff-tree", "pager.notes", "core.editor"} {
		r.git("config", name, program)
	}
	for _, hook := range []string{"post-checkout", "pre-commit", "reference-transaction", "post-index-change"} {
		require.NoError(t, os.MkdirAll(filepath.Join(r.Dir, ".git/hooks"), 0o755))
		require.NoError(t, os.Symlink(program, filepath.Join(r.Dir, ".git/hooks", hook)))
	}
	before := r.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "rev-parse", "HEAD")
	r.put(".gitattributes", "* diff=x\n")
	r.put("dist/notes.md", "other")
	_, err := r.Dirty(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.addNote(t.Context(), before, "1", []byte("x\n")))
	notes, err := r.notes(t.Context(), before)
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte("x\n")}, notes)
	tree, err := r.Tree(t.Context(), "")
	require.NoError(t, err)
	names, err := r.changed(t.Context(), before, before+"^{tree}")
	require.NoError(t, err)
	require.Empty(t, names)
	require.False(t, r.has(t.Context(), tree), "its objects are not added to the repository")
	_, err = r.digest(t.Context(), before, "dist/notes.md")
	require.NoError(t, err)
	require.NoFileExists(t, ran)
}

// TestAReplacedCommitIsNotBelieved: refs/replace has no say.
func TestAReplacedCommitIsNotBelieved(t *testing.T) {
	r := aRepository(t)
	commit := r.git("rev-parse", "HEAD")
	r.put("dist/notes.md", "other")
	r.git("replace", commit, r.commitAll())
	sum, err := r.digest(t.Context(), commit, "dist/notes.md")
	require.NoError(t, err)
	require.Equal(t, digest("notes"), sum)
}

func TestPoliciesThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                                         "this is empty",
		`{"ignore": ["a"]}`:                                          `it has no "policy": want "policy": 1`,
		`{"policy": 2}`:                                              `"policy" is 2, want 1`,
		`{"policy": 1, "ingore": ["x"]}`:                             `1:15: unknown member "ingore"`,
		`{"policy": 1, "policy": 1}`:                                 "duplicate",
		`{"policy": 1, "skills": {"a": [""]}}`:                       "this text is blank",
		"{\"policy\": 1,\n\"ignore\": [\"a[!b].md\"]}":               `2: "a[!b].md": [!b] is no class of characters here: write ?`,
		`{"policy": 1, "ignore": ["{a,b}"]}`:                         `1: "{a,b}": braces are not expanded: list each pattern`,
		`{"policy": 1, "ignore": ["!a"]}`:                            `1: "!a": a pattern cannot be negated: list what is wanted`,
		`{"policy": 1, "skills": {"a": ["docs/"]}}`:                  `1: "docs/": this is a directory: write docs/** for what is in it`,
		`{"policy": 1, "skills": {"a": ["docs/**.md"]}}`:             `1: "docs/**.md": ** has to stand alone between slashes`,
		`{"policy": 1, "skills": {"a": ["/docs/x"]}}`:                `1: "/docs/x": want a path relative to the project's directory`,
		`{"policy": 1, "ignore": ["docs/* "]}`:                       `"docs/* " begins or ends with white space`,
		`{"policy": 1, "ignore": []}`:                                "1:26: this is empty",
		`{"policy": 1, "skills": {}}`:                                "this is empty",
		`{"policy": 1, "skills": {"a": []}}`:                         "this is empty",
		`{"policy": 1, "signers": []}`:                               "this is empty",
		`{"policy": 1, "skills": {"a": null}}`:                       "1:31: null says nothing: leave the member out",
		`{"policy": 1, "maxAge": null}`:                              "null says nothing",
		`{"policy": null}`:                                           "null says nothing",
		`{"policy": 1, "skills": {"": ["x"]}}`:                       "this text is blank",
		`{"policy": 1, "signers": [" "]}`:                            "this text is blank",
		`{"policy": 1, "skills": {"a": "x"}}`:                        "1:",
		`{"policy": 1, "skills": {"a": {"path": ["x"]}}}`:            `unknown member "path"`,
		`{"policy": 1, "skills": {"a": {"workflow": "x/fsm.json"}}}`: `an entry has no "paths"`,
		`{"policy": 1, "skills": {"a": {"workflow": "./x/fsm.json", "paths": ["x"]}}}`: "written as git writes them",
		`{"policy": 1, "skills": {"a": {"project": "../x", "paths": ["x"]}}}`:          "written as git writes them",
		`{"policy": 1, "skills": {"a": {"after": ["{a}"], "paths": ["x"]}}}`:           "braces are not expanded",
		`{"policy": 1, "after": ["x/"]}`:                                               "this is a directory: write x/**",
		`{"policy": 1, "overrides": {"skipped": ["x"]}}`:                               `nothing is gone past by "skipped", want skip, done`,
		`{"policy": 1, "overrides": "x"}`:                                              "1:",
		`{"policy": 1, "approvals": "terminal"}`:                                       `want "question"`,
		`{"policy": 1, "content": "all"}`:                                              `"content" is "all", want "any"`,
		`{"policy": 1, "checks": "Test"}`:                                              "1:",
		`{"policy": 1, "nothing": "yes"}`:                                              "1:",
		`{"policy": "1"}`:                                                              "1:12",
		`{"policy": 1, "Ignore": ["x"]}`:                                               `unknown member "Ignore"`,
		`{"policy": 1, "maxAge": ""}`:                                                  "this text is blank",
		`[]`:                                                                           "this is empty",
		`{"policy": 1, "signers": "ada@example.org"}`:                                  `1:26: signers: got a string, want a list of texts`,
		`{"policy": 1, "signers": [1]}`:                                                "got a number, want a text",
		`{"policy": 1, "unenforced": "true"}`:                                          "got a string, want true or false",
		`{"policy": 1.0}`:                                                              "got a number, want the number 1",
		`{"policy": 1, "maxAge": 30}`:                                                  "maxAge: got a number, want a text",
		`{"policy": 1, "overrides": {"skip": "x"}}`:                                    `skip: got a string, want a list`,
		`{"policy": 1, "skills": ["a"]}`:                                               "skills: got an array, want an object",
		`{"policy": 1, "skills": {"a": 1}}`:                                            `a: got a number, want a list of patterns`,
		`{"policy": 1, "skills": {"a": {"paths": "x"}}}`:                               `paths: got a string, want a list`,
		`{"policy": 1, "maxAge": "30"}`:                                                "want an age such as 30d",
		`{"policy": 1, "maxAge": "-3d"}`:                                               "want an age such as 30d",
		`{"policy": 1, "maxAge": "0d"}`:                                                "want an age such as 30d",
		`{"policy": 1, "maxAge": "d"}`:                                                 "want an age such as 30d",
		`{"policy": 1, "unenforced": "always"}`:                                        "1:29",
	} {
		_, err := parsePolicy([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
	p, err := parsePolicy([]byte(`{"policy": 1, "maxAge": "30d"}`))
	require.NoError(t, err)
	require.Equal(t, 30*24*time.Hour, p.maxAge)
}

func TestAllowedSigners(t *testing.T) {
	signer := signerOf(t, newEd25519(t))
	key := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
	other := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signerOf(t, newEd25519(t)).PublicKey())))
	for _, c := range []struct {
		file   string
		wanted []string
		want   string // the principals, or in the error
	}{
		{"ada " + key, nil, "ada"},
		{"# a comment\n\nbob " + other + "\nada " + key + " a comment", nil, "ada"},
		{"ada,bob\t" + key, []string{"bob"}, "ada,bob"},
		{"bob " + other, nil, "not in the file"},
		{"", nil, "not in the file"},
		{"ada unknown-type AAAA\nada " + key, nil, "ada"},
		{`ada ,,namespaces="git,fsm*" ` + key, nil, "ada"},
		{`ada namespaces="git",,cert-authority ` + key, nil, "authority"},
		{`ada namespaces="git" ` + key, nil, `for the namespaces "git" only`},
		{`ada namespaces="git" ` + key + "\nada " + key, nil, "ada"},
		{`ada NAMESPACES="git,fsm*" ` + key, nil, "ada"},
		{`ada namespaces="*,!fsmtx" ` + key, nil, "namespaces"},
		{`ada cert-authority ` + key, nil, "authority"},
		{`ada valid-after="20261128",valid-before="20261130Z" ` + key, nil, "ada"},
		{`ada valid-after="20261201" ` + key, nil, "not valid before"},
		{`ada valid-before="202611281159Z" ` + key, nil, "not valid after"},
		{`*@example.org,!eve@example.org ` + key, []string{"ada@example.org"}, "*@example.org,!eve@example.org"},
		{`*@example.org,!eve@example.org ` + key, []string{"eve@example.org"}, "may not sign by the policy"},
		{`ada namespaces="" ` + key, nil, `for the namespaces "" only`},
		{`"ada lovelace,bob" ` + key, []string{"ada lovelace"}, "ada lovelace,bob"},
		{`[a-z]da ` + key, []string{"ada"}, "may not sign by the policy"},
		{`[a-z]da ` + key, []string{"[a-z]da"}, "[a-z]da"},
		{"ada " + key, []string{"a", "adam"}, "may not sign by the policy"},
	} {
		got, err := parseAllowed([]byte(c.file)).find(signer.PublicKey(), someTime, c.wanted)
		if err != nil {
			got = err.Error()
		}
		require.Contains(t, got, c.want, c.file)
	}
	for file, want := range map[string]string{
		"\n" + key[:11]:                            "line 2: want principals",
		`ada valid-after="tomorrow" ` + key:        `line 1: want a time such as`,
		`ada ="x" ` + key:                          `line 1: its option "" is unknown`,
		`ada cert-authority,, ` + key:              `its options go on with ","`,
		`ada no-pty ` + key:                        `line 1: its option "no-pty" is unknown`,
		`ada namespaces=fsmtx ` + key:              `its option namespaces: want a value in quotes`,
		`"ada lovelace ` + key:                     "want principals",
		`ada namespaces="a",namespaces="b" ` + key: "stands twice",
	} {
		_, err := parseAllowed([]byte(file)).find(signer.PublicKey(), someTime, nil)
		require.ErrorContains(t, err, "is not in the file of allowed signers, in which lines cannot be read")
		require.ErrorContains(t, err, want)
	}
}

// TestADirectoryIsAllThatIsInIt: in a pattern without wildcards.
func TestADirectoryIsAllThatIsInIt(t *testing.T) {
	for pattern, want := range map[string][]string{"src": {"src", "src/a", "src/b/c"}, "src/b": {"src/b/c"}, "s*": {"src"}, "src/*": {"src/a"},
		"src/**": {"src/a", "src/b/c"}} {
		var got []string
		for _, name := range []string{"src", "src/a", "src/b/c", "srcs/a", "x/src/a"} {
			if matchesAny([]string{pattern}, name) {
				got = append(got, name)
			}
		}
		require.Equal(t, want, got, pattern)
	}
}
