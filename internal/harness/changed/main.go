// Changed prints the packages that a change concerns: those with a file that differs from the commit at
// which it branched off, from the last commit if it did not, and those whose tests name a directory
// of testdata with such a file. Files that git does not have yet count, too.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	importers := flag.Bool("importers", false, "print the packages that import them, or whose tests do, as well")
	among := flag.String("among", "", "print only those that match this `pattern`")
	flag.Parse()
	files, err := changedFiles()
	if err == nil {
		var m *module
		if m, err = read("."); err == nil {
			only := regexp.MustCompile(*among)
			for _, pkg := range m.concerned(files, *importers) {
				if only.MatchString(pkg) {
					fmt.Println(pkg)
				}
			}
			return
		}
	}
	fmt.Fprintln(os.Stderr, "changed:", err)
	os.Exit(1)
}

// changedFiles returns the files that differ from where this branch left main, or from the commit before.
func changedFiles() ([]string, error) {
	head, err := git("rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	base, err := git("merge-base", "HEAD", "origin/main")
	if err != nil || base == head {
		base = "HEAD~1"
	}
	differ, err := git("diff", "--name-only", base)
	if err != nil {
		return nil, err
	}
	unknown, err := git("ls-files", "--others", "--exclude-standard")
	return strings.Fields(differ + "\n" + unknown), err
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// module is the packages of the module in the working directory, by directory.
type module struct {
	imports map[string][]string // directories, also those of tests
	data    map[string][]string // directories of testdata that tests name
}

var (
	imported = regexp.MustCompile(`"github\.com/fsmtx/fsmtx/([^"]+)"`)
	named    = regexp.MustCompile(`testdata/[a-z]+`)
)

// read finds the packages below root. A package that is built only with a tag is one, too.
func read(root string) (*module, error) {
	m := &module{map[string][]string{}, map[string][]string{}}
	return m, filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && name != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		dir, _ := filepath.Rel(root, filepath.Dir(name))
		m.add(filepath.ToSlash(dir), string(text), strings.HasSuffix(name, "_test.go"))
		return err
	})
}

func (m *module) add(dir, text string, test bool) {
	m.imports[dir] = append(m.imports[dir], nil...)
	for _, found := range imported.FindAllStringSubmatch(text, -1) {
		m.imports[dir] = append(m.imports[dir], found[1])
	}
	if test {
		m.data[dir] = append(m.data[dir], named.FindAllString(text, -1)...)
	}
}

// concerned returns the packages that the files concern, as the go command names them.
func (m *module) concerned(files []string, importers bool) []string {
	var dirs []string
	for _, file := range files {
		dirs = append(dirs, m.owners(file)...)
	}
	if importers {
		changed := slices.Clone(dirs)
		for dir, all := range m.imports {
			if slices.ContainsFunc(all, func(i string) bool { return slices.Contains(changed, i) }) {
				dirs = append(dirs, dir)
			}
		}
	}
	for i := range dirs {
		dirs[i] = "./" + dirs[i]
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// owners returns the package that a file is part of, or those whose tests read it.
func (m *module) owners(file string) (dirs []string) {
	if in, ok := strings.CutPrefix(file, "testdata/"); ok {
		group, _, _ := strings.Cut(in, "/")
		for dir, names := range m.data {
			if slices.Contains(names, "testdata/"+group) {
				dirs = append(dirs, dir)
			}
		}
		return dirs
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, ok := m.imports[dir]; ok {
			return []string{dir}
		}
	}
	return nil
}
