package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/locator"
)

// Skill is a skill in one of an agent's places.
type Skill struct {
	Name string // in its SKILL.md, or else its folder's
	Dir  string // absolute

	Unfit string // why the agent does not take it for a skill, for people; empty if it does

	place
	begins []byte // of its SKILL.md
	shadow string // SKILL.md of the skill that the agent runs under the name instead
}

// taken reports whether the agent takes the folder for a skill.
func (k *Skill) taken() bool { return k.Unfit == "" }

// head returns the beginning of a folder's SKILL.md, nil if it cannot be read.
func head(dir string) []byte {
	document, err := client.ReadSkill(locator.OS{}, filepath.Join(dir, client.SkillFile))
	if err != nil {
		return nil
	}
	return document
}

// readers are programs that print a file that they are given.
func readers() []string {
	return []string{"cat", "head", "tail", "nl", "sed", "awk", "less", "more", "bat", "batcat", "grep", "rg",
		"get-content", "gc", "type", "select-string"} // of PowerShell
}

// readBy returns the skill whose SKILL.md a shell command has printed, if it is in one of the
// places. The output must show the file: the command may have failed.
func (s Search) readBy(c Call) *Skill {
	if !strings.Contains(c.Command, "SKILL.md") {
		return nil
	}
	dir, output := c.Cwd, ""
	_ = json.Unmarshal(c.ToolResponse, &output, jsonx.Tolerant) // only Codex has a text here
	for _, texts := range c.commands() {
		if len(texts) > 1 && slices.Contains([]string{"cd", "set-location"}, texts[0]) {
			dir = safefile.Absolute(texts[len(texts)-1], dir)
		}
		if len(texts) == 0 || !slices.Contains(readers(), filepath.Base(texts[0])) || edits(texts) {
			continue
		}
		for _, text := range texts[1:] {
			if filepath.Base(text) != "SKILL.md" {
				continue
			}
			folder := filepath.Dir(safefile.Absolute(text, dir))
			for _, k := range s.every(c.Cwd) {
				if k.taken() && safefile.Same(k.Dir, folder) && shows(output, k.begins) {
					return k
				}
			}
		}
	}
	return nil
}

// commands returns the words that are known of the commands in the line; in PowerShell the program is named in small letters, too.
func (c Call) commands() (all [][]string) {
	if c.ToolName == permission.PowerShell {
		reading, _ := shell.LookPowerShell(c.Command)
		return reading.Commands
	}
	script, _ := shell.Parse(c.Command)
	for _, words := range script.Calls() {
		all = append(all, literals(words))
	}
	return all
}

// edits reports whether a call of sed changes its files.
func edits(texts []string) bool {
	return filepath.Base(texts[0]) == "sed" && slices.ContainsFunc(texts[1:], func(t string) bool {
		return strings.HasPrefix(t, "-i") || strings.HasPrefix(t, "--in-place")
	})
}

func literals(words []shell.Word) (texts []string) {
	for _, w := range words {
		if text, known := w.Text(os.LookupEnv); known {
			texts = append(texts, text)
		}
	}
	return texts
}
