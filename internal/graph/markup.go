package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Mermaid returns the graph, with all dependencies, as a flowchart for Mermaid
// (mermaid.js.org), which GitHub renders in Markdown.
func (g *Graph) Mermaid() string {
	brackets := map[State][2]string{Done: {"([", "])"}, InProgress: {"[[", "]]"}, Ready: {"[", "]"}, Blocked: {"(", ")"},
		NotNeeded: {"(", ")"}}
	text := strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", "\\", "#92;")
	var out strings.Builder
	fmt.Fprintln(&out, "flowchart TD")
	indent := func(depth int) string { return strings.Repeat("  ", depth+1) }
	g.eachGroup(func(i, depth int) {
		s := g.Steps[i]
		b := brackets[s.State]
		if s.Decides == "person" {
			b = [2]string{"{{", "}}"}
		}
		fmt.Fprintf(&out, "%ss%d%s\"%s %s\"%s:::%s\n", indent(depth), i, b[0], s.number(), text.Replace(g.label(s)), b[1],
			strings.ReplaceAll(string(s.State), " ", "_"))
	}, func(i, depth int) {
		fmt.Fprintf(&out, "%ssubgraph g%d[\"%s\"]\n", indent(depth), i, text.Replace(g.Steps[i].title()))
	}, func(_, depth int) {
		out.WriteString(indent(depth) + "end\n")
	})
	g.eachEdge(func(i, j int, critical bool) {
		arrow := "-->"
		if critical {
			arrow = "==>"
		}
		if c := g.condition(i, j); c != "" {
			arrow += "|\"" + text.Replace(c) + "\"|"
		}
		fmt.Fprintf(&out, "  s%d %s s%d\n", i, arrow, j)
	})
	for _, b := range g.backs() {
		fmt.Fprintf(&out, "  s%d -. \"%s (%s)\" .-> s%d\n", b.from, text.Replace(message.Line(b.outcome.Name)), b.outcome.times(), b.to)
	}
	out.WriteString(`  classDef done fill:#d7f0dc,stroke:#2e7d4f,color:#123
  classDef in_progress fill:#fff1c9,stroke:#b07d00,color:#321
  classDef ready fill:#ffffff,stroke:#2457a6,color:#123
  classDef blocked fill:#eeeeee,stroke:#999999,color:#555,stroke-dasharray:4
`)
	if slices.Contains(g.states(), NotNeeded) {
		out.WriteString("  classDef not_needed fill:#f7f7f7,stroke:#bbbbbb,color:#888,stroke-dasharray:1 3\n")
	}
	return out.String()
}

// Dot returns the graph, with all dependencies, for Graphviz (graphviz.org).
func (g *Graph) Dot() string {
	styles := map[State]string{
		Done:       `shape=box, style="rounded,filled", fillcolor="#d7f0dc", color="#2e7d4f"`,
		InProgress: `shape=box, peripheries=2, style=filled, fillcolor="#fff1c9", color="#b07d00"`,
		Ready:      `shape=box, color="#2457a6"`,
		Blocked:    `shape=box, style=dashed, color="#999999", fontcolor="#555555"`,
		NotNeeded:  `shape=box, style=dotted, color="#bbbbbb", fontcolor="#888888"`,
	}
	text := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var out strings.Builder
	fmt.Fprintf(&out, "digraph workflow {\n  label=\"%s\"\n  labelloc=t\n  node [fontname=\"sans-serif\"]\n",
		text.Replace(message.Line(g.Title)))
	indent := func(depth int) string { return strings.Repeat("  ", depth+1) }
	g.eachGroup(func(i, depth int) {
		s := g.Steps[i]
		style := styles[s.State]
		if s.Decides == "person" {
			style = strings.Replace(style, "shape=box", "shape=hexagon", 1)
		}
		fmt.Fprintf(&out, "%ss%d [label=\"%s %s\", %s]\n", indent(depth), i, s.number(), text.Replace(g.label(s)), style)
	}, func(i, depth int) {
		fmt.Fprintf(&out, "%ssubgraph cluster_%d {\n%slabel=\"%s\"\n%sstyle=rounded\n", indent(depth), i, indent(depth+1),
			text.Replace(g.Steps[i].title()), indent(depth+1))
	}, func(_, depth int) {
		out.WriteString(indent(depth) + "}\n")
	})
	g.eachEdge(func(i, j int, critical bool) {
		var attributes []string
		if critical {
			attributes = append(attributes, "penwidth=2.5")
		}
		if c := g.condition(i, j); c != "" {
			attributes = append(attributes, `label="`+text.Replace(c)+`"`)
		}
		list := ""
		if len(attributes) > 0 {
			list = " [" + strings.Join(attributes, ", ") + "]"
		}
		fmt.Fprintf(&out, "  s%d -> s%d%s\n", i, j, list)
	})
	for _, b := range g.backs() {
		fmt.Fprintf(&out, "  s%d -> s%d [style=dashed, constraint=false, label=\"%s (%s)\"]\n", b.from, b.to,
			text.Replace(message.Line(b.outcome.Name)), b.outcome.times())
	}
	out.WriteString("}\n")
	return out.String()
}

// title returns what a group of steps is called: the step that consists of them.
func (s Step) title() string {
	return strings.TrimRight(s.number()+" "+message.Words(s.Subject)+" "+s.items(), " ")
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

// isCritical reports whether the dependency of the step at index j on that at index i is on
// the critical path.
func (g *Graph) isCritical(i, j int) bool {
	n := slices.Index(g.Critical, g.Steps[i].ID)
	return !g.isChain() && n >= 0 && n+1 < len(g.Critical) && g.Critical[n+1] == g.Steps[j].ID
}
