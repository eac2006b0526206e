package fsmspec_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func planned(t *testing.T, file string, list fsmspec.Snapshot, policy fsmspec.Policy) *fsmspec.Plan {
	t.Helper()
	return must(parsed(t, file).Plan("my-plugin:my-skill", list, policy))
}

// number returns the number that the client reads from an id.
func number(id string) int64 {
	n, _ := strconv.ParseInt(id[:len(id)-len(strings.TrimLeft(id, "0123456789"))], 10, 64)
	return n
}

func ids(plan *fsmspec.Plan) (deleted []string, created []int64) {
	for _, d := range plan.Deletions() {
		deleted = append(deleted, d.ID)
	}
	for _, c := range plan.Creations() {
		created = append(created, c.ID)
	}
	return deleted, created
}

func TestCreation(t *testing.T) {
	plan := planned(t, `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "description": "D", "activeForm": "F", "owner": "O", `+
		`"status": "in_progress",
		"blocks": [1], "blockedBy": [1], "metadata": {"n": 1.50}}]`, fsmspec.Snapshot{MaxID: 5}, fsmspec.Policy{})
	assert.Equal(t, []fsmspec.Creation{
		{ID: 6, Subject: "A", BlockedBy: []int64{7}, Metadata: `{"fsm":"my-plugin:my-skill"}`},
		{ID: 7, Subject: "B", Description: "D", ActiveForm: "F", Owner: "O", Status: fsmspec.InProgress, Blocks: []int64{6},
			BlockedBy: []int64{6}, Metadata: `{"n": 1.50,"fsm":"my-plugin:my-skill"}`},
	}, plan.Creations())
}

// SCN-THS-5.1, 5.2, 5.3
func TestActualIDs(t *testing.T) {
	const file = `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1]}, {"id": 30, "subject": "C", "blocks": [1]}]`
	for name, c := range map[string]struct {
		list fsmspec.Snapshot
		want []int64
	}{
		"empty list":                {fsmspec.Snapshot{}, []int64{1, 2, 30}},
		"above the largest":         {fsmspec.Snapshot{MaxID: 5}, []int64{6, 7, 35}},
		"above the high-water mark": {fsmspec.Snapshot{MaxID: 5, HighWater: 9}, []int64{10, 11, 39}},
		"above what is deleted": {fsmspec.Snapshot{MaxID: 7, HighWater: 2, Tasks: []fsmspec.Existing{{ID: "7", Number: 7}}},
			[]int64{8, 9, 37}},
		"negative high-water mark": {fsmspec.Snapshot{HighWater: -4}, []int64{1, 2, 30}},
	} {
		t.Run(name, func(t *testing.T) {
			_, created := ids(planned(t, file, c.list, fsmspec.Policy{}))
			assert.Equal(t, c.want, created)
		})
	}
	created := planned(t, file, fsmspec.Snapshot{MaxID: 5}, fsmspec.Policy{}).Creations()
	assert.Empty(t, created[0].Blocks)
	assert.Equal(t, []int64{35}, created[0].BlockedBy, "blocked by the task whose blocks names it")
	assert.Equal(t, []int64{6}, created[1].BlockedBy)
	assert.Equal(t, []int64{6}, created[2].Blocks)
	assert.Empty(t, created[2].BlockedBy)
}

func TestIDTooLarge(t *testing.T) {
	spec := parsed(t, `[{"id": 3, "subject": "A"}, {"id": 1, "subject": "B"}]`)
	assert.EqualValues(t, fsmspec.MaxID, must(spec.Plan("c", fsmspec.Snapshot{MaxID: fsmspec.MaxID - 3}, fsmspec.Policy{})).Creations()[0].ID)

	const tooLarge, beyond = fsmspec.MaxID - 2, 1<<63 - 1
	for name, c := range map[string]struct {
		list fsmspec.Snapshot
		fix  string
	}{
		"file":              {fsmspec.Snapshot{MaxID: tooLarge, MaxName: "9007199254740989.json"}, "move 9007199254740989.json out of the list"},
		"file without name": {fsmspec.Snapshot{MaxID: tooLarge}, "move the task with the largest number out of the list"},
		"file, mark below": {fsmspec.Snapshot{MaxID: tooLarge, MaxName: "9007199254740989a\n.json", HighWater: tooLarge - 1},
			`move 9007199254740989a\n.json out of the list`},
		"mark, file below": {fsmspec.Snapshot{MaxID: tooLarge - 1, MaxName: "9007199254740988.json", HighWater: tooLarge,
			MarkName: ".highwatermark"}, "delete .highwatermark, whose number is too large"},
		"both": {fsmspec.Snapshot{MaxID: beyond, MaxName: "99999999999999999999.json", HighWater: tooLarge,
			MarkName: ".highwatermark"}, "move 99999999999999999999.json out of the list and delete .highwatermark, whose number is too large"},
		"both, mark larger": {fsmspec.Snapshot{MaxID: tooLarge, MaxName: "9007199254740989.json", HighWater: beyond, MarkName: ".highwatermark"},
			"move 9007199254740989.json out of the list and delete .highwatermark, whose number is too large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := spec.Plan("c", c.list, fsmspec.Policy{})
			require.ErrorIs(t, err, fsmspec.ErrIDTooLarge)
			assert.EqualError(t, err, "no task id may be larger than 9007199254740991 (2^53-1), and new ids follow the "+
				"largest one in the task list: "+c.fix)
		})
	}
	_, err := parsed(t, `[]`).Plan("c", fsmspec.Snapshot{MaxID: 1<<63 - 1}, fsmspec.Policy{})
	assert.NoError(t, err, "no task gets an id")
}

func TestCommandNameThatIsNotUTF8(t *testing.T) {
	created := must(parsed(t, `[{"id": 1, "subject": "A"}]`).Plan("a\xff\xfe\x00\n\"", fsmspec.Snapshot{}, fsmspec.Policy{})).Creations()[0]
	assert.Equal(t, `{"fsm":"a�\u0000\n\""}`, created.Metadata)

	plan := must(parsed(t, `[]`).Plan("a\xff\xfe\x00\n\"", fsmspec.Snapshot{MaxID: 1,
		Tasks: []fsmspec.Existing{{ID: "1", Number: 1, Tag: "a�\x00\n\""}}}, fsmspec.Policy{Scope: fsmspec.ScopeSkill}))
	assert.Len(t, plan.Deletions(), 1, "the command recognises its own tasks")
}

// SCN-THS-7.1
func TestDeletions(t *testing.T) {
	list := fsmspec.Snapshot{MaxID: 12, Tasks: []fsmspec.Existing{
		{ID: "12", Number: 12, Tag: "other", Subject: "L", Status: "completed"},
		{ID: "b", Tag: "other"},
		{ID: "3", Number: 3, Tag: "my-plugin:my-skill", Subject: "C", Status: "pending"},
		{ID: "a", Tag: "my-plugin:my-skill"},
		{ID: "5a", Number: 5, Tag: ""},
		{ID: "007", Number: 7, Tag: "other"},
		{ID: "05", Number: 5, Tag: "my-plugin:my-skill:more"},
		{ID: "99999999999999999999", Number: math.MaxInt64, Tag: "other"},
	}}
	plan := planned(t, `[]`, list, fsmspec.Policy{})
	deleted, created := ids(plan)
	assert.Equal(t, []string{"3", "05", "5a", "007", "12", "99999999999999999999", "a", "b"}, deleted)
	assert.Empty(t, created)
	assert.Equal(t, fsmspec.Deletion{ID: "3", Number: 3, Tag: "my-plugin:my-skill", Subject: "C", Status: "pending"}, plan.Deletions()[0])

	deleted, _ = ids(planned(t, `[]`, list, fsmspec.Policy{Scope: fsmspec.ScopeSkill}))
	assert.Equal(t, []string{"3", "a"}, deleted)
	assert.Equal(t, "12", list.Tasks[0].ID, "Plan does not change the snapshot")
}

func TestActiveTasksAreRefused(t *testing.T) {
	task := func(id, tag, status string) fsmspec.Existing {
		return fsmspec.Existing{ID: id, Number: number(id), Tag: tag, Subject: "Task " + id, Status: status}
	}
	for _, c := range []struct {
		name  string
		scope fsmspec.Scope
		tasks []fsmspec.Existing
		want  string
	}{
		{"none", fsmspec.ScopeAll, nil, ""},
		{"all pending", fsmspec.ScopeAll, []fsmspec.Existing{task("1", "c", "pending"), task("2", "c", "pending")}, ""},
		{"all completed", fsmspec.ScopeAll, []fsmspec.Existing{task("1", "c", "completed"), task("2", "c", "completed")}, ""},
		{"one in progress", fsmspec.ScopeAll, []fsmspec.Existing{task("007", "c", "in_progress")},
			`tasks about to be deleted are under way: #007 "Task 007" (in_progress)`},
		{"mixed", fsmspec.ScopeAll, []fsmspec.Existing{task("2", "c", "pending"), task("x", "c", ""), task("1", "c", "completed")},
			`tasks about to be deleted are under way: #1 "Task 1" (completed), #2 "Task 2" (pending), #x "Task x" (no status)`},
		{"in progress by another command", fsmspec.ScopeSkill, []fsmspec.Existing{task("1", "other", "in_progress"),
			task("2", "c", "pending")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := parsed(t, `[{"id": 1, "subject": "A"}]`)
			list := fsmspec.Snapshot{MaxID: 7, Tasks: c.tasks}
			_, err := spec.Plan("c", list, fsmspec.Policy{Scope: c.scope})
			require.NoError(t, err, "with ActiveReset")

			plan, err := spec.Plan("c", list, fsmspec.Policy{Scope: c.scope, Active: fsmspec.ActiveRefuse})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			assert.Nil(t, plan)
			refusal, ok := errors.AsType[*fsmspec.ActiveError](err)
			require.True(t, ok)
			assert.Len(t, refusal.Tasks, len(c.tasks))
			assert.EqualError(t, err, c.want)
		})
	}
}

// TestManyActiveTasks: the text names the first of many tasks and says how many there are.
func TestManyActiveTasks(t *testing.T) {
	err := &fsmspec.ActiveError{}
	for i := range 1000 {
		err.Tasks = append(err.Tasks, fsmspec.Existing{ID: fmt.Sprintf("%d", i+1), Subject: "s", Status: "in_progress"})
	}
	assert.Regexp(t, `^1000 tasks about to be deleted are under way: #1 "s" \(in_progress\), .*#20 "s" \(in_progress\) and 980 more$`,
		err.Error())
	err.Tasks = err.Tasks[:20]
	assert.NotContains(t, err.Error(), "more")
}

func TestHighWater(t *testing.T) {
	tagged := func(ids ...string) []fsmspec.Existing {
		var tasks []fsmspec.Existing
		for _, id := range ids {
			tasks = append(tasks, fsmspec.Existing{ID: id, Number: number(id)})
		}
		return tasks
	}
	for _, c := range []struct {
		name, file string
		list       fsmspec.Snapshot
		mark       int64
		raise      bool
	}{
		{"nothing deleted", `[]`, fsmspec.Snapshot{MaxID: 7, HighWater: 3}, 3, false},
		{"largest deleted", `[]`, fsmspec.Snapshot{MaxID: 7, HighWater: 3, Tasks: tagged("2", "7")}, 7, true},
		{"largest deleted, spelled 007", `[]`, fsmspec.Snapshot{MaxID: 7, Tasks: tagged("007")}, 7, true},
		{"largest not deleted", `[]`, fsmspec.Snapshot{MaxID: 7, HighWater: 3, Tasks: tagged("2", "6", "abc")}, 3, false},
		{"largest deleted, mark as high", `[]`, fsmspec.Snapshot{MaxID: 7, HighWater: 7, Tasks: tagged("7")}, 7, false},
		{"largest deleted, mark higher", `[]`, fsmspec.Snapshot{MaxID: 7, HighWater: 9, Tasks: tagged("7")}, 9, false},
		{"largest possible deleted", `[]`, fsmspec.Snapshot{MaxID: fsmspec.MaxID, Tasks: tagged("9007199254740991")}, fsmspec.MaxID, true},
		{"largest possible not deleted", `[]`, fsmspec.Snapshot{MaxID: fsmspec.MaxID, HighWater: 3, Tasks: tagged("7")}, 3, false},
		{"too large a number deleted", `[]`, fsmspec.Snapshot{MaxID: fsmspec.MaxID + 1, HighWater: 3,
			Tasks: tagged("9007199254740992")}, 3, false},
		{"too large a number deleted, and another", `[]`, fsmspec.Snapshot{MaxID: 1<<63 - 1, HighWater: 3,
			Tasks: tagged("99999999999999999999", "7", "5")}, 7, true},
		{"too large a number not deleted", `[]`, fsmspec.Snapshot{MaxID: fsmspec.MaxID + 1, HighWater: 3, Tasks: tagged("7")}, 7, true},
		{"larger number created", `[{"id": 1, "subject": "A"}]`, fsmspec.Snapshot{MaxID: 7, HighWater: 3, Tasks: tagged("7")}, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			mark, raise := planned(t, c.file, c.list, fsmspec.Policy{}).HighWater()
			assert.Equal(t, c.mark, mark)
			assert.Equal(t, c.raise, raise)
		})
	}
}

func TestEmptyPlan(t *testing.T) {
	plan := planned(t, `[]`, fsmspec.Snapshot{MaxID: 7}, fsmspec.Policy{})
	assert.True(t, plan.Empty())

	assert.False(t, planned(t, `[]`, fsmspec.Snapshot{Tasks: []fsmspec.Existing{{ID: "x"}}}, fsmspec.Policy{}).Empty())
	assert.False(t, planned(t, `[{"id": 1, "subject": "A"}]`, fsmspec.Snapshot{}, fsmspec.Policy{}).Empty())
}

// created returns the tasks that a plan creates, a line each.
func created(p *fsmspec.Plan) string {
	var b strings.Builder
	for _, c := range p.Creations() {
		var remarks []string
		if c.Status != fsmspec.Pending {
			remarks = append(remarks, c.Status.String())
		}
		if len(c.BlockedBy) > 0 {
			remarks = append(remarks, "after "+strings.Trim(fmt.Sprint(c.BlockedBy), "[]"))
		}
		line := fmt.Sprintf("#%d %s (%s)", c.ID, c.Subject, strings.Join(remarks, ", "))
		b.WriteString(strings.TrimSuffix(line, " ()") + "\n")
	}
	return b.String()
}
