package demo

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/tasks"
)

func TestTreeDrawsEachTaskOnce(t *testing.T) {
	task := func(id string, after ...string) tasks.Task {
		return tasks.Task{ID: id, Subject: "s" + id, Status: "pending", BlockedBy: after}
	}
	for name, c := range map[string]struct {
		tasks []tasks.Task
		want  string
	}{
		"none":  {nil, "(no tasks)\n"},
		"flat":  {[]tasks.Task{task("1"), task("2")}, "#1 [pending] s1\n#2 [pending] s2\n"},
		"chain": {[]tasks.Task{task("1"), task("2", "1")}, "#1 [pending] s1\n└─ #2 [pending] s2\n"},
		"two blockers": {[]tasks.Task{task("1"), task("2", "1"), task("3", "1"), task("4", "2", "3")},
			"#1 [pending] s1\n├─ #2 [pending] s2\n└─ #3 [pending] s3\n   └─ #4 [pending] s4 (also after #2)\n"},
		"absent":        {[]tasks.Task{task("4", "1")}, "#4 [pending] s4 (also after #1)\n"},
		"cycle":         {[]tasks.Task{task("1", "2"), task("2", "1")}, "#1 [pending] s1\n└─ #2 [pending] s2\n"},
		"blocks itself": {[]tasks.Task{task("1", "1")}, "#1 [pending] s1 (also after #1)\n"},
	} {
		assert.Equal(t, c.want, drawTree(c.tasks), name)
	}
}
