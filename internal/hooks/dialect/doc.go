// Package dialect describes, as data, how agents differ: where LLxprt Code, Gemini
// CLI, Claude Code and Codex keep hooks, which events they have, and what an exit code or
// an output of a hook means for each event.
//
// Each agent has one file: llxprt.go, gemini.go, claude.go, codex.go. Its table is a list of
// [Event], one row for each event. [Meanings] says what each exit code and a text mean,
// [Answers] which JSON objects are read, and the other fields of the row which fields of
// an object decide. [Dialect.Read] applies a row to a hook that has ended.
//
// To follow a new version of an agent, change its table. No other package tests which
// agent it works for.
//
// The sources are the agents' hook references and, except for LLxprt Code, measurements
// of the agents themselves: see internal/harness/fidelity.
//
// # The model's requests and responses
//
// GenerateContent requests and responses are translated to the hook format
// and back. The hook format is the stable JSON that hooks read and write,
// independent of the version of the model's library: LLMRequest {model, messages,
// config, toolConfig} and LLMResponse {text, candidates, usageMetadata}.
//
// The hook format holds only text. Images and function calls stay in messages that a
// hook leaves unchanged. Numbers keep every digit.
package dialect
