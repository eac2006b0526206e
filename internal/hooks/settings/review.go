package settings

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// review adds the files whose hooks the user has not reviewed in the agent, and the TOML files
// that have hooks. TOML is not parsed: the result is only used for hints, for which it is
// enough that the text contains the headers of the tables.
func (f Finder) review(found *Found) {
	reviewed := f.Dialect.Settings.Reviewed
	if reviewed == nil {
		return
	}
	text, _ := safefile.ReadFile(f.Where.path(f.Dialect, reviewed[0]), MaxFile, 0) // if it cannot be read, nothing was reviewed
	if isOff(string(text)) {
		found.Enabled = false
	}
	for _, file := range found.Files {
		if !strings.Contains(string(text), `[hooks.state."`+file+":") {
			found.Unreviewed = append(found.Unreviewed, file)
		}
	}
	for _, in := range slices.Backward(reviewed) { // the project's first
		file := f.Where.path(f.Dialect, in)
		text, _ := safefile.ReadFile(file, MaxFile, 0)
		if hasTables(string(text)) && !slices.Contains(found.Elsewhere, filepath.Clean(file)) {
			found.Elsewhere = append(found.Elsewhere, filepath.Clean(file))
		}
	}
}

// hasTables reports whether a TOML file has hooks.
func hasTables(text string) bool {
	return regexp.MustCompile(`(?m)^\s*\[\[\s*hooks\.[A-Z]`).MatchString(text)
}

// isOff reports whether a TOML file turns hooks off.
func isOff(text string) bool {
	_, features, _ := strings.Cut("\n"+text, "\n[features]")
	if end := strings.Index(features, "\n["); end >= 0 {
		features = features[:end]
	}
	return regexp.MustCompile(`(?m)^\s*(?:codex_)?hooks\s*=\s*false\b`).MatchString(features) ||
		regexp.MustCompile(`(?m)^features\.(?:codex_)?hooks\s*=\s*false\b`).MatchString(text)
}
