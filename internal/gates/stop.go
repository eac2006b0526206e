package gates

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
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

	// Words returns the words by which the person asks to stop. Nil is client.DefaultWords.
	Words func() client.Words

	// Heard is what hooks have learnt of the session of an agent whose transcript is not
	// read. Nil is what the transcript says.
	Heard *state.Heard
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
func stop(s *state.State, x Stopping, last reminder) []*state.Current {
	stalled := last.at == s.ProgressDigest()
	switch {
	case x.Mode == StopOff, client.OthersRun(x.Background, x.Agent):
		return nil
	case x.Mode != Hold && (stalled || x.Planning || client.Question(x.Message) != "" || x.Agent == "" && client.Wakes(x.Crons)):
		return nil
	case stalled && x.Turns > 0 && last.times >= x.Turns:
		return nil
	}
	var left []*state.Current
	unchecked := len(s.WorkThatIs(state.Unchecked)) > 0 // beside which no other step is let through
	for _, c := range s.Ready() {
		waits := unchecked && s.Word(c) == state.Ready || s.Checking(c.ID) || s.AwaitsPerson(c) || s.SaidNo(c)
		if waits || x.Agent != "" && !startedBy(s, c, x.Agent) {
			continue
		}
		left = append(left, c)
	}
	slices.SortStableFunc(left, func(a, b *state.Current) int { return cmp.Compare(state.StopRank(a), state.StopRank(b)) })
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
func (x Stopping) heard(s *state.State) person {
	words := client.DefaultWords
	if x.Words != nil {
		words = x.Words
	}
	if x.Heard != nil {
		return toldBy(x.Heard, s)
	}
	p := person{ends: client.LastSaid(x.Transcript, x.Prompt, words().And(state.CommandsOf(s)...)).Ends()}
	p.asked = x.Mode == Hold && client.AskedUser(x.Transcript)
	p.part, p.limited = client.LastPart(x.Transcript, named(s))
	return p
}

// goesOn reports whether the person's last word asks to go on with the work.
func (x Stopping) goesOn() bool {
	if x.Heard != nil {
		return x.Heard.On
	}
	return client.GoesOn(client.LastSaid(x.Transcript, x.Prompt, client.Words{}).Text)
}

// named returns the steps as a person may name them.
func named(s *state.State) (all []client.Step) {
	for _, c := range s.Steps {
		all = append(all, client.Step{ID: c.ID, Local: c.Local})
	}
	return all
}

// wanted returns those of the steps that the person wants done now: of a limited work its
// steps, and the steps before them.
func (p person) wanted(s *state.State, left []*state.Current) []*state.Current {
	if p.ends || p.asked {
		return nil
	}
	if !p.limited {
		return left
	}
	return slices.DeleteFunc(slices.Clone(left), func(c *state.Current) bool {
		return !slices.ContainsFunc(p.part, func(x client.Step) bool { return s.LeadsTo(c, x.ID) })
	})
}

// startedBy reports whether the step is in progress because the subagent started it.
func startedBy(s *state.State, c *state.Current, agent string) bool {
	e, _ := s.Last(c.ID)
	return c.Status == workflow.InProgress && e.Agent == agent && e.To == workflow.InProgress
}

// GoOn is in every text that sends an agent back.
const GoOn = "Go on with the workflow"

// sentBack returns the texts for an agent that may not stop, and for the person. The agent
// finds the description of a step in the list.
func sentBack(s *state.State, left []*state.Current, x Stopping, questions string) (agent message.ForAgent, person message.ForPerson) {
	next := left[0]
	what := "ready"
	switch next.Status {
	case workflow.InProgress:
		what = "in progress"
	case workflow.Completed:
		what = "completed without passing its gates, so complete it again"
	}
	what += s.OverLimit(next)
	text := fmt.Sprintf("%s. %s is %s.", s.Summary(), next.Name()+s.Belongs(next)+next.Rounds(), what)
	if more := len(left) - 1; more > 0 {
		text += fmt.Sprintf(" %d more can be done.", more)
	}
	text += " " + GoOn // where the client shows the text, the person reads it, too
	switch {
	case x.Mode != Hold:
		text += ", or ask what only the person knows."
	case questions == "":
		text += ", or let the person say that it may stop."
	default:
		text += ", or ask with " + questions + " what only the person knows, or let them say that it may stop."
	}
	return message.ForAgent(text), message.ForPerson(fmt.Sprintf("%s: the agent was sent back to %s%s", s.Summary(),
		next.Name()+s.Belongs(next)+next.Rounds(), s.OverLimit(next)))
}

// logStop records that the agent is sent back to a step, or that its turn ends with steps open.
// s is the part of the list that is the session's.
func (f *Frame) logStop(s *state.State, x Stopping, left []*state.Current) {
	if f.Log == nil || len(left) == 0 && x.Agent != "" {
		return
	}
	for _, w := range s.Workflows() {
		open := s.OpenIn(w)
		if w.Parent != 0 || len(open) == 0 {
			continue
		}
		n := len(open)
		r := decisions.Record{
			Time: s.Time, Source: decisions.Step, Decision: "left", Why: "the turn ends with steps open",
			Who: string(state.Fsmtx), How: "hook",
			Session: cmp.Or(x.Caller, f.Session), Agent: x.Agent, List: f.List.Dir, Steps: len(w.Steps), Open: &n,
		}
		step := open[0]
		if i := slices.IndexFunc(left, func(c *state.Current) bool { return s.Root(c.Workflow) == w }); i >= 0 {
			r.Decision, r.Why, step = "sent back", "the turn may not end: a step is ready", left[i]
		}
		r = state.About(r, step.Step, step.Workflow)
		f.Log.Add(r)
	}
}
