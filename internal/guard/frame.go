package guard

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/decisions"
)

// Run decides the event on standard input by the rule and returns the answer. log is called
// with each decision, if it is not nil.
func Run(r Rule, in io.Reader, env func(string) string, log func(decisions.Record)) client.Answer {
	c := &Call{rule: r, env: env, Time: time.Now(), log: log}
	v := c.run(in)
	a := v.telling(c.mistakes()).answer(r.Event)
	if c.verbose() {
		c.Log(verboseWord, "output="+a.Output)
	}
	return a
}

func (c *Call) verbose() bool { return c.env("PLANNING_HOOKS_VERBOSE") == "true" }

// Explanation is the decision of a rule with its facts.
type Explanation struct {
	Verdict
	Facts    []Fact
	Mistakes []Mistake // files of the configuration that are not used
}

// Explain decides as Run does but writes nothing: no counter, no log, no other file.
func Explain(r Rule, in io.Reader, env func(string) string) Explanation {
	c := &Call{rule: r, env: env, Time: time.Now(), DryRun: true}
	v := c.run(in)
	return Explanation{Verdict: v, Facts: c.facts, Mistakes: c.Config.Mistakes()}
}

// mistakes returns what the person is told when a session starts, and not after each
// compaction: which files of the configuration are not used. It is "" if all are.
func (c *Call) mistakes() (text string) {
	if c.rule.Event != client.SessionStart || c.Event.Source == "compact" || c.Config.switchedOff(c.rule) != "" {
		return ""
	}
	for _, m := range c.Config.Mistakes() {
		text += "\nconfiguration of the planning guards: " + m.String()
	}
	return strings.TrimPrefix(text, "\n")
}

// run takes the steps common to all rules, in the order that the requirements prescribe.
// A panic is recovered and counted as a failure: a Go program that panics exits with 2,
// which the client would take for a refusal.
func (c *Call) run(in io.Reader) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = c.fail(fmt.Errorf("internal error: %v", p))
		}
	}()
	readErr := c.readEvent(in)
	if c.Event.Foreign() {
		return Verdict{Word: c.rule.passWord(), Detail: "The event is another agent's"}
	}
	c.Config = ReadConfig(c.env, c.project())
	c.Session = c.Session.Logging(c.Config, c.env)
	if c.developing() {
		return c.finish(Verdict{Word: "DEV_SKIP", Detail: "Development mode active"})
	}
	if readErr != nil {
		return c.fail(readErr)
	}
	if c.verbose() {
		c.Log(verboseWord, "input="+string(c.Event.Raw))
	}
	if flag := c.Config.switchedOff(c.rule); flag != "" {
		return c.finish(Verdict{Word: "SKIP", Detail: "Feature flag " + flag + " is off"})
	}
	if !c.binds(false) && c.idle() {
		return Verdict{Word: c.rule.passWord(), Detail: notBound}
	}
	return c.withSessionDir(c.decideUnlessOpen)
}

// notBound is the detail of the verdict of a rule that may not speak.
const notBound = "Planning is not under way here"

// binds reports whether planning is under way here, so that the rule may speak. If Rule.Binds
// panics, it returns true, so that the rule runs and its failure is reported.
func (c *Call) binds(thoroughly bool) (yes bool) {
	if c.bound || c.rule.Binds == nil {
		return true
	}
	defer func() {
		if recover() != nil {
			yes = true
		}
	}()
	c.bound = c.rule.Binds(c, thoroughly)
	return c.bound
}

// idle reports whether this call can end here: the rule would say nothing, or planning is not
// under way. The rule decides in a dry run first: whether planning is under way can be costly
// to find out, and matters only if the rule would act.
func (c *Call) idle() bool {
	v, err := c.rehearse()
	if err == nil && !v.acts() {
		return true
	}
	if !c.binds(true) {
		return true
	}
	c.facts = nil // the rule decides again and adds them again
	return false
}

// rehearse decides in a dry run. It returns a panic of the rule as an error: the rule then
// runs again, unless its circuit breaker is open, and the failure is counted.
func (c *Call) rehearse() (v Verdict, err error) {
	defer func(before bool) {
		c.DryRun = before
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}(c.DryRun)
	c.DryRun = true
	return c.rule.Decide(c)
}

// withSessionDir prepares the directory of the session files and decides. If
// PLANNING_STATE_DIR cannot be used, the user gets a notice, once in a session.
func (c *Call) withSessionDir(decide func() Verdict) Verdict {
	if c.DryRun || !c.Session.Known() {
		return decide()
	}
	configured := c.Session.dir
	err := c.Session.prepare()
	v := decide()
	if err == nil || v.form != pass {
		return v
	}
	const reported = "state-dir-reported"
	if n, err := c.counter(c.Session.Breaker(), reported); err != nil || n > 0 {
		return v
	}
	if err := changeCounter(c.Session.Breaker(), reported, func(int) int { return 1 }); err != nil {
		return v
	}
	return Notice(v.Row, v.Word, v.Detail,
		fmt.Sprintf("The planning guards cannot use PLANNING_STATE_DIR=%s (%s), so they keep the files of this session in %s. "+
			"Create the directory or unset the variable.",
			OneLine(configured), brief(err), c.Session.dir))
}

// decideUnlessOpen decides unless the rule's circuit breaker is open.
func (c *Call) decideUnlessOpen() Verdict {
	failures, err := c.failures()
	if err != nil {
		return c.fail(err)
	}
	if failures >= c.Config.breakerThreshold() {
		return c.finish(c.breakerOpen())
	}
	return c.decide(failures)
}

// Project is the root of the project: CLAUDE_PROJECT_DIR, else the event's cwd, "" if
// neither is an absolute path.
func Project(env func(string) string, e *client.Event) string {
	for _, dir := range []string{env("CLAUDE_PROJECT_DIR"), e.Cwd} {
		if filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
	}
	return ""
}

// project is the root of the project of this call.
func (c *Call) project() string { return Project(c.env, c.Event) }

// readEvent reads the event and determines its session. If the event cannot be read, the
// session's id is taken from the environment, so that the failure is counted.
func (c *Call) readEvent(in io.Reader) error {
	e, err := client.Read(in)
	if err != nil {
		c.Event, c.Session = &client.Event{}, SessionOf(c.env("CLAUDE_CODE_SESSION_ID"), c.env)
		return err
	}
	c.Event, c.Session = e, SessionOf(e.SessionID, c.env)
	return nil
}

// developing reports whether the file of development mode exists.
func (c *Call) developing() bool {
	file := c.Config.devModeFile(pluginRoot(c.env))
	if file == "" {
		return false
	}
	_, err := os.Stat(file)
	return err == nil
}

// decide runs the rule. An error of the rule, or of a session file, is a failure.
func (c *Call) decide(failures int) Verdict {
	v, err := c.rule.Decide(c)
	if err == nil && c.rule.stops() {
		v, err = c.limitBlocks(v)
	}
	if err != nil {
		return c.fail(err)
	}
	if failures > 0 {
		c.resetFailures()
	}
	return c.finish(v)
}

// finish logs the verdict.
func (c *Call) finish(v Verdict) Verdict {
	v.Word = cmp.Or(v.Word, c.rule.passWord())
	v.Detail = OneLine(v.Detail)
	c.Log(v.Word, v.Detail)
	return v
}
