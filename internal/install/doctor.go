package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Fault is one problem, as doctor --json prints it.
type Fault struct {
	Kind    string `json:"kind"`
	What    string `json:"what"`
	File    string `json:"file"` // may be empty
	Line    int    `json:"line"` // in File, from 1; 0 for none
	Command string `json:"command"`
	Safe    bool   `json:"safe"`
	Fixed   bool   `json:"fixed"`

	repair func(context.Context) error // for those that are Safe
}

// Question says what is examined.
type Question struct {
	Dir string        // the directory in which the client would start
	Age time.Duration // at least so old is a state directory without a list that counts as left over
}

// Examine returns all problems, the most urgent first. It changes nothing.
func Examine(ctx context.Context, s terminal.Streams, q Question) ([]Fault, error) {
	d := &doctor{Streams: s, cwd: q.Dir, age: q.Age}
	found, err := d.examine(ctx)
	if typed := Typed(s); typed != settings.Program { // another program of this name would repair nothing
		for i, f := range found {
			if before, command, ok := strings.Cut(" "+f.Command, " "+settings.Program+" "); ok {
				found[i].Command = strings.TrimPrefix(before+" "+typed+" "+command, " ")
			}
		}
	}
	return found, err
}

// Place returns where the problem is, to stand before What; it is empty if that is in no file.
func (f Fault) Place() string {
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%s:%d: ", f.File, f.Line)
	case f.File != "":
		return f.File + ": "
	}
	return ""
}

// Repair repairs the problem, which must be Safe. What then is Fixed, or says why not.
func (f *Fault) Repair(ctx context.Context) {
	if err := f.repair(ctx); err != nil {
		f.What += ": " + err.Error()
		return
	}
	f.Fixed = true
}

// doctor examines one directory and the person's configuration.
type doctor struct {
	terminal.Streams
	cwd string
	age time.Duration
}

// examine returns all problems, the most urgent first.
func (d *doctor) examine(ctx context.Context) (found []Fault, err error) {
	for _, check := range []func(context.Context) ([]Fault, error){
		d.hooks, d.taskTools, d.taskRoots, d.locks, d.recovery, d.enforcement, d.answers, d.workflows, d.agents, d.guards, d.plugins,
		d.statusLine, d.repository, d.leftovers, d.litter,
	} {
		more, err := check(ctx)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, errors.New("interrupted")
		}
		found = append(found, more...)
	}
	return found, nil
}
