package safefile

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the symbolic links followed in one path, as the kernel does.
const maxLinks = 40

// Resolve returns the path of the file that opening the absolute path would reach. It
// follows symbolic links and ".." as the kernel does. Unlike filepath.EvalSymlinks it
// also follows dangling links and keeps names that do not exist. After 40 links it
// follows no more, so for a loop of links the result ends in a link: open it with
// NoFollow.
func Resolve(path string) string { return ResolveWith(os.Readlink, path) }

// ResolveWith is Resolve on another file system. An error of readlink means that the
// path is not a symbolic link.
func ResolveWith(readlink func(string) (string, error), path string) string {
	resolved, rest := rootOf(path), elements(path)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == "." {
			continue
		}
		if name == ".." {
			resolved = filepath.Dir(resolved)
			continue
		}
		next := filepath.Join(resolved, name)
		target, err := readlink(next)
		if err != nil || links == maxLinks {
			resolved = next
			continue
		}
		links++
		if filepath.IsAbs(target) {
			resolved = rootOf(target)
		}
		rest = append(elements(target), rest...)
	}
	return resolved
}

// rootOf returns the root of an absolute path: of its drive or share, on Windows.
func rootOf(path string) string { return filepath.VolumeName(path) + string(filepath.Separator) }

func elements(path string) []string {
	return strings.FieldsFunc(path[len(filepath.VolumeName(path)):], isSeparator)
}

// Same reports whether two paths are equal or lead to the same file. It compares inodes:
// a file may have several names, and on some file systems case does not matter.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	infoA, err := os.Stat(a)
	if err != nil {
		return false
	}
	infoB, err := os.Stat(b)
	return err == nil && os.SameFile(infoA, infoB)
}
