package checks

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// makefile is what could be read of one.
type makefile struct {
	rules  map[string]rule
	values map[string]string
	first  string // the target of make without one
	text   string
}

type rule struct {
	needs []string
	lines []string
}

var unreadable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*-?s?(?:include|define|endef|ifeq|ifneq|ifdef|ifndef|else|endif|vpath|load|undefine|override)\b|` +
		`^\s*\.(?:ONESHELL|SECONDEXPANSION|RECIPEPREFIX)\b|^[ ]*(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)\s*[:?+]?=|^[^\t#:=]*!=|\$[({](?:eval|` +
		`file|call|foreach|guile)\b`)
})

var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:export\s+)?([\w.-]+)\s*(\?|\+|::?:?)?=\s*(.*)$`)
})

// opaque stands for text that is known only when make runs, files for the names of files that are there.
const (
	opaque = "opaque"
	files  = "files.opaque"
)

// readMakefile reads the one that make uses in a directory. ok is false if there is none, or one with something that is not known here.
func (p Project) readMakefile(dir string) (m makefile, ok bool) {
	m = makefile{rules: map[string]rule{}, values: map[string]string{"MAKE": "make", "CC": "cc", "CXX": "g++", "AR": "ar", "RM": "rm -f"}}
	text := ""
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if p.has(path.Join(dir, name)) {
			text = p.read(path.Join(dir, name))
			break
		}
	}
	if text == "" || unreadable().MatchString(text) {
		return makefile{}, false
	}
	m.text = strings.ReplaceAll(text, "\\\n", " ")
	given := map[string]bool{}
	var targets []string
	extend := func(needs []string, lines ...string) {
		for _, name := range targets {
			r := m.rules[name]
			m.rules[name] = rule{needs: append(r.needs, needs...), lines: append(r.lines, lines...)}
		}
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " "), "\n") {
		if strings.HasPrefix(line, "\t") {
			extend(nil, strings.TrimSpace(line))
			continue
		}
		if at := strings.IndexByte(line, '#'); at >= 0 {
			line = line[:at]
		}
		if line = strings.TrimSpace(line); line == "" || line == "export" || strings.HasPrefix(line, "unexport ") {
			continue
		}
		targets = nil
		if a := assignment().FindStringSubmatch(line); a != nil {
			if given[a[1]] && a[3] != m.values[a[1]] || changesPrograms(a[1]) {
				return makefile{}, false // which of them holds, or what a program is, depends on more than is read here
			}
			m.values[a[1]], given[a[1]] = a[3], true
			continue
		}
		names, rest, found := strings.Cut(line, ":")
		rest, inline, hasInline := strings.Cut(strings.TrimPrefix(rest, ":"), ";")
		if !found || strings.Contains(rest, "=") || strings.Contains(names, "%") || strings.Contains(rest, "%") {
			return makefile{}, false
		}
		targets = strings.Fields(m.expand(names, 0))
		extend(strings.Fields(strings.ReplaceAll(rest, "|", " ")))
		if hasInline {
			extend(nil, strings.TrimSpace(inline))
		}
		if i := slices.IndexFunc(targets, func(name string) bool { return !strings.HasPrefix(name, ".") }); m.first == "" && i >= 0 {
			m.first = targets[i]
		}
	}
	if goal := m.values[".DEFAULT_GOAL"]; goal != "" {
		m.first = goal
	}
	return m, true
}

// expand returns a text of a makefile with the values of its variables. What is computed is opaque.
func (m makefile) expand(text string, depth int) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case '$':
			out.WriteByte('$')
		case '(', '{':
			end := closing(text, i)
			name := text[i+1 : end]
			i = end
			value, found := m.values[name]
			switch {
			case strings.HasPrefix(strings.TrimSpace(name), "wildcard "), computed().MatchString("$(" + name):
				out.WriteString(files)
			case strings.ContainsAny(name, " :,$"), depth > 20:
				out.WriteString(opaque)
			case found:
				out.WriteString(m.expand(value, depth+1))
			}
		default:
			out.WriteString(opaque) // of the rule, such as $@
		}
	}
	return out.String()
}

// closing returns the index of the bracket that closes the one at an index, or the last one of the text.
func closing(text string, at int) int {
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}

// allowsMake reports whether make with these arguments checks only: it knows its targets, and all that they run was read.
func (r reader) allowsMake(args []string, dir string) bool {
	var targets []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-C" && i+1 < len(args):
			to, ok := inside(dir, args[i+1])
			if i++; !ok || !r.isDir(to) {
				return false
			}
			dir = to
		case slices.Contains([]string{"-s", "-k", "--silent", "--quiet", "--keep-going", "--no-print-directory", "-j"}, arg):
		case strings.HasPrefix(arg, "-j") && strings.Trim(arg[2:], "0123456789") == "":
		case strings.HasPrefix(arg, "-"), strings.Contains(arg, "="):
			return false
		default:
			targets = append(targets, arg)
		}
	}
	m, ok := r.readMakefile(dir)
	if !ok || !r.allowsComputed(m, dir) {
		return false
	}
	if len(targets) == 0 {
		targets = []string{m.first}
	}
	return !slices.ContainsFunc(targets, func(name string) bool {
		_, found := m.rules[name]
		return !found || strings.HasPrefix(name, ".") || actsByName(name) || !r.allowsTarget(m, name, dir)
	})
}

// allowsTarget reports whether what make runs for a target is allowed.
func (r reader) allowsTarget(m makefile, name, dir string) bool {
	rule, found := m.rules[name]
	if !found {
		return r.has(path.Join(dir, name)) // a file that nothing makes
	}
	r.note("make " + name)
	return r.within("make "+dir+" "+name, func(r reader) bool {
		for need := range strings.FieldsSeq(m.expand(strings.Join(rule.needs, " "), 0)) {
			if need != files && !r.allowsTarget(m, need, dir) {
				return false
			}
		}
		for _, line := range rule.lines {
			if !r.allowsText(strings.TrimLeft(m.expand(line, 0), "@-+ "), dir) {
				return false
			}
		}
		return true
	})
}

// allowsComputed reports whether what make runs while it reads a makefile only looks.
func (r reader) allowsComputed(m makefile, dir string) bool {
	for _, at := range computed().FindAllStringIndex(m.text, -1) {
		end := closing(m.text, at[0]+1)
		if end < at[1] || !r.allowsText(m.expand(m.text[at[1]:end], 0), dir) {
			return false
		}
	}
	return true
}

var computed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$[({]\s*shell\s`) })
