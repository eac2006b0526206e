package safefile

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Within returns the path of file relative to dir, and whether file is inside dir. Paths
// are compared by components: "/a/bc" is not inside "/a/b", and dir is not inside itself.
// Both paths must be resolved.
func Within(dir, file string) (inner string, ok bool) {
	inner, err := filepath.Rel(dir, file)
	if err != nil || inner == "." || !filepath.IsLocal(inner) {
		return "", false
	}
	return inner, true
}

// asUsual returns an absolute path without what Windows takes in front of it, such as \\?\, and with a drive in place of its share, such
// as \\localhost\C$. Elsewhere no path has that.
func asUsual(path string) string {
	path = unprefixed(path)
	volume := filepath.FromSlash(filepath.VolumeName(path))
	if end := len(volume) - 3; end > 2 && volume[end] == '\\' && volume[end+2] == '$' {
		return volume[end+1:end+2] + ":" + path[len(volume):]
	}
	return path
}

func unprefixed(path string) string {
	for _, prefix := range []string{`\\?\`, `\\.\`, `\??\`} {
		rest, ok := strings.CutPrefix(filepath.FromSlash(path), prefix)
		if _, drive, isDevice := strings.Cut(rest, `DosDevices\`); isDevice && ok { // as in \\?\GLOBALROOT\DosDevices\C:
			rest = drive
		}
		switch share, isShare := strings.CutPrefix(rest, `UNC\`); {
		case !ok || filepath.VolumeName(path) == "":
		case isShare:
			return `\\` + share
		case len(filepath.VolumeName(rest)) == 2:
			return rest
		}
	}
	return path
}

// Absolute joins path to base unless path is absolute. It does not clean the result,
// because Resolve has to see ".." after a symbolic link. It returns "" if the
// result would be relative.
func Absolute(path, base string) string {
	switch {
	case path == "":
		return ""
	case filepath.IsAbs(path):
		return asUsual(path)
	case filepath.IsAbs(base):
		if os.IsPathSeparator(path[0]) { // of the drive of base, on Windows
			return filepath.VolumeName(base) + path
		}
		if drive := filepath.VolumeName(path); drive != "" { // C:x is relative to the directory of that drive
			if path = path[len(drive):]; !strings.EqualFold(drive, filepath.VolumeName(base)) {
				base = drive
			}
		}
		return strings.TrimRightFunc(base, isSeparator) + string(filepath.Separator) + path
	}
	return ""
}

func isSeparator(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) }

// IsDir reports whether path is a directory or a symbolic link to one.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// IsFile reports whether path is a regular file or a symbolic link to one.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// HasContent reports whether path is a regular file of at least one byte.
func HasContent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}
