package steps

import (
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

// edit denies writing a file of the list or of its state directory: only the task
// tools of its agent and this program change tasks. path and dirs are absolute, with symbolic links resolved.
func edit(path string, dirs ...string) Verdict {
	for _, dir := range dirs {
		for at := path; ; at = filepath.Dir(at) {
			if strings.EqualFold(at, dir) { // as on a file system that ignores case
				return Verdict{Decision: Deny, Why: "edit of a task file",
					Reason: "do not edit the tasks of a workflow as files: " + message.Line(path) +
						" belongs to the task list. Use your task tools, the tools of the workflow, or fsmtx start and fsmtx complete"}
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return Verdict{}
}
