package trial

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/locator"
)

// folder is where the tests of a skill are, in its own.
const folder = "tests"

// suite is the tests of a skill.
type suite struct {
	skill string // its folder
	spec  string // path of the fsm.json
	root  string // of the project
	tests []string
}

// suiteOf returns the tests of a skill; none are no error.
func suiteOf(ctx context.Context, spec string) (s suite, err error) {
	if spec, err = filepath.Abs(spec); err != nil {
		return s, err
	}
	skill := filepath.Dir(spec)
	tests, err := filepath.Glob(filepath.Join(escaped(skill), folder, "*.txtar"))
	slices.Sort(tests)
	return suite{skill, spec, rootOf(ctx, skill), tests}, err
}

// escaped returns a path as a pattern of itself.
func escaped(path string) string { return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(path, `\$0`) }

// trialled is one test that was run.
type trialled struct {
	suite *suite
	file  string
	took  time.Duration
	ended bool
	result
}

// tries runs tests, as many at once as there are processors. What one has left running is ended with it.
type tries struct {
	program string // path of fsmtx
	limit   time.Duration
	dir     string // for all tests; removed at the end
}

func (t tries) run(ctx context.Context, all []*trialled) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, one := range all {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			begun := time.Now()
			var err error
			one.result, err = t.one(ctx, one, filepath.Join(t.dir, fmt.Sprint(i)))
			one.took, one.ended = time.Since(begun), err == nil
			return err
		})
	}
	return group.Wait()
}

// grace is the time that processes of a test have to end.
const grace = time.Second

// one runs a test in a process of its own, and ends all that this has started.
func (t tries) one(ctx context.Context, x *trialled, dir string) (r result, err error) {
	defer func() {
		if gone := removeAll(dir); gone != nil && err == nil {
			err = message.WithHint(fmt.Errorf("what the test %s has left cannot be removed: %w", x.file, gone), "remove "+dir)
		}
	}()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return r, err
	}
	text, err := json.Marshal(job{x.file, x.suite.skill, x.suite.root, dir, t.limit.Seconds(), os.Getpid()})
	if err != nil {
		return r, err
	}
	told := &line{came: make(chan struct{})}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-told.came:
			stop(errOver)
		case <-inner.Done():
		}
	}()
	o := process.Command{Args: []string{t.program, "test", "--" + jobFlag + "=" + string(text)}, Dir: dir, Env: environ(dir), Output: told,
		Timeout: t.limit + 2*grace, Grace: grace, Whole: true}.Run(inner)
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err := json.Unmarshal(told.text, &r); err == nil {
		return r, nil
	}
	r = result{Failed: true, Message: errNoResult.Error()}
	if o.Err != nil && !isOver(told) {
		r.Message = fmt.Sprintf("it did not end within %v", t.limit)
	}
	r.Log = strings.TrimSpace(string(told.text) + o.Stderr)
	return r, nil
}

func isOver(l *line) bool {
	select {
	case <-l.came:
		return true
	default:
		return false
	}
}

// errOver ends a process that has told its result.
var errOver = fmt.Errorf("the test is over")

// line takes what a process prints up to the end of its first line.
type line struct {
	text []byte
	came chan struct{}
	over bool
}

func (l *line) Write(p []byte) (int, error) {
	if !l.over {
		l.text = append(l.text, p...)
		if p[len(p)-1] == '\n' {
			l.over = true
			close(l.came)
		}
	}
	return len(p), nil
}

// environ returns the environment of a test: the user's, without the variables of agents, those that lead git elsewhere, and those that
// lead this program elsewhere.
func environ(dir string) []string {
	gits := []string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_NOSYSTEM="}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		git := strings.HasPrefix(v, "GIT_") && !slices.ContainsFunc(gits, func(p string) bool { return strings.HasPrefix(v, p) })
		return git || strings.HasPrefix(name, "CLAUDE") || strings.HasPrefix(name, "FSMTX_LOG") || slices.Contains(caller.Variables(), name) ||
			slices.Contains([]string{"TMPDIR", "PWD", "OLDPWD", "XDG_STATE_HOME"}, name)
	})
	return append(env, "TMPDIR="+filepath.Join(dir, "tmp"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"CLAUDE_CONFIG_DIR="+filepath.Join(dir, "config"))
}

// coverage adds up what the tests of workflows have shown.
func coverage(all []*trialled, suites []*suite, cwd string) ([]covered, error) {
	var found []covered
	for _, s := range suites {
		steps := map[string]sighted{}
		for _, t := range all {
			if t.Failed {
				continue // a check that was killed has refused nothing
			}
			for _, w := range t.Seen {
				if rel, err := filepath.Rel(safefile.Resolve(s.root), safefile.Resolve(s.spec)); err != nil || t.suite.root != s.root ||
					filepath.ToSlash(rel) != w.Spec {
					continue
				}
				for place, x := range w.Steps {
					steps[place] = steps[place].plus(x)
				}
			}
		}
		data, err := locator.ReadSpec(locator.OS{}, s.spec, fsmspec.MaxBytes)
		if err != nil {
			return nil, err
		}
		spec, err := fsmspec.ParseOf(filepath.Base(s.skill), data)
		if err != nil {
			path := command.Relative(cwd, s.spec)
			return nil, message.WithHint(fmt.Errorf("%s is not valid", path), "fsmtx validate "+shell.Join(path))
		}
		c := cover(spec, steps)
		for _, t := range all {
			if t.suite == s {
				c.Ran++
				if t.Failed {
					c.Failed++
				}
			}
		}
		c.Skill, c.Spec, c.Tests = filepath.Base(s.skill), command.Relative(cwd, s.spec), len(s.tests)
		found = append(found, c)
	}
	slices.SortFunc(found, compare)
	return found, nil
}

// pathOf returns the path of this program, to start tests with.
func pathOf() (string, error) {
	path, err := programs.Path()
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", fmt.Errorf("starting a test: %w", err)
	}
	return path, nil
}
