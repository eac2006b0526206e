package outline

import (
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// Template returns steps for an author who starts from scratch.
func Template() []Step {
	return []Step{
		{ID: 1, Subject: "Prepare", Description: "What is needed, and how to check that it is there."},
		{ID: 2, Subject: "Do the work", Description: "What to do, and when it is finished.", BlockedBy: []int64{1}},
		{ID: 3, Subject: "Check the result", Description: "How to check that it works.", BlockedBy: []int64{2}},
	}
}

// Unedited returns the ids of the tasks that still have the text of the template.
func Unedited(tasks []fsmspec.Task) (ids []int64) {
	template := Template()
	for _, t := range tasks {
		if slices.ContainsFunc(template, func(s Step) bool { return s.Subject == t.Subject && s.Description == t.Description }) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}
