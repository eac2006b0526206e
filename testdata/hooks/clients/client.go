package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

func main() {
	request, _ := json.Marshal(map[string]any{"version": 1, "dialect": "claude", "event": "PreToolUse",
		"settings": map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "echo 'not here' >&2; exit 2"}}}}}},
		"input":    map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}}})
	eval := exec.Command("fsmtx", "hooks", "eval")
	eval.Stdin = strings.NewReader(string(request))
	var result struct {
		Policy struct{ Verdict, Reason string }
	}
	out, err := eval.Output()
	if err == nil {
		err = json.Unmarshal(out, &result)
	}
	fmt.Println(result.Policy.Verdict, result.Policy.Reason, err)
}
