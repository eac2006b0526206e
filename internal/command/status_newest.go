package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// newest looks for the list of the project that was hydrated last, at first and whenever a list has
// come. A nil newest looks for nothing.
type newest struct {
	streams terminal.Streams
	roots   []string        // in which lists come
	absent  map[string]bool // roots that did not exist when they were looked at last
	stale   bool            // a list may have come since the last look
}

// chooseToWatch is chooseList for a watch, which may begin before the first workflow: without one it
// returns an empty list. newest is nil if something names the list.
func chooseToWatch(ctx context.Context, s terminal.Streams, session string) (list tasks.List, chosen string, n *newest, err error) {
	found, err := findList(ctx, s, session)
	if err == nil && !found.Newest {
		list, chosen, err = chooseList(ctx, s, session)
		return list, chosen, nil, err
	}
	if err != nil && !errors.Is(err, tasklist.ErrNoList) {
		return list, "", nil, err
	}
	roots, err := tasklist.Roots(s.Getenv)
	return list, "", &newest{streams: s, roots: roots, absent: map[string]bool{}, stale: true}, err
}

// find returns the list if it may be another one than before.
func (n *newest) find(ctx context.Context) (list tasks.List, chosen string, found bool) {
	if n == nil || !n.stale {
		return list, "", false
	}
	n.stale = false
	list, _, err := chooseList(ctx, n.streams, "")
	return list, newestList, err == nil // without its path, which is a line full of digits
}

// follow watches the directories in which lists come, or what is there of the path to them.
func (n *newest) follow(watcher *fsnotify.Watcher) {
	if n == nil {
		return
	}
	for _, root := range n.roots {
		for at := ""; at != existing(root); {
			at = existing(root)
			_ = watcher.Add(at)
		}
		if existing(root) != root {
			n.absent[root] = true
		} else if n.absent[root] {
			delete(n.absent, root)
			n.arrived(watcher, root)
		}
	}
}

// existing returns the part of the path to dir that exists.
func existing(dir string) string {
	for dir != filepath.Dir(dir) && !exists(dir, ".") {
		dir = filepath.Dir(dir)
	}
	return dir
}

// arrived watches the state directories in a root that did not exist before.
func (n *newest) arrived(watcher *fsnotify.Watcher, root string) {
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		n.concerns(watcher, filepath.Join(root, e.Name()), "")
	}
}

// concerns reports whether a change of that path may mean that a list has come. The state directory
// of a new list is watched from then on, because the list counts only when its history has an entry.
// known is the directory of the present list.
func (n *newest) concerns(watcher *fsnotify.Watcher, path, known string) bool {
	if n == nil {
		return false
	}
	own, _ := txn.StateDir(known)
	isState := func(path string) bool {
		_, ok := txn.ParseStateDir(filepath.Base(path))
		return ok && path != own && slices.Contains(n.roots, filepath.Dir(path))
	}
	if isState(path) {
		_ = watcher.Add(path)
	}
	above := slices.ContainsFunc(n.roots, func(root string) bool { return strings.HasPrefix(root+"/", path+"/") })
	come := isState(path) || isState(filepath.Dir(path)) || above
	n.stale = n.stale || come
	return come
}
