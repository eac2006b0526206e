package write

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// selfHooks are the hooks that --self-contained puts into the frontmatter of a skill (facts
// 43 and 73, client 2.1.329). They run the fsmtx on PATH, or without one tell the agent
// where the steps are. That needs a shell, because the client reports a missing program only
// to the person at the terminal (fact 46).
//
// They are lines of the shell without "args", which other agents ignore.
//
//go:embed selfhooks.yaml
var selfHooks string

var hasHooks = pattern.New(`(?m)^["']?hooks["']?\s*:`)

// withSelfHooks returns the text of a SKILL.md with the hooks at the end of its
// frontmatter, which is created if there is none. changed is false if the text already has
// the hooks.
func withSelfHooks(text string) (with string, changed bool, err error) {
	if strings.Contains(text, selfHooks) {
		return text, false, nil
	}
	head, own, tail, err := frontmatter.CutSkill([]byte(text))
	switch {
	case err != nil:
		return "", false, errors.New("has a frontmatter without a closing line ---")
	case own == nil:
		return string(head) + "---\n" + selfHooks + "---\n" + string(tail), true, nil
	case hasHooks.Regexp().Match(own):
		return "", false, errors.New("already has hooks in its frontmatter")
	}
	return string(head) + string(own) + selfHooks + string(tail), true, nil
}

// clientReadsHooks reports whether the client finds hooks in a SKILL.md. It ends the frontmatter
// at any three dashes, and [frontmatter.CutSkill], with which the hooks are added, at a line of them.
func clientReadsHooks(text string) bool {
	object, _, err := frontmatter.SkillJSON([]byte(text))
	var members map[string]jsontext.Value
	return err == nil && json.Unmarshal(object, &members) == nil && members["hooks"] != nil
}

// hooksEdit is a SKILL.md with the hooks in it.
type hooksEdit struct {
	path, old, text string
	changed         bool // the file does not have them yet
}

// planSelfHooks returns the SKILL.md in dir with the hooks. It changes nothing.
func planSelfHooks(dir string) (e hooksEdit, err error) {
	e.path = filepath.Join(dir, "SKILL.md")
	text, err := safefile.ReadFile(e.path, maxMarkdown, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return e, command.Fail(command.ExitNo, fmt.Errorf("%s does not exist, and the hooks go into it", e.path),
			"write it first: a description in the frontmatter, then the instructions for the agent")
	}
	if err != nil {
		return e, err
	}
	e.old = string(text)
	e.text, e.changed, err = withSelfHooks(e.old)
	if err == nil && !clientReadsHooks(e.text) {
		err = errors.New("has a frontmatter that the client would not read to its end: three dashes in a value, or YAML that is not valid")
	}
	if err != nil {
		return e, command.Fail(command.ExitNo, fmt.Errorf("%s %w", e.path, err),
			"nothing was changed; remove the other hooks, or correct the frontmatter, then run the command again")
	}
	return e, nil
}

// write writes the file, if it is changed, and prints what was done.
func (e hooksEdit) write(s terminal.Streams) error {
	if !e.changed {
		return s.Printf("%s: already has the hooks\n", e.path)
	}
	if err := writeSpec(e.path, []byte(e.old), []byte(e.text)); err != nil {
		return err
	}
	return s.Printf("%s: added the hooks\n", e.path)
}
