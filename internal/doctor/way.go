package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Way is how a program was installed.
type Way struct {
	By      string `json:"by"`      // such as Homebrew
	Upgrade string `json:"upgrade"` // what to do in order to upgrade it
}

func (w Way) String() string { return "installed by " + w.By + "; to upgrade, " + w.Upgrade }

// module is the path of the commands for go install.
const module = "github.com/fsmtx/fsmtx/cmd/..."

// trace is what can be seen of how a program was installed.
type trace struct {
	path     string // of the program, links resolved
	scripted string // the program that the install script has installed, "" if there is none
	source   string // the checkout in whose directory bin the program is, "" if it is in none
	goBin    string // where go install writes
}

// wayOf returns how the program at path was installed.
func wayOf(s terminal.Streams, path string) Way {
	t := trace{path: resolved(path)}
	for _, data := range []string{s.Env("XDG_DATA_HOME"), filepath.Join(s.Env("HOME"), ".local", "share"), "/usr/local/share"} {
		text, err := safefile.ReadFile(filepath.Join(data, "fsmtx", "installed-by-script"), 1<<12, 0)
		if name := strings.TrimSpace(string(text)); err == nil && filepath.IsAbs(data) && resolved(name) == t.path {
			t.scripted = name
		}
	}
	dir := filepath.Dir(t.path)
	if source := filepath.Dir(dir); filepath.Base(dir) == "bin" && isFile(filepath.Join(source, "cmd", "fsmtx", "main.go")) {
		t.source = source
	}
	t.goBin = resolved(goBin(s))
	return t.way()
}

// goBin returns where go install writes, as far as the environment tells.
func goBin(s terminal.Streams) string {
	if dir := s.Env("GOBIN"); dir != "" {
		return dir
	}
	if paths := filepath.SplitList(s.Env("GOPATH")); len(paths) > 0 {
		return filepath.Join(paths[0], "bin")
	}
	return filepath.Join(s.Env("HOME"), "go", "bin")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// way decides. The package managers are known by the directories that they keep.
func (t trace) way() Way {
	parts := strings.Split(filepath.ToSlash(t.path), "/")
	has := func(names ...string) bool {
		for i := range parts {
			if i+len(names) <= len(parts) && slices.Equal(parts[i:i+len(names)], names) {
				return true
			}
		}
		return false
	}
	switch {
	case t.scripted != "":
		return Way{"install.sh", "run the install.sh of the newest release" + t.target()}
	case has("Cellar", "fsmtx"):
		return Way{"Homebrew", "run brew upgrade fsmtx"}
	case has("mise", "installs"):
		return Way{"mise", "run mise upgrade fsmtx"}
	case has("aquaproj-aqua", "pkgs"):
		return Way{"aqua", "run aqua update and aqua install"}
	case has("_npx"):
		return Way{"npx", "run npx fsmtx@latest install"}
	case has("node_modules"):
		return Way{"npm", "run npm install -g fsmtx@latest, then fsmtx install, which renews the copy that hooks run"}
	case has(".claude", "plugins"):
		return Way{"a plugin of the client", "run claude plugin update fsmtx"}
	case t.source != "":
		return Way{"make build in " + t.source, "run git pull && make build there"}
	case filepath.Dir(t.path) == t.goBin:
		return Way{"go install", "run go install " + module + "@latest, or make install in a checkout"}
	}
	return Way{"hand, from an archive or a build", "replace " + t.path + " and fsmtx-mcp beside it by those of the newest archive"}
}

// target says where the script has to put the programs, if that is not its default.
func (t trace) target() string {
	dir := filepath.Dir(t.scripted)
	if strings.HasSuffix(filepath.ToSlash(dir), "/.local/bin") {
		return ""
	}
	return " with FSMTX_BIN=" + shell.Join(dir)
}
