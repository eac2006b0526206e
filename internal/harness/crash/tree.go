package crash

import (
	"crypto/sha256"
	"encoding/hex"
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

// build creates the durable state of the model in dir, which is empty, with its hard
// links. A complete journal gets the new inode of its transaction's directory,
// because a real power cut does not change inodes.
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
	return fixInodes(dir)
}

var (
	journalInode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"inode":\d+`) })
	journalID    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"id":"([0-9a-z-]+)"`) })
)

// fixInodes writes into every journal below dir the inode of its transaction's
// directory.
func fixInodes(dir string) error {
	journals, err := filepath.Glob(filepath.Join(dir, "*", ".*.fsmtx", "journal"))
	if err != nil {
		return err
	}
	for _, path := range journals {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		head, body, _ := strings.Cut(string(data), "\n")
		id := journalID().FindStringSubmatch(body)
		if id == nil || !strings.HasSuffix(head, checksum(body)) {
			continue
		}
		info, err := os.Stat(filepath.Join(filepath.Dir(path), "txn-"+id[1]))
		if err != nil {
			continue
		}
		body = journalInode().ReplaceAllString(body, fmt.Sprintf(`"inode":%d`, info.Sys().(*syscall.Stat_t).Ino))
		head = head[:len(head)-2*sha256.Size] + checksum(body)
		if err := os.WriteFile(path, []byte(head+"\n"+body), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// checksum returns the checksum of a journal of version 2.
func checksum(body string) string {
	sum := sha256.Sum256([]byte("2\n" + body))
	return hex.EncodeToString(sum[:])
}
