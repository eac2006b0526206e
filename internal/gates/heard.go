package gates

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// Heard is what hooks have learnt of a session, in an agent whose transcript is not read. It
// is kept beside the list, which may be a project's and so shared by several sessions.
type Heard struct {
	Works bool `json:"works,omitzero"` // the session has called the skill of a workflow
	// Skills are those that it called, a line each; empty if they are not known, which stands for all.
	Skills string `json:"skills,omitzero"`
	Stop   bool   `json:"stop,omitzero"`  // the person's last prompt asks to stop
	Limit  string `json:"limit,omitzero"` // the prompt by which the person has limited the work
}

// Calls returns what is known after the session has called a skill; an empty name stands for one
// that is not known.
func (h Heard) Calls(skill string) Heard {
	every := h.Works && h.Skills == ""
	switch all := strings.Split(h.Skills, "\n"); {
	case every || skill == "" || len(all) > maxCalled:
		h.Skills = ""
	case !h.Works:
		h.Skills = skill
	case !slices.Contains(all, skill):
		h.Skills += "\n" + skill
	}
	h.Works = true
	return h
}

// Called reports whether the session works the workflows of a skill.
func (h Heard) Called(skill string) bool {
	return h.Works && (h.Skills == "" || slices.Contains(strings.Split(h.Skills, "\n"), skill))
}

// maxCalled limits the number of skills that are kept of a session.
const maxCalled = 20

// maxLimit limits the length of a prompt that is kept, in characters.
const maxLimit = 2000

// Hears returns what is known after a prompt of the person: the last prompt decides whether
// they said stop, the latest limit to the work counts until they ask to go on.
func (h Heard) Hears(s *state.State, prompt string, words client.Words) Heard {
	h.Stop = words.And(state.CommandsOf(s)...).Requested(prompt)
	if _, limited := client.Part(prompt, named(s)); limited {
		h.Limit = message.Clip(prompt, maxLimit)
	} else if client.GoesOn(prompt) {
		h.Limit = ""
	}
	return h
}

// person returns what the person has said, as far as it limits the work.
func (h Heard) person(s *state.State) (p person) {
	p.ends = h.Stop
	p.part, p.limited = client.Part(h.Limit, named(s))
	return p
}

// Heard returns what is known of a session. It takes no lock.
func (f *Frame) Heard(session string) (Heard, error) {
	all, err := state.Recall[map[string]Heard](&f.Store, state.HeardFile)
	return all[session], err
}

// Hear changes what is known of a session. It writes only if that changes something, and never
// creates the list.
func (f *Frame) Hear(ctx context.Context, session string, change func(Heard) Heard) error {
	now, err := f.Heard(session)
	if err != nil || change(now) == now {
		return err
	}
	return state.Remember(ctx, &f.Store, state.HeardFile, func(all map[string]Heard) map[string]Heard {
		if all == nil {
			all = map[string]Heard{}
		}
		if all[session] = change(all[session]); len(all) > maxReminders {
			others := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(other string) bool { return other == session })
			for _, other := range others[:len(all)-maxReminders] {
				delete(all, other)
			}
		}
		return all
	})
}
