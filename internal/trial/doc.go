// Package trial tries workflows without a model: the commands of a test are run as an agent runs them, in a copy of the project,
// and what was seen of each gate is counted.
//
// A test is a txtar file of testscript. Each runs in a process of its own, which the command starts and ends whole: nothing that a
// test has started outlives it. It has a configuration directory, a task list and a temporary directory of its own. What the program
// itself looks up comes from there, whatever the test does to the environment; checks and programs keep the user's HOME and PATH.
//
// It does not hold back a test: its commands, and the checks of the workflow, can do what the user can.
package trial
