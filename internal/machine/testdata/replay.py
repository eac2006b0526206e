"""Replays runs of random workflows in oracle.py: one JSON object a line in, one a line out."""
import json, sys
sys.dont_write_bytecode = True
import oracle

def answer(case):
    try:
        m = oracle.M(case["spec"])
    except oracle.Bad as e:
        return {"error": str(e)}
    for i, t in m.S.items():  # stricter than the oracle, which counts failed and late
        can = [o for o in t["named"] if o not in t["spent"]]
        if not any("back" not in t["outcomes"].get(o, {}) for o in can):
            return {"error": f"step {i}: nothing that can be chosen goes forward"}
    r = oracle.Run(m, None)
    r.settle()
    states = [seen(r)]
    for e in case["events"]:
        if e["kind"] == "begin":
            r.prog.add(e["step"])
        elif e["kind"] == "ask":
            states.append({"refused": ask(r, e), **seen(r)})
            continue
        else:
            r.conclude(e["step"], e["outcome"])
        states.append(seen(r))
    return {"bound": m.bound(), "runs": {str(i): m.runs(i) for i in m.S}, "dead": sorted(m.dead),
            "loops": len(m.loops), "warnings": len(m.warn), "states": states}

def ask(r, e):
    """An update of an agent that completes a step, with or without a word; whether it is refused.
    The oracle itself has no updates: it takes only what is possible. Where it says something else
    than machine.md, machine.md counts: failed and late are not chosen, and neither is a done that
    is some other's then."""
    i, o = e["step"], e["outcome"]
    t = r.m.S[i]
    if r.done(i):
        return False  # completing it again is nothing
    if i not in r.ready():
        return True
    can = [x for x in t["named"] if x not in t["spent"]]
    if not o and t.get("decides") != "person" and ("done" in can or len(can) == 1):
        o = "done" if "done" in can else can[0]
    if o not in can:
        return True
    x = t["outcomes"].get(o, {})
    forward = "back" not in x
    if forward and "check" in t and not e["passes"]:
        if "failed" not in t["outcomes"]:
            return True
        o = "failed"
    return r.conclude(i, o) is False

def seen(r):
    return {"outcomes": {str(i): "" if s == "open" else s for i, s in r.state.items()},
            "ready": r.ready(), "counts": {f"{i} {o}": n for (i, o), n in r.count.items() if n}}

for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))))
