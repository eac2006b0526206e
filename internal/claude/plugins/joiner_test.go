package plugins_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// The names were given to folders of skills, and the client listed them or not (2.1.329).
func TestJoinersInTheNameOfAFolder(t *testing.T) {
	for _, name := range []string{"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u064e\u200c\u062e",
		"\u0915\u094d\u200c\u0937",
		"\u0915\u094d\u200d\u0937", "\u0dc1\u0dca\u200d\u0dbb\u0dd3", "\U0001f469\u200d\U0001f680", "x-\U0001f469\u200d\U0001f680-y",
		"\U0001f3f3\ufe0f\u200d\U0001f308", "\U0001f469\U0001f3fd\u200d\U0001f680", "\u2764\ufe0f"} {
		assert.True(t, plugins.IsFolderName(name), "%+q", name)
	}
	for _, name := range []string{"a\u200cb", "a\u200db", "\u0645\u06cc\u200d\u062e", "\u0645\u200c", "\u200c\u0645",
		"\u0645\u200ca", "a\u200c\u0645",
		"\u0915\u200c\u0937", "\u0645\u200c\u200c\u062e", "\u0915\u094d\u200d", "\U0001f469\u200c\U0001f680",
		"\u05d0\u200c\u05d1", "\u4e00\u200c\u4e8c",
		"1\u200c2", "\u0645\u200c1", "\u0645-\u200c\u062e", "\U0001f469\u200da", "e\u200d\U0001f469", "\u0627\u200c\u0628",
		"\u09b0\u200d\u09cd\u09af",
		"\u0645\u200d\u200c\u062e", "a\u2060b", "a\u061cb", "\u115f", "\u3164", "a\u034fb", "a\ufe0fb",
		"\u2800", "a\u00a0b", "\u3000a", " a", "a "} {
		assert.False(t, plugins.IsFolderName(name), "%+q", name)
	}
}

// The rule is that of every name: of a command's file and in a frontmatter too (2.1.329).
func TestNamesThatTheClientDoesNotAccept(t *testing.T) {
	for _, name := range []string{"a\u00a0b", "a\u3000", " a", "a ", "a\u115fb", "a\ufe0fb", "a\u2800b"} {
		w := newWorld(t)
		w.put("/p/commands/"+name+".md", "")
		w.put("/p/commands/fine.md", "")
		w.put("/p/skills/s/SKILL.md", "---\nname: \""+name+"\"\n---\n")
		p, err := plugins.LoadDir(w, "/p", plugins.InlineMarketplace)
		assert.NoError(t, err)
		var all []string
		for _, s := range p.All() {
			scoped, bare, _ := s.OwnNames()
			all = append(all, s.Name, scoped, bare)
		}
		assert.Equal(t, []string{"fine", "", "", "s", "", ""}, all, "%+q", name)
		has, err := plugins.HasName(w, "/p/skills/s", name)
		assert.NoError(t, err)
		assert.False(t, has, "%+q", name)
	}
}
