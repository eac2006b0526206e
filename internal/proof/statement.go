package proof

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/state"
)

// The types that an envelope names.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://github.com/fsmtx/fsmtx/attestation/run/v1"
	payloadType   = "application/vnd.in-toto+json"
)

// Names of the subject that binds a statement to a repository.
const (
	ofCommit = "commit"
	ofTree   = "tree"
)

// Statement is what an envelope carries.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"` // the commit or the tree, then the files that steps produced
	PredicateType string    `json:"predicateType"`
	Predicate     Run       `json:"predicate"`
}

// Subject is what a statement is about, with its digests in hexadecimal digits.
type Subject struct {
	Name   string `json:"name"` // "commit", "tree", or the path of a file, relative to Run.Project
	Digest Digest `json:"digest"`
}

// Digest has one digest.
type Digest struct {
	Commit string `json:"gitCommit,omitzero"`
	Tree   string `json:"gitTree,omitzero"`
	SHA256 string `json:"sha256,omitzero"`
}

// Run is what is on record of a workflow. No path in it is absolute.
type Run struct {
	ID      string    `json:"id"` // of its hydration: equal in every statement of this run
	Skill   string    `json:"skill"`
	Project string    `json:"project"` // directory of the project, relative to the repository's; "." if they are the same
	FSM     File      `json:"fsm"`     // the file with the steps
	Skillmd *File     `json:"skillmd,omitzero"`
	Fsmtx   string    `json:"fsmtx"` // its version
	Agent   Agent     `json:"agent"`
	Began   time.Time `json:"began"`
	BegunBy *Beginner `json:"begunBy,omitzero"` // none if it is not on record
	Ended   time.Time `json:"ended,omitzero"`   // zero if steps are open
	Tree    *Tree     `json:"tree,omitzero"`    // of a statement about a tree: what is in it
	Content *Content  `json:"content,omitzero"` // on what it began; none if that is not on record
	Lists   []Place   `json:"lists,omitempty"`  // in which it was, one after the other; none if it stayed in one

	Nested []Nested `json:"nested,omitempty"` // the workflows of other files under its steps

	Steps      []Step     `json:"steps"`      // in the order of the list, those of workflows under others too
	Overrides  []Override `json:"overrides"`  // what a person went past, allowed or took back
	Unenforced []Span     `json:"unenforced"` // times at which the steps were not enforced
	Evidence   Evidence   `json:"evidence"`
}

// File is a file of the repository.
type File struct {
	Path   string `json:"path"` // relative to the repository; empty if the file is not in it
	SHA256 string `json:"sha256"`
	Plan   bool   `json:"plan,omitzero"` // a plan: the digest is that of its text with every box empty
}

// Nested is a workflow under a step of another one.
type Nested struct {
	Skill string `json:"skill"`
	Under int64  `json:"under"` // number of the step that it is under
	FSM   File   `json:"fsm"`
}

// Agent is the agent that worked.
type Agent struct {
	Name    string `json:"name"`             // empty if it is not on record
	Version string `json:"version,omitzero"` // empty if it is not known
}

// Place is a list in which a run was.
type Place struct {
	List    string    `json:"list"` // its name
	Session string    `json:"session"`
	Agent   Agent     `json:"agent"` // the one by which it came there
	Began   time.Time `json:"began"` // when it came there
}

// Step is a step, and what was decided about it.
type Step struct {
	ID        int64      `json:"id"` // its number in the list
	Skill     string     `json:"skill,omitzero"`
	Under     int64      `json:"under,omitzero"` // number of the step that it is under
	Subject   string     `json:"subject"`        // with the names of values in braces
	State     string     `json:"state"`          // one of the states below
	Outcome   string     `json:"outcome,omitzero"`
	Rounds    int        `json:"rounds"`
	Earlier   bool       `json:"earlier,omitzero"` // others have come in its place; see state.State.IsEarlier
	Began     time.Time  `json:"began,omitzero"`
	Ended     time.Time  `json:"ended,omitzero"`
	Decisions []Decision `json:"decisions"`
}

// The states of a step.
const (
	isDone    = string(state.IsDone)
	notNeeded = string(state.IsNotNeeded)
	isSkipped = string(state.IsSkipped)
	isOpen    = "open" // every other state
	isGone    = string(state.IsGone)
)

// Decision is a decision about a step: a line of its evidence.
type Decision struct {
	Time     time.Time      `json:"time"`
	Round    int            `json:"round"`
	To       string         `json:"to,omitzero"` // the status that was asked for
	Decision string         `json:"decision"`
	Gate     string         `json:"gate,omitzero"`  // what refused or asked, or what was evaluated
	Why      string         `json:"why,omitzero"`   // in a word or a few, as that the check failed
	Times    int            `json:"times,omitzero"` // how often this was said in a row, from 2 on
	Outcome  string         `json:"outcome,omitzero"`
	Who      string         `json:"who"`
	How      string         `json:"how"`
	Young    bool           `json:"young,omitzero"`    // the terminal was opened after the session began
	Question string         `json:"question,omitzero"` // the words that the person was shown
	Answer   string         `json:"answer,omitzero"`   // of the person: yes, no or a choice
	Check    *Check         `json:"check,omitzero"`
	Tree     string         `json:"tree,omitzero"` // the work tree in which the gates looked, relative to Run.Project; empty for that
	Reopens  []int64        `json:"reopens,omitempty"`
	Skips    []int64        `json:"notNeeded,omitempty"`
	Same     []string       `json:"unchanged,omitempty"` // files that it had to produce, and that were as before
	Watched  *state.Watched `json:"watched,omitzero"`
	Content  *Content       `json:"content,omitzero"` // on what it stood; none if that is not on record
}

// Content is on what a decision stood: the files of the work tree, from before its command ran to after it.
type Content struct {
	Head    string   `json:"head,omitzero"`     // the commit of the work tree; empty if there was none
	Trees   []string `json:"trees,omitempty"`   // of the files as they were, those that differ, oldest first
	Differs []string `json:"differs,omitempty"` // paths in which these trees differ from that of the subject, at most maxDiffers
	More    int      `json:"more,omitzero"`     // how many others there are
	Unknown string   `json:"unknown,omitzero"`  // why all this is not known
}

// Beginner is who began a run, and by which way: prompt is a person's in the client, call one of the skill by the agent.
type Beginner struct {
	Who string `json:"who"`
	How string `json:"how"`
}

// Tree is what is in the tree that a statement is about: the files of a commit, but for these.
type Tree struct {
	Base  string   `json:"base"`
	Files []InTree `json:"files"`
}

// InTree is a file of a tree.
type InTree struct {
	Path   string `json:"path"`
	Mode   string `json:"mode"`   // in octal digits, 000000 if it is not there
	Object string `json:"object"` // the id of its content in git
}

// maxFiles limits Tree.Files.
const maxFiles = 10_000

// maxDiffers limits Content.Differs.
const maxDiffers = 100

// Check is a command that was run.
type Check struct {
	Run     string  `json:"run"`
	Exit    int     `json:"exit"` // -1 if it was stopped or could not be started
	Seconds float64 `json:"seconds"`
	SHA256  string  `json:"sha256"` // of what it printed
	Bytes   int64   `json:"bytes"`  // how much that was
}

// Override is a word of a person that went past, allowed or took back something.
type Override struct {
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"` // skip, done, reopen, end, allow, young or reload
	Step    int64     `json:"step"`
	Subject string    `json:"subject"`
	Because string    `json:"because"`
	Rule    string    `json:"rule,omitzero"`  // the rule of an allowed call
	Wrong   bool      `json:"wrong,omitzero"` // the person said that the refusal was wrong
	How     string    `json:"how"`

	NotNeeded []string `json:"notNeeded,omitempty"` // subjects of the steps that it made unnecessary
}

// Span is a time at which the steps were not enforced.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Why  string    `json:"why"`
}

// Evidence identifies the lines of evidence that the run was read from.
type Evidence struct {
	SHA256 string `json:"sha256"`
	Lines  int    `json:"lines"`
}

// strictly are the options with which a statement and its envelope are read. The library
// refuses duplicate names and text that is not UTF-8 by itself, and more than 10,000 levels.
var strictly = json.RejectUnknownMembers(true)

// newStatement returns the statement of a run about a commit, or a tree, and files.
func newStatement(what Subject, files []Subject, run Run) Statement {
	return Statement{statementType, append([]Subject{what}, files...), predicateType, run}
}

// encode returns the statement as JSON, the same for the same statement.
func (s Statement) encode() ([]byte, error) {
	return json.Marshal(s, json.FormatNilSliceAsNull(false), jsontext.WithIndent("  "))
}

// parseStatement parses and checks what an envelope carries.
func parseStatement(data []byte) (s Statement, err error) {
	if err := json.Unmarshal(data, &s, strictly); err != nil {
		return Statement{}, jsonx.Explain(data, err)
	}
	var members any
	if err := json.Unmarshal(data, &members); err != nil {
		return Statement{}, jsonx.Explain(data, err)
	}
	if name := lacks(members, reflect.TypeFor[Statement](), ""); name != "" {
		return Statement{}, fmt.Errorf("it has no member %s", name)
	}
	if err := s.check(); err != nil {
		return Statement{}, err
	}
	return s, nil
}

// lacks returns the path of a member that every value of a type has, and this one does not; empty if there is none.
func lacks(value any, t reflect.Type, path string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	elements, isList := value.([]any)
	for i := 0; isList && t.Kind() == reflect.Slice && i < len(elements); i++ {
		if name := lacks(elements[i], t.Elem(), fmt.Sprintf("%s.%d", path, i)); name != "" {
			return name
		}
	}
	members, isObject := value.(map[string]any)
	for i := 0; isObject && t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		member, has := members[name]
		if at := strings.TrimPrefix(path+"."+name, "."); !has && options == "" {
			return at
		} else if name := lacks(member, t.Field(i).Type, at); has && name != "" {
			return name
		}
	}
	return ""
}

func (s Statement) check() error {
	switch {
	case s.Type != statementType:
		return fmt.Errorf("_type is %q, want %q", s.Type, statementType)
	case s.PredicateType != predicateType:
		return fmt.Errorf("predicateType is %q, want %q", s.PredicateType, predicateType)
	case len(s.Subject) == 0:
		return fmt.Errorf("it has no subject")
	case s.Predicate.Skill == "" || len(s.Predicate.Steps) == 0:
		return fmt.Errorf("it names no skill, or no step")
	}
	what := s.Subject[0]
	switch ofCommit, ofTree := what == commitSubject(what.Digest.Commit), what == treeSubject(what.Digest.Tree); {
	case !ofCommit && !ofTree:
		return fmt.Errorf("its first subject is neither a commit nor a tree")
	case !isObject(what.Digest.Commit + what.Digest.Tree):
		return fmt.Errorf("the digest of its %s is not one of git", what.Name)
	}
	names := []string{s.Predicate.Project}
	for _, f := range s.Subject[1:] {
		if f != fileSubject(f.Name, f.Digest.SHA256) || slices.Contains(names[1:], f.Name) {
			return fmt.Errorf("the subject %q is not a file with a digest, or is named twice", f.Name)
		}
		names = append(names, f.Name)
	}
	for _, f := range s.Predicate.workflows() {
		if f.FSM.Path != "" {
			names = append(names, f.FSM.Path)
		}
	}
	for _, name := range names {
		if !isPath(name) {
			return fmt.Errorf("%q is not a path in the repository", name)
		}
	}
	if t := s.Predicate.Tree; t != nil {
		bad := func(f InTree) bool {
			return !isPath(f.Path) || !isObject(f.Object) || len(f.Mode) != 6 || strings.Trim(f.Mode, "01234567") != ""
		}
		if what.Name != ofTree || !isObject(t.Base) || slices.ContainsFunc(t.Files, bad) {
			return fmt.Errorf("its tree is not described by a commit and files")
		}
	}
	for _, c := range s.Predicate.contents() {
		ids := append([]string{}, c.Trees...)
		if c.Head != "" {
			ids = append(ids, c.Head)
		}
		if slices.ContainsFunc(ids, func(id string) bool { return !isObject(id) }) || (len(c.Trees) == 0) == (c.Unknown == "") {
			return fmt.Errorf("on what a decision stood is neither trees nor unknown")
		}
	}
	return nil
}

// contents returns on what the run began, and on what each decision stood.
func (r Run) contents() (all []*Content) {
	if r.Content != nil {
		all = append(all, r.Content)
	}
	for _, s := range r.Steps {
		for _, d := range s.Decisions {
			if d.Content != nil {
				all = append(all, d.Content)
			}
		}
	}
	return all
}

// workflows returns the workflow of the run and those under its steps.
func (r Run) workflows() []Nested {
	return append([]Nested{{Skill: r.Skill, FSM: r.FSM}}, r.Nested...)
}

// commitSubject returns the subject that is a commit.
func commitSubject(id string) Subject { return Subject{ofCommit, Digest{Commit: id}} }

// treeSubject returns the subject that is a tree.
func treeSubject(id string) Subject { return Subject{ofTree, Digest{Tree: id}} }

// fileSubject returns the subject that is a file.
func fileSubject(name, digest string) Subject { return Subject{name, Digest{SHA256: digest}} }

// isObject reports whether a text is the id of an object of git: SHA-1 or SHA-256.
func isObject(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
