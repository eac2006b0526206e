package fsmspec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/spelling"
)

// Error returns "line:column: message".
func (p Problem) Error() string { return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message) }

// Error returns every problem on a line of its own, as "line:column: message".
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems, each as a Problem.
func (e *InvalidError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// report collects problems while a file is read.
type report struct {
	findings []finding
	room     int // bytes left for pointers, which can be as long as the file; texts are short
	omitted  int
	unheard  bool // one of those omitted changes the meaning
}

// finding is a problem whose message does not name the task yet: its id and subject
// may come later in the file.
type finding struct {
	at            int    // offset
	entry         *entry // the task it belongs to, or nil
	effect        bool   // whether it changes the meaning
	pointer, text string
}

// What a finding does to the meaning of the file.
const (
	changesMeaning = true
	keepsMeaning   = false
)

// note adds a finding if there is room. words is called only then, because a file can
// hold millions of mistakes and putting them into words is slow.
func (r *report) note(at int, e *entry, effect bool, words func() (pointer, text string)) {
	if len(r.findings) >= MaxProblems || r.room == 0 {
		r.omitted++
		r.unheard = r.unheard || effect
		return
	}
	pointer, text := words()
	r.room = max(0, r.room-len(pointer))
	r.findings = append(r.findings, finding{at, e, effect, pointer, text})
}

// list returns the findings in the order of the file. skipped is added to their offsets.
func (r *report) list(data []byte, skipped int, warning bool) []Problem {
	if len(r.findings) == 0 {
		return nil
	}
	slices.SortStableFunc(r.findings, func(a, b finding) int { return cmp.Compare(a.at, b.at) })
	positions := jsonx.NewIndex(data)
	var problems []Problem
	for _, f := range r.findings {
		text := f.text
		if f.entry != nil {
			text = f.entry.name() + ": " + text
		}
		at := positions.At(f.at)
		problems = append(problems, Problem{at.Line, at.Column, int64(skipped + f.at), f.pointer, text, warning, f.effect})
	}
	if r.omitted > 0 {
		last := problems[len(problems)-1]
		last.Pointer, last.Message = "", fmt.Sprintf("and %d more, which are not listed", r.omitted)
		last.ChangesMeaning = r.unheard
		problems = append(problems, last)
	}
	return problems
}

// lazy is a part of a message that is made only if the message is.
type lazy func() string

func (text lazy) String() string { return text() }

// quoted shortens text of the file for a message, and quotes it on one line.
func quoted(text string) lazy {
	return func() string { return strconv.QuoteToGraphic(short(text)) }
}

// short cuts text after as many characters as a message should repeat.
func short(text string) string {
	const longest = 40
	n := 0
	for i := range text {
		if n == longest {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// taskName is what messages call a task: task 3 ("Deploy").
func taskName(id int64, subject string) string {
	if subject == "" {
		return fmt.Sprintf("task %d", id)
	}
	return fmt.Sprintf("task %d (%s)", id, quoted(subject))
}

// didYouMean is the hint for a word that was probably meant, "" if there is none.
func didYouMean(meant string) string {
	if meant == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", meant)
}

// fieldMeant returns the field that an unknown one is probably meant to be, or "". It
// knows what other formats and the client's own tools call such a field.
func fieldMeant(name string) string {
	switch fold(cut(name)) {
	case "identifier", "localid", "taskid":
		return "id"
	case "content", "heading", "name", "summary", "task", "tasksubject", "title":
		return "subject"
	case "body", "detail", "details", "instruction", "instructions", "prompt", "taskdescription", "text":
		return "description"
	case "agent", "assigned", "assignedto", "assignee":
		return "owner"
	case "complete", "completed", "done", "finished", "state":
		return "status"
	case "addblocks", "before", "blocking", "dependents", "next", "precedes", "requiredby", "successors", "unblocks":
		return "blocks"
	case "addblockedby", "after", "blocked", "blocker", "blockers", "dependencies", "dependency", "depends", "dependson",
		"deps", "needs", "predecessors", "prerequisite", "prerequisites", "required", "requires", "waitfor", "waitsfor":
		return "blockedBy"
	case "artefact", "artefacts", "artifact", "artifacts", "creates", "deliverable", "deliverables", "generates", "output", "outputs", "produced", "product", "products", "result", "results", "writes":
		return "produces"
	case "assert", "bash", "checkcommand", "cmd", "command", "ensure", "exec", "gate", "gates", "postcondition", "postconditions", "run", "script", "shell", "test", "tests",
		"validate", "validation", "verification", "verify":
		return "check"
	case "checkdir", "checktimeout", "cwd", "dir", "timeout", "workdir":
		return checkMember
	case "approve", "approved", "approver", "ask", "askperson", "confirm", "confirmation", "consent", "humanapproval", "needsapproval", "question", "requireapproval", "requiresapproval", "signoff":
		return "approval"
	case "consumes", "input", "inputs", "precondition", "preconditions", "readyif", "readywhen", "requiredfiles", "requiresfiles", "uses":
		return "ready"
	default:
		return near(name, fieldNames)
	}
}

// checkMember is what fieldMeant returns for a field that is a member of check.
const checkMember = "check.member"

// statusMeant returns the word for a status that another word probably means, or "".
func statusMeant(word string) string {
	switch fold(cut(word)) {
	case "blocked", "new", "notstarted", "open", "ready", "todo", "waiting":
		return Pending.String()
	case "active", "doing", "ongoing", "running", "started", "wip":
		return InProgress.String()
	case "closed", "done", "finished", "resolved":
		return Completed.String()
	default:
		return near(word, statuses.words)
	}
}

// cut returns as much of a word as is compared. The known words are shorter, but the
// keys of a file can be very long.
func cut(word string) string { return word[:min(len(word), longestWord)] }

const longestWord = 32

// near returns the known word that word is probably a misspelling or the beginning
// of, or "". The longer both are, the more slips it allows, but at most two.
func near(word string, known []string) string {
	word = fold(cut(word))
	best, bestDistance := "", 3
	for _, k := range known {
		folded := fold(k)
		limit := min(bestDistance, 1+min(len(word), len(folded))/3)
		if d := spelling.Distance(word, folded, limit); d < limit {
			best, bestDistance = k, d
		}
	}
	if best != "" || len(word) < 4 {
		return best
	}
	for _, k := range known {
		if strings.HasPrefix(fold(k), word) {
			return k
		}
	}
	return ""
}

// fold removes what different spellings of one name differ in: case and word breaks.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', ' ':
			return -1
		default:
			return unicode.ToLower(r)
		}
	}, word)
}
