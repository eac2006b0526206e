package write

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// checkCommands reports commands that are no shell, and warns of those that cannot run here, of checks whose status does not say
// that they have failed, and of files whose names none can have here.
func (v *validated) checkCommands() {
	if v.spec == nil && !jsontext.Value(v.data).IsValid() {
		return
	}
	var commands []string
	if v.spec != nil {
		for _, c := range checksOf(*v) {
			commands = append(commands, c.Run)
		}
	}
	var problems []fsmspec.Problem
	wrong := false
	for _, c := range commandsIn(v.data, v.data, "", 0, "") {
		if c.isFile {
			if err := safefile.CheckNames(c.text); err != nil {
				c.Message, c.Warning = err.Error()+": "+message.Hint(err), true
				problems = append(problems, c.Problem)
			}
			continue
		}
		if v.spec != nil && !slices.Contains(commands, c.text) { // of a file with another mistake, each that is named like one
			continue
		}
		fault, isCheck := "", strings.Contains(c.Pointer, "/check")
		if c.shell != fsmspec.PowerShell {
			fault = shell.Fault(c.text)
		}
		shown, none := "`"+message.Clip(message.Words(c.text), message.MaxSubject)+"`", hydrate.NoShell(c.shell)
		switch {
		case fault != "":
			c.Message, wrong = fmt.Sprintf("the command %s cannot run: %s", shown, fault), true
		case none != nil:
			c.Message, c.Warning = fmt.Sprintf("the command %s cannot run on this machine: %v", shown, none), true
		case isCheck && hides(c) != "":
			c.Message, c.Warning = fmt.Sprintf("the check %s: %s", shown, hides(c)), true
		default:
			continue
		}
		problems = append(problems, c.Problem)
	}
	if v.problems = inOrder(v.problems, problems); wrong {
		v.spec = nil
	}
}

// ofFiles matches the pointer of a member that names a file.
var ofFiles = regexp.MustCompile(`/((produces|ready)(/[0-9]+)?|lines)$`)

// hides returns why the status of a check says nothing, or "".
func hides(c commandAt) string {
	if c.shell != fsmspec.PowerShell {
		return shell.Hides(c.text)
	}
	return shell.HidesInPowerShell(c.text)
}

// commandAt is where a file has a command, or the name of a file.
type commandAt struct {
	fsmspec.Problem
	text, shell string
	isFile      bool
}

// commandsIn returns the texts that are commands or files by the names of their members, with their places: in a value that has a
// pointer and begins at an offset of the file. inShell is the shell of those that name none.
func commandsIn(file []byte, value jsontext.Value, pointer string, offset int, inShell string) (all []commandAt) {
	i := 0
	if value.Kind() == '{' {
		inShell = cmp.Or(jsonx.StringMember(value, "shell"), inShell)
	}
	for p := range jsonx.Parts(value) {
		name := cmp.Or(p.Name, strconv.Itoa(i))
		below, at := pointer+"/"+name, offset+p.Offset
		i++
		text, isText := jsonx.String(p.Value)
		switch kind := p.Value.Kind(); {
		case kind == '{' || kind == '[':
			all = append(all, commandsIn(file, p.Value, below, at, inShell)...)
		case isText && (name == "check" || name == "run" || ofFiles.MatchString(below)):
			start := jsonx.PositionAt(file, at)
			all = append(all, commandAt{fsmspec.Problem{Line: start.Line, Column: start.Column, Offset: int64(at), Pointer: below}, text, inShell,
				ofFiles.MatchString(below)})
		}
	}
	return all
}
