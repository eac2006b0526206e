package guard

import (
	"fmt"
	"strings"
)

// maxContext bounds what a hook gives the model, in UTF-16 units: from 10,000
// on the client hands over a reference to a file instead of the text.
const maxContext = 9900

// artifacts are the files a workflow leaves, with the phase that makes them.
var artifacts = []struct{ name, phase string }{
	{"research.md", "RESEARCH"},
	{"design.minimal.md", "ARCHITECTURE"},
	{"design.clean.md", "ARCHITECTURE"},
	{"design.pragmatic.md", "ARCHITECTURE"},
	{"design.md", "ARCHITECTURE"},
	{"plan.md", ""},
	{"test-plan.md", ""},
	{"tasks.md", ""},
}

// snapshot is everything the summary says.
type snapshot struct {
	state State
	files []string // artifacts that exist, as the summary names them
	lock  lockFile
}

func (c *call) snapshot(state State) snapshot {
	s := snapshot{state: state, lock: readLock(c.place.in(lockName))}
	for _, a := range artifacts {
		if !isFile(c.place.in(a.name)) {
			continue
		}
		if a.phase != "" {
			a.name += " (" + a.phase + ")"
		}
		s.files = append(s.files, a.name)
	}
	return s
}

const (
	maxDecisions = 40  // decisions in a summary
	maxKey       = 50  // characters of a decision's key
	maxValue     = 100 // characters of its value
	maxWord      = 100 // characters of a phase, mode, verdict, score or lock owner
)

// summary is the text that tells the model where the workflow stands. It is at
// most max units long; what does not fit of the lists is left out.
func (s snapshot) summary(max int) string {
	tail := s.lockLines() + "</planning-state>"
	t := &text{left: max - units(tail)}
	t.add("<planning-state>\n")
	t.add("phase: " + brief(s.state.Phase, maxWord) + "\n")
	t.add("mode: " + brief(s.state.Mode, maxWord) + "\n")
	t.add(fmt.Sprintf("decisions_count: %d\n", len(s.state.Decisions)))
	t.list("immutable_decisions:\n", s.decisionLines())
	t.list("artifacts_generated:\n", s.files)
	t.list("gate_results:\n", s.gateLines())
	return t.b.String() + tail
}

func (s snapshot) decisionLines() []string {
	var lines []string
	for _, d := range s.state.Decisions[:min(maxDecisions, len(s.state.Decisions))] {
		lines = append(lines, fmt.Sprintf(`"%s" -> "%s"`, brief(d.Key, maxKey), brief(d.Value, maxValue)))
	}
	return lines
}

func (s snapshot) gateLines() []string {
	var lines []string
	for _, g := range s.state.Gates {
		line := fmt.Sprintf("gate_%s: %s", brief(g.Phase, maxWord), brief(g.Verdict, maxWord))
		if g.Score != "" {
			line += " (" + brief(g.Score, maxWord) + "/5.0)"
		}
		lines = append(lines, line)
	}
	return lines
}

func (s snapshot) lockLines() string {
	lines := fmt.Sprintf("lock_active: %t\n", s.lock.exists)
	if s.lock.owner != "" {
		lines += "lock_session: " + brief(s.lock.owner, maxWord) + "\n"
	}
	return lines
}

func brief(s string, n int) string {
	return orElse(cutRunes(quotable(s), n), "unknown")
}

// text is built of lines until no more fit.
type text struct {
	b    strings.Builder
	left int
}

func (t *text) add(line string) {
	if n := units(line); n <= t.left {
		t.b.WriteString(line)
		t.left -= n
	}
}

// reserve is kept free by each list for the headings of those after it.
const reserve = 400

func (t *text) list(heading string, items []string) {
	t.add(heading)
	t.left -= reserve
	for _, item := range items {
		t.add("  - " + item + "\n")
	}
	t.left += reserve
}
