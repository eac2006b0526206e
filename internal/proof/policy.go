package proof

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/state"
)

// policy is what a repository demands of statements. The zero value demands all that can be demanded, and allows every signer.
type policy struct {
	Version    int               `json:"policy"`
	Skills     map[string]demand `json:"skills"`
	Ignore     []string          `json:"ignore"` // patterns of paths that may differ between what a run stood on and the commit
	Overrides  overrides         `json:"overrides"`
	Approvals  string            `json:"approvals"`  // how a person has to have answered; empty for any way
	Unenforced bool              `json:"unenforced"` // the steps need not have been enforced all the time
	Signers    []string          `json:"signers"`    // principals, of whom one has to have signed; empty for every allowed one
	MaxAge     string            `json:"maxAge"`     // how long ago the run may have ended; empty for any time
	Nothing    bool              `json:"nothing"`    // a change of which nothing is demanded is fine
	standing

	maxAge time.Duration // 0 for any time
}

// demand is what a change of some paths needs: a statement of a skill.
type demand struct {
	Workflow string   `json:"workflow"` // path of its fsm.json in the repository; empty for the only one of that name
	Project  string   `json:"project"`  // the directory in which a run counts for all Paths; if empty, a run counts for those in its own
	Paths    []string `json:"paths"`    // patterns
	standing
}

// standing says on which content the checks of a run have to have passed.
type standing struct {
	Checks  []string `json:"checks"`  // subjects of steps; empty for the check that passed last
	After   []string `json:"after"`   // patterns of paths that later steps write
	Content string   `json:"content"` // anyContent, or empty for that of the commit
}

// Values of the members of a policy that have only one.
const (
	anyContent = "any"
	inDialogs  = "question"
)

// overrides are the subjects of steps that may have been gone past, for each kind of Override; those for "" by every kind.
type overrides map[string][]string

// theKinds are those of Override.
var theKinds = []string{"skip", "done", "reopen", "end", "allow", isYoung, isReload}

// isYoung is the kind of an Override that is a person's word in a terminal which the agent could have opened.
const isYoung = "young"

// isReload is the kind of an Override that is a step which stayed done when a person took a changed fsm.json in the middle of the work.
const isReload = "reload"

func (o *overrides) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		var all []string
		err := json.UnmarshalDecode(d, &all)
		*o = overrides{"": all}
		return err
	}
	all := map[string][]string{}
	if err := json.UnmarshalDecode(d, &all); err != nil {
		return err
	}
	for kind := range all {
		if !slices.Contains(theKinds, kind) {
			return fmt.Errorf("\"overrides\": nothing is gone past by %q, want %s", kind, message.Alternatives(theKinds))
		}
	}
	*o = all
	return nil
}

// allow reports whether a step with this subject may have been gone past.
func (o overrides) allow(kind, subject string) bool {
	return slices.Contains(o[kind], subject) || slices.Contains(o[""], subject)
}

func (d *demand) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if from.PeekKind() == '[' {
		return json.UnmarshalDecode(from, &d.Paths)
	}
	type plain demand
	if err := json.UnmarshalDecode(from, (*plain)(d)); err != nil {
		return err
	}
	if d.Paths == nil {
		return fmt.Errorf("\"skills\": an entry has no \"paths\"")
	}
	return nil
}

// parseAge parses 30d, 12h or 90m.
func parseAge(text string) (time.Duration, error) {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute}
	if n := len(text) - 1; n > 0 {
		number, err := strconv.ParseUint(text[:n], 10, 16)
		if unit, ok := units[text[n:]]; ok && err == nil && number > 0 {
			return time.Duration(number) * unit, nil
		}
	}
	return 0, fmt.Errorf("\"maxAge\" is %q, want an age such as 30d, 12h or 90m", text)
}

const policyVersion = 1

// parsePolicy parses the file of a policy. What cannot be meant is an error: a policy that demands less than its author believes is
// worse than none.
func parsePolicy(data []byte) (p policy, err error) {
	if err := checkValues(data); err != nil {
		return policy{}, err
	}
	if err := json.Unmarshal(data, &p, strictly); err != nil {
		return policy{}, fmt.Errorf("%w%s", jsonx.Explain(data, err), wants(err))
	}
	if p.Version == 0 {
		return policy{}, fmt.Errorf(`it has no "policy": want "policy": %d`, policyVersion)
	}
	if p.Version != policyVersion {
		return policy{}, fmt.Errorf(`"policy" is %d, want %d`, p.Version, policyVersion)
	}
	if p.MaxAge != "" {
		if p.maxAge, err = parseAge(p.MaxAge); err != nil {
			return policy{}, err
		}
	}
	if p.Approvals != "" && p.Approvals != inDialogs {
		return policy{}, fmt.Errorf("\"approvals\" is %q, want %q, or leave it out for an answer in any way", p.Approvals, inDialogs)
	}
	lists := [][]string{p.Ignore}
	for skill, d := range p.Skills {
		if d.Workflow != "" && !isPath(d.Workflow) || d.Project != "" && !isPath(d.Project) {
			return policy{}, fmt.Errorf("\"skills\": %q: want paths from the top of the repository, "+
				"written as git writes them: skills/release/fsm.json", skill)
		}
		lists = append(lists, d.Paths)
	}
	for _, s := range p.standings() {
		if s.Content != "" && s.Content != anyContent {
			return policy{}, fmt.Errorf("\"content\" is %q, want %q, or leave it out for the content of the commit", s.Content, anyContent)
		}
		lists = append(lists, s.After)
	}
	for _, patterns := range lists {
		for i, text := range patterns {
			if wrong := pattern.DeepFault(text); wrong != "" {
				return policy{}, fmt.Errorf("%s%q: %s", lineOf(data, text), text, wrong)
			}
			patterns[i] = path.Clean(text)
		}
	}
	return p, nil
}

// wants returns what a member has to be, for the end of an error about a value of another type; empty for other errors.
func wants(err error) string {
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok || wrong.JSONKind == 0 || wrong.GoType == nil || errors.Is(err, json.ErrUnknownName) {
		return ""
	}
	name := wrong.JSONPointer.LastToken()
	if _, err := strconv.Atoi(name); err == nil { // an element
		return ", want a text"
	} else if slices.Contains(theKinds, name) {
		name = "checks" // a list of subjects, too
	}
	for what, names := range map[string][]string{
		"the number 1, without a point": {"policy"},
		"a list of texts, [\"…\"]":      {"ignore", "signers", "checks", "after", "paths"},
		"true or false":                 {"unenforced", "nothing"},
		"a text":                        {"approvals", "maxAge", "content", "workflow", "project"},
		"an object or a list":           {"skills", "overrides"},
	} {
		if slices.Contains(names, name) {
			return ", want " + what
		}
	}
	return ", want a list of patterns, or an object with \"paths\"" // a skill
}

func (p policy) standings() []standing {
	all := []standing{p.standing}
	for _, d := range p.Skills {
		all = append(all, d.standing)
	}
	return all
}

// checkValues returns an error for a value that says nothing: null, a list or an object without anything in it, a blank text, and one
// with white space at its ends, which nothing is called by.
func checkValues(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true)) // what is no JSON is said by the decoding
	before := jsontext.Kind(0)
	for {
		start := int(d.InputOffset())
		token, err := d.ReadToken()
		if err == io.EOF || err != nil {
			return nil
		}
		wrong := ""
		switch kind := token.Kind(); {
		case kind == 'n':
			wrong = "null says nothing: leave the member out"
		case kind == ']' && before == '[', kind == '}' && before == '{':
			wrong = "this is empty, so it says nothing: leave the member out"
		case kind == '"' && strings.TrimSpace(token.String()) == "":
			wrong = "this text is blank"
		case kind == '"' && strings.TrimSpace(token.String()) != token.String():
			wrong = fmt.Sprintf("%q begins or ends with white space", token.String())
		}
		if wrong != "" {
			start += len(data[start:]) - len(bytes.TrimLeft(data[start:], " \t\r\n,:"))
			at := jsonx.PositionAt(data, start)
			return fmt.Errorf("%d:%d: %s", at.Line, at.Column, wrong)
		}
		before = token.Kind()
	}
}

// lineOf returns the line of a text in a file of JSON, for the beginning of an error.
func lineOf(data []byte, text string) string {
	if at := bytes.Index(data, jsonx.Quote(text)); at >= 0 {
		return fmt.Sprintf("%d: ", jsonx.PositionAt(data, at).Line)
	}
	return ""
}

// isPath reports whether a text is the path of something in the repository, in the one way in which statements spell it.
func isPath(text string) bool {
	return filepath.IsLocal(text) && path.Clean(text) == text && !strings.ContainsAny(text, "\\\x00")
}

// standingOf returns on which content the checks of a skill have to have passed: as its entry says, else as the policy does for all.
func (p policy) standingOf(skill string) standing {
	own := p.Skills[skill].standing
	if own.Checks == nil {
		own.Checks = p.Checks
	}
	own.Content = cmp.Or(own.Content, p.Content)
	own.After = append(slices.Clone(own.After), p.After...)
	return own
}

// needed returns the skills of which changes of these paths need a statement, each with such paths.
func (p policy) needed(paths []string) map[string][]string {
	all := map[string][]string{}
	for skill, d := range p.Skills {
		for _, name := range paths {
			if matchesAny(d.Paths, name) {
				all[skill] = append(all[skill], name)
			}
		}
	}
	return all
}

// counts returns those of the paths that may not differ.
func (p policy) counts(paths []string, more ...string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(name string) bool { return matchesAny(p.Ignore, name) || matchesAny(more, name) })
}

// matchesAny reports whether a pattern matches a path. One without wildcards that names a directory matches all that is in it.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return pattern.Path(p, name) || !pattern.IsPattern(p) && strings.HasPrefix(name, p+"/")
	})
}

// judge returns what the policy does not allow in a run, and in notes what it lets pass, a line each.
func (p policy) judge(r Run, now time.Time) (problems, notes []string) {
	say := func(lets bool, format string, operands ...any) {
		if text := fmt.Sprintf(format, operands...); lets {
			notes = append(notes, text+" (the policy lets that pass)")
		} else {
			problems = append(problems, text)
		}
	}
	for _, o := range r.Overrides {
		say(p.Overrides.allow(o.Kind, o.Subject), "%s: a person's word on step %q at %s: %s", o.Kind, o.Subject, moment(o.Time), o.Because)
		for _, subject := range o.NotNeeded {
			say(p.Overrides.allow(o.Kind, subject), "%s: a person's word on step %q at %s made step %q unnecessary",
				o.Kind, o.Subject, moment(o.Time), subject)
		}
	}
	for _, s := range r.Steps {
		p.judgeStep(s, r, say)
	}
	for _, u := range r.Unenforced {
		say(p.Unenforced, "the steps were not enforced from %s to %s: %s", moment(u.From), moment(u.To), u.Why)
	}
	switch {
	case r.Ended.IsZero():
		say(false, "the run has not ended")
	case r.Ended.Before(r.Began):
		say(false, "the run ended at %s, before it began", moment(r.Ended))
	case r.Ended.After(now.Add(clockSkew)):
		say(false, "the run ended in the future, at %s", moment(r.Ended))
	case p.maxAge > 0 && now.Sub(r.Ended) > p.maxAge:
		say(false, "the run ended at %s, which is too long ago", moment(r.Ended))
	}
	return problems, notes
}

// judgeStep says of a step what was gone past, and whether the policy lets that pass.
func (p policy) judgeStep(s Step, r Run, say func(lets bool, format string, operands ...any)) {
	switch {
	case s.Earlier, s.State == isDone, s.State == notNeeded:
	case s.State == isSkipped:
		if !slices.ContainsFunc(r.Overrides, func(o Override) bool { return o.Step == s.ID }) {
			say(p.Overrides.allow("skip", s.Subject), "step %q was skipped", s.Subject)
		}
	default:
		say(false, "step %q is %s", s.Subject, s.State)
	}
	for _, d := range s.Decisions {
		if p.Approvals == inDialogs && d.Answer != "" && !slices.Contains(dialogs, d.How) {
			say(false, "step %q was answered in another way (%s) at %s, and the policy wants a question of the client",
				s.Subject, d.How, moment(d.Time))
		}
	}
}

// dialogs has Decision.How of an answer in a dialog of the client.
var dialogs = []string{string(state.ByQuestion), string(state.ByElicitation), string(state.ByApproval)}

// clockSkew is by how much the clocks of two machines may differ.
const clockSkew = 5 * time.Minute

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
