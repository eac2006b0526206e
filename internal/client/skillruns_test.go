package client

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Lines as client 2.1.329 writes them, without the fields that are not read.
const (
	skillPrompt  = `{"isSidechain":false,"promptId":"p1","type":"user","message":{"role":"user","content":"go"}}`
	earlierSkill = `{"promptId":"p0","type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this ` +
		`skill: /earlier\n\nx"}]},"isMeta":true,"sourceToolUseID":"t0"}`
	skillCall = `{"message":{"content":[{"type":"text","text":"I will"},{"id":"t1","input":{"skill":"/deploy","args":"to ` +
		`prod"},"name":"Skill","type":"tool_use"},{"id":"t2","input":{"skill":"plug:ship"},"name":"Skill","type":"tool_use"}],` +
		`"role":"assistant"},"type":"assistant"}`
	skillResult = `{"promptId":"p1","type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"Launching skill: ` +
		`deploy","tool_use_id":"t1"}]}}`
	skillBase = `{"isSidechain":false,"promptId":"p1","type":"user","message":{"role":"user","content":[{"type":"text","text":"Base ` +
		`directory for this skill: ../added/.claude/skills/deploy\n\nDo it.\n"}]},"isMeta":true,"sourceToolUseID":"t1"}`
	otherBase = `{"isSidechain":false,"promptId":"p1","type":"user","message":{"role":"user","content":[{"type":"text","text":"Base ` +
		`directory for this skill: /plug/skills/ship\n\nDo it.\n"}]},"isMeta":true,"sourceToolUseID":"t2"}`
	typedSkill = `{"promptId":"p1","type":"user","message":{"role":"user",` +
		`"content":"<command-message>plain</command-message>\n<command-name>/plain</command-name>\n<command-args>1 2</command-args>"}}`
	typedBase = `{"promptId":"p1","type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this skill: ` +
		`/home/.claude/skills/plain\n\nDo it.\n\nARGUMENTS: 1 2"}]},"isMeta":true}`
)

func TestSkillRuns(t *testing.T) {
	deploy := SkillRun{"deploy", "t1", "/added/.claude/skills/deploy", "to prod"}
	ship := SkillRun{"plug:ship", "t2", "/plug/skills/ship", ""}
	plain := SkillRun{"plain", "", "/home/.claude/skills/plain", "1 2"}
	for name, c := range map[string]struct {
		lines []string
		want  []SkillRun
	}{
		"called":             {[]string{skillPrompt, skillCall, skillResult, skillBase}, []SkillRun{deploy}},
		"the last one first": {[]string{skillPrompt, skillCall, skillResult, skillBase, otherBase, skillResult}, []SkillRun{ship, deploy}},
		"typed":              {[]string{typedSkill, typedBase}, []SkillRun{plain}},
		"typed, then called": {[]string{typedSkill, typedBase, skillCall, skillBase}, []SkillRun{deploy, plain}},
		"an earlier turn":    {[]string{earlierSkill, skillPrompt}, nil},
		"no earlier ones":    {[]string{earlierSkill, skillPrompt, skillCall, skillBase}, []SkillRun{deploy}},
		"not printed again":  {[]string{skillPrompt, skillCall, skillResult}, nil},
		"without a call":     {[]string{skillPrompt, skillBase}, nil},
		"of another turn, seen late": {[]string{skillPrompt, skillCall, `{"long":"` + strings.Repeat("x", headBytes) + `",` +
			strings.Replace(strings.Replace(skillBase, `"promptId":"p1"`, `"promptId":"p0"`, 1), "{", "", 1)}, nil},
		"of a subagent":      {[]string{skillPrompt, skillCall, strings.Replace(skillBase, `"isSidechain":false`, `"isSidechain":true`, 1)}, nil},
		"quoted by the user": {[]string{skillPrompt, skillCall, strings.Replace(skillBase, `"isMeta":true`, `"isMeta":false`, 1)}, nil},
		"quoted by a tool": {[]string{skillPrompt, skillCall,
			`{"promptId":"p1","isMeta":true,"type":"user","message":{"content":[{"type":"tool_result","content":"Base ` +
				`directory for this skill: /x"}]}}`}, nil},
		"in another language": {[]string{skillPrompt, `"Base directory for this skill: /x"`, "torn \"Base directory for this skill: "}, nil},
		"without a folder":    {[]string{typedSkill, strings.Replace(typedBase, "/home/.claude/skills/plain", "", 1)}, nil},
	} {
		assert.Equal(t, c.want, SkillRuns(transcript(t, c.lines...), "p1", "/start", 1<<20), name)
	}
	path := transcript(t, skillPrompt, skillCall, skillBase)
	assert.Nil(t, SkillRuns(path, "", "/start", 1<<20), "the turn's beginning is unknown")
	assert.Nil(t, SkillRuns(path, "p2", "/start", 1<<20), "another turn")
	assert.Nil(t, SkillRuns(filepath.Join(t.TempDir(), "absent"), "p1", "/start", 1<<20))
}

// TestSkillRunsReadsABoundedPart: lines further back than the limit are not read.
func TestSkillRunsReadsABoundedPart(t *testing.T) {
	lines := []string{skillPrompt, skillCall, skillBase, `{"type":"attachment","text":"` + strings.Repeat("x", 1<<20) + `"}`, "", ""}
	path := transcript(t, lines...)
	assert.Len(t, SkillRuns(path, "p1", "/start", 2<<20), 1)
	assert.Empty(t, SkillRuns(path, "p1", "/start", 1<<19))
}
