package steps

import "github.com/fsmtx/fsmtx/internal/visible"

// ready denies the start of a step whose files are missing. missing are those of its
// patterns that no file matches.
func ready(c *Current, missing []string) Verdict {
	return files(c, "cannot be started", "missing before the start: ", missing)
}

// produces denies the completion of a step whose files are missing.
func produces(c *Current, missing []string) Verdict {
	return files(c, "cannot be completed", "missing: ", missing)
}

func files(c *Current, what, why string, missing []string) Verdict {
	if len(missing) == 0 {
		return Verdict{}
	}
	var quoted []string
	for _, m := range missing {
		quoted = append(quoted, visible.Clip(visible.Words(m), maxSubject))
	}
	list := sentence(quoted)
	return deny(c, why+list, c.Name()+" "+what+": it needs "+list+" in "+c.Workflow.Dir+", as non-empty files")
}
