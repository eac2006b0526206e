package report

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// columns is how many versions of a skill are shown side by side: the newest.
const columns = 4

func (x shown) print(s terminal.Streams, reasons bool) {
	for i, one := range x.Skills {
		if i > 0 {
			message.Fprintf(s.Out, "\n")
		}
		one.print(s)
	}
	titles := []struct{ kind, title string }{{neverRefused, "Gates that never refused"}, {wrongly, "Gates that refused wrongly"},
		{wentPast, "Steps that a person went past"}, {skipped, "Steps that are skipped most"}}
	for _, t := range titles {
		message.Fprintf(s.Out, "\n%s:", t.title)
		n := 0
		for _, f := range x.Findings {
			if f.Kind != t.kind {
				continue
			}
			if n++; n == 1 {
				message.Fprintf(s.Out, "\n")
			}
			message.Fprintf(s.Out, "  %s\n", f)
			for _, r := range f.because() {
				if reasons {
					message.Fprintf(s.Out, "    because: %s\n", r)
				}
			}
		}
		if n == 0 {
			message.Fprintf(s.Out, " none\n")
		}
	}
	if x.Forgotten > 0 {
		message.Fprintf(s.Out, "\nOlder runs are forgotten (%s): a list keeps the last ten (fsmtx hydrate --history). To keep all, set %s\n",
			terminal.Count(x.Forgotten, "change"), decisions.Variable)
	}
}

// nameOf returns what a gate is called: check, or check of approved.
func nameOf(gate string) string {
	kind, outcome, ok := strings.Cut(gate, "/")
	if !ok {
		return kind
	}
	return strings.Replace(strings.TrimPrefix(kind, "outcome "), "files", "produces", 1) + " of " + outcome
}

// String is the finding as a line.
func (f finding) String() string {
	what := fmt.Sprintf("#%s %s", f.Step, message.Quote(f.Subject))
	if f.Gate != "" {
		what = nameOf(f.Gate) + " of " + what
	}
	text := message.Words(f.Skill) + ": " + what + ": "
	switch f.Kind {
	case neverRefused:
		text += "judged in " + terminal.Count(f.Runs, "run") + ", and never refused"
	case wrongly:
		text += timesOf(f.Times, f.Of) + " wrong"
		var how []string
		if f.Marked > 0 {
			how = append(how, fmt.Sprintf("%d by a person's word", f.Marked))
		}
		if same := f.Times - f.Marked; same > 0 {
			how = append(how, fmt.Sprintf("%d passed on the next try on the same content", same))
		}
		text += " (" + strings.Join(how, ", ") + ")"
	default:
		text += fmt.Sprintf("%s in %s", terminal.Count(f.Times, "time"), terminal.Count(f.Runs, "run")) + inBrackets("", f.after...)
	}
	if f.Few {
		text += " (too few to tell)"
	}
	if f.newer != "" {
		text += fmt.Sprintf("; that is up to version %s: none yet in %s", short(f.Version, f.newer), short(f.newer, f.Version))
	}
	return text
}

// because returns the reasons of what the finding counts: those of skips belong to the steps that are skipped most.
func (f finding) because() (all []string) {
	how := map[string]state.Decision{wentPast: state.CallsIt, skipped: state.Skip}[f.Kind]
	for _, r := range f.reasons {
		if r.how != how {
			continue
		}
		text := message.Words(r.why)
		if r.n > 1 {
			text += fmt.Sprintf(" (%s)", terminal.Count(r.n, "time"))
		}
		all = append(all, text)
	}
	return all
}

func timesOf(n, of int) string {
	if of == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %s", n, terminal.Count(of, "refusal"))
}

// print prints the versions of a skill side by side.
func (k shownSkill) print(s terminal.Streams) {
	all := k.Versions
	left := max(0, len(all)-columns)
	all = all[left:]
	here, _ := os.Getwd()
	message.Fprintf(s.Out, "%s  %s\n", k.Skill, command.Relative(here, all[len(all)-1].Spec))
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	row := func(title string, cell func(shownVersion) string) {
		cells, any := []string{}, false
		for _, v := range all {
			c := cell(v)
			any = any || c != "" && c != "0"
			cells = append(cells, c)
		}
		if !any {
			return
		}
		message.Fprintf(w, "%s", title)
		for _, c := range cells {
			message.Fprintf(w, "\t%s", c)
		}
		message.Fprintf(w, "\n")
	}
	row("  version", func(v shownVersion) string { return v.name(k.Versions) })
	row("  first used", func(v shownVersion) string { return v.First.Local().Format(time.DateOnly) })
	row("  runs", func(v shownVersion) string { return number(v.Begun) + v.few() })
	row("  ended", func(v shownVersion) string { return number(v.Ended) + v.share() })
	row("  refusals in a run", shownVersion.refusals)
	row("  ended by a person", func(v shownVersion) string { return number(v.EndedByPerson) })
	row("  left open", func(v shownVersion) string { return number(v.Open) })
	row("  replaced", func(v shownVersion) string { return number(v.Replaced) })
	row("  undone", func(v shownVersion) string { return number(v.Undone) })
	row("  not enforced", func(v shownVersion) string {
		if v.Unenforced == 0 {
			return ""
		}
		return terminal.Count(v.Unenforced, "decision")
	})
	row("  median time", func(v shownVersion) string { return lasted(v.Median) })
	for _, place := range places(all) {
		printStep(row, all, place)
	}
	_ = w.Flush()
	if left > 0 {
		message.Fprintf(s.Out, "  (%s: --json has them)\n", terminal.Count(left, "older version"))
	}
}

// places returns the steps of the versions.
func places(all []shownVersion) (places []string) {
	for _, v := range all {
		for _, s := range v.Steps {
			if !slices.Contains(places, s.Step) {
				places = append(places, s.Step)
			}
		}
	}
	slices.SortFunc(places, inOrder)
	return places
}

func printStep(row func(string, func(shownVersion) string), all []shownVersion, place string) {
	var subject string
	gates, pasts := map[string]bool{}, map[string]bool{}
	for _, v := range all {
		if s, ok := v.step(place); ok {
			subject = s.Subject
			for _, g := range s.Gates {
				gates[g.Gate] = true
			}
			for how := range s.Past {
				pasts[how] = true
			}
		}
	}
	cell := func(of func(shownStep) string) func(shownVersion) string {
		return func(v shownVersion) string {
			s, ok := v.step(place)
			if !ok {
				return ""
			}
			return of(s)
		}
	}
	title := fmt.Sprintf("  #%s %s", place, cmp.Or(message.Clip(message.Words(subject), 40), "(nothing was decided about it)"))
	row(title, cell(func(s shownStep) string { return fmt.Sprintf("%d done", s.Done) }))
	row("    refused: order", cell(func(s shownStep) string { return number(s.Order) }))
	row("    refused: other rules", cell(func(s shownStep) string { return number(s.Other) }))
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		row("    refused: "+nameOf(name), cell(func(s shownStep) string { return s.refusals(name) }))
		row("    could not run: "+nameOf(name), cell(func(s shownStep) string { return number(s.gate(name).Broken) }))
	}
	row("    sent back", cell(func(s shownStep) string { return number(s.Back) }))
	row("    rounds at most", cell(func(s shownStep) string {
		if s.Rounds < 2 {
			return ""
		}
		return number(s.Rounds)
	}))
	row("    asked", cell(shownStep.answers))
	for _, how := range slices.Sorted(maps.Keys(pasts)) {
		did := "gone past"
		if how != string(state.Skip) && how != string(state.CallsIt) {
			did = "by a person"
		}
		row("    "+did+": "+how, cell(func(s shownStep) string { return number(s.Past[how]) }))
	}
	row("    wrongly refused, by a person's word", cell(func(s shownStep) string { return number(s.Wrong) }))
	row("    not needed", cell(func(s shownStep) string { return number(s.Without) }))
	row("    gone", cell(func(s shownStep) string { return number(s.Gone) }))
	row("    late", cell(func(s shownStep) string { return number(s.Late) }))
	row("    median time", cell(func(s shownStep) string { return lasted(s.Median) }))
}

func (v shownVersion) step(place string) (s shownStep, ok bool) {
	i := slices.IndexFunc(v.Steps, func(s shownStep) bool { return s.Step == place })
	if i < 0 {
		return s, false
	}
	return v.Steps[i], true
}

// short returns the beginning of a digest by which it is told from others.
func short(digest string, others ...string) string {
	n := 8
	for ; n < len(digest); n++ {
		if !slices.ContainsFunc(others, func(o string) bool { return o != digest && strings.HasPrefix(o, digest[:n]) }) {
			break
		}
	}
	return cmp.Or(digest[:min(len(digest), n)], "unknown")
}

func (v shownVersion) name(all []shownVersion) string {
	var others []string
	for _, o := range all {
		others = append(others, o.Digest)
	}
	name := short(v.Digest, others...)
	if v.Observing {
		name += ", observing"
	}
	return name
}

// share returns how many of the runs ended, where there are enough to tell.
func (v shownVersion) share() string {
	if v.Begun < few {
		return ""
	}
	return fmt.Sprintf(" (%d %%)", min(100, 100*v.Ended/v.Begun))
}

// refusals returns how often gates and the order refused in a run, where there are enough to tell.
func (v shownVersion) refusals() string {
	n := 0
	for _, s := range v.Steps {
		n += s.Order + s.Other
		for _, g := range s.Gates {
			n += g.Refused
		}
	}
	if v.Begun < few {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(n)/float64(v.Begun))
}

func (v shownVersion) few() string {
	if v.Begun < few {
		return " (too few to tell)"
	}
	return ""
}

func (s shownStep) gate(name string) shownGate {
	i := slices.IndexFunc(s.Gates, func(g shownGate) bool { return g.Gate == name })
	if i < 0 {
		return shownGate{}
	}
	return s.Gates[i]
}

// refusals says how often a gate refused, and what came after it.
func (s shownStep) refusals(name string) string {
	g, text := s.gate(name), s.judged(name)
	if g.Unreached > 0 {
		text = strings.TrimPrefix(text+fmt.Sprintf(", not reached: %d", g.Unreached), ", ")
	}
	return text
}

func (s shownStep) judged(name string) string {
	g := s.gate(name)
	if g.Refused == 0 && (g.Passed == 0 || name == "approval") { // which asks
		return ""
	}
	if g.Refused == 0 {
		return fmt.Sprintf("never in %s", terminal.Count(g.Runs, "run"))
	}
	return number(g.Refused) + inBrackets("then passed: ",
		part{g.Changed, "after a change"}, part{g.Same, "unchanged"}, part{g.Unknown, "not known"})
}

func (s shownStep) answers() string {
	if s.Asked+s.Yes+s.No+s.Chosen == 0 {
		return ""
	}
	return number(s.Asked) + inBrackets("", part{s.Yes, "yes"}, part{s.No, "no"}, part{s.Chosen, "chosen"})
}

// part is a part of a number, and what it is.
type part struct {
	n    int
	text string
}

// inBrackets returns the parts that are not zero, behind the title, in brackets after a blank. It is empty if all are zero.
func inBrackets(title string, all ...part) string {
	var texts []string
	for _, p := range all {
		if p.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", p.n, p.text))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " (" + title + strings.Join(texts, ", ") + ")"
}

func number(n int) string { return fmt.Sprint(n) }

// lasted returns a time for people; empty if there is none.
func lasted(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case seconds == 0:
		return ""
	case d < time.Second:
		return "under 1 s"
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	default:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	}
}
