package tools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// counted is how many steps are done, skipped or gone, not needed, and open.
type counted [4]int

func (n *counted) add(state string) {
	switch state {
	case "done":
		n[0]++
	case "skipped", "gone":
		n[1]++
	case "not needed":
		n[2]++
	default:
		n[3]++
	}
}

// countedSkills are called beside those of undoSkills: a person says yes to how a step ends, on which depends whether another is needed.
var countedSkills = map[string]string{
	"outer": `{"fsm": 2, "steps": [{"id": 1, "subject": "Each", "each": {"lines": "items"}},
{"id": 2, "subject": "Notes", "blockedBy": [1], "do": "notes"},
{"id": 3, "subject": "Look", "blockedBy": [2], "approval": "Good?", "outcomes": {"again": {"back": 1, "max": 3}, "fine": {}, "bad": {}}},
{"id": 4, "subject": "Mend", "blockedBy": [3], "when": {"3": "bad"}, "each": {"lines": "items"}},
{"id": 5, "subject": "Tell", "blockedBy": [3]}]}`,
	"choice": `{"fsm": 2, "steps": [{"id": 1, "subject": "Each", "each": {"lines": "items"}},
{"id": 2, "subject": "Look", "blockedBy": [1], "approval": "Good?", "outcomes": {"again": {"back": 1, "max": 3}, "fine": {}, "bad": {}}},
{"id": 3, "subject": "Mend", "blockedBy": [2], "when": {"2": "bad"}}]}`,
}

// decided lets a person decide about some step or the last change, or the client or a script remove the task.
func (w *undoWorld) decided(t *rapid.T) {
	open := w.steps(t)
	if len(open) == 0 {
		return
	}
	step := rapid.SampledFrom(open).Draw(t, "step")
	switch rapid.IntRange(0, 9).Draw(t, "decision") {
	case 9:
		_, _ = w.run(t, false, "", "undo", "--force", "--list", worlds.ListID)
	case 8:
		w.Write(t, ".claude/skills/notes/fsm.json", fmt.Sprintf(`[{"id": 1, "subject": "Collect"}, {"id": 2, "subject": %q}]`, "Draft "+step))
		_, _ = w.run(t, false, "", "step", "reload", "--because", "x", "--list", worlds.ListID)
		if rapid.Bool().Draw(t, "undone") {
			w.works(t, 0)
			_, _ = w.run(t, false, "", "undo", "--force", "--list", worlds.ListID)
		}
	case 6, 7:
		outcome := rapid.SampledFrom([]string{"again", "fine", "bad"}).Draw(t, "outcome")
		_, _ = w.run(t, false, "", "step", "done", step, "--with-blockers", "--outcome", outcome, "--because", "x", "--list", worlds.ListID)
	case 0, 1:
		_, _ = w.run(t, false, "", "step", "skip", step, "--with-blockers", "--because", "x", "--list", worlds.ListID)
	case 2:
		_, _ = w.run(t, false, "", "step", "done", step, "--because", "x", "--list", worlds.ListID)
	case 3:
		_, _ = w.run(t, false, "", "step", "reopen", "1", "--because", "x", "--list", worlds.ListID)
	case 4:
		_, _ = w.run(t, false, "", "step", "end", step, "--because", "x", "--list", worlds.ListID)
	default:
		_ = os.Remove(w.InList(step + ".json"))
		w.log = "" // which no log tells
	}
}

// inWords finds the counts in "2 of 5 steps are done, 1 skipped, 1 gone, 1 not needed" and in "2/5, 1 skipped".
var inWords = regexp.MustCompile(`(\d+)(?: of |/)(\d+)(?: steps are done| steps done| done)?` +
	`(?:, (\d+) skipped)?(?:, (\d+) gone)?(?:, (\d+) not needed)?`)

func countIn(t *rapid.T, text string) (n counted) {
	found := inWords.FindStringSubmatch(text)
	require.NotNil(t, found, text)
	number := func(i int) int { k, _ := strconv.Atoi(found[i]); return k }
	n = counted{number(1), number(3) + number(4), number(5)}
	n[3] = number(2) - n[0] - n[1] - n[2]
	return n
}

// states counts the states of the steps in a JSON text, below these members.
func states(t *rapid.T, text string, path ...string) (n counted) {
	var all any
	require.NoError(t, json.Unmarshal([]byte(text), &all), text)
	var walk func(v any, path []string)
	walk = func(v any, path []string) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one, path)
			}
		case map[string]any:
			if len(path) == 0 {
				if v["earlier"] == true {
					return
				}
				n.add(v["state"].(string))
				return
			}
			walk(v[path[0]], path[1:])
		}
	}
	walk(all, path)
	return n
}

// wordsIn returns the states of steps by their numbers, wherever they are in a JSON text: objects with state, and id or number.
func wordsIn(t *rapid.T, text string) map[string]string {
	var all any
	require.NoError(t, json.Unmarshal([]byte(text), &all), text)
	words := map[string]string{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, name := range []string{"id", "number"} {
				if state, is := v["state"].(string); is && v[name] != nil {
					words[fmt.Sprint(v[name])] = state
				}
			}
			for _, name := range []string{"workflows", "steps", "result", "structuredContent"} {
				walk(v[name])
			}
		}
	}
	walk(all)
	return words
}

// askServer is a session with the MCP server, which asks for the status.
const askServer = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, ` +
	`"clientInfo": {"name": "t", "version": "1"}}}
{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "workflow_status", "arguments": {}}}
`

// TestEveryReaderCountsTheSame: how many steps are done, skipped, not needed and open, at any time of a run.
func TestEveryReaderCountsTheSame(t *testing.T) {
	worlds.Long(t)
	t.Chdir(t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		w := newUndoWorld(t)
		w.log = w.Path("log")
		for name, spec := range countedSkills {
			w.Write(t, ".claude/skills/"+name+"/SKILL.md", "")
			w.Write(t, ".claude/skills/"+name+"/fsm.json", spec)
		}
		w.Write(t, "project/items", rapid.SampledFrom([]string{"x\ny\n", "\n"}).Draw(t, "items"))
		require.NoError(t, os.Chdir(w.Path("project")))
		require.NoError(t, w.call(t, rapid.SampledFrom([]string{"outer", "choice", "notes"}).Draw(t, "called")))
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			w.works(t, 0)
			if rapid.Bool().Draw(t, "nested") {
				_ = w.call(t, "notes")
			}
			w.decided(t)
			if rapid.IntRange(0, 2).Draw(t, "wanders") == 0 {
				w.wanders(t)
			}
		}
		read := func(args ...string) string {
			text, err := w.run(t, false, "", append(args, "--list", worlds.ListID)...)
			require.NoError(t, err)
			return text
		}
		status := read("status", "--json")
		want := states(t, status, "workflows", "steps")
		var said struct {
			Workflows []struct{ Done, Skipped, NotNeeded, Open int }
		}
		require.NoError(t, json.Unmarshal([]byte(status), &said))
		var sum counted
		for _, x := range said.Workflows {
			for i, n := range (counted{x.Done, x.Skipped, x.NotNeeded, x.Open}) {
				sum[i] += n
			}
		}
		require.Equal(t, want, sum, "status")
		w.requireReported(t, status)
		if len(said.Workflows) == 0 { // all was undone
			return
		}
		require.Equal(t, want, countIn(t, read("next")), "next")
		require.Equal(t, want, states(t, read("attest", "--print", "--open", "--tree"), "predicate", "steps"), "attest")
		words := wordsIn(t, status)
		for _, answer := range [][2]string{{"graph", read("graph", "--json")}, {"MCP", w.served(t)}} {
			reader, text := answer[0], answer[1]
			said := wordsIn(t, text)
			require.True(t, len(said) > 0 || reader == "MCP" && sum[3] == 0, "%s: %s", reader, text)
			for id, word := range said { // graph counts copies, and the server tells the open workflow
				require.Equal(t, words[id], word, "%s: #%s", reader, id)
			}
		}
		for _, format := range []string{"text", "html"} {
			require.Equal(t, want, countIn(t, read("graph", "--format", format)), "graph %s", format)
		}
		for id, word := range drawn(read("graph", "--format", "mermaid")) {
			require.Equal(t, strings.Replace(words[id], "gone", "skipped", 1), word, "mermaid: #%s", id)
		}
		for id, word := range tasksIn(t, read("log", "--json"), "in the list") {
			require.Equal(t, words[id], word, "log: #%s", id)
		}
		line, err := w.run(t, true, fmt.Sprintf(`{"session_id": %q}`, worlds.ListID), "statusline")
		require.NoError(t, err)
		require.Equal(t, want, countIn(t, line), "statusline")
		known := tasksIn(t, read("log", "--json"), "in the list")
		if _, err := w.run(t, false, "", "undo", "1", "--force", "--list", worlds.ListID); err == nil {
			gone := tasksIn(t, read("log", "--json"), "")
			for id, word := range known {
				require.Equal(t, word, gone[id], "log after the undo: #%s", id)
			}
		}
	})
}

// report requires that each call is one run, wherever it went, and stands in one way at last; and returns what report says of them, empty
// if something is forgotten.
func (w *undoWorld) report(t *rapid.T) string {
	text, err := w.run(t, false, "", "report", "--json")
	require.NoError(t, err)
	var said struct {
		Skills []struct {
			Versions []struct{ Begun, Ended, EndedByPerson, Undone, Replaced, Open int }
		}
		Forgotten int
	}
	require.NoError(t, json.Unmarshal([]byte(text), &said))
	begun := 0
	for _, skill := range said.Skills {
		for _, v := range skill.Versions {
			begun += v.Begun
			require.Equal(t, v.Begun, v.Ended+v.EndedByPerson+v.Undone+v.Replaced+v.Open, text)
		}
	}
	if said.Forgotten > 0 || w.killed { // a call that was killed may have begun or not
		return ""
	}
	require.Equal(t, w.begun, begun, "report: %s", text)
	return text
}

// requireReported requires that report counts what status does, from the lists and from the log. For a step whose copies are there these
// count.
func (w *undoWorld) requireReported(t *rapid.T, status string) {
	text := w.report(t)
	if text == "" {
		return
	}
	var now struct {
		Workflows []struct {
			BegunBy any
			Steps   []struct {
				ID, Parent  int64
				State, Item string
				Earlier     bool
				Each        struct{ Itself bool }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(status), &now), status)
	copied := map[int64]bool{}
	for _, x := range now.Workflows {
		for _, s := range x.Steps {
			copied[s.Parent] = copied[s.Parent] || s.Item != "" && !s.Earlier
		}
	}
	begun, done, notNeeded := 0, 0, 0
	for _, x := range now.Workflows {
		if x.BegunBy != nil {
			begun++
		}
		for _, s := range x.Steps {
			switch {
			case s.Earlier || s.Each.Itself && copied[s.ID]:
			case s.State == "done":
				done++
			case s.State == "not needed":
				notNeeded++
			}
		}
	}
	lists := reported(t, text)
	if begun == w.begun { // all of them are in the list
		sum := [2]int{}
		for _, n := range lists {
			sum[0], sum[1] = sum[0]+n[0], sum[1]+n[1]
		}
		require.Equal(t, [2]int{done, notNeeded}, sum, "report")
	}
	if w.log == "" {
		return
	}
	logged, err := w.run(t, false, "", "report", "--json", w.log)
	require.NoError(t, err)
	require.Equal(t, lists, reported(t, logged), "report of the log")
}

// reported returns how often each step is done and not needed as report has it, by skills, versions and steps.
func reported(t *rapid.T, text string) map[string][2]int {
	var said struct {
		Skills []struct {
			Skill    string
			Versions []struct {
				Digest string
				Steps  []struct {
					Step            string
					Done, NotNeeded int
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &said), text)
	counts := map[string][2]int{}
	for _, skill := range said.Skills {
		for _, v := range skill.Versions {
			for _, s := range v.Steps {
				if s.Done+s.NotNeeded > 0 {
					counts[skill.Skill+" "+v.Digest+" "+s.Step] = [2]int{s.Done, s.NotNeeded}
				}
			}
		}
	}
	return counts
}

// tasksIn returns the states of the tasks that calls have created, those in this state or all, by their numbers.
func tasksIn(t *rapid.T, log, state string) map[string]string {
	var all []struct {
		State   string
		From    any
		Created []struct {
			ID, State string
			Gone      bool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(log), &all), log)
	words := map[string]string{}
	for _, call := range all {
		for _, task := range call.Created {
			if state == "" || call.State == state && !(task.Gone && call.From != nil) { // which may have been replaced under a step
				words[task.ID] = task.State
			}
		}
	}
	return words
}

// drawn returns the states of the steps in a flowchart for Mermaid that are over, by their numbers.
func drawn(chart string) map[string]string {
	words := map[string]string{}
	for _, found := range mermaidStep.FindAllStringSubmatch(chart, -1) {
		switch word := strings.ReplaceAll(found[2], "_", " "); word {
		case "done", "skipped", "not needed":
			words[found[1]] = word
		}
	}
	return words
}

// mermaidStep finds the number and the class of a step.
var mermaidStep = regexp.MustCompile(`"(\d+) .*:::(\w+)`)

// served returns what the MCP server answers to askServer.
func (w *undoWorld) served(t *rapid.T) string {
	in, client := io.Pipe()
	answer := &answered{client: client}
	go func() { _, _ = io.WriteString(client, askServer) }()
	streams := w.streams(true)
	streams.In, streams.Out, streams.Err = in, answer, io.Discard
	require.Zero(t, tools.Main([]string{"mcp"}, streams))
	return answer.line
}

// answered disconnects from the server when the second answer has come.
type answered struct {
	client io.Closer
	line   string
}

func (a *answered) Write(data []byte) (int, error) {
	if strings.Contains(string(data), `"id":2`) {
		a.line = string(data)
		_ = a.client.Close()
	}
	return len(data), nil
}
