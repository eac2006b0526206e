// Package permission reads the client's permission rules, such as Bash(git push *), and
// matches them with texts. It reads no file, and imports only small packages, because the
// parser of fsm.json uses it.
package permission
