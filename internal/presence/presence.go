// Package presence knows who is at a list: the clients whose agents work on it, and the terminals in which a person has shown that
// they are one. It decides nothing about a step.
package presence

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// most bounds each kind of entry.
const most = 16

// TerminalOf returns the terminal of a person.
func TerminalOf(who caller.Caller) state.Terminal {
	return state.Terminal{Path: who.Terminal, Leader: who.Leader, Start: caller.StartOf(who.Leader)}
}

// Of returns who is at a list. What cannot be read is nobody.
func Of(list string) state.Presence {
	m, _ := At(list).Memory()
	return m.Presence
}

// At returns what reads and writes who is at a list, for a caller that has no other Store of the list: two read the same file twice.
func At(list string) *state.Store {
	return &state.Store{List: tasks.List{Dir: list, Wait: tasklist.Wait}}
}

// eldest returns the client that began first of those that run. Its time is zero if none does.
func eldest(p state.Presence) (c state.Client, began time.Time) {
	for _, one := range p.Clients {
		if t := caller.Began(one.PID); one.IsAlive() && (began.IsZero() || t.Before(began)) {
			c, began = one, t
		}
	}
	return c, began
}

// Beside returns the caller of a command about these lists; see caller.Caller.Beside. client is the one that makes the difference.
//
// Errors: that it cannot be read who is at one of the lists. Any client may work there, so the caller is beside one.
func Beside(who caller.Caller, lists ...string) (_ caller.Caller, client state.Client, err error) {
	if who.Kind == caller.Agent || who.Since.IsZero() {
		return who, client, nil
	}
	for _, list := range lists {
		m, err := At(list).Memory()
		c, began := eldest(m.Presence)
		if err != nil {
			began = time.Unix(0, 1)
		}
		if now := who.Beside(began); err != nil || now.Young != who.Young || now.Kind != who.Kind {
			return now, c, err
		}
	}
	return who, client, nil
}

// IsConfirmed reports whether a person has typed the word for each of these lists in the terminal.
func IsConfirmed(t state.Terminal, lists ...string) bool {
	return t.Start != "" && !slices.ContainsFunc(lists, func(list string) bool { return !slices.Contains(Of(list).Terminals, t) })
}

// Confirm records that a person has typed the word. What cannot be recorded is asked again.
func Confirm(ctx context.Context, t state.Terminal, lists ...string) {
	for _, list := range lists {
		change(ctx, At(list), func(p *state.Presence) { p.Terminals = append(p.Terminals, t) })
	}
}

// Did records what was decided in a young terminal, for the person at the client.
func Did(ctx context.Context, d state.Deed, lists ...string) {
	for _, list := range lists {
		change(ctx, At(list), func(p *state.Presence) { p.Deeds = append(p.Deeds, d) })
	}
}

// Take returns the deeds of which the person at the client of a list has not been told, and removes them.
func Take(ctx context.Context, st *state.Store) (all []state.Deed) {
	change(ctx, st, func(p *state.Presence) { all, p.Deeds = p.Deeds, nil })
	return all
}

// Elsewhere comes in the key of a voucher before the name of another list than the one in which it is.
const Elsewhere = " --list "

// Vouch records what a hook has seen. A list gets a state directory for it only if a command begins or continues a workflow, or is about
// another list.
func Vouch(ctx context.Context, st *state.Store, all []state.Voucher) {
	if !hasState(st.List.Dir) && !slices.ContainsFunc(all, func(v state.Voucher) bool {
		name, _, _ := strings.Cut(v.Command, " ")
		return name == "begin" || name == "continue" || strings.Contains(v.Command, Elsewhere)
	}) {
		return
	}
	_ = st.Remember(ctx, func(m *state.Memory) { m.Vouchers = last(append(m.Vouchers, all...)) })
}

// EndVouchers removes those that are over.
func EndVouchers(ctx context.Context, st *state.Store, over func(state.Voucher) bool) {
	if m, _ := st.Memory(); slices.ContainsFunc(m.Vouchers, over) {
		change(ctx, st, func(p *state.Presence) { p.Vouchers = slices.DeleteFunc(p.Vouchers, over) })
	}
}

// Vouched returns the voucher of a command that the agent of a list runs. started is the command line of the process that the agent's
// client has started for it, nil if that is not known: a script that another call runs has no voucher, although one of a call that was not
// carried out may have stayed. expected reports that it should have one: the hooks of a client that works on the list see its agent's
// commands.
func Vouched(ctx context.Context, st *state.Store, command string, started []string) (v state.Voucher, ok, expected bool) {
	p, err := st.Memory()
	expected = err != nil || isHooked(p.Presence)
	isLine := slices.ContainsFunc(started, func(word string) bool { return strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c") })
	line := shell.Bare(strings.Join(started, " "))
	is := func(v state.Voucher) bool {
		return v.Command == command && (!isLine || strings.Contains(line, v.Words))
	}
	i := slices.IndexFunc(p.Vouchers, is)
	if i < 0 {
		return v, false, expected
	}
	if v = p.Vouchers[i]; v.Once {
		change(ctx, st, func(p *state.Presence) {
			if i := slices.IndexFunc(p.Vouchers, is); i >= 0 {
				p.Vouchers = slices.Delete(p.Vouchers, i, i+1)
			}
		})
	}
	return v, true, expected
}

// Hooked reports whether a client works on the list whose hooks see the commands of its agent.
func Hooked(list string) bool { return isHooked(Of(list)) }

func isHooked(p state.Presence) bool {
	return slices.ContainsFunc(p.Clients, func(c state.Client) bool { return c.Hooked && c.IsAlive() })
}

// change changes the memo of a list that has a state directory.
func change(ctx context.Context, st *state.Store, do func(*state.Presence)) {
	if !hasState(st.List.Dir) {
		return
	}
	_ = st.Remember(ctx, func(m *state.Memory) {
		p := &m.Presence
		do(p)
		p.Clients = slices.DeleteFunc(last(p.Clients), func(c state.Client) bool { return !c.IsAlive() })
		p.Terminals, p.Deeds = last(p.Terminals), last(p.Deeds)
	})
}

func last[T any](all []T) []T { return all[max(0, len(all)-most):] }

// Enter makes a list one that a person can name before its agent has done anything: that of a session which is told, with its name, what
// it can go on with.
func Enter(ctx context.Context, list string) {
	if !hasState(list) {
		_ = At(list).Remember(ctx, func(*state.Memory) {})
	}
}

// hasState reports whether the list has a state directory.
func hasState(list string) bool {
	dir, err := txn.StateDir(list)
	return err == nil && safefile.IsDir(dir)
}

// Join records the client in which this process was started, as a hook or as a command of its agent. Nothing is written if it is the
// one that came last, or if the list has no state directory yet. program is the agent whose event it is; empty if that is not known.
// hooked is Client.Hooked.
func Join(ctx context.Context, st *state.Store, s terminal.Streams, program, dir string, hooked bool) {
	var pid int
	if program == caller.Claude { // without a look at the processes above
		text, _ := s.Getenv("CLAUDE_PID")
		pid, _ = strconv.Atoi(text)
	} else if who := s.Who(); who.Kind == caller.Agent {
		pid, program = who.PID, who.Program
	}
	if pid <= 0 || !hasState(st.List.Dir) {
		return
	}
	c := state.Client{PID: pid, Start: caller.StartOf(pid), Program: program, Dir: dir, Hooked: hooked, Session: st.Session}
	m, _ := st.Memory()
	was, known := m.Latest(program)
	known = known && !was.Left && was.PID == c.PID && was.Start == c.Start && (was.Hooked || !hooked) &&
		(was.Session == c.Session || c.Session == "")
	if c.Start == "" || known || program == caller.Claude && !s.Who().FromClient() {
		return
	}
	change(ctx, st, func(p *state.Presence) {
		p.Clients, p.Given = append(slices.DeleteFunc(p.Clients, func(one state.Client) bool { return one.PID == pid }), c), false
	})
}

// Give records that a person has put a workflow into the list of another session than the caller's. If no client was seen there, it cannot
// be known whether one runs until it does something.
func Give(ctx context.Context, st *state.Store) {
	change(ctx, st, func(p *state.Presence) { p.Given = len(p.Clients) == 0 })
}

// Leave records that the client which has started this process does not work on other lists than this one any more: after /clear it
// has another session.
func Leave(ctx context.Context, lookup func(string) (string, bool), list string) {
	me, _ := lookup("CLAUDE_PID")
	isMine := func(c state.Client) bool { return strconv.Itoa(c.PID) == me && c.IsHere() }
	all, _ := tasklist.WithHistory(lookup)
	for _, other := range all {
		if other != list && slices.ContainsFunc(Of(other).Clients, isMine) {
			change(ctx, At(other), func(p *state.Presence) {
				for i, c := range p.Clients {
					p.Clients[i].Left = c.Left || isMine(c)
				}
			})
		}
	}
}

// Lists returns the lists at which a client works in the project of dir.
func Lists(lookup func(string) (string, bool), dir string) (found []string) {
	all, err := tasklist.WithHistory(lookup)
	if err != nil {
		return nil
	}
	for _, list := range all {
		if slices.ContainsFunc(Of(list).Clients, func(c state.Client) bool {
			return c.IsHere() && tasklist.Belongs(lookup, c.Dir, dir)
		}) {
			found = append(found, list)
		}
	}
	return found
}

// IsAlive reports whether a client runs that works on the list.
func IsAlive(list string) bool {
	return slices.ContainsFunc(Of(list).Clients, state.Client.IsHere)
}

// AtWork reports which clients run that work on the list: the one that has started this process, and others.
func AtWork(lookup func(string) (string, bool), list string) (mine, others bool) {
	me, _ := lookup("CLAUDE_PID")
	for _, c := range Of(list).Clients {
		if isMine := me == strconv.Itoa(c.PID); c.IsAlive() {
			mine, others = mine || isMine, others || !isMine && !c.Left
		}
	}
	return mine, others
}
