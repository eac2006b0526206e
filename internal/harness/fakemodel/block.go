package fakemodel

import (
	"fmt"
	"strings"
)

// Block is one part of an answer: a text or a tool call.
type Block struct {
	Text  string
	ID    string // of the call; empty if the block is a text
	Tool  string // the tool's name
	Input args   // the tool's input, marshalled as JSON
}

// Text is a block of text.
func Text(s string) Block { return Block{Text: s} }

// Call is a tool call. The id is the test's name for it, unique in the run;
// Record.Result finds its result. The client gets another ID, which is unique in the
// session. A nil input is an empty one.
func Call(id, tool string, input map[string]any) Block {
	if input == nil {
		input = args{}
	}
	return Block{ID: id, Tool: tool, Input: input}
}

// args is the input of a tool.
type args = map[string]any

// Skill invokes a skill by the name that the model uses.
func Skill(id, name string) Block { return Call(id, "Skill", args{"skill": name}) }

// LoadTools loads deferred tools. Newer clients offer the task tools by name only, and
// a call before LoadTools fails.
func LoadTools(id string, names ...string) Block {
	return Call(id, "ToolSearch", args{"query": "select:" + strings.Join(names, ",")})
}

// TaskList lists the tasks; its result has a line "#ID [status] subject" for each.
func TaskList(id string) Block { return Call(id, "TaskList", nil) }

// TaskCreate adds a task with the subject as its description.
func TaskCreate(id, subject string) Block {
	return Call(id, "TaskCreate", args{"subject": subject, "description": subject})
}

// TaskUpdate sets the status of a task; "deleted" deletes it.
func TaskUpdate(id, task, status string) Block {
	return Call(id, "TaskUpdate", args{"taskId": task, "status": status})
}

// Bash runs a shell command in the foreground.
func Bash(id, command string) Block {
	return Call(id, "Bash", args{"command": command, "description": "run " + id})
}

// Agent runs a subagent of the type in the foreground. Its result is the last text of
// the subagent. The prompt must contain a key of Script.Agents.
func Agent(id, agentType, prompt string) Block {
	return Call(id, "Agent", args{
		"description": id, "prompt": prompt, "subagent_type": agentType, "run_in_background": false,
	})
}

// String shows the block on one line, for the dump.
func (b Block) String() string {
	if b.ID == "" {
		return fmt.Sprintf("text %q", b.Text)
	}
	return fmt.Sprintf("call %s %s %v", b.ID, b.Tool, b.Input)
}
