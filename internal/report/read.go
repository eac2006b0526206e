package report

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/proof"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/show"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// longest is the size in bytes of the longest line of a log that is read.
const longest = 4 << 20

// damage is the lines of a log that cannot be read.
type damage struct {
	File  string `json:"file"`
	Lines int    `json:"lines"`
	First int    `json:"first"` // number of the first of them
	Why   string `json:"why"`   // of that one
}

// source is a log that is read, at one of its decisions.
type source struct {
	from   *bufio.Reader
	line   []byte // of the decision; valid up to the next one
	record decisions.Record
	n      int // number of the line
	damage damage
}

// bufferSize is that of each log: many may be read at once.
const bufferSize = 64 << 10

func newSource(name string, from io.Reader) *source {
	return &source{from: bufio.NewReaderSize(from, bufferSize), damage: damage{File: name}}
}

// readLogs counts the decisions of logs in the order of their times, whatever the order of the logs. Damaged lines are left out.
func (c *counter) readLogs(ctx context.Context, names []string) (damaged []damage, err error) {
	var all []*source
	for _, name := range names {
		f, err := safefile.OpenAny(name)
		if err != nil {
			return nil, command.Unusable(name, err)
		}
		defer f.Close()
		all = append(all, newSource(name, f))
	}
	if err := c.merge(ctx, all); err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.damage.Lines > 0 {
			damaged = append(damaged, s.damage)
		}
	}
	return damaged, nil
}

// merge counts the decisions of logs, each of which is in the order of time.
func (c *counter) merge(ctx context.Context, all []*source) error {
	var open sources
	for _, s := range all {
		more, err := s.next(ctx)
		if err != nil {
			return err
		}
		if more {
			open = append(open, s)
		}
	}
	heap.Init(&open)
	for len(open) > 0 {
		s := open[0]
		if !c.lines.has(s.line) {
			c.from = s
			c.add(&s.record)
		}
		switch more, err := s.next(ctx); {
		case err != nil:
			return err
		case more:
			heap.Fix(&open, 0)
		default:
			heap.Pop(&open)
		}
	}
	return nil
}

// sources is a heap of logs by the times of their decisions.
type sources []*source

func (s sources) Len() int      { return len(s) }
func (s sources) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s sources) Less(i, j int) bool {
	return cmp.Or(s[i].record.Time.Compare(s[j].record.Time), bytes.Compare(s[i].line, s[j].line)) < 0
}
func (s *sources) Push(x any) { *s = append(*s, x.(*source)) }
func (s *sources) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

// next goes on to the next decision. more is false at the end.
func (s *source) next(ctx context.Context) (more bool, err error) {
	bad := func(why string) {
		if s.damage.Lines++; s.damage.Lines == 1 {
			s.damage.First, s.damage.Why = s.n, why
		}
	}
	for {
		s.n++
		line, err := readLine(s.from)
		if s.n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // which editors write
		}
		s.line = bytes.TrimSpace(line)
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case errors.Is(err, errLong):
			bad(err.Error())
			continue
		case err != nil:
			return false, err
		case len(s.line) == 0:
			continue
		case s.n%1000 == 0 && ctx.Err() != nil:
			return false, context.Cause(ctx)
		}
		s.record = decisions.Record{}
		switch err := json.Unmarshal(s.line, &s.record); {
		case err != nil:
			bad("it is not a line of a log of fsmtx")
		case s.record.Version > decisions.Version:
			bad("it was written by a newer version of fsmtx")
		case s.record.Time.IsZero() || s.record.Decision == "":
			bad("it has no time or no decision")
		default:
			return true, nil
		}
	}
}

// counted is the lines that were counted last: one that comes again, of a copy of a log, counts once.
type counted struct {
	seed        maphash.Seed
	now, before map[uint64]struct{} // by their hashes
}

// mostLines is how many lines are remembered at least.
const mostLines = 1_000_000

// has reports whether the line was counted, and remembers it.
func (c *counted) has(line []byte) bool {
	if c.now == nil {
		c.seed, c.now = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	sum := maphash.Bytes(c.seed, line)
	_, is := c.now[sum]
	_, was := c.before[sum]
	if is || was {
		return true
	}
	if len(c.now) == mostLines {
		c.now, c.before = map[uint64]struct{}{}, c.now
	}
	c.now[sum] = struct{}{}
	return false
}

var errLong = fmt.Errorf("it has more than %d MiB", longest>>20)

// readLine returns the next line, which is valid up to the next call. Of one that is too long nothing is kept.
func readLine(from *bufio.Reader) (line []byte, err error) {
	var whole []byte
	long := false
	for {
		part, err := from.ReadSlice('\n')
		long = long || len(whole)+len(part) > longest
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if !long {
				whole = append(whole, part...)
			}
			continue
		case long:
			return nil, errLong
		case err != nil && !(errors.Is(err, io.EOF) && len(whole)+len(part) > 0):
			return nil, err
		case whole == nil:
			return part, nil
		}
		return append(whole, part...), nil
	}
}

// together returns the lists in groups, those between which a workflow went in one, and how many changes each has forgotten. What cannot
// be read is said when the list is counted.
func (c *counter) together(dirs []string) (groups [][]string, forgotten map[string]int) {
	in, forgotten := map[string]*[]string{}, map[string]int{}
	for _, dir := range dirs {
		in[dir] = &[]string{dir}
		history, _ := txn.ReadHistory(dir)
		for _, e := range history {
			forgotten[dir] = max(0, int(e.Number)-len(history))
			w, err := workflow.ParseWorkflow(e.Record)
			switch {
			case err != nil:
			case w.From() != nil:
				a := arrival{e.Time, w.From().List, w.Steps[0].ID, 0, w.Steps[0].ID - w.From().Root}
				for _, r := range w.Records() {
					for _, u := range r.All() {
						a.last = max(a.last, u.Steps[len(u.Steps)-1].ID)
					}
				}
				c.arrives(dir, a)
			case w.Reloaded != nil:
				c.arrives(dir, arrival{e.Time, dir, w.Steps[0].ID, w.Steps[0].ID, w.Steps[0].ID - w.Reloaded.Root})
			}
		}
	}
	for list, all := range c.came {
		for _, a := range all {
			if to, from := in[list], in[a.from]; from != nil && from != to {
				*to = append(*to, *from...)
				for _, dir := range *from {
					in[dir] = to
				}
			}
		}
	}
	for _, dir := range dirs {
		if group := *in[dir]; group[0] == dir {
			groups = append(groups, group)
		}
	}
	return groups, forgotten
}

// readLists counts what is on record of lists between which workflows went, in the order of time, and says why some of it is missing.
func (c *counter) readLists(ctx context.Context, s terminal.Streams, dirs []string, forgotten map[string]int) {
	var all []decisions.Record
	for _, dir := range dirs {
		decided, troubles, err := show.Decided(show.Extent{List: dir, Env: s.Env, Alone: true})
		if err := cmp.Or(tasklist.Interrupted(ctx, s.Getenv, dir), err); err != nil {
			decided, troubles = nil, append(troubles, err)
		}
		for _, trouble := range troubles {
			s.Errorf("%s: %v", dir, trouble)
		}
		if slices.ContainsFunc(decided, func(r decisions.Record) bool { return c.belongs == nil || c.belongs(r.Project) }) {
			c.forgotten += forgotten[dir]
		}
		all = append(all, decided...)
	}
	slices.SortStableFunc(all, func(a, b decisions.Record) int { return a.Time.Compare(b.Time) })
	for i := range all {
		c.add(&all[i])
	}
	c.readRuns(ctx, s, dirs)
}

// readRuns takes from the lists how each run stands, and each of its steps, also of those under steps of others: of those that were
// undone, or went on in a list that is not there, as they were then.
func (c *counter) readRuns(ctx context.Context, s terminal.Streams, dirs []string) {
	stand, stores := map[*run]*workflow.Workflow{}, map[string]*state.Store{}
	for _, dir := range dirs {
		stores[dir] = &state.Store{List: tasks.List{Dir: dir}, Known: new(state.Known)} // which reads each file once
	}
	for _, read := range []func(*state.Store, context.Context) ([]*state.State, error){(*state.Store).Runs, (*state.Store).EveryRun} {
		before := maps.Clone(stand)
		for _, dir := range dirs {
			unknown := func(k runKey) bool { return k.list == dir && before[c.runs[k]] == nil }
			if len(c.came[dir]) == 0 && !slices.ContainsFunc(c.order, unknown) {
				continue
			}
			all, err := read(stores[dir], ctx)
			if err != nil {
				s.Errorf("%s: %v", dir, err)
			}
			for _, one := range all {
				c.stands(one, dir, before, stand)
			}
		}
	}
}

// stands notes how the runs of a state stand that are not known before.
func (c *counter) stands(one *state.State, dir string, before, stand map[*run]*workflow.Workflow) {
	known := func(x *run, w *workflow.Workflow) bool { // also one that was undone before what it came in place of
		return before[x] != nil || w.Undone && stand[x] != nil && stand[x] != w
	}
	if x, w := c.at(dir, one.Steps[0].ID), one.Run(); x != nil && !known(x, w) {
		x.use(w.SHA256, w.Began)
	}
	of := proof.Of(one, dir)
	for i, b := range one.Steps {
		w := one.OfSkill(b.Workflow)
		first := one.Step(w.Steps[0].ID)
		x := c.at(dir, first.ID)
		if x == nil || known(x, w) {
			continue
		}
		if stand[x] != w { // the first, or that of a later reload
			stand[x], x.over, x.at = w, nil, time.Time{}
			x.ended, x.byPerson, x.cut = w != one.Run() || !of.Ended.IsZero(), false, false
			x.undone = x.undone || w.Undone
		}
		if at := of.Steps[i].Ended; at.After(x.at) {
			x.at = at
		}
		if one.IsEarlier(b) != one.IsEarlier(first) { // another came in its place
			continue
		}
		word := one.Word(b)
		x.ended = x.ended && !word.IsOpen()
		x.cut = x.cut || word == state.IsNotNeeded && one.IsClosed(w)
		x.byPerson = x.byPerson || word == state.IsNotNeeded && isEnded(one, w)
		if !one.CountsInCopies(b) {
			x.is(b.ID, stood{one.PlaceInFile(b), one.SubjectInFile(b), word})
		}
	}
}

// isEnded reports whether a person ended the workflow, or one that it is under.
func isEnded(s *state.State, w *workflow.Workflow) bool {
	_, ok := s.EndOf(w)
	return ok || slices.ContainsFunc(s.Above(w), func(p *state.Current) bool {
		_, ok := s.EndOf(p.Workflow)
		return ok
	})
}
