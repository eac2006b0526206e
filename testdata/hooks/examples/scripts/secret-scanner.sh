#!/bin/sh
# Refuses to write what looks like a key or a token, and says which kind.
input=$(cat)
found=
look() {
	if printf '%s' "$input" | grep -Eq "$2"; then
		found="$found${found:+, }$1"
	fi
}
look "an AWS access key" 'AKIA[0-9A-Z]{16}'
look "a private key" 'BEGIN ([A-Z]+ )?PRIVATE KEY'
look "a GitHub token" 'gh[pousr]_[A-Za-z0-9]{36}'
if [ -n "$found" ]; then
	printf '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",'
	printf ' "permissionDecisionReason": "the content holds %s; read it from the environment instead"}}\n' "$found"
fi
