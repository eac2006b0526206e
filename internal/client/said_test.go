package client

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
	stop for now, we will continue tomorrow
	Stop right there.
	Abort the workflow
	Quit the session
	My train leaves in ten minutes. Please stop here.
	Stop. Now continue with step 3
	Stop. Do not write any more files.
	That is not what I asked for. Stop.
	Don't go on, please stop.
	Stop - you are deleting my files
	Stop -- this is the wrong branch
	Stop… I have to think
	please stop it now
	Stop it, please. We do not need this.
	Stop it! The server is down
	Exit.
	Abort now, the disk is full
	Abort, please: the disk is full
	quit, thanks
	Stop for today
	Stop right away
	You broke the build when you moved the file. Stop.
	1 is wrong. Stop.
	Just stop
	Stop. "Done" is wrong
	Wait, stop!
	wait stop
	Oh no, stop.
	Hmm... stop please
	Hold on, stop
	Actually, stop here: I need the machine
	Stop: wrong repo.
	Stop (I need the machine).
	Stop (wrong branch)
	STOP!: wrong
	Please stop (now), it is late
	Stop, the 5" screen is broken`

// noStops are other messages, one a line.
const noStops = `
	Stop it from crashing on empty input.
	Abort all pending requests when the client disconnects.
	Exit it with code 2 if the file is missing.
	Stop working on the docs and do the tests first.
	Stop this from happening again
	Stop that process, then restart it
	Exit now with an error
	Exit here with code 2 if there is no file
	Abort it if the checksum differs
	Quit now and then to check for memory leaks
	stop here and summarize what you did
	Stop everything that listens on port 80
	Stop there being two buttons
	Stop the work queue from growing
	Stop the task runner
	Abort the session after ten minutes without input
	Stop please-wait dialogs
	Add three buttons: start, pause, stop
	The menu has Open, Save, Exit.
	Handle the signals hup, int, quit
	If the tests fail, please stop.
	When it is done, please stop here.
	"Stop." is shown twice
	“Exit!” stands on both buttons.
	exit 1
	Exit with 1.
	Stop all
	Exit (with code 2) if the file is missing
	exit(1) is called twice
	stop: "never" is the default
	Stop: 5 is the limit
	The buttons (start, stop)
	The buttons: stop
	Wait until I say stop
	Wait for the server to stop
	Well, exit with code 2 if it fails
	Actually, stop the server
	Hold on to the lock, and stop the server
	stop_requested has to be a flag
	Abort-controller support is missing
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
	for _, word := range strings.Fields("not don't never without if when once until after unless now") {
		assert.True(t, words.Requested("It works "+word+" the tests pass. Please stop here."), word)
		putOff := !slices.Contains(strings.Fields("not don't never without now"), word)
		assert.Equal(t, !putOff, words.Requested("It works "+word+" the tests pass, please stop here."), word)
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
	assert.False(t, words.And("release").Requested("abort the release notes job"))
	assert.False(t, words.Requested("Bitte Schluss für heute mit den Tests"))
	assert.True(t, words.And("release").Requested("abort the release"))
	assert.False(t, Words{Stop: []string{"", "!"}}.Requested("go"), "a phrase without words")
}

func TestGoesOn(t *testing.T) {
	for _, text := range []string{"continue", "ok, go on", "Please keep going.", "That is right. Proceed.", "go ahead with it",
		"continue with step 3", "go on until the tests pass"} {
		assert.True(t, GoesOn(text), text)
	}
	for _, text := range []string{"", "stop", "don't go on", "the tests continue to fail", "resume parser: add a field",
		"continue is a keyword"} {
		assert.False(t, GoesOn(text), text)
	}
}

func TestQuestion(t *testing.T) {
	for message, want := range map[string]string{
		"Shall I go on?": "Shall I go on?",
		"Two files differ.\n\n**Which one is right?**": "Which one is right?",
		"Which one?\n\n1. the first\n2. the second":    "Which one?",
		"Which one?\n- the first\n- the second\n":      "Which one?",
		"Which one?\n\n(a) this\n(b) that":             "Which one?",
		"Which one? (a or b)":                          "Which one?",
		"Shall I publish it? I can also wait.":         "Shall I publish it?",
		"Shall I publish it?\n\nLet me know.":          "Shall I publish it?",
		"Soll ich weitermachen?":                       "Soll ich weitermachen?",
		"继续吗？":                                         "继续吗？",
		"هل أستمر؟":                                    "هل أستمر؟",
		"¿Sigo?":                                       "¿Sigo?",
		"```\ncode\n```\nIs that right?":               "Is that right?",
		"Really?!":                                     "Really?",
		"Done.":                                        "",
		"":                                             "",
		"See https://example.org/?q=1":                 "",
		"Does it work? I tried it, and it does: all the tests pass, the page loads, and the report that you asked for is in the " +
			"folder out, beside the old one.": "",
		"Does it work?\n\nYes. It builds, and all tests pass, also those of the other package, and the server starts in the " +
			"container, too.\n\nAll is done.": "",
		"The pattern is `a?`":   "",
		"```\nregexp: .*?\n```": "",
		"```\nwhat?\n":          "",
	} {
		assert.Equal(t, want, Question(message), message)
	}
}

func TestOthersRun(t *testing.T) {
	for text, want := range map[string]bool{
		``: false, `null`: false, `[]`: false, `{}`: false, `"running"`: false,
		`[{"status":"completed"}]`:                                                  false,
		`[{"status":"completed"},{"status":"running"}]`:                             true,
		`[7, null, "running", {"status":"running"}]`:                                true,
		`[{"status":["running"]}, {"state": "running"}]`:                            false,
		`[{"type":"shell","status":"running"}]`:                                     false,
		`[{"type":"shell","status":"running"},{"type":"agent","status":"running"}]`: true,
		`[{"type":"monitor","status":"running"}]`:                                   false,
		`[{"id":"me","type":"subagent","status":"running"}]`:                        false,
		`[{"id":"you","type":"subagent","status":"running"}]`:                       true,
	} {
		assert.Equal(t, want, OthersRun([]byte(text), "me"), text)
	}
}

func TestWakes(t *testing.T) {
	for text, want := range map[string]bool{
		``: false, `null`: false, `[]`: false, `[7]`: false, `[{}]`: false,
		`[{"id":"a","schedule":"*/5 * * * *","recurring":true,"prompt":"p"}]`: false,
		`[{"recurring":true},{"recurring":false}]`:                            true,
	} {
		assert.Equal(t, want, Wakes([]byte(text)), text)
	}
}

func TestPart(t *testing.T) {
	all := []Step{{11, 1}, {12, 2}, {13, 3}, {14, 4}}
	ids := func(steps []Step) (ids []int64) {
		for _, s := range steps {
			ids = append(ids, s.ID)
		}
		return ids
	}
	for message, want := range map[string][]int64{
		"Do only step 1": {11},
		"run the release skill, but only steps 1 and 2": {11, 12},
		"only steps 1, 2 and 4 please":                  {11, 12, 14},
		"only steps 2-3":                                {12, 13},
		"Only #12.":                                     {12},
		"up to step 3":                                  {11, 12, 13},
		"Go through the workflow until step 2.":         {11, 12},
		"stop after step 2":                             {11, 12},
		"stop after #13":                                {11, 12, 13},
		"stop before step 3":                            {11, 12},
		"Please make the release. Only step 1 today":    {11},
		"make the release, but do only step 1":          {11},
		"only #11 and #13":                              {11, 13},
		"stop after task 2":                             {11, 12},
		"steps 1-2 only":                                {11, 12},
		"Do steps 1 to 2 only":                          {11, 12},
		"Step 3 only, please":                           {13},
	} {
		asked, limited := Part(message, all)
		assert.Equal(t, want, ids(asked), message)
		assert.Equal(t, want != nil, limited, message)
	}
	for _, message := range []string{"", "do it", "just do it", "only use tabs", "start with step 1", "step 1 is done",
		"only do step 3 if the tests pass", "don't stop after step 2", "only step 9", "continue with step 2",
		"just 2 files", "only `step 1`", "up to 3 attempts", "only 2 to 3 steps",
		"only step 1 is wrong, redo it", "only steps 1 and 2 were done", "just step 2 failed", "step 2 failed only today", "steps 9 only"} {
		asked, limited := Part(message, all)
		assert.False(t, limited, "%s: %v", message, asked)
	}
}

// TestATranscriptIsAwaitedOnce: in a session without persistence the file never comes, and an event has several questions to it.
func TestATranscriptIsAwaitedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "projects", "p", "s.jsonl")
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for range 3 {
			assert.False(t, LastSaid(path, "p", DefaultWords()).Known)
			_, found := LastCall(path, "p", func(string) bool { return true })
			assert.False(t, found)
		}
		assert.LessOrEqual(t, time.Since(began), waitAtMost+10*waitStep)
	})
}
