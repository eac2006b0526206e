package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// ErrCrash is the value of the panic that interrupts a hydration.
var ErrCrash = errors.New("crash")

// Crashing is a file system that panics when the transaction has made all its changes, or
// when it is complete.
type Crashing struct {
	vfs.OS
	committed bool // crash when it is complete
}

func (d Crashing) Rename(oldname, newname string) error {
	done := filepath.Base(oldname) == "journal"
	if done && !d.committed {
		panic(ErrCrash)
	}
	err := d.OS.Rename(oldname, newname)
	if done {
		panic(ErrCrash)
	}
	return err
}

// interrupt hydrates for the event in event.json and crashes when all files are in place, or
// when its journal is in the history too: interrupt [committed].
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 || len(args) == 1 && args[0] != "committed" {
		ts.Fatalf("usage: interrupt [committed]")
	}
	e, err := client.Parse([]byte(ts.ReadFile("event.json")))
	ts.Check(err)
	request, _, err := hydrate.Understand(e)
	ts.Check(err)
	env := func(name string) (string, bool) { v := ts.Getenv(name); return v, v != "" }
	defer func() {
		if r := recover(); r != ErrCrash {
			ts.Fatalf("not interrupted: %v", r)
		}
	}()
	_, err = hydrate.Run(context.Background(), request, env,
		hydrate.Options{LockTimeout: time.Minute, FS: Crashing{committed: len(args) == 1}})
	ts.Check(err)
}

// forge replaces text in a journal and corrects its checksum: forge journal old new.
func forge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: forge journal old new")
	}
	head, rest, _ := strings.Cut(ts.ReadFile(args[0]), "\n")
	version, body := strings.Fields(head)[1], rest
	if !strings.Contains(body, args[1]) {
		ts.Fatalf("no %q in %s", args[1], body)
	}
	body = strings.Replace(body, args[1], args[2], 1)
	sum := sha256.Sum256([]byte(version + "\n" + body))
	text := head[:strings.LastIndexByte(head, ' ')+1] + hex.EncodeToString(sum[:]) + "\n" + body
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// listing writes the content and the metadata of all files in a directory to a file,
// without the content of lock files: listing dir file.
func listing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: listing dir file")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(tree(ts, ts.MkAbs(args[0])), "\n")+"\n"), 0o644))
}

func tree(ts *testscript.TestScript, dir string) (lines []string) {
	ts.Check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v", path, info.Mode())
		if info.Mode().IsRegular() && info.Size() < 1<<20 && e.Name() != "lock" {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %v %x", info.ModTime().UnixNano(), sha256.Sum256(data))
		}
		if target, err := os.Readlink(path); err == nil {
			line += " -> " + target
		}
		lines = append(lines, line)
		return nil
	}))
	slices.Sort(lines)
	return lines
}
