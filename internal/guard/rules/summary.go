package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

// maxContext bounds what a hook gives the model, in UTF-16 units: the client
// replaces a text of about 10,000 or more by a reference to a file (fact 22).
const maxContext = 9900

// snapshot is everything that the summary tells.
type snapshot struct {
	state State
	files []string // artifacts that exist, as the summary names them
	lock  lockFile
}

func (c *call) snapshot(state State) snapshot {
	s := snapshot{state: state, lock: c.readLock()}
	for _, a := range c.config.Artifacts {
		if !paths.IsFile(c.place.path(a.Name)) {
			continue
		}
		if a.Value != "" {
			a.Name += " (" + a.Value + ")"
		}
		s.files = append(s.files, a.Name)
	}
	return s
}

const (
	maxDecisions = 40  // decisions in a summary
	maxKey       = 50  // characters of a decision's key
	maxValue     = 100 // characters of its value
	maxWord      = 100 // characters of a phase, mode, verdict, score or lock owner
)

// summary tells the model where the workflow stands, in at most max UTF-16 units.
// List items that do not fit are left out.
func (s snapshot) summary(max int) string {
	tail := s.lockLines() + "</planning-state>"
	t := &bounded{left: max - event.Length(tail)}
	t.add("<planning-state>\n")
	t.add("phase: " + quoted(s.state.Phase, maxWord) + "\n")
	t.add("mode: " + quoted(s.state.Mode, maxWord) + "\n")
	t.add(fmt.Sprintf("decisions_count: %d\n", len(s.state.Decisions)))
	t.list("immutable_decisions:\n", s.decisionLines())
	t.list("artifacts_generated:\n", s.files)
	t.list("gate_results:\n", s.gateLines())
	return t.b.String() + tail
}

func (s snapshot) decisionLines() []string {
	var lines []string
	for _, d := range s.state.Decisions[:min(maxDecisions, len(s.state.Decisions))] {
		lines = append(lines, fmt.Sprintf(`"%s" -> "%s"`, quoted(d.Key, maxKey), quoted(d.Value, maxValue)))
	}
	return lines
}

func (s snapshot) gateLines() []string {
	var lines []string
	for _, g := range s.state.Gates {
		line := fmt.Sprintf("gate_%s: %s", quoted(g.Phase, maxWord), quoted(cmp.Or(g.Verdict, g.Status), maxWord))
		if g.Score != "" {
			line += " (" + quoted(g.Score, maxWord) + "/5.0)"
		}
		lines = append(lines, line)
	}
	return lines
}

func (s snapshot) lockLines() string {
	lines := fmt.Sprintf("lock_active: %t\n", s.lock.exists)
	if s.lock.owner != "" {
		lines += "lock_session: " + quoted(s.lock.owner, maxWord) + "\n"
	}
	return lines
}

// quoted returns the first n characters of a value, without those that would end
// its line, its quotes or the block it is in.
func quoted(s string, n int) string {
	safe := strings.Map(func(r rune) rune {
		if r == '<' || r == '>' || r == '"' {
			return -1
		}
		return r
	}, guard.OneLine(s))
	return cmp.Or(guard.Truncate(safe, n), "unknown")
}

// bounded is a text to which lines are added until no more fit.
type bounded struct {
	b    strings.Builder
	left int
}

func (t *bounded) add(line string) {
	if n := event.Length(line); n <= t.left {
		t.b.WriteString(line)
		t.left -= n
	}
}

// reserve is kept free by each list for the headings that follow it.
const reserve = 400

func (t *bounded) list(heading string, items []string) {
	t.add(heading)
	t.left -= reserve
	for _, item := range items {
		t.add("  - " + item + "\n")
	}
	t.left += reserve
}
