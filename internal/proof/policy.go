package proof

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/pattern"
)

// policy is what a repository demands of statements. The zero value demands all that can be demanded, and allows every signer.
type policy struct {
	Version    int                 `json:"policy"`
	Skills     map[string][]string `json:"skills"`     // patterns of the paths that need a statement of the skill
	Ignore     []string            `json:"ignore"`     // patterns of paths that may differ between the subject and the commit
	Overrides  []string            `json:"overrides"`  // subjects of steps that may have been gone past
	Unenforced bool                `json:"unenforced"` // the steps need not have been enforced all the time
	Signers    []string            `json:"signers"`    // principals, of whom one has to have signed; empty for every allowed one
	MaxAge     string              `json:"maxAge"`     // how long ago the run may have ended; empty for any time

	maxAge time.Duration // 0 for any time
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

// parsePolicy parses the file of a policy.
func parsePolicy(data []byte) (p policy, err error) {
	if err := json.Unmarshal(data, &p, strictly); err != nil {
		return policy{}, jsonx.Explain(data, err)
	}
	if p.Version != policyVersion {
		return policy{}, fmt.Errorf(`"policy" is %d, want %d`, p.Version, policyVersion)
	}
	if p.MaxAge != "" {
		if p.maxAge, err = parseAge(p.MaxAge); err != nil {
			return policy{}, err
		}
	}
	for _, patterns := range append(slices.Collect(maps.Values(p.Skills)), p.Ignore) {
		for i, text := range patterns {
			if wrong := pattern.DeepFault(text); wrong != "" {
				return policy{}, fmt.Errorf("%s%q: %s", lineOf(data, text), text, wrong)
			}
			if class := pattern.Class(text); class != "" {
				const why = "stands for these characters themselves: write ? for any character"
				return policy{}, fmt.Errorf("%s%q: %s %s", lineOf(data, text), text, class, why)
			}
			patterns[i] = path.Clean(text)
		}
	}
	return p, nil
}

// lineOf returns the line of a text in a file of JSON, for the beginning of an error.
func lineOf(data []byte, text string) string {
	if at := bytes.Index(data, jsonx.Quote(text)); at >= 0 {
		return fmt.Sprintf("%d: ", jsonx.PositionAt(data, at).Line)
	}
	return ""
}

// needed returns the skills of which changes of these paths need a statement, each with the first such path.
func (p policy) needed(paths []string) map[string]string {
	all := map[string]string{}
	for skill, patterns := range p.Skills {
		i := slices.IndexFunc(paths, func(name string) bool { return matchesAny(patterns, name) })
		if i >= 0 {
			all[skill] = paths[i]
		}
	}
	return all
}

// counts returns those of the paths that may not differ.
func (p policy) counts(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(name string) bool { return matchesAny(p.Ignore, name) })
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return pattern.Path(p, name) })
}

// judge returns what the policy does not allow in a run, a line each.
func (p policy) judge(r Run, now time.Time) (lines []string) {
	say := func(format string, operands ...any) { lines = append(lines, fmt.Sprintf(format, operands...)) }
	for _, o := range r.Overrides {
		if !slices.Contains(p.Overrides, o.Subject) {
			say("%s: a person's word on step %q at %s: %s", o.Kind, o.Subject, moment(o.Time), o.Because)
		}
	}
	for _, s := range r.Steps {
		switch s.State {
		case isDone, notNeeded:
		case isSkipped:
			overruled := slices.ContainsFunc(r.Overrides, func(o Override) bool { return o.Step == s.ID })
			if !overruled && !slices.Contains(p.Overrides, s.Subject) {
				say("step %q was skipped", s.Subject)
			}
		default:
			say("step %q is %s", s.Subject, s.State)
		}
	}
	for _, u := range r.Unenforced {
		if !p.Unenforced {
			say("the steps were not enforced from %s to %s: %s", moment(u.From), moment(u.To), u.Why)
		}
	}
	switch {
	case r.Ended.IsZero():
		say("the run has not ended")
	case r.Ended.After(now.Add(clockSkew)):
		say("the run ended in the future, at %s", moment(r.Ended))
	case p.maxAge > 0 && now.Sub(r.Ended) > p.maxAge:
		say("the run ended at %s, which is too long ago", moment(r.Ended))
	}
	return lines
}

// clockSkew is by how much the clocks of two machines may differ.
const clockSkew = 5 * time.Minute

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
