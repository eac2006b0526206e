//go:build unix

// Package agents runs coding agents other than Claude Code in tests: Codex, GitHub Copilot
// CLI, Gemini CLI, Qwen Code and opencode. It installs them from npm, pinned, into the cache of
// package realclient, and starts them without a terminal in a temporary home and project,
// with a minimal environment and a fake model.
//
// A test creates a World, writes hooks, skills and plugins into it, and sends prompts. The
// Run says what the model was told and what the agent printed.
package agents
