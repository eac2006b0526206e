package write

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const schemaLong = `Schema prints the format of fsm.json as a JSON Schema (draft 2020-12), with a
description of every field, for editors and other validators.

An fsm.json cannot name its schema, because it is an array and "$schema" is a field of an
object. Editors need a setting instead. --vscode prints that of Visual Studio Code, for
.vscode/settings.json.

A schema cannot express everything: only fsmtx validate finds duplicate ids and references
to tasks that the file does not have.

--log prints instead the schema of a line of the log of decisions, which --log FILE of the
hooks writes and "fsmtx log --decisions --json" prints. Its member "v" is the version of the
schema. --report and --test print those of what these commands print with --json.`

// vscodeSettings refers to the schema by a path in the workspace, which works offline
// and for everyone who shares the repository.
const vscodeSettings = `{
  "json.schemas": [
    {
      "fileMatch": ["fsm.json"],
      "url": "./.vscode/fsm.schema.json"
    }
  ]
}
`

// NewSchema returns the command schema. others are the schemas of what commands print with --json, by the name of the command.
func NewSchema(s terminal.Streams, others map[string][]byte) *cobra.Command {
	var vscode, log bool
	chosen := map[string]*bool{}
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of fsm.json",
		Long:  schemaLong,
		Example: command.Example(
			"fsmtx schema > .vscode/fsm.schema.json",
			"fsmtx schema --log        # of the lines of --log FILE",
			"fsmtx schema --vscode     # what to add to .vscode/settings.json"),
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			text := fsmspec.Schema()
			switch {
			case vscode:
				text = []byte(vscodeSettings)
			case log:
				text = decisions.Schema()
			}
			for name, is := range chosen {
				if *is {
					text = others[name]
				}
			}
			if _, err := s.Out.Write(text); err != nil {
				return err
			}
			if vscode {
				s.Hintf("add this to .vscode/settings.json, and run: fsmtx schema > .vscode/fsm.schema.json")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&vscode, "vscode", false, "print the settings for Visual Studio Code instead")
	c.Flags().BoolVar(&log, "log", false, "print the schema of a line of the log of decisions instead")
	all := []string{"vscode", "log"}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		chosen[name] = c.Flags().Bool(name, false, "print the schema of what fsmtx "+name+" --json prints instead")
		all = append(all, name)
	}
	c.MarkFlagsMutuallyExclusive(all...)
	return c
}
