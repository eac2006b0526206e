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
        else:
            r.conclude(e["step"], e["outcome"])
        states.append(seen(r))
    return {"bound": m.bound(), "runs": {str(i): m.runs(i) for i in m.S}, "dead": sorted(m.dead),
            "loops": len(m.loops), "warnings": len(m.warn), "states": states}

def seen(r):
    return {"outcomes": {str(i): "" if s == "open" else s for i, s in r.state.items()},
            "ready": r.ready(), "counts": {f"{i} {o}": n for (i, o), n in r.count.items() if n}}

for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))))
