package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of what a line may say about its variables: the values of one, their length, and in how many ways the
// variables of one command are looked at.
const (
	maxValues = 20
	maxValue  = 4 << 10
	maxWays   = 32
)

// learn adds the variables that a script sets, wherever it does, and the functions that it defines.
func (r *runner) learn(s Script) {
	syntax.Walk(s.file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil && n.Index == nil {
				r.learnValue(n.Name.Value, n.Value, n.Append)
			}
		case *syntax.WordIter:
			for _, item := range n.Items {
				r.learnValue(n.Name.Value, item, false)
			}
			for _, arg := range r.args[min(1, len(r.args)):] {
				if !n.InPos.IsValid() {
					r.add(n.Name.Value, arg)
				}
			}
		case *syntax.FuncDecl:
			if n.Name != nil && n.Body != nil {
				body := s.line[n.Body.Pos().Offset():n.Body.End().Offset()]
				if all := r.functions[n.Name.Value]; !slices.Contains(all, body) {
					r.functions[n.Name.Value] = append(all, body)
				}
			}
		}
		return true
	})
}

// learnValue adds a value of a variable, or a text that is added to each of its values.
func (r *runner) learnValue(name string, value *syntax.Word, added bool) {
	defer func(outer map[string]string) { r.bound = outer }(r.bound)
	before := []string{""}
	if added && len(r.variables[name]) > 0 {
		before = slices.Clone(r.variables[name])
	}
	for _, r.bound = range r.bindings(nil, value) {
		texts, ok := r.arguments(value)
		if !ok {
			texts = []string{r.shown(value)}
		}
		for _, text := range texts {
			for _, old := range before {
				r.add(name, old+text)
			}
		}
	}
}

func (r *runner) add(name, value string) {
	if all := r.variables[name]; len(all) < maxValues && len(value) <= maxValue && !slices.Contains(all, value) {
		r.variables[name] = append(all, value)
	}
}

// bindings returns the values that the variables in some nodes may have: first none, then each with each.
func (r *runner) bindings(outer map[string]string, nodes ...syntax.Node) (all []map[string]string) {
	all = []map[string]string{outer}
	var names []string
	for _, n := range nodes {
		syntax.Walk(n, func(n syntax.Node) bool {
			p, ok := n.(*syntax.ParamExp)
			if ok && p.Param != nil && len(r.variables[p.Param.Value]) > 0 && !slices.Contains(names, p.Param.Value) {
				names = append(names, p.Param.Value)
			}
			return !r.spend(1)
		})
	}
	if len(names) == 0 {
		return all
	}
	ways := all
	for _, name := range names {
		if r.spend(len(ways)) {
			return all
		}
		values := r.variables[name]
		longest, pairs := max(len(ways), len(values)), len(ways)*len(values)
		var more []map[string]string
		for i := range min(pairs, maxWays) {
			way, value := i/len(values), i%len(values)
			switch { // too many to have each with each, but each is there
			case pairs > maxWays && len(ways) < len(values):
				way, value = (i%longest+i/longest)%len(ways), i%longest
			case pairs > maxWays:
				way, value = i%longest, (i%longest+i/longest)%len(values)
			}
			next := maps.Clone(ways[way])
			if next == nil {
				next = map[string]string{}
			}
			next[name] = values[value]
			more = append(more, next)
		}
		ways = more
	}
	return append(all, ways...)
}

// arguments returns the words for which "$@", $* or "${@:2}" stands, if the arguments of the line are known.
func (r *runner) arguments(w *syntax.Word) (all []string, ok bool) {
	part := onlyPart(w)
	quoted, isQuoted := part.(*syntax.DblQuoted)
	if isQuoted && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Param.Value != "@" && p.Param.Value != "*" || len(r.args) == 0 || p.Length || p.Exp != nil || p.Repl != nil {
		return nil, false
	}
	all = r.args[1:]
	if p.Slice != nil {
		offset, _ := p.Slice.Offset.(*syntax.Word)
		if offset == nil || p.Slice.Length != nil {
			return nil, false
		}
		from, err := strconv.Atoi(offset.Lit())
		if err != nil || from < 0 {
			return nil, false
		}
		all = r.args[min(from, len(r.args)):]
	}
	switch {
	case isQuoted && p.Param.Value == "*":
		return []string{strings.Join(all, " ")}, true
	case isQuoted:
		return all, true
	}
	return strings.Fields(strings.Join(all, " ")), true
}

// value returns the value of a variable, or else its default; Unknown if neither is known.
func (r *runner) value(p *syntax.ParamExp) string {
	if p.Param == nil || p.Length || p.Excl || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return Unknown
	}
	text, known := r.bound[p.Param.Value]
	if at, err := strconv.Atoi(p.Param.Value); err == nil && at < len(r.args) {
		text, known = r.args[at], true
	} else if (p.Param.Value == "@" || p.Param.Value == "*") && len(r.args) > 0 {
		text, known = strings.Join(r.args[1:], " "), true
	}
	switch {
	case p.Exp == nil && known:
		return text
	case p.Exp == nil:
		return Unknown
	}
	switch p.Exp.Op {
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if known {
			return text
		}
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		switch {
		case known:
			return text
		case p.Exp.Word != nil:
			return r.shown(p.Exp.Word)
		}
	}
	return Unknown
}

// replaced returns what xargs runs for each line of a text if its options name a text to be replaced by
// the line; else nil.
func replaced(options, command []string, text string) (all [][]string) {
	mark := ""
	for i, option := range options {
		switch {
		case option == "-i", option == "--replace":
			mark = "{}"
		case option == "-I" && i+1 < len(options):
			mark = options[i+1]
		case strings.HasPrefix(option, "-I"):
			mark = option[2:]
		case strings.HasPrefix(option, "--replace="):
			mark = option[len("--replace="):]
		}
	}
	if mark == "" {
		return nil
	}
	for line := range strings.Lines(text) {
		var words []string
		for _, word := range command {
			words = append(words, strings.ReplaceAll(word, mark, strings.TrimSpace(line)))
		}
		all = append(all, words)
	}
	return all
}
