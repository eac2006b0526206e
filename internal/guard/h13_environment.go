package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

func environment() Guard {
	return Guard{
		ID: "H13", Name: "H13_env_setup", Event: event.SessionStart,
		Timeout: 10,
		Brief:   "a session starts knowing its branch, feature directory and phase",
		Rows: []string{
			"the session starts: the environment is described",
			"it goes on (compact, resume, clear) and there is a state file: the state follows",
		},
		judge: judgeEnvironment,
	}
}

func judgeEnvironment(c *call) (Verdict, error) {
	state := c.readState()
	e := c.surroundings(state)
	c.fact("source", orElse(c.event.Source, "none"))
	if file := c.env("CLAUDE_ENV_FILE"); file != "" && !c.dry {
		if err := appendTo(file, e.exports()); err != nil {
			c.log("ERROR", "CLAUDE_ENV_FILE not written: "+err.Error())
		}
	}
	message := e.message()
	v := Verdict{Row: 1, Word: "SETUP", Detail: message, Message: message, user: message, kind: inject}
	if state.Exists && state.Err == nil && slices.Contains([]string{"compact", "resume", "clear"}, c.event.Source) {
		v.Row = 2
		v.Message += "\n" + c.snapshot(state).summary(maxContext-units(message)-1)
	}
	return v, nil
}

// surroundings is what H13 finds out.
type surroundings struct {
	branch, feature           string
	spec, constitution, state bool
	phase, mode               string
}

func (c *call) surroundings(state State) surroundings {
	return surroundings{
		branch:       orElse(c.place.branch, "unknown"),
		feature:      c.place.feature,
		spec:         isFile(c.place.in(specName)),
		constitution: c.place.hasConstitution(),
		state:        state.Exists,
		phase:        state.Phase,
		mode:         state.Mode,
	}
}

// hasConstitution looks where features are: beside the feature directory, and
// in the project's specs.
func (p place) hasConstitution() bool {
	return isFile(filepath.Join(p.root, "specs", "constitution.md")) ||
		p.feature != "" && isFile(filepath.Join(filepath.Dir(p.feature), "constitution.md"))
}

func (s surroundings) message() string {
	return fmt.Sprintf("Planning environment detected: branch=%s, feature_dir=%s, state=%t, phase=%s, spec=%t, constitution=%t",
		cutRunes(oneLine(s.branch), 300), cutRunes(oneLine(orElse(s.feature, "none")), 4096), s.state, cutRunes(orElse(s.phase, "none"), maxWord), s.spec, s.constitution)
}

// exports are shell commands: the client runs the file before every command of
// the model. Single quotes keep a branch named $(…) a name.
func (s surroundings) exports() string {
	var b strings.Builder
	for _, v := range []struct{ name, value string }{
		{"BRANCH", s.branch},
		{"FEATURE_DIR", s.feature},
		{"SPEC_EXISTS", fmt.Sprint(s.spec)},
		{"CONSTITUTION_EXISTS", fmt.Sprint(s.constitution)},
		{"STATE_EXISTS", fmt.Sprint(s.state)},
		{"CURRENT_PHASE", s.phase},
		{"CURRENT_MODE", s.mode},
	} {
		fmt.Fprintf(&b, "export PLANNING_%s='%s'\n", v.name, strings.ReplaceAll(oneLine(v.value), "'", `'\''`))
	}
	return b.String()
}

// appendTo adds to the client's own file, which is not one of ours: it may be
// anywhere and of any mode.
func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
