package hooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

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
		text, _ := jsonx.String(value)
		option("header", name+": "+r.expandHeader(text, h.AllowedEnv))
	}
	option("write-out", "\n%{http_code}")
	option("data-raw", strings.TrimRight(string(body), "\n"))
	return process.Command{
		Args: []string{"curl", "--disable", "--globoff", "--silent", "--show-error",
			"--proto", "=http,https", "--config", "-"}, Dir: f.session.Cwd, Env: r.environ,
		Stdin: []byte(config.String()), Timeout: h.Timeout,
	}
}

// quoteForCurl quotes the value of an option in curl's configuration format. The format has
// escapes for these six characters, and curl reads all others as they are (man curl, --config).
func quoteForCurl(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`).Replace(value) + `"`
}

// variable matches a variable in a header of a request.
func variable() *regexp.Regexp {
	return regexp.MustCompile(`\$\{([A-Z_][A-Z0-9_]*)\}|\$([A-Z_][A-Z0-9_]*)`)
}

// expandHeader returns a header with the values of its variables. A variable that is not
// allowed is empty.
func (r runner) expandHeader(text string, allowed []string) string {
	return variable().ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, "${}")
		if !slices.Contains(allowed, name) || r.requests.Env != nil && !slices.Contains(r.requests.Env, name) {
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
	at := strings.LastIndexByte(o.Stdout, '\n')
	if o.Err != nil || !o.Exited(0) {
		if o.Err == nil {
			o.Err = fmt.Errorf("of type http failed: %s", strings.TrimSpace(o.Stderr))
			o.Stderr, o.Stdout = "", o.Stdout[:max(at, 0)] // the error has it, and there is no status
		}
		return o
	}
	if slices.Contains(o.Truncated, "stdout") { // the status, which curl prints last, is lost
		o.Err = fmt.Errorf("of type http failed: the answer is longer than %d MiB", process.MaxStream>>20)
		o.Stdout = ""
		return o
	}
	status := o.Stdout[at+1:]
	o.Stdout = strings.TrimRight(o.Stdout[:max(at, 0)], "\n")
	if !strings.HasPrefix(status, "2") {
		o.Err = fmt.Errorf("of type http failed: the server answered with status %s", status)
	}
	return o
}
