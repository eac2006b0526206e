package outline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/yuin/goldmark/ast"
)

// flow is a graph of steps: a node with several ways out that have names decides.
type flow struct {
	nodes []*node // in the order of the text
	first *node   // from which the first edge leads
}

type node struct {
	id, title string
	line      int
	out, in   []*edge
	decides   bool
	asks      bool               // it has the shape of a decision
	back      *edge              // the only way out, which leads back
	when      map[*node][]string // what has to be decided for it to be needed
	extra     map[*node]bool     // nodes that it waits for besides
}

type edge struct {
	from, to *node
	label    string
	back     bool
}

// retries is how often a loop of a graph may be taken.
const retries = 3

// graphs returns the flowcharts in blocks of code.
func (d *document) graphs() (all []*candidate) {
	for _, b := range d.blocks {
		code, ok := b.node.(*ast.FencedCodeBlock)
		if !ok || isAside(b.above.titlesFrom()) {
			continue
		}
		f, what, unread := &flow{}, "a graph of Mermaid", ""
		switch language := string(code.Language(d.source)); {
		case language == "mermaid" && mermaidHead.in(d.textOf(code)):
			unread = f.mermaid(code.Lines().Value(d.source), b.line+2)
		case language == "dot" || language == "graphviz":
			what, unread = "a graph of dot", f.dot(code.Lines().Value(d.source), b.line+2)
		default:
			continue
		}
		if len(f.nodes) < 2 {
			continue
		}
		c := &candidate{form: formGraph, what: what, rank: graphed}
		if unread == "" {
			c.graph, unread = f.steps()
		}
		if unread != "" {
			c.doubt, c.rival = unread, true
		}
		for _, n := range f.nodes {
			c.marks = append(c.marks, mark{line: n.line - 1, end: n.line, title: n.title, above: b.above})
		}
		slices.SortStableFunc(c.marks, func(x, y mark) int { return x.line - y.line })
		all = append(all, c)
	}
	return all
}

func (f *flow) node(id string, line int) *node {
	for _, n := range f.nodes {
		if n.id == id {
			return n
		}
	}
	n := &node{id: id, title: id, line: line, when: map[*node][]string{}, extra: map[*node]bool{}}
	f.nodes = append(f.nodes, n)
	return n
}

func (f *flow) connect(from, to []*node, label string) {
	if f.first == nil && len(from) > 0 {
		f.first = from[0]
	}
	for _, a := range from {
		for _, b := range to {
			e := &edge{from: a, to: b, label: label}
			a.out, b.in = append(a.out, e), append(b.in, e)
		}
	}
}

var (
	mermaidHead = pattern{text: `^\s*(?:%%[^\n]*\n\s*)*(?:flowchart|graph)\b`}
	mermaidSkip = pattern{text: `^(?:flowchart|graph|subgraph|end|style|classDef|class|click|linkStyle|direction|%%)\b|^%%|^$`}
	mermaidNode = pattern{text: `^([\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*)` +
		`(?:(\{+|\[+|\(+\[?|>)\s*("[^"]*"|[^\]\)\}]*?)\s*[\]\)\}]+)?(?::::\w+)?\s*`}
	mermaidEdge = pattern{text: `^(?:--\s*("[^"]+"|[^-|>.=]+?)\s*-->|` +
		`-\.\s*([^-.>|]+?)\s*\.->|==\s*([^=|>]+?)\s*==>|<?(?:-{2,}|-\.+-|={2,})[>xo]?)\s*(?:\|\s*("[^"]*"|[^|]*?)\s*\|)?\s*`}
	dotSkip = pattern{text: `^(?:strict\s+)?(?:di)?graph\b[^{]*\{|^subgraph\b[^{]*\{|^[{}]$|^(?:node|edge|graph)\s*\[|^\w+\s*=|^$|^//|^#`}
	dotNode = pattern{text: `^("(?:[^"\\]|\\.)*"|[\p{L}\p{N}_.]+)\s*`}
	dotName = pattern{text: `\blabel\s*=\s*("(?:[^"\\]|\\.)*"|\w+)`}
	blank   = pattern{text: `(?i)(?:<br\s*/?>|\\n|\s)+`}
)

func named(text string) string {
	return strings.TrimSpace(blank.compiled().ReplaceAllString(strings.Trim(text, `"`), " "))
}

// mermaid reads a flowchart whose first line has the number line, and returns what it cannot read.
func (f *flow) mermaid(text []byte, line int) string {
	for i, whole := range strings.Split(string(text), "\n") {
		for _, s := range strings.Split(whole, ";") {
			if s = strings.TrimSpace(s); mermaidSkip.in(s) {
				continue
			}
			var from []*node
			label := ""
			for rest := s; ; {
				var to []*node
				for {
					m := mermaidNode.find(rest)
					if m == nil {
						return fmt.Sprintf("line %d of it cannot be read: %q", line+i, shorten(s))
					}
					n := f.node(m[1], line+i)
					if m[3] != "" {
						n.title, n.asks = named(m[3]), n.asks || strings.HasPrefix(m[2], "{")
					}
					to, rest = append(to, n), rest[len(m[0]):]
					if !strings.HasPrefix(rest, "&") {
						break
					}
					rest = strings.TrimSpace(rest[1:])
				}
				f.connect(from, to, label)
				if from = to; rest == "" {
					break
				}
				m := mermaidEdge.find(rest)
				if m == nil {
					return fmt.Sprintf("line %d of it cannot be read: %q", line+i, shorten(s))
				}
				label, rest = named(m[1]+m[2]+m[3]+m[4]), rest[len(m[0]):]
			}
		}
	}
	return ""
}

// dot reads a digraph, and returns what it cannot read.
func (f *flow) dot(text []byte, line int) string {
	for i, whole := range strings.Split(string(text), "\n") {
		whole = strings.TrimSpace(whole)
		if m := dotSkip.find(whole); m != nil && strings.HasSuffix(m[0], "{") {
			whole = strings.TrimSpace(whole[len(m[0]):])
		}
		for _, s := range strings.Split(strings.TrimSuffix(whole, "}"), ";") {
			if s = strings.TrimSpace(s); dotSkip.in(s) {
				continue
			}
			s, attributes, _ := strings.Cut(s, "[")
			label := ""
			if m := dotName.find(attributes); m != nil {
				label = named(m[1])
			}
			var from []*node
			for rest, edges := s, 0; ; edges++ {
				m := dotNode.find(rest)
				if m == nil {
					return fmt.Sprintf("line %d of it cannot be read: %q", line+i, shorten(s))
				}
				n := f.node(named(m[1]), line+i)
				f.connect(from, []*node{n}, label)
				if rest = strings.TrimSpace(rest[len(m[0]):]); rest == "" {
					if edges == 0 {
						n.asks = n.asks || strings.Contains(attributes, "diamond")
						if label != "" {
							n.title = label
						}
					}
					break
				}
				var found bool
				if rest, found = strings.CutPrefix(rest, "->"); !found {
					return fmt.Sprintf("line %d of it cannot be read: %q", line+i, shorten(s))
				}
				rest, from = strings.TrimSpace(rest), []*node{n}
			}
		}
	}
	return ""
}

var (
	beginning = pattern{text: `(?i)^(?:start|begin)$`}
	ending    = pattern{text: `(?i)^(?:end|stop|done|finish(?:ed)?|complete)$`}
	notWord   = pattern{text: `[^a-z0-9]+`}
)

// outcome returns the name of an outcome for the text of an edge.
func outcome(label string) string {
	name := strings.Trim(notWord.compiled().ReplaceAllString(strings.ToLower(label), "-"), "-")
	if name == "" || name[0] < 'a' {
		name = "is-" + name
	}
	return strings.Trim(name[:min(len(name), 30)], "-")
}

// steps returns the steps of a graph with all its ways, or why it has none.
func (f *flow) steps() (steps []Step, why string) {
	f.withoutEnds()
	var roots []*node
	for _, n := range f.nodes {
		if len(n.in) == 0 {
			roots = append(roots, n)
		}
	}
	if len(roots) == 0 && slices.Contains(f.nodes, f.first) { // all of it is in loops: it begins with what it tells first
		roots = []*node{f.first}
	}
	if len(roots) != 1 {
		return nil, fmt.Sprintf("it begins in %d places", len(roots))
	}
	f.walk(roots[0], map[*node]int{})
	if why = f.decide(); why != "" {
		return nil, why
	}
	order, why := f.order()
	if why != "" {
		return nil, why
	}
	number := map[*node]int64{}
	for i, n := range order {
		number[n] = int64(i + 1)
	}
	for _, n := range order {
		steps = append(steps, n.step(number))
	}
	return steps, ""
}

// withoutEnds removes the nodes that only say where the graph begins and ends. A way to an end stays a way.
func (f *flow) withoutEnds() {
	f.nodes = slices.DeleteFunc(f.nodes, func(n *node) bool {
		if beginning.in(n.title) && len(n.in) == 0 && len(n.out) == 1 {
			n.out[0].to.in = slices.DeleteFunc(n.out[0].to.in, func(e *edge) bool { return e == n.out[0] })
			if f.first == n {
				f.first = n.out[0].to
			}
			return true
		}
		for _, e := range n.in {
			if ending.in(n.title) && len(n.out) == 0 {
				e.to = nil
			}
		}
		return ending.in(n.title) && len(n.out) == 0 && len(n.in) > 0
	})
}

// walk finds the edges that lead back to a node on the way.
func (f *flow) walk(n *node, seen map[*node]int) {
	seen[n] = 1
	for _, e := range n.out {
		switch {
		case e.to == nil:
		case seen[e.to] == 1:
			e.back = true
		case seen[e.to] == 0:
			f.walk(e.to, seen)
		}
	}
	seen[n] = 2
}

// decide finds out which nodes decide, and on what each node depends.
func (f *flow) decide() string {
	for _, n := range f.nodes {
		labels, ends := map[string]bool{}, false
		n.asks = n.asks || strings.HasSuffix(n.title, "?")
		for _, e := range n.out {
			ends = ends || e.back || e.to == nil
			if e.label != "" {
				e.label = outcome(e.label)
				labels[e.label] = true
			}
		}
		switch {
		case len(n.out) == 1 && n.asks:
			return fmt.Sprintf("%q decides, and has one way out", shorten(n.title))
		case len(n.out) == 1 && n.out[0].back:
			n.back = n.out[0]
		case len(n.out) > 1 && len(labels) == len(n.out):
			n.decides = true
		case len(n.out) > 1 && (len(labels) > 0 || ends || n.asks):
			return fmt.Sprintf("the ways out of %q have no names, or equal ones", shorten(n.title))
		}
	}
	done := map[*node]bool{}
	for len(done) < len(f.nodes) {
		before := len(done)
		for _, n := range f.nodes {
			if !done[n] && !slices.ContainsFunc(n.forward(), func(e *edge) bool { return !done[e.from] }) {
				if !n.need() {
					return fmt.Sprintf("%q comes after ways of several decisions", shorten(n.title))
				}
				done[n] = true
			}
		}
		if len(done) == before {
			return "not all of it can be reached from its beginning"
		}
	}
	return ""
}

// forward returns the edges that lead to a node and not back.
func (n *node) forward() (all []*edge) {
	for _, e := range n.in {
		if !e.back {
			all = append(all, e)
		}
	}
	return all
}

// ways returns the outcomes of a node that go forward.
func (n *node) ways() (all []string) {
	for _, e := range n.out {
		if !e.back {
			all = append(all, e.label)
		}
	}
	return all
}

// need finds out what has to be decided for a node to be needed, and reports whether that can be said.
func (n *node) need() bool {
	var any []map[*node][]string
	for _, e := range n.forward() {
		when := maps.Clone(e.from.when)
		if e.from.decides {
			when[e.from] = []string{e.label}
		}
		any = append(any, simplified(when))
	}
	for merged := true; merged && len(any) > 1; {
		merged = false
		for i := 1; i < len(any) && !merged; i++ {
			for j := 0; j < i && !merged; j++ {
				if both, ok := either(any[i], any[j]); ok {
					any[j], any, merged = both, slices.Delete(any, i, i+1), true
				}
			}
		}
	}
	if len(any) == 1 {
		n.when = any[0]
	}
	return len(any) < 2
}

// simplified removes decisions whose outcomes that go forward are all meant.
func simplified(when map[*node][]string) map[*node][]string {
	maps.DeleteFunc(when, func(d *node, outcomes []string) bool { return len(outcomes) == len(d.ways()) })
	return when
}

// either returns the condition that holds if one of two does, if they differ in one decision.
func either(a, b map[*node][]string) (map[*node][]string, bool) {
	both, differs := map[*node][]string{}, 0
	for d, outcomes := range a {
		other, ok := b[d]
		if !ok {
			return nil, false
		}
		both[d] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(outcomes, other))))
		if len(both[d]) != len(outcomes) || len(both[d]) != len(other) {
			differs++
		}
	}
	return simplified(both), len(a) == len(b) && differs <= 1
}

// order returns the nodes so that each comes after those that it depends on. What depends on the inside of a loop waits for its end.
func (f *flow) order() (order []*node, why string) {
	for _, end := range f.nodes {
		for _, e := range end.out {
			if !e.back {
				continue
			}
			for _, n := range f.nodes {
				into := slices.ContainsFunc(n.forward(), func(in *edge) bool { return reaches(e.to, in.from) && reaches(in.from, end) })
				if into && !reaches(n, end) {
					n.extra[end] = true
				}
			}
		}
	}
	placed := map[*node]bool{}
	for len(order) < len(f.nodes) {
		next := slices.IndexFunc(f.nodes, func(n *node) bool {
			for b := range n.blockers() {
				if !placed[b] {
					return false
				}
			}
			return !placed[n]
		})
		if next < 0 {
			return nil, "its loops overlap"
		}
		placed[f.nodes[next]] = true
		order = append(order, f.nodes[next])
	}
	return order, ""
}

// reaches reports whether a way forward leads from a node to another, or they are the same.
func reaches(from, to *node) bool {
	seen := map[*node]bool{}
	var visit func(*node) bool
	visit = func(n *node) bool {
		if n == to {
			return true
		}
		seen[n] = true
		return slices.ContainsFunc(n.out, func(e *edge) bool { return !e.back && e.to != nil && !seen[e.to] && visit(e.to) })
	}
	return visit(from)
}

func (n *node) blockers() map[*node]bool {
	all := maps.Clone(n.extra)
	for _, e := range n.forward() {
		all[e.from] = true
	}
	for d := range n.when {
		all[d] = true
	}
	return all
}

// step returns the step of a node.
func (n *node) step(number map[*node]int64) Step {
	s := Step{ID: number[n], Line: n.line}
	s.Subject, s.Description = subject(n.title)
	for b := range n.blockers() {
		s.BlockedBy = append(s.BlockedBy, number[b])
	}
	slices.Sort(s.BlockedBy)
	if len(n.when) > 0 {
		when := map[string]any{}
		for d, outcomes := range n.when {
			when[fmt.Sprint(number[d])] = outcomes
			if len(outcomes) == 1 {
				when[fmt.Sprint(number[d])] = outcomes[0]
			}
		}
		s.When = object(when)
	}
	outcomes := map[string]any{}
	switch {
	case n.back != nil:
		outcomes["again"] = map[string]any{"back": number[n.back.to], "max": retries}
		outcomes["given-up"] = map[string]any{"stop": true}
	case n.decides:
		for _, e := range n.out {
			outcomes[e.label] = map[string]any{}
			if e.back {
				outcomes[e.label] = map[string]any{"back": number[e.to], "max": retries}
			}
		}
	}
	if len(outcomes) > 0 {
		s.Outcomes = object(outcomes)
	}
	return s
}

// object returns an object with its members in alphabetical order.
func object(v map[string]any) jsontext.Value {
	// The values are numbers, strings, and maps and lists of them, which have no error.
	text, _ := json.Marshal(v, json.Deterministic(true))
	return text
}
