//go:build e2e

// The picture at the top of the README: a session on the real client, as it went. With
// -update it is drawn again; without, it must be current.

package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"regexp"
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
	fsm, err := os.ReadFile("../../demo/skills/ship/fsm.json")
	require.NoError(t, err)
	s := held(t, string(fsm))
	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("publish at once", "3", "completed")),
		Do(TaskUpdate("write", "1", "completed")),
		Do(Bash("careless", "echo a fix > fix.txt")),
		Do(TaskUpdate("test", "2", "completed")),
		Do(TaskList("sent back")),
		Do(Bash("careful", "echo a tested fix > fix.txt")),
		Do(TaskUpdate("write again", "1", "completed")),
		Do(TaskUpdate("test again", "2", "completed")),
		Do(TaskUpdate("publish", "3", "completed")),
		Do(TaskList("done")),
		Say("Published.")), Agents: nil}, "ship the fix")
	allowed(t, r, "write", "test", "write again", "test again", "publish")

	var d drawing
	d.say("you", "> /ship the fix")
	d.call("Skill(ship)", "3 steps are in the task list", "")
	d.call(`TaskUpdate(#3 "Publish", completed)`, "✗ "+firstLineOf(denied(t, r, "publish at once")), "no")
	d.call(`TaskUpdate(#1 "Write the fix", completed)`, "✓", "yes")
	d.call(`TaskUpdate(#2 "Run the tests", completed)`, "↺ "+transition(t, r, "test"), "back")
	d.list(tasks(t, r, "sent back"))
	d.call(`TaskUpdate(#1 "Write the fix", completed)`, "✓", "yes")
	d.call(`TaskUpdate(#2 "Run the tests", completed)`, "✓", "yes")
	d.call(`TaskUpdate(#3 "Publish", completed)`, "✓", "yes")
	d.list(tasks(t, r, "done"))
	drawn := d.svg()
	if *redraw {
		require.NoError(t, os.WriteFile(picture, drawn, 0o644))
	}
	kept, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(drawn),
		"docs/session.svg is not current: go test -tags e2e -run TestThePictureIsCurrent ./internal/harness/e2e -update")
}

// transition returns the sentence by which the model reads that it was sent back.
func transition(t *testing.T, r *realclient.Run, id string) string {
	t.Helper()
	text := regexp.MustCompile(`Run the tests: failed, .* are open again\.`).FindString(r.After(id).Request.News())
	require.NotEmpty(t, text)
	return text
}

func firstLineOf(text string) string {
	if _, reason, found := strings.Cut(text, "error: "); found {
		text = reason
	}
	i := strings.Index(text, `#3 "Publish"`)
	line, _, _ := strings.Cut(text[max(i, 0):], "\n")
	return line
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
	d.add(class, "  "+answer, 0.8)
}

func (d *drawing) list(tasks []string) {
	for i, task := range tasks {
		pause := 0.0
		if i == 0 {
			pause = 0.8
		}
		d.add("task", "  "+strings.NewReplacer("[completed]", "☒", "[pending]", "☐").Replace(task), pause)
	}
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
