package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// isSkillFile reports whether a path is that of a skill or a command, whose frontmatter may
// have hooks.
func isSkillFile(path string) bool { return strings.EqualFold(filepath.Ext(path), ".md") }

// parseSkillHooks returns the frontmatter of a skill or a command as JSON, nil if it has none, and
// the offset of each value in data. The error is a *jsonx.SyntaxError.
func parseSkillHooks(data []byte) (text jsontext.Value, offsets map[jsontext.Pointer]int, err error) {
	text, offsets, err = frontmatter.SkillJSON(data)
	if err == nil {
		return text, offsets, nil
	}
	offset := 0
	if at, ok := errors.AsType[*frontmatter.LineError](err); ok {
		offset, err = lineOffset(data, at.Line), at.Err
	}
	return nil, nil, &jsonx.SyntaxError{Position: jsonx.PositionAt(data, offset), Offset: offset, Err: err}
}

// skillOf returns the hooks in the frontmatter of a skill or a command, which parseSkillHooks
// returned. Where hooks of plugins get the directory of their plugin, they get that of the
// skill.
func skillOf(path string, text jsontext.Value) Source {
	source := Source{Scope: dialect.Extensions, Name: path, Skill: skillName(path)}
	if abs, err := filepath.Abs(path); err == nil {
		source.Root = filepath.Dir(abs)
	}
	if text != nil {
		source.Hooks = hooksOf(text)
	}
	return source
}

// skillName returns the name by which a skill or a command is called.
func skillName(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	if filepath.Base(abs) == "SKILL.md" {
		return filepath.Base(filepath.Dir(abs))
	}
	return strings.TrimSuffix(filepath.Base(abs), filepath.Ext(abs))
}

// skill reads the hooks of a skill or a command.
func (f Finder) skill(path string) (Source, error) {
	data, err := safefile.ReadFile(path, maxFile, 0)
	if err != nil {
		return Source{}, err
	}
	text, _, err := parseSkillHooks(data)
	if err != nil {
		return Source{}, fmt.Errorf("%s:%w", path, err)
	}
	return skillOf(path, text), nil
}

// skills adds the hooks of the project's and the user's skills and commands.
func (f Finder) skills(found *Found) {
	for _, dir := range f.Dialect.Settings.Skills {
		f.skillsIn(found, f.Where.path(f.Dialect, dir), "", "")
	}
}

// skillsIn adds the hooks of the skills and commands in a directory. root is the plugin's
// directory and plugin its name, empty for other skills. The skills that were called in the
// session are active.
func (f Finder) skillsIn(found *Found, dir, root, plugin string) {
	skills, _ := filepath.Glob(filepath.Join(escaped(dir), "skills", "*", "SKILL.md"))
	commands, _ := filepath.Glob(filepath.Join(escaped(dir), "commands", "*.md"))
	for _, path := range slices.Concat(skills, commands) {
		source, err := f.skill(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil && !mentionsHooks(path):
			continue // it has no hooks
		case err != nil:
			found.Trouble = append(found.Trouble, err)
			continue
		case source.Hooks == nil:
			continue
		}
		if root != "" {
			source.Root, source.Skill = root, pluginPrefix(plugin)+source.Skill
		}
		source.Inactive = !slices.Contains(f.Active, source.Skill)
		found.Skills = append(found.Skills, source.Skill)
		f.add(found, source, plugin)
	}
}

// escaped returns a directory as a pattern of filepath.Glob that matches only itself.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "*", `\*`, "?", `\?`).Replace(dir)
}

// mentionsHooks reports whether a file with invalid frontmatter seems to have hooks.
func mentionsHooks(path string) bool {
	data, err := safefile.ReadFile(path, maxFile, 0)
	return err == nil && bytes.Contains(data, []byte("\nhooks:"))
}

// pluginPrefix returns the prefix of the names of a plugin's skills. name is the plugin's key
// in the settings, such as plugin@marketplace.
func pluginPrefix(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return name + ":"
}

// options returns the values that the settings give to the options of a plugin. Its key in the
// settings is its name, with or without the marketplace. A value that is not a string is
// returned as JSON.
func (f Finder) options(trusted []jsontext.Value, name string) map[string]string {
	options := map[string]string{}
	if f.Dialect.Settings.Options == "" {
		return options
	}
	short, _, _ := strings.Cut(name, "@")
	for _, text := range slices.Backward(trusted) { // the first file has precedence
		o, _ := jsonx.ParseObject(text)
		for _, key := range []string{short, name} {
			for option, value := range o.Object(f.Dialect.Settings.Options).Object(key).Object("options").All() {
				options[option] = string(value)
				if text, isText := jsonx.String(value); isText {
					options[option] = text
				}
			}
		}
	}
	return options
}
