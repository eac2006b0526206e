package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// imagined matches the names of variables that are widely believed to hold the event, or a part
// of it. No agent sets them: the event is on standard input. They were not found in the code of
// Claude Code 2.1.329, Codex 0.169 and Gemini CLI 0.61.
func imagined() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:CLAUDE|CODEX|GEMINI|LLXPRT)_(?:CODE_)?` +
		`(?:TOOL(?:_(?:INPUT|OUTPUT|RESULT|RESPONSE|ARGS|ARGUMENTS|PARAMS|NAME|CALL|TYPE|FILE|EXIT)(?:_[A-Za-z_]+)?)?|FILE(?:_?PATHS?|S)?|` +
		`FILE_?NAME|FILES_CHANGED|CHANGED_FILES?|MODIFIED_FILES?|EDITED_FILES?|COMMAND|BASH_COMMAND|HOOK_(?:INPUT|EVENT|EVENT_NAME|DATA|JSON|` +
		`PAYLOAD|STDIN|TYPE)|EVENT(?:_NAME|_DATA)?|` +
		`STDIN|INPUT|PROMPT|USER_PROMPT|USER_MESSAGE|MESSAGE|NOTIFICATION(?:_MESSAGE|_TYPE)?|TRANSCRIPT(?:_PATH)?|RESPONSE|` +
		`CWD|WORKING_DIR(?:ECTORY)?)` +
		`|STDIN_JSON|TOOL_(?:INPUT|OUTPUT|RESULT|RESPONSE|ARGS|PARAMS)(?:_[A-Za-z_]+)?|HOOK_(?:INPUT|JSON|PAYLOAD|STDIN|EVENT_DATA))$`)
}

// environment matches a variable of the environment in a line for another interpreter.
func environment() *regexp.Regexp {
	return regexp.MustCompile(`(?:process\.env\.|process\.env\[["']|environ\[["']|environ\.get\(["']|getenv\(["']|` +
		`\$env:|ENV\[["'])([A-Za-z_]+)`)
}

// unset reports variables that no agent sets. A variable that the command itself sets, or for
// which it has a default, is meant to be what it is.
func (f *file) unset(at jsontext.Pointer, h hooks.Hook) {
	var names []string
	add := func(name string) {
		_, isSet := h.Env[name]
		if imagined().MatchString(name) && !isSet && !f.setsVariable(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	script, err := shell.Parse(commandLine(h))
	if err == nil { // otherwise nothing is known of it
		for _, name := range script.Unset() {
			add(name)
		}
	}
	for _, m := range environment().FindAllStringSubmatch(strings.Join(append([]string{h.Command}, h.Args...), " "), -1) {
		add(m[1])
	}
	if len(names) == 0 {
		return
	}
	f.add(at, Warning, fmt.Sprintf("no agent sets $%s, which is empty: the event is a JSON object on standard input; "+
		"read it, for instance with jq",
		strings.Join(names, " or $")))
}

// commandLine returns the command of a hook as a line for a shell.
func commandLine(h hooks.Hook) string {
	if h.Args == nil {
		return h.Command
	}
	words := []string{shell.Quote(h.Command)}
	for _, arg := range h.Args {
		words = append(words, shell.Quote(arg))
	}
	return strings.Join(words, " ")
}

// setsVariable reports whether the settings set a variable of the environment.
func (f *file) setsVariable(name string) bool {
	o, _ := js.ParseObject(f.text)
	return o.Object("env").Has(name)
}
