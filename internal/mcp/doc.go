// Package mcp serves the steps of a workflow as tools of an MCP server, for models and
// agents that do not have the client's task tools (facts 32 to 34, client 2.1.329).
//
// The tools change the same task files as the client's TaskUpdate, under the client's locks,
// and package gates decides about every change. So completing a step here and
// completing it with TaskUpdate leave the same list and the same evidence.
//
// Only fsmtx-tools links this package: its library links net/http and encoding/gob.
package mcp
