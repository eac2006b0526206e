package show

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// screens returns each screen that is drawn, without control sequences.
type screens chan string

func (s screens) Write(data []byte) (int, error) {
	s <- strings.ReplaceAll(strings.TrimPrefix(string(data), clearScreen), "\r\n", "\n")
	return len(data), nil
}

// TestWatchDrawsAgain when the list is created, when a task changes, and when the terminal is
// resized; q quits.
func TestWatchDrawsAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "list")
	in, pressed := io.Pipe()
	drawn, resized, columns, rows := make(screens), make(chan os.Signal), 80, 20
	s := terminal.Streams{Getenv: func(string) (string, bool) { return "", false }}
	w := watch{streams: s, list: tasks.List{Dir: dir}, chosen: "task list", in: in, out: drawn, resized: resized,
		size: func() (int, int) { return columns, rows }}
	ended := make(chan error)
	go func() { ended <- w.run(t.Context()) }()
	assert.Equal(t, "task list\nno workflow is in the list\n"+keys, <-drawn)

	write := func(name, subject string) {
		text := `{"id": "` + name + `", "subject": "` + subject + `", "status": "pending"}`
		require.NoError(t, os.WriteFile(dir+".new", []byte(text), 0o600))
		require.NoError(t, os.Rename(dir+".new", filepath.Join(dir, name+".json")))
	}
	require.NoError(t, os.Mkdir(dir, 0o700))
	write("1", "first")
	assert.Contains(t, <-drawn, "#1 first (pending)\n")
	write("1", "changed")
	assert.NotContains(t, <-drawn, "first")

	columns, rows = 9, 5
	resized <- os.Interrupt
	assert.Equal(t, "task list\nno workf…\n\n  #1 cha…\nq quits…", <-drawn)
	_, err := pressed.Write([]byte("q"))
	require.NoError(t, err)
	require.NoError(t, <-ended)
}

// watched is a watch in a pseudo-terminal of 80 columns and 24 rows.
type watched struct {
	t      *testing.T
	dir    string
	master *os.File
	read   chan string
	out    string
	ended  chan error
	gone   chan struct{}
}

func watchOf(t *testing.T, dir string) *watched {
	t.Helper()
	return watchBy(t, dir, func(string) (string, bool) { return "", false }, func(ctx context.Context, s terminal.Streams) error {
		return watchStatus(ctx, s, &watch{list: tasks.List{Dir: dir}, chosen: "list", notify: true})
	})
}

func watchBy(t *testing.T, dir string, getenv func(string) (string, bool), run func(context.Context, terminal.Streams) error) *watched {
	t.Helper()
	master, slave, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}))
	w := &watched{t, dir, master, make(chan string), "", make(chan error, 1), make(chan struct{})}
	s := terminal.Streams{In: slave, Out: slave, Getenv: getenv}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(w.gone)
		w.ended <- run(ctx, s)
	}()
	go func() {
		defer close(w.read)
		for buffer := make([]byte, 1<<16); ; {
			n, err := master.Read(buffer)
			if err != nil {
				return
			}
			w.read <- string(buffer[:n])
		}
	}()
	t.Cleanup(func() {
		cancel()
		_, _ = master.WriteString("x\n") // ends the read of the next key, which a close would wait for
		go func() {
			<-w.gone
			_ = slave.Close()
		}()
		for range w.read { // until the slave is closed
		}
		_ = master.Close()
	})
	return w
}

// see waits until the screen, without colours, has the text, and returns it.
func (w *watched) see(text string) string {
	w.t.Helper()
	tooLong := time.After(time.Minute)
	for {
		_, screen, _ := cutLast(w.out, clearScreen)
		screen = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(strings.ReplaceAll(screen, "\r\n", "\n"), "")
		if strings.Contains(screen, text) && strings.Contains(screen, keys) {
			lines := strings.Split(screen, "\n")
			require.LessOrEqual(w.t, len(lines), 24, screen)
			for _, line := range lines {
				require.LessOrEqual(w.t, terminal.Width(line), 80, line)
			}
			return screen
		}
		select {
		case more := <-w.read:
			w.out += more
		case <-tooLong:
			require.Fail(w.t, "not shown: "+text, "%s", screen)
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

func (w *watched) press(keys string) {
	w.t.Helper()
	_, err := w.master.WriteString(keys)
	require.NoError(w.t, err)
}

// set gives the task a status.
func (w *watched) set(id int, status string) {
	w.t.Helper()
	writeTask(w.t, w.dir, id, status)
}

func writeTask(t *testing.T, dir string, id int, status string) {
	t.Helper()
	name := filepath.Join(dir, fmt.Sprint(id)+".json")
	require.NoError(t, os.WriteFile(dir+".new", []byte(task(int64(id), fmt.Sprintf("Subject %d", id), status)), 0o600))
	require.NoError(t, os.Rename(dir+".new", name))
}

// chain returns a list with a workflow of n steps, each after the one before.
func chain(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "list")
	var all []string
	for id := 1; id <= n; id++ {
		more := ""
		if id > 1 {
			more = fmt.Sprintf(`, "blockedBy": [%d]`, id-1)
		}
		if id == 13 {
			more += `, "produces": ["out.txt"]`
		}
		all = append(all, fmt.Sprintf(`{"id": %d, "subject": "Subject %d"%s}`, id, id, more))
	}
	hydrateIn(t, dir, workflow.Workflow{Command: "ship", Session: "list", Dir: "/", FSM: "[" + strings.Join(all, ",") + "]"})
	return dir
}

// hydrateIn puts a workflow into a list.
func hydrateIn(t *testing.T, dir string, w workflow.Workflow) {
	t.Helper()
	record, err := w.Encode()
	require.NoError(t, err)
	spec, err := fsmspec.Parse([]byte(w.FSM))
	require.NoError(t, err)
	change := txn.Change{Record: record}
	for _, s := range spec.Tasks() {
		change.Creates = append(change.Creates, txn.File{Name: fmt.Sprintf("%d.json", s.ID), Data: []byte(task(s.ID, s.Subject, "pending")),
			Mode: 0o644})
	}
	d, err := tasks.List{Dir: dir}.Open(t.Context())
	require.NoError(t, err)
	require.NoError(t, d.Commit(t.Context(), change))
	require.NoError(t, d.Close())
}

// task returns a task as the client writes it.
func task(id int64, subject, status string) string {
	return fmt.Sprintf(`{"id": "%d", "subject": %q, "description": "", "status": %q, "blocks": [], "blockedBy": []}`, id, subject, status)
}

// TestWatchRefusesATerminalWithoutAScreen such as that of a shell in an editor, which would show the control sequences.
func TestWatchRefusesATerminalWithoutAScreen(t *testing.T) {
	master, slave, err := pty.Open()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = slave.Close(), master.Close() })
	s := terminal.Streams{In: slave, Out: slave, Getenv: func(name string) (string, bool) { return "dumb", name == "TERM" }}
	err = watchStatus(t.Context(), s, &watch{})
	require.EqualError(t, err, "--watch needs a terminal that can be redrawn, and TERM is dumb")
}

// TestWatchKeepsTheWorkInView of forty steps on a screen of 24 rows: what is done is folded, keys
// scroll, and the view follows the work again.
func TestWatchKeepsTheWorkInView(t *testing.T) {
	dir := chain(t, 40)
	for id := 1; id <= 12; id++ {
		writeTask(t, dir, id, "completed")
	}
	writeTask(t, dir, 13, "in_progress")
	w := watchOf(t, dir)
	screen := w.see("◐ #13 Subject 13 (in progress)")
	assert.Contains(t, screen, "◐ 12/40 | #13 Subject 13\n")
	assert.Contains(t, screen, "● #1 to #12: 12 steps done\n")
	assert.Contains(t, screen, "produces out.txt")
	assert.Contains(t, screen, "◌ #20 Subject 20")
	assert.Regexp(t, `↓ \d+ more`, screen)
	assert.Contains(t, w.out, "\x1b[33m", "it has colours")

	w.set(13, "pending")
	w.see("○ #13 Subject 13 (ready)")
	w.set(30, "in_progress") // not in its turn
	w.press("G")
	screen = w.see("#40 Subject 40")
	assert.NotContains(t, screen, "○ #13")
	assert.Regexp(t, `↑ \d+ more`, screen)
	w.press("\x1b[5~")
	w.see("#20 Subject 20")
	w.press("g")
	w.see("● #1 to #12: 12 steps done\n")
	w.press("d")
	w.see("○ #13 Subject 13 (ready)")
	w.press("g")
	w.see("● #2 Subject 2 (done; completed past the hooks)")
	w.press("f")
	w.see("○ #13 Subject 13 (ready)")
	w.press("q")
	require.NoError(t, <-w.ended)
}

// TestWatchRingsWhenItWaits for the person: once, when an approval is asked for.
func TestWatchRingsWhenItWaits(t *testing.T) {
	dir := chain(t, 2)
	writeTask(t, dir, 1, "in_progress")
	w := watchOf(t, dir)
	w.see("◐ 0/2 | #1 Subject 1\n")
	asked := `{"time": "2026-01-02T15:04:05Z", "step": 1, "from": "in_progress", "to": "completed", "verdict": "ask", "why": "approval"}`
	d, err := tasks.List{Dir: dir}.Open(t.Context())
	require.NoError(t, err)
	line := fmt.Sprintf(`{"sum":"%08x",%s`, crc32.ChecksumIEEE([]byte(asked)), asked[1:])
	require.NoError(t, d.AppendState("steps.jsonl", []byte(line)))
	require.NoError(t, d.Close())
	screen := w.see("! 0/2 | waiting for you | #1 Subject 1\n")
	assert.Contains(t, screen, `waits for you: fsmtx step done 1 --because "..."`)
	w.set(1, "pending")
	w.see("! 0/2 | waiting for you | #1 Subject 1\n")
	assert.Equal(t, 1, strings.Count(w.out, "\a"))
}

// A command that somebody has to type is whole on a narrow screen, and can be pasted where it takes several lines.
func TestANarrowScreenCutsNoCommand(t *testing.T) {
	rows := []viewRow{
		{text: "  #3 Publish it to everybody who has asked for it", state: "ready"},
		{text: `  waits for you: fsmtx step done 3 --because "..."`, state: "ready", detail: true},
		{text: `    fsmtx step done 12345 --outcome never-again --list 9bd5 --because "..."`, detail: true},
		{text: "  fsmtx undo", detail: true},
	}
	var lines []string
	for _, r := range wrapCommands(rows, 40) {
		assert.LessOrEqual(t, terminal.Width(r.draw(40, false)), 40)
		lines = append(lines, r.draw(40, false))
	}
	assert.Equal(t, []string{
		"  #3 Publish it to everybody who has as…",
		"  waits for you:",
		`    fsmtx step done 3 --because "..."`,
		`      fsmtx step done 12345 --outcome \`,
		`      never-again --list 9bd5 \`,
		`      --because "..."`,
		"  fsmtx undo",
	}, lines)
	f := &window{whole: true}
	assert.Len(t, f.lines(nil, rows, 40, 20, false), 8, "and the keys")
}

// TestWatchWaitsForTheFirstWorkflow of a project, where not even the directory of the lists exists,
// and goes on to the list of the next one.
func TestWatchWaitsForTheFirstWorkflow(t *testing.T) {
	home := safefile.Resolve(t.TempDir())
	project := filepath.Join(home, "project")
	require.NoError(t, os.Mkdir(project, 0o755))
	t.Chdir(project)
	in, pressed := io.Pipe()
	drawn := make(screens)
	s := terminal.Streams{In: in, Out: drawn, Getenv: func(name string) (string, bool) {
		if name == "HOME" {
			return home, true
		}
		return "", false
	}}
	w := watch{in: in, out: drawn, size: func() (int, int) { return 80, 20 }}
	require.NoError(t, w.choose(t.Context(), s, ""))
	ended := make(chan error)
	go func() { ended <- w.run(t.Context()) }()
	assert.Contains(t, <-drawn, "No workflow of this project yet.\nCall a skill")

	head := map[string]string{"first": "list first, worked on last in this project\n",
		"second": "list second, worked on last in this project; also open: first (ship)\n"}
	for _, session := range []string{"first", "second"} {
		hydrateIn(t, filepath.Join(home, ".claude", "tasks", session), workflow.Workflow{Command: "ship", Session: session, Dir: project,
			FSM: `[{"id": 1, "subject": "The ` + session + ` step"}]`})
		for screen := ""; !strings.Contains(screen, "The "+session+" step") || !strings.Contains(screen, "ship: 0 of 1"); {
			if screen = <-drawn; strings.Contains(screen, "The "+session+" step") {
				assert.Contains(t, screen, head[session])
			}
		}
	}
	_, err := pressed.Write([]byte("q"))
	require.NoError(t, err)
	for {
		select {
		case <-drawn:
		case err := <-ended:
			require.NoError(t, err)
			return
		}
	}
}

// TestWatchNamesTheListOfSeveral on the screen, by its short name, and the others that are open.
func TestWatchNamesTheListOfSeveral(t *testing.T) {
	home := safefile.Resolve(t.TempDir())
	t.Chdir(home)
	set := map[string]string{"HOME": home, "TERM": "xterm"}
	getenv := func(name string) (string, bool) { return set[name], set[name] != "" }
	for _, session := range []string{"fade-1", "cafe-2"} {
		hydrateIn(t, filepath.Join(home, ".claude", "tasks", session), workflow.Workflow{Command: "ship", Session: session, Dir: home,
			FSM: `[{"id": 1, "subject": "S"}]`})
	}
	heads := map[string]string{"": "list cafe, worked on last in this project; also open: fade (ship)\n", "fade": "list fade\n"}
	for name, head := range heads {
		w := watchBy(t, home, getenv, func(ctx context.Context, s terminal.Streams) error {
			return statusFlags{watch: true}.run(ctx, s, name)
		})
		w.see(head)
		w.press("q")
		require.NoError(t, <-w.ended)
	}
}

// TestTheBellRingsForEveryListOfTheProject, once each time that its work begins to wait for the person, whichever list is drawn.
func TestTheBellRingsForEveryListOfTheProject(t *testing.T) {
	home := safefile.Resolve(t.TempDir())
	t.Chdir(home)
	var drawn strings.Builder
	s := terminal.Streams{Getenv: func(name string) (string, bool) { return map[string]string{"HOME": home}[name], name == "HOME" }}
	w := watch{out: &drawn, size: func() (int, int) { return 80, 20 }, notify: true}
	require.NoError(t, w.choose(t.Context(), s, ""))
	list := func(session string) string { return filepath.Join(home, ".claude", "tasks", session) }
	for _, session := range []string{"first", "second"} {
		hydrateIn(t, list(session), workflow.Workflow{Command: "ship", Session: session, Dir: home, FSM: `[{"id": 1, "subject": "S"}]`})
	}
	draws := func() (rings bool, screen string) {
		drawn.Reset()
		require.NoError(t, w.draw(t.Context()))
		return strings.HasPrefix(drawn.String(), "\a"), drawn.String()
	}
	decides := func(session string, verdict state.Decision, to string) {
		st := state.Store{List: tasks.List{Dir: list(session)}}
		now, err := st.Now(t.Context())
		require.NoError(t, err)
		require.NoError(t, st.Note(t.Context(), now, state.Evidence{Time: time.Now(), Step: 1, From: "pending", To: to, Verdict: verdict}))
		dir, err := txn.StateDir(list("first"))
		require.NoError(t, err)
		_ = os.Chtimes(filepath.Join(dir, state.EvidenceFile), time.Time{}, time.Unix(1, 0)) // the other one is the newest
	}
	rings, screen := draws()
	assert.False(t, rings, "nothing waits")
	assert.Contains(t, screen, "also open: first (ship)")
	for _, session := range []string{"first", "second", "first"} {
		decides(session, state.Ask, workflow.Completed)
		rings, screen = draws()
		assert.True(t, rings, session)
		assert.Contains(t, screen, "list second, worked on last")
		if session == "first" {
			assert.Contains(t, screen, "also open: first (ship, waits for")
		}
		rings, _ = draws()
		assert.False(t, rings, "it rings once")
		decides("first", state.Declined, workflow.Completed)
		rings, _ = draws()
		assert.False(t, rings, "an answer")
	}
}
