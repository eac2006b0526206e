package crash

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// load returns a model of the tree below dir in which everything is durable.
func load(dir string) (*disk, error) {
	d := newDisk()
	seen := map[uint64]inode{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := relative(dir, path)
		parent, name, _ := d.find(rel)
		real := info.Sys().(*syscall.Stat_t).Ino
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

// unrename makes the rename of a file in a directory pending. is begins its name, was is the
// name that it had.
func (d *disk) unrename(dir, is, was string) {
	_, _, in := d.find(dir)
	for name, at := range d.dirs[in] {
		if strings.HasPrefix(name, is) {
			delete(d.dirs[in], name)
			d.dirs[in][was] = at
			d.pending = append(d.pending, effect{dir: in, names: map[string]inode{was: 0, name: at}})
			return
		}
	}
}

// unremove makes the removal of another name of a file pending.
func (d *disk) unremove(file, was string) {
	dir, _, at := d.find(file)
	d.dirs[dir][was] = at
	d.pending = append(d.pending, effect{dir: dir, names: map[string]inode{was: 0}})
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
	if err != nil {
		return err
	}
	return cutPower(dir)
}

var (
	journalInode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"inode":\d+`) })
	journalLife  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"life":"[^"]*"`) })
	journalID    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"id":"([0-9a-z-]+)"`) })
)

// cutPower makes every complete journal below dir one from before a power cut. The model
// cuts the power without a new start of the kernel, so the journals get another life; and a
// real power cut does not change inodes, so they get those that the directories of their
// transactions have now. The mark of the life in which the history was last looked at is of
// an earlier one too.
func cutPower(dir string) error {
	lives, err := filepath.Glob(filepath.Join(dir, "*", ".*.fsmtx", "life"))
	for _, path := range lives {
		err = errors.Join(err, os.WriteFile(path, []byte("before the power cut"), 0o600))
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"journal", "committing", "settling", "done-*"} {
		journals, err := filepath.Glob(filepath.Join(dir, "*", ".*.fsmtx", name))
		if err != nil {
			return err
		}
		for _, path := range journals {
			if err := cutJournal(path); err != nil {
				return err
			}
		}
	}
	return nil
}

func cutJournal(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, _ := strings.Cut(string(data), "\n")
	words := strings.Split(head, " ")
	body, blob, _ := strings.Cut(rest, "\n")
	id := journalID().FindStringSubmatch(body)
	if id == nil || len(words) != 3 || words[2] != checksum(words[1], body) {
		return nil
	}
	body = journalLife().ReplaceAllString(body, `"life":"before the power cut"`)
	if info, err := os.Stat(filepath.Join(filepath.Dir(path), "txn-"+id[1])); err == nil {
		body = journalInode().ReplaceAllString(body, fmt.Sprintf(`"inode":%d`, info.Sys().(*syscall.Stat_t).Ino))
	}
	text := words[0] + " " + words[1] + " " + checksum(words[1], body) + "\n" + body
	if words[1] == "3" {
		text += "\n" + blob
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// checksum returns the checksum of a journal of version 2 or 3.
func checksum(version, body string) string {
	sum := sha256.Sum256([]byte(version + "\n" + body))
	return hex.EncodeToString(sum[:])
}
