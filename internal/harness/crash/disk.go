package crash

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// This file is the model of a disk. A power cut leaves what was made durable, and
// any part of what was not. A file's bytes are made durable by syncing the file, its
// names by syncing the directories that hold them. What one call does in one
// directory is kept or lost as a whole; what it does in two directories (a rename)
// is kept or lost in each separately.

// inode identifies a file or directory of the model; 0 is none.
type inode int

// effect is a change that is kept or lost as a whole.
type effect struct {
	dir   inode            // of a change of names
	names map[string]inode // 0 removes the name
	file  inode            // of a change of bytes
	data  []byte           // all bytes of the file
	old   int              // how many of them were there before
}

// disk is the state of the model: what is durable, and in order what is pending.
type disk struct {
	dirs    map[inode]map[string]inode // durable names
	files   map[inode][]byte           // durable bytes
	now     map[inode]map[string]inode // names as seen by processes
	mode    map[inode]fs.FileMode
	pending []effect
	last    inode
}

const root inode = 1

func newDisk() *disk {
	return &disk{
		dirs:  map[inode]map[string]inode{root: {}},
		files: map[inode][]byte{},
		now:   map[inode]map[string]inode{root: {}},
		mode:  map[inode]fs.FileMode{root: fs.ModeDir | 0o755},
		last:  root,
	}
}

func (d *disk) clone() *disk {
	c := *d
	c.dirs, c.now = cloneNames(d.dirs), cloneNames(d.now)
	c.files, c.mode = maps.Clone(d.files), maps.Clone(d.mode)
	c.pending = slices.Clone(d.pending)
	return &c
}

func cloneNames(m map[inode]map[string]inode) map[inode]map[string]inode {
	c := make(map[inode]map[string]inode, len(m))
	for k, v := range m {
		c[k] = maps.Clone(v)
	}
	return c
}

// find returns the inode at a path below the root, or 0, and its directory and name.
func (d *disk) find(path string) (dir inode, name string, at inode) {
	dir = root
	parts := strings.Split(strings.Trim(filepath.ToSlash(path), "/"), "/")
	for _, part := range parts[:len(parts)-1] {
		dir = d.now[dir][part]
	}
	name = parts[len(parts)-1]
	if name == "." || name == "" {
		return 0, "", dir
	}
	return dir, name, d.now[dir][name]
}

func (d *disk) create(mode fs.FileMode) inode {
	d.last++
	d.mode[d.last] = mode
	if mode.IsDir() {
		d.dirs[d.last], d.now[d.last] = map[string]inode{}, map[string]inode{}
	}
	return d.last
}

// set changes names in one directory, as one effect.
func (d *disk) set(dir inode, names map[string]inode) {
	applyNames(d.now[dir], names)
	d.pending = append(d.pending, effect{dir: dir, names: names})
}

func applyNames(to, names map[string]inode) {
	for name, at := range names {
		if at == 0 {
			delete(to, name)
		} else {
			to[name] = at
		}
	}
}

// apply applies a step to the model. Paths are relative to the root.
func (d *disk) apply(s faultfs.Step) {
	dir, name, at := d.find(s.Path)
	switch s.Op {
	case "mkdir":
		if at == 0 {
			d.set(dir, map[string]inode{name: d.create(fs.ModeDir | 0o700)})
		}
	case "create":
		d.set(dir, map[string]inode{name: d.create(0o644)})
	case "write", "overwrite":
		if at == 0 {
			at = d.create(0o600)
			d.set(dir, map[string]inode{name: at})
		}
		d.pending = append(d.pending, effect{file: at, data: s.Data})
	case "append":
		if at == 0 {
			at = d.create(0o600)
			d.set(dir, map[string]inode{name: at})
		}
		was := d.bytes(at)
		data := slices.Clone(was)
		if len(was) > 0 && was[len(was)-1] != '\n' {
			data = append(data, '\n')
		}
		d.pending = append(d.pending, effect{file: at, data: append(append(data, s.Data...), '\n'), old: len(was)})
	case "sync":
		d.harden(func(e effect) bool { return at != 0 && (e.file == at || e.dir == at) })
	case "link":
		to, newName, taken := d.find(s.To)
		if taken == 0 && at != 0 {
			d.set(to, map[string]inode{newName: at})
		}
	case "rename":
		d.rename(dir, name, at, s.To)
	case "remove":
		if at != 0 && len(d.now[at]) == 0 {
			d.set(dir, map[string]inode{name: 0})
		}
	}
}

// bytes returns the bytes of a file as processes see them.
func (d *disk) bytes(at inode) []byte {
	for _, e := range slices.Backward(d.pending) {
		if e.file == at {
			return e.data
		}
	}
	return d.files[at]
}

func (d *disk) rename(dir inode, name string, at inode, path string) {
	to, newName, _ := d.find(path)
	if at == 0 {
		return
	}
	if to == dir {
		d.set(dir, map[string]inode{name: 0, newName: at})
		return
	}
	d.set(to, map[string]inode{newName: at})
	d.set(dir, map[string]inode{name: 0})
}

// harden makes durable the pending effects that a sync covers.
func (d *disk) harden(covered func(effect) bool) {
	rest := d.pending[:0:0]
	for _, e := range d.pending {
		if covered(e) {
			d.commit(e, true)
		} else {
			rest = append(rest, e)
		}
	}
	d.pending = rest
}

// commit makes an effect durable: a change of bytes wholly, or the first half of the
// new ones.
func (d *disk) commit(e effect, whole bool) {
	switch {
	case e.dir != 0:
		applyNames(d.dirs[e.dir], e.names)
	case whole:
		d.files[e.file] = e.data
	default:
		d.files[e.file] = e.data[:e.old+(len(e.data)-e.old)/2]
	}
}

// The fate of a pending effect in a power cut.
const (
	lost = iota
	kept
	torn // half of the bytes
)

// cut returns the disk after a power cut: the durable state, and each pending effect
// according to its fate.
func (d *disk) cut(fate []int) *disk {
	c := d.clone()
	for i, e := range d.pending {
		if fate[i] != lost {
			c.commit(e, fate[i] == kept)
		}
	}
	c.pending = nil
	c.now = cloneNames(c.dirs)
	return c
}

// choices returns the number of fates that the effect can have.
func (e effect) choices() int {
	if e.dir == 0 {
		return 3
	}
	return 2
}

// recorder returns a file system that applies its steps to the model as well, if they
// are in dir, the model's root. The model ignores the steps for which dropped, if not
// nil, returns true.
func recorder(files vfs.FS, dir string, d *disk, dropped func(faultfs.Step) bool, after func(faultfs.Step)) vfs.FS {
	return &faultfs.Steps{FS: files, Before: func(s faultfs.Step) error {
		step, ok := within(dir, s)
		if !ok {
			return nil
		}
		if drop := dropped != nil && dropped(s); !drop {
			d.apply(step)
		}
		if after != nil {
			after(s)
		}
		return nil
	}}
}

// within returns the step with its paths relative to dir, and whether it is in dir.
func within(dir string, s faultfs.Step) (faultfs.Step, bool) {
	in, ok := relative(dir, s.Path)
	step := faultfs.Step{Op: s.Op, Path: in, Data: s.Data}
	if s.To != "" {
		step.To, _ = relative(dir, s.To)
	}
	return step, ok
}

func relative(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}
