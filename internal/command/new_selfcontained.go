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

// selfHooks are the hooks that a skill may carry in its frontmatter (facts 43 and 73,
// client 2.1.329). They run the fsmtx on PATH, and without one tell the agent where the
// steps are. They need a shell: the client reports a program that is missing to nobody but
// the person at the terminal (fact 46).
//
//go:embed selfhooks.yaml
var selfHooks string

var hasHooks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^["']?hooks["']?\s*:`) })

// withSelfHooks returns the text of a SKILL.md with the hooks at the end of its
// frontmatter, which is created if there is none. changed is false if they are there.
func withSelfHooks(text string) (with string, changed bool, err error) {
	if strings.Contains(text, selfHooks) {
		return text, false, nil
	}
	head, own, tail, err := frontmatter.CutSkill([]byte(text))
	switch {
	case err != nil:
		return "", false, errors.New("has a frontmatter without its closing line ---")
	case own == nil:
		return string(head) + "---\n" + selfHooks + "---\n" + string(tail), true, nil
	case hasHooks().Match(own):
		return "", false, errors.New("has hooks in its frontmatter already")
	}
	return string(head) + string(own) + selfHooks + string(tail), true, nil
}

// carryHooks puts the hooks into the SKILL.md in dir.
func carryHooks(dir string) (changed bool, err error) {
	path := filepath.Join(dir, "SKILL.md")
	text, err := safefile.ReadFile(path, maxMarkdown, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, &exit{exitNo, fmt.Errorf("%s does not exist, and a skill carries its hooks there", path), "write it first: a description in the frontmatter, and what the agent is to do"}
	}
	if err != nil {
		return false, err
	}
	with, changed, err := withSelfHooks(string(text))
	if err != nil {
		return false, &exit{exitNo, fmt.Errorf("%s %w", path, err), "fsmtx new --help says which hooks they are; nothing was changed"}
	}
	if !changed {
		return false, nil
	}
	return true, safefile.Write(path, []byte(with), renameio.WithExistingPermissions())
}
