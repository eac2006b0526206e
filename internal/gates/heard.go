package gates

import (
	"context"
	"maps"
	"slices"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// maxLimit limits the length of a prompt that is kept, in characters.
const maxLimit = 2000

// Hears returns what is known of a session after a prompt of the person: the last prompt decides whether
// they said stop, the latest limit to the work counts until they ask to go on.
func Hears(h state.Heard, s *state.State, prompt string, words client.Words) state.Heard {
	h.On = client.GoesOn(prompt)
	h.Stop = words.And(state.CommandsOf(s)...).Requested(prompt)
	if _, limited := client.Part(prompt, named(s)); limited {
		h.Limit = message.Clip(prompt, maxLimit)
	} else if h.On {
		h.Limit = ""
	}
	return h
}

// toldBy returns what the person has said, as far as it limits the work.
func toldBy(h *state.Heard, s *state.State) (p person) {
	p.ends = h.Stop
	p.part, p.limited = client.Part(h.Limit, named(s))
	return p
}

// Heard returns what is known of a session. It takes no lock.
func (f *Frame) Heard(session string) (state.Heard, error) {
	m, err := f.memory()
	return m.Heard[session], err
}

// Hear changes what is known of a session. It writes only if that changes something, and never
// creates the list.
func (f *Frame) Hear(ctx context.Context, session string, change func(state.Heard) state.Heard) error {
	now, err := f.Heard(session)
	if err != nil || change(now) == now {
		return err
	}
	return f.Remember(ctx, func(m *state.Memory) {
		if m.Heard == nil {
			m.Heard = map[string]state.Heard{}
		}
		if m.Heard[session] = change(m.Heard[session]); len(m.Heard) > maxReminders {
			others := slices.DeleteFunc(slices.Sorted(maps.Keys(m.Heard)), func(other string) bool { return other == session })
			for _, other := range others[:len(m.Heard)-maxReminders] {
				delete(m.Heard, other)
			}
		}
	})
}
