package outline

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// File is a Markdown file beside a text.
type File struct {
	Path string // relative to the text, with slashes
	Data []byte
}

var (
	linked   = pattern{text: "\\]\\(([^)\\s#]+\\.md)(?:#[^)]*)?\\)|`@?([^`\\s<>{}]+\\.md)`|(?:^|\\s)@([\\w./-]+\\.md)\\b"}
	stepFile = pattern{text: `(?i)^(?:(?:step|phase|stage|schritt|paso|etape)[-_ ]?(\d{1,3})[a-z]?(?:[-_ .].*)?|(\d{1,3})[-_].*)\.md$`}
)

// Links returns the Markdown files that a text names and that are beside it or below, in the
// order of the text.
func Links(text []byte) (paths []string) {
	for _, m := range linked.compiled().FindAllStringSubmatch(string(text), -1) {
		written := m[1] + m[2] + m[3]
		if name := path.Clean(written); isBeside(written) && !slices.Contains(paths, name) {
			paths = append(paths, name)
		}
	}
	return paths
}

// isBeside reports whether a path is in the directory of the text or below.
func isBeside(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && !strings.HasPrefix(name, "~") && !strings.Contains(name, "://")
}

// IsStepFile reports whether a file is named for the number of a step, such as
// step-02-plan.md or 02-plan.md.
func IsStepFile(name string) bool { return stepFile.in(path.Base(name)) }

// Files returns a step for each file, in the order of their names: the heading of a file is
// the subject, and the description names the file.
func Files(files []File) (steps []Step) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(padded(a.Path), padded(b.Path)) })
	for _, f := range files {
		subject, at := fileTitle(f)
		step := Step{ID: int64(len(steps) + 1), Subject: subject, Description: "Follow " + f.Path + ".", Line: at, File: f.Path}
		if len(steps) > 0 {
			step.BlockedBy = []int64{int64(len(steps))}
		}
		steps = append(steps, step)
	}
	return steps
}

// padded returns a path by which step-10 is after step-9.
func padded(name string) string {
	m := stepFile.find(path.Base(name))
	if m == nil {
		return name
	}
	n := m[1] + m[2]
	return path.Dir(name) + "/" + strings.Repeat("0", 8-len(n)) + n + path.Base(name)
}

// fileTitle returns the first heading of a file and its line, or else its name.
func fileTitle(f File) (title string, at int) {
	for _, b := range read(f.Data).blocks {
		if b.level == 0 {
			continue
		}
		_, title := cutLabel(b.text)
		if text, _ := cut(clean(title), ""); text != "" {
			return text, b.line + 1
		}
	}
	name := strings.TrimSuffix(path.Base(f.Path), ".md")
	if m := stepFile.find(path.Base(f.Path)); m != nil {
		name = strings.TrimLeft(name[strings.Index(name, m[1]+m[2])+len(m[1]+m[2]):], "-_ .")
	}
	if name = strings.NewReplacer("-", " ", "_", " ").Replace(name); strings.TrimSpace(name) == "" {
		name = path.Base(f.Path)
	}
	title, _ = cut(clean(strings.ToUpper(name[:min(1, len(name))])+name[min(1, len(name)):]), "")
	return title, 1
}

// Mentions reports whether the steps name at least half of the files.
func Mentions(steps []Step, files []string) bool {
	n := 0
	for _, name := range files {
		if slices.ContainsFunc(steps, func(s Step) bool { return strings.Contains(s.Subject+s.Description, path.Base(name)) }) {
			n++
		}
	}
	return n*2 >= len(files)
}
