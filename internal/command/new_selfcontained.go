package command

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/google/renameio/v2"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// selfHooks are the hooks that --self-contained puts into the frontmatter of a skill (facts
// 43 and 73, client 2.1.329). They run the fsmtx on PATH, or without one tell the agent
// where the steps are. That needs a shell, because the client reports a missing program only
// to the person at the terminal (fact 46).
//
//go:embed selfhooks.yaml
var selfHooks string

var hasHooks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^["']?hooks["']?\s*:`) })

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
	case hasHooks().Match(own):
		return "", false, errors.New("already has hooks in its frontmatter")
	}
	return string(head) + string(own) + selfHooks + string(tail), true, nil
}

// addSelfHooks puts the hooks into the SKILL.md in dir.
func addSelfHooks(dir string) (changed bool, err error) {
	path := filepath.Join(dir, "SKILL.md")
	text, err := safefile.ReadFile(path, maxMarkdown, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, &exit{exitNo, fmt.Errorf("%s does not exist, and the hooks go into it", path), "write it first: a description in the frontmatter, then the instructions for the agent"}
	}
	if err != nil {
		return false, err
	}
	with, changed, err := withSelfHooks(string(text))
	if err != nil {
		return false, &exit{exitNo, fmt.Errorf("%s %w", path, err), "nothing was changed; remove the other hooks, or correct the frontmatter, then run the command again"}
	}
	if !changed {
		return false, nil
	}
	return true, safefile.Write(path, []byte(with), renameio.WithExistingPermissions())
}
