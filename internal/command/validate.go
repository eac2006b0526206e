package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

const validateLong = `Validate checks fsm.json files as a hydration would, and prints every problem as

  path:line:column: error: what is wrong
  path:line:column: warning: what is allowed but probably a mistake

A hydration refuses a file with errors, but not one with warnings only.
The path "-" is standard input.

The exit code is 0 if there are no errors, 1 if there are, and 2 if a file could not
be read or the command line is wrong.`

func newValidate(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "validate PATH… | -",
		Short:   "Check fsm.json files",
		Long:    validateLong,
		Example: example("fsmtx validate skills/*/fsm.json", "jq . draft.json | fsmtx validate -"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &exit{exitUnread, errors.New("no file to validate"), `name fsm.json files, or "-" for standard input`}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, paths []string) error {
			code := exitOK
			for _, path := range paths {
				code = max(code, validate(s, path))
			}
			if code != exitOK {
				return &exit{code: code}
			}
			return nil
		},
	}
}

// exitUnread is the exit code of validate for a file that could not be read and for a
// wrong command line.
const exitUnread = 2

func refuseToValidate(_ terminal.Streams, err error) error {
	return &exit{exitUnread, err, "run fsmtx validate --help"}
}

// validate prints the problems of one file and returns its exit code.
func validate(s terminal.Streams, path string) int {
	data, err := readSpec(s, path)
	if err != nil {
		s.Errorf("%v", err)
		return exitUnread
	}
	spec, err := fsmspec.Parse(data)
	if invalid, ok := errors.AsType[*fsmspec.InvalidError](err); ok {
		printProblems(s, path, inOrder(invalid.Problems, invalid.Warnings))
		return exitNo
	}
	if err != nil {
		s.Errorf("%s: %v", path, err)
		return exitUnread
	}
	printProblems(s, path, spec.Warnings())
	return exitOK
}

func readSpec(s terminal.Streams, path string) ([]byte, error) {
	// One byte more than allowed: Parse reports the size and does not look at the bytes.
	const most = fsmspec.MaxBytes + 1
	if path != "-" {
		data, err := locator.ReadSpec(locator.OS{}, path, fsmspec.MaxBytes)
		if errors.Is(err, locator.ErrTooLarge) {
			return make([]byte, most), nil
		}
		return data, err
	}
	if s.InputIsTerminal() {
		return nil, errors.New("standard input is a terminal; pipe an fsm.json into it")
	}
	data, err := io.ReadAll(io.LimitReader(s.In, most))
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return data, nil
}

// inOrder merges errors and warnings in the order of the file.
func inOrder(lists ...[]fsmspec.Problem) []fsmspec.Problem {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b fsmspec.Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	return all
}

func printProblems(s terminal.Streams, path string, problems []fsmspec.Problem) {
	colour := s.Colour(s.Out)
	for _, p := range problems {
		kind, code := "error", "31"
		if p.Warning {
			kind, code = "warning", "33"
		}
		if colour {
			kind = "\x1b[" + code + "m" + kind + "\x1b[0m"
		}
		fmt.Fprintf(s.Out, "%s:%d:%d: %s: %s\n", terminal.Visible(path), p.Line, p.Column, kind, p.Message)
	}
}
