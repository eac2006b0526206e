package demo

import (
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// drawTree draws each task once, below one of the tasks that block it, and names the
// others beside it.
func drawTree(tasks []tasks.Task) string {
	if len(tasks) == 0 {
		return "(no tasks)\n"
	}
	t := &tree{tasks: tasks, drawn: map[string]bool{}}
	for _, task := range tasks {
		if t.parent(task) == "" {
			t.draw(task, "", "")
		}
	}
	for _, task := range tasks { // tasks in a dependency cycle have no root
		t.draw(task, "", "")
	}
	return t.String()
}

type tree struct {
	strings.Builder
	tasks []tasks.Task
	drawn map[string]bool
}

// parent returns the last blocker that is in the list, "" if there is none.
func (t *tree) parent(task tasks.Task) string {
	for _, id := range slices.Backward(task.BlockedBy) {
		if id != task.ID && slices.ContainsFunc(t.tasks, func(other tasks.Task) bool { return other.ID == id }) {
			return id
		}
	}
	return ""
}

// draw draws a task and the tasks below it. branch starts the task's own line, indent
// the lines below it.
func (t *tree) draw(task tasks.Task, branch, indent string) {
	if t.drawn[task.ID] {
		return
	}
	t.drawn[task.ID] = true
	visible.Fprintf(t, "%s#%s [%s] %s%s\n", branch, task.ID, task.Status, task.Subject, t.others(task))
	var children []tasks.Task
	for _, other := range t.tasks {
		if t.parent(other) == task.ID && !t.drawn[other.ID] {
			children = append(children, other)
		}
	}
	for i, other := range children {
		if i == len(children)-1 {
			t.draw(other, indent+"└─ ", indent+"   ")
		} else {
			t.draw(other, indent+"├─ ", indent+"│  ")
		}
	}
}

func (t *tree) others(task tasks.Task) string {
	var ids []string
	for _, id := range task.BlockedBy {
		if id != t.parent(task) {
			ids = append(ids, "#"+id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return " (also after " + strings.Join(ids, ", ") + ")"
}
