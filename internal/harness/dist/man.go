package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/tools"
)

// manualPages returns a page for each command that people can see: fsmtx.1,
// fsmtx-validate.1 and so on.
//
// cobra's own generator takes help texts for Markdown: it fills their tables like
// paragraphs, and loses what stands between "<" and ">" or two "*".
func manualPages(version string, date time.Time) (pages []file) {
	var visit func(c *cobra.Command, path string)
	visit = func(c *cobra.Command, path string) {
		name := strings.ReplaceAll(path, " ", "-")
		p := page{name: name, command: path}
		p.line(`.TH %s 1 %s %s "fsmtx Manual"`, quoted(strings.ToUpper(name)), quoted(date.Format(time.DateOnly)), quoted("fsmtx "+version))
		p.line(".nh\n.ad l") // a hyphen or a wide space in an option or a path would be wrong
		p.write(c)
		pages = append(pages, file{name + ".1", 0o644, []byte(p.String())})
		for _, sub := range visible(c) {
			visit(sub, path+" "+sub.Name())
		}
	}
	visit(tools.Tree(), "fsmtx")
	return pages
}

// visible returns the commands below c that have a page.
func visible(c *cobra.Command) (subs []*cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			subs = append(subs, sub)
		}
	}
	return subs
}

// page is a manual page in the man macros of roff.
type page struct {
	strings.Builder
	name    string // of the page: fsmtx-hooks-fire
	command string // fsmtx hooks fire
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) write(c *cobra.Command) {
	p.line(".SH NAME\n%s \\- %s", escaped(p.name), escaped(c.Short))
	p.line(".SH SYNOPSIS")
	if c.Runnable() {
		p.line(".B %s", escaped(p.command+strings.TrimPrefix(c.UseLine(), c.CommandPath())))
	}
	if subs := visible(c); len(subs) > 0 {
		p.line(".br\n.B %s", escaped(p.command+" COMMAND"))
	}
	p.line(".SH DESCRIPTION")
	p.text(strings.TrimSpace(c.Long + "\n"))
	if c.Long == "" {
		p.line("%s.", escaped(c.Short))
	}
	p.commands(c)
	p.options(c)
	p.line(".SH EXAMPLES")
	p.verbatim(strings.Split(strings.Trim(c.Example, "\n"), "\n"))
	p.seeAlso(c)
}

// text writes a help text. Paragraphs are filled; indented lines (tables and examples) are
// kept.
func (p *page) text(text string) {
	var table []string
	flush := func() {
		if table != nil {
			p.verbatim(table)
		}
		table = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, " "):
			table = append(table, line)
		case line == "" && table != nil:
			table = append(table, "")
		case line == "":
			p.line(".PP")
		default:
			flush()
			p.line("%s", escaped(line))
		}
	}
	flush()
}

func (p *page) verbatim(lines []string) {
	p.line(".PP\n.nf")
	for _, line := range lines {
		p.line("%s", escaped(line))
	}
	p.line(".fi\n.PP")
}

func (p *page) commands(c *cobra.Command) {
	subs := visible(c)
	if len(subs) == 0 {
		return
	}
	p.line(".SH COMMANDS")
	for _, sub := range subs {
		p.line(".TP\n.BR %s (1)\n%s", escaped(p.name+"-"+sub.Name()), escaped(sub.Short))
	}
}

func (p *page) options(c *cobra.Command) {
	c.InitDefaultHelpFlag()
	p.line(".SH OPTIONS")
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + value
		}
		if f.Name == "help" {
			usage = "print the help of this command"
		}
		p.line(".TP\n.B %s\n%s", escaped(name), escaped(usage+standard(f)))
	})
}

// standard returns the default of an option as text, "" if it has none.
func standard(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return ""
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}

func (p *page) seeAlso(c *cobra.Command) {
	var others []string
	if i := strings.LastIndexByte(p.command, ' '); i > 0 {
		others = append(others, strings.ReplaceAll(p.command[:i], " ", "-"))
	}
	for _, sub := range visible(c) {
		others = append(others, p.name+"-"+sub.Name())
	}
	p.line(".SH SEE ALSO")
	for i, other := range others {
		comma := ","
		if i == len(others)-1 {
			comma = ""
		}
		p.line(".BR %s (1)%s", escaped(other), comma)
	}
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
