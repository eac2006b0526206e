package tools_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestQuestionsAreAnswered searches docs/faq.md as people do. A search has words that people type. It finds the headings that have most
// of them, and of those the answers that have most. One that it finds has to name the command that helps, and the command has to exist.
func TestQuestionsAreAnswered(t *testing.T) {
	page := text(t, "docs/faq.md")
	for _, q := range []struct{ typed, command string }{
		{"turn off for one project", "install --remove"},
		{"disable", "install --remove"},
		{"uninstall", "install --remove"},
		{"two sessions one project", "status --all"},
		{"multiple sessions", "status --all"},
		{"no list", "install --task-tools"},
		{"no tasks shown on screen", "doctor"},
		{"skip step once", "step skip"},
		{"bypass", "step skip"},
		{"CI", "validate --strict"},
		{"Codex", "install"},
		{"power loss", "recover"},
		{"crash", "recover"},
		{"why refused", "status"},
		{"slow", "report"},
		{"resume", "continue"},
		{"retry", "graph"},
		{"timeout", "status"},
		{"approve", "step done"},
		{"worktree", "status"},
		{"Windows", "version"},
		{"undo", "undo"},
		{"see what the agent did", "log --decisions"},
		{"approve from another terminal", "step done"},
		{"check hangs", "status"},
		{"change running workflow", "validate"},
		{"where are the files", "locate"},
		{"monorepo", "locate"},
		{"WSL", "version"},
		{"give a colleague the skill without installing", "plugin"},
		{"restart the workflow", "graph"},
		{"nothing happens", "doctor"},
		{"agent stops early", "install"},
		{"only a part of the steps", "install"},
		{"update", "install --check"},
		{"convert SKILL.md", "new"},
		{"security: trust a workflow", "plan"},
	} {
		answers := answersTo(page, q.typed)
		require.NotEmpty(t, answers, q.typed)
		assert.LessOrEqual(t, len(answers), 3, "%s: %s", q.typed, answers)
		named := false
		for _, answer := range answers {
			named = named || regexp.MustCompile("fsmtx "+q.command+`\b`).MatchString(answer)
		}
		assert.True(t, named, "%s: no answer names %s:\n%s", q.typed, q.command, strings.Join(answers, "\n"))
		out, _, code := inProcess(nil, "", append(strings.Fields(q.command), "--help")...)
		assert.Zero(t, code, out)
	}
	assert.Empty(t, answersTo(page, "blockchain"))
}

// answersTo returns the questions that have the most words of a search, with their answers; words of one or two letters in lower case and
// "the" do not count.
func answersTo(page, search string) (found []string) {
	best := 0
	for _, section := range strings.Split(page, "\n## ")[1:] {
		heading, _, _ := strings.Cut(section, "\n")
		score := 0
		for _, word := range strings.Fields(search) {
			if len(word) < 3 && word != strings.ToUpper(word) || word == "the" {
				continue
			}
			has := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(strings.TrimSuffix(word, "s")) + `s?\b`).MatchString
			if has(section) {
				score++
			}
			if has(heading) {
				score += 10
			}
		}
		if score > best {
			found, best = nil, score
		}
		if score == best && score > 0 {
			found = append(found, section)
		}
	}
	return found
}
