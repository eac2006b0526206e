package command

import (
	"io"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// readCall is a hook.Reader. Of a command that fsmtx itself does not have it knows what the rule about it needs.
func readCall(args []string) (call hook.Invocation, ok bool) {
	own := Program{Commands: Subcommands()}
	for i := range own.Commands {
		own.Commands[i].other = "" // the rules about a command hold where the other program runs it
	}
	if own.has(args) {
		none := terminal.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard,
			Getenv: func(string) (string, bool) { return "", false }}
		_, _, rest := findSubcommand(own.Commands, args)
		c := own.Root(args, none, new(error))
		if c.ParseFlags(rest) != nil {
			return call, false
		}
		call = hook.Invocation{Rule: ruleOf(c), Flags: c.Flags(), Args: c.Flags().Args()}
		if set := c.Flags().Lookup("set"); set != nil {
			values, _ := set.Value.(valuesFlag)
			call.Values = values
		}
		call.Fails = c.ValidateArgs(call.Args) != nil
		return call, true
	}
	names := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") }) // flags may come first
	for _, rule := range hook.Loosenings() {
		name := strings.Fields(rule.Command)
		if !slices.Equal(names[:min(len(names), len(name))], name) {
			continue
		}
		if call = (hook.Invocation{Rule: rule, Flags: rule.Read(args)}); call.Flags != nil {
			call.Args = call.Flags.Args()[len(name):]
		}
		return call, call.Flags != nil
	}
	return call, false
}
