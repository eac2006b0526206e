// Package hooktest runs the tests that authors keep beside their hooks: files in
// txtar format, each of which says an event, the files to lay out, and what is
// expected to be decided and changed.
//
//	Blocks a recursive delete of the root.
//
//	event: PreToolUse
//	dialect: claude
//	config: ../hooks/hooks.json
//
//	-- event.json --
//	{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}
//	-- project/README.md --
//	laid out before the event
//	-- want.json --
//	{"blocking": true, "reason": "not that"}
//	-- want/project/log.txt --
//	laid out or changed by the hooks
//
// A line "env: NAME=VALUE" adds to the environment, and "ignore: PATTERN" names
// files, or directories of them, whose changes do not matter.
//
// The hooks run in project, an empty directory but for what the case lays out,
// with HOME set to home beside it. In all texts, {{CWD}} is the project,
// {{HOME}} is home and {{DIR}} is the directory of the case file.
//
// It is not a sandbox: hooks run as the user who runs the tests.
package hooktest
