package proof

import (
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
	v.Skill = s.Predicate.Skill
	v.Problems = append(v.Problems, j.policy.judge(s.Predicate, j.now)...)
	for _, look := range []func(context.Context, Statement) (problems, notes []string, err error){j.subject, j.workflow, j.produced} {
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
	case !j.in.has(ctx, id):
		return []string{no + ", and it is not in this clone"}, nil, nil
	case what.Name == ofCommit && !j.in.isAncestor(ctx, id, j.commit):
		return []string{no + ", which does not come after it"}, nil, nil
	}
	changed, err := j.in.changed(ctx, id, here)
	if counts := j.policy.counts(changed); len(counts) > 0 {
		return []string{no + ": since then these have changed: " + words(counts)}, nil, err
	}
	return nil, nil, err
}

// workflow compares the file with the steps.
func (j judge) workflow(ctx context.Context, s Statement) (problems, notes []string, err error) {
	f := s.Predicate.FSM
	if f.Path == "" {
		return []string{"the workflow of " + s.Predicate.Skill + " is not a file of the repository"}, nil, nil
	}
	there, err := j.in.digest(ctx, j.commit, f.Path)
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
	before, err := j.in.digest(ctx, j.base, f.Path)
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

// missing returns a verdict for each skill of which the policy wants a statement that none of these is.
func (j judge) missing(ctx context.Context, found []verdict) (all []verdict, err error) {
	if len(j.policy.Skills) == 0 {
		return nil, nil
	}
	paths, err := j.in.changedSince(ctx, j.base, j.commit)
	if err != nil {
		return nil, err
	}
	needed := j.policy.needed(paths)
	for _, skill := range slices.Sorted(maps.Keys(needed)) {
		if !slices.ContainsFunc(found, func(v verdict) bool { return v.Skill == skill && v.Holds }) {
			all = append(all, verdict{Skill: skill, Notes: []string{}, Problems: []string{
				fmt.Sprintf("no statement of %s holds, which %s needs by the policy", skill, strings.TrimSpace(needed[skill]))}})
		}
	}
	return all, nil
}
