package dialect

import (
	"maps"
	"strings"
)

// codexSchema returns what Codex accepts as an output.
func codexSchema() Schema {
	s := claudeSchema()
	s.closed, s.anyEvent, s.nullable, s.unsupported = true, true, true, codexUnsupported
	for _, name := range []string{"async", "asyncTimeout", "terminalSequence"} {
		delete(s.fields, name)
	}
	context := map[string]Kind{"hookEventName": {Type: '"'}, "additionalContext": {Type: '"'}}
	post := maps.Clone(context)
	post["updatedMCPToolOutput"] = Kind{Type: '*'}
	s.specific = map[string]map[string]Kind{
		"PreToolUse": s.specific["PreToolUse"], "PermissionRequest": s.specific["PermissionRequest"], "PostToolUse": post,
		"UserPromptSubmit": context, "SessionStart": context, "SubagentStart": context,
	}
	return s
}

// codexUnsupported returns why Codex discards an output that follows its schema: it has a field, or a
// decision, that Codex knows and does not support, or a decision without the words that it needs.
func codexUnsupported(e Event, out Output) string {
	specific := out.Specific()
	given := func(name string) bool { return specific.Has(name) && specific.Get(name).Kind() != 'n' }
	blank := func(text string) bool { return strings.TrimSpace(text) == "" }
	permission := specific.Text("permissionDecision")
	switch isTool := e.Name == "PreToolUse"; {
	case isTool && out.Stops():
		return "it stops the agent, which is not possible here"
	case isTool && out.Text("stopReason") != "":
		return "it has stopReason, which is not supported here"
	case (isTool || e.Name == "PostToolUse") && out.SuppressesOutput():
		return "it has suppressOutput, which is not supported here"
	case given("updatedMCPToolOutput"):
		return "its updatedMCPToolOutput is not supported"
	case isTool && given("updatedInput") && permission != Allow:
		return "it changes the input and does not allow the call"
	case isTool && permission == Allow && !given("updatedInput"):
		return "it allows the call and does not change the input"
	case isTool && (permission == Ask || permission == Defer):
		return "its permissionDecision is not supported"
	case isTool && permission == Deny && blank(specific.Text("permissionDecisionReason")):
		return "it denies and gives no reason"
	case isTool && permission == "" && given("permissionDecisionReason"):
		return "it has a permissionDecisionReason and no permissionDecision"
	case isTool && permission != "":
		return "" // the older fields do not count
	case isTool && out.Decision() == "approve":
		return "its decision is not supported"
	case isTool && out.Decision() == "" && out.Text("reason") != "":
		return "it has a reason and no decision"
	case out.Blocks() && blank(out.Text("reason")):
		return "it blocks and gives no reason"
	}
	return ""
}
