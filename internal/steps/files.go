package steps

import "github.com/fsmtx/fsmtx/internal/message"

// files denies the start or the completion of a step whose files are missing.
func files(c *Current, when Moment, f fact) Verdict {
	what, why := "cannot be completed", "missing: "
	if when == atStart {
		what, why = "cannot be started", "missing before the start: "
	}
	switch {
	case f.limit != "":
		return deny(c, why+f.limit, c.Name()+" "+what+": "+f.limit+" in "+message.Words(f.dir)+
			". Remove what is not needed there, or tell the person that the fsm.json has to name its files more precisely")
	case len(f.missing) == 0:
		return unchanged(c, f)
	}
	list, verb := quotedNames(f.missing), "is"
	if len(f.missing) > 1 {
		verb = "are"
	}
	reason := c.Name() + " " + what + ": it needs " + list + ", which " + verb + " missing or empty in " + message.Words(f.dir)
	if len(f.outside) > 0 {
		reason += ". " + quotedNames(f.outside) + " leads out of it, and does not count"
	}
	if err := f.sight.err; err != nil {
		reason += ". It cannot all be read: " + message.Words(err.Error())
	}
	return deny(c, why+list, reason)
}
