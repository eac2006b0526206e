package write

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/testdata/workflows"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// examples is the template of a few steps to replace.
const examples = "examples"

// templates returns the names of the complete workflows that new --template writes.
func templates() (names []string) {
	entries, _ := workflows.FS.ReadDir(".") // it is part of the program
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// isComplete reports whether a complete workflow is asked for.
func (f newFlags) isComplete() bool { return f.template != "" && f.template != examples }

// templateArgs takes the name of a template out of the arguments of new: a flag whose value
// may be left out does not take the next word.
func (f *newFlags) templateArgs(args []string) ([]string, error) {
	known := templates()
	if f.template == examples && len(args) == 2 {
		i := slices.IndexFunc(args, func(arg string) bool { return slices.Contains(known, arg) })
		if i < 0 {
			words := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.ContainsRune(arg, filepath.Separator) })
			if len(words) == 0 {
				words = args
			}
			return nil, noTemplate(known, words...)
		}
		f.template = args[i]
		args = slices.Delete(slices.Clone(args), i, i+1)
	}
	if f.template == examples && len(args) == 1 && slices.Contains(known, args[0]) && !command.Exists(".", args[0]) {
		return nil, command.Fail(command.ExitNo, fmt.Errorf("%q is a template; name the directory of the skill too", args[0]),
			"for example: fsmtx new .claude/skills/"+args[0]+" --template "+args[0])
	}
	if f.isComplete() && !slices.Contains(known, f.template) {
		return nil, noTemplate(known, f.template)
	}
	return args, nil
}

// noTemplate is the error of words of which one should be the name of a template.
func noTemplate(known []string, words ...string) error {
	err := fmt.Errorf("unknown template %q", words[0])
	if len(words) > 1 {
		err = fmt.Errorf("neither %q nor %q is a template", words[0], words[1])
	}
	for _, near := range known {
		if slices.ContainsFunc(words, func(word string) bool { return message.Distance(word, near, 3) < 3 }) {
			return command.Fail(command.ExitNo, err, "did you mean "+near+"? fsmtx new --list shows them")
		}
	}
	return command.Fail(command.ExitNo, err, "fsmtx new --list shows them")
}

// listTemplates prints each template with its steps and what it is for.
func listTemplates(s terminal.Streams) error {
	for _, name := range templates() {
		skill, spec, err := readTemplate(name)
		if err != nil {
			return err
		}
		v, err := frontmatter.Parse(skill)
		if err != nil {
			return err
		}
		purpose, _ := v.At("description").Text()
		message.Fprintf(s.Out, "%-20s %s\n%20s   %s\n", name, terminal.Count(spec.Len(), "step"), "", purpose)
	}
	return nil
}

func readTemplate(name string) (skill []byte, spec *fsmspec.Spec, err error) {
	if skill, err = workflows.FS.ReadFile(name + "/SKILL.md"); err != nil {
		return nil, nil, err
	}
	text, err := workflows.FS.ReadFile(name + "/" + SpecName)
	if err != nil {
		return nil, nil, err
	}
	spec, err = fsmspec.Parse(text)
	return skill, spec, err
}

// writeTemplate writes a complete workflow into the directory of a skill, and the SKILL.md by
// which the client finds it unless there is one.
func (f newFlags) writeTemplate(s terminal.Streams, dir, path string) error {
	text, err := workflows.FS.ReadFile(f.template + "/" + SpecName)
	if err != nil {
		return err
	}
	skill, err := workflows.FS.ReadFile(f.template + "/SKILL.md")
	if err != nil {
		return err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	name := filepath.Base(abs)
	skill = bytes.Replace(skill, []byte("name: "+f.template+"\n"), []byte("name: "+name+"\n"), 1)
	if err := writeNew(path, text); err != nil {
		return err
	}
	if err := writeNew(filepath.Join(dir, "SKILL.md"), skill); err != nil && !errors.Is(err, fs.ErrExist) {
		return errors.Join(err, os.Remove(path))
	}
	if err := writeTests(dir, f.template, name); err != nil {
		return err
	}
	v := validate(s, path)
	if v.err != nil {
		return v.err
	}
	if f.json {
		return command.PrintJSON(s.Out, newReport(path, "the template "+f.template, outlineOf(v.spec)))
	}
	message.Fprintf(s.Out, "%s: %s from the template %s\n", path, terminal.Count(v.spec.Len(), "step"), f.template)
	s.Hintf("fsmtx graph %s draws it; %s", shell.Join(dir), f.howToBegin(s, abs, name))
	return nil
}

// howToBegin says how to work by the workflow in a directory: the client runs it only if it finds the skill there, and
// has the hooks.
func (f newFlags) howToBegin(s terminal.Streams, dir, name string) string {
	l, cwd, err := command.FinderHere(s)
	if err != nil {
		return fmt.Sprintf("fsmtx begin %s begins it", shell.Join(dir))
	}
	found, _ := l.Locate(name, cwd)
	registered, err := install.Registered(s, cwd)
	switch {
	case !safefile.Same(filepath.Dir(found.Path), dir) || agent.Other(s.Who().Program) != nil:
		return fmt.Sprintf("fsmtx begin %s begins it", shell.Join(command.Relative(cwd, dir)))
	case err == nil && !registered:
		return fmt.Sprintf("fsmtx install registers the hooks; then type /%s in the client to work by it", name)
	}
	return fmt.Sprintf("type /%s in the client to work by it", name)
}

// outlineOf returns the steps of a workflow as those that were found in a text.
func outlineOf(spec *fsmspec.Spec) (o outline.Outline) {
	for _, t := range spec.Tasks() {
		o.Steps = append(o.Steps, outline.Step{ID: t.ID, Subject: t.Subject})
	}
	return o
}
