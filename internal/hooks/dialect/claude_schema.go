package dialect

import "maps"

// claudeSchema returns what Claude Code accepts as an output.
func claudeSchema() Schema {
	text, flag, object, texts, any := Kind{Type: '"'}, Kind{Type: 't'}, Kind{Type: '{'}, Kind{Type: '['}, Kind{Type: '*'}
	context := map[string]Kind{"hookEventName": text, "additionalContext": text}
	with := func(more map[string]Kind) map[string]Kind {
		all := maps.Clone(context)
		maps.Copy(all, more)
		return all
	}
	permission := Kind{Type: '"', OneOf: []string{"allow", "deny", "ask", "defer"}}
	grant := Kind{Type: '{', Members: map[string]Kind{"updatedInput": object, "message": text, "interrupt": flag}}
	action := Kind{Type: '"', OneOf: []string{"accept", "decline", "cancel"}}
	specific := map[string]map[string]Kind{
		"PreToolUse": with(map[string]Kind{
			"permissionDecision": permission, "permissionDecisionReason": text, "updatedInput": object,
		}),
		"PermissionRequest":   {"hookEventName": text, "decision": grant},
		"PermissionDenied":    {"hookEventName": text, "retry": flag},
		"PostToolUse":         with(map[string]Kind{"updatedToolOutput": any, "updatedMCPToolOutput": any}),
		"UserPromptSubmit":    with(map[string]Kind{"sessionTitle": text, "suppressOriginalPrompt": flag}),
		"UserPromptExpansion": with(map[string]Kind{"suppressOriginalPrompt": flag}),
		"SessionStart": with(map[string]Kind{
			"initialUserMessage": text, "sessionTitle": text, "watchPaths": texts, "reloadSkills": flag,
		}),
		"CwdChanged":        {"hookEventName": text, "watchPaths": texts},
		"FileChanged":       {"hookEventName": text, "watchPaths": texts},
		"Elicitation":       {"hookEventName": text, "action": action, "content": object},
		"ElicitationResult": {"hookEventName": text, "action": action, "content": object},
		"PreModelSwitch": {
			"hookEventName": text, "permissionDecision": {Type: '"', OneOf: []string{"allow", "deny", "ask"}}, "permissionDecisionReason": text,
		},
		"WorktreeCreate": {"hookEventName": text, "worktreePath": text},
		"MessageDisplay": {"hookEventName": text, "displayContent": text},
	}
	for _, event := range []string{
		"Setup", "PostModelSwitch", "SubagentStart", "SubagentStop", "PostToolUseFailure", "PostToolBatch", "Stop", "Notification",
	} {
		specific[event] = context
	}
	return Schema{
		fields: map[string]Kind{
			"continue": flag, "suppressOutput": flag, "stopReason": text, "reason": text, "systemMessage": text, "terminalSequence": text,
			"decision": {Type: '"', OneOf: []string{"approve", "block"}}, "hookSpecificOutput": object, "async": any, "asyncTimeout": any,
		},
		specific: specific,
	}
}
