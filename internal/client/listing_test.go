package client

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Lines as client 2.1.329 writes them, without the fields that are not read.
const (
	firstListing = `{"parentUuid":"u","isSidechain":false,"attachment":{"type":"skill_listing","content":"- p:a (p:simplify): d\n- p:b ` +
		`(p:ship): d\n- simplify: Review (p:code)\n- q:c (q:twice)\n- r:d (r:twice): d\n- mine (ship it): d\n- r:f (r:mine too): d\n- g (mine ` +
		`too): - r:h (gone)","skillCount":8,"isInitial":true,"names":["p:a","p:b","simplify","q:c","r:d","mine","r:f","g"]},"type":"attachment"}`
	laterListing = `{"isSidechain":false,"attachment":{"type":"skill_listing","content":"- web:deploy: d\n- deploy: d\n- s:e (s:late): ` +
		`d","isInitial":false,"names":["web:deploy","deploy","s:e"]},"type":"attachment"}`
)

func TestLists(t *testing.T) {
	both := []string{skillPrompt, firstListing, skillCall, laterListing}
	for name, c := range map[string]struct {
		lines []string
		name  string
		want  bool
	}{
		"listed":           {both, "simplify", true},
		"a further name":   {both, "ship", false},
		"listed later":     {both, "deploy", true},
		"in a description": {both, "code", false},
		"not listed":       {both, "nobody", false},
		"no listing":       {[]string{skillPrompt, skillCall}, "simplify", false},
		"of a subagent":    {[]string{strings.Replace(firstListing, `"isSidechain":false`, `"isSidechain":true`, 1)}, "simplify", false},
		"text of the user": {[]string{strings.Replace(firstListing, `"type":"attachment"`, `"type":"user"`, 1)}, "simplify", false},
		"of another type":  {[]string{strings.Replace(firstListing, `"names":[`, `"names":[5,`, 1), laterListing}, "simplify", false},
		"torn":             {[]string{firstListing[:250]}, "simplify", false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, Lists(transcript(t, c.lines...), "", c.name))
		})
	}
}

// TestListsWaitsForTheListing: an answer to the first prompt can call a skill before the
// client has written the listing.
func TestListsWaitsForTheListing(t *testing.T) {
	prompt := strings.Replace(fmt.Sprintf(prompted, "go"), `{"type"`, `{"promptId":"1","type"`, 1)
	for name, c := range map[string]struct {
		before, later string
		want          bool
		waits         time.Duration
	}{
		"the listing comes":   {"", prompt + "\n" + firstListing, true, 100 * time.Millisecond},
		"the prompt comes":    {"", prompt, false, 100 * time.Millisecond},
		"nothing comes":       {"", "", false, 500 * time.Millisecond},
		"the prompt is there": {prompt, firstListing, false, 0},
		"a listing is there":  {firstListing, laterListing, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			whileWriting(t, c.before, c.later, c.waits, func(path string) { assert.Equal(t, c.want, Lists(path, "1", "simplify")) })
		})
	}
}

// whileWriting fails unless read takes the time waits, while later is written behind before in the
// transcript.
func whileWriting(t *testing.T, before, later string, waits time.Duration, read func(path string)) {
	path := transcript(t, before)
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		go func() {
			time.Sleep(90 * time.Millisecond)
			assert.NoError(t, os.WriteFile(path, []byte(before+"\n"+later+"\n"), 0o600))
		}()
		read(path)
		assert.WithinDuration(t, begun.Add(waits), time.Now(), waitStep)
		synctest.Wait()
		time.Sleep(time.Second)
	})
}

// TestToolsWaitsForTheFirstWord: the same answer can make the call whose hook asks for the tools.
func TestToolsWaitsForTheFirstWord(t *testing.T) {
	const word = `{"isSidechain":false,"attachment":{"type":"deferred_tools_delta","addedNames":["TaskUpdate"]},"type":"attachment"}`
	has := Offer{Known: true, TaskTools: true}
	prompt := strings.Replace(fmt.Sprintf(prompted, "go"), `{"type"`, `{"promptId":"1","type"`, 1)
	for name, c := range map[string]struct {
		before, later string
		want          Offer
		waits         time.Duration
	}{
		"the word comes":      {"", prompt + "\n" + word, has, 100 * time.Millisecond},
		"the prompt comes":    {"", prompt, Offer{}, 100 * time.Millisecond},
		"nothing comes":       {"", "", Offer{}, 500 * time.Millisecond},
		"the prompt is there": {prompt, word, Offer{}, 0},
		"a word is there":     {word, "", has, 0},
	} {
		t.Run(name, func(t *testing.T) {
			whileWriting(t, c.before, c.later, c.waits, func(path string) { assert.Equal(t, c.want, Tools(path, "1")) })
		})
	}
}

// TestOnlyATranscriptThatTheClientWritesIsWaitedFor: there may be no file yet where the client
// keeps its transcripts, but a path elsewhere is that of a program without one, and a client may
// not write transcripts.
func TestOnlyATranscriptThatTheClientWritesIsWaitedFor(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "projects/-p/none.jsonl")
	old := transcript(t, strings.Replace(fmt.Sprintf(prompted, "of an earlier turn"), `{"type"`, `{"promptId":"0","type"`, 1))
	for _, c := range []struct {
		path, skip string // CLAUDE_CODE_SKIP_PROMPT_HISTORY
		pid        int    // CLAUDE_PID
		waits      bool
	}{
		{"", "", 0, false}, {filepath.Join(t.TempDir(), "none.jsonl"), "", 0, false},
		{kept, "", 0, true}, {kept, "1", 0, false}, {kept, "", clientWith(t, "--verbose"), true}, {kept, "", clientWith(t, noPersistence), false},
		{old, "", 0, true}, {old, "1", 0, false},
	} {
		t.Setenv("CLAUDE_CODE_SKIP_PROMPT_HISTORY", c.skip)
		t.Setenv("CLAUDE_PID", fmt.Sprint(c.pid))
		for what, limit := range map[string]time.Duration{"tools": listingAtMost, "name": listingAtMost, "text": waitAtMost, "call": waitAtMost} {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				switch what {
				case "tools":
					assert.Equal(t, Offer{}, Tools(c.path, "1"))
				case "name":
					assert.False(t, Lists(c.path, "1", "ship"))
				case "text":
					_, known := lastMessage(c.path, "1")
					assert.Equal(t, c.path == "", known)
				case "call":
					_, found := LastCall(c.path, "1", func(string) bool { return true })
					assert.False(t, found)
				}
				if !c.waits {
					limit = 0
				}
				assert.WithinDuration(t, begun.Add(limit), time.Now(), waitStep, "%+v: %s", c, what)
			})
		}
	}
	assert.False(t, Lists(t.TempDir(), "", "simplify"))
}

const noPersistence = "--no-session-persistence"

// clientWith starts a process with an option of the client, and returns its number.
func clientWith(t *testing.T, option string) int {
	c := exec.Command("sh", "-c", "read line", "claude", "-p", option)
	_, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	return c.Process.Pid
}

const (
	noTaskTools = `{"isSidechain":false,"attachment":{"type":"deferred_tools_delta","addedNames":["CronCreate","TaskStop"],` +
		`"removedNames":[],"readdedNames":[]},"type":"attachment"}`
	taskTools = `{"isSidechain":false,"attachment":{"type":"deferred_tools_delta","addedNames":["TaskCreate","TaskUpdate"],` +
		`"removedNames":[],"readdedNames":[]},"type":"attachment"}`
	toolsGone = `{"isSidechain":false,"attachment":{"type":"deferred_tools_delta","addedNames":[],` +
		`"removedNames":["TaskUpdate"]},"type":"attachment"}`
	inSidechain = `{"isSidechain":true,"attachment":{"type":"deferred_tools_delta","addedNames":["TaskUpdate"]},"type":"attachment"}`
	served      = `{"isSidechain":false,"attachment":{"type":"mcp_instructions_delta","addedNames":["other","plugin:fsmtx:fsmtx"],` +
		`"addedBlocks":["## other\nUse me.","## plugin:fsmtx:fsmtx\nSome skills come as a workflow.\n- workflow_status: the steps, ` +
		`which are ready, and more"],"removedNames":[]},"type":"attachment"}`
	otherServer = `{"isSidechain":false,"attachment":{"type":"mcp_instructions_delta","addedNames":["fsmtx"],"addedBlocks":["## fsmtx\nNot ` +
		`ours."],"removedNames":[]},"type":"attachment"}`
	serverGone = `{"isSidechain":false,"attachment":{"type":"mcp_instructions_delta","addedNames":[],"addedBlocks":[],` +
		`"removedNames":["plugin:fsmtx:fsmtx"]},"type":"attachment"}`
	quotedDelta = `{"isSidechain":false,"type":"user","message":{"role":"user","content":"\"deferred_tools_delta\" TaskUpdate"}}`
)

// What the client has told the model last counts.
func TestTools(t *testing.T) {
	const prefix = "mcp__plugin_fsmtx_fsmtx__"
	for name, c := range map[string]struct {
		lines []string
		want  Offer
	}{
		"nothing is listed yet":   {nil, Offer{}},
		"no task tools":           {[]string{noTaskTools}, Offer{Known: true}},
		"task tools":              {[]string{taskTools, noTaskTools}, Offer{Known: true, TaskTools: true}},
		"task tools that are off": {[]string{taskTools, toolsGone}, Offer{Known: true}},
		"and on again":            {[]string{taskTools, toolsGone, taskTools}, Offer{Known: true, TaskTools: true}},
		"of a subagent":           {[]string{noTaskTools, inSidechain}, Offer{Known: true}},
		"in a text":               {[]string{quotedDelta}, Offer{}},
		"the server":              {[]string{noTaskTools, served}, Offer{Known: true, Server: prefix}},
		"the server first":        {[]string{served, noTaskTools}, Offer{Known: true, Server: prefix}},
		"the server is gone":      {[]string{noTaskTools, served, serverGone}, Offer{Known: true}},
		"and there again":         {[]string{served, serverGone, served}, Offer{Server: prefix}},
		"another server":          {[]string{otherServer, noTaskTools}, Offer{Known: true}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, Tools(transcript(t, append(c.lines, "")...), ""))
		})
	}
	assert.Equal(t, Offer{}, Tools("/nonexistent", ""))
}
