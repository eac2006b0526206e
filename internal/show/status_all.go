package show

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

type shownList struct {
	List    string    `json:"list"`
	Session string    `json:"session"`
	Skill   string    `json:"skill"`
	Done    int       `json:"done"`
	Total   int       `json:"total"`
	Next    string    `json:"next"`
	Time    time.Time `json:"time"`

	gone int // steps that are gone without having been done, if no other one is open
}

// statusOfAll prints one line for each list with a history, the newest first.
func statusOfAll(ctx context.Context, s terminal.Streams, asJSON bool) error {
	dirs, err := tasklist.WithHistory(s.Getenv)
	if err != nil {
		return err
	}
	lists := []shownList{}
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		all, err := ReadHistory(dir)
		if err != nil || len(all) == 0 {
			continue // it has no history
		}
		now, err := state.LoadNow(ctx, dir)
		if err != nil {
			s.Errorf("%s: %v", dir, err)
			continue
		}
		last := all[len(all)-1]
		l := shownList{List: dir, Session: last.Session, Skill: last.Skill, Done: now.DoneCount(), Total: len(now.Steps), Time: last.Time}
		if ready := now.Ready(); len(ready) > 0 {
			l.Next = ready[0].Subject
		}
		if !now.HasOpen() {
			l.gone = len(now.Missing())
		}
		lists = append(lists, l)
	}
	slices.SortFunc(lists, func(a, b shownList) int { return b.Time.Compare(a.Time) })
	if asJSON {
		return command.PrintJSON(s.Out, lists)
	}
	if len(lists) == 0 {
		return command.Fail(command.ExitNo, errors.New("no skill has put a workflow into a task list"), "")
	}
	columns := s.Columns(s.Out)
	for _, l := range lists {
		next := "no workflow"
		switch {
		case l.Next != "":
			next = "next: " + l.Next
		case l.Total > 0 && l.Done == l.Total:
			next = "done"
		case l.gone > 0:
			next = fmt.Sprintf("%d gone", l.gone)
		case l.Total > 0:
			next = "nothing is ready"
		}
		text := fmt.Sprintf("%s  %s  %s  %d/%d  %s", l.Session, l.Time.Local().Format("2006-01-02 15:04"), l.Skill, l.Done, l.Total, next)
		if _, err := message.Fprintf(s.Out, "%s\n", terminal.Cut(text, columns)); err != nil {
			return err
		}
	}
	return nil
}
