package process

import (
	"errors"
	"os/exec"
)

// errNoPowerShell is returned where there is no PowerShell.
var errNoPowerShell = errors.New("there is no PowerShell here: install it, so that pwsh is in PATH")

func powerShell(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoPowerShell
}
