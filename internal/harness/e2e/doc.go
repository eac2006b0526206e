// Package e2e tests the built program with the real client, Claude Code: the
// client fires its hooks, the program fills the task list, and the client's
// own tools say what is in it. The model is scripted; nothing else is.
//
// The tests need the build tag e2e and, once, npm and the network to install
// the client. They say nothing of what a model makes of the tasks, and
// nothing of the client's screen.
package e2e
