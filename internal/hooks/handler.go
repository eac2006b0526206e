package hooks

import (
	"cmp"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
)

// refusal returns why this runtime does not run a hook, "" if it does.
func (r runner) refusal(h Hook, stdin []byte) string {
	switch h.Type {
	case dialect.CommandType:
		return cmp.Or(Refusal(r.dialect, h), h.unsetOption(r.dialect))
	case dialect.RequestType:
		if !r.dialect.Hooks.Requests {
			break
		}
		if _, err := exec.LookPath("curl"); err != nil {
			return "an http hook is sent by curl, which is not installed; it would have sent the event to " + h.Target
		}
		return ""
	case "prompt", "agent":
		return fmt.Sprintf("a hook of type %s asks a model, and there is none here; it would have been asked: %s", h.Type, promptWithEvent(h.Target, stdin))
	case "mcp_tool":
		return fmt.Sprintf("unsupported handler: a hook of type mcp_tool calls a tool of an MCP server, and none runs here; it would have called %s with %s", h.Target, stdin)
	}
	return fmt.Sprintf("unsupported handler: this runtime runs hooks of type command only, not %q", h.Type)
}

// promptWithEvent returns the prompt of a hook with the event in place of $ARGUMENTS, or at
// its end.
func promptWithEvent(prompt string, event []byte) string {
	if strings.Contains(prompt, "$ARGUMENTS") {
		return strings.ReplaceAll(prompt, "$ARGUMENTS", string(event))
	}
	return prompt + "\n\n" + string(event)
}

// Refusal returns why the agent does not run the command of a hook, "" if it does: the command
// uses a variable of plugins outside a plugin, or an option of the plugin that a shell would
// interpret.
func Refusal(d dialect.Dialect, h Hook) string {
	return cmp.Or(unsetBraces(d, h), h.unsafeOption(d))
}

func unsetBraces(d dialect.Dialect, h Hook) string {
	if !d.Hooks.NoUnsetBraces || h.Root != "" {
		return ""
	}
	for _, v := range d.Hooks.Variables {
		if v.Value == dialect.ValuePluginRoot && strings.Contains(strings.Join(append([]string{h.Command}, h.Args...), " "), "${"+v.Name+"}") {
			return fmt.Sprintf("${%s} is set only for hooks of plugins; %s does not run the hook", v.Name, d.Title)
		}
	}
	return ""
}

// request returns the process that sends the event of an http hook. curl reads its options
// from standard input: other users can see a command line, and headers may be secret.
func (r runner) request(f firing, h Hook, body []byte) process.Command {
	var config strings.Builder
	option := func(name, value string) {
		fmt.Fprintf(&config, "%s = %s\n", name, quoteForCurl(value))
	}
	option("url", h.Target)
	option("header", "Content-Type: application/json")
	option("header", "Expect:")
	for name, value := range h.Headers.All() {
		text, _ := js.String(value)
		option("header", name+": "+r.expandHeader(text, h.AllowedEnv))
	}
	option("write-out", "\n%{http_code}")
	option("data-raw", strings.TrimRight(string(body), "\n"))
	return process.Command{
		Args: []string{"curl", "--disable", "--globoff", "--silent", "--show-error", "--config", "-"}, Dir: f.session.Cwd, Env: r.environ,
		Stdin: []byte(config.String()), Timeout: h.Timeout,
	}
}

// quoteForCurl quotes the value of an option in curl's configuration format. It has an escape
// for the characters that end a value or a line, and reads all others as they are.
func quoteForCurl(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`).Replace(value) + `"`
}

// variable matches a variable in a header of a request.
func variable() *regexp.Regexp { return regexp.MustCompile(`\$\{(\w+)\}|\$(\w+)`) }

// expandHeader returns a header with the values of its variables. A variable that is not
// allowed is empty.
func (r runner) expandHeader(text string, allowed []string) string {
	return variable().ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, "${}")
		if !slices.Contains(allowed, name) {
			return ""
		}
		value := ""
		for _, v := range r.environ {
			if rest, ok := strings.CutPrefix(v, name+"="); ok {
				value = rest
			}
		}
		return value
	})
}

// responseOutcome turns the outcome of curl into that of a command whose standard output is
// the body. A status that is not 2xx is a failure, and the body is ignored.
func responseOutcome(o process.Outcome) process.Outcome {
	if o.Err != nil || !o.Exited(0) {
		if o.Err == nil {
			o.Err = fmt.Errorf("of type http failed: %s", strings.TrimSpace(o.Stderr))
		}
		return o
	}
	at := strings.LastIndexByte(o.Stdout, '\n')
	status := o.Stdout[at+1:]
	o.Stdout = strings.TrimRight(o.Stdout[:max(at, 0)], "\n")
	if !strings.HasPrefix(status, "2") {
		o.Err = fmt.Errorf("of type http failed: the server answered with status %s", status)
	}
	return o
}
