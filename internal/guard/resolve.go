package guard

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the symlinks followed in one path, as the kernel does.
const maxLinks = 40

// resolve returns the file that writing to path would touch: symlinks and ".."
// are followed as the kernel follows them, a dangling link too, and what does
// not exist yet stays as it is written. path is absolute.
func resolve(path string) string {
	done, ahead, links := "/", split(path), 0
	for len(ahead) > 0 {
		name := ahead[0]
		ahead = ahead[1:]
		if name == "." {
			continue
		}
		if name == ".." {
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		target, err := os.Readlink(next)
		if err != nil || links == maxLinks {
			done = next
			continue
		}
		links++
		if filepath.IsAbs(target) {
			done = "/"
		}
		ahead = append(split(target), ahead...)
	}
	return done
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// within returns the path of file inside dir, by components: "/a/bc" is not
// inside "/a/b". dir itself is not inside dir. Both are resolved.
func within(dir, file string) (inner string, ok bool) {
	inner, err := filepath.Rel(dir, file)
	if err != nil || inner == "." || !filepath.IsLocal(inner) {
		return "", false
	}
	return inner, true
}

// sameFile reports whether two resolved paths name one file. It asks the file
// system too: names may differ in case there, and a file may have two names.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// absolute makes path absolute against base; empty if neither says where.
func absolute(path, base string) string {
	switch {
	case path == "":
		return ""
	case filepath.IsAbs(path):
		return path
	case filepath.IsAbs(base):
		return strings.TrimRight(base, "/") + "/" + path
	}
	return ""
}
