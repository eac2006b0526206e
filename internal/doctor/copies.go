package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/version"
)

// Copy is one of the copies of this program that may run here.
type Copy struct {
	Where    string `json:"where"` // what starts it
	Path     string `json:"path"`
	Version  string `json:"version"`            // empty if unknown
	Same     bool   `json:"same"`               // as this program's
	NotAsked string `json:"not_asked,omitzero"` // why it was not run
	Failed   string `json:"failed,omitzero"`    // why it has not said its version
}

func (c Copy) String() string {
	line := cmp.Or(c.Version, "unknown") + "  " + c.Path + "  " + c.Where
	if c.NotAsked != "" {
		line += "  (not run: " + c.NotAsked + ")"
	}
	if c.Failed != "" {
		line += "  (its version could not be found out: " + c.Failed + ")"
	}
	return line
}

// Copies returns this program, fsmtx-tools, the program on PATH, and those that hooks in
// settings files and plugins run, without duplicates. A repository may bring its own
// settings, so what they name is not run: whoever asks for versions in somebody's repository
// would run a program of theirs.
func Copies(ctx context.Context, s terminal.Streams) ([]Copy, error) {
	self, err := programs.Path()
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	d := &doctor{Streams: s, cwd: cwd}
	named, err := d.namedPrograms()
	if err != nil {
		return nil, err
	}
	all := copyList{{Where: "this program", Path: self, Version: version.Get().Version}}
	all.ask(ctx, "on PATH", settings.Program)
	if path, err := programs.FindTools(); err == nil {
		all.ask(ctx, programs.Tools, path)
	}
	kept, _ := install.CopyPath(s.Getenv)
	for _, n := range named { // first what may be run, with which the others are compared
		switch {
		case n.trusted:
			all.ask(ctx, n.where, n.path)
		case safefile.Same(n.path, kept) && install.CheckCopyDir(s.Getenv) == nil:
			all.ask(ctx, n.where, kept)
		}
	}
	for _, n := range named {
		all.compare(n.where, n.path, n.distrust)
	}
	for i := range all {
		all[i].Same = all[i].Version == version.Get().Version
	}
	return all, nil
}

// namedProgram is a program that the hooks in a file run.
type namedProgram struct {
	where, path string
	trusted     bool   // the user has named it
	distrust    string // why it is not run otherwise
}

// namedPrograms returns the programs that hooks run here.
func (d *doctor) namedPrograms() (all []namedProgram, err error) {
	places, err := d.places()
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		data, _ := safefile.ReadFile(p.path, settings.MaxBytes, 0) // doctor reports files that cannot be read
		for _, h := range settings.Calls(data) {
			n := namedProgram{where: p.path, path: h.Command, trusted: p.scope == install.User && filepath.IsAbs(h.Command)}
			n.distrust = "the settings of a project name it, which may come from somebody else"
			if p.scope == install.User {
				n.distrust = "its path is relative, so the project decides which program it is"
			}
			all = append(all, n)
		}
	}
	root := d.pluginWithHooks().root
	if root == "" {
		return all, nil
	}
	file := filepath.Join(root, "hooks", "hooks.json")
	data, _ := safefile.ReadFile(file, settings.MaxBytes, 0)
	for _, h := range settings.Calls(data) {
		path := strings.ReplaceAll(h.Command, "${CLAUDE_PLUGIN_ROOT}", root)
		all = append(all, namedProgram{file, path, d.isInstalled(path), "the plugin is not in the client's directory of installed plugins"})
	}
	return all, nil
}

// isInstalled reports whether a program is in the client's directory of plugins, to which only
// what the user has installed is copied.
func (d *doctor) isInstalled(path string) bool {
	config, err := claude.ConfigDir(d.Getenv)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(resolved(filepath.Join(config, "plugins")), resolved(path))
	return err == nil && filepath.IsLocal(below)
}

// copyList is what version --check lists, each program once.
type copyList []Copy

// ask adds a program that may be run, and asks it for its version.
func (l *copyList) ask(ctx context.Context, where, path string) {
	path, err := exec.LookPath(path)
	if err != nil || l.has(path) {
		return // doctor reports missing programs
	}
	c := Copy{Where: where, Path: path}
	if c.Version, err = askVersion(ctx, path, askLimit); err != nil {
		c.Failed = err.Error()
	}
	*l = append(*l, c)
}

// compare adds a program that may not be run. Its version is that of a listed program with
// the same content.
func (l *copyList) compare(where, path, distrust string) {
	path, err := exec.LookPath(path)
	if err != nil && !errors.Is(err, exec.ErrDot) || l.has(path) {
		return
	}
	c := Copy{Where: where, Path: path, NotAsked: distrust}
	for _, known := range *l {
		if known.NotAsked == "" && sameContent(known.Path, path) {
			c.Version, c.NotAsked = known.Version, ""
		}
	}
	*l = append(*l, c)
}

func (l *copyList) has(path string) bool {
	return slices.ContainsFunc(*l, func(c Copy) bool { return safefile.Same(c.Path, path) })
}

// maxProgram limits the size of a program that is compared.
const maxProgram = 256 << 20

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

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// askLimit bounds the run of a program that is asked for its version.
const askLimit = 5 * time.Second

// askVersion returns the version that a program prints for --version, without the "v" of early builds. The program
// runs in the root directory: a shim on PATH would look in the working directory for what to run.
func askVersion(ctx context.Context, path string, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, path, "--version")
	c.Dir, c.WaitDelay = "/", time.Second
	out, err := c.Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("it has not answered within %v", limit)
	}
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(out), "\n")
	line = strings.TrimPrefix(line, programs.Tools+" version ")
	line = strings.TrimPrefix(line, settings.Program+" ")
	word, _, _ := strings.Cut(line, " ")
	if word = strings.TrimPrefix(word, "v"); word == "" {
		return "", errors.New("it has printed none")
	}
	return word, nil
}
