package rules

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxNamed bounds the number of files that are read for one answer.
const maxNamed = 5

// withNamedFiles returns an agent's answer followed by the documents in the feature
// directory that it names: an agent may write its work into a file and name the file in its
// answer.
func (c *call) withNamedFiles(answer string) string {
	if c.place.feature == "" || !strings.Contains(answer, ".md") {
		return answer
	}
	all := []string{answer}
	for _, path := range c.namedFiles(answer) {
		text, err := readText(path, maxDocument)
		if err != nil {
			continue // treated as not written
		}
		c.Fact("named file", path)
		all = append(all, text)
	}
	return strings.Join(all, "\n\n")
}

// namedFiles returns the paths of existing documents below the feature directory that a text
// names: absolute, or relative to the feature directory, to cwd or to the project.
func (c *call) namedFiles(text string) []string {
	feature := safefile.Resolve(c.place.feature)
	var found []string
	for _, name := range regexp.MustCompile(`[\w@./~-]+\.md\b`).FindAllString(text, 50) {
		for _, base := range []string{c.place.feature, c.place.cwd, c.place.root} {
			path := safefile.Resolve(safefile.Absolute(name, base))
			if _, inside := safefile.Within(feature, path); inside && safefile.HasContent(path) && !slices.Contains(found, path) {
				found = append(found, filepath.Clean(path))
				break
			}
		}
		if len(found) == maxNamed {
			break
		}
	}
	return found
}
