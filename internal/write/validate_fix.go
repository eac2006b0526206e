package write

import (
	"bufio"
	"io"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

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
	out := f.reportTo(s)
	if err := printDiff(out, v.path, v.data, "fixed", fixed); err != nil {
		return err
	}
	if s.InputIsTerminal() && !agrees(s, "Change "+v.path+"?") {
		return nil
	}
	if err := writeSpec(v.path, v.data, fixed); err != nil {
		return err
	}
	message.Fprintf(out, "%s: %s\n", v.path, strings.Join(done, "; "))
	*v = checkSpec(v.path, fixed)
	return nil
}

// reportTo returns where the changes are printed.
func (f validateFlags) reportTo(s terminal.Streams) io.Writer {
	if f.format.Value != "text" {
		return s.Err
	}
	return s.Out
}

// printDiff prints the difference between the old and the new content of a file.
func printDiff(w io.Writer, path string, old []byte, what string, new []byte) error {
	name := message.Line(path)
	_, err := io.WriteString(w, message.Text(string(diff.Diff(name, old, name+" ("+what+")", new))))
	return err
}

// agrees asks the person at the terminal and reports whether the answer is yes.
func agrees(s terminal.Streams, question string) bool {
	message.Fprintf(s.Err, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(s.In).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
