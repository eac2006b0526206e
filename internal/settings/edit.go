package settings

import "slices"

// Add returns settings that contain each of the hooks once, and the variable of
// WithTaskTools. Everything else is unchanged. data is nil if there is no file. Outdated
// hooks are removed first; settings that are up to date are returned unchanged. Errors
// are those of Inspect.
func Add(data []byte, hooks []Hook) ([]byte, error) {
	report, err := Inspect(data, hooks)
	if err != nil {
		return nil, err
	}
	if report.State == Installed {
		return data, nil
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	if _, err := doc.clear(hooks); err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if err := doc.insert([]string{"hooks", h.Event}, h.group(), true); err != nil {
			return nil, err
		}
	}
	if err := doc.setTaskTools(hooks); err != nil {
		return nil, err
	}
	return doc.pack(), nil
}

// group returns a group with the hook, in the form that the client documents.
func (h Hook) group() any {
	type command struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args,omitzero"`
		Windows string   `json:"commandWindows,omitzero"`
		Timeout int      `json:"timeout"`
		If      string   `json:"if,omitzero"`
		Failure string   `json:"onFailure,omitzero"`
	}
	c := command{"command", h.Line(), nil, h.powerShell(), h.Timeout, h.If, h.onFailure()}
	if h.isExec() {
		c.Command, c.Args = h.Command, slices.Concat(h.Args, h.Flags)
	}
	return struct {
		Matcher string    `json:"matcher,omitzero"`
		Hooks   []command `json:"hooks"`
	}{h.Matcher, []command{c}}
}

// onFailure returns the member of that name, empty for none.
func (h Hook) onFailure() string {
	if h.Closed {
		return "block"
	}
	return ""
}

// Remove returns settings without the hooks, without the variable that Add set and
// without the containers that Add has made. It returns nil if Add has made the file, and data if nothing is to be
// removed. A hook is recognised by its identifying arguments and its program: by name,
// by path or through a link. Errors are those of Inspect.
func Remove(data []byte, hooks []Hook) ([]byte, error) {
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	if cleared, err := doc.clear(hooks); err != nil || !cleared {
		return data, err
	}
	return doc.pack(), nil
}

// clear removes the hooks and the variable, and reports whether there was any hook.
func (d *document) clear(hooks []Hook) (cleared bool, err error) {
	found, err := d.entries(hooks)
	if err != nil {
		return false, err
	}
	if d.ownsTaskTools(found) {
		if err := d.drop("env", TaskTools); err != nil {
			return false, err
		}
	}
	return len(found) > 0, d.remove(hooks)
}
