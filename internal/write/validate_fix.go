package write

import (
	"io"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// repair writes the repaired file, unless the person who sees the change declines.
func (f validateFlags) repair(s terminal.Streams, v *validated) error {
	if v.spec != nil {
		return nil
	}
	fixed, done := Fix(v.data)
	if len(done) == 0 {
		return nil
	}
	out := s.Out
	if f.format.Value != "text" {
		out = s.Err
	}
	if err := printDiff(out, v.path, v.data, "fixed", fixed); err != nil {
		return err
	}
	if s.InputIsTerminal() && !install.NewPerson(terminal.Streams{In: s.In, Out: s.Err}).Agrees("Change "+v.path+"?", false) {
		return nil
	}
	if err := writeSpec(v.path, v.data, fixed); err != nil {
		return err
	}
	message.Fprintf(out, "%s: %s\n", v.path, strings.Join(done, "; "))
	*v = checkSpec(v.path, fixed)
	return nil
}

// printDiff prints the difference between the old and the new content of a file.
func printDiff(w io.Writer, path string, old []byte, what string, new []byte) error {
	name := message.Line(path)
	_, err := io.WriteString(w, message.Text(string(diff.Diff(name, old, name+" ("+what+")", new))))
	return err
}
