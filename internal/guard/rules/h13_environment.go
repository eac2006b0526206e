package rules

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

func h13() guard.Rule {
	return guard.Rule{
		ID: "H13", Name: "H13_env_setup", Event: event.SessionStart,
		Timeout: 10,
		Brief:   "a session starts knowing its branch, feature directory and phase",
		Rows:    environmentRows, Decide: decide(environment),
		Settings: []string{"workflow"},
	}
}

var environmentRows = []string{
	"the session starts: the environment is described",
	"it continues (compact, resume, clear) and there is a state file: the state follows",
}

// environment reads, decides and does.
func environment(c *call) (guard.Verdict, error) {
	facts := c.environmentFacts()
	v, exports := facts.decide()
	if !c.DryRun {
		c.export(exports)
		guard.RemoveOld(c.Session, c.Time.AddDate(0, 0, -c.config.KeepDays), budgetPrefix)
	}
	return v, nil
}

// export sets the variables for the model's shell commands.
func (c *call) export(text string) {
	file := c.Env("CLAUDE_ENV_FILE")
	if file == "" {
		return
	}
	if err := appendTo(file, text); err != nil {
		c.Log("ERROR", "CLAUDE_ENV_FILE not written: "+err.Error())
	}
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
		spec:         paths.IsFile(c.place.path(c.config.Names.Spec)),
		constitution: c.place.hasConstitution(c.config),
		continued:    slices.Contains([]string{"compact", "resume", "clear"}, c.Event.Source),
		snapshot:     snapshot{state: state},
	}
	if facts.continued && state.Readable() {
		facts.snapshot = c.snapshot(state)
	}
	return facts
}

// hasConstitution looks for the project's constitution in the project's specs and beside the
// feature directory.
func (p place) hasConstitution(config Config) bool {
	name := config.Names.Constitution
	return paths.IsFile(filepath.Join(p.root, config.SpecsDir, name)) ||
		p.feature != "" && paths.IsFile(filepath.Join(filepath.Dir(p.feature), name))
}

// decide returns the verdict, and the shell commands that set the variables.
func (f environmentFacts) decide() (v guard.Verdict, exports string) {
	return f.verdict(), f.exports()
}

func (f environmentFacts) verdict() guard.Verdict {
	message := f.message()
	if !f.continued || !f.snapshot.state.Readable() {
		return guard.Inject(1, "SETUP", message, message, message)
	}
	summary := f.snapshot.summary(maxContext - event.Length(message) - len("\n"))
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
		fmt.Fprintf(&b, "export PLANNING_%s=%s\n", v.name, singleQuoted(guard.OneLine(v.value)))
	}
	return b.String()
}

// singleQuoted returns a word of a shell command that is the text.
func singleQuoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// shellWord is singleQuoted with quotes only where they are needed.
func shellWord(text string) string {
	if text = guard.OneLine(text); guard.IsPlain(text) {
		return text
	}
	return singleQuoted(text)
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
