package install

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Copy is one of the copies of this program that may run here.
type Copy struct {
	Where string `json:"where"` // what starts it
	Path  string `json:"path"`
	Same  bool   `json:"same"` // its content is that of this program
}

func (c Copy) String() string {
	word := "differs"
	if c.Same {
		word = "same"
	}
	return word + "  " + c.Path + "  " + c.Where
}

// Copies returns this program, the program on PATH, and those that hooks in settings files and plugins run,
// without duplicates. It runs none of them: a repository may bring its own settings.
func Copies(s terminal.Streams) ([]Copy, error) {
	self, err := programs.Path()
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	all := []Copy{{"this program", self, true}}
	add := func(where, program string) {
		path, err := exec.LookPath(program)
		if path == "" || err != nil && filepath.IsAbs(path) {
			return // doctor reports missing programs
		}
		if !slices.ContainsFunc(all, func(c Copy) bool { return safefile.Same(c.Path, path) }) {
			all = append(all, Copy{where, path, sameContent(self, path)})
		}
	}
	add("on PATH", settings.Program)
	d := &doctor{Streams: s, cwd: cwd}
	places, err := d.places()
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		for _, h := range callsIn(p.path) {
			add(p.path, h.Command)
		}
	}
	if root := d.pluginWithHooks().root; root != "" {
		file := filepath.Join(root, "hooks", "hooks.json")
		for _, h := range callsIn(file) {
			add(file, strings.ReplaceAll(h.Command, "${CLAUDE_PLUGIN_ROOT}", root))
		}
	}
	return all, nil
}

// callsIn returns the calls of this program by the hooks in a file. Doctor reports files that cannot be read.
func callsIn(file string) []settings.Call {
	data, _ := safefile.ReadFile(file, settings.MaxBytes, 0)
	return settings.Calls(data)
}

// sameContent reports whether two regular files are equal.
func sameContent(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA != nil || errB != nil || infoA.Size() != infoB.Size() {
		return false
	}
	dataA, errA := safefile.ReadFile(a, maxProgram, 0)
	dataB, errB := safefile.ReadFile(b, maxProgram, 0)
	return errA == nil && errB == nil && bytes.Equal(dataA, dataB)
}
