# SPDX-License-Identifier: Apache-2.0
"""`topdownd diff`: recordings of one host before and after a change that is known."""

import json
import os
import re
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\ninterval: 1s\nprofiles: {default: {groups: [Topdown_L1, General, MPKI]}}\n"
FOLDER = tempfile.TemporaryDirectory()
ROUNDS = 48
CHANGE = 0.97  # of instructions


def scenario(name, factor):
    with open(STEADY, encoding="utf-8") as file:
        host = json.load(file)
    for keyframe in host["loads"]["steady"]["keyframes"]:
        keyframe["rates"]["INST_RETIRED"] *= factor
    return e2e.write_text(os.path.join(FOLDER.name, name), json.dumps(host))


def record(name, factor):
    """A daemon whose recording begins."""
    path = os.path.join(FOLDER.name, name)
    daemon = e2e.Daemon("--pmu", f"sim:{scenario(name + '.json', factor)}", "--record", path, yaml=YAML)
    return path, daemon


def seconds_of(daemon, first_ns):
    return (daemon.json("/api/v1/snapshot")["round"]["end_ns"] - first_ns) * 1e-9


def recordings():
    """Each as long as ROUNDS of its longest rounds: the budget makes them longer on a busy machine, and shorter again."""
    paths, daemons, lengths = [], [], []
    for name, factor in (("before", 1), ("same", 1), ("after", CHANGE)):
        path, daemon = record(name, factor)
        paths.append(path)
        daemons.append(daemon.__enter__())
    firsts = [daemon.wait_round(1)["round"]["start_ns"] for daemon in daemons]
    longest = [0] * len(daemons)

    def long_enough():
        for i, daemon in enumerate(daemons):
            longest[i] = max(longest[i], daemon.json("/api/v1/plan")["round_seconds"])
        return all(seconds_of(daemon, firsts[i]) >= ROUNDS * longest[i] for i, daemon in enumerate(daemons))
    e2e.wait_for(long_enough, "long recordings", pause=0.2)
    for daemon, first_ns in zip(daemons, firsts):
        lengths.append(seconds_of(daemon, first_ns))
        daemon.__exit__(None, None, None)
    return *paths, int(lengths[0] / 2)


def diff(*words):
    return subprocess.run([BINARY, "diff", *words, "--path.data", ROOT], capture_output=True, text=True, timeout=e2e.TIMEOUT)


def listed(*words):
    done = diff(*words, "--json")
    assert done.stderr == "" and done.returncode in (0, 1, 2), done
    rows = json.loads(done.stdout)
    judged = any(row["metric"] in ("ipc", "retiring_ratio") and row["low"] is not None for row in rows)
    assert done.returncode == (1 if any(row["regression"] for row in rows) else 0 if judged else 2), rows
    return rows


def test_a_change_that_is_known_is_found_with_its_size():
    rows = {row["metric"]: row for row in listed(BEFORE, AFTER)}
    ipc = rows["ipc"]
    assert ipc["verdict"] == "worse" and ipc["regression"], ipc
    assert abs(ipc["before"] - 1.5) < 1e-3 and abs(ipc["after"] - 1.5 * CHANGE) < 1e-3, ipc
    assert ipc["low"] <= ipc["change"] <= ipc["high"] < 0 and abs(ipc["change"] - 1.5 * (CHANGE - 1)) < 1e-3, ipc
    assert rows["retiring_ratio"]["units"] == "ratio of pipeline slots", rows["retiring_ratio"]  # the value is one
    per_instruction = [row for name, row in rows.items() if name.endswith("_mpki")]
    assert per_instruction and {row["verdict"] for row in per_instruction} == {"worse"}, per_instruction
    assert not any(row["regression"] for row in per_instruction), per_instruction  # they explain it
    others = {name: row for name, row in rows.items() if row["verdict"] not in ("worse", "not told apart")}
    assert not others and rows["retiring_ratio"]["verdict"] == "not told apart", others
    done = diff(BEFORE, AFTER)
    assert done.returncode == 1 and "REGRESSION" in done.stdout and "not told apart" in done.stdout, done
    return f"{len(rows)} metrics, {len(per_instruction)} of them per instruction"


def test_the_other_way_round_it_is_better_and_no_regression():
    rows = {row["metric"]: row for row in listed(AFTER, BEFORE)}
    assert rows["ipc"]["verdict"] == "better", rows["ipc"]
    assert "No regression" in diff(AFTER, BEFORE).stdout


def test_two_recordings_of_the_same_load_are_not_told_apart():
    found = [row for row in listed(BEFORE, SAME) if row["verdict"] != "not told apart"]
    assert not found, found


def test_stretches_of_one_recording_are_compared():
    rows = listed(f"{BEFORE}@0-{HALF}", f"{BEFORE}@{HALF}-{2 * HALF}")
    assert rows and {row["verdict"] for row in rows} == {"not told apart"}, rows
    rows = listed(f"{BEFORE}@0-3", f"{BEFORE}@{HALF}-{2 * HALF}")
    assert {row["verdict"] for row in rows} == {"too short"} and rows[0]["low"] is None, rows
    said = diff(f"{BEFORE}@0-3", f"{BEFORE}@{HALF}-{2 * HALF}").stdout
    assert re.search(r"not measured long enough: each recording needs at least \d+ s", said) and "cannot be told" in said and "No regression" not in said, said


def test_each_socket_and_each_cpu_is_compared_if_asked():
    for by, scopes in (("host", {"host"}), ("socket", {"host", "socket 0", "socket 1"}),
                       ("cpu", {"host", "socket 0", "socket 1"} | {f"cpu {cpu}" for cpu in range(8)})):
        rows = listed(BEFORE, AFTER, "--by", by)
        assert {row["scope"] for row in rows} == scopes, (by, rows)
        of_ipc = [row for row in rows if row["metric"] == "ipc"]
        assert {row["verdict"] for row in of_ipc} == {"worse"}, of_ipc


def refused(*words):
    done = diff(*words)
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr


def test_what_cannot_be_compared_is_refused_with_the_reason():
    assert "BEFORE AFTER" in refused() and "BEFORE AFTER" in refused(BEFORE)
    assert "one word too many" in refused(BEFORE, AFTER, AFTER)
    assert "FROM below TO" in refused(f"{BEFORE}@9-3", AFTER) and "9-3" in refused(f"{BEFORE}@9-3", AFTER)
    assert "host, socket or cpu" in refused(BEFORE, AFTER, "--by", "rack")
    assert "cannot be read" in refused(os.path.join(FOLDER.name, "nothing"), AFTER)
    assert STEADY in refused(STEADY, AFTER)
    for words in ((f"{BEFORE}@1000-", AFTER), (BEFORE, f"{AFTER}@1000-2000")):
        assert "no snapshot ends in the part" in refused(*words) and "the recording lasts" in refused(*words), refused(*words)


if __name__ == "__main__":
    BEFORE, SAME, AFTER, HALF = recordings()
    e2e.run_tests()
