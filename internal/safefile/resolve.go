package safefile

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the symbolic links followed in one path, as the kernel does.
const maxLinks = 40

// Resolve returns the file that opening the absolute path would reach: symbolic
// links and ".." are followed as the kernel follows them, dangling links too, and
// names that do not exist stay as they are. filepath.EvalSymlinks fails for those.
func Resolve(path string) string { return ResolveWith(os.Readlink, path) }

// ResolveWith is Resolve on another file system, whose readlink is given. A
// readlink that fails for a path means that the path is not a link.
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
