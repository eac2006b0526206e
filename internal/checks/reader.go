package checks

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/shell"
)

// maxDepth limits how many recipes and scripts call one another.
const maxDepth = 12

// level is where a command stands: in a text that a person reads, or in a recipe or a script.
type level int

const (
	typed level = iota
	inRecipe
)

// reader reads what a command runs.
type reader struct {
	Project
	open []string  // the targets and files that are being read
	ran  *[]string // the commands, targets and scripts that were read; nil if the caller does not want them
}

// within reads something that may call itself. What calls itself adds nothing to what it is.
func (r reader) within(name string, read func(reader) bool) bool {
	if slices.Contains(r.open, name) {
		return true
	}
	return len(r.open) < maxDepth && read(reader{r.Project, append(slices.Clone(r.open), name), r.ran})
}

// note adds a command to those that were read.
func (r reader) note(command string) {
	if r.ran != nil && !slices.Contains(*r.ran, command) {
		*r.ran = append(*r.ran, command)
	}
}

// allows reports whether a command that runs in a directory of the project checks only; in a recipe it may build, look and print, too.
func (r reader) allows(command []string, dir string, at level) bool {
	name, args := command[0], command[1:]
	if at == inRecipe && !quiet()[name] {
		r.note(strings.Join(command, " "))
	}
	if file := manifests[name]; file != "" && at == typed && !r.has(path.Join(dir, file)) {
		return false
	}
	if strings.Contains(name, "/") {
		return r.allowsFile(name, args, dir, at)
	}
	switch name {
	case "make", "gmake":
		return r.allowsMake(args, dir)
	case "npm", "pnpm", "yarn", "bun", "run-s", "run-p", "npm-run-all":
		if r.allowsScripts(name, args, dir) {
			return true
		}
	case "python", "python3":
		if len(args) > 1 && args[0] == "-m" {
			isThere := at == inRecipe || r.hasModule(name, args[1])
			return isThere && pythonModules()[args[1]] && checksOnly(args[1:], at == inRecipe)
		}
	case "cargo":
		isThere := at == inRecipe || len(args) > 0 && (cargoOwn()[args[0]] || r.isOnPath("cargo-"+args[0]))
		return isThere && checksOnly(command, at == inRecipe)
	}
	if rest := unwrapped(command, at); rest != nil {
		return r.allowsWrapped(name, rest, dir, at)
	}
	if name == "test" && at == typed {
		return len(args) > 1
	}
	return checksOnly(command, at == inRecipe) || at == inRecipe && looksOnly(command) ||
		interpreters()[name] && len(args) > 0 && !strings.HasPrefix(args[0], "-") &&
			!slices.ContainsFunc(args[1:], isAct) && r.allowsSource(path.Join(dir, args[0]), name, dir)
}

// allowsFile is allows for a command whose first word is a path.
func (r reader) allowsFile(name string, args []string, dir string, at level) bool {
	file, ok := inside(dir, name)
	if !ok || !isExecutable(filepath.Join(r.Dir, file)) || slices.ContainsFunc(args, isAct) {
		return false
	}
	base := path.Base(file)
	switch folder := path.Dir(file); {
	case strings.HasSuffix(folder, "node_modules/.bin"), strings.HasSuffix(folder, "vendor/bin"), strings.HasSuffix(folder, "venv/bin"):
		return r.allows(append([]string{base}, args...), dir, at)
	case base == "gradlew", base == "mvnw":
		return checksOnly(append([]string{map[string]string{"gradlew": "gradle", "mvnw": "mvn"}[base]}, args...), at == inRecipe)
	}
	return r.allowsSource(file, "", dir)
}

// manifests are the files without which a program has no project to check.
var manifests = map[string]string{"cargo": "Cargo.toml", "mix": "mix.exs", "swift": "Package.swift", "mvn": "pom.xml"}

// wrappers run the command that follows them.
var wrappers = map[string]level{"npx": typed, "bundle exec": typed, "pnpm exec": typed, "poetry run": typed, "pipenv run": inRecipe,
	"uv run": inRecipe, "cross-env": inRecipe, "env": inRecipe, "time": inRecipe, "nice": inRecipe, "command": inRecipe, "exec": inRecipe,
	"nyc": inRecipe, "c8": inRecipe, "xargs": inRecipe, "yarn": inRecipe, "coverage run -m": inRecipe}

// unwrapped returns the command that a command runs, or nil.
func unwrapped(command []string, at level) []string {
	for n := min(3, len(command)-1); n > 0; n-- {
		if least, found := wrappers[strings.Join(command[:n], " ")]; found && least <= at {
			rest := command[n:]
			for len(rest) > 0 && at == inRecipe && (strings.HasPrefix(rest[0], "-") || strings.Contains(rest[0], "=")) {
				rest = rest[1:]
			}
			if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
				return rest
			}
		}
	}
	return nil
}

// allowsWrapped is allows for what a wrapper runs, which has to be there.
func (r reader) allowsWrapped(wrapper string, rest []string, dir string, at level) bool {
	switch local := path.Join(dir, "node_modules", ".bin", rest[0]); {
	case wrapper == "npx", wrapper == "pnpm", wrapper == "yarn":
		return r.has(local) && !strings.Contains(rest[0], "/") && checksOnly(rest, at == inRecipe)
	case wrapper == "command" && rest[0] == "-v":
		return true
	case at == typed:
		lock := map[string]string{"bundle": "Gemfile.lock", "poetry": "poetry.lock"}[wrapper]
		return lock != "" && r.has(path.Join(dir, lock)) && checksOnly(rest, false)
	}
	return r.allows(rest, dir, at)
}

// allowsText reports whether each command of a text for the shell is allowed in a recipe.
func (r reader) allowsText(text, dir string) bool {
	s, err := shell.Parse(text)
	if err != nil || s.Writes() || s.Detaches() {
		return false
	}
	reading, err := shell.Look(text)
	if err != nil {
		return false
	}
	if slices.ContainsFunc(strings.FieldsFunc(text, isBetweenWords), func(word string) bool {
		return strings.HasPrefix(word, "--") && isHarmful(word) || changesPrograms(word)
	}) {
		return false // such as a flag in a variable, or other programs of the same names
	}
	functions, first := s.Functions(), true
	for _, command := range reading.Commands {
		switch {
		case len(command) == 0, command[0] == "set":
			continue
		case command[0] == "cd":
			dir, first = r.entered(command, dir, first && !strings.Contains(text, "(")), false
			continue
		case isShell(command): // what it is handed is among the commands
			continue
		case slices.Contains(functions, command[0]):
			continue
		case strings.Contains(command[0], shell.Unknown), !r.allows(command, dir, inRecipe):
			return false
		}
		first = false
	}
	return true
}

// changesPrograms reports whether a variable of the environment has a program be another one, or load something.
func changesPrograms(name string) bool {
	return words(`PATH NODE_OPTIONS BASH_ENV PYTHONSTARTUP PYTEST_ADDOPTS PYTEST_PLUGINS RUBYOPT PERL5OPT JAVA_TOOL_OPTIONS GOFLAGS
		RUSTC_WRAPPER GIT_EXTERNAL_DIFF`)[name] || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

func isBetweenWords(c rune) bool { return strings.ContainsRune(" \t\n\"'=;&|(){}", c) }

// nowhere is a directory that is not known: no file is there.
const nowhere = "\x00"

// entered returns the directory in which the commands behind a cd run.
func (r reader) entered(cd []string, dir string, sure bool) string {
	if to, ok := inside(dir, cd[len(cd)-1]); sure && ok && len(cd) == 2 && r.isDir(to) {
		return to
	}
	return nowhere
}

// isShell reports whether a command hands a text that is known to a shell.
func isShell(command []string) bool {
	return len(command) == 3 && slices.Contains([]string{"sh", "bash"}, command[0]) &&
		slices.Contains([]string{"-c", "-ec"}, command[1]) && !strings.Contains(command[2], shell.Unknown)
}
