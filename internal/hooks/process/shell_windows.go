package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// errNoShell is returned where there is no POSIX shell.
var errNoShell = errors.New("no shell: Git for Windows, which has one, was not found")

// Sh returns the path of a POSIX shell: that of Git for Windows, beside the bash that the client is told to use, or beside git, or where
// it is installed by default, or else what PATH has.
func Sh() (string, error) {
	var dirs []string
	if bash := os.Getenv("CLAUDE_CODE_GIT_BASH_PATH"); bash != "" {
		dirs = append(dirs, filepath.Dir(bash))
	}
	var roots []string
	if git, err := exec.LookPath("git"); err == nil { // in cmd, bin or mingw64\bin
		roots = append(roots, filepath.Dir(filepath.Dir(git)), filepath.Dir(filepath.Dir(filepath.Dir(git))))
	}
	for _, name := range []string{"ProgramFiles", "ProgramW6432", "LocalAppData"} {
		if dir := os.Getenv(name); dir != "" {
			roots = append(roots, filepath.Join(dir, "Git"), filepath.Join(dir, "Programs", "Git"))
		}
	}
	for _, root := range roots {
		dirs = append(dirs, filepath.Join(root, "bin"), filepath.Join(root, "usr", "bin"))
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, "sh.exe")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	if path, err := exec.LookPath("sh"); err == nil {
		return path, nil
	}
	return "", errNoShell
}
