package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

const request = `{"version": 1, "dialect": "claude", "event": "PreToolUse", "input": {"tool_name": "Bash"}, "settings": {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo 'not here' >&2; exit 2"}]}]}}}`

func main() {
	eval := exec.Command("fsmtx", "hooks", "eval")
	eval.Stdin = strings.NewReader(request)
	out, err := eval.Output()
	var result struct {
		Policy struct{ Verdict, Reason string }
	}
	fmt.Println(err, json.Unmarshal(out, &result), result.Policy.Verdict, result.Policy.Reason)
}
