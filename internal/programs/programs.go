// Package programs finds the two programs of which fsmtx consists, and starts one from the other.
//
// Fsmtx is what agents and their hooks run, often and for a few milliseconds. Tools has the commands
// of people and the MCP server, with the libraries that they need. For a command that Fsmtx does not
// have it replaces itself by Tools; Tools never starts Fsmtx. To a user they are one program.
//
// # Versions
//
// GetBuild determines the version of a program of this module, however it was built.
//
// Versions are semantic and come from the tags of the repository: v1.2.3 is version 1.2.3.
// A build of another commit has a pre-release of the next version:
//
//	1.2.3                       of the tag v1.2.3
//	1.2.3+dirty                 of the tag, with changes that are not committed
//	1.2.4-dev.5+g4eb6ddf1ac89   five commits after it
//	1.2.4-0.20261122…-4eb6…     the same, as the Go toolchain writes it
//	1.0.0-dev+g4eb6ddf1ac89     of a commit before the first tag
//	1.0.0-dev                   of unknown files
//
// GetBuild reads no file and does not use the network.
package programs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/message"
)

// The file names of the programs.
const (
	Fsmtx = "fsmtx"
	Tools = "fsmtx-tools"
)

// install is the command that installs both, for hints.
const install = "go install github.com/fsmtx/fsmtx/cmd/...@latest"

// errMissing is returned by FindTools when the program is not found.
var errMissing = message.NewError(Tools+", the part of this program that has this command, is neither beside "+Fsmtx+" nor on PATH",
	"install both programs again, for example with "+install)

// starter is the path of the program that has started this one; empty if none has.
var starter string

// Home is where the program is to be had.
const Home = "https://github.com/fsmtx/fsmtx"

// Path returns the path of Fsmtx: that of this program, or of the one that has started it, or the one beside it, which need not
// exist.
//
// Errors: that of os.Executable.
func Path() (string, error) {
	if starter != "" {
		return starter, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the path of this program: %w", err)
	}
	if suffix := filepath.Ext(self); filepath.Base(self) == Tools+suffix {
		return filepath.Join(filepath.Dir(self), Fsmtx+suffix), nil
	}
	return self, nil
}

// AsTyped returns the word by which the shell that has started this program runs it again: Fsmtx if that is what PATH finds,
// else its path. It is Fsmtx if the path is unknown.
func AsTyped() string {
	self, err := Path()
	if err != nil {
		return Fsmtx
	}
	found, missing := exec.LookPath(Fsmtx)
	a, err := os.Stat(found)
	b, failed := os.Stat(self)
	if missing == nil && err == nil && failed == nil && os.SameFile(a, b) {
		return Fsmtx
	}
	return filepath.ToSlash(self) // which every shell of Windows reads, too
}

// FindTools returns the path of Tools: this program's, or in the directory of this program, or else on PATH.
//
// Errors: errMissing, and those of filepath.Abs.
func FindTools() (string, error) {
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), Tools)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(Tools)
	if err != nil {
		return "", errMissing
	}
	return filepath.Abs(path)
}

// startedBy is the first argument of Tools if Fsmtx started it; the version and the path of Fsmtx follow.
const startedBy = "--started-by"

// Start replaces this process, that of Fsmtx in the version, by Tools with the arguments; on Windows it waits for it. It returns only with
// an error.
//
// Errors: those of FindTools and of execve.
func Start(args []string, version string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the path of this program: %w", err)
	}
	path, err := FindTools()
	if err != nil {
		return err
	}
	err = process.Become(path, append([]string{os.Args[0], startedBy, version, self}, args...))
	return message.WithHint(fmt.Errorf("starting %s: %w", path, err), "install both programs again, for example with "+install)
}

// Started returns the arguments of Tools in the version without those that Start adds. The error says that Fsmtx is of
// another version.
func Started(args []string, version string) ([]string, error) {
	if len(args) < 3 || args[0] != startedBy {
		return args, nil
	}
	if starter = args[2]; args[1] != version {
		self, err := os.Executable()
		return nil, message.WithHint(errors.Join(fmt.Errorf("%s has version %s, and %s, which it needs for this command, has version %s",
			starter, args[1], self, version), err), "install both programs in one version, for example with "+install)
	}
	return args[3:], nil
}

// Both returns the file names of both programs on a system, by Go's name of it.
func Both(system string) []string {
	if system == "windows" {
		return []string{Fsmtx + ".exe", Tools + ".exe"}
	}
	return []string{Fsmtx, Tools}
}
