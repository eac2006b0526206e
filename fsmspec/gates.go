package fsmspec

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Limits of the gates.
const (
	// MaxPatterns is the largest number of elements of produces or ready.
	MaxPatterns = 100
	// MaxCommandBytes is the largest size of the command of a check. The kernel passes
	// at most 128 KiB in one argument.
	MaxCommandBytes = 64 << 10
	// DefaultCheckTimeout is the time limit of a check that states none.
	DefaultCheckTimeout = 5 * time.Minute
	// MaxCheckTimeout is the longest time limit of a check.
	MaxCheckTimeout = 30 * time.Minute
	// MaxVariables is the largest number of elements of env in a check.
	MaxVariables = 100
)

// PowerShell is the shell of a [Check] that is not for sh.
const PowerShell = "powershell"

// posixShell is how a file names the shell of a command that is for sh, where that of the file is another.
const posixShell = "sh"

// Check is a shell command that must exit with 0 when the task is completed.
type Check struct {
	Run     string
	Shell   string        // PowerShell; "" is sh
	Timeout time.Duration // DefaultCheckTimeout if the file states none
	Dir     string        // slash-separated, below the project's directory; "" is that directory
	Env     *[]string     // names of the variables that it gets; nil is the whole environment of the hook
	Watch   []string      // patterns of the files on which it stands, in which ** is any directories; only of a gate
}

// MarshalJSON writes the check as commands print it, with its timeout in seconds.
func (c Check) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Run     string    `json:"run"`
		Shell   string    `json:"shell,omitzero"`
		Timeout float64   `json:"timeout"`
		Dir     string    `json:"dir,omitzero"`
		Env     *[]string `json:"env,omitzero"`
		Watch   []string  `json:"watch,omitempty"`
	}{c.Run, c.Shell, c.Timeout.Seconds(), c.Dir, c.Env, c.Watch}, jsonx.Tolerant)
}

// patternsType is an array of patterns for files.
type patternsType struct{ of func(*Task) *[]string }

func (x patternsType) read(p *parser, e *entry, name string, t token) {
	p.patterns(x.of(&e.task), name, t)
}

// patterns reads an array of patterns.
func (p *parser) patterns(patterns *[]string, name string, t token) {
	p.texts(texts{"strings", "strings", "elements", MaxPatterns}, name, t, func(t token) {
		p.pattern(patterns, name, t)
	})
}

// texts is what an array of strings is called in errors.
type texts struct {
	of    string // what it must be an array of
	holds string // what it must hold; mostly the same
	unit  string // what there may be at most so many of
	most  int
}

// texts calls read with each string of the array t, and reports what is none. It reports
// whether t is an array.
func (p *parser) texts(x texts, name string, t token, read func(token)) bool {
	if t.kind != '[' {
		hint := ""
		if t.kind == '"' {
			hint = " (put it in brackets)"
		}
		p.problem(t.start, "%s must be an array of %s, not %s%s", name, x.of, p.describe(t), hint)
		return false
	}
	for i, t := range p.elements {
		switch {
		case i > x.most:
		case i == x.most:
			p.problem(t.start, "%s may hold at most %d %s", name, x.most, x.unit)
		case t.kind != '"':
			p.problem(t.start, "%s must hold %s, not %s", name, x.holds, p.describe(t))
		default:
			read(t)
		}
	}
	return true
}

func (p *parser) pattern(patterns *[]string, name string, t token) {
	text := p.text(t)
	clean := path.Clean(text)
	p.pathUses(name, text, t)
	p.wildcard(name, text, t)
	switch wrong := p.patternFault(text); {
	case wrong != "":
		p.problem(t.start, "%s: %s: %s", name, quoted(text), wrong)
	case slices.Contains(*patterns, clean):
		p.warn(t.start, "%s lists %s more than once", name, quoted(text))
	default:
		*patterns = append(*patterns, clean)
	}
}

// patternFault returns why text is not a pattern for files of the project, or "". The names of values do not count.
func (p *parser) patternFault(text string) string {
	if p.version != WithOutcomes && len(Named(text)) > 0 {
		return `values need {"fsm": 2, "steps": […]} (? stands for a { in a name)`
	}
	if p.version == WithOutcomes {
		text = Fill(text, map[string]string{}) // {{name}} stands for {name}
		for _, part := range parts(text) {
			if part.name != "" {
				text = strings.ReplaceAll(text, part.text, "x")
			}
		}
	}
	return pattern.Fault(text)
}

// checkType is a shell command, or an object with one.
type checkType struct{}

func (checkType) read(p *parser, e *entry, name string, t token) {
	e.task.Check = p.gateCheck(name, t)
}

// gateCheck reads a check. It returns nil if t is not one.
func (p *parser) gateCheck(name string, t token) *Check {
	check := p.newCheck()
	switch t.kind {
	case '"':
		check.Run = p.command(name, t)
	case '{':
		p.checkObject(name, t, check, append(slices.Clone(checkFields), "watch"))
	default:
		p.problem(t.start, `%s must be a shell command or an object such as {"run": "make test", "timeout": 90}, not %s`, name, p.describe(t))
		return nil
	}
	return check
}

var checkFields = []string{"run", "shell", "timeout", "dir", "env"}

// checkObject reads the members of check. It refuses every unknown one: the object has
// no other use, and a misspelled timeout would silently not apply.
func (p *parser) checkObject(name string, t token, check *Check, fields []string) {
	missing, misspelt := true, ""
	for key, value := range p.members {
		member := p.text(key)
		full := name + "." + member
		switch {
		case !slices.Contains(fields, member):
			meant := checkFieldMeant(member, fields)
			if meant == "run" {
				misspelt = member
			}
			p.problem(key.start, "unknown field %s in %s%s", quoted(member), name, didYouMean(meant))
		case value.kind == 'n':
		case member == "run":
			missing = false
			check.Run = p.command(full, value)
		case member == "shell":
			check.Shell = p.shell(full, value)
		case member == "timeout":
			check.Timeout = p.timeout(full, value)
		case member == "env":
			check.Env = p.variables(full, value)
		case member == "watch":
			p.texts(texts{"strings", "strings", "elements", MaxPatterns}, full, value, func(t token) { p.watched(&check.Watch, full, t) })
		default:
			check.Dir = p.directory(full, value)
		}
	}
	if missing && misspelt == "" && !p.broken {
		p.problem(t.start, `%s: missing "run", the shell command`, name)
	}
}

// watched reads the pattern of files on which a check stands. No value is filled in: the files are looked at before there are any.
func (p *parser) watched(patterns *[]string, name string, t token) {
	text := p.text(t)
	if wrong := pattern.DeepFault(text); wrong != "" {
		if len(Named(text)) > 0 {
			wrong = "values are not filled in here"
		}
		p.problem(t.start, "%s: %s: %s", name, quoted(text), wrong)
		return
	}
	if text == "**" || strings.HasSuffix(text, "/**") {
		text += "/*"
	}
	*patterns = append(*patterns, path.Clean(text))
}

// checkFieldMeant returns the member of check that an unknown one probably means, or "".
func checkFieldMeant(name string, fields []string) string {
	switch fold(cut(name)) {
	case "args", "bash", "cmd", "cmdline", "command", "commandline", "exec", "execute", "script", "sh":
		return "run"
	case "duration", "limit", "maxtime", "seconds", "timelimit", "timeoutms", "timeoutseconds", "timeoutsec":
		return "timeout"
	case "cwd", "folder", "in", "path", "pwd", "root", "workdir", "workingdir", "workingdirectory":
		return "dir"
	case "environ", "environment", "keepenv", "variables", "vars":
		return "env"
	default:
		return near(name, fields)
	}
}

// variables returns the names of environment variables in t.
func (p *parser) variables(name string, t token) *[]string {
	names := []string{}
	variables := texts{`the names of the variables that the command gets, such as ["PATH", "HOME"]`, "names of variables",
		"elements", MaxVariables}
	p.texts(variables, name, t, func(t token) {
		switch variable := p.text(t); {
		case !isVariable(variable):
			p.problem(t.start, "%s: %s is not the name of a variable: letters, digits and _, such as PATH", name, quoted(variable))
		case slices.Contains(names, variable):
			p.warn(t.start, "%s lists %s more than once", name, quoted(variable))
		default:
			names = append(names, variable)
		}
	})
	return &names
}

// isVariable reports whether a shell could set a variable with that name.
func isVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r|0x20 < 'a' || r|0x20 > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// command returns the shell command t.
func (p *parser) command(name string, t token) string {
	if t.kind != '"' {
		p.problem(t.start, "%s must be a shell command, not %s", name, p.describe(t))
		return ""
	}
	text := p.text(t)
	switch {
	case isBlank(text):
		p.problem(t.start, "%s is blank", name)
	case strings.Contains(text, "\x00"):
		p.problem(t.start, "%s has a NUL character, which no command can", name)
	case len(text) > MaxCommandBytes:
		p.problem(t.start, "%s is longer than %d bytes: put the command into a script", name, MaxCommandBytes)
	}
	p.commandUses(name, text, t)
	return text
}

// newCheck returns a command before its members are read.
func (p *parser) newCheck() *Check { return &Check{Shell: p.commands, Timeout: DefaultCheckTimeout} }

// shell returns the shell t of a command, or of the commands of the file.
func (p *parser) shell(name string, t token) string {
	switch {
	case t.kind == '"' && p.text(t) == PowerShell:
		return PowerShell
	case t.kind != '"' || p.text(t) != posixShell:
		p.problem(t.start, `%s must be "%s" or "%s", not %s: a command itself is in "run"`, name, posixShell, PowerShell, p.describe(t))
	}
	return ""
}

// timeout returns the time limit t: a number of seconds, or a text such as "90s".
func (p *parser) timeout(name string, t token) time.Duration {
	return p.duration(name, t, limits{`"90s" or "5m"`, MaxCheckTimeout, DefaultCheckTimeout})
}

// limits are those of a duration.
type limits struct {
	examples  string
	most      time.Duration
	otherwise time.Duration // for one that is wrong
}

// duration returns the duration t: a number of seconds, or a text such as "90s".
func (p *parser) duration(name string, t token, l limits) time.Duration {
	want := `%s must be a number of seconds or a text such as ` + l.examples
	var limit time.Duration
	var err error
	switch t.kind {
	case '0':
		limit = seconds(p.raw(t), l.most)
	case '"':
		limit, err = time.ParseDuration(p.text(t))
	default:
		p.problem(t.start, want+", not %s", name, p.describe(t))
		return l.otherwise
	}
	switch {
	case err != nil:
		p.problem(t.start, want+", not %s", name, p.describe(t))
	case limit <= 0:
		p.problem(t.start, "%s must be more than 0, not %s", name, short(p.raw(t)))
	case limit > l.most:
		p.problem(t.start, "%s must be at most %d seconds (%s), not %s", name, int(l.most/time.Second), inWords(l.most),
			message.Line(short(p.raw(t))))
	default:
		return limit
	}
	return l.otherwise
}

func inWords(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// seconds returns the duration of a JSON number of seconds. It returns a duration above
// most for every number that is too large.
func seconds(raw string, most time.Duration) time.Duration {
	n, _ := strconv.ParseFloat(raw, 64) // an infinite one if it is too large
	return time.Duration(math.Round(min(n, 1+most.Seconds()) * float64(time.Second)))
}

// directory returns the path t of a directory of the project, "" for the project's own.
func (p *parser) directory(name string, t token) string {
	if t.kind != '"' {
		p.problem(t.start, "%s must be a string, not %s", name, p.describe(t))
		return ""
	}
	text := p.text(t)
	if wrong := pattern.PathFault(text); wrong != "" {
		p.problem(t.start, "%s: %s: %s", name, quoted(text), wrong)
		return ""
	}
	if strings.Contains(text, `\`) {
		p.problem(t.start, "%s: %s: write / between directories, not a backslash", name, quoted(text))
		return ""
	}
	p.pathUses(name, text, t)
	if clean := path.Clean(text); clean != "." {
		return clean
	}
	return ""
}

// approvalType is true, or the question.
type approvalType struct{}

func (approvalType) read(p *parser, e *entry, name string, t token) {
	e.approve = p.approval(name, t, &e.task.Approval)
}

// approval reads true, for which it returns true, or a question.
func (p *parser) approval(name string, t token, question *string) (ask bool) {
	switch t.kind {
	case 't':
		return true
	case 'f':
		p.problem(t.start, "%s must be true or a question, not false: leave it out if nobody is asked", name)
		return false
	case '"':
	default:
		p.problem(t.start, "%s must be true or a question, not %s", name, p.describe(t))
		return false
	}
	text := p.text(t)
	switch fold(cut(strings.TrimSpace(text))) {
	case "true", "yes", "required":
		p.problem(t.start, "%s must be true or a question, not %s (write true without the quotes)", name, p.describe(t))
		return false
	case "false", "no", "none":
		p.problem(t.start, "%s must be true or a question, not %s: leave it out if nobody is asked", name, p.describe(t))
		return false
	}
	switch {
	case isBlank(text):
		p.problem(t.start, "%s is blank", name)
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		p.problem(t.start, "%s has control characters, which a terminal would obey", name)
	default:
		*question = text
		p.uses(name, text, t, whenCompleted, inText)
	}
	return false
}

// defaultQuestion returns the question of a task whose approval is true.
func defaultQuestion(t *Task) string {
	return fmt.Sprintf("May %s be completed?", quoted(t.Subject))
}
