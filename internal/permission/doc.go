// Package permission reads permission rules, such as Bash(git push *), and matches them with
// texts. The calls that belong to a step of an fsm.json are written so, in whatever agent it
// runs: rules and the names of tools are those of Claude Code, and the hook of another agent
// translates its calls. The package reads no file, and imports only small packages, because
// the parser of fsm.json uses it.
package permission
