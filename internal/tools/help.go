package tools

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// maxHelp is the largest width of help, in columns: wider text is hard to read.
const maxHelp = 100

// wrapHelp makes the help of a command and of its subcommands fit the terminal. Without a
// terminal and without COLUMNS the help is not wrapped.
func wrapHelp(s terminal.Streams, c *cobra.Command, misused *error) {
	addExitCodes(c)
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if c.HasSubCommands() && c.Flags().NArg() > 0 { // fsmtx nonsense --help
			*misused = command.NoSuchCommand(c, c.Flags().Args())
			return
		}
		var text strings.Builder
		if c.Long != "" {
			fmt.Fprintf(&text, "%s\n\n", strings.TrimSpace(c.Long))
		} else if c.Short != "" {
			fmt.Fprintf(&text, "%s\n\n", c.Short)
		}
		text.WriteString(c.UsageString())
		out := c.OutOrStdout()
		if width := s.Limit(out); width < math.MaxInt {
			_, _ = io.WriteString(out, wrapped(text.String(), min(width, maxHelp)))
			return
		}
		_, _ = io.WriteString(out, text.String())
	})
}

// addExitCodes adds to the help of a command and of its subcommands what their exit codes are.
func addExitCodes(c *cobra.Command) {
	c.Long = withExitCodes(c)
	for _, sub := range c.Commands() {
		addExitCodes(sub)
	}
}

// withExitCodes returns the long help of a command with what it does not itself say of the exit codes, where it speaks of them.
func withExitCodes(c *cobra.Command) string {
	text := strings.TrimSpace(cmp.Or(c.Long, c.Short+"."))
	words, at := strings.Join(strings.Fields(text), " "), strings.LastIndex(text, "xit code")
	switch {
	case strings.Contains(words, "wrong command line"), strings.Contains(words, "command line is wrong"):
		return c.Long
	case at < 0:
		return text + "\n\nThe exit code is 0, 1 if the command fails or its answer is no, and 2 for a wrong command line."
	}
	paragraph, _, _ := strings.Cut(text[at:], "\n\n")
	return text[:at] + paragraph + "\nFor a wrong command line it is 2." + text[at+len(paragraph):]
}

// wrapped wraps a text at width columns. It fills each paragraph again. In tables and
// examples, whose lines are indented, it joins only lines that continue the text of a row.
func wrapped(text string, width int) string {
	var out strings.Builder
	var open row
	flush := func() {
		out.WriteString(open.lines(width))
		open = row{}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		next := newRow(line)
		switch {
		case line == "":
			flush()
			out.WriteString("\n")
		case open.text != "" && (open.term != "" || open.indent == 0) && next.term == "" && next.indent == open.column():
			open.text += " " + next.text
		default:
			flush()
			open = next
		}
	}
	flush()
	return out.String()
}

// row is a paragraph, or a row of a table with a term and a text beside it.
type row struct {
	indent int
	term   string // with the gap behind it; empty if there is none
	text   string
}

func newRow(line string) row {
	text := strings.TrimLeft(line, " ")
	r := row{indent: len(line) - len(text), text: text}
	if _, rest, found := strings.Cut(text, "  "); found && r.indent > 0 {
		r.text = strings.TrimLeft(rest, " ")
		r.term = text[:len(text)-len(r.text)]
	}
	return r
}

// column returns the column in which the text begins.
func (r row) column() int { return r.indent + terminal.Width(r.term) }

// lines returns the row wrapped at width columns. A term that leaves too little room for
// the text is put on a line of its own.
func (r row) lines(width int) string {
	if r.text == "" {
		return ""
	}
	const least = 20 // columns for the text beside a term
	mark := ""       // of a further line
	switch {
	case strings.HasPrefix(r.text, "# "): // the comment of an example
		mark = "# "
	case r.indent > 0 && strings.HasPrefix(r.text, "fsmtx "): // an example
		mark = "    "
	}
	head, column := strings.Repeat(" ", r.indent)+r.term, r.column()
	if r.term != "" && width-column-len(mark) < least && column+terminal.Width(r.text) > width {
		column = r.indent + 4
		head = strings.TrimRight(head, " ") + "\n" + strings.Repeat(" ", column)
	}
	begin := strings.Repeat(" ", column) + mark
	return head + strings.Join(terminal.Wrap(r.text, max(least, width-terminal.Width(begin))), "\n"+begin) + "\n"
}
