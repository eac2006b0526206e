package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// Control sequences of terminals (ECMA-48).
const (
	toTop      = "\x1b[H"
	clearRest  = "\x1b[K" // of the line
	clearBelow = "\x1b[J" // the cursor
)

// watchStatus draws the status on the whole terminal until the person interrupts it.
func watchStatus(ctx context.Context, s terminal.Streams, w watch) error {
	out, isOut := terminal.File(s.Out)
	if !isOut || !terminal.IsTerminal(out) || s.Env("TERM") == "dumb" {
		return command.Fail(command.ExitNo, errors.New("--watch needs a terminal that can be redrawn"), "run fsmtx status without it")
	}
	w.out, w.colour = out, s.Colour(out)
	w.size = func() (int, int) {
		columns, rows, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return 80, 24
		}
		return columns, rows
	}
	return w.run(ctx)
}

// watch draws the status again at each change.
type watch struct {
	list   tasks.List                                // without a directory as long as newest finds none
	chosen string                                    // what the first line says of the list
	newest func(context.Context) (tasks.List, error) // finds the list that was hydrated last; nil if something names the list
	roots  []string                                  // in which newest looks

	out    io.Writer
	size   func() (columns, rows int)
	colour bool
	notify bool // rings the bell when the work begins to wait for the person
	waits  bool // the work waited for the person when the status was drawn last
}

// glance is how often the directories and the size of the terminal are looked at.
const glance = 300 * time.Millisecond

func (w *watch) run(ctx context.Context) error {
	looks := time.NewTicker(glance)
	defer looks.Stop()
	for {
		seen := w.stamp()
		if err := w.draw(ctx); err != nil {
			return err
		}
		for w.stamp() == seen {
			select {
			case <-ctx.Done():
				_, err := io.WriteString(w.out, "\n")
				return err
			case <-looks.C:
			}
		}
	}
}

// stamp returns a text that differs if the list may have changed, another one may have come, or the terminal has another size.
func (w *watch) stamp() string {
	dirs := w.roots
	if s, err := txn.StateDir(w.list.Dir); err == nil && w.list.Dir != "" {
		dirs = append(slices.Clip(dirs), w.list.Dir, s)
	}
	var b strings.Builder
	fmt.Fprintln(&b, fmt.Sprint(w.size()))
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				fmt.Fprintln(&b, e.Name(), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String()
}

// choose sets the list to watch: as chooseList does, but it may come later, and another one after it.
func (w *watch) choose(ctx context.Context, s terminal.Streams, session string) error {
	found, err := command.FindList(ctx, s, session)
	if err == nil && !found.Newest {
		w.list, w.chosen, err = command.ChooseList(ctx, s, session)
		return err
	}
	if err != nil && !errors.Is(err, tasklist.ErrNoList) {
		return err
	}
	w.chosen = command.NewestList // without its path, which is a line full of digits
	w.newest = func(ctx context.Context) (tasks.List, error) {
		list, _, err := command.ChooseList(ctx, s, "")
		return list, err
	}
	w.roots, err = tasklist.Roots(s.Getenv)
	return err
}

func (w *watch) draw(ctx context.Context) error {
	columns, rows := w.size()
	if w.newest != nil {
		if list, err := w.newest(ctx); err == nil {
			w.list = list
		}
	}
	head, body := []viewRow{{text: w.chosen}}, []viewRow(nil)
	bell := ""
	if w.list.Dir == "" {
		head = []viewRow{{text: "No workflow of this project yet.", state: "ready"},
			{text: "Call a skill that has one in the client: its steps appear here."}}
	} else if st, err := readStatus(ctx, w.list); err == nil {
		var more []viewRow
		more, body = st.screen()
		head = append(head, more...)
		waits := progress.WaitsForPerson(st.steps)
		if waits && !w.waits && w.notify {
			bell = "\a"
		}
		w.waits = waits
	} else if ctx.Err() == nil {
		head = append(head, viewRow{text: err.Error(), state: "unchecked"})
	}
	lines := screenLines(head, body, columns, rows, w.colour)
	_, err := io.WriteString(w.out, bell+toTop+strings.Join(lines, clearRest+"\n")+clearBelow)
	return err
}
