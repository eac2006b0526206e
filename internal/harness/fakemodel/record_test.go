package fakemodel

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// conversation returns the body of a request with two calls in one message, their
// results and the output of a hook.
func conversation(m *Server) string { return strings.ReplaceAll(template, "ID:", m.Record().prefix) }

const template = tools + `"messages": [
	{"role": "user", "content": [{"type": "text", "text": "do it"}]},
	{"role": "assistant", "content": [
		{"type": "tool_use", "id": "ID:s1", "name": "Skill", "input": {"skill": "x"}},
		{"type": "tool_use", "id": "ID:b1", "name": "Bash", "input": {"command": "ls"}}]},
	{"role": "user", "content": [
		{"type": "tool_result", "tool_use_id": "ID:s1", "content": "launched"},
		{"type": "tool_result", "tool_use_id": "ID:b1", "is_error": true, "content": [{"type": "text", "text": "denied"}]}]},
	{"role": "system", "content": "the hook says no"}`

func TestResultsAreFoundByTheirCall(t *testing.T) {
	m := start(t, Script{Main: []Turn{Say(""), Say(""), Say("")}})
	ask(t, m, hello)
	ask(t, m, conversation(m)+`]`)
	ask(t, m, conversation(m)+`, {"role": "assistant", "content": "and now"}, {"role": "user", "content": "later"}]`)

	r := m.Record()

	skill, ok := r.Result("s1")
	require.True(t, ok)
	assert.Equal(t, Result{Text: "launched"}, skill)
	bash, ok := r.Result("b1")
	require.True(t, ok)
	assert.Equal(t, Result{Text: "denied", IsError: true}, bash)
	_, ok = r.Result("other")
	assert.False(t, ok)
	assert.Same(t, r.Exchanges()[1], r.After("s1"), "the first request that has the result")
	assert.Nil(t, r.After("other"))
}

func TestNewsStartsAfterTheLastAnswer(t *testing.T) {
	m := start(t, Script{Main: []Turn{Say(""), Say("")}})
	ask(t, m, conversation(m)+`]`)
	ask(t, m, conversation(m)+`, {"role": "assistant", "content": "and now"}, {"role": "user", "content": "later"}]`)

	all := m.Record().Exchanges(Main)

	assert.Equal(t, "launched\ndenied\nthe hook says no", all[0].Request.News())
	assert.Equal(t, "later", all[1].Request.News())
	assert.True(t, all[1].Request.Says("the hook says no"))
	assert.False(t, all[1].Request.Says("nobody said this"))
}

func TestOffersDeferredToolsToo(t *testing.T) {
	r, err := parseRequest([]byte(`{` + tools + `"messages": [{"role": "user", "content": null}]}`))
	require.NoError(t, err)

	assert.True(t, r.Offers("Bash"))
	assert.True(t, r.Offers("TaskList"))
	assert.False(t, r.Offers("TaskCreate"))
}

func TestStringShowsTheRun(t *testing.T) {
	m := start(t, Script{Main: []Turn{Do(Text("look: "), Skill("s1", "x")), Say("never")}})
	ask(t, m, strings.Replace(hello, "hello", strings.Repeat("long ", 2000)+"end", 1))

	dump := m.Record().String()

	for _, want := range []string{"--- 1 main", "long ", "end", "bytes …", `text "look: "`, "call s1 Skill map[skill:x]",
		"--- fault: the script"} {
		assert.Contains(t, dump, want)
	}
	assert.Less(t, len(dump), 2*shown)
}

func TestRecordIsASnapshot(t *testing.T) {
	m := start(t, Script{Main: []Turn{Say("one"), Say("two")}})
	ask(t, m, hello)

	before := m.Record()
	ask(t, m, hello)

	assert.Len(t, before.Exchanges(), 1)
	assert.Len(t, m.Record().Exchanges(), 2)
}
