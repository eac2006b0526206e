package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/visible"
)

// Mermaid returns the graph, with all dependencies, as a flowchart for Mermaid
// (mermaid.js.org), which GitHub renders in Markdown.
func (g *Graph) Mermaid() string {
	brackets := map[State][2]string{Done: {"([", "])"}, InProgress: {"{{", "}}"}, Ready: {"[", "]"}, Blocked: {"(", ")"}}
	text := strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", "\\", "#92;")
	var out strings.Builder
	fmt.Fprintln(&out, "flowchart TD")
	for i, s := range g.Steps {
		b := brackets[s.State]
		fmt.Fprintf(&out, "  s%d%s\"%d %s\"%s:::%s\n", i, b[0], s.ID, text.Replace(g.label(s)), b[1], strings.ReplaceAll(string(s.State), " ", "_"))
	}
	g.eachEdge(func(i, j int, critical bool) {
		arrow := "-->"
		if critical {
			arrow = "==>"
		}
		fmt.Fprintf(&out, "  s%d %s s%d\n", i, arrow, j)
	})
	out.WriteString(`  classDef done fill:#d7f0dc,stroke:#2e7d4f,color:#123
  classDef in_progress fill:#fff1c9,stroke:#b07d00,color:#321
  classDef ready fill:#ffffff,stroke:#2457a6,color:#123
  classDef blocked fill:#eeeeee,stroke:#999999,color:#555,stroke-dasharray:4
`)
	return out.String()
}

// Dot returns the graph, with all dependencies, for Graphviz (graphviz.org).
func (g *Graph) Dot() string {
	styles := map[State]string{
		Done:       `shape=box, style="rounded,filled", fillcolor="#d7f0dc", color="#2e7d4f"`,
		InProgress: `shape=hexagon, style=filled, fillcolor="#fff1c9", color="#b07d00"`,
		Ready:      `shape=box, color="#2457a6"`,
		Blocked:    `shape=box, style=dashed, color="#999999", fontcolor="#555555"`,
	}
	text := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var out strings.Builder
	fmt.Fprintf(&out, "digraph workflow {\n  label=\"%s\"\n  labelloc=t\n  node [fontname=\"sans-serif\"]\n", text.Replace(visible.Line(g.Title)))
	for i, s := range g.Steps {
		fmt.Fprintf(&out, "  s%d [label=\"%d %s\", %s]\n", i, s.ID, text.Replace(g.label(s)), styles[s.State])
	}
	g.eachEdge(func(i, j int, critical bool) {
		width := ""
		if critical {
			width = " [penwidth=2.5]"
		}
		fmt.Fprintf(&out, "  s%d -> s%d%s\n", i, j, width)
	})
	out.WriteString("}\n")
	return out.String()
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
	return n >= 0 && n+1 < len(g.Critical) && g.Critical[n+1] == g.Steps[j].ID
}
