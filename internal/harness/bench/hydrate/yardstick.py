# The same job without any guarantee, as one would write it in fifteen minutes: no lock, no sync, no rollback, no
# validation. An interruption or another writer at the wrong moment loses tasks.
import json
import os
import sys

event = json.load(sys.stdin)
config = os.path.join(os.environ["HOME"], ".claude")
skill = os.path.join(config, "skills", event["tool_response"]["commandName"], "fsm.json")
if os.path.exists(skill):
    with open(skill) as f:
        steps = json.load(f)
    tasks = os.path.join(config, "tasks", event["session_id"])
    os.makedirs(tasks, exist_ok=True)
    last, old = 0, []
    for name in os.listdir(tasks):
        if not name.endswith(".json"):
            continue
        last = max(last, int(name[:-5]))
        with open(os.path.join(tasks, name)) as f:
            if "fsm" in json.load(f).get("metadata", {}):
                old.append(name)
    for step in steps:
        number = str(step["id"] + last)
        task = {
            "id": number,
            "subject": step["subject"],
            "description": step["description"],
            "activeForm": "",
            "owner": "",
            "status": "pending",
            "blocks": [],
            "blockedBy": [str(n + last) for n in step.get("blockedBy", [])],
            "metadata": {"fsm": event["tool_response"]["commandName"]},
        }
        with open(os.path.join(tasks, number + ".json"), "w") as f:
            json.dump(task, f, indent=2)
    for name in old:
        os.remove(os.path.join(tasks, name))
print('{"continue": true}')
