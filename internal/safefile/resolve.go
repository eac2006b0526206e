package safefile

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the symbolic links followed in one path, as the kernel does.
const maxLinks = 40

// Resolve returns the file that opening the absolute path would reach. It follows
// symbolic links and ".." as the kernel does, dangling links too, and keeps names
// that do not exist; filepath.EvalSymlinks fails for those. After 40 links it keeps
// the rest as it is, so the result of a loop is a path that ends in a link: open it
// with NoFollow.
func Resolve(path string) string { return ResolveWith(os.Readlink, path) }

// ResolveWith is Resolve on another file system. A readlink that fails says that
// the path is not a symbolic link.
func ResolveWith(readlink func(string) (string, error), path string) string {
	done, ahead := "/", elements(path)
	for links := 0; len(ahead) > 0; {
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
		target, err := readlink(next)
		if err != nil || links == maxLinks {
			done = next
			continue
		}
		links++
		if filepath.IsAbs(target) {
			done = "/"
		}
		ahead = append(elements(target), ahead...)
	}
	return done
}

func elements(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}
