// Package e2e tests the built program with the real client, Claude Code: the client
// fires its hooks, the program changes the task list, and the client's own tools show
// what is in it. Only the model is scripted.
//
// The tests need the build tag e2e. The first run needs npm and the network to install
// the client. The tests do not cover what a model does with the tasks, or the client's
// screen.
package e2e
