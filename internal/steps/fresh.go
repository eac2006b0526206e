package steps

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// A file that a step produces has to be new: the digests of the files that were there before are on record, since the hydration
// (Workflow.Files) or since the step was opened again or its copy came into the list (Evidence.Files). A file that is as it was
// is refused once (Evidence.Unchanged).

const (
	maxFiles  = 1000    // of which the digests are recorded at once
	maxDigest = 8 << 20 // bytes of a file that are compared, beside its size
)

// digestOf returns the digest of a file that is not empty. It follows links.
func digestOf(path string) (string, error) {
	f, err := safefile.Open(path, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(info.Size())))
	if _, err := io.Copy(sum, io.LimitReader(f, maxDigest)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// FilesOf returns the digests of the files below dir that the tasks, or their parts, produce, by their slash-separated names. A value
// in a pattern may be any.
func FilesOf(ctx context.Context, dir string, all []fsmspec.Task) map[string]string {
	return digests(ctx, dir, withAny(patternsOf(all)))
}

func patternsOf(all []fsmspec.Task) (patterns []string) {
	for _, t := range all {
		patterns = append(append(patterns, t.Gates.Produces...), patternsOf(t.Parts)...)
		for _, o := range t.Flow.Outcomes {
			patterns = append(patterns, o.Gates.Produces...)
		}
	}
	return patterns
}

// produced returns the patterns of the files that a step produces, however it ends.
func (s Step) produced() []string {
	all := slices.Clone(s.Produces)
	for _, o := range s.Outcomes {
		all = append(all, o.Produces...)
	}
	return all
}

// digests returns the digests of the files below dir that match patterns.
func digests(ctx context.Context, dir string, patterns []string) map[string]string {
	if len(patterns) == 0 {
		return nil
	}
	return lookFor(ctx, dir, wanted{patterns: patterns, every: true}).digests
}

// withAny returns patterns in which the name of a value stands for any value.
func withAny(patterns []string) (all []string) {
	for _, p := range patterns {
		any := map[string]string{}
		for _, name := range fsmspec.Named(p) {
			any[name] = "*"
		}
		if p = fsmspec.Fill(p, any); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// filesBefore is what is known of files that are to be produced anew.
const filesBefore GateKind = "files before"

// filesOf returns the patterns of what steps produce that are opened again, with what is under them.
func filesOpened(s *State, ids []int64) (patterns []string) {
	for _, c := range s.Steps {
		above := s.Above(c.Workflow)
		if slices.Contains(ids, c.ID) || slices.ContainsFunc(above, func(p *Current) bool { return slices.Contains(ids, p.ID) }) {
			step := c.Step
			if c.template != nil {
				step = *c.template
			}
			patterns = append(patterns, step.produced()...)
		}
	}
	return withAny(patterns)
}

// filesBefore returns the digests of what is there of the files that steps produce which a person is about to open again. Nothing is
// locked meanwhile.
func (f *Frame) filesBefore(ctx context.Context, id int64, opens func(*State, *Current) (machine.Transition, error)) map[string]string {
	s, err := Load(ctx, f.List.Dir)
	if err != nil || s.Step(id) == nil {
		return nil
	}
	tr, err := opens(s, s.Step(id))
	if err != nil {
		return nil
	}
	return digests(ctx, s.Step(id).Workflow.Dir, filesOpened(s, tr.Reopens))
}

// filesOf returns the digests of the files below dir that the copies of a step produce.
func filesForLines(e *Each, ctx context.Context, dir string) map[string]string {
	var patterns []string
	for _, step := range e.ForEachLine() {
		for _, p := range step.produced() {
			patterns = append(patterns, strings.ReplaceAll(p, anyLine, "*"))
		}
	}
	return digests(ctx, dir, withAny(patterns))
}

// digestLists returns the digests of the lists for whose lines steps of the target's workflow are done: its gates have seen them.
func (c *call) digestLists() map[string]string {
	lists := map[string]string{}
	for _, r := range c.steps {
		if r.Each == nil || r.Each.Lines == "" || r.workflow != c.target.workflow {
			continue
		}
		f := c.workplace(r.workflow)
		if sum, err := digestOf(filepath.Join(f.dir, filepath.FromSlash(r.Each.Lines))); err == nil {
			lists[r.Each.Lines] = sum
		}
	}
	return lists
}

// changedSince returns the number of the step whose gates have seen the list of a step as another one than it is, by its digest, or 0.
func changedSince(s *State, c *Current, sum string) int64 {
	for _, e := range slices.Backward(s.Evidence) {
		if was := e.Files[c.Each.Lines]; was != "" && e.lets() && e.To == completed && len(e.Reopens) == 0 {
			return map[bool]int64{true: e.Step}[was != sum]
		}
	}
	return 0
}

// was returns the digests of files as they were before the step was worked on in this round, and those of which it was said
// since that they are unchanged.
func filesWere(s *State, c *Current) (files map[string]string, said []string) {
	above := append([]*Current{c}, s.Above(c.Workflow)...)
	for _, e := range slices.Backward(s.Evidence) {
		switch {
		case slices.ContainsFunc(above, func(b *Current) bool {
			return slices.Contains(e.Reopens, b.ID) || e.Verdict == Expand && e.Expands == b.Workflow.Expands
		}):
			return e.Files, said
		case e.Step == c.ID && e.Verdict == Deny:
			said = append(said, e.Unchanged...)
		}
	}
	w := c.Workflow
	for p := s.Parent(w); w.part && p != nil; p = s.Parent(w) {
		w = p.Workflow
	}
	return w.Files, said
}

// isRefused reports whether files are as they were, and that was not said yet.
func (f fact) isRefused() bool {
	return slices.ContainsFunc(f.unchanged, func(name string) bool { return !slices.Contains(f.said, name) })
}

// unchanged refuses once to complete a step whose files are as they were.
func unchanged(c *Current, f fact) Verdict {
	v := Verdict{unchanged: f.unchanged}
	if f.isRefused() {
		list, verb := quotedNames(f.unchanged), "is as it was"
		if len(f.unchanged) > 1 {
			verb = "are as they were"
		}
		v = deny(c, "unchanged: "+list, c.Name()+" cannot be completed: "+list+" "+verb+" before the step was worked on. Write what has to be "+
			"written; if nothing has to be, complete the step again: it is recorded as unchanged, and the person is told")
		v.unchanged = f.unchanged
	}
	return v
}

// toldFresh tells the person which steps were completed with files that are as they were, and which are done for no line, or for
// others than a gate has seen.
func tellFresh(s *State, lines []Evidence) (text string) {
	for _, e := range lines {
		c := s.Step(e.Step)
		switch {
		case c == nil:
		case e.lets() && len(e.Unchanged) > 0:
			text = both(text, c.Name()+" is completed, and "+quotedNames(e.Unchanged)+" was not changed for it")
		case e.Verdict != Expand || e.Changed == 0 && len(e.Items) > 0:
		case e.Changed != 0:
			text = both(text, fmt.Sprintf("%s has changed since #%d was completed: %s is done for %s of it", c.Each.source(), e.Changed, c.Name(),
				countItems(len(e.Items))))
		default:
			text = both(text, c.Name()+" has nothing to be done for: "+c.Each.source()+" has no lines")
		}
	}
	return text
}

// quotedNames joins names of files for a sentence.
func quotedNames(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, message.Clip(message.Words(n), maxSubject))
	}
	return sentence(quoted)
}

// isInside reports whether a file is in a directory, with all links resolved.
func isInside(dir, path string) (bool, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	return err == nil && strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"), err
}
