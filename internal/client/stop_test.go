package client

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// stops are requests to stop, one a line.
const stops = `
	stop
	STOP!!!
	stop stop stop
	please stop
	Abort!
	QUIT now
	exit
	Stop it
	ok stop
	no, stop
	Hey, please stop now.
	Thanks, that's enough for today, please stop here, thank you very much
	OK, that's enough. Please stop.
	Let's stop here.
	I want to quit
	I want you to stop
	I'd like you to stop now, please
	I have to go. Can you stop now?
	Could you please stop here?
	Can we stop here?
	You can stop the workflow now, thanks
	You may stop
	please stop here without finishing the plan
	Stop, don't continue.
	Stop! That's wrong.
	Stop working.
	Please stop everything immediately
	stop here and summarize what you did
	stop for now, we will continue tomorrow
	Stop right there.
	Abort the workflow
	Quit the session
	My train leaves in ten minutes. Please stop here.
	Stop. Now continue with step 3`

// noStops are other messages, one a line.
const noStops = `
	stop the server
	please stop the server
	Stop the server and restart it
	can you stop the dev server?
	stop using tabs
	stop asking me about tests
	Add a bus stop page
	Build the page of the next stop
	don't stop until tasks.md exists
	don’t stop
	do not stop
	Please don't stop
	never stop
	unstoppable
	stopped?
	How do I stop the server?
	Why did you stop?
	Should we stop?
	an app that helps people quit
	Build the login. Then please stop the old service
	Add an exit button
	exit code 3 is wrong
	Write the exit criteria for the checkout page and then carry on with the architecture
	quit vim
	abort the upload when offline
	stop.sh fails
	run stop.sh
	stop: true is not accepted
	rename "stop" to "halt"
	it should stop
	stop if the tests fail
	stop when you are done
	Stop after step 2
	stop before publishing
	Finish step 2 and then stop
	It has to compile, then stop
	When you're done, stop.
	Write until I say stop
	Go on, don't stop
	continue
	that's enough tests, now write the docs
	a stop-gap solution
	Thanks!
	please`

func linesOf(text string) []string { return strings.Split(strings.TrimSpace(text), "\n\t") }

func TestRequested(t *testing.T) {
	words := DefaultWords()
	for _, text := range append(linesOf(stops), "> Shall I go on with the tests?\n\nNo, stop.", "stop\n\n> Next: the tests") {
		assert.True(t, words.Requested(text), "a request to stop: %s", text)
	}
	for _, text := range append(linesOf(noStops), "", "Build the login page.\nThen stop.", "```\nstop\n```", "the log says:\n```\nstop\nstop",
		"the flag `stop` is ignored", "> stop\n\nNo, go on.", "  > Please stop here\n  > for today\n\nWho said that?", "> stop", "\xff") {
		assert.False(t, words.Requested(text), "no request to stop: %s", text)
	}
}

// TestWordsThatAreConfigured: other words and languages, and the names of workflows.
func TestWordsThatAreConfigured(t *testing.T) {
	words := DefaultWords().With(Words{Stop: []string{"Schluss", "that's enough", "停止"}, Before: []string{"bitte"},
		After: []string{"für heute"}})
	for _, text := range []string{"Bitte Schluss für heute.", "That’s enough, thank you!", "停止。", "stop", "schluss"} {
		assert.True(t, words.Requested(text), text)
		assert.Equal(t, text == "stop", DefaultWords().Requested(text), text)
	}
	assert.False(t, words.Requested("Schluss mit den Tabs"))
	assert.False(t, words.Requested("abort the release"))
	assert.True(t, words.And("release").Requested("abort the release"))
	assert.False(t, Words{Stop: []string{"", "!"}}.Requested("go"), "a phrase without words")
}

func TestGoesOn(t *testing.T) {
	for _, text := range []string{"continue", "ok, go on", "Please keep going.", "That is right. Proceed.", "go ahead with it"} {
		assert.True(t, GoesOn(text), text)
	}
	for _, text := range []string{"", "stop", "don't go on", "the tests continue to fail", "resume parser: add a field"} {
		assert.False(t, GoesOn(text), text)
	}
}
