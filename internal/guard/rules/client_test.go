package rules_test

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/client"
)

// seen is the effect of a hook's answer in the client (facts 19, 22, 40).
type seen struct {
	blocked     bool
	model, user string   // the text that each is shown
	bypass      bool     // the user is not asked for permission
	problems    []string // complaints of the client
}

func asSeen(name string, a client.Answer) seen {
	v, reply := readReply(name, a)
	v.user = reply.SystemMessage
	if a.Exit != 0 && a.Exit != 2 {
		v.problems = append(v.problems, "non-blocking hook error")
		return v
	}
	specific := client.Specific{}
	if reply.Specific != nil {
		specific = *reply.Specific
	}
	switch name {
	case client.PreToolUse:
		v.asTool(a, reply, specific)
	case client.Stop, client.SubagentStop:
		v.asStop(a, reply)
	case client.PostToolUse:
		if v.model = specific.AdditionalContext; a.Exit == 2 {
			v.model = a.ErrorText
		}
	default:
		v.asContext(name, a, specific)
	}
	if v.blocked && strings.TrimSpace(v.model) == "" {
		v.problems = append(v.problems, "blocked without a message for the model")
	}
	return v
}

// readReply reads standard output as the client does. Output that begins like an object is
// JSON; it is ignored if its form is wrong for the event.
func readReply(name string, a client.Answer) (seen, client.Reply) {
	var v seen
	var reply client.Reply
	if !strings.HasPrefix(strings.TrimSpace(a.Output), "{") {
		return v, reply
	}
	if err := json.Unmarshal([]byte(a.Output), &reply); err != nil {
		v.problems = append(v.problems, "broken JSON: "+err.Error())
		return v, client.Reply{}
	}
	plain := []string{client.Stop, client.SubagentStop, client.PreCompact}
	if reply.Specific != nil && (reply.Specific.HookEventName != name || slices.Contains(plain, name)) {
		v.problems = append(v.problems, "hookSpecificOutput is not for this event")
		return v, client.Reply{}
	}
	return v, reply
}

func (v *seen) asTool(a client.Answer, reply client.Reply, specific client.Specific) {
	switch {
	case specific.PermissionDecision == "deny":
		v.blocked, v.model = true, specific.PermissionDecisionReason
	case reply.Decision == "block":
		v.blocked, v.model = true, reply.Reason
	case a.Exit == 2:
		v.blocked, v.model = true, strings.TrimSpace(a.ErrorText)
	default:
		v.model = specific.AdditionalContext
		v.bypass = specific.PermissionDecision == "allow" || reply.Decision == "approve"
	}
}

func (v *seen) asStop(a client.Answer, reply client.Reply) {
	if reply.Decision == "block" {
		v.blocked, v.model = true, reply.Reason
	} else if a.Exit == 2 {
		v.blocked, v.model = true, strings.TrimSpace(a.ErrorText)
	}
}

func (v *seen) asContext(name string, a client.Answer, specific client.Specific) {
	v.blocked = a.Exit == 2 && name != client.SessionStart
	v.model = specific.AdditionalContext
	if v.model == "" && (name == client.PreCompact || !strings.HasPrefix(strings.TrimSpace(a.Output), "{")) {
		v.model = a.Output
	}
	if len(v.model) > 10000 && name != client.PreCompact {
		v.problems = append(v.problems, "context is replaced by a file reference")
	}
}

// exitOf is the exit code of each decision that refuses.
var exitOf = map[string]int{"deny": 2, "block": 2, "feedback": 2}

func checkAnswer(t assert.TestingT, name string, e expectation, vars *strings.Replacer, a client.Answer) {
	v := asSeen(name, a)
	assert.Empty(t, v.problems)
	assert.False(t, v.bypass, "an allowed call bypasses the permission prompt")
	assert.Equal(t, e.Decision == "deny" || e.Decision == "block", v.blocked, "blocked")
	code := exitOf[e.Decision]
	if e.Exit != nil {
		code = *e.Exit
	}
	assert.Equal(t, code, a.Exit, "exit code")
	if slices.Contains([]string{"allow", "approve", "silent"}, e.Decision) {
		assert.Empty(t, a.Output)
		assert.Empty(t, a.ErrorText)
	}
	for _, s := range e.ModelContains {
		assert.Contains(t, v.model, vars.Replace(s))
	}
	for _, s := range e.ModelNotContains {
		assert.NotContains(t, v.model, vars.Replace(s))
	}
	for _, s := range e.UserContains {
		assert.Contains(t, v.user, vars.Replace(s))
	}
	for pointer, want := range e.StdoutJSON {
		assert.Equal(t, want, pointed(t.(interface {
			assert.TestingT
			FailNow()
		}), []byte(a.Output), pointer), pointer)
	}
}
