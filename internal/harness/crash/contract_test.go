package crash_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// The functions in this file return what is wrong with a list, or "", so that a test can
// also require a violation.

// creations returns the task files that an undisturbed hydration creates.
func (d scenario) creations(t *testing.T) map[string]string {
	w := d.world(t)
	before := w.Tasks(t)
	_, err := w.hydrate("first", nil)
	require.NoError(t, err)
	created := map[string]string{}
	for name, f := range w.Tasks(t) {
		if _, old := before[name]; !old {
			created[name] = f.Text
		}
	}
	require.Len(t, created, d.creates)
	return created
}

// stays reports whether a hydration keeps the task.
func stays(f worlds.File) bool { return !strings.Contains(f.Text, `"fsm"`) }

// recoveredProblem checks that a recovered list is exactly the one before or exactly the
// one after.
func recoveredProblem(before, got map[string]worlds.File, created map[string]string) (problem string) {
	if maps.Equal(before, got) {
		return ""
	}
	if problem = afterProblem(before, got, created); problem != "" {
		return "not the list before, and " + problem
	}
	return ""
}

// afterProblem checks that the kept tasks are unchanged down to the inode, that the created
// tasks are as written, and that there are no others.
func afterProblem(before, got map[string]worlds.File, created map[string]string) (problem string) {
	want := map[string]worlds.File{}
	for name, f := range before {
		if stays(f) {
			want[name] = f
		}
	}
	for name, text := range created {
		if f, ok := got[name]; ok && f.Text == text && f.Mode == 0o644 {
			want[name] = f
			continue
		}
		return fmt.Sprintf("%s is not there as it was written; there are %v", name, worlds.Names(got))
	}
	if !maps.Equal(want, got) {
		return fmt.Sprintf("the tasks that stay are not as they were: there are %v", got)
	}
	return ""
}

// readerProblem checks what a reader without a lock sees: at any moment all tasks of before
// or all tasks of after, each of them complete, and no task that is in neither.
func readerProblem(before, seen map[string]worlds.File, created map[string]string) (problem string) {
	for name, f := range seen {
		if old, ok := before[name]; ok && old == f || !ok && f.Text == created[name] && f.Text != "" {
			continue
		}
		return fmt.Sprintf("a reader sees %s as it is neither before nor after: %q", name, f.Text)
	}
	after := slices.Collect(maps.Keys(created))
	for name, f := range before {
		if stays(f) {
			after = append(after, name)
		}
	}
	if !hasAll(seen, worlds.Names(before)) && !hasAll(seen, after) {
		return fmt.Sprintf("a reader sees only %v", worlds.Names(seen))
	}
	return ""
}

func hasAll(m map[string]worlds.File, want []string) bool {
	return !slices.ContainsFunc(want, func(name string) bool { _, ok := m[name]; return !ok })
}
