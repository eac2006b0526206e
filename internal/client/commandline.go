package client

import (
	"errors"
	"path/filepath"
	"strings"
)

// errUnknown is returned when CLAUDE_PID is not set or is not a process number.
var errUnknown = errors.New("CLAUDE_PID does not name the client's process")

// Dirs are the directories on the client's command line: absolute paths, in the order
// of the arguments.
type Dirs struct {
	Plugins []string // --plugin-dir
	Added   []string // --add-dir
}

// Empty reports whether the command line has no such directory.
func (d Dirs) Empty() bool { return len(d.Plugins)+len(d.Added) == 0 }

// ReadDirs returns the directories on the command line of the client that runs this
// process as a hook. start is the directory that the client was started in; relative
// directories are relative to it.
//
// Errors: errUnknown, and os.ErrProcessDone if its command line cannot be read.
func ReadDirs(getenv func(string) (string, bool), start string) (Dirs, error) {
	args, err := client(getenv)
	if err != nil {
		return Dirs{}, err
	}
	return parseDirs(args, start), nil
}

// parseDirs reads the options as the client does (measured with 2.1.329, fact 68): an
// option may be repeated, and its value may follow a "=". --add-dir takes all arguments
// up to the next option, --plugin-dir takes one. args[0] is the program's name.
//
// parseDirs does not know the client's other options: if the value of one is exactly
// --add-dir or --plugin-dir, it is mistaken for that option.
func parseDirs(args []string, start string) Dirs {
	var d Dirs
	for i := 1; i < len(args) && args[i] != "--"; i++ {
		name, value, given := strings.Cut(args[i], "=")
		switch {
		case name == "--plugin-dir" && given:
			d.Plugins = add(d.Plugins, start, value)
		case name == "--add-dir" && given:
			d.Added = add(d.Added, start, value)
		case name == "--plugin-dir" && i+1 < len(args):
			i++
			d.Plugins = add(d.Plugins, start, args[i])
		case name == "--add-dir":
			for first := true; i+1 < len(args) && (first || !isOption(args[i+1])); first = false {
				i++
				d.Added = add(d.Added, start, args[i])
			}
		}
	}
	return d
}

func isOption(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// add appends dir, made absolute. It skips a relative directory if start is unknown.
func add(dirs []string, start, dir string) []string {
	if !filepath.IsAbs(dir) {
		if dir == "" || !filepath.IsAbs(start) {
			return dirs
		}
		dir = filepath.Join(start, dir)
	}
	return append(dirs, dir)
}
