package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// manualPages returns a page for each command that people can see: fsmtx.1,
// fsmtx-validate.1 and so on. It has what --help prints, line by line.
func manualPages(version string, date time.Time) (pages []file, err error) {
	var visit func(c *cobra.Command, words []string) error
	visit = func(c *cobra.Command, words []string) error {
		help, err := printed(append(words[1:], "--help")...)
		if err != nil {
			return err
		}
		name := strings.Join(words, "-")
		var p strings.Builder
		fmt.Fprintf(&p, ".TH %s 1 %s %s \"fsmtx Manual\"\n.nh\n", quoted(strings.ToUpper(name)), quoted(date.Format(time.DateOnly)),
			quoted("fsmtx "+version))
		fmt.Fprintf(&p, ".SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n", escaped(name), escaped(c.Short))
		for line := range strings.Lines(help) {
			p.WriteString(escaped(strings.TrimRight(line, "\n")) + "\n")
		}
		p.WriteString(".fi\n.SH SEE ALSO\n")
		if len(words) > 1 {
			fmt.Fprintf(&p, ".BR %s (1)\n", escaped(strings.Join(words[:len(words)-1], "-")))
		}
		for _, sub := range visible(c) {
			fmt.Fprintf(&p, ".BR %s (1)\n", escaped(name+"-"+sub.Name()))
		}
		pages = append(pages, file{name + ".1", 0o644, []byte(p.String())})
		for _, sub := range visible(c) {
			if err := visit(sub, append(words[:len(words):len(words)], sub.Name())); err != nil {
				return err
			}
		}
		return nil
	}
	err = visit(tools.Tree(), []string{"fsmtx"})
	return pages, err
}

// printed returns what the program prints.
func printed(args ...string) (string, error) {
	var out, trouble bytes.Buffer
	if tools.Main(args, terminal.Streams{Out: &out, Err: &trouble, Getenv: noVariable}) != 0 {
		return "", fmt.Errorf("%s: %s", strings.Join(args, " "), trouble.String())
	}
	return out.String(), nil
}

func noVariable(string) (string, bool) { return "", false }

// visible returns the commands below c that have a page.
func visible(c *cobra.Command) (subs []*cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			subs = append(subs, sub)
		}
	}
	return subs
}

// escaped returns a line that roff prints unchanged: "-" stays the character that people
// type, and nothing is read as a request.
func escaped(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	var ascii strings.Builder // troff reads bytes
	for _, r := range line {
		if r < utf8.RuneSelf {
			ascii.WriteRune(r)
		} else {
			fmt.Fprintf(&ascii, `\[u%04X]`, r)
		}
	}
	return ascii.String()
}

func quoted(text string) string { return `"` + escaped(text) + `"` }
