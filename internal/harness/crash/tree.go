package crash

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// load returns a model of the tree below dir in which everything is durable.
func load(dir string) (*disk, error) {
	d := newDisk()
	seen := map[uint64]inode{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := safefile.Unheld.Lstat(path)
		if err != nil {
			return err
		}
		rel, _ := relative(dir, path)
		parent, name, _ := d.find(rel)
		_, real, _ := safefile.IdentityOf(info)
		at, linked := seen[real]
		if !linked {
			at = d.create(info.Mode())
			seen[real] = at
		}
		d.now[parent][name], d.dirs[parent][name] = at, at
		if info.Mode().IsRegular() && !linked {
			d.files[at], err = os.ReadFile(path)
		}
		return err
	})
	return d, err
}

// unsync makes a durable name, or a file's durable bytes, pending, as if they had
// never been synced.
func (d *disk) unsync(path string, bytes bool) {
	dir, name, at := d.find(path)
	if bytes {
		d.pending = append(d.pending, effect{file: at, data: d.files[at]})
		delete(d.files, at)
		return
	}
	delete(d.dirs[dir], name)
	d.pending = append(d.pending, effect{dir: dir, names: map[string]inode{name: at}})
}

// build creates the durable state of the model in dir, which is empty, with its hard
// links, as it is after a power cut.
func (d *disk) build(dir string) error {
	made := map[inode]string{}
	var err error
	d.walk(root, "", func(path string, at inode) {
		if err != nil {
			return
		}
		full := filepath.Join(dir, path)
		switch first, again := made[at]; {
		case d.mode[at].IsDir():
			err = os.Mkdir(full, 0o700)
		case again:
			err = os.Link(first, full)
		default:
			made[at] = full
			err = os.WriteFile(full, d.files[at], 0o644)
		}
	})
	return err
}
