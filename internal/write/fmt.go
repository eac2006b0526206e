package write

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const fmtLong = `Fmt prints fsm.json files in their canonical form: indented by two spaces, the fields of
every task in the same order, lists of ids on one line, ids as plain numbers, strings in
their shortest spelling, and invisible characters as \u escapes. Optional fields that are
null are left out, which means the same. Fmt never changes what the workflow means.

PATH has the same meaning as for fsmtx validate. Without PATH, or with "-", fmt formats
standard input. Files with errors are refused, and so are files with comments, which JSON
does not allow.

Instead of the text, --json prints an array of objects with path and changed (whether the
file differs from its canonical form).

The exit code is 0, or 1 if a file could not be formatted or, with -d or --json, differs.`

type fmtFlags struct {
	write, diff, json bool
}

func NewFmt(s terminal.Streams) *cobra.Command {
	var f fmtFlags
	c := &cobra.Command{
		Use:   "fmt [PATH…]",
		Short: "Write fsm.json files in their canonical form",
		Long:  fmtLong,
		Example: command.Example(
			"fsmtx fmt -w .claude/skills/*/fsm.json",
			"fsmtx fmt -d .claude/skills   # show what would change",
			"fsmtx fmt < draft.json"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"-"}
			}
			paths, err := SpecsOf(s, args)
			if err != nil {
				return err
			}
			return f.run(s, paths)
		},
	}
	c.Flags().BoolVarP(&f.write, "write", "w", false, "write the files instead of printing them")
	c.Flags().BoolVarP(&f.diff, "diff", "d", false, "print the differences instead, and exit with 1 if there are any")
	c.Flags().BoolVar(&f.json, "json", false, "print which files differ, as JSON")
	c.MarkFlagsMutuallyExclusive("write", "diff", "json")
	return c
}

// formattedFile is a file and its canonical form.
type formattedFile struct {
	Path     string `json:"path"`
	Changed  bool   `json:"changed"`
	old, new []byte
}

func (f fmtFlags) run(s terminal.Streams, paths []string) error {
	failed, differs := false, false
	list := []formattedFile{}
	for _, path := range paths {
		file, err := formatted(s, path)
		if err == nil {
			err = f.put(s, file)
		}
		if err != nil {
			failed = true
			reportUnformatted(s, path, err)
			continue
		}
		differs = differs || file.Changed
		list = append(list, file)
	}
	if f.json {
		if err := command.PrintJSON(s.Out, list); err != nil {
			return err
		}
	}
	if failed || differs && (f.diff || f.json) {
		return &command.Exit{Code: command.ExitNo}
	}
	return nil
}

func formatted(s terminal.Streams, path string) (file formattedFile, err error) {
	file.Path = path
	if file.old, err = readSpec(s, path); err != nil {
		return file, err
	}
	file.new, err = Format(file.old)
	file.Changed = !bytes.Equal(file.old, file.new)
	return file, err
}

// put prints or writes a formatted file, as the flags demand.
func (f fmtFlags) put(s terminal.Streams, file formattedFile) error {
	switch {
	case f.json:
		return nil
	case f.diff:
		return printDiff(s.Out, file.Path, file.old, "formatted", file.new)
	case f.write && file.Path != "-":
		if !file.Changed {
			return nil
		}
		if err := writeSpec(file.Path, file.old, file.new); err != nil {
			return err
		}
		_, err := message.Fprintf(s.Out, "%s\n", file.Path)
		return err
	}
	_, err := s.Out.Write(file.new)
	return err
}

// reportUnformatted reports why a file was not formatted.
func reportUnformatted(s terminal.Streams, path string, err error) {
	invalid, ok := errors.AsType[*fsmspec.InvalidError](err)
	if !ok {
		s.Errorf("%v", err)
		if advice := cmp.Or(message.Hint(err), command.Remedy(err)); advice != "" {
			s.Hintf("%s", advice)
		}
		return
	}
	s.Errorf("%s:%v", path, invalid.Problems[0])
	if len(invalid.Problems) > 1 {
		s.Hintf("fsmtx validate %s lists all %d errors", shell.Join(path), len(invalid.Problems))
	}
}
