package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// errNoShell is returned where there is no POSIX shell.
var errNoShell = errors.New("there is no sh here: install Git for Windows, which has one, " +
	"or name its bash.exe in CLAUDE_CODE_GIT_BASH_PATH")

// PowerShell returns the path of PowerShell: a newer one, or that of Windows.
func PowerShell() (string, error) {
	return powerShell("pwsh", "powershell", filepath.Join(os.Getenv("SystemRoot"), "System32", "WindowsPowerShell", "v1.0", "powershell.exe"))
}

// Sh returns the path of a POSIX shell: that of Git for Windows, beside the bash that the client is told to use, or beside git, or where
// it is installed by default, or else what PATH has.
func Sh() (string, error) {
	var dirs []string
	if bash := os.Getenv("CLAUDE_CODE_GIT_BASH_PATH"); bash != "" {
		dirs = append(dirs, filepath.Dir(bash))
	}
	for _, root := range gitRoots() {
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

// gitRoots returns where Git for Windows may be installed: where git is, and where it is by default.
func gitRoots() (roots []string) {
	if git, err := exec.LookPath("git"); err == nil { // in cmd, bin or mingw64\bin
		roots = append(roots, filepath.Dir(filepath.Dir(git)), filepath.Dir(filepath.Dir(filepath.Dir(git))))
	}
	for _, name := range []string{"ProgramFiles", "ProgramW6432", "LocalAppData"} {
		if dir := os.Getenv(name); dir != "" {
			roots = append(roots, filepath.Join(dir, "Git"), filepath.Join(dir, "Programs", "Git"))
		}
	}
	return roots
}

// Has reports whether a program is in a directory of a PATH, or among those that come with the sh of Git for Windows.
func Has(path, name string) bool {
	dirs := filepath.SplitList(path)
	if sh, err := Sh(); err == nil {
		root := filepath.Dir(filepath.Dir(sh))
		dirs = append(dirs, filepath.Dir(sh), filepath.Join(root, "usr", "bin"), filepath.Join(root, "mingw64", "bin"))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return slices.ContainsFunc([]string{"", ".exe", ".cmd", ".bat", ".com"}, func(end string) bool {
			info, err := os.Stat(filepath.Join(dir, name+end))
			return err == nil && info.Mode().IsRegular()
		})
	})
}
