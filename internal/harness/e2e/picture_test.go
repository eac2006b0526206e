//go:build e2e

// The picture at the top of the README: a session on the real client with its default model, as the terminal shows it: the
// client sums up commands of the shell, and prints the lines of hooks below. With -update it is drawn again;
// without, it must be current.

package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

var redraw = flag.Bool("update", false, "draw docs/session.svg again")

const picture = "../../../docs/session.svg"

func TestThePictureIsCurrent(t *testing.T) {
	fsm, err := os.ReadFile("../../tools/skills/ship/fsm.json")
	require.NoError(t, err)
	s := withoutTaskTools(t, string(fsm))
	s.Allow = []string{"Skill", "Bash"}
	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "release")),
		work("publish at once", "complete 3"),
		work("write", "complete 1"),
		Do(Bash("careless", "echo a fix > fix.txt")),
		work("test", "complete 2"),
		Do(Bash("careful", "echo a tested fix > fix.txt")),
		work("write again", "complete 1"),
		work("test again", "complete 2"),
		work("publish", "complete 3"),
		Say("Published.")}}, "ship the fix")
	allowed(t, r, "write", "test", "write again", "test again", "publish")

	shown, refused := shownLines(t, r, "PostToolUse"), shownLines(t, r, "PostToolUseFailure")
	require.Len(t, shown, 6)
	require.Len(t, refused, 1)

	var d drawing
	d.say("you", "> ship the fix")
	d.call("Skill(release)", "PostToolUse:Skill says: "+shown[0], "")
	d.call("Ran 1 shell command · 1 failed", "PostToolUseFailure:Bash says: "+refused[0], "no")
	d.call("Ran 1 shell command", "PostToolUse:Bash says: "+shown[1], "yes")
	d.call("Ran 1 shell command", "PostToolUse:Bash says: "+shown[2], "back")
	d.call("Ran 1 shell command", "PostToolUse:Bash says: "+shown[3], "yes")
	d.call("Ran 1 shell command", "PostToolUse:Bash says: "+shown[4], "yes")
	d.call("Ran 1 shell command", "PostToolUse:Bash says: "+shown[5], "yes")
	drawn := d.svg()
	if *redraw {
		require.NoError(t, os.WriteFile(picture, drawn, 0o644))
	}
	kept, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(drawn),
		"docs/session.svg is not current: go test -tags e2e -run TestThePictureIsCurrent ./internal/harness/e2e -update")
}

// shownLines returns what the terminal shows the person at these events.
func shownLines(t *testing.T, r *realclient.Run, event string) (all []string) {
	t.Helper()
	for _, hook := range r.Ran(event) {
		var reply struct {
			SystemMessage string `json:"systemMessage"`
		}
		require.NoError(t, json.Unmarshal([]byte(hook.Stdout), &reply), hook.Stdout)
		all = append(all, reply.SystemMessage)
	}
	return all
}

// drawing is a terminal with lines that appear one after another.
type drawing struct{ lines []pictured }

type pictured struct {
	class, text string
	at          float64 // seconds from the beginning
}

// columns is the width of the terminal.
const columns = 92

func (d *drawing) add(class, text string, after float64) {
	at := after
	if n := len(d.lines); n > 0 {
		at += d.lines[n-1].at
	}
	for _, line := range folded(text, columns) {
		d.lines = append(d.lines, pictured{class, line, at})
	}
}

func (d *drawing) say(class, text string) { d.add(class, text, 0) }

func (d *drawing) call(call, answer, class string) {
	d.add("call", "● "+call, 1)
	d.add(class, "  └ "+answer, 0.8)
}

// folded breaks a line at spaces; the lines after the first are indented.
func folded(text string, width int) (lines []string) {
	for terminal.Width(text) > width {
		at := strings.LastIndexByte(text[:width], ' ')
		lines, text = append(lines, text[:at]), "    "+text[at+1:]
	}
	return append(lines, text)
}

func (d *drawing) svg() []byte {
	const lineHeight, margin = 20, 16
	var b bytes.Buffer
	width, height := columns*17/2+2*margin, len(d.lines)*lineHeight+2*margin+8
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="An agent `+
		`skips a step and is refused, is sent back by its tests, and ends properly">`+
		"\n", width, height, width, height)
	fmt.Fprintf(&b, "<!-- drawn by TestThePictureIsCurrent from a session on Claude Code %s with a model of the test -->\n",
		realclient.Version)
	b.WriteString(`<style>
rect { fill: #14181f }
text { font: 14px ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9; white-space: pre; animation: appear .2s both }
.you { fill: #ffffff; font-weight: bold } .call { fill: #8ab4f8 } .no { fill: #ff7b72 } .yes { fill: #7ee787 } .back { fill: #e3b341 } .task { fill: #a0a8b4 }
@keyframes appear { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>
`)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8"/>`+"\n", width, height)
	for i, l := range d.lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="%s" style="animation-delay:%.1fs">%s</text>`+"\n", margin, margin+(i+1)*lineHeight-4,
			l.class, l.at, html.EscapeString(l.text))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
