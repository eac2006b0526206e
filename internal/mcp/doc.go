// Package mcp serves the steps of a workflow as tools of an MCP server, for models and
// agents that have no task tools of the client (facts 32 to 34, client 2.1.329).
//
// The tools change the same task files under the client's locks, and the gates of package
// steps decide about every change: a step that is completed by a tool here and one that is
// completed by the client's TaskUpdate leave the same list and the same evidence.
//
// It is linked by fsmtx-mcp alone; see package program for the reason.
package mcp
