package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Mermaid returns the graph, with all dependencies, as a flowchart for Mermaid
// (mermaid.js.org), which GitHub renders in Markdown. A step that consists of others is a box around them.
func (g *Graph) Mermaid() string {
	brackets := map[State][2]string{Done: {"([", "])"}, InProgress: {"[[", "]]"}, Ready: {"[", "]"}, Blocked: {"(", ")"},
		NotNeeded: {"(", ")"}, Skipped: {"(", ")"}}
	text := strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", "\\", "#92;")
	class := func(s Step) string { return strings.ReplaceAll(string(s.State.look()), " ", "_") }
	groups := g.groups()
	id := func(i int) string {
		if len(groups[g.Steps[i].ID]) > 0 {
			return fmt.Sprintf("g%d", i)
		}
		return fmt.Sprintf("s%d", i)
	}
	var out strings.Builder
	fmt.Fprintln(&out, "flowchart TD")
	indent := func(depth int) string { return strings.Repeat("  ", depth+1) }
	g.eachGroup(func(i, depth int) {
		s := g.Steps[i]
		if id(i)[0] == 'g' {
			return
		}
		b := brackets[s.State.look()]
		if s.Decides == "person" {
			b = [2]string{"{{", "}}"}
		}
		fmt.Fprintf(&out, "%s%s%s\"%s %s\"%s:::%s\n", indent(depth), id(i), b[0], s.number(), text.Replace(g.label(s)), b[1], class(s))
	}, func(i, depth int) {
		s := g.Steps[i]
		fmt.Fprintf(&out, "%ssubgraph %s[\"%s %s\"]\n%sdirection TB\n", indent(depth), id(i), s.number(), text.Replace(g.label(s)),
			indent(depth+1))
	}, func(_, depth int) {
		out.WriteString(indent(depth) + "end\n")
	})
	g.eachEdgeDownwards(func(i, j int, critical bool) {
		if g.Steps[i].Parent != g.Steps[j].Parent { // a box has the arrows of what is in it
			return
		}
		arrow := "-->"
		if critical {
			arrow = "==>"
		}
		if c := g.condition(i, j); c != "" {
			arrow += "|\"" + text.Replace(c) + "\"|"
		}
		fmt.Fprintf(&out, "  %s %s %s\n", id(i), arrow, id(j))
	})
	for _, b := range g.backs() {
		fmt.Fprintf(&out, "  %s -. \"%s (%s)\" .-> %s\n", id(b.from), text.Replace(message.Line(b.outcome.Name)), b.outcome.times(), id(b.to))
	}
	g.mermaidClasses(&out)
	for i, s := range g.Steps {
		if id(i)[0] == 'g' {
			fmt.Fprintf(&out, "  class %s %s\n", id(i), class(s))
		}
	}
	return out.String()
}

// mermaidClasses writes how steps in each state look.
func (g *Graph) mermaidClasses(out *strings.Builder) {
	out.WriteString(`  classDef done fill:#d7f0dc,stroke:#2e7d4f,color:#123
  classDef in_progress fill:#fff1c9,stroke:#b07d00,color:#321
  classDef ready fill:#ffffff,stroke:#2457a6,color:#123
  classDef blocked fill:#eeeeee,stroke:#999999,color:#555,stroke-dasharray:4
`)
	if slices.ContainsFunc(g.Steps, func(s Step) bool { return s.State.look() == NotNeeded }) {
		out.WriteString("  classDef not_needed fill:#f7f7f7,stroke:#bbbbbb,color:#888,stroke-dasharray:1 3\n")
	}
	if slices.ContainsFunc(g.Steps, func(s Step) bool { return s.State.look() == Skipped }) {
		out.WriteString("  classDef skipped fill:#f0e6fa,stroke:#7a4fa3,color:#323,stroke-dasharray:5 2\n")
	}
}

// eachEdge calls f for every dependency, including those that close a cycle. The step at
// index i blocks the one at index j.
func (g *Graph) eachEdge(f func(i, j int, critical bool)) {
	index := g.indexes()
	for j, s := range g.Steps {
		for _, id := range s.BlockedBy {
			f(index[id], j, g.isCritical(index[id], j))
		}
	}
}

// eachEdgeDownwards calls f as eachEdge does, in an order in which a program that draws the steps in layers (by a depth-first
// search) meets a step before those that lead back to it: else it takes what leads back for the way down.
func (g *Graph) eachEdgeDownwards(f func(i, j int, critical bool)) {
	type edge struct {
		i, j     int
		critical bool
	}
	var all []edge
	g.eachEdge(func(i, j int, critical bool) { all = append(all, edge{i, j, critical}) })
	first := make([]int, len(g.Steps)) // 1 if a step, or one after it, is led back to
	for _, b := range g.backs() {
		first[b.to] = 1
	}
	for _, i := range slices.Backward(g.order()) {
		for _, j := range g.after[i] {
			first[i] = max(first[i], first[j])
		}
	}
	slices.SortStableFunc(all, func(a, b edge) int { return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(first[b.j], first[a.j])) })
	for _, e := range all {
		f(e.i, e.j, e.critical)
	}
}

// isCritical reports whether the dependency of the step at index j on that at index i is on
// the critical path.
func (g *Graph) isCritical(i, j int) bool {
	n := slices.Index(g.Critical, g.Steps[i].ID)
	for n >= 0 && n+1 < len(g.Critical) && slices.Contains(g.around(g.Critical[n+1]), g.Steps[j].ID) {
		n++ // the path leads through the parts of that step
	}
	return !g.isChain() && n >= 0 && n+1 < len(g.Critical) && g.Critical[n+1] == g.Steps[j].ID
}
