package write

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
	"github.com/fsmtx/fsmtx/testdata/workflows"
)

// testsFolder is where the tests of a workflow are, in the folder of its skill.
const testsFolder = "tests"

// firstTest is the first of them.
const firstTest = testsFolder + "/first.txtar"

// WriteFirstTest writes a first test beside a workflow, which passes, and returns its path. Its error is fs.ErrExist if there is one.
func WriteFirstTest(spec string) (path string, err error) {
	path = filepath.Join(filepath.Dir(spec), filepath.FromSlash(firstTest))
	abs, err := filepath.Abs(spec)
	if err != nil {
		return path, err
	}
	name := filepath.Base(filepath.Dir(abs))
	data, err := locator.ReadSpec(locator.OS{}, spec, fsmspec.MaxBytes)
	if err != nil {
		return path, err
	}
	s, err := fsmspec.ParseOf(skillBeside(spec), data)
	if err != nil {
		return path, message.WithHint(fmt.Errorf("%s is not valid", spec), "fsmtx validate "+shell.Join(spec))
	}
	return path, writeNew(path, []byte(firstTestOf(name, s.Tasks())))
}

// firstTestOf returns a test that goes through a workflow up to the first step of which only its author knows when its gates hold.
func firstTestOf(name string, tasks []fsmspec.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A first test of %s. It goes on where its author knows how: see fsmtx test --help.\nbegin %s\n", name,
		shell.Join(name))
	if i := slices.IndexFunc(tasks, waitsForOther(tasks)); i >= 0 && !hasParts(tasks) {
		fmt.Fprintf(&b, "! start %d\nstderr 'must be done first'\n", tasks[i].ID)
	}
	done := map[int64]bool{}
	for len(done) < len(tasks) {
		i := slices.IndexFunc(tasks, func(t fsmspec.Task) bool {
			return !done[t.ID] && !slices.ContainsFunc(t.BlockedBy, func(id int64) bool { return !done[id] && !slices.Contains(t.Circular, id) })
		})
		if i < 0 {
			break
		}
		if t := tasks[i]; t.Status == fsmspec.Completed {
			done[t.ID] = true
		} else if next := unknownEnd(t); next != "" || hasParts(tasks) {
			fmt.Fprintf(&b, "\n# Next is #%d %s%s.\n%s", t.ID, message.Words(t.Subject), next, advice(t))
			return b.String()
		} else {
			b.WriteString(passes(t))
			done[t.ID] = true
		}
	}
	if len(done) == len(tasks) && len(tasks) > 0 {
		b.WriteString("ended\n")
	}
	return b.String()
}

// waitsForOther returns whether a step waits for one that is not completed from the beginning.
func waitsForOther(tasks []fsmspec.Task) func(fsmspec.Task) bool {
	completed := map[int64]bool{}
	for _, t := range tasks {
		completed[t.ID] = t.Status == fsmspec.Completed
	}
	return func(t fsmspec.Task) bool {
		return !completed[t.ID] &&
			slices.ContainsFunc(t.BlockedBy, func(id int64) bool { return id != t.ID && !completed[id] && !slices.Contains(t.Circular, id) })
	}
}

// hasParts reports whether the numbers in the list are not the ids of the file.
func hasParts(tasks []fsmspec.Task) bool {
	return slices.ContainsFunc(tasks, func(t fsmspec.Task) bool { return len(t.Parts) > 0 })
}

// unknownEnd returns what of a step its author has to say; empty if nothing.
func unknownEnd(t fsmspec.Task) string {
	switch {
	case t.Each != nil:
		return ", which is done for each line of something"
	case t.Skill != "":
		return ", which demands the skill " + message.Words(t.Skill)
	case t.Check != nil:
		return ", which has a check: " + message.Clip(message.Words(t.Check.Run), message.MaxSubject)
	case len(t.Outcomes) > 0:
		return ", which has outcomes"
	case len(t.Set) > 0:
		return ", which gives values"
	case len(t.When) > 0:
		return ", which is not always needed"
	case slices.ContainsFunc(slices.Concat(t.Produces, t.Ready), func(p string) bool { return strings.ContainsAny(p, "{}") }):
		return ", whose files have names with values"
	}
	return ""
}

// advice shows how the gate is tried.
func advice(t fsmspec.Task) string {
	if t.Check == nil {
		return ""
	}
	return fmt.Sprintf("# Let its check fail, see it refused, and let it pass:\n"+
		"#   exec sh -c 'echo broken > some-file'\n#   ! complete %[1]d\n#   exec rm some-file\n#   complete %[1]d\n", t.ID)
}

// passes returns the lines by which a step is seen refused, as far as it has gates, and completed.
func passes(t fsmspec.Task) string {
	var b strings.Builder
	n := strconv.FormatInt(t.ID, 10)
	fmt.Fprintf(&b, "\n# #%s %s\n", n, message.Words(t.Subject))
	for _, p := range t.Ready {
		b.WriteString(makes(p))
	}
	if len(t.Produces) > 0 {
		fmt.Fprintf(&b, "! complete %s\n", n)
		for _, p := range t.Produces {
			b.WriteString(makes(p))
		}
	}
	if t.Approval != "" {
		fmt.Fprintf(&b, "! complete %s\nperson yes\n", n)
	}
	fmt.Fprintf(&b, "complete %s\n", n)
	return b.String()
}

// makes returns the line that writes a file for a pattern.
func makes(pattern string) string {
	name := strings.NewReplacer("*", "x", "?", "x").Replace(pattern)
	line := "echo by a test >> " + shell.Join(name)
	if dir := path.Dir(name); dir != "." {
		line = "mkdir -p " + shell.Join(dir) + shell.Then() + line
	}
	return "exec sh -c '" + strings.ReplaceAll(line, "'", `''`) + "'\n"
}

// writeTest writes the first test of a new workflow, unless it has one, and says so.
func writeTest(s terminal.Streams, spec string) error {
	test, err := WriteFirstTest(spec)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		message.Fprintf(s.Out, "%s: a first test; fsmtx test %s runs it\n", test, shell.Join(filepath.Dir(spec)))
	}
	return err
}

// writeTests writes the tests of a template beside the workflow of a skill. What is there stays.
func writeTests(dir, template, name string) error {
	from := template + "/" + testsFolder
	entries, err := workflows.FS.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := workflows.FS.ReadFile(from + "/" + e.Name())
		if err != nil {
			return err
		}
		text = bytes.Replace(text, []byte("\nbegin "+template+"\n"), []byte("\nbegin "+shell.Join(name)+"\n"), 1)
		if err := writeNew(filepath.Join(dir, testsFolder, e.Name()), text); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
