package guard

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/spelling"
)

// Mistake is something in a file of the configuration that has no effect.
type Mistake struct {
	File string
	Line int    // 0 if unknown
	Key  string // names joined by dots; empty if the whole file cannot be read
	Text string // what is wrong, and what to write instead
}

func (m Mistake) String() string {
	place := m.File
	if m.Line > 0 {
		place += fmt.Sprintf(":%d", m.Line)
	}
	if m.Key != "" {
		return place + ": " + m.Key + ": " + m.Text
	}
	return place + ": " + m.Text
}

// Mistakes returns what is wrong in the files of the configuration, in the order of the files
// and lines: values that cannot be used, and keys that nothing reads. read reads every key
// that the rules use. A plugin may keep settings of its own in its file, so an unknown key is
// a mistake there only if its name is nearly one that is read.
func (c Config) Mistakes(rules []Rule, read func(Config)) []Mistake {
	k := &checker{known: map[string]bool{}, invalid: map[string]bool{}}
	c.check = k
	read(c)
	c.readOwn(rules)
	for _, l := range c.layers {
		if l.err != nil {
			k.all = append(k.all, Mistake{File: l.path, Line: frontmatter.ErrorLine(l.err), Text: "the file is " + l.unusable()})
			continue
		}
		k.unknown(l, nil, l.root)
	}
	slices.SortStableFunc(k.all, func(a, b Mistake) int {
		if a.File != b.File {
			return 0
		}
		return a.Line - b.Line
	})
	return k.all
}

// readOwn reads the keys of this package.
func (c Config) readOwn(rules []Rule) {
	for _, r := range rules {
		c.switchedOn(masterSwitch)
		if r.Flag != "" {
			c.switchedOn(r.Flag)
		}
	}
	c.breakerThreshold()
	c.maxBlocks()
	c.devModeFile("")
	c.logLocation()
}

// checker collects the mistakes in the files.
type checker struct {
	known   map[string]bool // keys that are read
	invalid map[string]bool // file and key of values that cannot be used
	all     []Mistake
}

func (k *checker) reads(key string) { k.known[key] = true }

// found notes the value of a key in one of the files.
func (k *checker) found(l layer, key string, v frontmatter.Value, want string, valid bool) {
	if !valid && !v.Null() {
		k.ignored(l, key, lineOf(l.root, strings.Split(key, ".")), v, want)
	}
}

// pairs notes the values of the mapping at a key that do not have the form.
func (k *checker) pairs(l layer, key string, form Form) {
	for _, m := range l.root.At(strings.Split(key, ".")...).Members() {
		if text, _ := line(m.Value); !form.Fits(text) {
			k.ignored(l, key+"."+m.Key, m.Line, m.Value, form.Want)
		}
	}
}

func (k *checker) ignored(l layer, key string, line int, v frontmatter.Value, want string) {
	if k.invalid[l.path+"\x00"+key] {
		return
	}
	k.invalid[l.path+"\x00"+key] = true
	got := Truncate(v.Kind(), maxGot)
	if v.String() == "{}" {
		got = "an empty mapping"
	}
	k.all = append(k.all, Mistake{l.path, line, key, "got " + got + ", want " + want + "; it is ignored"})
}

// maxGot limits a value in a message, in characters.
const maxGot = 60

// lineOf returns the line of a key.
func lineOf(root frontmatter.Value, path []string) (line int) {
	for _, name := range path {
		for _, m := range root.Members() {
			if m.Key == name {
				line = m.Line
			}
		}
		root = root.At(name)
	}
	return line
}

// notes are keys beside a switch that are for people. They are not read.
var notes = []string{"description", "rollback", "requires", "reads_from"}

// unknown collects the keys below path that nothing reads.
func (k *checker) unknown(l layer, path []string, v frontmatter.Value) {
	for _, m := range v.Members() {
		key := strings.Join(append(slices.Clone(path), m.Key), ".")
		switch {
		case k.known[key]:
		case k.isSection(key):
			if len(m.Value.Members()) == 0 && !m.Value.Null() && m.Value.String() != "{}" {
				k.all = append(k.all, Mistake{l.path, m.Line, key, "got " + Truncate(m.Value.Kind(), maxGot) + ", want a mapping; it is ignored"})
			}
			k.unknown(l, append(slices.Clone(path), m.Key), m.Value)
		case len(path) > 1 && path[0] == "feature_flags" && slices.Contains(notes, m.Key):
		default:
			near := k.nearest(strings.Join(path, "."), m.Key)
			if near == "" && !isProjects(l.path) {
				continue
			}
			text := "nothing reads this key"
			if near != "" {
				text += fmt.Sprintf(" (did you mean %q?)", near)
			}
			k.all = append(k.all, Mistake{l.path, m.Line, key, text})
		}
	}
}

// isProjects reports whether a file is a project's own configuration, in which only the
// guards' keys belong.
func isProjects(path string) bool {
	return strings.HasSuffix(filepath.ToSlash(path), "/"+ProjectConfigFile)
}

// isSection reports whether a key is the beginning of one that is read.
func (k *checker) isSection(key string) bool {
	for known := range k.known {
		if strings.HasPrefix(known, key+".") {
			return true
		}
	}
	return false
}

// nearest returns the name below a section that is most like the given one, "" if none is.
func (k *checker) nearest(section, name string) (near string) {
	prefix := section + "."
	if section == "" {
		prefix = ""
	}
	limit := min(4, max(2, len(name)/3+1)) // at most three mistakes in a long name
	for _, known := range slices.Sorted(maps.Keys(k.known)) {
		rest, ok := strings.CutPrefix(known, prefix)
		other, _, _ := strings.Cut(rest, ".")
		if !ok || other == name {
			continue
		}
		if d := spelling.Distance(strings.ToLower(name), strings.ToLower(other), limit); d < limit {
			near, limit = other, d
		}
	}
	return near
}

// maxMistakes limits the mistakes that a session's start tells the person.
const maxMistakes = 5

// mistakes returns what the person is told about the files of the configuration, "" if
// nothing is wrong. It is told when a session starts, and not after each compaction.
func (c *Call) mistakes() string {
	if c.rule.Mistakes == nil || c.rule.Event != event.SessionStart || c.Event.Source == "compact" || c.Config.switchedOff(c.rule) != "" {
		return ""
	}
	all := c.rule.Mistakes(c.Config)
	if len(all) == 0 {
		return ""
	}
	text := "The configuration of the planning guards has mistakes:"
	for i, m := range all {
		if i == maxMistakes {
			text += fmt.Sprintf("\n%d more: fsmtx doctor", len(all)-i)
			break
		}
		text += "\n" + m.String()
	}
	return text
}
