package demo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
)

// Tree draws tasks so that each stands below one that blocks it, once. What else
// blocks it is named beside it.
func Tree(tasks []tasks.Task) string {
	if len(tasks) == 0 {
		return "(no tasks)\n"
	}
	t := &tree{tasks: tasks, drawn: map[string]bool{}}
	for _, task := range tasks {
		if t.parent(task) == "" {
			t.draw(task, "", "")
		}
	}
	for _, task := range tasks { // those that only block one another in a circle
		t.draw(task, "", "")
	}
	return t.String()
}

type tree struct {
	strings.Builder
	tasks []tasks.Task
	drawn map[string]bool
}

// parent returns the last blocker that is in the list: by then all others are done.
func (t *tree) parent(task tasks.Task) string {
	for _, id := range slices.Backward(task.BlockedBy) {
		if id != task.ID && slices.ContainsFunc(t.tasks, func(other tasks.Task) bool { return other.ID == id }) {
			return id
		}
	}
	return ""
}

// draw draws a task and what stands below it. branch leads to the task itself,
// indent to the lines below it.
func (t *tree) draw(task tasks.Task, branch, indent string) {
	if t.drawn[task.ID] {
		return
	}
	t.drawn[task.ID] = true
	fmt.Fprintf(t, "%s#%s [%s] %s%s\n", branch, task.ID, task.Status, task.Subject, t.others(task))
	var below []tasks.Task
	for _, other := range t.tasks {
		if t.parent(other) == task.ID && !t.drawn[other.ID] {
			below = append(below, other)
		}
	}
	for i, other := range below {
		if i == len(below)-1 {
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
