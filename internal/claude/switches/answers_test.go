package switches

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnswersFor(t *testing.T) {
	const hook = `{"hooks": {
 "Stop": [],
 "PermissionRequest": [%s]}}`
	of := func(groups string) Settings {
		return Settings{Others: []File{newFile("/a", User, []byte("{}")), newFile("/b", Local, fmt.Appendf(nil, hook, groups))}}
	}
	const command = `"hooks": [{"type": "command", "command": "true"}]`
	for groups, want := range map[string]string{
		``:                                     "",
		`{` + command + `}`:                    "/b:3",
		`{"matcher": "", ` + command + `}`:     "/b:3",
		`{"matcher": "*", ` + command + `}`:    "/b:3",
		`{"matcher": "Bash", ` + command + `}`: "",
		`{"matcher": "TaskUpdates", ` + command + `}`:          "",
		`{"matcher": "Bash|TaskUpdate", ` + command + `}`:      "/b:3",
		`{"matcher": "Bash, TaskUpdate", ` + command + `}`:     "/b:3",
		`{"matcher": "Task.*", ` + command + `}`:               "/b:3",
		`{"matcher": "Bash"}, {"matcher": "TaskUpdate"}`:       "/b:3",
		`{"matcher": "Bash"}, {"matcher": "mcp__x-1__y_Z"}, 5`: "/b:3", // a hyphen is none of a name
	} {
		assert.Equal(t, want, of(groups).AnswersFor("TaskUpdate"), groups)
	}
	assert.Empty(t, Settings{Others: []File{newFile("/c", User, []byte(`{"hooks": 5}`)), newFile("/d", User, []byte(`{`))}}.AnswersFor("TaskUpdate"))
}
