package install

import (
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
)

const (
	// Command is the program's path in the plugin's hooks. The client expands the
	// variable (fact 24); a plugin's bin is not on the PATH of its hooks. There is no
	// variable for the platform (fact 72), so in a plugin for several platforms this path
	// is a script; Windows runs the file beside it that has the same name and ".exe".
	Command = "${CLAUDE_PLUGIN_ROOT}/" + programPath

	binPath     = "bin"
	programPath = binPath + "/" + settings.Program
	toolsPath   = binPath + "/" + programs.Tools
)

// errPlatform is returned for a platform that this program does not run on.
var errPlatform = errors.New("fsmtx does not run on this platform")

// Platform is an operating system and an architecture, by Go's names: "linux/amd64".
type Platform string

// Platforms returns the platforms for which a plugin can have programs. Windows on arm64 runs that of amd64: it has no script that
// chooses.
func Platforms() []Platform {
	return []Platform{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}
}

// ThisPlatform returns the platform of this process.
func ThisPlatform() Platform { return Platform(runtime.GOOS + "/" + runtime.GOARCH) }

// ParsePlatform returns the platform with that name. It returns errPlatform.
func ParsePlatform(name string) (Platform, error) {
	if name == "windows/arm64" { // which runs the program of the other
		name = "windows/amd64"
	}
	if p := Platform(name); slices.Contains(Platforms(), p) {
		return p, nil
	}
	return "", fmt.Errorf("%q: %w", name, errPlatform)
}

// isWindows reports whether it is an architecture of Windows.
func (p Platform) isWindows() bool { return strings.HasPrefix(string(p), "windows/") }

// paths returns the paths of both programs in a plugin, which may have those of other platforms.
func (p Platform) paths(several bool) (fsmtx, tools string) {
	system, _, _ := strings.Cut(string(p), "/")
	names, dir := programs.Both(system), binPath+"/"
	if several && !p.isWindows() {
		dir += strings.ReplaceAll(string(p), "/", "-") + "/"
	}
	return dir + names[0], dir + names[1]
}

// Program holds a plugin's programs for one platform.
type Program struct {
	Platform Platform
	Fsmtx    []byte
	Tools    []byte // the program that has the commands of people and the MCP server
}

// choose is a script that starts the program for the platform on which it runs. It costs one
// start of sh and one of uname.
//
//go:embed choose.sh
var choose string

// trimmed returns a fallback as a line of its own.
func trimmed(f shell.Fallback) string { return strings.TrimSuffix(string(f), "; ") }

// programs returns the files of the programs. A single program for this platform is in bin.
// Otherwise the programs are in directories below bin, but those for Windows, and bin has the script.
func (p Plugin) programs() (files []file) {
	put := func(path string, data []byte) {
		if data != nil {
			files = append(files, file{path: path, mode: 0o755, data: data})
		}
	}
	several := len(p.Programs) != 1 || p.Programs[0].Platform != ThisPlatform()
	for _, one := range p.Programs {
		fsmtx, tools := one.Platform.paths(several)
		put(fsmtx, one.Fsmtx)
		put(tools, one.Tools)
	}
	if several {
		report := `[ -z "$FSMTX_REPORT" ] || printf '%s\n' "$FSMTX_REPORT"` // what the hook of SessionStart has exported
		if p.onWindows() {                                                  // where the hooks have no line that could export it
			report = "printf '%s\\n' " + shell.Quote(settings.MissingReport(Command))
		}
		put(programPath, []byte(strings.NewReplacer("@refuse@", trimmed(shell.Refuse), "@tell@", trimmed(shell.Tell), "@report@", report).
			Replace(choose)))
	}
	return files
}

// programPaths returns the paths of all files that programs can return.
func programPaths() (paths []string) {
	for _, p := range append(Platforms(), ThisPlatform()) {
		for _, several := range []bool{false, true} {
			fsmtx, tools := p.paths(several)
			paths = append(paths, fsmtx, tools)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Own returns the programs that run here.
//
// Errors: one that a program is missing, and those of reading the files.
func Own() (Program, error) {
	own := Program{Platform: ThisPlatform()}
	path, err := programs.Path()
	if err != nil {
		return own, err
	}
	if own.Fsmtx, err = safefile.ReadFile(path, maxProgram, 0); err != nil {
		return own, err
	}
	if path, err = programs.FindTools(); err != nil {
		return own, err
	}
	own.Tools, err = safefile.ReadFile(path, maxProgram, 0)
	return own, err
}
