package steps

import (
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/visible"
)

// behind denies an edit of a file of the list or of its state directory: the client's
// tools change tasks, and nothing else does. path and dirs are absolute, with symbolic
// links resolved.
func behind(path string, dirs ...string) Verdict {
	for _, dir := range dirs {
		for at := path; ; at = filepath.Dir(at) {
			if at == dir {
				return Verdict{Decision: Deny, Why: "edit behind the list", Reason: "the tasks of a workflow are not edited as files: " + visible.Line(path) +
					" belongs to the task list. Use TaskUpdate, or the tools of the workflow"}
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return Verdict{}
}
