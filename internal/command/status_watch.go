package command

import (
	"bufio"
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

	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// Control sequences of terminals (ECMA-48, and xterm's alternate screen).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // switches to the alternate screen and hides the cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	clearScreen = "\x1b[H\x1b[2J"
)

// watchStatus draws the status on the whole terminal until the person quits.
func watchStatus(ctx context.Context, s terminal.Streams, w watch) (err error) {
	in, isIn := terminal.File(s.In)
	out, isOut := terminal.File(s.Out)
	if !isIn || !isOut || !terminal.IsTerminal(out) || !term.IsTerminal(int(in.Fd())) {
		return &exit{exitNo, errors.New("--watch needs a terminal"), "run fsmtx status without it"}
	}
	if s.Env("TERM") == "dumb" {
		return &exit{exitNo, errors.New("--watch needs a terminal that can be redrawn, and TERM is dumb"), "run fsmtx status without it"}
	}
	before, err := term.GetState(int(in.Fd()))
	if err != nil {
		return err
	}
	enter := func() error {
		if _, err := term.MakeRaw(int(in.Fd())); err != nil {
			return err
		}
		_, err := out.WriteString(enterScreen)
		return err
	}
	leave := func() error {
		_, err := out.WriteString(leaveScreen)
		return errors.Join(err, term.Restore(int(in.Fd()), before))
	}
	defer func() { err = errors.Join(err, leave()) }()
	if err := enter(); err != nil {
		return err
	}
	resized, continued := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	w.in, w.out, w.resized, w.continued, w.colour = in, out, resized, continued, s.Colour(out)
	w.enter = enter
	w.suspend = func() error {
		if err := errors.Join(leave(), syscall.Kill(0, syscall.SIGTSTP)); err != nil {
			return err
		}
		select {
		case <-continued:
		case <-time.After(settle): // no shell is there to continue it, so the system has not stopped it
		}
		return enter()
	}
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
	list    tasks.List // without a directory as long as newest finds none
	chosen  string     // what the first line says of the list
	newest  *newest    // nil if something names the list
	in      io.Reader
	out     io.Writer
	resized <-chan os.Signal
	size    func() (columns, rows int)

	suspend   func() error // gives the terminal back and stops, as ^Z does in other programs, and takes it again
	continued <-chan os.Signal
	enter     func() error // takes the terminal again after a stop that came from elsewhere

	colour bool
	notify bool // rings the bell when the work begins to wait for the person

	frame
	waits bool // the work waited for the person when the status was drawn last
}

// settle is the delay between a change and the next drawing: a hydration changes many files
// at once.
const settle = 50 * time.Millisecond

func (w *watch) run(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	keys := make(chan string)
	go w.readKeys(ctx, keys)
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
			case key, open := <-keys:
				if !open || isQuit(key) {
					return nil
				}
				if key == "\x1a" { // ^Z
					if err := w.suspend(); err != nil {
						return err
					}
				}
				w.press(key)
				break changes
			case <-w.continued:
				if err := w.enter(); err != nil {
					return err
				}
				break changes
			case <-w.resized:
				break changes
			case <-draw:
				break changes
			case err := <-watcher.Errors:
				return fmt.Errorf("%s: %w", w.list.Dir, err)
			case e := <-watcher.Events:
				if (w.newest.concerns(watcher, e.Name, w.list.Dir) || w.concerns(e.Name)) && draw == nil {
					draw = time.After(settle)
				}
			}
		}
	}
}

// isQuit reports whether the key is q, Ctrl-C or Ctrl-D.
func isQuit(key string) bool { return len(key) == 1 && strings.ContainsAny(key, "qQ\x03\x04") }

// readKeys sends each key that is pressed, a sequence of the terminal as one, until the input ends.
func (w *watch) readKeys(ctx context.Context, keys chan<- string) {
	defer close(keys)
	in := bufio.NewReader(w.in)
	for {
		key, err := readKey(in)
		if err != nil {
			return
		}
		select {
		case keys <- key:
		case <-ctx.Done():
			return
		}
	}
}

// readKey returns the next key: a character, or a sequence of the terminal that begins with
// escape. Escape alone is a key if nothing follows at once.
func readKey(in *bufio.Reader) (string, error) {
	r, _, err := in.ReadRune()
	if err != nil || r != '\x1b' || in.Buffered() == 0 {
		return string(r), err
	}
	key := string(r)
	for in.Buffered() > 0 {
		b, err := in.ReadByte()
		if err != nil {
			return key, err
		}
		key += string(rune(b))
		if len(key) > 2 && b >= '@' && b <= '~' {
			break
		}
	}
	return key, nil
}

// follow watches the list, its state directory, and the directory above them, in which
// these two may be created later. Watching a directory again has no effect.
func (w *watch) follow(watcher *fsnotify.Watcher) {
	w.newest.follow(watcher)
	if w.list.Dir == "" {
		return
	}
	_ = watcher.Add(filepath.Dir(w.list.Dir))
	_ = watcher.Add(w.list.Dir)
	if s, err := txn.StateDir(w.list.Dir); err == nil {
		_ = watcher.Add(s)
	}
}

// concerns reports whether a change of that path may change the status. Changes of other
// lists, which are in the same parent directory, do not.
func (w *watch) concerns(path string) bool {
	if w.list.Dir == "" {
		return false
	}
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

func (w *watch) draw(ctx context.Context) error {
	columns, rows := w.size()
	if list, chosen, found := w.newest.find(ctx); found {
		w.list, w.chosen = list, chosen
	}
	head, body := []viewRow{{text: w.chosen}}, []viewRow(nil)
	bell := ""
	if w.list.Dir == "" {
		head = []viewRow{{text: "No workflow of this project yet.", state: "ready"},
			{text: "Call a skill that has one in the client: its steps appear here."}}
	} else if st, err := readStatus(ctx, w.list); err == nil {
		var more []viewRow
		more, body = st.screen(!w.whole)
		head = append(head, more...)
		waits := progress.WaitsForPerson(st.steps)
		if waits && !w.waits && w.notify {
			bell = "\a"
		}
		w.waits = waits
	} else if ctx.Err() == nil {
		head = append(head, viewRow{text: err.Error(), state: "unchecked"})
	}
	lines := w.lines(head, body, columns, rows, w.colour)
	_, err := io.WriteString(w.out, bell+clearScreen+strings.Join(lines, "\r\n"))
	return err
}
