//go:build windows

package windows

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// TestMain is also a program in a console that starts another one there, as a shell does, and reads what is on the screen then.
func TestMain(m *testing.M) {
	screen := os.Getenv("FSMTX_TEST_SCREEN")
	if screen == "" {
		os.Exit(m.Run())
	}
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	must(err)
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	must(err)
	c := exec.Command(os.Args[1], os.Args[2:]...)
	c.Stdin, c.Stdout, c.Stderr = in, out, out
	_ = c.Run()
	must(os.WriteFile(screen, []byte(shown(windows.Handle(out.Fd()))), 0o600))
	os.Exit(c.ProcessState.ExitCode())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

const columns, lines = 200, 60

// shown returns the text on a console.
func shown(h windows.Handle) string {
	read := windows.NewLazySystemDLL("kernel32.dll").NewProc("ReadConsoleOutputCharacterW")
	var text []string
	for y := range uintptr(lines) {
		line := make([]uint16, columns)
		var n uint32
		ok, _, _ := read.Call(uintptr(h), uintptr(unsafe.Pointer(&line[0])), columns, y<<16, uintptr(unsafe.Pointer(&n)))
		if ok == 0 {
			break
		}
		text = append(text, strings.TrimRight(string(utf16.Decode(line[:n])), " \x00"))
	}
	return strings.Join(text, "\n")
}

// inConsole runs the program in a new console, below a program with the name shell, and returns what is on the console then. Without a
// shell the console is opened for the program, and what is on it is not known.
func (w world) inConsole(name string, args ...string) (screen string, code uint32) {
	w.t.Helper()
	dir := w.t.TempDir()
	shell, file := filepath.Join(dir, name), filepath.Join(dir, "screen")
	self, err := os.ReadFile(os.Args[0])
	require.NoError(w.t, err)
	command := append([]string{w.program}, args...)
	if name != "" {
		require.NoError(w.t, os.WriteFile(shell, self, 0o755))
		command = append([]string{shell}, command...)
	}
	var keys, in, out, read, pseudo windows.Handle
	require.NoError(w.t, windows.CreatePipe(&in, &keys, nil, 0))
	require.NoError(w.t, windows.CreatePipe(&read, &out, nil, 0))
	require.NoError(w.t, windows.CreatePseudoConsole(windows.Coord{X: columns, Y: lines}, in, out, 0, &pseudo))
	go func() {
		f := os.NewFile(uintptr(read), "console")
		_, _ = io.Copy(io.Discard, f)
		_ = f.Close()
	}()
	h := w.start(pseudo, append(w.environ(), "FSMTX_TEST_SCREEN="+file), command)
	state, err := windows.WaitForSingleObject(h, uint32(time.Minute.Milliseconds()))
	require.NoError(w.t, err)
	if state != windows.WAIT_OBJECT_0 {
		_ = windows.TerminateProcess(h, 1)
		require.Fail(w.t, "it did not end")
	}
	require.NoError(w.t, windows.GetExitCodeProcess(h, &code))
	windows.ClosePseudoConsole(pseudo)
	for _, h := range []windows.Handle{h, in, out, keys} {
		_ = windows.CloseHandle(h)
	}
	if name == "" {
		return "", code
	}
	text, err := os.ReadFile(file)
	require.NoError(w.t, err)
	return string(text), code
}

// start starts a program that is attached to a pseudo console.
func (w world) start(pseudo windows.Handle, env, args []string) windows.Handle {
	w.t.Helper()
	list, err := windows.NewProcThreadAttributeList(1)
	require.NoError(w.t, err)
	defer list.Delete()
	const attached = 0x20016 // PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, whose value is the handle itself
	require.NoError(w.t, list.Update(attached, *(*unsafe.Pointer)(unsafe.Pointer(&pseudo)), unsafe.Sizeof(pseudo)))
	si := windows.StartupInfoEx{ProcThreadAttributeList: list.List()}
	si.Cb = uint32(unsafe.Sizeof(si))
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(args))
	require.NoError(w.t, err)
	dir, err := windows.UTF16PtrFromString(w.project)
	require.NoError(w.t, err)
	block := utf16.Encode([]rune(strings.Join(env, "\x00") + "\x00\x00"))
	var pi windows.ProcessInformation
	require.NoError(w.t, windows.CreateProcess(nil, line, nil, nil, false,
		windows.CREATE_UNICODE_ENVIRONMENT|windows.EXTENDED_STARTUPINFO_PRESENT, &block[0], dir, &si.StartupInfo, &pi))
	_ = windows.CloseHandle(pi.Thread)
	return pi.Process
}

// TestInAConsole: what the program shows there is UTF-8, whatever the code page, and so are its arguments. A person marks a step as done
// there; what an agent has started does not.
func TestInAConsole(t *testing.T) {
	w := newWorld(t)
	w.skill("ship", `{"fsm": 2, "steps": [
		{"id": 1, "subject": "Grüße schreiben → Łódź"},
		{"id": 2, "subject": "Publish", "approval": "Publish it?", "blockedBy": [1]}]}`)
	out, code := w.run("", []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=abc-123"}, "begin", "ship")
	require.Zero(t, code, out)
	status := []string{"status", "--list", "abc-123"}
	done := func(step string) []string {
		return []string{"step", "done", step, "--because", "geprüft", "--list", "abc-123"}
	}

	screen, ended := w.inConsole("pwsh.exe", status...)
	assert.Zero(t, ended, screen)
	assert.Contains(t, screen, "○ #1 Grüße schreiben → Łódź (ready)")
	screen, ended = w.inConsole("claude.exe", done("1")...)
	assert.Equal(t, uint32(1), ended, screen)
	assert.Contains(t, screen, "an agent cannot go past a gate by itself, and a line with ! counts as the agent")
	screen, ended = w.inConsole("pwsh.exe", done("1")...)
	assert.Zero(t, ended, screen)
	assert.Contains(t, screen, "done: #1")
	out, code = w.run("", []string{"CLAUDECODE=1"}, done("2")...)
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, `my project'; fsmtx step done 2 --because 'geprüft'`, "Windows PowerShell knows no &&")
	screen, ended = w.inConsole("claude.exe", done("2")...)
	assert.Equal(t, uint32(1), ended, screen)
	screen, ended = w.inConsole("pwsh.exe", done("2")...)
	assert.Zero(t, ended, screen)
	assert.Contains(t, screen, "done: #2")
	screen, ended = w.inConsole("pwsh.exe", "undo", "--list", "abc-123", "--force")
	assert.Zero(t, ended, screen)
	screen, ended = w.inConsole("pwsh.exe", "undo", "--list", "abc-123", "2")
	assert.Zero(t, ended, screen)
	for _, args := range [][]string{{"--force"}, {"4"}} {
		_, ended = w.inConsole("", append([]string{"undo", "--list", "abc-123"}, args...)...)
		assert.Zero(t, ended)
	}
	out, code = w.run("", nil, "log", "--decisions", "--json", "--list", "abc-123")
	assert.Zero(t, code, out)
	assert.Equal(t, 4, strings.Count(out, `was undone","who":"person","how":"terminal"`), out)
	out, code = w.run("", nil, append(status, "--full")...)
	assert.Zero(t, code, out)
	assert.Contains(t, out, "2 of 2 steps done")
	assert.Contains(t, out, "geprüft")
}
