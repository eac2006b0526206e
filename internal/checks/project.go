package checks

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxFile limits the size of a file that is read.
const maxFile = 1 << 20

// Project is where the checks of a workflow run.
type Project struct {
	Dir  string // "" for the current directory
	Path string // the value of PATH
}

// Command returns the command that a text calls line, or "" if it is not one that is there and checks without changing anything. A
// word alone may be a target of the Makefile or a script of package.json.
func (p Project) Command(line string) string {
	words := strings.Fields(line)
	if len(words) == 0 || strings.ContainsAny(line, "|&;<>()`\\\"'$*?[]{}~!#") {
		return ""
	}
	if len(words) == 1 {
		if short := p.named(line); short != "" {
			return short
		}
	}
	r := reader{Project: p}
	if !strings.Contains(words[0], "/") && !p.isOnPath(words[0]) || !r.allows(words, ".", typed) {
		return ""
	}
	return line
}

// Related returns what a command that checks only runs, and the targets and scripts that check only and run it, too.
func (p Project) Related(line string) []string {
	if line == "" {
		return nil
	}
	related := p.ranBy(line)
	var those []string
	m, _ := p.readMakefile(".")
	for target := range m.rules {
		those = append(those, "make "+target)
	}
	for script := range p.scripts(".") {
		those = append(those, "npm run "+script)
	}
	slices.Sort(those)
	for _, other := range those {
		if words := strings.Fields(other); !slices.Contains(related, other) && (reader{Project: p}).allows(words, ".", typed) {
			if all := p.ranBy(other); slices.Contains(all, line) || len(related) > 0 && slices.Contains(all, related[0]) {
				related = append(related, other)
			}
		}
	}
	return related
}

// ranBy returns what a command runs, the target or the script of its own first.
func (p Project) ranBy(line string) (all []string) {
	reader{Project: p, ran: &all}.allows(strings.Fields(line), ".", typed)
	return all
}

// named returns the command for a word alone that names a target or a script, if it names just one and that checks only.
func (p Project) named(word string) string {
	m, _ := p.readMakefile(".")
	_, target := m.rules[word]
	script := p.scripts(".")[word] != ""
	run := ""
	switch {
	case target == script:
		return ""
	case target:
		run = "make " + word
	case p.has("pnpm-lock.yaml"):
		run = "pnpm run " + word
	case p.has("yarn.lock"):
		run = "yarn run " + word
	default:
		run = "npm run " + word
	}
	return p.Command(run)
}

func (p Project) has(name string) bool {
	_, err := os.Stat(filepath.Join(p.Dir, name))
	return err == nil
}

func (p Project) isDir(name string) bool {
	info, err := os.Stat(filepath.Join(p.Dir, name))
	return err == nil && info.IsDir()
}

// read returns the text of a file of the project, "" if it cannot be read or is not text.
func (p Project) read(name string) string {
	text, err := safefile.ReadFile(filepath.Join(p.Dir, name), maxFile, 0)
	if err != nil || slices.Contains(text, 0) {
		return ""
	}
	return string(text)
}

func isExecutable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// onPath returns the file of a program on PATH, or "".
func (p Project) onPath(name string) string {
	for _, dir := range filepath.SplitList(p.Path) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && isExecutable(file) {
			return file
		}
	}
	return ""
}

func (p Project) isOnPath(name string) bool { return p.onPath(name) != "" }

// hasModule reports whether a Python has a module: its own libraries, or those beside it, have it.
func (p Project) hasModule(python, module string) bool {
	file := p.onPath(python)
	if strings.Contains(python, "/") {
		file = filepath.Join(p.Dir, python)
	}
	resolved, _ := filepath.EvalSymlinks(file)
	for _, file := range []string{file, resolved} {
		lib := filepath.Join(filepath.Dir(filepath.Dir(file)), "lib", "python3*")
		for _, where := range []string{"", "site-packages", "dist-packages"} {
			for _, ending := range []string{"", ".py"} {
				if found, _ := filepath.Glob(filepath.Join(lib, where, module+ending)); file != "" && len(found) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// inside returns a path below the project, from a directory of it; ok is false for one elsewhere.
func inside(dir, name string) (inner string, ok bool) {
	if path.IsAbs(name) || strings.HasPrefix(name, "~") {
		return "", false
	}
	inner = path.Join(dir, name)
	return inner, inner != ".." && !strings.HasPrefix(inner, "../")
}
