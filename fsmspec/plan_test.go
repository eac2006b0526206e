package fsmspec_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func planned(t *testing.T, file string, list fsmspec.Snapshot, policy fsmspec.Policy) *fsmspec.Plan {
	t.Helper()
	plan, err := parsed(t, file).Plan("my-plugin:my-skill", list, policy)
	require.NoError(t, err)
	return plan
}

func golden(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(data)
}

func names(plan *fsmspec.Plan) (deleted, created []string) {
	for _, d := range plan.Deletions() {
		deleted = append(deleted, d.Name)
	}
	for _, c := range plan.Creations() {
		created = append(created, c.Name)
	}
	return deleted, created
}

// SCN-THS-4.7, SCN-THS-6.1: the file is byte for byte what the documented schema shows.
func TestCreatedFile(t *testing.T) {
	plan := planned(t, `[{"id": 1, "subject": "Set up environment", "description": "Install deps"}]`, fsmspec.Snapshot{}, fsmspec.Policy{})
	assert.Equal(t, []fsmspec.Creation{{Name: "1.json", ID: 1, Subject: "Set up environment", Content: `{
  "id": "1",
  "subject": "Set up environment",
  "description": "Install deps",
  "activeForm": "",
  "owner": "",
  "status": "pending",
  "blocks": [],
  "blockedBy": [],
  "metadata": {
    "fsm": "my-plugin:my-skill"
  }
}`}}, plan.Creations())
}

// SCN-THS-6.2
func TestCreatedFileWithEveryField(t *testing.T) {
	plan := planned(t, golden(t, "every-field.fsm.json"), fsmspec.Snapshot{MaxID: 5}, fsmspec.Policy{})
	assert.Equal(t, golden(t, "every-field.task.json"), plan.Creations()[0].Content)
}

// SCN-THS-5.1, 5.2, 5.3
func TestActualIDs(t *testing.T) {
	const file = `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1]}, {"id": 30, "subject": "C", "blocks": [1]}]`
	for name, c := range map[string]struct {
		list fsmspec.Snapshot
		want []string
	}{
		"empty list":                {fsmspec.Snapshot{}, []string{"1.json", "2.json", "30.json"}},
		"above the largest":         {fsmspec.Snapshot{MaxID: 5}, []string{"6.json", "7.json", "35.json"}},
		"above the high-water mark": {fsmspec.Snapshot{MaxID: 5, HighWater: 9}, []string{"10.json", "11.json", "39.json"}},
		"above what is deleted":     {fsmspec.Snapshot{MaxID: 7, HighWater: 2, Tasks: []fsmspec.Existing{{Name: "7.json"}}}, []string{"8.json", "9.json", "37.json"}},
		"negative high-water mark":  {fsmspec.Snapshot{HighWater: -4}, []string{"1.json", "2.json", "30.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, created := names(planned(t, file, c.list, fsmspec.Policy{}))
			assert.Equal(t, c.want, created)
		})
	}
	created := planned(t, file, fsmspec.Snapshot{MaxID: 5}, fsmspec.Policy{}).Creations()
	assert.Contains(t, created[0].Content, "\"blocks\": [],\n  \"blockedBy\": [\n    \"35\"\n  ]", "blocked by the task whose blocks names it")
	assert.Contains(t, created[1].Content, "\"blocks\": [],\n  \"blockedBy\": [\n    \"6\"\n  ]")
	assert.Contains(t, created[2].Content, "\"blocks\": [\n    \"6\"\n  ],\n  \"blockedBy\": []")
}

func TestIDTooLarge(t *testing.T) {
	spec := parsed(t, `[{"id": 3, "subject": "A"}, {"id": 1, "subject": "B"}]`)
	plan, err := spec.Plan("c", fsmspec.Snapshot{MaxID: fsmspec.MaxID - 3}, fsmspec.Policy{})
	require.NoError(t, err)
	assert.EqualValues(t, fsmspec.MaxID, plan.Creations()[0].ID)

	const tooLarge, beyond = fsmspec.MaxID - 2, 1<<63 - 1
	for name, c := range map[string]struct {
		list fsmspec.Snapshot
		fix  string
	}{
		"file":              {fsmspec.Snapshot{MaxID: tooLarge, MaxName: "9007199254740989.json"}, "move 9007199254740989.json out of the list"},
		"file without name": {fsmspec.Snapshot{MaxID: tooLarge}, "move the file with the largest number out of the list"},
		"file, mark below":  {fsmspec.Snapshot{MaxID: tooLarge, MaxName: "9007199254740989a\n.json", HighWater: tooLarge - 1}, `move 9007199254740989a\n.json out of the list`},
		"mark, file below":  {fsmspec.Snapshot{MaxID: tooLarge - 1, MaxName: "9007199254740988.json", HighWater: tooLarge}, "delete .highwatermark, whose number is too large"},
		"both":              {fsmspec.Snapshot{MaxID: beyond, MaxName: "99999999999999999999.json", HighWater: tooLarge}, "move 99999999999999999999.json out of the list and delete .highwatermark, whose number is too large"},
		"both, mark larger": {fsmspec.Snapshot{MaxID: tooLarge, MaxName: "9007199254740989.json", HighWater: beyond}, "move 9007199254740989.json out of the list and delete .highwatermark, whose number is too large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := spec.Plan("c", c.list, fsmspec.Policy{})
			require.ErrorIs(t, err, fsmspec.ErrIDTooLarge)
			assert.EqualError(t, err, "no task id may be larger than 9007199254740991 (2^53-1), and new ids follow the largest one in the task list: "+c.fix)
		})
	}
	_, err = parsed(t, `[]`).Plan("c", fsmspec.Snapshot{MaxID: 1<<63 - 1}, fsmspec.Policy{})
	assert.NoError(t, err, "no task gets an id")
}

func TestCommandNameThatIsNotUTF8(t *testing.T) {
	plan, err := parsed(t, `[{"id": 1, "subject": "A"}]`).Plan("a\xff\xfe\x00\n\"", fsmspec.Snapshot{}, fsmspec.Policy{})
	require.NoError(t, err)
	content := plan.Creations()[0].Content
	assert.Contains(t, content, `"fsm": "a�\u0000\n\""`)

	again, _, err := fsmspec.Classify("1.json", []byte(content))
	require.NoError(t, err)
	plan, err = parsed(t, `[]`).Plan("a\xff\xfe\x00\n\"", fsmspec.Snapshot{MaxID: 1, Tasks: []fsmspec.Existing{again}}, fsmspec.Policy{Scope: fsmspec.ScopeSkill})
	require.NoError(t, err)
	assert.Len(t, plan.Deletions(), 1, "the command recognises its own tasks")
}

// SCN-THS-7.1
func TestDeletions(t *testing.T) {
	list := fsmspec.Snapshot{MaxID: 12, Tasks: []fsmspec.Existing{
		{Name: "12.json", Tag: "other", Subject: "L", Status: "completed"},
		{Name: "b.json", Tag: "other"},
		{Name: "3.json", Tag: "my-plugin:my-skill", Subject: "C", Status: "pending"},
		{Name: "a.json", Tag: "my-plugin:my-skill"},
		{Name: "5a.json", Tag: ""},
		{Name: "007.json", Tag: "other"},
		{Name: "05.json", Tag: "my-plugin:my-skill:more"},
		{Name: "99999999999999999999.json", Tag: "other"},
	}}
	plan := planned(t, `[]`, list, fsmspec.Policy{})
	deleted, created := names(plan)
	assert.Equal(t, []string{"3.json", "05.json", "5a.json", "007.json", "12.json", "99999999999999999999.json", "a.json", "b.json"}, deleted)
	assert.Empty(t, created)
	assert.Equal(t, fsmspec.Deletion{Name: "3.json", Subject: "C", Status: "pending"}, plan.Deletions()[0])

	deleted, _ = names(planned(t, `[]`, list, fsmspec.Policy{Scope: fsmspec.ScopeSkill}))
	assert.Equal(t, []string{"3.json", "a.json"}, deleted)
	assert.Equal(t, "12.json", list.Tasks[0].Name, "Plan does not change the snapshot")
}

func TestActiveTasksAreRefused(t *testing.T) {
	task := func(name, tag, status string) fsmspec.Existing {
		return fsmspec.Existing{Name: name, Tag: tag, Subject: "Task " + name, Status: status}
	}
	for _, c := range []struct {
		name  string
		scope fsmspec.Scope
		tasks []fsmspec.Existing
		want  string
	}{
		{"none", fsmspec.ScopeAll, nil, ""},
		{"all pending", fsmspec.ScopeAll, []fsmspec.Existing{task("1.json", "c", "pending"), task("2.json", "c", "pending")}, ""},
		{"all completed", fsmspec.ScopeAll, []fsmspec.Existing{task("1.json", "c", "completed"), task("2.json", "c", "completed")}, ""},
		{"one in progress", fsmspec.ScopeAll, []fsmspec.Existing{task("007.json", "c", "in_progress")},
			`tasks about to be deleted are under way: #007 "Task 007.json" (in_progress)`},
		{"mixed", fsmspec.ScopeAll, []fsmspec.Existing{task("2.json", "c", "pending"), task("x.json", "c", ""), task("1.json", "c", "completed")},
			`tasks about to be deleted are under way: #1 "Task 1.json" (completed), #2 "Task 2.json" (pending), #x "Task x.json" (no status)`},
		{"in progress by another command", fsmspec.ScopeSkill, []fsmspec.Existing{task("1.json", "other", "in_progress"), task("2.json", "c", "pending")}, ""},
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
		err.Tasks = append(err.Tasks, fsmspec.Existing{Name: fmt.Sprintf("%d.json", i+1), Subject: "s", Status: "in_progress"})
	}
	assert.Regexp(t, `^1000 tasks about to be deleted are under way: #1 "s" \(in_progress\), .*#20 "s" \(in_progress\) and 980 more$`, err.Error())
	err.Tasks = err.Tasks[:20]
	assert.NotContains(t, err.Error(), "more")
}

func TestHighWater(t *testing.T) {
	tagged := func(names ...string) []fsmspec.Existing {
		var tasks []fsmspec.Existing
		for _, name := range names {
			tasks = append(tasks, fsmspec.Existing{Name: name})
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
		{"largest deleted", `[]`, fsmspec.Snapshot{MaxID: 7, HighWater: 3, Tasks: tagged("2.json", "7.json")}, 7, true},
		{"largest deleted, spelled 007", `[]`, fsmspec.Snapshot{MaxID: 7, Tasks: tagged("007.json")}, 7, true},
		{"largest not deleted", `[]`, fsmspec.Snapshot{MaxID: 7, HighWater: 3, Tasks: tagged("2.json", "6.json", "abc.json")}, 3, false},
		{"largest deleted, mark as high", `[]`, fsmspec.Snapshot{MaxID: 7, HighWater: 7, Tasks: tagged("7.json")}, 7, false},
		{"largest deleted, mark higher", `[]`, fsmspec.Snapshot{MaxID: 7, HighWater: 9, Tasks: tagged("7.json")}, 9, false},
		{"largest possible deleted", `[]`, fsmspec.Snapshot{MaxID: fsmspec.MaxID, Tasks: tagged("9007199254740991.json")}, fsmspec.MaxID, true},
		{"largest possible not deleted", `[]`, fsmspec.Snapshot{MaxID: fsmspec.MaxID, HighWater: 3, Tasks: tagged("7.json")}, 3, false},
		{"too large a number deleted", `[]`, fsmspec.Snapshot{MaxID: fsmspec.MaxID + 1, HighWater: 3, Tasks: tagged("9007199254740992.json")}, 3, false},
		{"too large a number deleted, and another", `[]`, fsmspec.Snapshot{MaxID: 1<<63 - 1, HighWater: 3, Tasks: tagged("99999999999999999999.json", "7.json", "5.json")}, 7, true},
		{"too large a number not deleted", `[]`, fsmspec.Snapshot{MaxID: fsmspec.MaxID + 1, HighWater: 3, Tasks: tagged("7.json")}, 7, true},
		{"larger number created", `[{"id": 1, "subject": "A"}]`, fsmspec.Snapshot{MaxID: 7, HighWater: 3, Tasks: tagged("7.json")}, 3, false},
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
	assert.Empty(t, plan.String())

	assert.False(t, planned(t, `[]`, fsmspec.Snapshot{Tasks: []fsmspec.Existing{{Name: "x.json"}}}, fsmspec.Policy{}).Empty())
	assert.False(t, planned(t, `[{"id": 1, "subject": "A"}]`, fsmspec.Snapshot{}, fsmspec.Policy{}).Empty())
}

func TestDiff(t *testing.T) {
	list := fsmspec.Snapshot{MaxID: 7, HighWater: 5, Tasks: []fsmspec.Existing{
		{Name: "7.json", Tag: "old", Subject: "Deploy\nat night", Status: "in_progress"},
		{Name: "3.json", Tag: "old", Subject: "Set up", Status: "pending"},
		{Name: "ünï.json", Tag: "old", Status: "completed"},
		{Name: "4.json", Tag: "old"},
	}}
	plan := planned(t, golden(t, "diff.fsm.json"), list, fsmspec.Policy{})
	assert.Equal(t, golden(t, "diff.txt"), plan.String())

	plan = planned(t, `[]`, list, fsmspec.Policy{})
	assert.Equal(t, golden(t, "diff-empty-file.txt"), plan.String())

	plan = planned(t, `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B"}]`, fsmspec.Snapshot{MaxID: 8}, fsmspec.Policy{})
	assert.Equal(t, "+ 9.json   A\n+ 10.json  B\n", plan.String())
}
