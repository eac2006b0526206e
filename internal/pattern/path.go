package pattern

import (
	"path"
	"strings"
)

// Path reports whether a path with slashes matches a pattern: element by element as package path has it, and ** is any directories.
func Path(pattern, name string) bool {
	first, rest, more := strings.Cut(pattern, "/")
	if first == "**" {
		if !more {
			return name != ""
		}
		for below := name; ; {
			if Path(rest, below) {
				return true
			}
			if _, below, more = strings.Cut(below, "/"); !more {
				return false
			}
		}
	}
	element, below, deeper := strings.Cut(name, "/")
	if ok, err := path.Match(first, element); !ok || err != nil || deeper != more {
		return false
	}
	return !more || Path(rest, below)
}
