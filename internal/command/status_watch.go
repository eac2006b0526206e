package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/term"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/txn"
)

// Control sequences of terminals (ECMA-48, and xterm's alternate screen).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // switches to the alternate screen and hides the cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	clearScreen = "\x1b[H\x1b[2J"
)

// watchStatus draws the status on the whole terminal until the person quits.
func watchStatus(ctx context.Context, s terminal.Streams, list tasks.List, chosen string) (err error) {
	in, isIn := terminal.File(s.In)
	out, isOut := terminal.File(s.Out)
	if !isIn || !isOut || !terminal.IsTerminal(out) || !term.IsTerminal(int(in.Fd())) {
		return &exit{exitNo, errors.New("--watch needs a terminal"), "run fsmtx status without it"}
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	defer func() {
		_, writeErr := out.WriteString(leaveScreen)
		err = errors.Join(err, writeErr, term.Restore(int(in.Fd()), before))
	}()
	if _, err := out.WriteString(enterScreen); err != nil {
		return err
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	w := watch{list: list, chosen: chosen, in: in, out: out, resized: resized, size: func() (int, int) {
		columns, rows, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return 80, 24
		}
		return columns, rows
	}}
	return w.run(ctx)
}

// watch draws the status again at each change.
type watch struct {
	list    tasks.List
	chosen  string
	in      io.Reader
	out     io.Writer
	resized <-chan os.Signal
	size    func() (columns, rows int)
}

// settle is the delay between a change and the next drawing: a hydration changes many files
// at once.
const settle = 50 * time.Millisecond

func (w watch) run(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	quit := make(chan struct{})
	go w.waitForQuit(quit)
	var draw <-chan time.Time
	for {
		w.follow(watcher)
		if err := w.draw(ctx); err != nil {
			return err
		}
	changes:
		for draw = nil; ; {
			select {
			case <-ctx.Done():
				return nil
			case <-quit:
				return nil
			case <-w.resized:
				break changes
			case <-draw:
				break changes
			case err := <-watcher.Errors:
				return fmt.Errorf("%s: %w", w.list.Dir, err)
			case e := <-watcher.Events:
				if draw == nil && w.concerns(e.Name) {
					draw = time.After(settle)
				}
			}
		}
	}
}

// waitForQuit closes quit when q, Ctrl-C or Ctrl-D is pressed, or the input ends.
func (w watch) waitForQuit(quit chan<- struct{}) {
	defer close(quit)
	key := make([]byte, 1)
	for {
		n, err := w.in.Read(key)
		if err != nil || n == 1 && strings.ContainsRune("qQ\x03\x04", rune(key[0])) {
			return
		}
	}
}

// follow watches the list, its state directory, and the directory above them, in which
// these two may be created later. Watching a directory again has no effect.
func (w watch) follow(watcher *fsnotify.Watcher) {
	_ = watcher.Add(filepath.Dir(w.list.Dir))
	_ = watcher.Add(w.list.Dir)
	if s, err := txn.StateDir(w.list.Dir); err == nil {
		_ = watcher.Add(s)
	}
}

// concerns reports whether a change of that path may change the status. Changes of other
// lists, which are in the same parent directory, do not.
func (w watch) concerns(path string) bool {
	s, err := txn.StateDir(w.list.Dir)
	if err != nil {
		return true
	}
	for _, dir := range []string{w.list.Dir, s} {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}

func (w watch) draw(ctx context.Context) error {
	columns, rows := w.size()
	text := ""
	if st, err := readStatus(ctx, w.list); err == nil {
		text = st.text(terminal.Cut(w.chosen, columns), columns)
	} else if ctx.Err() == nil {
		text = terminal.Cut(visible.Line(err.Error()), columns) + "\n"
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if room := max(rows-1, 1); len(lines) > room {
		lines = append(lines[:room-1], fmt.Sprintf("… %d more lines", len(lines)-room+1))
	}
	lines = append(lines, terminal.Cut("q quits", columns))
	_, err := io.WriteString(w.out, clearScreen+strings.Join(lines, "\r\n"))
	return err
}
