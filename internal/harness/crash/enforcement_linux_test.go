package crash

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/overseer"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// gated is a workflow with a step for each kind of refusal.
const gated = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "Plan"},
 {"id": 2, "subject": "Build", "blockedBy": [1]},
 {"id": 3, "subject": "Write", "produces": ["notes.md"]},
 {"id": 4, "subject": "Test", "check": "exit 3"},
 {"id": 5, "subject": "Publish", "approval": "Publish?"},
 {"id": 6, "subject": "Push", "only": ["Bash(git push *)"]},
 {"id": 7, "subject": "Tell", "produces": ["old.md"]},
 {"id": 8, "subject": "Migrate", "each": {"run": "echo a"}, "do": [{"id": 1, "subject": "Change {item}"}]}
]}`

// refused are the events of what the hook refuses, or asks the person about, by their members.
var refused = []struct{ name, event string }{
	{"blocked", update(`"taskId":"2","status":"in_progress"`)},
	{unrecorded, update(`"taskId":"2","status":"in_progress"`)},
	{"file missing", update(`"taskId":"3","status":"completed"`)},
	{"unchanged file", update(`"taskId":"7","status":"completed"`)},
	{"items under it", update(`"taskId":"8","status":"completed"`)},
	{"failing check", update(`"taskId":"4","status":"completed"`)},
	{"approval", update(`"taskId":"5","status":"completed"`)},
	{"deletion", update(`"taskId":"1","status":"deleted"`)},
	{"hidden", update(`"taskId":"1","metadata":{"_internal":true}`)},
	{"call of a step", `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push origin"}`},
	{"completed in another way", `"hook_event_name":"TaskCompleted","task_id":"3","task_subject":"Write"`},
}

// unrecorded is the name of a refusal that the person is told of instead: the state directory is gone.
const unrecorded = "nothing on record"

func update(input string) string {
	return `"hook_event_name":"PreToolUse","tool_name":"TaskUpdate","tool_input":{` + input + `}`
}

// Errors that a call may have. What a signal interrupts is tried again by package os.
var (
	ofOpens  = []unix.Errno{unix.EIO, unix.ENOSPC, unix.EACCES, unix.ENOENT, unix.EMFILE}
	ofNames  = []unix.Errno{unix.EIO, unix.ENOSPC, unix.EACCES, unix.ENOENT}
	ofLooks  = []unix.Errno{unix.EIO, unix.EACCES, unix.ENOENT}
	ofWrites = []unix.Errno{unix.EIO, unix.ENOSPC}
	ofUses   = []unix.Errno{unix.EIO}
	ofLocks  = []unix.Errno{unix.EIO, unix.ENOLCK}
	ofMakers = []unix.Errno{unix.EMFILE}
)

// failing has the system calls that are made to fail. Not close: a descriptor that stays open
// is a fault that no kernel makes.
var failing = map[int32][]unix.Errno{
	unix.SYS_OPENAT:  ofOpens,
	unix.SYS_MKDIRAT: ofNames, unix.SYS_LINKAT: ofNames, unix.SYS_UNLINKAT: ofNames, unix.SYS_RENAMEAT: ofNames, unix.SYS_RENAMEAT2: ofNames,
	unix.SYS_STATX: ofLooks, unix.SYS_READLINKAT: ofLooks, unix.SYS_UTIMENSAT: ofLooks, unix.SYS_FACCESSAT: ofLooks,
	unix.SYS_FACCESSAT2: ofLooks, statAt(): ofLooks,
	unix.SYS_WRITE: ofWrites, unix.SYS_PWRITE64: ofWrites, unix.SYS_FTRUNCATE: ofWrites, unix.SYS_FSYNC: ofWrites,
	unix.SYS_FDATASYNC: ofWrites,
	unix.SYS_READ:      ofUses, unix.SYS_PREAD64: ofUses, unix.SYS_GETDENTS64: ofUses, unix.SYS_FSTAT: ofUses, unix.SYS_LSEEK: ofUses,
	unix.SYS_FCHMOD: ofUses, unix.SYS_FCNTL: ofUses, unix.SYS_GETCWD: ofLooks,
	unix.SYS_FLOCK: ofLocks,
	unix.SYS_PIPE2: ofMakers, unix.SYS_EPOLL_CREATE1: ofMakers, unix.SYS_EVENTFD2: ofMakers,
}

// statAt is the number of the call that os.Lstat makes.
func statAt() int32 {
	if runtime.GOARCH == "amd64" {
		return 262
	}
	return 79 // in the table that all newer architectures share
}

// fault is the error of the nth call with that number.
type fault struct {
	number int32
	n      int
	errno  unix.Errno
}

// noFault is that of a call that is not watched.
var noFault = fault{number: -1}

// faulty runs the hook at an event, with a fault. It returns the system calls that
// may fail, up to and with the one that did if failed is true.
func (w *world) faulty(t *testing.T, event string, f fault) (o output, calls []overseer.Call, failed bool) {
	t.Helper()
	event = fmt.Sprintf(`{"session_id":"list","cwd":%q,%s}`, w.Dir, event)
	c := exec.Command(self(), "hook", "--agent", "claude")
	c.Env = []string{"HOME=" + w.Dir, "FSMTX_TEST_FSMTX=1", "PATH=" + os.Getenv("PATH"), raceOptions}
	var stdout, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(event), &stdout, &stderr
	err := overseer.Run(c, slices.Collect(maps.Keys(failing)), func(call overseer.Call) overseer.Verdict {
		if failed {
			return overseer.Proceed
		}
		calls = append(calls, call)
		if call.Number == f.number {
			f.n--
		}
		if failed = f.n < 0; failed {
			return overseer.Fail(f.errno)
		}
		return overseer.Proceed
	})
	if errors.Is(err, overseer.ErrUnavailable) {
		t.Skipf("skipped: %v: %s", err, &stderr)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		require.NoError(t, err)
	}
	return output{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}, calls, failed
}

// toldOf reports whether a hook that ended so stops the call, or the person learns of it: with
// exit 2 the client refuses the call; with 0 it does what standard output says, and nothing if
// that is empty; with another code it shows standard error.
func (o output) toldOf() bool {
	switch o.code {
	case 2:
		return true
	case 0:
		return strings.Contains(o.stdout, `"deny"`) || strings.Contains(o.stdout, `"ask"`) || strings.Contains(o.stdout, `"systemMessage"`)
	}
	return o.stderr != ""
}

// TestEnforcementOnEverySystemCall makes each system call of the hook fail, one at a time, with
// each error that it may have: no call that is to be refused is let through without a word.
func TestEnforcementOnEverySystemCall(t *testing.T) {
	base := &world{Home: worlds.New(t)}
	base.Write(t, ".claude/skills/gated/SKILL.md", "---\nname: gated\n---\n")
	base.Write(t, ".claude/skills/gated/fsm.json", gated)
	base.Write(t, "old.md", "of the last release")
	hydrated := base.invoke(t, "gated")
	require.Zero(t, hydrated.code, hydrated.stderr)
	o, _, _ := base.faulty(t, update(`"taskId":"8","status":"in_progress"`), noFault) // its tasks have a record of their own
	require.Zero(t, o.code, o.stderr)
	for _, r := range refused {
		if !*every && r.name != "approval" && r.name != "items under it" {
			continue
		}
		copied := func() *world {
			w := base.again(t)
			if r.name == unrecorded {
				require.NoError(t, os.RemoveAll(w.StateDir()))
			}
			return w
		}
		o, calls, _ := copied().faulty(t, r.event, noFault)
		require.Contains(t, []int{0, 2}, o.code, "%s: %+v", r.name, o)
		require.True(t, o.toldOf(), "%s: %+v", r.name, o)
		faults, codes, seen := 0, map[int]int{}, map[int32]int{}
		for i, call := range calls {
			n := seen[call.Number]
			seen[call.Number]++
			standard := call.Number == unix.SYS_READ && call.Args[0] == 0 || call.Number == unix.SYS_WRITE && call.Args[0] <= 2
			if !*every && i%11 != 0 && !standard {
				continue
			}
			for _, errno := range failing[call.Number] {
				if r.name == unrecorded && (errno == unix.ENOENT || standard && call.Number == unix.SYS_WRITE) {
					continue // without its file the task is not a step; this is where the message is written
				}
				w := copied()
				o, made, failed := w.faulty(t, r.event, fault{call.Number, n, errno})
				if !failed {
					continue // the number of calls differs a little from run to run
				}
				faults++
				codes[o.code]++
				about := fmt.Sprintf("%s, %v at call %d, which is %v: %+v", r.name, errno, len(made), made[len(made)-1], o)
				require.True(t, o.toldOf(), about)
				w.requireSameTexts(t, base, about)
				require.NoError(t, os.RemoveAll(w.Dir))
			}
		}
		t.Logf("%s: %d calls, %d faults, exit codes %v", r.name, len(calls), faults, codes)
	}
}

// requireSameTexts fails unless the tasks are those of the world that w is a copy of.
func (w *world) requireSameTexts(t *testing.T, base *world, about string) {
	t.Helper()
	was, is := base.Tasks(t), w.Tasks(t)
	require.Equal(t, worlds.Names(was), worlds.Names(is), about)
	for name, file := range is {
		require.Equal(t, was[name].Text, file.Text, about)
	}
}

// again returns a copy of a world, in a home of its own.
func (w *world) again(t *testing.T) *world {
	home := worlds.New(t)
	require.NoError(t, os.CopyFS(home.Dir, os.DirFS(w.Dir)))
	c := &world{Home: home}
	require.NoError(t, os.Chmod(c.StateDir(), 0o700))
	require.NoError(t, os.Chmod(filepath.Dir(c.StateDir()), 0o700))
	return c
}
