//go:build !windows

// Fsmtx-mcp serves a workflow's steps as tools of an MCP server. "fsmtx mcp" starts it.
// Package internal/mcp/program explains why it is a separate program.
package main

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/mcp"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func main() {
	os.Exit(mcp.Main(os.Args[1:], terminal.Process()))
}
