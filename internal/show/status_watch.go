package show

import (
	"bufio"
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
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
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
func watchStatus(ctx context.Context, s terminal.Streams, w *watch) (err error) {
	in, isIn := terminal.File(s.In)
	out, isOut := terminal.File(s.Out)
	if !isIn || !isOut || !terminal.IsTerminal(out) || !term.IsTerminal(int(in.Fd())) {
		return command.Fail(command.ExitNo, errors.New("--watch needs a terminal"), "run fsmtx status without it")
	}
	if s.Env("TERM") == "dumb" {
		return command.Fail(command.ExitNo, errors.New("--watch needs a terminal that can be redrawn, and TERM is dumb"),
			"run fsmtx status without it")
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
	defer terminal.NotifyChanges(resized, continued)()
	w.streams, w.in, w.out, w.resized, w.continued, w.colour = s, in, out, resized, continued, s.Colour(out)
	w.enter = enter
	w.suspend = func() error {
		if err := errors.Join(leave(), terminal.Suspend()); err != nil {
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
	streams terminal.Streams
	list    tasks.List // without a directory as long as newest finds none
	chosen  string     // what the first line says of the list
	// newest finds the list that was worked on last, and sets chosen. It is nil if something names the list.
	newest  func(context.Context) (tasks.List, error)
	roots   []string // in which newest looks
	in      io.Reader
	out     io.Writer
	resized <-chan os.Signal
	size    func() (columns, rows int)

	suspend   func() error // gives the terminal back and stops, as ^Z does in other programs, and takes it again
	continued <-chan os.Signal
	enter     func() error // takes the terminal again after a stop that came from elsewhere

	colour bool
	notify bool // rings the bell when the work begins to wait for the person

	window
	project []tasklist.Listed // the lists of the project, unless something names the list
	waits   map[string]bool   // the lists whose work waited for the person when the status was drawn last
	turns   []string          // the lists where it waits for them, or does once no client runs
}

const (
	// settle is how long a stopped process may take until it is one.
	settle = 50 * time.Millisecond
	// glance is how often the directories are looked at.
	glance = 300 * time.Millisecond
)

func (w *watch) run(ctx context.Context) error {
	keys := make(chan string)
	go w.readKeys(ctx, keys)
	looks := time.NewTicker(glance)
	defer looks.Stop()
	for {
		seen := w.stamp()
		if err := w.draw(ctx); err != nil {
			return err
		}
		for changed := false; !changed; {
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
				changed = true
			case <-w.continued:
				if err := w.enter(); err != nil {
					return err
				}
				changed = true
			case <-w.resized:
				changed = true
			case <-looks.C:
				changed = w.stamp() != seen
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

// stamp returns a text that differs if the list may have changed, or another one may have come.
func (w *watch) stamp() string {
	dirs := w.roots
	if s, err := txn.StateDir(w.list.Dir); err == nil && w.list.Dir != "" {
		dirs = append(slices.Clip(dirs), w.list.Dir, s)
	}
	var b strings.Builder
	columns, rows := w.size() // not every system sends a signal of it
	fmt.Fprintln(&b, columns, rows)
	for _, dir := range w.turns {
		fmt.Fprintln(&b, presence.IsAlive(dir))
	}
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

// choose sets the list to watch: as command.ChooseList does, but it may come later, and another one after it.
func (w *watch) choose(ctx context.Context, s terminal.Streams, session string) error {
	w.streams = s
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Named: session, Who: s.Who})
	if session != "" || err == nil && isOwn(s, found) {
		w.list, w.chosen, err = command.ChooseList(ctx, s, session, false)
		if err == nil {
			w.chosen = "list " + tasklist.ShortName(s.Getenv, w.list.Dir)
		}
		return err
	}
	var several *tasklist.SeveralError
	if err != nil && !errors.Is(err, tasklist.ErrNoList) && !errors.As(err, &several) {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	w.newest = func(ctx context.Context) (tasks.List, error) {
		all, err := tasklist.OfProject(ctx, s.Getenv, here)
		if err == nil && len(all) == 0 {
			err = tasklist.ErrNoList
		}
		if err != nil {
			return tasks.List{}, err
		}
		w.chosen, w.project = lastOf(s, all), all
		return tasks.List{Dir: all[0].Dir, Wait: tasklist.Wait}, nil
	}
	w.roots, err = tasklist.Roots(s.Getenv)
	return err
}

// lastOf says which list of the project was worked on last, and which others have open steps, without their paths, which are lines
// full of digits.
func lastOf(s terminal.Streams, all []tasklist.Listed) string {
	name := func(l tasklist.Listed) string { return tasklist.ShortName(s.Getenv, l.Dir) }
	text := "list " + name(all[0]) + ", worked on last in this project"
	var others []string
	for _, l := range all[1:] {
		if l.Open {
			what := l.Skill
			if waits, _ := turnOf(l.Now, l.Dir); waits {
				what += ", waits for you"
			}
			others = append(others, fmt.Sprintf("%s (%s)", name(l), what))
		}
	}
	if len(others) > 0 {
		text += "; also open: " + message.Sentence(others)
	}
	return text
}

// isOwn reports whether the environment names the list.
func isOwn(s terminal.Streams, found tasklist.Found) bool {
	return s.Env("CLAUDE_CODE_SESSION_ID")+s.Env(tasklist.Variable) != "" || found.Project != ""
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
		head = []viewRow{{text: "No workflow of this project yet.", state: state.Ready},
			{text: "Call a skill that has one in the client: its steps appear here."}}
	} else if st, err := readStatus(ctx, w.streams, w.list); err == nil {
		var more []viewRow
		more, body = st.screen(!w.whole)
		head = append(head, more...)
		waits := map[string]bool{}
		w.turns = nil
		for _, l := range append(slices.Clip(w.project), tasklist.Listed{Found: tasklist.Found{Dir: w.list.Dir}, Now: st.steps}) {
			if l.Now == nil {
				continue
			}
			var once bool
			if waits[l.Dir], once = turnOf(l.Now, l.Dir); once {
				w.turns = append(w.turns, l.Dir)
			}
		}
		for list, now := range waits {
			if now && !w.waits[list] && w.notify {
				bell = "\a"
			}
		}
		w.waits = waits
	} else if ctx.Err() == nil {
		head = append(head, viewRow{text: err.Error(), state: state.Unchecked})
	}
	lines := w.lines(head, body, columns, rows, w.colour)
	_, err := io.WriteString(w.out, bell+clearScreen+strings.Join(lines, "\r\n"))
	return err
}
