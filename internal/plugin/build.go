package plugin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/hint"
	"github.com/fsmtx/fsmtx/internal/mcp/program"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// modulePath is this module's.
const modulePath = "github.com/fsmtx/fsmtx"

const needSource = "give the archives of a release with --from DIR, or install Go and run the command in a checkout of the source"

var (
	// errNoGo is returned when programs must be built and Go is not installed.
	errNoGo = hint.New("go is not on PATH; it is needed to build the programs for other platforms", needSource)
	// errNoSource is returned when the working directory is not in the source and this program
	// does not belong to a release.
	errNoSource = hint.New("this program does not belong to a release, and the working directory is not in its source", needSource)
	// errOtherSource is returned when the source is of another commit than this program.
	errOtherSource = hint.New("the source is of another commit than this program",
		"run make build there, then run the command with the program that it builds")
)

// Source is the source from which the programs for other platforms are built.
type Source struct {
	Commit  string // of this program; empty if unknown
	Version string // of this program
}

// Build builds the programs for the platforms with the Go command: from the working directory
// if that is in this module, or else from the module's release, which the Go command
// downloads if necessary.
//
// Errors: errNoGo, errNoSource, errOtherSource, and those of the Go command.
func (s Source) Build(ctx context.Context, platforms []Platform, mcp bool) ([]Program, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errNoGo
	}
	here := s.isHere(ctx)
	commit := output(ctx, "git", "rev-parse", "HEAD")
	switch {
	case !here && !isRelease(s.Version):
		return nil, errNoSource
	case here && s.Commit != "" && commit != "" && !strings.HasPrefix(commit, s.Commit):
		return nil, fmt.Errorf("%w: %s and %s", errOtherSource, commit, s.Commit)
	}
	dir, err := os.MkdirTemp("", "fsmtx-plugin-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	names := []string{settings.Program}
	if mcp {
		names = append(names, program.Name)
	}
	var built []Program
	for _, p := range platforms {
		one := Program{Platform: p}
		into := map[string]*[]byte{settings.Program: &one.Fsmtx, program.Name: &one.MCP}
		for _, name := range names {
			path, err := s.build(ctx, here, dir, p, name)
			if err != nil {
				return nil, err
			}
			if *into[name], err = safefile.ReadFile(path, maxProgram, 0); err != nil {
				return nil, err
			}
		}
		built = append(built, one)
	}
	return built, nil
}

// isHere reports whether the working directory is in the source of this module.
func (s Source) isHere(ctx context.Context) bool {
	return output(ctx, "go", "list", "-m") == modulePath
}

// output returns the first line that a command prints, "" if it fails.
func output(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

// build builds one program for one platform and returns its path below dir. A released
// module can be built only with "go install", which writes the programs for other platforms
// below GOPATH.
func (s Source) build(ctx context.Context, here bool, dir string, p Platform, name string) (string, error) {
	system, arch := p.split()
	pkg := modulePath + "/cmd/" + name
	path := filepath.Join(dir, p.dir(), name)
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	var args []string
	if here {
		args = []string{"build", "-trimpath", "-ldflags", ldflags(ctx), "-o", path, pkg}
	} else {
		modules := output(ctx, "go", "env", "GOMODCACHE")
		args = []string{"install", "-trimpath", "-ldflags", "-s -w", pkg + "@v" + s.Version}
		env = append(env, "GOPATH="+dir, "GOMODCACHE="+modules, "GOBIN=")
		path = filepath.Join(dir, "bin", system+"_"+arch, name)
		if p == hostOf(ctx) {
			path = filepath.Join(dir, "bin", name)
		}
	}
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = env
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s for %s: %w\n%s", name, p, err, strings.TrimSpace(string(out)))
	}
	return path, nil
}

// ldflags returns linker flags that set the version and the commit, like those of the
// Makefile. It is for our own source only: git describe --dirty runs programs that the
// configuration of a repository names (core.fsmonitor, filters).
func ldflags(ctx context.Context) string {
	const pkg = modulePath + "/internal/version."
	return "-s -w -X " + pkg + "describe=" + output(ctx, "git", "describe", "--tags", "--always", "--dirty") +
		" -X " + pkg + "commit=" + output(ctx, "git", "rev-parse", "HEAD")
}

// hostOf returns the platform for which "go install" writes to bin itself and not to
// bin/GOOS_GOARCH.
func hostOf(ctx context.Context) Platform {
	return Platform(output(ctx, "go", "env", "GOHOSTOS") + "/" + output(ctx, "go", "env", "GOHOSTARCH"))
}
