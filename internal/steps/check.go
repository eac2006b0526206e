package steps

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/visible"
)

// check holds a step back from being completed until its command exits with 0.
func check(c *Current, r Result) Verdict {
	if r.failed == "" && r.Exit == 0 {
		return Verdict{Check: &r}
	}
	how := fmt.Sprintf("exit status %d", r.Exit)
	if r.failed != "" {
		how = r.failed
	}
	reason := fmt.Sprintf("%s cannot be completed: its check failed (%s): %s", c.Name(), how, clip(visible.Words(r.Run), maxSubject))
	if tail := lastLines(r.output); tail != "" {
		reason += "\nThe end of its output:\n" + tail + "\nRepair that, then complete the step again"
	} else {
		reason += "\nIt printed nothing. Repair what it checks, then complete the step again"
	}
	v := deny(c, "check failed: "+how, reason)
	v.Check = &r
	return v
}

const (
	tailLines = 20
	tailChars = 2000
)

// lastLines returns the last 20 lines of a check's output, at most 2,000 characters.
func lastLines(output string) string {
	text := strings.TrimRight(visible.Text(strings.ReplaceAll(output, "\r\n", "\n")), "\n ")
	lines := strings.Split(text, "\n")
	text = strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
	if all := []rune(text); len(all) > tailChars {
		text = "…" + string(all[len(all)-tailChars:])
	}
	return text
}

// fits denies an update whose checks may take longer than the call may: a hook that is
// killed at its limit is not heard of (fact 46, client 2.1.329).
func fits(c *Current, checked []*Current, left time.Duration) Verdict {
	var sum time.Duration
	for _, one := range checked {
		if one.Check != nil {
			sum += one.Check.Limit()
		}
	}
	if sum <= left {
		return Verdict{}
	}
	const why = "the checks do not fit into one call"
	if len(checked) == 1 {
		return deny(c, why, fmt.Sprintf("%s cannot be let through: the check of %s may take %v, and the hook that runs it is registered with a limit that leaves %v. "+
			`Tell the person: "fsmtx install" repairs the registration`, c.Name(), checked[0].Name(), sum, left.Round(time.Second)))
	}
	late := slices.DeleteFunc(slices.Clone(checked), func(one *Current) bool { return one == c })
	return deny(c, why, fmt.Sprintf("%s cannot be let through: %s %s completed in another way, so their checks are due as well. The checks of this call may take %v together, "+
		"and a call has %v. Complete %s again first, in a call of its own: then its check runs", c.Name(), names(late), wasOrWere(len(late)), sum, left.Round(time.Second), late[0].Name()))
}
