package report

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/proof"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/show"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
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

// readLog counts the decisions of a log. Damaged lines are left out.
func (c *counter) readLog(ctx context.Context, name string) (d damage, err error) {
	f, err := safefile.OpenAny(name)
	if err != nil {
		return d, command.Unusable(name, err)
	}
	defer f.Close()
	d, err = c.readLines(ctx, f)
	d.File = name
	return d, err
}

func (c *counter) readLines(ctx context.Context, from io.Reader) (d damage, err error) {
	lines := bufio.NewReaderSize(from, 1<<20)
	bad := func(n int, why string) {
		if d.Lines++; d.Lines == 1 {
			d.First, d.Why = n, why
		}
	}
	var r decisions.Record
	for n := 1; ; n++ {
		line, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF):
			return d, nil
		case errors.Is(err, errLong):
			bad(n, err.Error())
			continue
		case err != nil:
			return d, err
		case len(bytes.TrimSpace(line)) == 0:
			continue
		case n%1000 == 0 && ctx.Err() != nil:
			return d, context.Cause(ctx)
		}
		r = decisions.Record{}
		switch err := json.Unmarshal(line, &r); {
		case err != nil:
			bad(n, "it is not a line of a log of fsmtx")
		case r.Version > decisions.Version:
			bad(n, "it was written by a newer version of fsmtx")
		case r.Time.IsZero() || r.Decision == "":
			bad(n, "it has no time or no decision")
		case !c.lines.has(bytes.TrimSpace(line)):
			c.add(&r)
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

// readList counts what is on record of a list, and returns why some of it is missing.
func (c *counter) readList(ctx context.Context, s terminal.Streams, dir string) (troubles []error) {
	all, troubles, err := show.Decided(show.Extent{List: dir, Env: s.Env})
	if err != nil {
		return append(troubles, err)
	}
	for i := range all {
		c.add(&all[i])
	}
	runs, err := state.Runs(ctx, dir)
	if err != nil {
		return append(troubles, err)
	}
	history, err := txn.ReadHistory(dir)
	if err != nil {
		return append(troubles, err)
	}
	isOurs := func(r decisions.Record) bool { return c.belongs == nil || c.belongs(r.Project) }
	if n := len(history); n > 0 && slices.ContainsFunc(all, isOurs) {
		c.forgotten += max(0, int(history[n-1].Number)-n)
	}
	for _, one := range runs {
		x := c.runs[runKey{dir, one.Steps[0].ID}]
		if ended := proof.Of(one, dir).Ended; x != nil && !x.ended && !ended.IsZero() {
			c.end(x, ended)
		}
	}
	return troubles
}
