package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// section is what CHANGELOG.md says about one version.
type section struct {
	version string // without v
	date    string // 2026-11-22, or unreleased
	text    string
}

var (
	heading  = regexp.MustCompile(`(?m)^## \[([^\]]+)\] - (\S+)$`)
	released = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
)

// sections returns the versions in CHANGELOG.md, the newest first.
func sections(changelog string) (all []section) {
	found := heading.FindAllStringSubmatchIndex(changelog, -1)
	for i, at := range found {
		end := len(changelog)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		text := changelog[at[1]:end]
		if links := strings.Index(text, "\n["); links >= 0 {
			text = text[:links+1] // the definitions of links at the end of the file
		}
		all = append(all, section{changelog[at[2]:at[3]], changelog[at[4]:at[5]], strings.TrimSpace(text) + "\n"})
	}
	return all
}

// printNotes prints what CHANGELOG.md says about this version. A version that is not
// there, is not the newest one or has no date is an error: the tag was set too early.
func (r release) printNotes(out io.Writer) error {
	path := filepath.Join(r.source, "CHANGELOG.md")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	all := sections(string(data))
	if len(all) == 0 {
		return fmt.Errorf("%s has no heading such as ## [1.2.3] - 2026-11-22", path)
	}
	newest := all[0]
	if newest.version != r.Version {
		return fmt.Errorf("this is version %s, and the newest heading of %s is about %s", r.Version, path, newest.version)
	}
	if !released.MatchString(newest.date) {
		return fmt.Errorf("%s: version %s has no date (%s); set it, and tag that commit", path, newest.version, newest.date)
	}
	_, err = io.WriteString(out, newest.text)
	return err
}
