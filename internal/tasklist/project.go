package tasklist

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/locator"
)

// rootDir returns the directory of the lists of projects: fsmtx/tasks in XDG_STATE_HOME or
// ~/.local/state. It returns client.ErrNoHome if neither is known.
func rootDir(lookup func(string) (string, bool)) (string, error) {
	own, err := client.OwnDir(lookup, "XDG_STATE_HOME", ".local/state")
	if err != nil {
		return "", err
	}
	return filepath.Join(own, "tasks"), nil
}

// IsOfProject reports whether a directory is that of the list of a project, and not of a session.
func IsOfProject(lookup func(string) (string, bool), dir string) bool {
	lists, err := rootDir(lookup)
	return err == nil && filepath.Dir(dir) == lists
}

// Project returns the root of the project that the absolute path dir belongs to, without
// symbolic links: that of the work tree of git, else the nearest directory that has a list of
// its own, else dir. The home directory is a project only for itself.
func Project(lookup func(string) (string, bool), dir string) string {
	dir = safefile.Resolve(dir)
	if root, _ := client.WorkTree(locator.OS{}, dir); root != "" {
		return root
	}
	home, _ := lookup("HOME")
	home = safefile.Resolve(home)
	lists, err := rootDir(lookup)
	for up := dir; err == nil && up != filepath.Dir(up) && up != home; up = filepath.Dir(up) {
		if exists(filepath.Join(lists, nameOf(up))) {
			return up
		}
	}
	return dir
}

// Home returns the directory by which people know the project of dir, with all its work trees and folders: the root of the main work tree,
// that of a bare repository, or Project. repository is that of which dir was a work tree, if it is gone, or another one is there.
func Home(lookup func(string) (string, bool), dir, repository string) string {
	if repository != "" && repository != state.RepositoryOf(dir) && !state.IsRemoved(repository) {
		if filepath.Base(repository) == ".git" {
			return filepath.Dir(repository)
		}
		return repository
	}
	switch root, shared, linked := state.WorkTreeOf(dir); {
	case linked && filepath.Base(shared) == ".git":
		return filepath.Dir(shared)
	case linked:
		return shared
	case root != "" || dir == "":
		return root
	}
	return Project(lookup, dir)
}

// ofProject returns the project's list, or another one of the project if more is not empty.
func (q Query) ofProject(more string) (Found, error) {
	lists, err := rootDir(q.Lookup)
	if err != nil {
		return Found{}, err
	}
	root := Project(q.Lookup, q.Dir)
	name := nameOf(root)
	if more != "" {
		name += "-" + distinct(more)
	}
	return Found{Dir: filepath.Join(lists, name), Session: name, Project: root}, nil
}

// nameOf returns the name of the list of a project: the last part of its path for people, and
// a digest of all of it.
func nameOf(root string) string {
	return cmp.Or(clean(filepath.Base(root)), "root") + "-" + digest(root)
}

// nameOfProject returns the name by which people know the list of a project: that of its directory, or the whole name if there are others
// of the project. It is empty for the list of a session.
func nameOfProject(lookup func(string) (string, bool), dir string) string {
	if !IsOfProject(lookup, dir) {
		return ""
	}
	name := filepath.Base(dir)
	for i := range name {
		rest := name[i:]
		if rest[0] != '-' || len(rest) <= digits || strings.Trim(rest[1:digits+1], "0123456789abcdef") != "" {
			continue
		}
		switch {
		case len(rest) == digits+1:
			return name[:i]
		case rest[digits+1] == '-':
			return name
		}
	}
	return ""
}

// distinct returns the part of a list's name that stands for a name a person has chosen: the name
// itself, or what can be kept of it with a digest, so that two names are never one list.
func distinct(name string) string {
	if kept := clean(name); kept != name {
		return kept + "-" + digest(name)
	}
	return name
}

// digits is the length of a digest.
const digits = 10

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:digits/2])
}

// maxName limits a name in bytes; a file's name may have 255, and the state directory's has
// a few more than the list's.
const maxName = 64

// clean returns the name with the characters that the name of a list may have.
func clean(name string) string {
	name = tasks.CleanID(name)
	return strings.TrimLeft(name[:min(len(name), maxName)], "-")
}
