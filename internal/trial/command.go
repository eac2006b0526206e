package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/orphans"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/statefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/write"
)

const long = `Test runs the tests of workflows, without a model. They are txtar files beside the skill,
tests/NAME.txtar in its folder, in the format of Go's testscript. The commands are those of
fsmtx, run as the agent runs them, and a person's answers are said:

  # nothing is published before the tests pass
  begin release
  complete 1
  ! complete 2                  # the check refuses
  stderr 'make test'
  exec make fix
  complete 2
  person yes                    # the answer to the next question
  complete 3
  ended

Each test runs in a copy of the project: its files as they are, without those that git ignores. The
files of the archive are laid over it, with paths from its root. The test begins where a session finds the skill: in the
directory that has its .claude, also below the root. The copy is a repository of its own, with the commits and no
remote. An entry "-- empty --" without content begins with no files but the skills. The list, the
configuration and the temporary directory are the test's; checks have your HOME and PATH. Nothing
stays: what a test has started is ended with it.

  begin, next, start, complete, finish, continue, step, undo, status, log
                    as fsmtx has them, in the agent's shell; a skill of a plugin has its plain name
  ! COMMAND         holds only if the step was refused, and that is on record: a check that cannot
                    run, or does not end, has refused nothing, and one that leads back is no refusal
  person yes        the answer to the next question: yes, no, or the outcome that the person chooses
  person step skip 2 --because TEXT
                    a command of "fsmtx step" in a terminal of the person
  tool NAME INPUT   the agent calls a tool, which is not run: tool Bash 'git push', tool Write a.go,
                    tool Skill notes
  is STEP STATE     the state of a step, in the words of "fsmtx status": is 2 blocked
  ended             no step is open
  later TIME        so much time passes for fsmtx, such as 20m or 2h ("within"); not for programs
  keep PATH         brings a path into the copy that git ignores; it counts from the root, too
  exec, stdout, stderr, cmp, exists, env, cd, cp, rm, grep, chmod, skip, stop …
                    as in testscript; $WORK is the root of the copy

PATH is a test, the folder of a skill, a directory with several below, or the name of a skill; without
it every workflow of the repository is meant. Afterwards test prints for each workflow which gates
were seen refusing and passing, and which outcomes, branches and loops were gone through. A test that
fails is shown as it ran, with its line.

--write writes a first test for each workflow that has none: it goes up to the first check.

--json, or --format json, prints an object with tests (file, skill, result: passed, failed or
skipped; line, message, log, seconds), workflows (skill, spec, tests, gates, outcomes, branches) and
summary. The members are described by "fsmtx schema --test".

The exit code is 0 if all tests pass or there is none, 1 if one fails, or with --strict if a gate was
never seen refusing or passing, 2 for a wrong command line, and 128 plus the number of a signal that
has ended it: what came of the tests before that is printed.`

// jobFlag is the flag of the process that runs one test.
const jobFlag = "job"

// flags are those of the command.
type flags struct {
	strict, json, verbose, write bool
	run                          string
	limit                        time.Duration
	format                       *command.Choice
	job                          string
}

// NewTest returns the command test. run runs a command of this program in this process.
func NewTest(s terminal.Streams, run Runner) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "test [PATH…]",
		Short: "Try workflows without a model: run their tests, and count which gates were seen refusing",
		Long:  long,
		Example: command.Example(
			"fsmtx test                                   # every workflow of the repository that has tests",
			"fsmtx test .claude/skills/release -v         # one skill, with the sessions",
			"fsmtx test --write                           # a first test for those that have none",
			"fsmtx test --strict --format github          # in continuous integration"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.job != "" {
				return playJob(s, f.job, run)
			}
			switch {
			case f.json && c.Flags().Changed("format") && f.format.Value != "json":
				return command.Fail(command.ExitUsage, fmt.Errorf("--json and --format %s exclude each other", f.format.Value), "")
			case f.json:
				f.format.Value = "json"
			case f.limit <= 0:
				return command.Fail(command.ExitUsage, fmt.Errorf("--limit: got %v, want a time such as 30s or 10m", f.limit), "")
			}
			return f.test(c.Context(), s, args)
		},
		ValidArgsFunction: command.CompleteSkills(s),
	}
	c.Flags().BoolVar(&f.strict, "strict", false, "fail if a gate was never seen refusing, or never passing")
	c.Flags().StringVar(&f.run, "run", "", "run only the tests whose paths match this regular `EXPRESSION`")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show the sessions of tests that pass, too")
	c.Flags().DurationVar(&f.limit, "limit", 10*time.Minute, "the time limit of each test")
	c.Flags().BoolVar(&f.write, "write", false, "write a first test for each workflow that has none")
	f.format = command.Choose(c, "format", "how results are printed", "text", "github", "json")
	c.Flags().BoolVar(&f.json, "json", false, "short for --format json")
	c.Flags().StringVar(&f.job, jobFlag, "", "run the test that this `JSON` describes")
	_ = c.Flags().MarkHidden(jobFlag)
	return c
}

// Spelled returns arguments of this program in which the flag of the tests to run is spelled as elsewhere: go test has -run.
func Spelled(args []string) []string {
	if len(args) == 0 || args[0] != "test" {
		return args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "-run" || strings.HasPrefix(arg, "-run=") {
			args[i] = "-" + arg
		}
	}
	return args
}

// playJob runs one test, and waits for its end: the process that has started this one ends it, with all that the test has started.
func playJob(s terminal.Streams, text string, run Runner) error {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	go endWith(j.Parent, j.Dir)
	line, err := play(j, run).encode()
	if err != nil {
		return err
	}
	if _, err := s.Out.Write(line); err != nil {
		return err
	}
	<-ended
	os.Exit(command.ExitOK) // a command of the test may wait for the signal, too
	return nil
}

// find returns the tests of what the arguments name.
func find(ctx context.Context, s terminal.Streams, args []string) (all []*suite, chosen []*trialled, err error) {
	whole := len(args) == 0
	if whole {
		here, err := os.Getwd()
		if err != nil {
			return nil, nil, err
		}
		if r, err := git.Open(ctx, here); err == nil {
			here = r.Dir
		}
		args = []string{here}
	}
	for _, arg := range args {
		var tests []string // of the skill that are meant; nil is all
		if strings.HasSuffix(arg, ".txtar") {
			path, err := testAt(s, arg)
			if err != nil {
				return nil, nil, err
			}
			tests, arg = []string{path}, filepath.Dir(filepath.Dir(path))
		} else if abs, err := filepath.Abs(arg); err == nil && filepath.Base(abs) == folder && command.Exists(filepath.Dir(abs), write.SpecName) {
			arg = filepath.Dir(abs)
		}
		specs, err := write.SpecsOf(s, []string{arg})
		if err != nil {
			return nil, nil, err
		}
		for _, spec := range specs {
			if err := isSpec(spec); err != nil {
				return nil, nil, err
			}
			one, err := suiteOf(ctx, spec)
			if err != nil {
				return nil, nil, err
			}
			if tests != nil {
				one.tests = tests
			}
			all = append(all, &one)
		}
	}
	for _, one := range all {
		for _, file := range one.tests {
			if !slices.ContainsFunc(chosen, func(t *trialled) bool { return t.file == file }) {
				chosen = append(chosen, &trialled{suite: one, file: file})
			}
		}
	}
	return all, chosen, nil
}

// isSpec returns an error unless an argument that is a path has led to the file of a workflow.
func isSpec(path string) error {
	if _, err := os.Stat(path); err != nil {
		return command.Unusable(path, err)
	}
	if filepath.Base(path) != write.SpecName {
		return command.Fail(command.ExitUsage, fmt.Errorf("got %s, want a test (NAME.txtar), the folder of a skill, or its name", path), "")
	}
	return nil
}

// testAt returns the absolute path of a test. It may also be named by its skill: release/tests/a.txtar.
func testAt(s terminal.Streams, arg string) (path string, err error) {
	if path, err = filepath.Abs(arg); err == nil {
		_, err = os.Stat(path)
	}
	skill, name := filepath.Split(filepath.ToSlash(arg))
	if skill, ok := strings.CutSuffix(skill, "/"+folder+"/"); ok && errors.Is(err, fs.ErrNotExist) {
		if specs, noSkill := write.SpecsOf(s, []string{skill}); noSkill == nil && len(specs) == 1 {
			if path, err = filepath.Abs(filepath.Join(filepath.Dir(specs[0]), folder, name)); err == nil {
				_, err = os.Stat(path)
			}
		}
	}
	if err != nil {
		return "", command.Unusable(arg, err)
	}
	return path, nil
}

func (f flags) test(ctx context.Context, s terminal.Streams, args []string) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	pattern, err := regexp.Compile(f.run)
	if err != nil {
		return command.Fail(command.ExitUsage, fmt.Errorf("--run: %w", err), "")
	}
	suites, all, err := find(ctx, s, args)
	if err != nil {
		return err
	}
	if f.write {
		return writeFirst(s, cwd, suites)
	}
	all = slices.DeleteFunc(all, func(t *trialled) bool { return !pattern.MatchString(command.Relative(cwd, t.file)) })
	if len(all) == 0 && (f.run != "" || f.strict) {
		return none(cwd, suites, f.run)
	}
	if len(all) == 0 {
		err, _ := errors.AsType[*command.Exit](none(cwd, suites, ""))
		s.Errorf("%v", err.Err)
		s.Hintf("%s", err.Hint)
		if f.format.Value == "json" {
			found, err := coverage(nil, suites, cwd)
			return errors.Join(err, command.PrintJSON(s.Out, outcome{cwd: cwd, workflows: found}.shown()))
		}
		return nil
	}
	t := tries{limit: f.limit}
	if t.program, err = pathOf(); err != nil {
		return err
	}
	removeLeft()
	if t.dir, err = os.MkdirTemp("", tempName); err != nil {
		return message.WithHint(err, "set TMPDIR to a directory in which you may create files")
	}
	release, err := statefile.Hold(filepath.Join(t.dir, lockName), 0)
	if err != nil {
		return errors.Join(err, removeAll(t.dir))
	}
	s.SurviveBrokenPipe() // nothing stays
	inner, stop := signals.Context(ctx, removing)
	defer stop()
	err = t.run(inner, all)
	release() // an open file keeps its directory from being removed on Windows
	err = errors.Join(err, removeAll(t.dir))
	o := outcome{cwd: cwd, tests: all, strict: f.strict, verbose: f.verbose, narrowed: f.run != ""}
	if inner.Err() != nil { // what is not known yet is not said to be missing
		o.tests = slices.DeleteFunc(all, func(t *trialled) bool { return !t.ended })
		return errors.Join(err, o.printAs(s, f.format.Value))
	}
	if err != nil {
		return err
	}
	if o.workflows, err = coverage(all, suites, cwd); err != nil {
		return err
	}
	if err := o.printAs(s, f.format.Value); err != nil {
		return err
	}
	sum := o.summary()
	switch missing := sum.Gates - sum.Seen; {
	case sum.Failed > 0:
		return &command.Exit{Code: command.ExitNo}
	case f.strict && missing > 0:
		return command.Fail(command.ExitNo,
			fmt.Errorf("--strict: no test has seen %s both refusing and passing", terminal.Count(missing, "gate")), "")
	}
	return nil
}

// removing is how long the removal of the copies may take after a signal: a project may have gigabytes, and a test has its own time to end.
const removing = time.Minute

// The directories of runs of this command, and the file in each that its run locks.
const (
	tempName = "fsmtx-test-"
	lockName = "lock"
)

// removeLeft removes what runs that were killed have left: nobody holds their locks.
func removeLeft() {
	all, _ := filepath.Glob(filepath.Join(escaped(os.TempDir()), tempName+"*"))
	for _, dir := range all {
		lock := filepath.Join(dir, lockName)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !command.Exists(dir, lockName) {
			continue
		}
		if release, err := statefile.Hold(lock, 0); err == nil {
			release()
			_ = removeAll(dir)
		}
	}
}

// endWith ends this process, with all that it has started, soon after the one that has started it has ended: that was killed.
func endWith(parent int, dir string) {
	for range time.Tick(orphanTick) {
		if os.Getppid() != parent {
			orphans.EndAll()
			_ = removeAll(dir)
			os.Exit(command.ExitNo)
		}
	}
}

// orphanTick is how often a test looks whether the command still runs.
const orphanTick = 100 * time.Millisecond

// printAs prints what came of the tests in a format.
func (o outcome) printAs(s terminal.Streams, format string) error {
	switch format {
	case "json":
		return command.PrintJSON(s.Out, o.shown())
	case "github":
		o.printForGitHub(s)
	default:
		o.print(s)
	}
	return nil
}

// none says that there is nothing to run.
func none(cwd string, suites []*suite, pattern string) error {
	if pattern != "" {
		return command.Fail(command.ExitNo, fmt.Errorf("no test matches %s", pattern), "")
	}
	names := []string{}
	for _, s := range suites {
		names = append(names, command.Relative(cwd, s.skill))
	}
	return command.Fail(command.ExitNo, fmt.Errorf("no tests: %s has no %s/NAME.txtar", message.Sentence(names), folder),
		"fsmtx test --write "+shell.Join(names...)+" writes a first one")
}
