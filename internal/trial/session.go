package trial

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/orphans"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Runner runs a command of this program, and returns its exit code.
type Runner func(args []string, s terminal.Streams) int

// job is one test, for the process that runs it.
type job struct {
	File  string  `json:"file"`  // absolute path of the test
	Skill string  `json:"skill"` // absolute path of the skill's folder
	Root  string  `json:"root"`  // of the project
	Dir   string  `json:"dir"`   // an empty directory for all that the test needs
	Limit float64 `json:"limit"` // in seconds

	Parent int `json:"parent"` // the process that waits for the result
}

// result is what came of a test.
type result struct {
	Failed  bool   `json:"failed"`
	Skipped bool   `json:"skipped"`
	Line    int    `json:"line"`    // of the test, where it failed or was skipped; 0 if that is not known
	Message string `json:"message"` // why
	Log     string `json:"log"`     // the session
	Seen    []seen `json:"seen"`
}

// session is a test that runs.
type session struct {
	job
	run     Runner
	project string // the copy
	env     map[string]string
	list    string // directory of the task list
	uses    int
	answers []string // of the person, to the next questions
	laid    func()   // is called when the test is about to begin
}

// sessionID is that of the client's session in which the agent of a test works.
const sessionID = "fsmtx-test"

// play runs the test of a job.
func play(j job, run Runner) (r result) {
	x := &session{job: j, run: run, project: filepath.Join(j.Dir, "work", "script-"+nameOf(j.File))}
	x.env = map[string]string{
		"HOME": filepath.Join(j.Dir, "home"), "CLAUDE_CONFIG_DIR": filepath.Join(j.Dir, "config"),
		"XDG_STATE_HOME": filepath.Join(j.Dir, "state"),
		"CLAUDECODE":     "1", "CLAUDE_PID": strconv.Itoa(os.Getpid()), "CLAUDE_CODE_SESSION_ID": sessionID, "CLAUDE_PROJECT_DIR": x.project,
	}
	for _, dir := range []string{"work", "home", "config", "state", "tmp", "test"} {
		if err := os.MkdirAll(filepath.Join(j.Dir, dir), 0o700); err != nil {
			return result{Failed: true, Message: err.Error()}
		}
	}
	file, err := x.withEnd()
	if err != nil {
		return result{Failed: true, Message: err.Error()}
	}
	list, err := tasklist.OfSession(x.lookup, sessionID)
	if err != nil {
		return result{Failed: true, Message: err.Error()}
	}
	x.list = list
	orphans.Adopt()
	limit := time.Duration(j.Limit * float64(time.Second))
	var late atomic.Bool
	defer time.AfterFunc(limit, func() { late.Store(true); orphans.EndAll() }).Stop()
	t := &trial{}
	x.laid = func() { t.quiet = true }
	t.Run("", func(testscript.T) {
		testscript.RunT(t, testscript.Params{Files: []string{file}, Setup: x.setup, Cmds: x.commands(),
			WorkdirRoot: filepath.Join(j.Dir, "work")})
	})
	orphans.EndAll()
	r = t.result(j)
	if late.Load() {
		r.Failed, r.Message = true, fmt.Sprintf("it did not end within %v", limit)
	}
	if !r.Failed && !r.Skipped && len(x.answers) > 0 {
		r.Failed, r.Line = true, x.lineOf("person "+x.answers[0])
		r.Message = fmt.Sprintf("person %s: nothing was asked after it", x.answers[0])
	}
	if !r.Failed && !r.Skipped {
		r.Line, r.Message = x.emptiness(r.Log)
		r.Failed = r.Message != ""
	}
	r.Seen, err = seenIn(context.Background(), x.list, x.project)
	if err != nil && !r.Failed {
		r.Failed, r.Message = true, message.Error(err)
	}
	return r
}

// notFound is what testscript writes of a program that does not exist.
var notFound = regexp.MustCompile(`(?m)^\[exec: ("[^"\n]*"): executable file not found in \$PATH\]$`)

// emptiness returns why a test that has passed shows nothing: it has no command, or has tried a program that does not exist.
func (x *session) emptiness(log string) (line int, why string) {
	if m := notFound.FindStringSubmatch(log); m != nil {
		name, _ := strconv.Unquote(m[1])
		return x.lineOf("! exec " + name), fmt.Sprintf("! exec %s: there is no such program on PATH", name)
	}
	if !strings.Contains("\n"+log, "\n> ") {
		return 0, "it has no command, so it tests nothing: fsmtx test --help has them"
	}
	return 0, ""
}

// maxTest limits the size of a test, in bytes.
const maxTest = 16 << 20

// endWord is a command behind the last line of a test. It ends what the test has in the background: testscript waits for that.
const endWord = "end-of-test"

// withEnd returns a copy of the test with that line.
func (x *session) withEnd() (path string, err error) {
	text, err := safefile.ReadFile(x.File, maxTest, 0)
	if err != nil {
		return "", err
	}
	a := txtar.Parse(text)
	a.Comment = append(a.Comment, endWord+"\n"...)
	path = filepath.Join(x.Dir, "test", filepath.Base(x.File))
	return path, put(path, string(txtar.Format(a)))
}

// lookup is the environment of this program: not the test's.
func (x *session) lookup(name string) (string, bool) {
	if value, ok := x.env[name]; ok {
		return value, true
	}
	if strings.HasPrefix(name, "CLAUDE") || strings.HasPrefix(name, "FSMTX_") || strings.HasPrefix(name, "XDG_") ||
		slices.Contains(caller.Variables(), name) {
		return "", false
	}
	return os.LookupEnv(name)
}

// nameOf returns the name of a test.
func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }

// lineOf returns the last line of the test that has these words; 0 if there is none.
func (x *session) lineOf(words string) (n int) {
	text, _ := safefile.ReadFile(x.File, maxTest, 0) // that it can be read was seen
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(strings.Join(strings.Fields(line), " "), words) {
			n = i + 1
		}
	}
	return n
}

// setup lays the project below the files of the test, which are there already.
func (x *session) setup(env *testscript.Env) error {
	x.project = env.WorkDir // without links
	x.env["CLAUDE_PROJECT_DIR"] = x.project
	_ = os.Remove(filepath.Join(env.WorkDir, ".tmp")) // TMPDIR of testscript, which the project does not have
	ctx := context.Background()
	if err := x.lay(ctx); err != nil {
		return err
	}
	if start := hydrate.StartOf(x.Skill); start != "" {
		dir, err := x.inCopy(start)
		if err != nil {
			return err
		}
		env.Cd, x.env["CLAUDE_PROJECT_DIR"] = dir, dir
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "WORK" {
			env.Vars = append(env.Vars, v)
		}
	}
	x.laid()
	return nil
}

// takeEnvironment takes over what the test has set, for the commands that are run in this process. Those of the program itself look
// elsewhere: see lookup.
func (x *session) takeEnvironment(ts *testscript.TestScript) {
	names := []string{"PATH", "HOME"}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	text, _ := safefile.ReadFile(x.File, maxTest, 0) // that it can be read was seen
	script, _, _ := bytes.Cut(text, []byte("\n-- "))
	for _, m := range setsVariable.FindAllSubmatch(script, -1) {
		names = append(names, string(m[1]))
	}
	for _, name := range names {
		if value := ts.Getenv(name); value != os.Getenv(name) {
			_ = os.Setenv(name, value)
		}
	}
}

var setsVariable = regexp.MustCompile(`\benv\s+(?:-\w+\s+)?([A-Za-z_][A-Za-z0-9_]*)=`)

// trial is what testscript reports to.
type trial struct {
	failed, skipped bool
	quiet           bool // the next question for Verbose is whether to print the environment, which may have secrets
	log             strings.Builder
	fatal           string
}

func (t *trial) Skip(args ...any) { t.skipped = true; t.end(args) }

func (t *trial) Fatal(args ...any) { t.failed = true; t.end(args) }

func (t *trial) end(args []any) {
	t.fatal = strings.TrimSpace(fmt.Sprint(args...))
	runtime.Goexit()
}

func (t *trial) Parallel() {}

func (t *trial) Log(args ...any) { fmt.Fprintln(&t.log, args...) }

func (t *trial) FailNow() { t.failed = true; runtime.Goexit() }

// Verbose is true, so that the log has the whole session.
func (t *trial) Verbose() bool {
	if t.quiet {
		t.quiet = false
		return false
	}
	return true
}

// Run runs f to its end: Fatal, Skip and FailNow end it early.
func (t *trial) Run(_ string, f func(testscript.T)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				t.failed, t.fatal = true, fmt.Sprintf("internal error: %v", p)
			}
		}()
		f(t)
	}()
	<-ended
}

// failure is what testscript writes at the line where a test fails.
var failure = regexp.MustCompile(`(?m)^FAIL: (.*):(\d+): ((?s).*)$`)

// took is how long a part of a test took, behind its comment.
var took = regexp.MustCompile(`(?m)^(#.*) \(\d+\.\d+s\)$`)

func (t *trial) result(j job) (r result) {
	log := strings.TrimSpace(t.log.String())
	log = strings.Replace(log, "> "+endWord+"\n", "", 1)
	log = strings.TrimPrefix(log, "WORK="+filepath.Join(j.Dir, "work", "script-"+nameOf(j.File)))
	log = strings.TrimSpace(strings.ReplaceAll(took.ReplaceAllString(log, "$1"), j.Dir, "$DIR"))
	r = result{Failed: t.failed, Skipped: t.skipped, Log: log, Message: t.fatal}
	if m := failure.FindStringSubmatchIndex(log); m != nil {
		r.Line, _ = strconv.Atoi(log[m[4]:m[5]])
		r.Message, r.Log = cmp.Or(t.fatal, strings.TrimSpace(log[m[6]:])), strings.TrimSpace(log[:m[0]])
	}
	return r
}

// encode writes a result as the line that the command waits for.
func (r result) encode() ([]byte, error) {
	text, err := json.Marshal(r)
	return append(text, '\n'), err
}

// errNoResult is returned when the process of a test has ended without a result.
var errNoResult = errors.New("the test ended without a result")
