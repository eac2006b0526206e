package proof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxRead limits a file of a policy or of signers, in bytes.
const maxRead = 4 << 20

// trusted reads a file that says what has to hold: from the branch of --from if its path is one in the repository. It refuses every other
// file there, because the commit may have written it: in the work tree, which is checked out, and in the directory of git.
func (f verifyFlags) trusted(ctx context.Context, j judge, name string) ([]byte, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	dirs, err := j.in.dirs(ctx)
	if err != nil {
		return nil, err
	}
	file := safefile.Absolute(name, safefile.Resolve(cwd))
	inside, isIn := below(dirs[:1], filepath.Clean(file))
	if j.base != "" && isIn {
		inside = filepath.ToSlash(inside)
		data, err := j.in.read(ctx, j.base, inside)
		if errors.Is(err, errLink) {
			err = message.WithHint(fmt.Errorf("%s cannot be read from %s: %w", inside, f.from, err),
				"commit the file itself at that path, or name the path of the file that it leads to")
		} else if err == nil && data == nil {
			err = fmt.Errorf("%s does not have %s", f.from, inside)
		}
		return data, err
	}
	if _, leads := below(dirs, safefile.Resolve(file)); isIn || leads {
		hint := "--from origin/main reads it from the branch into which the commit is to be merged"
		if j.base != "" {
			hint = "name it by its path in the repository, so that it is read from " + f.from
		}
		return nil, message.WithHint(fmt.Errorf("%s is a file of the repository that is judged, which may not say what has to hold", name), hint)
	}
	return safefile.ReadFile(file, maxRead, 0)
}

// dirs returns the directories of the repository: first the one of its paths, then those of git.
func (r repository) dirs(ctx context.Context) ([]string, error) {
	all := []string{r.Dir}
	for _, which := range []string{"--git-dir", "--git-common-dir"} {
		dir, err := r.Line(ctx, "rev-parse", "--path-format=absolute", which)
		if err != nil {
			return nil, err
		}
		all = append(all, dir)
	}
	return all, nil
}

// below returns the path of a file relative to one of the directories, and whether it is in one: whether a directory above it is the same,
// by whatever name and in whatever case. If several are, the topmost counts.
func below(dirs []string, file string) (inner string, ok bool) {
	for above := filepath.Dir(file); ; above = filepath.Dir(above) {
		for _, dir := range dirs {
			if safefile.Same(above, dir) {
				inner, _ = filepath.Rel(above, file)
				ok = true
			}
		}
		if filepath.Dir(above) == above {
			return inner, ok
		}
	}
}
