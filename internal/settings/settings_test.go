package settings_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/settings"
)

var (
	ours    = settings.Hooks("/opt/bin/fsmtx", []string{"--nest=off"}, settings.Duty{})
	atStart = at("SessionStart")
	atStop  = at("SubagentStop")
)

func at(event string) []settings.Hook {
	return slices.DeleteFunc(slices.Clone(ours), func(h settings.Hook) bool { return h.Event != event })
}

// settingsFile draws a settings file without our hooks: any JSON object, with any white
// space where JSON allows it. Its "hooks" have the shape that the client documents.
func settingsFile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		g := drawer{t: t, layout: layouts.Draw(t, "layout")}
		mark := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark")
		return mark + g.space() + g.file() + g.space()
	})
}

// file draws the top object.
func (g drawer) file() string {
	t := g.t
	var members []string
	if rapid.Bool().Draw(t, "hooks?") {
		name := rapid.SampledFrom([]string{"hooks", `h\u006foks`}).Draw(t, "spelling")
		members = append(members, g.member(name, g.hooks()))
	}
	for _, name := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID).Draw(t, "names") {
		members = append(members, g.member(name, g.value(2)))
	}
	return g.wrap("{", rapid.Permutation(members).Draw(t, "order"), "}")
}

// onOneLine returns settings on one line, with a space behind each colon and comma.
func onOneLine(t require.TestingT, data jsontext.Value) string {
	require.NoError(t, data.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true)))
	return string(data)
}

func members(t require.TestingT, data []byte) map[string]any { return files.Members(t, data) }

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

var (
	layouts = rapid.SampledFrom([]string{"", " ", "\n", "\r\n", "\t", "any"})
	names   = rapid.SampledFrom([]string{"model", "permissions", "env", "PostToolUse", "fsmtx", "hook", `h\u006f0ks`, "Hooks", "ä", `\ud800`})
	events  = rapid.SampledFrom([]string{"PostToolUse", "UserPromptExpansion", "SessionStart", "PreToolUse", "Stop", "Future"})
	scalars = rapid.SampledFrom([]string{"null", "true", "1", "-0.5e+7", `""`, `"a\"b]}"`, `"// no comment"`, `"fsmtx"`,
		"123456789012345678901234567890"})
	anyGap = rapid.StringMatching(`[ \t\r\n]{0,4}`)
)

type drawer struct {
	t        *rapid.T
	layout   string
	comments *int // how many were drawn; nil if there are to be none
}

func (g drawer) space() string {
	if g.comments != nil && rapid.IntRange(0, 3).Draw(g.t, "comment") == 0 {
		*g.comments++
		return fmt.Sprintf(rapid.SampledFrom([]string{" // c%d;\n", "\n// c%d;\n", "/* c%d; */"}).Draw(g.t, "form"), *g.comments)
	}
	if g.layout == "any" {
		return anyGap.Draw(g.t, "space")
	}
	return rapid.SampledFrom([]string{"", g.layout}).Draw(g.t, "space")
}

func (g drawer) wrap(open string, things []string, shut string) string {
	if len(things) == 0 {
		return open + g.space() + shut
	}
	for i := range things {
		things[i] = g.space() + things[i] + g.space()
	}
	if g.comments != nil && rapid.Bool().Draw(g.t, "trailing comma") {
		shut = "," + g.space() + shut
	}
	return open + strings.Join(things, ",") + shut
}

func (g drawer) member(name, value string) string {
	return `"` + name + `"` + g.space() + ":" + g.space() + value
}

func (g drawer) value(depth int) string {
	kind := rapid.IntRange(0, 2).Draw(g.t, "kind")
	if depth == 0 || kind == 0 {
		return scalars.Draw(g.t, "scalar")
	}
	var things []string
	for i := range rapid.IntRange(0, 2).Draw(g.t, "n") {
		thing := g.value(depth - 1)
		if kind == 1 {
			thing = g.member(fmt.Sprintf("k%d", i), thing)
		}
		things = append(things, thing)
	}
	if kind == 1 {
		return g.wrap("{", things, "}")
	}
	return g.wrap("[", things, "]")
}

func (g drawer) hooks() string {
	var members []string
	for _, event := range rapid.SliceOfNDistinct(events, 0, 4, rapid.ID).Draw(g.t, "events") {
		var groups []string
		for range rapid.IntRange(0, 2).Draw(g.t, "groups") {
			groups = append(groups, g.group())
		}
		members = append(members, g.member(event, g.wrap("[", groups, "]")))
	}
	return g.wrap("{", members, "}")
}

func (g drawer) group() string {
	var entries []string
	for range rapid.IntRange(0, 2).Draw(g.t, "entries") {
		entries = append(entries, foreign.Draw(g.t, "entry"))
	}
	members := []string{g.member("hooks", g.wrap("[", entries, "]"))}
	if rapid.Bool().Draw(g.t, "matcher?") {
		members = append(members, g.member("matcher", `"Skill"`))
	}
	return g.wrap("{", rapid.Permutation(members).Draw(g.t, "order"), "}")
}

// foreign draws entries that resemble ours and are not.
var foreign = rapid.SampledFrom([]string{
	`{}`,
	`{"type":"command","command":"/usr/bin/true"}`,
	`{"type":"command","command":"/opt/bin/fsmtx","args":["version"]}`,
	`{"type":"command","command":"fsmtx hydrate | tee log"}`,
	`{"type":"command","command":"hydrate","args":["fsmtx"]}`,
	`{"type":"command","command":"/opt/bin/fsmtx-old","args":["hydrate"]}`,
	`{"type":"command","command":"fsmtx recover"}`,
	`{"type":"command","command":"fsmtx","args":["steps"],"if":"Bash(fsmtx *)"}`,
	`{"type":"command","command":"fsmtx","args":["help","hydrate"]}`,
	`{"type":"command","command":"fsmtx","args":["hydrate",1]}`,
	`{"type":"http","command":"fsmtx","args":["hydrate"]}`,
	`{"type":"command","command":"fsmtx","args":"hydrate"}`,
	`{"type":"command","command":["fsmtx","hydrate"]}`,
	`{"type":"prompt","prompt":"fsmtx hydrate"}`,
})
