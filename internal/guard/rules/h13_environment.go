package rules

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

var environmentRows = []string{
	"the session starts: the environment is described",
	"it continues (compact, resume, clear) and there is a state file: the state follows",
}

func environment(c *call) (guard.Verdict, error) {
	facts := c.environmentFacts()
	if file := c.Env("CLAUDE_ENV_FILE"); file != "" && !c.DryRun {
		if err := appendTo(file, facts.exports()); err != nil {
			c.Log("ERROR", "CLAUDE_ENV_FILE not written: "+err.Error())
		}
	}
	return facts.decide(), nil
}

type environmentFacts struct {
	branch, feature    string
	spec, constitution bool
	continued          bool     // the session is not new (fact 26)
	snapshot           snapshot // only the state unless the session continues
}

func (c *call) environmentFacts() environmentFacts {
	state := c.readState()
	c.Fact("source", cmp.Or(c.Event.Source, "none"))
	facts := environmentFacts{
		branch:       cmp.Or(c.place.branch, "unknown"),
		feature:      c.place.feature,
		spec:         paths.IsFile(c.place.path(specName)),
		constitution: c.place.hasConstitution(),
		continued:    slices.Contains([]string{"compact", "resume", "clear"}, c.Event.Source),
		snapshot:     snapshot{state: state},
	}
	if facts.continued && state.Readable() {
		facts.snapshot = c.snapshot(state)
	}
	return facts
}

// hasConstitution looks for constitution.md in the project's specs and beside the
// feature directory.
func (p place) hasConstitution() bool {
	return paths.IsFile(filepath.Join(p.root, "specs", "constitution.md")) ||
		p.feature != "" && paths.IsFile(filepath.Join(filepath.Dir(p.feature), "constitution.md"))
}

func (f environmentFacts) decide() guard.Verdict {
	message := f.message()
	if !f.continued || !f.snapshot.state.Readable() {
		return guard.Inject(1, "SETUP", message, message, message)
	}
	summary := f.snapshot.summary(maxContext - units(message) - len("\n"))
	return guard.Inject(2, "SETUP", message, message+"\n"+summary, message)
}

func (f environmentFacts) message() string {
	state := f.snapshot.state
	return fmt.Sprintf("Planning environment detected: branch=%s, feature_dir=%s, state=%t, phase=%s, spec=%t, constitution=%t",
		guard.Truncate(guard.OneLine(f.branch), 300), guard.Truncate(guard.OneLine(cmp.Or(f.feature, "none")), 4096),
		state.Exists, guard.Truncate(cmp.Or(state.Phase, "none"), maxWord), f.spec, f.constitution)
}

// exports returns shell commands that set the variables. The client runs the file
// before every command of the model; single quotes make a branch named $(…) a mere
// string.
func (f environmentFacts) exports() string {
	state := f.snapshot.state
	var b strings.Builder
	for _, v := range []struct{ name, value string }{
		{"BRANCH", f.branch},
		{"FEATURE_DIR", f.feature},
		{"SPEC_EXISTS", fmt.Sprint(f.spec)},
		{"CONSTITUTION_EXISTS", fmt.Sprint(f.constitution)},
		{"STATE_EXISTS", fmt.Sprint(state.Exists)},
		{"CURRENT_PHASE", state.Phase},
		{"CURRENT_MODE", state.Mode},
	} {
		fmt.Fprintf(&b, "export PLANNING_%s='%s'\n", v.name, strings.ReplaceAll(guard.OneLine(v.value), "'", `'\''`))
	}
	return b.String()
}

// appendTo appends to a file of the client, which may have any place, owner and
// mode, so statefile does not apply.
func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
