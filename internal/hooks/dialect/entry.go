package dialect

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// EntryViolation returns the name of a field of a hook's entry whose value the agent does not
// accept, and why; both are "" if it accepts all. The type, the command and the timeout are not
// tested here.
func (d Dialect) EntryViolation(handler string, entry jsonx.Object) (field, why string) {
	kinds := d.Hooks.Entries[handler]
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		kind, value := kinds[name], entry.Get(name)
		switch {
		case value == nil && kind.Required:
			return name, fmt.Sprintf("a hook of type %s has no %s", handler, name)
		case value == nil, value.Kind() == 'n' && d.Hooks.NullIsAbsent, name == "timeout":
			continue
		}
		if why := kind.violation(value); why != "" {
			return name, name + ": " + why
		}
	}
	return "", ""
}

// Fields returns the fields of the entries of a type of handler.
func (d Dialect) Fields(handler string) []string {
	return append(slices.Sorted(maps.Keys(d.Hooks.Entries[handler])), "type")
}

// claudeEntries returns the fields of a hook's entry, by type of handler: the schema in the code
// of Claude Code 2.1.329.
func claudeEntries() map[string]map[string]Kind {
	text, flag, number := Kind{Type: '"'}, Kind{Type: 't'}, Kind{Type: '0'}
	needed, filled := Kind{Type: '"', Required: true}, Kind{Type: '"', NotEmpty: true}
	failure := Kind{Type: '"', OneOf: []string{"continue", "block"}}
	with := func(more map[string]Kind) map[string]Kind {
		all := map[string]Kind{"if": text, "timeout": number, "statusMessage": text, "once": flag}
		maps.Copy(all, more)
		return all
	}
	return map[string]map[string]Kind{
		CommandType: with(map[string]Kind{
			"command": needed, "args": {Type: '['}, "shell": {Type: '"', OneOf: []string{"bash", "powershell"}}, "onFailure": failure,
			"async": flag, "asyncRewake": flag, "holdsTools": flag, "rewakeMessage": filled, "rewakeSummary": filled, "cloud": {Type: '*'},
		}),
		RequestType: with(map[string]Kind{
			"url": {Type: '"', Required: true, URL: true}, "onFailure": failure, "headers": {Type: '{', Texts: true},
			"allowedEnvVars": {Type: '['}, "cloud": {Type: '*'},
		}),
		"mcp_tool": with(map[string]Kind{"server": needed, "tool": needed, "input": {Type: '{'}, "onFailure": {Type: '*'}}),
		"prompt":   with(map[string]Kind{"prompt": needed, "model": text, "continueOnBlock": flag}),
		"agent":    with(map[string]Kind{"prompt": needed, "model": text}),
	}
}

// codexEntries returns the fields of a hook's entry, by type of handler, in Codex 0.169.
func codexEntries() map[string]map[string]Kind {
	text, number, any := Kind{Type: '"'}, Kind{Type: '0'}, Kind{Type: '*'}
	return map[string]map[string]Kind{
		CommandType: {
			"command": {Type: '"', Required: true}, "commandWindows": text, "timeout": number, "async": {Type: 't'}, "statusMessage": text,
			"additionalContextLimit": number,
		},
		"mcp_tool": {"server": {Type: '"', Required: true}, "tool": {Type: '"', Required: true}, "input": any, "timeout": number,
			"statusMessage": text},
		"prompt": {"prompt": any, "model": any, "timeout": any, "statusMessage": any},
		"agent":  {"prompt": any, "model": any, "timeout": any, "statusMessage": any},
	}
}
