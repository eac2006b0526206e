package client

import (
	"path/filepath"
)

// OwnDir returns the directory in which fsmtx keeps files of one kind for a user: fsmtx in the
// directory that the variable names, such as XDG_STATE_HOME, or in below, a path in HOME. A
// variable with a relative path is ignored, as the XDG specification says. lookup is os.LookupEnv
// or a stand-in for it. Without either it returns an error that is ErrNoHome.
func OwnDir(lookup func(string) (string, bool), variable, below string) (string, error) {
	dir, _ := lookup(variable)
	if !filepath.IsAbs(dir) {
		home, _ := lookup("HOME")
		if home == "" {
			return "", noOwnDir(variable)
		}
		dir = filepath.Join(home, below)
	}
	return filepath.Join(dir, "fsmtx"), nil
}

// noOwnDir is an ErrNoHome of the files of fsmtx; it is the variable that is not set.
type noOwnDir string

func (e noOwnDir) Error() string {
	return "cannot find the files of fsmtx: neither " + string(e) + " nor HOME is set"
}
func (noOwnDir) Hint() string         { return "set HOME" }
func (noOwnDir) Is(target error) bool { return target == ErrNoHome }
