package command

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/mcp/program"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/version"
)

// programCopy is one of the copies of this program that may run here.
type programCopy struct {
	Where   string `json:"where"` // what starts it
	Path    string `json:"path"`
	Version string `json:"version"` // empty if it could not be asked
	Same    bool   `json:"same"`    // as this program's
}

// checkVersion compares the version of this program with those of its other copies. It runs
// them and does not use the network.
func checkVersion(ctx context.Context, s terminal.Streams, asJSON bool) error {
	copies, err := copiesHere(s)
	if err != nil {
		return err
	}
	differ := 0
	for i := range copies {
		c := &copies[i]
		if c.Version == "" {
			c.Version = askVersion(ctx, c.Path)
		}
		if c.Same = c.Version == version.Get().Version; !c.Same {
			differ++
		}
	}
	if asJSON {
		err = printJSON(s.Out, copies)
	} else {
		for _, c := range copies {
			_ = s.Printf("%s  %s  %s\n", cmp.Or(c.Version, "unknown"), c.Path, c.Where)
		}
	}
	if err == nil && differ > 0 {
		return &exit{code: exitNo}
	}
	return err
}

// copiesHere returns this program, fsmtx-mcp, the program on PATH, and those that hooks in
// settings files and plugins run, without duplicates.
func copiesHere(s terminal.Streams) ([]programCopy, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	all := []programCopy{{Where: "this program", Path: self, Version: version.Get().Version}}
	seen := map[string]bool{resolved(self): true}
	add := func(where, path string) {
		path, err := exec.LookPath(path)
		if err != nil || seen[resolved(path)] {
			return // doctor reports missing programs
		}
		seen[resolved(path)] = true
		all = append(all, programCopy{Where: where, Path: path})
	}
	add("on PATH", settings.Program)
	if path, err := program.Find(); err == nil {
		add("fsmtx mcp", path)
	}
	d := &doctor{Streams: s, cwd: cwd}
	places, err := d.places()
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		data, _ := safefile.ReadFile(p.path, maxSettings, 0) // doctor reports files that cannot be read
		for _, h := range ours(data) {
			add(p.path, h.Command)
		}
	}
	if root := d.pluginWithHooks().root; root != "" {
		file := filepath.Join(root, "hooks", "hooks.json")
		data, _ := safefile.ReadFile(file, maxSettings, 0)
		for _, h := range ours(data) {
			add(file, strings.ReplaceAll(h.Command, "${CLAUDE_PLUGIN_ROOT}", root))
		}
	}
	return all, nil
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// askVersion returns the version that a program prints for --version, without the "v" of
// early builds. It is empty if the program fails.
func askVersion(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, path, "--version")
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	line = strings.TrimPrefix(line, program.Name+" version ")
	line = strings.TrimPrefix(line, settings.Program+" ")
	word, _, _ := strings.Cut(line, " ")
	return strings.TrimPrefix(word, "v")
}
