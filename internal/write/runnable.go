package write

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// project is where the checks of a workflow run: what a text calls a command is proposed only if it is one there.
type project struct {
	dir  string // "" for the current directory
	path string // the value of PATH
}

// hints returns the hints of a text whose commands can run, as they have to be typed.
func (p project) hints(all []outline.Hint) (left []outline.Hint) {
	for _, h := range all {
		if h.Run != nil {
			var run []string
			for _, line := range h.Run {
				run = append(run, p.command(line))
			}
			if slices.Contains(run, "") {
				continue
			}
			h.Run, h.Gate = run, outline.Check(run)
		}
		left = append(left, h)
	}
	return left
}

// command returns the command that a text means, or "" if it is not one: its first word is a program, a target of the Makefile, a
// script of package.json, or an executable of the project.
func (p project) command(line string) string {
	words := strings.Fields(line)
	if len(words) == 1 {
		if short := p.named(line); short != "" || line == "test" {
			return short
		}
	}
	args := words[1:]
	switch name := words[0]; {
	case strings.Contains(name, "/"):
		if !p.isExecutable(filepath.Join(p.dir, name)) {
			return ""
		}
	case !p.isOnPath(name):
		return ""
	case name == "make" && !p.hasTargets(args), !p.hasScript(name, args), !p.hasFile(name, args):
		return ""
	}
	return line
}

// named returns the command for a word alone that names a target or a script, if it names just one.
func (p project) named(word string) string {
	target, script := slices.Contains(p.targets(), word), p.scripts()[word] != ""
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
	if manager, _, _ := strings.Cut(run, " "); !p.isOnPath(manager) || !outline.CanBeCheck(run) {
		return ""
	}
	return run
}

func (p project) has(name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil
}

func (p project) isExecutable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

func (p project) isOnPath(name string) bool {
	return slices.ContainsFunc(filepath.SplitList(p.path), func(dir string) bool {
		return filepath.IsAbs(dir) && p.isExecutable(filepath.Join(dir, name))
	})
}

// targets returns the targets of the project's Makefile.
func (p project) targets() (all []string) {
	for line := range strings.SplitSeq(p.makefile(), "\n") {
		names, rest, found := strings.Cut(line, ":")
		if found && !strings.HasPrefix(rest, "=") && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "#") &&
			!strings.Contains(names, "=") {
			all = append(all, strings.Fields(names)...)
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return strings.HasPrefix(name, ".") })
}

func (p project) makefile() string {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if text, err := safefile.ReadFile(filepath.Join(p.dir, name), maxMarkdown, 0); err == nil {
			return string(text)
		}
	}
	return ""
}

// hasTargets reports whether make can know the targets among these arguments. Without a Makefile here, or with one that takes
// rules from elsewhere, it is not known.
func (p project) hasTargets(args []string) bool {
	text := p.makefile()
	if text == "" || strings.Contains(text, "%") || strings.Contains(text, "include") || slices.Contains(args, "-C") {
		return true
	}
	known := p.targets()
	return !slices.ContainsFunc(args, func(arg string) bool {
		return !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && !slices.Contains(known, arg)
	})
}

// scripts returns those of the project's package.json.
func (p project) scripts() map[string]string {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	text, err := safefile.ReadFile(filepath.Join(p.dir, "package.json"), maxMarkdown, 0)
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return nil
	}
	return manifest.Scripts
}

// hasScript reports whether the script that npm or one of its likes is to run can be there.
func (p project) hasScript(name string, args []string) bool {
	if !slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name) || !p.has("package.json") || len(args) == 0 {
		return name != "npx" || p.has(filepath.Join("node_modules", ".bin", strings.Join(args[:min(1, len(args))], "")))
	}
	script := args[0]
	if (script == "run" || script == "run-script") && len(args) > 1 {
		script = args[1]
	} else if script != "test" || name == "bun" {
		return true
	}
	return p.scripts()[script] != ""
}

// hasFile reports whether the file that an interpreter is to run is there.
func (p project) hasFile(name string, args []string) bool {
	if !outline.IsInterpreter(name) {
		return true
	}
	for i, arg := range args {
		switch {
		case arg == "-m":
			return i+1 < len(args)
		case arg == "--test" || name == "deno":
			return true
		case !strings.HasPrefix(arg, "-"):
			return p.has(arg)
		}
	}
	return false
}
