// Sh is a POSIX shell for the tests on a Windows that has none, with the few programs that their commands run. It stands for that of Git
// for Windows: what is tested is how a command is started, ended and read, not the shell.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

func main() {
	err := sh(os.Args[1:])
	if status, ok := errors.AsType[interp.ExitStatus](err); ok {
		os.Exit(int(status))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sh:", err)
		os.Exit(2)
	}
}

// sh is sh [-n] -c COMMAND [NAME [ARGUMENT...]].
func sh(args []string) error {
	reads := len(args) > 0 && args[0] == "-n"
	if reads {
		args = args[1:]
	}
	if len(args) < 2 || args[0] != "-c" {
		return errors.New("want -c COMMAND")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(args[1]), "sh")
	if err != nil || reads {
		return err
	}
	r, err := interp.New(interp.StdIO(os.Stdin, os.Stdout, os.Stderr), interp.ExecHandlers(programs),
		interp.Params(append([]string{"--"}, args[min(3, len(args)):]...)...))
	if err != nil {
		return err
	}
	return r.Run(context.Background(), file)
}

// programs runs the programs that are here, and others as the shell does.
func programs(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		name := path.Base(args[0])
		if name == "sh" {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			return next(ctx, append([]string{self}, args[1:]...))
		}
		run := map[string]func(interp.HandlerContext, []string) error{"sleep": sleep, "touch": touch, "cat": cat, "seq": seq, "grep": grep}[name]
		if run == nil {
			return next(ctx, args)
		}
		h := interp.HandlerCtx(ctx)
		if err := run(h, args[1:]); err != nil {
			if e, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%s: No such file or directory", filepath.Base(e.Path))
			}
			fmt.Fprintf(h.Stderr, "%s: %v\n", name, err)
			return interp.ExitStatus(1)
		}
		return nil
	}
}

func sleep(_ interp.HandlerContext, args []string) error {
	limit, err := time.ParseDuration(args[0] + "s")
	time.Sleep(limit)
	return err
}

func touch(h interp.HandlerContext, args []string) error {
	f, err := os.OpenFile(in(h, args[0]), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func cat(h interp.HandlerContext, args []string) error {
	for _, name := range args {
		data, err := os.ReadFile(in(h, name))
		if err != nil {
			return err
		}
		if _, err := h.Stdout.Write(data); err != nil {
			return err
		}
	}
	if len(args) == 0 {
		_, err := io.Copy(h.Stdout, h.Stdin)
		return err
	}
	return nil
}

func seq(h interp.HandlerContext, args []string) error {
	n, err := strconv.Atoi(args[0])
	for i := range n {
		fmt.Fprintln(h.Stdout, i+1)
	}
	return err
}

// grep is grep -q WORD FILE.
func grep(h interp.HandlerContext, args []string) error {
	data, err := os.ReadFile(in(h, args[2]))
	if err == nil && !strings.Contains(string(data), args[1]) {
		err = errors.New("no line has " + args[1])
	}
	return err
}

func in(h interp.HandlerContext, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(h.Dir, name)
}
