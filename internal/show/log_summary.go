package show

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/proof"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// summary counts the runs of one skill.
type summary struct {
	Skill      string         `json:"skill"`
	Runs       int            `json:"runs"`
	Ended      int            `json:"ended"`
	Refusals   map[string]int `json:"refusals"` // by the gate that refused
	Answers    map[string]int `json:"answers"`  // of persons, by their answer
	Overrides  []shownPast    `json:"overrides"`
	Wrong      int            `json:"wrong"`      // refusals that persons have marked as wrong
	Unenforced int            `json:"unenforced"` // times at which steps were not enforced
}

// shownPast is a word of a person that went past, allowed or took back something.
type shownPast struct {
	Kind    string `json:"kind"`
	Step    string `json:"step"`
	Because string `json:"because"`
	Wrong   bool   `json:"wrong"`
}

// printSummary prints what came of the runs in lists, or of those that statements are about.
func printSummary(ctx context.Context, s terminal.Streams, session string, everything bool, files []string, asJSON bool) error {
	runs, err := statements(files)
	if err != nil {
		return err
	}
	var dirs []string
	switch {
	case everything:
		dirs, err = tasklist.WithHistory(s.Getenv)
	case len(files) == 0 || session != "":
		var list tasklist.Found
		list, err = command.FindAnyList(ctx, s, session)
		dirs = []string{list.Dir}
	}
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		states, err := state.Runs(ctx, dir)
		if err != nil {
			return err
		}
		for _, s := range states {
			r := proof.Of(s, dir)
			runs[r.ID] = r // it may have gone on since a statement
		}
	}
	all := summarize(slices.Collect(maps.Values(runs)))
	if asJSON {
		return command.PrintJSON(s.Out, all)
	}
	if len(all) == 0 {
		return command.Fail(command.ExitNo, fmt.Errorf("no skill has put a workflow into a task list"), "")
	}
	for _, x := range all {
		x.print(s)
	}
	return nil
}

// statements returns the runs that files with statements are about, by their ids. Signatures do not matter: fsmtx verify checks them.
func statements(files []string) (map[string]proof.Run, error) {
	all := map[string]proof.Run{}
	for _, file := range files {
		data, err := safefile.ReadFile(file, proof.MaxBytes, 0)
		if err != nil {
			return nil, command.Unusable(file, err)
		}
		st, err := proof.Read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if old, ok := all[st.Predicate.ID]; !ok || old.Evidence.Lines < st.Predicate.Evidence.Lines {
			all[st.Predicate.ID] = st.Predicate
		}
	}
	return all, nil
}

// summarize counts runs, by skill.
func summarize(runs []proof.Run) []*summary {
	bySkill := map[string]*summary{}
	slices.SortFunc(runs, func(a, b proof.Run) int { return a.Began.Compare(b.Began) })
	for _, r := range runs {
		x := bySkill[r.Skill]
		if x == nil {
			x = &summary{Skill: r.Skill, Refusals: map[string]int{}, Answers: map[string]int{}, Overrides: []shownPast{}}
			bySkill[r.Skill] = x
		}
		x.add(r)
	}
	all := []*summary{}
	for _, skill := range slices.Sorted(maps.Keys(bySkill)) {
		all = append(all, bySkill[skill])
	}
	return all
}

func (x *summary) add(r proof.Run) {
	x.Runs++
	if !r.Ended.IsZero() {
		x.Ended++
	}
	x.Unenforced += len(r.Unenforced)
	for _, step := range r.Steps {
		for _, d := range step.Decisions {
			switch answer := d.Answer; {
			case answer != "":
				x.Answers[answer]++
			case d.Decision == string(state.Deny):
				x.Refusals[cmp.Or(d.Gate, "other rules")]++
			}
		}
	}
	for _, o := range r.Overrides {
		x.Overrides = append(x.Overrides, shownPast{o.Kind, o.Subject, o.Because, o.Wrong})
		if o.Wrong {
			x.Wrong++
		}
	}
}

func (x *summary) print(s terminal.Streams) {
	message.Fprintf(s.Out, "%s: %s, %d ended\n", x.Skill, terminal.Count(x.Runs, "run"), x.Ended)
	printCounts(s, "refused by", x.Refusals)
	printCounts(s, "answered by persons", x.Answers)
	for _, o := range x.Overrides {
		wrong := ""
		if o.Wrong {
			wrong = " (wrongly refused)"
		}
		message.Fprintf(s.Out, "  %s  %s%s: %s\n", o.Kind, o.Step, wrong, o.Because)
	}
	if x.Wrong > 0 {
		message.Fprintf(s.Out, "  wrong refusals, as persons marked them: %d\n", x.Wrong)
	}
	if x.Unenforced > 0 {
		message.Fprintf(s.Out, "  not enforced: %s\n", terminal.Count(x.Unenforced, "time"))
	}
}

func printCounts(s terminal.Streams, title string, counts map[string]int) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	if len(parts) > 0 {
		message.Fprintf(s.Out, "  %s: %s\n", title, strings.Join(parts, ", "))
	}
}
