package terminal

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// lookup is os.LookupEnv, but HOME is USERPROFILE: there the client looks, whatever HOME is (measured with 2.1.329).
func lookup(name string) (string, bool) {
	if profile := os.Getenv("USERPROFILE"); name == "HOME" && profile != "" {
		return profile, true
	}
	return os.LookupEnv(name)
}

// writeSurviving writes to a stream: here nothing ends the program when the reader is gone.
func writeSurviving(f *os.File, p []byte) (int, error) { return f.Write(p) }

// console is the console that this process is attached to, whatever the standard streams are.
type console struct{ in, out *os.File }

func (c console) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c console) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c console) Close() error                { return errors.Join(c.in.Close(), c.out.Close()) }

// openTerminal opens the console.
func openTerminal() (io.ReadWriteCloser, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return console{in, out}, nil
}

// NotifyChanges does nothing: no signal tells of such changes here.
func NotifyChanges(_, _ chan os.Signal) (stop func()) { return func() {} }

// Suspend does nothing: a console has no jobs.
func Suspend() error { return nil }

// prepare makes consoles understand what is written to them: sequences for colours. Package os writes to a console in Unicode, whatever its
// code page.
func prepare() {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		var mode uint32
		h := windows.Handle(f.Fd())
		if windows.GetConsoleMode(h, &mode) == nil {
			_ = windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
		}
	}
}
