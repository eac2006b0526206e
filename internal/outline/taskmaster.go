package outline

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// TagError is returned by ReadTaskMaster when a file has several tags and none of them is the
// one that is asked for.
type TagError struct {
	Want string // "" if none was asked for
	Tags []string
}

func (e *TagError) Error() string {
	if e.Want == "" {
		return "the file has several tags: " + strings.Join(e.Tags, ", ")
	}
	return fmt.Sprintf("the file has no tag %q; its tags are %s", e.Want, strings.Join(e.Tags, ", "))
}

// task is a task or a subtask of task-master.
type task struct {
	ID           ref    `json:"id"`
	Title        string `json:"title"`
	Description  string `json:"description"`
	Details      string `json:"details"`
	TestStrategy string `json:"testStrategy"`
	Status       string `json:"status"`
	Dependencies []ref  `json:"dependencies"`
	Subtasks     []task `json:"subtasks"`

	at int // offset in the file
}

// UnmarshalJSONFrom also records where the task is.
func (t *task) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain task
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	at := int(dec.InputOffset()) - len(v)
	err = json.Unmarshal(v, (*plain)(t), jsonx.Tolerant)
	t.at = at
	shift(t.Subtasks, at)
	return err
}

// ref names a task: 3, "3", or "3.1" for the first subtask of task 3.
type ref string

// UnmarshalJSONFrom accepts a number or a string.
func (r *ref) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() == '"' {
		var text string
		err = json.Unmarshal(v, &text, jsonx.Tolerant)
		*r = ref(strings.TrimSpace(text))
		return err
	}
	if v.Kind() != '0' {
		return errors.New(jsonx.Got(v.Kind(), "a number or a string"))
	}
	*r = ref(v)
	return nil
}

// ReadTaskMaster returns the steps in a tasks.json of task-master, of the given tag; "" means
// master, or the only one. A subtask is a step of its own, before its task, which then waits for
// it; a subtask waits for what its task depends on, too. Cancelled tasks are left out.
//
// It returns *TagError, an error for two tasks with one id, or the mistake of a file that is not
// JSON or has no such tasks.
func ReadTaskMaster(data []byte, tag string) (Outline, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	tasks, err := tasksOf(data, tag)
	if err != nil {
		return Outline{}, err
	}
	c := conversion{lines: jsonx.NewIndex(data), numbers: map[ref]int64{}, cancelled: map[ref][]ref{}}
	if err := c.number(tasks); err != nil {
		return Outline{}, err
	}
	for _, t := range tasks {
		c.add(t)
	}
	c.out.What = "the tasks of task-master"
	return c.out, nil
}

// tasksOf returns the tasks of a tag. Before it had tags, task-master wrote one list.
func tasksOf(data []byte, tag string) (tasks []task, err error) {
	var file struct {
		Tasks []task `json:"tasks"`
	}
	if err := jsonx.Check(data, jsonx.Tolerant); err != nil {
		return nil, err
	}
	top, err := jsonx.Members(bytes.TrimSpace(data))
	if err != nil {
		err = json.Unmarshal(data, &tasks, jsonx.Tolerant) // the list alone, or a mistake
		return tasks, jsonx.Explain(data, err)
	}
	if isTask(bytes.TrimSpace(data)) {
		var one task
		err = json.Unmarshal(data, &one, jsonx.Tolerant)
		return []task{one}, jsonx.Explain(data, err)
	}
	if top["tasks"].Kind() == '[' {
		err = json.Unmarshal(data, &file, jsonx.Tolerant)
		return file.Tasks, jsonx.Explain(data, err)
	}
	var tags []string
	for name, v := range top {
		if v.Kind() == '{' && jsonx.Member(v, "tasks").Kind() == '[' {
			tags = append(tags, name)
		}
	}
	slices.Sort(tags)
	switch {
	case tag == "" && slices.Contains(tags, "master"):
		tag = "master"
	case tag == "" && len(tags) == 1:
		tag = tags[0]
	case !slices.Contains(tags, tag):
		return nil, &TagError{tag, tags}
	}
	all := map[string]jsontext.Value{}
	_ = json.Unmarshal(data, &all, jsonx.Tolerant)
	if err := json.Unmarshal(all[tag], &file, jsonx.Tolerant); err != nil {
		return nil, fmt.Errorf("tag %q: %w", tag, jsonx.Explain(all[tag], err))
	}
	shift(file.Tasks, max(0, bytes.Index(data, all[tag])))
	return file.Tasks, nil
}

// shift adds the offset of the value in which the tasks were found.
func shift(tasks []task, by int) {
	for i := range tasks {
		tasks[i].at += by
		shift(tasks[i].Subtasks, by)
	}
}

// conversion numbers the steps in their order.
type conversion struct {
	out       Outline
	lines     *jsonx.Index
	numbers   map[ref]int64 // by the name of the task, "3" or "3.1"
	cancelled map[ref][]ref // what cancelled tasks depended on
	next      int64
}

// number gives each task its number: subtasks before their task.
func (c *conversion) number(tasks []task) (err error) {
	seen := map[ref]bool{}
	give := func(name ref, t task, parent ref) {
		if seen[name] && err == nil {
			err = fmt.Errorf("%s: a second task has the id %s", c.lines.At(t.at), name)
		}
		seen[name] = true
		if isCancelled(t) {
			c.cancelled[name] = nil
			for _, d := range t.Dependencies {
				c.cancelled[name] = append(c.cancelled[name], resolved(d, parent, tasks))
			}
			return
		}
		c.next++
		c.numbers[name] = c.next
	}
	for _, t := range tasks {
		for _, sub := range t.Subtasks {
			if isCancelled(t) {
				sub.Status = t.Status
			}
			give(t.ID+"."+sub.last(), sub, t.ID)
		}
		give(t.ID, t, "")
	}
	return err
}

// last returns the id of a subtask without that of its task.
func (t task) last() ref {
	_, after, ok := strings.Cut(string(t.ID), ".")
	if ok {
		return ref(after)
	}
	return t.ID
}

func isCancelled(t task) bool { return t.Status == "cancelled" || t.Status == "canceled" }

// resolved returns the full name of a dependency: among subtasks a plain number is a sibling,
// if there is one.
func resolved(d, parent ref, tasks []task) ref {
	if parent == "" || strings.Contains(string(d), ".") {
		return d
	}
	for _, t := range tasks {
		if t.ID == parent && slices.ContainsFunc(t.Subtasks, func(sub task) bool { return sub.last() == d }) {
			return parent + "." + d
		}
	}
	return d
}

// add appends the steps of a task and its subtasks.
func (c *conversion) add(t task) {
	if isCancelled(t) {
		c.leaveOut(t)
		return
	}
	isOwn := func(n int64) bool {
		return slices.ContainsFunc(t.Subtasks, func(sub task) bool { return c.numbers[t.ID+"."+sub.last()] == n })
	}
	before := slices.DeleteFunc(c.waitsFor(t, t.ID, "", nil), isOwn) // it waits for its subtasks in any case
	var subtasks []int64
	for _, sub := range t.Subtasks {
		name := t.ID + "." + sub.last()
		if isCancelled(sub) {
			c.leaveOut(sub)
			continue
		}
		c.append(sub, name, unique(slices.Concat(c.waitsFor(sub, name, t.ID, []task{t}), before)))
		subtasks = append(subtasks, c.numbers[name])
	}
	c.append(t, t.ID, unique(slices.Concat(before, subtasks)))
}

// waitsFor returns the numbers of what the task depends on. A cancelled task counts as done, so
// what it depended on takes its place.
func (c *conversion) waitsFor(t task, name, parent ref, siblings []task) (numbers []int64) {
	seen := map[ref]bool{name: true}
	var follow func(d ref)
	follow = func(d ref) {
		if seen[d] {
			return
		}
		seen[d] = true
		if n, ok := c.numbers[d]; ok {
			numbers = append(numbers, n)
			return
		}
		before, known := c.cancelled[d]
		if !known {
			c.out.Left = append(c.out.Left, Left{Line: c.lines.At(t.at).Line, What: fmt.Sprintf("the dependency of %s on %s", name, d),
				Why: "there is no such task"})
		}
		for _, b := range before {
			follow(b)
		}
	}
	for _, d := range t.Dependencies {
		follow(resolved(d, parent, siblings))
	}
	return numbers
}

// leaveOut notes that a task is cancelled.
func (c *conversion) leaveOut(t task) {
	c.out.Left = append(c.out.Left, Left{Line: c.lines.At(t.at).Line,
		What: "task " + string(t.ID) + ": " + oneLine(t.Title), Why: "it is cancelled"})
}

func (c *conversion) append(t task, name ref, blockedBy []int64) {
	subject := oneLine(t.Title)
	if subject == "" {
		subject = "Task " + string(name)
	}
	var parts []string
	for _, part := range []string{t.Description, t.Details} {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	if test := strings.TrimSpace(t.TestStrategy); test != "" {
		parts = append(parts, "To test: "+test)
	}
	c.out.Steps = append(c.out.Steps, Step{ID: c.numbers[name], Subject: subject, Description: strings.Join(parts, "\n\n"),
		Status: statusOf(t.Status), BlockedBy: blockedBy,
		Line: c.lines.At(t.at).Line})
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// statusOf returns the status of a step. Blocked and deferred tasks are pending, because a
// workflow says by its dependencies what waits.
func statusOf(status string) string {
	switch strings.ReplaceAll(status, "_", "-") {
	case "done", "completed":
		return "completed"
	case "in-progress", "review":
		return "in_progress"
	}
	return ""
}

func unique(numbers []int64) []int64 {
	slices.Sort(numbers)
	return slices.Compact(numbers)
}
