// Package hooktest runs tests of hooks: files in txtar format, each with an event, the files
// to create before it, the expected decision and the expected changes of files.
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
//	created before the event
//	-- want.json --
//	{"blocking": true, "reason": "not that"}
//	-- want/project/log.txt --
//	created or changed by the hooks
//
// A line "env: NAME=VALUE" adds to the environment, and "ignore: PATTERN" names files
// and directories that may change.
//
// The hooks run in the directory project, which contains only the files of the case,
// with HOME set to the directory home beside it. In all texts {{CWD}} is the project,
// {{HOME}} is the home and {{DIR}} is the directory of the case file.
//
// This is not a sandbox: hooks run with the rights of the user who runs the tests.
package hooktest
