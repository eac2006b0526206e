package write

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

func listWorkflows(s terminal.Streams, l hydrate.Finder, cwd string, asJSON bool) error {
	found, complete := l.Workflows(cwd)
	listed := []install.Workflow{}
	var others map[string][]string
	if all, ok := l.(hydrate.Everywhere); ok {
		others = all.Others(cwd)
	}
	for _, w := range found {
		read := install.ReadWorkflow(locator.OS{}, w)
		agents, elsewhere := others[w.Path]
		if hydrate.ClaudeOf(l) == nil || elsewhere {
			read.Only = "" // that is Claude Code's
		}
		read.Agents = append([]string{}, agents...)
		listed = append(listed, read)
	}
	if asJSON {
		return command.PrintJSON(s.Out, struct {
			Complete  bool               `json:"complete"`
			Workflows []install.Workflow `json:"workflows"`
		}{complete, listed})
	}
	if len(listed) == 0 {
		message.Fprintf(s.Out, "no workflow is visible from %s\n", cwd)
	}
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, w := range listed {
		message.Fprintf(table, "%s\t%s\t%s%s\n", namesOf(w), w.State(), w.Path, unusedNote(w))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, m := range misnamed(s) {
		message.Fprintf(s.Out, "%s %s\n", m.Path, m.Why())
	}
	for _, d := range install.DeepBelow(cwd) {
		s.Hintf("%s: %s: %s", d.Path, d.Why, d.Remedy)
	}
	if !complete {
		s.Hintf("not all directories were searched; fsmtx locate NAME searches for one skill")
	}
	return nil
}

func namesOf(w install.Workflow) string {
	if len(w.Others) == 0 {
		return w.Command
	}
	return fmt.Sprintf("%s (%s)", w.Command, strings.Join(w.Others, ", "))
}

// unusedNote returns what follows a path: why the client does not run the workflow, or who alone
// can run it. It is "" if neither is the case.
func unusedNote(w install.Workflow) string {
	if why := cmp.Or(w.Reason(), w.Only.Note()); why != "" {
		return "  (" + why + ")"
	}
	if len(w.Agents) > 0 {
		return "  (" + strings.Join(w.Agents, ", ") + "; Claude Code does not find it)"
	}
	return ""
}
