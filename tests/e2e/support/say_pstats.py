"""What this Python's own pstats says: cases as JSON on stdin, the texts as JSON on stdout. Run by any Python from 3.8 on."""
import io
import json
import marshal
import pstats
import sys


def say(case):
    out = io.StringIO()
    stats = pstats.Stats(case["files"][0], stream=out)
    for path in case["files"][1:]:
        stats.add(path)
    if case.get("strip"):
        stats.strip_dirs()
    stats.sort_stats(*case["sort"])
    if case.get("reverse"):
        stats.reverse_order()
    limits = case.get("limits", [])
    stats.print_stats(*limits)
    if case.get("calls") or case.get("callers"):
        stats.print_callers(*limits)
    if case.get("calls"):
        stats.print_callees(*limits)
    return out.getvalue()


def same(case):
    loaded = []
    for path in case["same"]:
        with open(path, "rb") as file:
            loaded.append(marshal.load(file))
    return loaded[0] == loaded[1] and list(loaded[0]) == list(loaded[1])


cases = json.load(sys.stdin)
json.dump([same(case) if "same" in case else say(case) for case in cases], sys.stdout)
