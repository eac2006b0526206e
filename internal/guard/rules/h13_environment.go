package rules

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// h13 describes the environment when a session starts, exports it to the model's shell
// commands and removes old session files.
func h13() guard.Rule {
	return guard.Rule{
		ID: "H13", Name: "H13_env_setup", Event: client.SessionStart,
		Timeout: 10,
		Brief:   "the model knows branch, feature directory and phase when a session starts",
		Rows:    environmentRows, Decide: decideBy(runH13),
	}
}

var environmentRows = []string{
	"the session starts: the environment is described",
	"it continues (compact, resume, clear) and there is a state file: the state follows",
}

// runH13 describes the environment, writes the exports and removes old files.
func runH13(c *call) (guard.Verdict, error) {
	facts := c.environmentFacts()
	if !c.DryRun {
		c.export(facts.exports())
		guard.RemoveOld(c.Session, c.Time.AddDate(0, 0, -c.config.keepDays), budgetPrefix)
	}
	return facts.verdict(), nil
}

// export appends shell commands to the file that the client sources before the model's
// shell commands.
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
	continued          bool // the session is not new (fact 26)
	summary            summaryFacts
}

func (c *call) environmentFacts() environmentFacts {
	c.Fact("source", cmp.Or(c.Event.Source, "none"))
	return environmentFacts{
		branch:       cmp.Or(c.place.branch, "unknown"),
		feature:      c.place.feature,
		spec:         safefile.IsFile(c.place.path(c.config.names.spec)),
		constitution: c.place.hasConstitution(c.config),
		continued:    slices.Contains([]string{"compact", "resume", "clear"}, c.Event.Source),
		summary:      c.summaryFacts(),
	}
}

// hasConstitution reports whether the project's constitution is in the project's specs or
// beside the feature directory.
func (p place) hasConstitution(config configuration) bool {
	name := config.names.constitution
	return safefile.IsFile(filepath.Join(p.root, config.specsDir, name)) ||
		p.feature != "" && safefile.IsFile(filepath.Join(filepath.Dir(p.feature), name))
}

func (f environmentFacts) verdict() guard.Verdict {
	message := f.message()
	if !f.continued || !f.summary.state.readable() {
		return guard.Inject(1, "SETUP", message, message, message)
	}
	summary := f.summary.summary(maxContext - client.Length(message) - len("\n"))
	return guard.Inject(2, "SETUP", message, message+"\n"+summary, message)
}

func (f environmentFacts) message() string {
	state := f.summary.state
	return fmt.Sprintf("Planning environment detected: branch=%s, feature_dir=%s, state=%t, phase=%s, spec=%t, constitution=%t",
		guard.Truncate(guard.OneLine(f.branch), 300), guard.Truncate(guard.OneLine(cmp.Or(f.feature, "none")), 4096),
		state.exists, guard.Truncate(cmp.Or(state.phase, "none"), maxWord), f.spec, f.constitution)
}

// exports returns the shell commands that set the variables. The values are quoted: the
// client sources the commands before every shell command of the model, and a branch may be
// named $(…).
func (f environmentFacts) exports() string {
	state := f.summary.state
	var b strings.Builder
	for _, v := range []struct{ name, value string }{
		{"BRANCH", f.branch},
		{"FEATURE_DIR", f.feature},
		{"SPEC_EXISTS", fmt.Sprint(f.spec)},
		{"CONSTITUTION_EXISTS", fmt.Sprint(f.constitution)},
		{"STATE_EXISTS", fmt.Sprint(state.exists)},
		{"CURRENT_PHASE", state.phase},
		{"CURRENT_MODE", state.mode},
	} {
		fmt.Fprintf(&b, "export PLANNING_%s=%s\n", v.name, shell.Quote(guard.OneLine(v.value)))
	}
	return b.String()
}

// appendTo appends to a file of the client. The file may be anywhere and have any owner
// and mode, so statefile would refuse it. Opening a FIFO would block, so it is refused.
func appendTo(file, text string) error {
	f, err := safefile.Open(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
