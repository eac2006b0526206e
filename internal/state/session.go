package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/txn"
)

// Memory is what is kept of a list for the sessions that work on it, and not longer: no step is open or done by it. It is one file,
// which is replaced as a whole and not synced: what a power cut takes was about processes that it has ended, or is told once more.
type Memory struct {
	Pending   []Pending         `json:"pending,omitempty"`   // updates that are being decided
	Grants    []Grant           `json:"grants,omitempty"`    // a person's yes to one call
	Reminders map[string]string `json:"reminders,omitempty"` // which reminders were given, and which news was told
	Heard     map[string]Heard  `json:"heard,omitempty"`     // by session
	Told      []string          `json:"told,omitempty"`      // the keys of what was told once
	Presence
}

// Presence is who is at a list, those that came last at the end.
type Presence struct {
	Clients   []Client   `json:"clients,omitempty"`
	Terminals []Terminal `json:"terminals,omitempty"` // in which a person has typed the word
	Deeds     []Deed     `json:"deeds,omitempty"`     // that the person has not been told of
	Vouchers  []Voucher  `json:"vouchers,omitempty"`
	Given     bool       `json:"given,omitzero"` // a person has put a workflow here, and no client was seen here before or since
}

// Voucher says that a hook of the client has seen a command of the agent's shell, and found it plain.
type Voucher struct {
	Command string    `json:"command"` // its name, and what it is about
	Words   string    `json:"words"`   // the first of its words in the line, as shell.Bare has them
	Use     string    `json:"use"`     // the id of the call
	Agent   string    `json:"agent,omitzero"`
	Cwd     string    `json:"cwd"`           // where the agent was
	Once    bool      `json:"once,omitzero"` // it ends when it is used, because its command may outlive the call
	Time    time.Time `json:"time"`
}

// Client is the process of a client whose agent works on the list.
type Client struct {
	PID     int    `json:"pid"`
	Start   string `json:"start"`   // as caller.StartOf has it
	Program string `json:"program"` // as caller.Programs names it
	Dir     string `json:"dir"`     // of its project
	Hooked  bool   `json:"hooked"`  // its hooks see the commands of its agent's shell
	Left    bool   `json:"left"`    // after /clear the process has another session, with another list
	Session string `json:"session"` // its session, whose id the list need not have; empty if that is not known
}

// IsAlive reports whether the process runs. One that is not reaped does not.
func (c Client) IsAlive() bool { return c.Start != "" && caller.StartOf(c.PID) == c.Start }

// IsHere reports whether the process runs and works on the list.
func (c Client) IsHere() bool { return !c.Left && c.IsAlive() }

// Terminal is a terminal, as long as the process that leads its session runs.
type Terminal struct {
	Path   string `json:"path"`
	Leader int    `json:"leader"`
	Start  string `json:"start"`
}

// Deed is what was decided in a terminal that is younger than a client.
type Deed struct {
	Line     string    `json:"line"` // the command
	Terminal string    `json:"terminal"`
	Back     string    `json:"back,omitzero"` // the command that takes it back; empty if there is none
	Time     time.Time `json:"time"`
}

// Latest returns the client of a program that came last; ok is false if there is none.
func (p Presence) Latest(program string) (c Client, ok bool) {
	for _, one := range slices.Backward(p.Clients) {
		if one.Program == program {
			return one, true
		}
	}
	return c, false
}

// Heard is what hooks have learnt of a session, in an agent whose transcript is not read. The list may be a project's, and so shared by
// several sessions.
type Heard struct {
	Works bool `json:"works,omitzero"` // the session has called the skill of a workflow
	// Skills are those that it called, a line each; empty if they are not known, which stands for all.
	Skills string `json:"skills,omitzero"`
	Stop   bool   `json:"stop,omitzero"`  // the person's last prompt asks to stop
	On     bool   `json:"on,omitzero"`    // it asks to go on
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

// ErrMemory is in the error about a damaged file of sessions. The next one that writes it begins anew.
var ErrMemory = message.NewError("what was kept for the sessions of this list is lost: a yes that was not used yet, who works here, "+
	"and what was told; no decision about a step is", "go on; what is missing is asked or told once more")

// Memory reads what is kept for the sessions of the list, without the lock. It is empty if there is no file; change only a copy.
//
// Errors: one with ErrMemory, and that the file cannot be read.
func (st *Store) Memory() (Memory, error) {
	return st.memory(nil, func() ([]byte, error) { return txn.ReadState(st.List.Dir, SessionFile, txn.WithFS(st.List.Files())) })
}

// MemoryIn is Memory for a list that is open.
func (st *Store) MemoryIn(src Source) (Memory, error) {
	under, _ := src.(*txn.Dir)
	return st.memory(under, func() ([]byte, error) { return src.ReadState(SessionFile) })
}

// knownMemory is a Memory that was read.
type knownMemory struct {
	Memory
	err   error
	text  string      // of the file
	file  fs.FileInfo // nil if it may have been written to since without another look
	under *txn.Dir    // the list, locked, under whose lock it was read or written; nil if it was neither
}

// memory returns what is known, or what read reads.
func (st *Store) memory(under *txn.Dir, read func() ([]byte, error)) (Memory, error) {
	k := &st.known().memory
	if under != nil && k.under == under {
		return k.Memory, k.err
	}
	file, err := st.List.Files().Lstat(filepath.Join(st.stateDir(), SessionFile))
	if errors.Is(err, fs.ErrNotExist) {
		*k = knownMemory{under: under}
		return k.Memory, nil
	}
	if isSame(k.file, file) {
		k.under = under
		return k.Memory, k.err
	}
	text, err := read()
	if *k = (knownMemory{err: err, text: string(text), under: under}); err == nil && text != nil {
		if k.err = json.Unmarshal(text, &k.Memory, jsonx.Tolerant); k.err != nil {
			k.Memory, k.err = Memory{}, fmt.Errorf("%s is damaged: %w; %w", filepath.Join(StateDir(st.List.Dir), SessionFile),
				jsonx.Explain(text, k.err), ErrMemory)
		}
	}
	if file != nil && file.ModTime().Before(time.Now().Add(-clockTick)) {
		k.file = file
	}
	return k.Memory, k.err
}

// Remember changes what is kept for the sessions of the list, under its lock.
func (st *Store) Remember(ctx context.Context, change func(*Memory)) error {
	return st.Locked(ctx, func(dir *txn.Dir) error { return st.RememberIn(dir, change) })
}

// RememberIn is Remember for a list that is locked. A damaged file is replaced by what change makes of nothing.
func (st *Store) RememberIn(dir *txn.Dir, change func(*Memory)) error {
	m, err := st.MemoryIn(dir)
	if err != nil && !errors.Is(err, ErrMemory) {
		return err
	}
	k := &st.known().memory
	was := k.text
	if err == nil && was != "" {
		m = Memory{} // others have parts of what is known
		_ = json.Unmarshal([]byte(was), &m, jsonx.Tolerant)
	}
	change(&m)
	data, err := json.Marshal(m, jsonx.Tolerant, json.Deterministic(true))
	text := string(data)
	if text == "{}" {
		data, text = nil, ""
	}
	if err != nil || text == was && k.err == nil {
		return err
	}
	*k = knownMemory{}
	if err = dir.ReplaceState(SessionFile, data); err == nil {
		*k = knownMemory{Memory: m, text: text, under: dir}
	}
	return err
}

// maxTold is how many keys are remembered under which something was told.
const maxTold = 50

// AlreadyTold reports whether the person was told under this key, which begins with the
// session, and remembers that they are told now. If that cannot be remembered they are told again.
func (st *Store) AlreadyTold(ctx context.Context, key string) (told bool) {
	if m, _ := st.Memory(); slices.Contains(m.Told, key) || st.IsForged() { // what the hook prints does not reach the person
		return true
	}
	_ = st.Locked(ctx, func(dir *txn.Dir) error {
		told = st.AlreadyToldIn(dir, key)
		return nil
	})
	return told
}

// AlreadyToldIn is AlreadyTold for a list that is locked.
func (st *Store) AlreadyToldIn(dir *txn.Dir, key string) (told bool) {
	if st.IsForged() {
		return true
	}
	_ = st.RememberIn(dir, func(m *Memory) { told = !m.Tell(key) })
	return told
}

// Tell notes that the person is told under this key. It reports false if they were told before.
func (m *Memory) Tell(key string) bool {
	if slices.Contains(m.Told, key) {
		return false
	}
	m.Told = append(m.Told, key)
	m.Told = m.Told[max(0, len(m.Told)-maxTold):]
	return true
}
