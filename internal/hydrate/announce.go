package hydrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Limits on the texts for the agent and the person.
const (
	// maxText is in UTF-16 code units. If a context is longer than about 10,000
	// characters, the agent gets only a preview of it (fact 22, client 2.1.197).
	maxText     = 9000
	maxOmission = 1000 // part of maxText that is reserved for listing what is left out
	maxLine     = 200  // characters of a subject or a name
	maxRanges   = 10   // ranges in a list of task numbers
	maxNotice   = 1000 // UTF-16 code units of the line for the person
)

// Announcement returns the text that tells the agent which tasks it has now: the list of
// steps, the whole description of each step that can be started, what was replaced, and by
// what it works on the steps. If something does not fit, it is left out from the end, and the
// text says how to get it. The text never contains the path of the fsm.json, because the guard
// skill-files keeps the agent from reading that file. It is empty if the list was not changed.
//
// The text names what the session has and nothing else: not all models have task tools (fact
// 32, client 2.1.329).
func Announcement(r Request, result Result) string {
	switch {
	case len(result.Created) > 0:
		return announcement{r, result}.text()
	case len(result.Deleted)+len(result.Restored) > 0 && result.Mistake != nil:
		return fmt.Sprintf("%sIt has no workflow. Change of the task list: %s.\n", result.Mistake.explain(r.Command), changes(result))
	case len(result.Deleted) > 0:
		return fmt.Sprintf("The workflow of the skill %s has no steps now. Change of the task list: %s.\n", clip(r.Command), changes(result))
	}
	return ""
}

type announcement struct {
	request Request
	result  Result
}

func (a announcement) text() string {
	head := fmt.Sprintf("%sThe %s has put its workflow into the task list: %s.\n\n",
		a.result.Mistake.explain(a.request.Command), a.request.named(), changes(a.result))
	ready := a.ready()
	if n := a.result.Nested; n != nil {
		head += fmt.Sprintf("This is part of the work of %s of %s. When its steps are done, go on with %[1]s, "+
			"which cannot be completed before.\n\n",
			n.Step, clip(n.Skill))
		if n.Early {
			head += n.Step + " has to be in progress when this skill is called, and is not: start it and call the skill again, before you work " +
				"on these steps.\n\n"
		}
	}
	state := a.state(ready)
	if !a.result.Flows {
		state += warned(a.result, "\n%s\n")
	}
	if a.result.Lacking != "" {
		state += "\nNote: " + a.result.Lacking + ".\n"
	}
	tail := "\n" + a.request.Way.Manual() + "\n" // how to work with the list
	room := maxText - maxOmission - client.Length(head) - client.Length(state) - client.Length(a.request.Way.Rest()) - client.Length(tail)

	var details []detail
	for _, i := range ready {
		if text := message.Block(a.request.Way.Spoken(a.result.Steps[i].Description)); text != "" {
			details = append(details, detail{a.result.Created[i].ID, text})
		}
	}
	lines, hidden := a.lines(room - reserve(details, room))
	described, omitted := fit(details, room-client.Length(lines))
	text := head + lines + state + described
	if hidden != "" {
		omitted = append(omitted, hidden)
	}
	if len(omitted) > 0 {
		text += fmt.Sprintf("\nLeft out here for length: %s. %s\n", strings.Join(omitted, "; "), a.request.Way.Rest())
	}
	return text + tail
}

// explain returns a sentence on why the tasks of a skill come only now, "" if m is nil.
func (m *Mistake) explain(command string) string {
	switch {
	case m == nil:
		return ""
	case m.Taken == "":
		return fmt.Sprintf("You are running the skill %s from %s, a folder that could not be found when you invoked it. ",
			clip(command), clip(m.Dir))
	}
	return fmt.Sprintf("You are running the skill %s from %s, but the tasks were those of %s. ", clip(command), clip(m.Dir), clip(m.Taken))
}

// detail is the description of a step.
type detail struct {
	id   int64
	text string
}

// reserve returns how much of the room is reserved for the first description.
func reserve(details []detail, room int) int {
	if len(details) == 0 {
		return 0
	}
	return min(client.Length(details[0].block()), room/2)
}

func (d detail) block() string { return fmt.Sprintf("\n#%d: %s\n", d.id, d.text) }

// fit returns as many descriptions as there is room for. Only the first one may be cut.
func fit(details []detail, room int) (text string, omitted []string) {
	for i, d := range details {
		block := d.block()
		if client.Length(block) <= room {
			text += block
			room -= client.Length(block)
			continue
		}
		if i == 0 {
			text = cut(strings.TrimRight(block, "\n"), room-2) + "…\n"
			omitted = append(omitted, fmt.Sprintf("the end of the description of #%d", d.id))
			i++
		}
		if left := details[i:]; len(left) > 0 {
			var ids []int64
			for _, d := range left {
				ids = append(ids, d.id)
			}
			omitted = append(omitted, "the descriptions of "+numbers(ids))
		}
		break
	}
	return text, omitted
}

// lines lists as many steps as there is room for, each with the steps that block it.
func (a announcement) lines(room int) (text, omitted string) {
	var b strings.Builder
	for i, t := range a.result.Steps {
		line := a.line(i, t)
		room -= client.Length(line)
		if room < 0 {
			return b.String(), "the steps " + numbers(idsOf(a.result.Created[i:]))
		}
		b.WriteString(line)
	}
	return b.String(), ""
}

func (a announcement) line(i int, t fsmspec.Task) string {
	line := fmt.Sprintf("#%d %s", a.result.Created[i].ID, clip(t.Subject))
	if of := a.result.PartOf[i]; of != 0 {
		line += fmt.Sprintf(", part of #%d", of)
	}
	if blockers := slices.Concat(t.BlockedBy, t.Circular); len(blockers) > 0 {
		line += ", after " + numbers(blockers)
	}
	if t.Status != fsmspec.Pending {
		line += map[fsmspec.Status]string{fsmspec.InProgress: " (in progress)", fsmspec.Completed: " (done)"}[t.Status]
	}
	return line + "\n"
}

// ready returns the indices of the steps that can be started or are under way: open steps
// that no open step blocks.
func (a announcement) ready() (ready []int) {
	open := map[int64]bool{}
	for _, t := range a.result.Steps {
		open[t.ID] = t.Status != fsmspec.Completed
	}
	for i, t := range a.result.Steps {
		if open[t.ID] && !slices.ContainsFunc(t.BlockedBy, func(id int64) bool { return open[id] }) {
			ready = append(ready, i)
		}
	}
	return ready
}

// state returns the line about the steps that can be started.
func (a announcement) state(ready []int) string {
	if len(ready) > 0 {
		var ids []int64
		for _, i := range ready {
			ids = append(ids, a.result.Created[i].ID)
		}
		return "\nReady now: " + numbers(ids) + "\n"
	}
	return "\nEvery step is done.\n"
}
