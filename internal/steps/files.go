package steps

import "github.com/fsmtx/fsmtx/internal/visible"

// files denies the start or the completion of a step whose files are missing.
func files(c *Current, when Moment, f fact) Verdict {
	what, why := "cannot be completed", "missing: "
	if when == atStart {
		what, why = "cannot be started", "missing before the start: "
	}
	switch {
	case f.limit != "":
		return deny(c, why+f.limit, c.Name()+" "+what+": "+f.limit+" in "+visible.Words(f.dir)+
			". Remove what is not needed there, or tell the person that the fsm.json has to name its files more precisely")
	case len(f.missing) == 0:
		return Verdict{}
	}
	var quoted []string
	for _, m := range f.missing {
		quoted = append(quoted, visible.Clip(visible.Words(m), maxSubject))
	}
	list := sentence(quoted)
	verb := "is"
	if len(f.missing) > 1 {
		verb = "are"
	}
	return deny(c, why+list, c.Name()+" "+what+": it needs "+list+", which "+verb+" missing or empty in "+visible.Words(f.dir))
}
