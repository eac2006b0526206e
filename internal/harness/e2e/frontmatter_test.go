//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/locator"
)

// frontmatters are beginnings of skills, of which each has the name NAME to a reader.
var frontmatters = []string{
	"---\nname: NAME\ndescription: d\n---\n",
	"\ufeff---\r\nname: NAME\r\ndescription: d\r\n---\r\n",
	"---\n\n \nname: NAME\n---",
	"---\nname: NAME\ndescription: use this: always\n---\n",
	"---\r\nname: NAME\r\ndescription: use this: always\r\n---\r\n",
	"---\nname: NAME\ndescription: \"a\" and b\n---\n",
	"---\nname: NAME\ndescription: \"a\": b\n---\n",
	"---\nname: NAME\ndescription: @a `b` *c* {d} [e\n---\n",
	"---\nname: NAME\ndescription: a\nb\n---\n",
	"---\nname: NAME\ndescription: a: b\nmetadata:\n\tc: d\n---\n",
	"---\nname: NAME\ndescription: a --- b\n---\n",
	"---\ndescription: a --- b\nname: NAME\n---\n",
	"---\n# ---- what it is ----\nname: NAME\n---\n",
	"---\nname: NAME\ndescription: a\x00\n---\n",
	"---\nname: [NAME\n---\n",
	"---\nname: \"NAME\n---\n",
	"---\nname: <NAME>\n---\n",
	"----\nname: NAME\n----\n",
	"---\nname: NAME\n...\n",
	"---\nname:NAME\n---\n",
	"---\u0085\nname: NAME\n---\n",
	"---\nname: \"NAME \"\n---\n",
}

// Fact 168: which frontmatter gives a skill its name.
func TestNamesInFrontmatter(t *testing.T) {
	s := realclient.New(t)
	var calls []Block
	for i, text := range frontmatters {
		name := fmt.Sprint("name", i)
		s.Write(fmt.Sprintf("home/.claude/skills/folder%d/SKILL.md", i), strings.ReplaceAll(text, "NAME", name)+"body\n")
		s.Write(fmt.Sprintf("home/.claude/skills/folder%d/fsm.json", i), "[]")
		calls = append(calls, Skill(name, name))
	}
	r := s.Prompt(Script{Main: []Turn{Do(calls...), Say("done")}}, "go")
	for i, text := range frontmatters {
		name := fmt.Sprint("name", i)
		result, err := (&locator.Locator{FS: locator.OS{}, ConfigDir: s.Path("home/.claude"), ProjectDir: s.Project, Home: s.Home}).Locate(name,
			s.Project)
		assert.Equal(t, strings.Contains(r.Text(name), "Launching skill"), result.Known(), "%q %v\n%s", text, err, explain(result))
	}
}
