package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// launcherVariable is the variable in which the launcher of the npm package says where it is.
const launcherVariable = "FSMTX_LAUNCHER"

// errOld is returned by npmCopy.Check for a copy of another version.
var errOld = errors.New("is not the version that npm has installed")

// errUntrusted is returned if another user could replace the copy.
var errUntrusted = errors.New("another user can replace the programs in it")

// maxProgram limits the size of a file that is read, in bytes. The programs have some 15 MB.
const maxProgram = 256 << 20

// npmCopy is the copy of this program that hooks run if npm, or a similar package
// manager, has installed it.
//
// A hook needs a path that does not change. The paths of packages do: npx and similar
// programs run from caches that are emptied, some package managers have the version of the
// package in the path, and version managers for Node have the version of Node in it. The
// client hardly reports a missing program of a hook (fact 46 of docs/internals/client-facts.md), so
// workflows would silently stop working. The price is that the copy keeps its version until
// it is renewed.
type npmCopy struct {
	dir  string // of the copy
	from string // directory of this program
}

// findCopy returns the copy for this program, in fsmtx/bin in XDG_DATA_HOME or ~/.local/share.
// The copy need not exist yet. ok is false if this program is not in a package.
//
// Errors: client.ErrNoHome, and that of programs.Path.
func findCopy(getenv func(string) (string, bool)) (c npmCopy, ok bool, err error) {
	self, err := programs.Path()
	if err != nil {
		return c, false, err
	}
	c.from = filepath.Dir(self)
	if !slices.Contains(strings.Split(filepath.ToSlash(self), "/"), "node_modules") {
		return c, false, nil
	}
	c.dir, err = copyDir(getenv)
	return c, true, err
}

func copyDir(getenv func(string) (string, bool)) (string, error) {
	own, err := client.OwnDir(getenv, "XDG_DATA_HOME", ".local/share")
	if err != nil {
		return "", err
	}
	return filepath.Join(own, "bin"), nil
}

// copyPath returns the path that fsmtx has in a copy, whether there is one or not.
//
// Errors: client.ErrNoHome.
func copyPath(getenv func(string) (string, bool)) (string, error) {
	dir, err := copyDir(getenv)
	return npmCopy{dir: dir}.Path(), err
}

// Path returns the path of fsmtx in the copy.
func (c npmCopy) Path() string { return filepath.Join(c.dir, programs.Both(runtime.GOOS)[0]) }

// checkDir returns errUntrusted with the path if a program of the copy or a directory above it
// belongs to another user, or others may write to it. Hooks run the copy in every session,
// so a user who can replace it runs programs as this user. What does not exist is fine.
func (c npmCopy) checkDir() error {
	own := filepath.Dir(c.dir)
	paths := []string{filepath.Dir(own), own, c.dir}
	for _, name := range programs.Both(runtime.GOOS) {
		paths = append(paths, filepath.Join(c.dir, name))
	}
	for i, path := range paths {
		info, err := safefile.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if why := untrusted(info, i == 0); why != "" {
			return message.WithHint(fmt.Errorf("%s %s: %w", path, why, errUntrusted), "hooks would run the programs in "+c.dir+
				"; make the directories above and what is in it yours, and run chmod go-w on them, or set XDG_DATA_HOME to a directory "+
				"of yours; nothing was changed")
		}
	}
	return nil
}

// untrusted says why another user can change what info describes. It is empty if only this user and
// root can. A shared directory holds data of other programs: there a group may write, which
// is often the user's own (umask 002), and all may if the sticky bit keeps them from
// renaming.
func untrusted(info fs.FileInfo, shared bool) string {
	others := fs.FileMode(0o022)
	switch {
	case shared && info.Mode()&fs.ModeSticky != 0:
		others = 0
	case shared:
		others = 0o002
	}
	switch uid, ok := safefile.OwnerOf(info); {
	case !ok:
		return "has no owner that is known"
	case uid != 0 && uid != os.Geteuid():
		return fmt.Sprintf("belongs to user %d", uid)
	case safefile.OthersMayWrite(info) && info.Mode().Perm()&others != 0:
		return fmt.Sprintf("can be written by others (mode %04o)", info.Mode().Perm())
	}
	return ""
}

// files returns the programs of this package.
func (c npmCopy) files() (all []file, err error) {
	for _, name := range programs.Both(runtime.GOOS) {
		data, err := safefile.ReadFile(filepath.Join(c.from, name), maxProgram, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, file{path: name, mode: 0o755, data: data})
	}
	return all, nil
}

// outdated returns the programs that the copy does not have as they are here. It returns errUntrusted.
func (c npmCopy) outdated() ([]file, error) {
	if err := c.checkDir(); err != nil {
		return nil, err
	}
	files, err := c.files()
	if err != nil {
		return nil, err
	}
	all, _, err := differing(c.dir, files)
	return all, err
}

// Check returns errOld with the name of a program of the copy that is not that of the package, and errUntrusted.
func (c npmCopy) Check() error {
	all, err := c.outdated()
	if err == nil && len(all) > 0 {
		err = fmt.Errorf("%s %w", filepath.Join(c.dir, all[0].path), errOld)
	}
	return err
}

// Renew updates the copy to this program's version. It does not disturb programs that run
// from the copy. It writes nothing if the copy already has this version.
//
// Errors: errUntrusted, safefile.ErrNotRegular, and the system's.
func (c npmCopy) Renew() error {
	all, err := c.outdated()
	if errors.Is(err, safefile.ErrNotRegular) {
		return message.WithHint(err, "move it away; nothing was changed")
	}
	if err == nil {
		err = sweepCopy(c.dir)
	}
	if err == nil && len(all) > 0 {
		err = c.mkdir()
	}
	for _, f := range all {
		if err == nil {
			err = f.write(c.dir)
		}
	}
	return err
}

// mkdir creates the directory of the copy, to which others may not write whatever the umask.
func (c npmCopy) mkdir() error {
	created, err := safefile.Mkdir(c.dir)
	for _, dir := range created {
		err = errors.Join(err, os.Chmod(dir, 0o755))
	}
	return err
}

// removeCopy removes the copy and returns its directory, empty if there was no copy. It keeps
// other files in that directory.
func removeCopy(getenv func(string) (string, bool)) (string, error) {
	dir, err := copyDir(getenv)
	if err != nil {
		return "", err
	}
	if err := sweepCopy(dir); err != nil {
		return "", err
	}
	removed := ""
	for _, name := range programs.Both(runtime.GOOS) {
		switch err := os.Remove(filepath.Join(dir, name)); {
		case err == nil:
			removed = dir
		case !errors.Is(err, fs.ErrNotExist):
			return removed, err
		}
	}
	_ = safefile.Rmdir(dir) // a killed install leaves it empty
	_ = safefile.Rmdir(filepath.Dir(dir))
	return removed, nil
}

// copyLeftovers returns the paths of what killed installs left in the directory of the copy.
//
// Errors: client.ErrNoHome and the system's.
func copyLeftovers(getenv func(string) (string, bool)) ([]string, error) {
	dir, err := copyDir(getenv)
	if err != nil {
		return nil, err
	}
	return leftovers(dir)
}

func leftovers(dir string) ([]string, error) {
	paths, err := safefile.Leftovers(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return paths, err
}

// sweepCopy removes what killed installs left in the directory.
func sweepCopy(dir string) error {
	paths, err := leftovers(dir)
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// launcherIsOnPath reports whether the launcher that started this program is the fsmtx on PATH.
func launcherIsOnPath(getenv func(string) (string, bool)) bool {
	launcher, _ := getenv(launcherVariable)
	found, err := exec.LookPath(programs.Fsmtx)
	if err != nil || launcher == "" {
		return false
	}
	return safefile.Same(found, launcher)
}
