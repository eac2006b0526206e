package fsmspec_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// spelled writes a string as JSON in one of several ways: plain, with every
// character escaped, or with slashes escaped.
func spelled(t *rapid.T, s string) string {
	switch rapid.IntRange(0, 2).Draw(t, "spelling") {
	case 0:
		quoted, _ := jsontext.AppendQuote(nil, s)
		return string(quoted)
	case 1:
		quoted, _ := jsontext.AppendQuote(nil, s)
		return strings.ReplaceAll(string(quoted), "/", `\/`)
	default:
		return `"` + escaped(s) + `"`
	}
}

func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r > 0xFFFF {
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04X`, 0xD800+r>>10, 0xDC00+r&0x3FF)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

func space(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", " ", "\n  ", "\r\n\t"}).Draw(t, "space")
}

// word draws known names, misspelled ones and arbitrary strings.
func word() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"fsm", "metadata", "subject", "status", "Fsm", "fsm ", "id", "blocks", "", "a/b~", `\u`, "\\", `"`,
			"<>&\u2028\u007f"}),
		rapid.String(),
	)
}

// object writes an object with the given keys, in their order.
func object(t *rapid.T, keys []string, value func() string) string {
	var b strings.Builder
	b.WriteString("{" + space(t))
	for i, key := range keys {
		if i > 0 {
			b.WriteString("," + space(t))
		}
		b.WriteString(spelled(t, key) + space(t) + ":" + space(t) + value() + space(t))
	}
	return b.String() + "}"
}

var numbers = []string{"0", "-0", "1", "-1.50", "1e400", "1E-7", "12345678901234567890.12345678901234567890", "1.0", "0.1e+1"}

// anyValue draws JSON of any kind. If distinct is set, no object has duplicate keys.
func anyValue(depth int, distinct bool) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 6).Draw(t, "kind")
		if depth == 0 {
			kind %= 4
		}
		inner := func() string { return anyValue(depth-1, distinct).Draw(t, "value") }
		switch kind {
		case 0:
			return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal")
		case 1:
			return rapid.SampledFrom(numbers).Draw(t, "number")
		case 2, 3:
			return spelled(t, word().Draw(t, "string"))
		case 4:
			items := make([]string, rapid.IntRange(0, 3).Draw(t, "items"))
			for i := range items {
				items[i] = space(t) + inner() + space(t)
			}
			return "[" + strings.Join(items, ",") + space(t) + "]"
		default:
			return object(t, keys(distinct).Draw(t, "keys"), inner)
		}
	})
}

func keys(distinct bool) *rapid.Generator[[]string] {
	if distinct {
		return rapid.SliceOfNDistinct(word(), 0, 4, rapid.ID[string])
	}
	return rapid.SliceOfN(word(), 0, 4)
}

// damage truncates a text, or inserts or overwrites a few bytes.
func damage(t *rapid.T, data []byte) []byte {
	at := rapid.IntRange(0, len(data)).Draw(t, "at")
	if rapid.Bool().Draw(t, "cut") {
		return data[:at]
	}
	noise := rapid.SampledFrom([]string{",", ":", `"`, "{", "}", "[", "]", "\\", "0", "e", "-", "\x00", "\xff", "\uFEFF", "nul", "//",
		"\n", `\ud800`}).Draw(t, "noise")
	rest := data[min(len(data), at+rapid.IntRange(0, 2).Draw(t, "instead")):]
	return []byte(string(data[:at]) + noise + string(rest))
}

// model is what a task of a generated file means.
type model struct {
	id                                      int64
	subject, description, activeForm, owner string
	status                                  string
	blocks, blockedBy                       []int64
	metadata                                []string     // alternating keys and JSON values; nil if left out
	gates                                   fsmspec.Task // of which it has the gates
}

// workflow is a valid file together with what it means.
type workflow struct {
	file  string
	tasks []model
}

func workflows() *rapid.Generator[workflow] {
	return rapid.Custom(func(t *rapid.T) workflow {
		ids := rapid.SliceOfNDistinct(rapid.OneOf(rapid.Int64Range(1, 12), rapid.Int64Range(1, fsmspec.MaxLocalID)), 0, 6,
			rapid.ID[int64]).Draw(t, "ids")
		var w workflow
		entries := make([]string, len(ids))
		for _, id := range ids {
			w.tasks = append(w.tasks, drawModel(t, id, ids))
		}
		for i, m := range w.tasks {
			entries[i] = space(t) + m.spelled(t) + space(t)
		}
		w.file = space(t) + "[" + strings.Join(entries, ",") + space(t) + "]" + space(t)
		return w
	})
}

// mirrored returns the tasks with the blockedBy that they have in a plan.
func (w workflow) mirrored() []model {
	tasks := slices.Clone(w.tasks)
	for i, m := range tasks {
		var blockers []int64
		for _, id := range m.blockedBy {
			if !slices.Contains(blockers, id) {
				blockers = append(blockers, id)
			}
		}
		for _, other := range w.tasks {
			if slices.Contains(other.blocks, m.id) && !slices.Contains(blockers, other.id) {
				blockers = append(blockers, other.id)
			}
		}
		tasks[i].blockedBy = blockers
	}
	return tasks
}

func drawModel(t *rapid.T, id int64, ids []int64) model {
	m := model{
		id:          id,
		subject:     "S" + rapid.String().Draw(t, "subject"),
		description: rapid.String().Draw(t, "description"),
		activeForm:  word().Draw(t, "activeForm"),
		owner:       word().Draw(t, "owner"),
		status:      rapid.SampledFrom([]string{"pending", "in_progress", "completed"}).Draw(t, "status"),
		blocks:      rapid.SliceOfN(rapid.SampledFrom(ids), 0, 3).Draw(t, "blocks"),
		blockedBy:   rapid.SliceOfN(rapid.SampledFrom(ids), 0, 3).Draw(t, "blockedBy"),
	}
	if rapid.Bool().Draw(t, "metadata") {
		m.metadata = []string{}
		for _, key := range keys(true).Draw(t, "keys") {
			m.metadata = append(m.metadata, key, anyValue(2, true).Draw(t, "value"))
		}
	}
	m.gates = drawGates(t)
	return m
}

func drawGates(t *rapid.T) fsmspec.Task {
	patterns := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "a/b.md", "*.go", "dist/[a-]?.*", "é/[[]x]", `\*`, "..."}), 0, 3,
		rapid.ID[string])
	gates := fsmspec.Task{Produces: patterns.Draw(t, "produces"), Ready: patterns.Draw(t, "ready")}
	if rapid.Bool().Draw(t, "checked") {
		gates.Check = &fsmspec.Check{
			Run:     "r" + strings.ReplaceAll(rapid.String().Draw(t, "run"), "\x00", ""),
			Timeout: time.Duration(rapid.Int64Range(1, int64(fsmspec.MaxCheckTimeout)).Draw(t, "timeout")),
			Dir:     rapid.SampledFrom([]string{"", "a", "a/b c", "..."}).Draw(t, "dir"),
		}
	}
	if gates.Check != nil && rapid.Bool().Draw(t, "powershell") {
		gates.Check.Shell = fsmspec.PowerShell
	}
	if gates.Check != nil && rapid.Bool().Draw(t, "narrowed") {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"PATH", "_", "a1"}), 0, 3, rapid.ID[string]).Draw(t, "env")
		gates.Check.Env = &names
	}
	if rapid.Bool().Draw(t, "approved") {
		gates.Approval = "May it be completed?\n" + strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, rapid.String().Draw(t, "approval"))
	}
	return gates
}

// spelledCheck writes a check as text if it can, or as an object.
func spelledCheck(t *rapid.T, c fsmspec.Check) string {
	if rapid.Bool().Draw(t, "plain") && c.Dir == "" && c.Env == nil && c.Shell == "" && c.Timeout == fsmspec.DefaultCheckTimeout {
		return spelled(t, c.Run)
	}
	timeout := fmt.Sprintf("%de-9", c.Timeout)
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		timeout = spelled(t, c.Timeout.String())
	case 1:
		timeout = fmt.Sprintf("%d.%09d", c.Timeout/time.Second, c.Timeout%time.Second)
	}
	values := map[string]string{"run": spelled(t, c.Run), "timeout": timeout, "dir": spelled(t, cmp.Or(c.Dir, ".")), "env": "null"}
	values["shell"] = "null"
	if c.Shell != "" {
		values["shell"] = spelled(t, c.Shell)
	}
	if c.Env != nil {
		values["env"] = spelledTexts(t, *c.Env)
	}
	names := rapid.Permutation([]string{"run", "shell", "timeout", "dir", "env"}).Draw(t, "order")
	next := -1
	return object(t, names, func() string {
		next++
		return values[names[next]]
	})
}

func spelledTexts(t *rapid.T, texts []string) string {
	items := make([]string, len(texts))
	for i, text := range texts {
		items[i] = space(t) + spelled(t, text)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func spelledPatterns(t *rapid.T, patterns []string) string {
	items := make([]string, len(patterns))
	for i, p := range patterns {
		items[i] = space(t) + spelled(t, rapid.SampledFrom([]string{"", "./"}).Draw(t, "here")+p)
	}
	return "[" + strings.Join(items, ",") + "]"
}

// spelled writes the entry with its fields in any order. An empty field is written in
// full, as null or not at all.
func (m model) spelled(t *rapid.T) string {
	fields := map[string]string{"id": integer(t, m.id), "subject": spelled(t, m.subject)}
	optional := func(name, value string, empty bool) {
		how := rapid.IntRange(0, 2).Draw(t, "optional")
		switch {
		case !empty || how == 0:
			fields[name] = value
		case how == 1:
			fields[name] = "null"
		}
	}
	optional("description", spelled(t, m.description), m.description == "")
	optional("activeForm", spelled(t, m.activeForm), m.activeForm == "")
	optional("owner", spelled(t, m.owner), m.owner == "")
	optional("status", spelled(t, m.status), m.status == "pending")
	optional("blocks", m.references(t, m.blocks), len(m.blocks) == 0)
	optional("blockedBy", m.references(t, m.blockedBy), len(m.blockedBy) == 0)
	optional("produces", spelledPatterns(t, m.gates.Produces), len(m.gates.Produces) == 0)
	optional("ready", spelledPatterns(t, m.gates.Ready), len(m.gates.Ready) == 0)
	if m.gates.Check != nil {
		fields["check"] = spelledCheck(t, *m.gates.Check)
	}
	if m.gates.Approval != "" {
		fields["approval"] = spelled(t, m.gates.Approval)
	}
	optional("unknown", anyValue(2, true).Draw(t, "unknown"), true)
	if m.metadata == nil {
		optional("metadata", "null", true)
	} else {
		fields["metadata"] = m.spelledMetadata(t)
	}
	var names []string
	for _, name := range []string{"id", "subject", "description", "activeForm", "owner", "status", "blocks", "blockedBy", "metadata",
		"produces", "check", "approval", "ready", "unknown"} {
		if fields[name] != "" {
			names = append(names, name)
		}
	}
	names = rapid.Permutation(names).Draw(t, "order")
	next := 0
	return object(t, names, func() string {
		next++
		return fields[names[next-1]]
	})
}

func (m model) spelledMetadata(t *rapid.T) string {
	var keys []string
	for i := 0; i < len(m.metadata); i += 2 {
		keys = append(keys, m.metadata[i])
	}
	next := -1
	return object(t, keys, func() string {
		next += 2
		return m.metadata[next]
	})
}

func (m model) references(t *rapid.T, ids []int64) string {
	items := make([]string, len(ids))
	for i, id := range ids {
		items[i] = space(t) + integer(t, id) + space(t)
	}
	return "[" + strings.Join(items, ",") + space(t) + "]"
}

func integer(t *rapid.T, n int64) string {
	plain := strconv.FormatInt(n, 10)
	return rapid.SampledFrom([]string{plain, plain, plain + ".0", plain + "e0", plain + "0E-1",
		"0." + plain + "e" + strconv.Itoa(len(plain))}).Draw(t, "integer")
}
