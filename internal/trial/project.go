package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// emptyEntry is the file of a test that begins without the files of the project.
const emptyEntry = "empty"

// maxFiles limits what is copied of a project that is in no repository, so that nothing says what belongs to it.
const maxFiles = 20_000

// maxSize is the size in bytes of the largest file that is copied: more takes long, and may fill the disk.
const maxSize = 1 << 30

// rootOf returns the directory that is copied for the tests of a skill: the work tree of its repository, else the directory in
// which a client would find the skill, else the folder in which its folder is.
func rootOf(ctx context.Context, skill string) string {
	if r, err := git.Open(ctx, skill); err == nil {
		return r.Dir
	}
	return cmp.Or(hydrate.StartOf(skill), filepath.Dir(skill))
}

// lay copies the project below the files of the test, which stay, and lets the agent find its skills.
func (x *session) lay(ctx context.Context) error {
	empty := filepath.Join(x.project, emptyEntry)
	info, err := os.Stat(empty)
	begins := err != nil || info.Size() > 0 || !info.Mode().IsRegular()
	if !begins {
		if err := os.Remove(empty); err != nil {
			return err
		}
	}
	if err := x.laySkills(); err != nil {
		return err
	}
	if !begins {
		return nil
	}
	return x.layProject(ctx)
}

// skills returns the folders of the skill of the test, and of those beside it, which it may demand.
func (x *session) skills() ([]string, error) {
	all, above := []string{x.Skill}, filepath.Dir(x.Skill)
	if safefile.Resolve(x.Skill) == safefile.Resolve(x.Root) { // the repository is the skill
		return all, nil
	}
	entries, err := os.ReadDir(above)
	for _, e := range entries {
		if folder := filepath.Join(above, e.Name()); folder != x.Skill && command.Exists(folder, "SKILL.md") {
			all = append(all, folder)
		}
	}
	return all, err
}

// laySkills copies the skills, and links to them from where a client finds those of its user.
func (x *session) laySkills() error {
	all, err := x.skills()
	found := filepath.Join(x.env["CLAUDE_CONFIG_DIR"], "skills")
	if err := errors.Join(err, os.Mkdir(found, 0o777)); err != nil {
		return err
	}
	for _, from := range all {
		to, err := x.inCopy(from)
		switch {
		case err != nil:
			return err
		case to == x.project:
			err = errors.Join(x.copyAll(filepath.Join(from, "SKILL.md")), x.copyAll(filepath.Join(from, "fsm.json")))
		default:
			err = x.copyAll(from)
		}
		if err := errors.Join(err, os.Symlink(to, filepath.Join(found, filepath.Base(from)))); err != nil {
			return err
		}
	}
	return nil
}

// inCopy returns the path in the copy of a path in the project.
func (x *session) inCopy(path string) (string, error) {
	rel, err := filepath.Rel(safefile.Resolve(x.Root), safefile.Resolve(path))
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not in %s", path, x.Root)
	}
	return filepath.Join(x.project, rel), nil
}

// layProject copies the files of the project: of a repository those that it has or that it does not ignore.
func (x *session) layProject(ctx context.Context) error {
	r, err := git.Open(ctx, x.Root)
	if err != nil && filepath.Dir(x.Skill) == x.Root {
		return nil // a folder of skills alone
	}
	if err != nil {
		return x.copyBounded()
	}
	names, err := r.Names(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	slices.Sort(names)
	paths := slices.Compact(names)
	for i, name := range paths {
		paths[i] = filepath.Join(x.Root, filepath.FromSlash(name))
	}
	if err := x.copyEach(paths); err != nil {
		return err
	}
	return layRepository(ctx, r, x.project)
}

// layRepository makes the copy a repository of its own, with the commits and the index of r. It reads the objects of r, and writes
// its own. It has no remote.
func layRepository(ctx context.Context, r git.Repository, project string) error {
	paths, err := r.Line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path", "index",
		"--git-path", "shallow")
	if err != nil {
		return err
	}
	all := strings.Split(paths, "\n")
	copied := git.Repository{Dir: project}
	if _, err := copied.Run(ctx, "init", "--quiet", "--template="); err != nil {
		return err
	}
	inside := filepath.Join(project, ".git")
	if err := put(filepath.Join(inside, "objects/info/alternates"), all[0]+"\n"); err != nil {
		return err
	}
	for i, name := range map[int]string{1: "index", 2: "shallow"} {
		if err := copyFile(all[i], filepath.Join(inside, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	refs, err := r.Line(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags")
	if err == nil && refs != "" {
		err = put(filepath.Join(inside, "packed-refs"), "# pack-refs with: \n"+refs+"\n")
	}
	if err != nil {
		return err
	}
	head, err := r.Optional(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err == nil && head != "" {
		head = "ref: " + head
	} else if err == nil {
		head, err = r.Head(ctx)
	}
	if err != nil {
		return err
	}
	if head != "" {
		if err := put(filepath.Join(inside, "HEAD"), head+"\n"); err != nil {
			return err
		}
	}
	own := map[string]string{"user.name": "fsmtx test", "user.email": "test@example.com", "commit.gpgSign": "false", "tag.gpgSign": "false"}
	for name, value := range own {
		if _, err := copied.Run(ctx, "config", name, value); err != nil {
			return err
		}
	}
	return nil
}

// copyBounded copies a project that is in no repository.
func (x *session) copyBounded() error {
	var names []string
	err := filepath.WalkDir(x.Root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules"):
			return filepath.SkipDir
		case e.IsDir():
			return nil
		case len(names) == maxFiles:
			return message.WithHint(
				fmt.Errorf("%s is not a git repository and has more than %d files, so it is not copied for a test", x.Root, maxFiles),
				"make it a repository with a .gitignore, or begin the files of the test with: -- empty --")
		}
		names = append(names, path)
		return nil
	})
	if err != nil {
		return err
	}
	return x.copyEach(names)
}

// copyEach copies files of the project. One that is gone is left out.
func (x *session) copyEach(paths []string) error {
	var all errgroup.Group
	all.SetLimit(8)
	for _, path := range paths {
		all.Go(func() error {
			if err := x.copyAll(path); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		})
	}
	return all.Wait()
}

// copyAll copies a file of the project, a link, or a directory with what is in it. What is there already stays.
func (x *session) copyAll(from string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	to, err := x.inCopy(filepath.Dir(from))
	if err != nil {
		return err
	}
	to = filepath.Join(to, filepath.Base(from))
	switch {
	case info.IsDir() && safefile.Resolve(from) == safefile.Resolve(x.Root):
		to = x.project
	case info.Mode()&fs.ModeSymlink != 0:
		err = x.copyLink(from, to)
	case info.Mode().IsRegular() && info.Size() > maxSize:
		return message.WithHint(
			fmt.Errorf("%s has %d MiB, and a file of more than %d MiB is not copied for a test", from, info.Size()>>20, maxSize>>20),
			"let git ignore it, or begin the files of the test with: -- empty --")
	case info.Mode().IsRegular():
		err = copyFile(from, to)
	}
	if !info.IsDir() {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	entries, err := os.ReadDir(from)
	if err := errors.Join(err, os.MkdirAll(to, 0o777)); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		if err := x.copyAll(filepath.Join(from, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyLink copies a link. One into the project, by its whole path, leads into the copy.
func (x *session) copyLink(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if inner, err := x.inCopy(target); filepath.IsAbs(target) && err == nil {
		target = inner
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.Symlink(target, to)
}

// copyFile copies a regular file with its permissions and time. It returns fs.ErrExist if to exists.
func copyFile(from, to string) error {
	in, err := safefile.Open(from, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// removeAll removes a directory, also what is in directories that may not be written, such as those of module caches. For a second it
// waits for those who still have a file of it open on Windows.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	for end := time.Now().Add(grace); ; time.Sleep(50 * time.Millisecond) {
		if err := os.RemoveAll(dir); err == nil || time.Now().After(end) {
			return err
		}
	}
}
