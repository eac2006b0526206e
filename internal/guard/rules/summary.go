package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxContext bounds the length of a text for the model, as client.Length counts it: the
// client replaces a text of more than about 10,000 by a reference to a file (fact 22).
const maxContext = 9900

// summaryFacts are the facts of H06 and H12, and of the summary that H13 gives.
type summaryFacts struct {
	state stateFile
	files []string // artifacts that exist, as the summary names them
	lock  lockFile
}

// summaryFacts reads the facts. If the state cannot be read, it reads nothing else.
func (c *call) summaryFacts() summaryFacts {
	f := summaryFacts{state: c.readState()}
	if !f.state.readable() {
		return f
	}
	f.lock = c.readLock()
	for _, a := range c.config.artifacts {
		if !safefile.IsFile(c.place.path(a.Name)) {
			continue
		}
		if a.Value != "" {
			a.Name += " (" + a.Value + ")"
		}
		f.files = append(f.files, a.Name)
	}
	return f
}

const (
	maxDecisions = 40  // decisions in a summary
	maxKey       = 50  // characters of a decision's key
	maxValue     = 100 // characters of its value
	maxWord      = 100 // characters of a phase, mode, verdict, score or lock owner
)

// summary describes the state of the workflow for the model, in at most max units of
// client.Length. List items that do not fit are left out.
func (f summaryFacts) summary(max int) string {
	tail := f.lockLines() + "</planning-state>"
	t := &bounded{left: max - client.Length(tail)}
	t.add("<planning-state>\n")
	t.add("phase: " + contained(f.state.phase, maxWord) + "\n")
	t.add("mode: " + contained(f.state.mode, maxWord) + "\n")
	t.add(fmt.Sprintf("decisions_count: %d\n", len(f.state.decisions)))
	t.list("immutable_decisions:\n", f.decisionLines())
	t.list("artifacts_generated:\n", f.files)
	t.list("gate_results:\n", f.gateLines())
	return t.b.String() + tail
}

func (f summaryFacts) decisionLines() []string {
	var lines []string
	for _, d := range f.state.decisions[:min(maxDecisions, len(f.state.decisions))] {
		lines = append(lines, fmt.Sprintf(`"%s" -> "%s"`, contained(d.key, maxKey), contained(d.value, maxValue)))
	}
	return lines
}

func (f summaryFacts) gateLines() []string {
	var lines []string
	for _, g := range f.state.gates {
		line := fmt.Sprintf("gate_%s: %s", contained(g.phase, maxWord), contained(cmp.Or(g.verdict, g.status), maxWord))
		if g.score != "" {
			line += " (" + contained(g.score, maxWord) + "/5.0)"
		}
		lines = append(lines, line)
	}
	return lines
}

func (f summaryFacts) lockLines() string {
	lines := fmt.Sprintf("lock_active: %t\n", f.lock.exists)
	if f.lock.owner != "" {
		lines += "lock_session: " + contained(f.lock.owner, maxWord) + "\n"
	}
	return lines
}

// contained returns the first n characters of a value, without characters that could end
// its line, its quotes or the block <planning-state>. It returns "unknown" if none are left.
func contained(s string, n int) string {
	safe := strings.Map(func(r rune) rune {
		if r == '<' || r == '>' || r == '"' {
			return -1
		}
		return r
	}, guard.OneLine(s))
	return cmp.Or(guard.Truncate(safe, n), "unknown")
}

// bounded is a text of limited length.
type bounded struct {
	b    strings.Builder
	left int // units of client.Length
}

// add adds a line if it fits.
func (t *bounded) add(line string) {
	if n := client.Length(line); n <= t.left {
		t.b.WriteString(line)
		t.left -= n
	}
}

// reserve is the room that each list leaves for the headings after it.
const reserve = 400

func (t *bounded) list(heading string, items []string) {
	t.add(heading)
	t.left -= reserve
	for _, item := range items {
		t.add("  - " + item + "\n")
	}
	t.left += reserve
}
