package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// judge judges statements about a commit.
type judge struct {
	in      repository
	commit  string // its id
	base    string // id of a commit of the branch that it is to be merged into; may be empty
	policy  policy
	signers signers
	now     time.Time
}

// verdict is what was found about a file.
type verdict struct {
	File     string   `json:"file"` // empty for a statement that is missing
	Holds    bool     `json:"holds"`
	Skill    string   `json:"skill"`  // empty if the signature does not hold, as are Signer and Key
	Signer   string   `json:"signer"` // the principals of the key
	Key      string   `json:"key"`    // its fingerprint
	Problems []string `json:"problems"`
	Notes    []string `json:"notes"` // what was not compared, and what a person should look at

	project string // in which the run was
}

// unreadable returns the verdict about a file that cannot be read.
func unreadable(file string, err error) verdict {
	return verdict{File: file, Problems: []string{strings.TrimPrefix(err.Error(), file+": ")}, Notes: []string{}}
}

// of judges an envelope.
//
// Errors: that the repository cannot be read.
func (j judge) of(ctx context.Context, file string, data []byte) (v verdict, err error) {
	v = verdict{File: file, Problems: []string{}, Notes: []string{}}
	s, key, err := Open(data)
	if err != nil {
		v.Problems = append(v.Problems, err.Error())
		return v, nil
	}
	v.Key = ssh.FingerprintSHA256(key)
	if v.Signer, err = j.signers.find(key, j.now, j.policy.Signers); err != nil {
		v.Problems = append(v.Problems, fmt.Sprintf("%v (%s)", err, v.Key))
		return v, nil
	}
	v.Skill, v.project = s.Predicate.Skill, s.Predicate.Project
	problems, notes := j.policy.judge(s.Predicate, j.now)
	v.Problems, v.Notes = append(v.Problems, problems...), append(v.Notes, notes...)
	for _, look := range []func(context.Context, Statement) (problems, notes []string, err error){j.subject, j.workflow, j.steps,
		j.content, j.produced} {
		problems, notes, err := look(ctx, s)
		if err != nil {
			return v, err
		}
		v.Problems, v.Notes = append(v.Problems, problems...), append(v.Notes, notes...)
	}
	v.Holds = len(v.Problems) == 0
	return v, nil
}

// subject compares the commit, or the tree, that a statement is about.
func (j judge) subject(ctx context.Context, s Statement) (problems, notes []string, err error) {
	what := s.Subject[0]
	id, here := what.Digest.Commit+what.Digest.Tree, j.commit
	if what.Name == ofTree {
		if here, err = j.in.treeOf(ctx, j.commit); err != nil {
			return nil, nil, err
		}
	}
	no := fmt.Sprintf("the statement is about the %s %s, not about %s", what.Name, short(id), short(here))
	switch {
	case id == here:
		return nil, nil, nil
	case !j.in.has(ctx, id) && s.Predicate.Tree != nil && j.in.has(ctx, s.Predicate.Tree.Base):
		changed, err := j.fromTree(ctx, s)
		if errors.Is(err, errTree) {
			return []string{no + ", and " + err.Error()}, nil, nil
		}
		if counts := j.policy.counts(changed); len(counts) > 0 {
			return []string{no + ": since then these have changed: " + words(counts)}, nil, err
		}
		return nil, nil, err
	case !j.in.has(ctx, id):
		return []string{no + ", and it is not in this clone" + j.in.shallow(ctx)}, nil, nil
	case what.Name == ofCommit && !j.in.isAncestor(ctx, id, j.commit):
		return []string{no + ", which does not come after it"}, nil, nil
	}
	changed, err := j.in.changed(ctx, id, here)
	if counts := j.policy.counts(changed); len(counts) > 0 {
		return []string{no + ": since then these have changed: " + words(counts)}, nil, err
	}
	return nil, nil, err
}

// errTree is returned for a tree that has other contents than the statement says.
var errTree = errors.New("the tree is not what the statement says that is in it")

// fromTree returns the paths in which the commit differs from the tree that a statement is about, which is not in this clone. The
// statement names a commit that is, and what differs from that in the tree.
func (j judge) fromTree(ctx context.Context, s Statement) (paths []string, err error) {
	t := s.Predicate.Tree
	if ok, err := j.in.describes(ctx, s.Subject[0].Digest.Tree, t); err != nil || !ok {
		return nil, cmp.Or(err, errTree)
	}
	now, err := j.in.entries(ctx, t.Base, j.commit)
	was := map[string]InTree{}
	for _, f := range t.Files {
		was[f.Path] = f
	}
	for _, f := range now {
		if was[f.Path] != f {
			paths = append(paths, f.Path)
		}
		delete(was, f.Path)
	}
	paths = append(paths, slices.Collect(maps.Keys(was))...)
	slices.Sort(paths)
	return paths, err
}

// workflow compares the files with the steps, of the run and of what was under its steps, and the project.
func (j judge) workflow(ctx context.Context, s Statement) (problems, notes []string, err error) {
	r := s.Predicate
	wanted := j.policy.Skills[r.Skill]
	switch {
	case wanted.Workflow != "" && wanted.Workflow != r.FSM.Path:
		problems = append(problems, fmt.Sprintf("the run was by the workflow %q, and the policy wants %s", r.FSM.Path, wanted.Workflow))
	case wanted.Workflow == "":
		all, err := j.in.workflowsNamed(ctx, j.commit, r.Skill, r.FSM.Plan)
		if err != nil {
			return nil, nil, err
		}
		if len(all) > 1 {
			problems = append(problems, fmt.Sprintf("the commit has several workflows %s (%s), so the policy has to name one: "+
				"{\"workflow\": %q, \"paths\": …}",
				r.Skill, words(all), all[0]))
		}
	}
	if wanted.Project != "" && wanted.Project != r.Project {
		problems = append(problems, fmt.Sprintf("the run was in the project %s, and the policy wants one in %s", r.Project, wanted.Project))
	}
	for _, w := range r.workflows() {
		problem, note, err := j.file(ctx, w)
		if err != nil {
			return nil, nil, err
		}
		problems, notes = append(problems, problem...), append(notes, note...)
	}
	return problems, notes, nil
}

// file compares the file of a workflow with that of the commit, and that with the one of the base branch.
func (j judge) file(ctx context.Context, w Nested) (problems, notes []string, err error) {
	f := w.FSM
	if f.Path == "" {
		return []string{"the workflow of " + w.Skill + " is not a file of the repository"}, nil, nil
	}
	there, err := j.in.digestOf(ctx, j.commit, f)
	switch {
	case err != nil && !errors.Is(err, errLink):
		return nil, nil, err
	case err != nil || there == "":
		return []string{fmt.Sprintf("the commit does not have the workflow's file, %s", f.Path)}, nil, nil
	case there != f.SHA256:
		return []string{fmt.Sprintf("the run was by another %s than the commit has", f.Path)}, nil, nil
	case j.base == "":
		return nil, nil, nil
	}
	before, err := j.in.digestOf(ctx, j.base, f)
	if err != nil && !errors.Is(err, errLink) {
		return nil, nil, err
	}
	if before != there {
		notes = []string{fmt.Sprintf("%s is new or changed, so read it: the base branch does not have this workflow", f.Path)}
	}
	return nil, notes, nil
}

// produced compares the files that steps produced, as far as the commit has them.
func (j judge) produced(ctx context.Context, s Statement) (problems, notes []string, err error) {
	for _, f := range s.Subject[1:] {
		name := path.Join(s.Predicate.Project, f.Name)
		there, err := j.in.digest(ctx, j.commit, name)
		switch {
		case errors.Is(err, errLink):
			notes = append(notes, fmt.Sprintf("%s was not compared: %v", name, err))
		case err != nil:
			return nil, nil, err
		case there == "":
			notes = append(notes, fmt.Sprintf("%s was not compared: the commit does not have it", name))
		case there != f.Digest.SHA256 && !matchesAny(j.policy.Ignore, name):
			problems = append(problems, fmt.Sprintf("%s is not the file that was produced", name))
		}
	}
	return problems, notes, nil
}

// missing returns a verdict for each skill of which the policy wants a statement that none of these is. If nothing was demanded of the
// commit, and nothing was judged, that is a problem, too, unless the policy says otherwise.
func (j judge) missing(ctx context.Context, found []verdict) (all []verdict, err error) {
	var needed map[string][]string
	if len(j.policy.Skills) > 0 {
		paths, err := j.in.changedSince(ctx, j.base, j.commit)
		if err != nil {
			return nil, err
		}
		needed = j.policy.needed(paths)
	}
	for _, skill := range slices.Sorted(maps.Keys(needed)) {
		left, wanted, others := needed[skill], j.policy.Skills[skill], []string{}
		for _, v := range found {
			if v.Skill == skill && v.Holds {
				left = slices.DeleteFunc(left, func(name string) bool { return wanted.Project != "" || v.covers(name) })
				others = append(others, v.project)
			}
		}
		if len(left) == 0 {
			continue
		}
		text := fmt.Sprintf("no statement of %s holds, which %s needs by the policy", skill, strings.TrimSpace(left[0]))
		if len(others) > 0 {
			text += fmt.Sprintf(": those that hold are of runs in %s; "+
				"\"project\" in the policy says in which one a run counts for all", words(others))
		}
		all = append(all, verdict{Skill: skill, Notes: []string{}, Problems: []string{text}})
	}
	if len(found) == 0 && len(needed) == 0 && !j.policy.Nothing {
		all = append(all, verdict{Notes: []string{}, Problems: []string{"the policy demands nothing of this change, and there is no statement: " +
			"no path was changed that it names under \"skills\"; if that is fine, the policy says \"nothing\": true"}})
	}
	return all, nil
}

// covers reports whether a run counts for a path: whether that is in its project.
func (v verdict) covers(name string) bool {
	return v.project == "." || strings.HasPrefix(name, v.project+"/")
}
