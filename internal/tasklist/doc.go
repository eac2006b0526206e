// Package tasklist finds the task list that a hook, a command or the MCP server is about.
//
// In Claude Code it is the session's: the client names the session to all of them. Elsewhere
// it is one of the project: nothing names the session to hook, server and shell alike in
// Codex 0.169.0, Copilot CLI 1.0.102, Gemini CLI 0.61.0, Qwen Code 0.15.10 and opencode
// 1.18.33. These lists are in the user's state directory. They have the same files,
// transactions and history as those of Claude Code.
//
// [Recover] undoes what an interrupted hydration has left in a list, and reports it.
package tasklist
