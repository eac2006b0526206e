package steps

import "github.com/fsmtx/fsmtx/internal/visible"

// ready holds a step back from being started until its files are there. missing are
// those of its patterns that no file matches.
func ready(c *Current, missing []string) Verdict {
	return files(c, "cannot be started", "missing before the start: ", missing)
}

// produces holds a step back from being completed until its files are there.
func produces(c *Current, missing []string) Verdict {
	return files(c, "cannot be completed", "missing: ", missing)
}

func files(c *Current, what, why string, missing []string) Verdict {
	if len(missing) == 0 {
		return Verdict{}
	}
	var quoted []string
	for _, m := range missing {
		quoted = append(quoted, clip(visible.Words(m), maxSubject))
	}
	list := sentence(quoted)
	return deny(c, why+list, c.Name()+" "+what+": it needs "+list+" in "+c.Workflow.Dir+", as files that are not empty")
}
