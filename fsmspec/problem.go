package fsmspec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Error returns "line:column: message".
func (p Problem) Error() string { return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message) }

// Error returns one line for each problem: "line:column: message".
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

	omittedChange bool // whether an omitted finding changes the meaning
}

// finding is a problem without the name of its task: the task's id and subject may come
// later in the file.
type finding struct {
	at            int    // offset
	entry         *entry // the task, or nil
	effect        bool   // changesMeaning or keepsMeaning
	pointer, text string
}

// The values of finding.effect; see ChangesMeaning of Problem.
const (
	changesMeaning = true
	keepsMeaning   = false
)

// note adds a finding if there is room. It calls words only then: a file can have millions
// of mistakes, and making their messages is slow.
func (r *report) note(at int, e *entry, effect bool, words func() (pointer, text string)) {
	if len(r.findings) >= MaxProblems || r.room == 0 {
		r.omitted++
		r.omittedChange = r.omittedChange || effect
		return
	}
	pointer, text := words()
	r.room = max(0, r.room-len(pointer))
	r.findings = append(r.findings, finding{at, e, effect, pointer, text})
}

// add adds to the text of the findings at an offset.
func (r *report) add(at int, more string) {
	for i := range r.findings {
		if r.findings[i].at == at {
			r.findings[i].text += more
		}
	}
}

// list returns the findings as problems, in the order of the file. skipped, the length of a
// byte order mark before data, is added to their offsets.
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
		last.ChangesMeaning = r.omittedChange
		problems = append(problems, last)
	}
	return problems
}

// lazy is a part of a message that is computed only if the message is used.
type lazy func() string

func (text lazy) String() string { return text() }

// quoted returns text of the file for a message: shortened, quoted and on one line.
func quoted(text string) lazy {
	return func() string { return strconv.QuoteToGraphic(short(text)) }
}

// short cuts text after 40 characters, as many as a message should repeat.
func short(text string) string {
	return message.Clip(text, 40)
}

// taskName returns the name of a task in messages: task 3 ("Deploy").
func taskName(id int64, subject string) string {
	if subject == "" {
		return fmt.Sprintf("task %d", id)
	}
	return fmt.Sprintf("task %d (%s)", id, quoted(subject))
}

// didYouMean returns a hint with the word that was probably meant, "" if that is "".
func didYouMean(meant string) string {
	if meant == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", meant)
}

// fieldMeant returns the field that an unknown one probably means, checkMember if it belongs
// in the object of a check, or "" if there is none. It knows the names that other formats
// and the tools of task lists use.
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
	case "artefact", "artefacts", "artifact", "artifacts", "creates", "deliverable", "deliverables", "generates", "output", "outputs",
		"produced", "product", "products", "result", "results", "writes":
		return "produces"
	case "assert", "bash", "checkcommand", "cmd", "command", "ensure", "exec", "gate", "gates", "postcondition", "postconditions", "run",
		"script", "shell", "test", "tests",
		"validate", "validation", "verification", "verify":
		return "check"
	case "checkdir", "checkenv", "checktimeout", "cwd", "dir", "env", "timeout", "workdir":
		return checkMember
	case "approve", "approved", "approver", "ask", "askperson", "confirm", "confirmation", "consent", "humanapproval", "needsapproval",
		"question", "requireapproval", "requiresapproval", "signoff":
		return "approval"
	case "consumes", "input", "inputs", "precondition", "preconditions", "readyif", "readywhen", "requiredfiles", "requiresfiles", "uses":
		return "ready"
	default:
		return near(name, Fields())
	}
}

// flowMeant returns what to write instead of a name that is no field of a step, but would change the
// flow of a workflow with outcomes: a member in the wrong place, or what other languages call it. It
// returns "" if there is none. A plain array has no flow, and ignores such a field as any other.
func flowMeant(name string) string {
	switch fold(cut(name)) {
	case "back", "max", "stop", "then":
		return `it belongs in an outcome, as in "outcomes": {"changes": {"back": 1, "max": 3}}`
	case "catch", "continueonerror", "goto", "loop", "loopback", "maxrounds", "onerror", "onfail", "onfailure", "repeat", "retries", "retry",
		"until", "while":
		return `what leads back is an outcome, as in "outcomes": {"failed": {"back": 1, "max": 3}}`
	case "choice", "choices", "on", "optional", "transitions":
		return `name the ways in which the step can end, as in "outcomes": ["done", "no-need"]`
	case "cond", "condition", "conditions", "else", "elseif", "elsif", "guard", "if", "onlyif", "switch", "unless":
		return `name the outcomes of an earlier step for which this one is needed, as in "when": {"1": "major"}`
	case "foreach", "matrix", "strategy":
		return `write "each": {"lines": "packages.txt"}`
	case "inturn", "lines":
		return `it belongs in the object of "each"`
	case "steps", "substeps", "subtasks":
		return `write "do": […] for the steps that this one consists of`
	case "skill":
		return `write "do": "NAME" for a skill that has to be called`
	case "deadline", "timelimit", "timeoutminutes", "timeoutseconds":
		return `write "within": "30m"`
	case "var", "vars":
		return `it stands at the top of the file, beside "steps"`
	}
	return ""
}

// checkMember is returned by fieldMeant for a name that only a member of check has.
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
		return near(word, statuses)
	}
}

// cut limits the length of a word before it is compared. The known words are shorter, but
// the keys of a file can be very long.
func cut(word string) string { return word[:min(len(word), longestWord)] }

const longestWord = 32

// shortest is the length of words of which no other word counts as a misspelling.
const shortest = 3

// near returns the known word of which word is probably a misspelling or the beginning, or
// "". The longer both words are, the more wrong letters it allows, but at most two.
func near(word string, known []string) string {
	word = fold(cut(word))
	best, bestDistance := "", 3
	for _, k := range known {
		folded := fold(k)
		if len(folded) <= shortest && word != folded {
			continue // almost any short word is like it
		}
		limit := min(bestDistance, 1+min(len(word), len(folded))/3)
		if d := message.Distance(word, folded, limit); d < limit {
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

// fold removes differences of case and of word separators, so that blocked_by and blockedBy
// are equal.
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
