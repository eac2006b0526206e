import json
import subprocess

request = {
    "version": 1, "dialect": "claude", "event": "PreToolUse",
    "settings": {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo 'not here' >&2; exit 2"}]}]}},
    "input": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
}
done = subprocess.run(["fsmtx", "hooks", "eval"], input=json.dumps(request), capture_output=True, text=True, check=True)
policy = json.loads(done.stdout)["policy"]
print(policy["verdict"], policy["reason"])
