//go:build oracle && unix

package tools_test

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// varying is what differs between two runs of one program.
var varying = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\b[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`(\b\d+(\.\d+)?(ns|µs|ms| ms)\b|\b\d+\.\d+s\b) *`), "DURATION "},
	{regexp.MustCompile(`\b(duration_ms|totalDuration|seconds|sum|life|inode)("?): [^,\s]+`), `$1$2: VARIES`},
	{regexp.MustCompile(`\b(process|pid|PID)("?:)? \d+|(?m)^\d+( TIME)$|^\d{4,7}$`), "$1$2 PID$3"},
	{regexp.MustCompile(`\bn?(\d{10}-)?\d{8}[t-]\d{6}-\d+(-[0-9a-f]{8})?\b|\b[0-9a-f]{32,}\b|\b[A-Z2-7]{26}\b`), "ID"},
	{regexp.MustCompile(`\b(toolu_|fsmtx-demo-|fsmtx-test-)\d+`), "${1}N"},
	{regexp.MustCompile(`\b([\w.]+)-[0-9a-f]{10}\b`), "$1-PATH"},
	{regexp.MustCompile(`\b1\.0\.0-dev(\+g[0-9a-f]{12}(\.dirty)?)?`), "VERSION"},
	{regexp.MustCompile(`[^\s"':=]*/fsmtx-oracle-[0-9a-f]{8}/[0-9a-f]{12}`), "DIR"},
}

func normal(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.word)
	}
	return text
}

// spread puts lines in texts, and sentences, each on a line, so that a difference is as small as
// it can be. In output each value of JSON is a line too, with the names above it; the order of
// members is of no account, because some are kept in maps.
func spread(text string, output bool) string {
	var out strings.Builder
	parts := strings.Lines(text)
	if output && jsontext.Value(text).IsValid() {
		parts = slices.Values([]string{text})
	}
	for part := range parts {
		value := jsontext.Value(strings.TrimSpace(part))
		switch isJSON := (value.Kind() == '{' || value.Kind() == '[') && value.IsValid(); {
		case isJSON && output:
			part = leaves("", value)
		case isJSON:
			_ = value.Indent()
			part = string(value) + "\n"
		}
		part = strings.ReplaceAll(part, `\n`, "\\n\n  ")
		out.WriteString(strings.ReplaceAll(part, ". ", ".\n  "))
	}
	return strings.TrimRight(normal(out.String()), "\n")
}

// content spreads the text of a file. Of a .json file it also returns a word for the layout.
func content(path, text string) string {
	if strings.HasPrefix(text, "fsmtx-journal ") { // the program's own
		return "a journal"
	}
	if value := jsontext.Value(text); filepath.Ext(path) == ".json" && value.IsValid() && (value.Kind() == '{' || value.Kind() == '[') {
		return spread(text, true) + "\nlayout " + digest([]byte(normal(text)))
	}
	return spread(text, filepath.Ext(path) != ".json")
}

// leaves returns a line for each value that has no others in it: hookSpecificOutput.permissionDecision: "deny".
func leaves(above string, value jsontext.Value) (lines string) {
	var members map[string]jsontext.Value
	var elements []jsontext.Value
	if value.Kind() == '{' && json.Unmarshal(value, &members) == nil && len(members) > 0 {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			lines += leaves(strings.TrimPrefix(above+"."+name, "."), members[name])
		}
		return lines
	}
	if value.Kind() == '[' && json.Unmarshal(value, &elements) == nil && len(elements) > 0 {
		for _, element := range elements {
			lines += leaves(above+"[]", element)
		}
		return lines
	}
	if text := string(value); value.Kind() != '"' {
		return above + ": " + text + "\n"
	} else { // without the quote at the end, so that what is added to a text is all that differs
		return above + ": " + strings.TrimSuffix(strings.ReplaceAll(text, `\n`, "\n  "), `"`) + "\n"
	}
}
