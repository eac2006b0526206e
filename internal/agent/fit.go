package agent

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// heading is what a SKILL.md has to begin with. An agent ignores a skill whose SKILL.md begins otherwise, and
// does not report it. Every agent demands frontmatter.
type heading struct {
	named     need // of the name; without one the folder's counts
	described need // of the description
	strict    bool // the frontmatter has to be valid YAML; else the lines with a name and a description are enough
	lists     bool // with strict: frontmatter that is a list or a text has neither name nor description, and is valid
	loose     bool // with strict: a description may be a number, and other keys than it and the name may come twice
	marked    bool // a byte order mark may come before it
	unclosed  bool // the file may end in it
	longest   int  // characters of a description, 0 for any
	hyphens   bool // a space in a name is a hyphen

	repair func(line string) string // with strict: how the agent changes each line of invalid YAML; nil: it does not
}

// need is what a SKILL.md has to have.
type need int

const (
	optional need = iota
	given         // a description may be empty; a name may be absent, but not empty
	filled
)

// unfit returns why the agent does not take a SKILL.md for that of a skill, for people; empty if it does.
func (h heading) unfit(document []byte) string {
	if bytes.HasPrefix(document, []byte("\ufeff")) && !h.marked {
		return "it begins with a byte order mark"
	}
	if _, _, _, err := frontmatter.CutSkill(document); err != nil {
		if h.unclosed {
			return ""
		}
		return "its frontmatter is not closed by a line ---"
	}
	if !frontmatter.HasLines(document) {
		return "it has no frontmatter"
	}
	read, why := h.read(document)
	if h.strict && why != "" {
		return why
	}
	field := func(key string) (string, bool) {
		if h.strict {
			return read.Field(key)
		}
		return frontmatter.Field(document, key)
	}
	name, ok := field("name")
	if name == "" && (h.named == filled || h.named == given && ok) {
		return "it has no name"
	}
	switch description, ok := field("description"); {
	case !ok && h.described != optional, description == "" && h.described == filled:
		return "it has no description"
	case h.longest > 0 && utf8.RuneCountInString(description) > h.longest:
		return "its description is too long"
	}
	return ""
}

// read returns the frontmatter, and why the agent does not take it for YAML with a name and a description, for
// people; empty if it does. The loose one, in Rust, does not read what is not UTF-8.
func (h heading) read(document []byte) (v frontmatter.Value, why string) {
	if !h.loose {
		document = bytes.ToValidUTF8(document, []byte("\ufffd"))
	}
	v, err := frontmatter.ParseLines(document, h.repair)
	switch _, inLine := errors.AsType[*frontmatter.LineError](err); {
	case inLine:
		return v, "in " + err.Error() + " (a text with a character of YAML's syntax needs quotation marks)"
	case err != nil:
		return v, "its " + err.Error()
	case v.Members() == nil && !h.lists:
		return v, "its frontmatter has no names with values"
	}
	seen := map[string]bool{}
	for _, m := range v.Members() {
		isOurs := m.Key == "name" || m.Key == "description"
		if seen[m.Key] && (isOurs || !h.loose) {
			return v, "its frontmatter has " + m.Key + " twice"
		}
		switch {
		case isOurs && !h.isText(m.Value):
			return v, "the " + m.Key + " in its frontmatter is not a text: put it in quotation marks"
		case h.loose && m.Key == "metadata" && !m.Value.Null() && m.Value.Kind() != "a mapping":
			return v, "the metadata in its frontmatter has no names with values"
		}
		seen[m.Key] = true
	}
	return v, ""
}

func (h heading) isText(v frontmatter.Value) bool {
	_, isScalar := v.Text()
	_, isNumber := v.Number()
	_, isBool := v.Bool()
	if h.loose {
		return isScalar || v.Null()
	}
	return isScalar && !isNumber && !isBool
}

// repairedByCodex puts a value in quotation marks if Codex reads it as a text: a value with a colon and a
// space, or one that begins with [, {, @ or a backtick. Measured with 0.169.0.
func repairedByCodex(line string) string {
	key, rest, _ := strings.Cut(line, ":")
	value, _, _ := strings.Cut(rest, " #")
	value = strings.TrimSpace(value)
	inside := strings.Contains(value, ": ") || strings.Contains(value, ":\t")
	switch {
	case value == "", !strings.ContainsAny(rest[:1], " \t"), strings.ContainsAny(value[:1], "\"'|>"),
		!inside && !strings.ContainsAny(value[:1], "[{@`"):
		return line
	}
	return key + ": '" + strings.ReplaceAll(value, "'", "''") + "'"
}

// repairedByOpenCode writes a value with a colon as a block scalar. Read in 1.18.33, whose parser also
// accepts tabs, and a second key after a quoted value ("a" or: b).
func repairedByOpenCode(line string) string {
	line = strings.ReplaceAll(line, "\t", "  ")
	two := regexp.MustCompile(`^([\w-]+: +(?:"[^"\\]*"|'[^']*'|\[[^][:]*\])) +([\w<(].*: .*)$`)
	line = two.ReplaceAllString(line, "$1\n$2")
	m := regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)\s*:\s*(.*)$`).FindStringSubmatch(line)
	if m == nil || !strings.Contains(m[2], ":") || strings.ContainsAny(m[2][:1], "\"'") {
		return line
	}
	return m[1] + ": |-\n  " + strings.TrimSpace(m[2])
}

// switches returns what says why a person has switched off a skill, empty if they have not. at is as in
// pluginsOf. It reads the settings once.
type switches func(at func(file string) string, cwd string) func(k *Skill) string

// offInCodex reads the tables [[skills.config]] of config.toml. Measured with 0.169.0: the last one
// that names the skill counts, or the path of its SKILL.md, also by another way or from "~/"; those
// of a project do not.
func offInCodex(at func(string) string, _ string) func(*Skill) string {
	rules, _ := configOfCodex(at).at("skills")["config"].([]any)
	return func(k *Skill) (why string) {
		file := filepath.Join(k.Dir, "SKILL.md")
		for _, one := range rules {
			rule, _ := one.(map[string]any)
			path, _ := rule["path"].(string)
			if rest, home := strings.CutPrefix(path, "~/"); home {
				path = at(rest)
			}
			if rule["name"] != k.Name && (path == "" || path != file && !safefile.Same(path, file)) {
				continue
			}
			if why = ""; rule["enabled"] == false {
				why = "switched off in " + at(".codex/config.toml") + ": [[skills.config]]"
			}
		}
		return why
	}
}

// offInCopilot reads the person's settings.json. Measured with 1.0.102.
func offInCopilot(at func(string) string, _ string) func(*Skill) string {
	var settings struct {
		Disabled []string `json:"disabledSkills"`
	}
	file := at(".copilot/settings.json")
	readCommented(file, &settings)
	return func(k *Skill) string {
		if slices.Contains(settings.Disabled, k.Name) {
			return "switched off in " + file + `: "disabledSkills"`
		}
		return ""
	}
}

// offInGemini reads the settings of the person and of a project that they trust. Measured with 0.61.0: the case
// of a name does not count, the lists of both do, and the project's "enabled" wins.
func offInGemini(at func(string) string, cwd string) func(*Skill) string {
	off := disabledBy(settingsOfGemini(Trust{Config: at(""), Dir: cwd}))
	return func(k *Skill) string { return off(k.Name) }
}

// offInQwen reads the settings of the person and of the project. As read in 0.24.4: the name may be without the
// extension's, its case does not count, and the lists of both do. In 0.15.10 the list does nothing.
func offInQwen(at func(string) string, cwd string) func(*Skill) string {
	off := disabledBy(settingsOfQwen(at, cwd))
	return func(k *Skill) string {
		_, short, _ := strings.Cut(k.Name, ":")
		return cmp.Or(off(k.Name), off(short))
	}
}

// disabledBy reads "skills" in settings, of which the first "enabled" counts and each "disabled".
func disabledBy(files []string) func(name string) string {
	type settings struct {
		Skills struct {
			Enabled  jsontext.Value `json:"enabled"`
			Disabled []string       `json:"disabled"`
		} `json:"skills"`
	}
	all := make([]settings, len(files))
	for i, file := range files {
		readCommented(file, &all[i])
	}
	return func(name string) string {
		for i, one := range all {
			if name != "" && slices.ContainsFunc(one.Skills.Disabled, func(d string) bool { return strings.EqualFold(d, name) }) {
				return "switched off in " + files[i] + `: "disabled" of "skills"`
			}
		}
		i := slices.IndexFunc(all, func(one settings) bool { return one.Skills.Enabled != nil })
		if i >= 0 && isFalse(all[i].Skills.Enabled) {
			return "switched off in " + files[i] + `: "enabled" of "skills"`
		}
		return ""
	}
}
