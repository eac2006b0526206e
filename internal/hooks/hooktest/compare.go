package hooktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Differences describes how a case's result differs from its expectations. It returns nil if
// the case passes.
func (c Case) Differences(got Got) []string {
	found := c.decision(got)
	want := c.wanted()
	names := slices.Sorted(maps.Keys(want))
	for _, name := range got.names() {
		if _, ok := want[name]; !ok {
			found = append(found, fmt.Sprintf("%s: changed, but the case does not expect it; it now contains\n%s", name, quoted(got.Files[name])))
		}
	}
	for _, name := range names {
		content, ok := got.Files[name]
		switch {
		case !ok:
			found = append(found, fmt.Sprintf("%s: the hooks did not create or change it", name))
		case content != want[name]:
			found = append(found, fmt.Sprintf("%s: want\n%s\ngot\n%s", name, quoted(want[name]), quoted(content)))
		}
	}
	return found
}

// decision compares the fields of want.json. A block, a stop or a failed hook that want.json
// does not have is a difference too.
func (c Case) decision(got Got) []string {
	var want, have map[string]jsontext.Value
	section := c.section(wantSection)
	if section == "" {
		section = "{}"
	}
	if err := json.Unmarshal([]byte(section), &want); err != nil {
		return []string{fmt.Sprintf("want.json:%v", jsonx.Explain([]byte(section), err))}
	}
	if err := json.Unmarshal([]byte(got.Policy), &have, jsontext.AllowInvalidUTF8(true)); err != nil {
		return []string{fmt.Sprintf("cannot read the result: %v", err)}
	}
	var found []string
	for _, must := range []string{"blocking", "stop", "failed"} {
		if _, expected := want[must]; !expected && have[must] != nil {
			want[must] = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if a, b := canonical(want[name]), canonical(have[name]); a != b {
			found = append(found, fmt.Sprintf("%s: want %s, got %s", name, a, b))
		}
	}
	return found
}

// canonical returns a value in a form for comparison. An absent value, false and null are
// equal.
func canonical(v jsontext.Value) string {
	c := v.Clone()
	if err := c.Canonicalize(); err != nil || len(c) == 0 || string(c) == "false" || string(c) == "null" {
		return "nothing"
	}
	return string(c)
}

func quoted(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t")
}
