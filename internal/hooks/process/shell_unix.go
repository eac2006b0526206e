//go:build unix

package process

import (
	"os"
	"path/filepath"
	"slices"
)

// Sh returns the path of a POSIX shell.
func Sh() (string, error) { return "/bin/sh", nil }

// Has reports whether a program is in a directory of a PATH.
func Has(path, name string) bool {
	return slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	})
}

// PowerShell returns the path of PowerShell.
func PowerShell() (string, error) { return powerShell("pwsh") }
