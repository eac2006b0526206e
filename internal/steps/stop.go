package steps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/client"
)

// StopMode is what to do when an agent stops while steps are ready.
type StopMode string

const (
	Remind  StopMode = "remind" // send it back once for each stall
	Hold    StopMode = "hold"   // send it back until nothing is ready; the client stops it after eight times (fact 40)
	StopOff StopMode = "off"    // let it stop
)

// Stopping describes an agent that is about to stop.
type Stopping struct {
	Agent      string         // the id of the subagent; empty for the session's own agent
	Background jsontext.Value // what runs in the background, as the client's event has it
	Crons      jsontext.Value // what the client will wake the session for, as its event has it
	Message    string         // the agent's last message
	Transcript string         // path of the session's transcript
	Prompt     string         // the id of the person's prompt
	Mode       StopMode
	Project    string // the directory of the session's project, as the client tells it; empty if unknown
	Planning   bool   // the client is in plan mode, in which the work of a step cannot be done

	// Words returns the words by which the person asks to stop. Nil is transcript.DefaultWords.
	Words func() client.Words

	// Heard is what hooks have learnt of the session of an agent whose transcript is not
	// read. Nil is what the transcript says.
	Heard *Heard
	// Caller is the session that the turn belongs to, if the list is not a session's.
	Caller string
	// Turns is how often in a row, without any progress, Hold sends an agent back whose client
	// never stops it. 0 is for a client that does.
	Turns int
	Shown bool // the client shows the person what sends the agent back
}

// stop returns the steps to which the agent is sent back, or none if it may stop.
//
// A subagent is sent back only to steps that it started itself. With Hold a question at the
// end of the agent's message, plan mode, or that the agent has the client wake it, is not enough:
// any turn could end so.
func stop(s *State, x Stopping, last reminder) []*Current {
	stalled := last.at == s.progress()
	switch {
	case x.Mode == StopOff, client.OthersRun(x.Background, x.Agent):
		return nil
	case x.Mode != Hold && (stalled || x.Planning || client.Question(x.Message) != "" || x.Agent == "" && client.Wakes(x.Crons)):
		return nil
	case x.Mode == Hold && stalled && x.Turns > 0 && last.times >= x.Turns:
		return nil
	}
	var left []*Current
	for _, c := range s.Ready() {
		if s.checking(c.ID) || s.AwaitsPerson(c) || x.Agent != "" && !startedBy(s, c, x.Agent) {
			continue
		}
		left = append(left, c)
	}
	slices.SortStableFunc(left, func(a, b *Current) int { return cmp.Compare(stopRank(a), stopRank(b)) })
	return left
}

// person is what the person has said, as far as it limits the work.
type person struct {
	ends    bool          // said stop, or may have said it
	asked   bool          // the agent's last tool call asked the person
	part    []client.Step // the steps to which the work is limited
	limited bool
}

// heard reads from the transcript what the person has said.
func (x Stopping) heard(s *State) person {
	words := client.DefaultWords
	if x.Words != nil {
		words = x.Words
	}
	if x.Heard != nil {
		return x.Heard.person(s)
	}
	p := person{ends: client.LastSaid(x.Transcript, x.Prompt, words().And(commandsOf(s)...)).Ends()}
	if p.ends {
		return p
	}
	p.asked = x.Mode == Hold && client.AskedUser(x.Transcript)
	p.part, p.limited = client.LastPart(x.Transcript, named(s))
	return p
}

// named returns the steps as a person may name them.
func named(s *State) (all []client.Step) {
	for _, c := range s.Steps {
		all = append(all, client.Step{ID: c.ID, Local: c.Local})
	}
	return all
}

// wanted returns those of the steps that the person wants done now: of a limited work its
// steps, and the steps before them.
func (p person) wanted(s *State, left []*Current) []*Current {
	if p.ends || p.asked {
		return nil
	}
	if !p.limited {
		return left
	}
	wanted := map[int64]bool{}
	var add func(id int64)
	add = func(id int64) {
		c := s.Step(id)
		if c == nil || wanted[id] {
			return
		}
		wanted[id] = true
		for _, b := range c.BlockedBy {
			add(b)
		}
		for _, b := range s.OpenUnder(c) {
			add(b.ID)
		}
	}
	for _, step := range p.part {
		add(step.ID)
	}
	return slices.DeleteFunc(slices.Clone(left), func(c *Current) bool { return !wanted[c.ID] })
}

// of returns the state of those workflows that belong to the session: it called their
// skill. called reports whether it called a skill of that name without the hydration that
// the record tells of, because the workflow was in the list already.
func (s *State) of(session string, called func(command string) bool) *State {
	return s.Only(func(w *Workflow) bool { return w.Session == session || called(w.Command) })
}

// onlyCalled returns the state of the workflows of the skills for which called returns true.
func (s *State) onlyCalled(called func(command string) bool) *State {
	return s.Only(func(w *Workflow) bool { return called(w.Command) })
}

// Only returns the state of the workflows for which wanted returns true.
func (s *State) Only(wanted func(*Workflow) bool) *State {
	mine, known := *s, map[*Workflow]bool{}
	mine.whole = s
	for _, w := range s.Workflows() {
		known[w] = wanted(w)
	}
	mine.Steps = slices.DeleteFunc(slices.Clone(s.Steps), func(c *Current) bool { return !known[c.Workflow] })
	return &mine
}

// stopRank sorts steps in progress before the others.
func stopRank(c *Current) int {
	if c.Status == inProgress {
		return 0
	}
	return 1
}

// startedBy reports whether the step is in progress because the subagent started it.
func startedBy(s *State, c *Current, agent string) bool {
	e, ok := s.last(c.ID)
	return ok && c.Status == inProgress && e.Agent == agent && e.To == inProgress
}

// progress returns a digest of the status of each step and of how it ended.
func (s *State) progress() string {
	var b strings.Builder
	for _, c := range s.Steps {
		fmt.Fprintf(&b, "%d %s %s\n", c.ID, c.Status, c.Outcome)
	}
	return digest([]byte(b.String()))
}

// GoOn is in every text that sends an agent back.
const GoOn = "Go on with the workflow."

// sentBack returns the texts for an agent that may not stop, and for the person. The agent
// finds the description of a step in the list.
func sentBack(s *State, left []*Current, x Stopping, questions string) (agent, person string) {
	next := left[0]
	what := "ready"
	switch next.Status {
	case inProgress:
		what = "in progress"
	case completed:
		what = "completed without passing its gates, so complete it again"
	}
	what += s.overLimit(next)
	agent = fmt.Sprintf("%s. %s is %s.", s.summary(), next.Name()+s.belongs(next)+next.Rounds(), what)
	if more := len(left) - 1; more > 0 {
		agent += fmt.Sprintf(" %d more can be done.", more)
	}
	agent += " " + GoOn + " If you need the person, "
	switch {
	case x.Mode != Hold:
		agent += "ask them."
	case questions == "":
		agent += "let them say that you may stop."
	default:
		agent += "ask with " + questions + ", or let them say that you may stop."
	}
	return agent, fmt.Sprintf("%s: the agent was sent back to %s%s", s.summary(), next.Name()+s.belongs(next)+next.Rounds(), s.overLimit(next))
}

// summary returns the names of the workflows and how many of their steps are done.
func (s *State) summary() string {
	return fmt.Sprintf("%s: %d of %d steps done", s.commands(), s.DoneCount(), len(s.Steps))
}

func commandsOf(s *State) (names []string) {
	for _, w := range s.Workflows() {
		names = append(names, w.Command)
	}
	return names
}
