package gates

import (
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
)

// files denies the start or the completion of a step whose files are missing.
func files(c *state.Current, when fsmspec.Moment, f fact) Verdict {
	what, why := "cannot be completed", "missing: "
	if when == fsmspec.AtStart {
		what, why = "cannot be started", "missing before the start: "
	}
	switch {
	case f.Limit != "":
		return deny(c, why+f.Limit, c.Name()+" "+what+": "+f.Limit+" in "+message.Words(f.dir)+
			". Remove what is not needed there, or tell the person that the fsm.json has to name its files more precisely")
	case len(f.Missing) == 0:
		return unchanged(c, f)
	}
	list, verb := state.Quoted(f.Missing), "is"
	if len(f.Missing) > 1 {
		verb = "are"
	}
	reason := c.Name() + " " + what + ": it needs " + list + ", which " + verb + " missing or empty in " + message.Words(f.dir)
	reason = strings.Join(append([]string{reason}, f.Unfit...), ". ")
	if i := slices.IndexFunc(f.Missing, func(path string) bool { return safefile.CheckNames(path) != nil }); i >= 0 {
		err := safefile.CheckNames(f.Missing[i])
		reason += ": " + err.Error() + ". Tell the person: " + message.Hint(err)
	} else if err := f.Sight.Err; err != nil {
		reason += ". It cannot all be read: " + message.Words(err.Error())
	}
	return deny(c, why+list, reason)
}
