package fsmspec_test

import (
	"fmt"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func Example() {
	spec, err := fsmspec.Parse([]byte(`[
  {"id": 1, "subject": "Set up"},
  {"id": 2, "subject": "Build", "blockedBy": [1]}
]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := spec.Plan("my-plugin:my-skill", fsmspec.Snapshot{
		MaxID: 7,
		Tasks: []fsmspec.Existing{{ID: "7", Number: 7, Tag: "other-skill", Subject: "Write it down", Status: "completed"}},
	}, fsmspec.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range plan.Deletions() {
		fmt.Println("delete", d.ID, d.Subject)
	}
	for _, c := range plan.Creations() {
		fmt.Println("create", c.ID, c.Subject, c.BlockedBy)
	}
	// Output:
	// delete 7 Write it down
	// create 8 Set up []
	// create 9 Build [8]
}

func ExampleParse() {
	_, err := fsmspec.Parse([]byte(`[
  {"id": 6, "subject": "Build", "staus": "pending"},
  {"id": 3, "subject": "Deploy", "blockedBy": [7]},
  {"id": "8", "subjekt": "Tell"}
]`))
	fmt.Println(err)
	// Output:
	// 2:33: task 6 ("Build"): unknown field "staus": write "status", or move it into metadata
	// 3:48: task 3 ("Deploy"): blockedBy refers to 7, but there is no task with id 7 (did you mean 6?)
	// 4:3: entry 3: missing "subject" (misspelled as "subjekt"?)
	// 4:10: entry 3: id must be a positive integer, not the string "8" (write 8 without the quotes)
}

func ExampleTask() {
	spec, err := fsmspec.Parse([]byte(`[
  {"id": 1, "subject": "Test", "check": {"run": "make test", "timeout": "10m"}},
  {"id": 2, "subject": "Publish", "blockedBy": [1], "ready": ["dist/*.tar.gz"], "approval": true}
]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, task := range spec.Tasks() {
		if check := task.Check; check != nil {
			fmt.Printf("%s: %s, at most %s\n", task.Subject, check.Run, check.Timeout)
		}
		if task.Approval != "" {
			fmt.Println(task.Ready, task.Approval)
		}
	}
	// Output:
	// Test: make test, at most 10m0s
	// [dist/*.tar.gz] May "Publish" be completed?
}
