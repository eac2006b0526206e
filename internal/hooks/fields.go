package hooks

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// outside reports events that stand beside the member hooks and not in it.
func (f *file) outside() {
	if f.text == nil {
		return
	}
	o, _ := jsonx.ParseObject(f.text)
	for name, value := range o.All() {
		groups, isList := jsonx.Array(value)
		if _, isEvent := f.Dialect.Event(name); isEvent && isList && len(groups) > 0 {
			f.addAt(f.offsets[jsontext.Pointer("").AppendToken(name)], Error,
				fmt.Sprintf("the event %s stands outside the member \"hooks\": its hooks never run", name))
		}
	}
}

// condition reports a permission rule that matches no call.
func (f *file) condition(e dialect.Event, h Hook) {
	if why := h.IfNeverMatches(e); why != "" {
		f.add(h.Pointer.AppendToken("if"), Error, why)
	}
}
