//go:build oracle && unix

package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/sessions"
)

// sessionInputs are the sessions of the oracle's source, and those here that differ from them.
func sessionInputs(t *testing.T, source string) (inputs []input) {
	for _, dir := range []string{"testdata/script", "testdata/hooks/script"} {
		theirs, err := filepath.Glob(filepath.Join(source, dir, "*.txtar"))
		require.NoError(t, err)
		require.NotEmpty(t, theirs)
		ours, err := filepath.Glob(filepath.Join("../..", dir, "*.txtar"))
		require.NoError(t, err)
		known := map[string]string{}
		for i, path := range append(theirs, ours...) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name := strings.TrimSuffix(filepath.Base(path), ".txtar")
			if strings.Contains(dir, "hooks") {
				name = "hooks/" + name
			}
			if i < len(theirs) {
				known[name] = string(text)
			} else if known[name] == string(text) {
				continue
			} else {
				name += "(now)"
			}
			inputs = append(inputs, input{"session " + name, string(text), func(t testing.TB, w *scene) []point {
				return w.session(t, name, string(text))
			}})
		}
	}
	return inputs
}

// session plays a session, with what it assertion left out, and then asks what is known of each
// list.
func (w *scene) session(t testing.TB, name, text string) []point {
	dir := w.at("s")
	script := filepath.Join(dir, "session.txtar")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(script, []byte(pointed(text)), 0o644))
	log := &sessionLog{}
	testscript.RunT(log, testscript.Params{
		Files: []string{script}, WorkdirRoot: dir, ContinueOnError: true, Deadline: time.Now().Add(3 * time.Minute),
		Setup: func(env *testscript.Env) error {
			work := env.WorkDir
			w.files, w.root = map[string]stamp{}, work
			w.changes(t)
			env.Setenv("PATH", w.at("bin")+":"+env.Getenv("PATH"))
			env.Setenv("HOME", work+"/home")
			env.Setenv("FSMTX_TEST_MANAGED", work+"/etc")
			env.Setenv("PLANNING_STATE_DIR", work+"/guards")
			env.Setenv("NL", "\n")
			if !strings.HasPrefix(name, "hooks/") {
				return nil
			}
			if err := os.MkdirAll(work+"/home", 0o755); err != nil {
				return err
			}
			return sessions.MakeExecutable(work)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"expand": sessions.Commands["expand"],
			"event": sessions.Commands["event"], "update": sessions.Commands["update"], "does": sessions.Commands["does"],
			"calls": sessions.Commands["calls"], "call": sessions.Commands["call"], "becomes": sessions.Commands["becomes"],
			"forge": sessions.Commands["forge"], "plant": sessions.Commands["plant"], "rewritten": sessions.Commands["rewritten"],
			"nodurations": sessions.Commands["nodurations"],
			"run":         run,
			"interrupt":   w.interrupt,
			"files": func(ts *testscript.TestScript, _ bool, _ []string) {
				if text := w.changes(t); text != "" {
					ts.Logf("[files]\n%s", text)
				}
			},
			"ask": w.ask,
		},
	})
	return points(log.String())
}

// run runs a program, whatever its exit code.
func run(ts *testscript.TestScript, _ bool, args []string) {
	if err := ts.Exec(args[0], args[1:]...); err != nil {
		ts.Logf("[%v]", err)
	}
}

// interrupt is that of the tree's tests, or the oracle's own.
func (w *scene) interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if !w.oracle {
		sessions.Commands["interrupt"](ts, neg, args)
		return
	}
	when := "changed"
	if len(args) > 0 {
		when = args[0]
	}
	ts.Check(ts.Exec("sh", "-c", "FSMTX_TEST_INTERRUPT="+when+" fsmtx < event.json"))
}

// ask asks for all that is shown of each list.
func (w *scene) ask(ts *testscript.TestScript, _ bool, _ []string) {
	var lists []string
	for _, pattern := range []string{"home/.claude/tasks/*", "home/.local/state/fsmtx/tasks/*"} {
		found, err := filepath.Glob(filepath.Join(w.root, pattern))
		ts.Check(err)
		lists = append(lists, found...)
	}
	for _, list := range lists[:min(len(lists), 6)] {
		name := filepath.Base(list)
		if strings.HasPrefix(name, ".") {
			continue
		}
		for _, args := range [][]string{{"status", name, "--json"}, {"log", name, "--json"}} {
			run(ts, false, append([]string{"fsmtx"}, args...))
		}
		run(ts, false, []string{"sh", "-c", "fsmtx log --decisions " + name + " | sed -E 's/^[-0-9T:. ]+//' | sort"}) // guards tell whole seconds
	}
}

var (
	assertion = regexp.MustCompile(`^(\[[^\]]*\] *)*(! *)?(stdout|stderr|grep|cmp|cmpenv|cmptask|exists|ttyout|listing)( |$)`)
	started   = regexp.MustCompile(`^((?:\[[^\]]*\] *)*)(?:! *)?(?:exec|code \d+) (.*[^&])$`)
)

// pointed returns a session without its comments and assertions, with a command after each line
// that looks for changed files, and the last one that asks.
func pointed(text string) string {
	script, files := text, ""
	if at := regexp.MustCompile(`(?m)^-- .* --$`).FindStringIndex(text); at != nil {
		script, files = text[:at[0]], text[at[0]:]
	}
	var out strings.Builder
	for i, line := range strings.Split(script, "\n") {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" || assertion.MatchString(line) {
			continue
		}
		fmt.Fprintf(&out, "%s # %d\nfiles\n", started.ReplaceAllString(line, "${1}run $2"), i+1)
	}
	return out.String() + "env FSMTX_TEST_CALLER= # end\nask\nfiles\n" + files
}

var (
	lineOfLog = regexp.MustCompile(`^> (.*) # (\d+|end)$`)
	unmet     = regexp.MustCompile(`^FAIL: .*: unexpected command (failure|success)$`)
	exited    = regexp.MustCompile(`^\[(exit status|signal): .*\]$|^\[exit status \d+\]$`)
)

// points reads the log of a session: a point for each command.
func points(log string) (all []point) {
	did, saw := "", ""
	flush := func() {
		if did != "" {
			all = append(all, point{did, labelled(saw)})
		}
		saw = ""
	}
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		switch m := lineOfLog.FindStringSubmatch(line); {
		case m != nil:
			flush()
			did = strings.TrimPrefix(m[2]+" "+m[1], "end ")
		case line == "> ask" || line == "> files" || unmet.MatchString(line) || line == "PASS":
		default:
			saw += line + "\n"
		}
	}
	flush()
	return all
}

// labelled puts the stream in front of each line.
func labelled(text string) string {
	var out strings.Builder
	label, part := "", ""
	flush := func() {
		if label != "" { // files are spread already
			part = spread(part, true)
		}
		for line := range strings.Lines(part) {
			out.WriteString(label + strings.TrimSuffix(line, "\n") + "\n")
		}
		part = ""
	}
	for line := range strings.Lines(text) {
		switch bare := strings.TrimSuffix(line, "\n"); {
		case bare == "[stdout]":
			flush()
			label = "out: "
		case bare == "[stderr]":
			flush()
			label = "err: "
		case bare == "[files]":
			flush()
			label = ""
		case exited.MatchString(bare):
			flush()
			out.WriteString(bare + "\n")
			label = ""
		default:
			part += line
		}
	}
	flush()
	return out.String()
}

// sessionLog runs a session for testscript, and keeps its log.
type sessionLog struct{ strings.Builder }

func (l *sessionLog) Skip(args ...any) {
	l.Log(append([]any{"skipped: "}, args...)...)
	runtime.Goexit()
}
func (l *sessionLog) Fatal(args ...any) { l.Log(args...); runtime.Goexit() }
func (l *sessionLog) FailNow()          { runtime.Goexit() }
func (l *sessionLog) Parallel()         {}
func (l *sessionLog) Verbose() bool     { return true }
func (l *sessionLog) Log(args ...any)   { fmt.Fprintln(&l.Builder, args...) }
func (l *sessionLog) Run(_ string, f func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(l)
	}()
	<-done
}
