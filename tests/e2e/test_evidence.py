# SPDX-License-Identifier: Apache-2.0
"""The next question is measured already: what a verdict leads to is measured for as long as it does, beside the metric groups of the
profile, which stay as they are. It is in JSON, on the page and in the history; /metrics has it only where the profile names it."""
import json
import os
import re
import signal
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
HOSTS = os.path.join(ROOT, "tests/data/hosts")
# Not so short that rotation uses the budget up: another plan waits until the last one is paid.
QUICK = e2e.LISTEN_ANYWHERE + "slot: 200ms\ninterval: 1s\n"
ON, OFF = QUICK + "evidence: true\n", QUICK + "evidence: false\n"


def daemon(scenario, yaml):
    return e2e.Daemon("--pmu", f"sim:{scenario}", yaml=yaml)


def bound(running):
    return running.json("/api/v1/topdown").get("bound")


def deeper_than_first(running, wanted=None):
    """The verdict once it leads to this metric, or without one once everything is measured that it leads to."""
    def settled():
        found = bound(running)
        if not found or not found["exceeded"]:
            return None
        return found if (wanted in found["path"] if wanted else all(each["measured"] for each in found["next_groups"])) else None
    return e2e.wait_for(settled, f"a verdict that leads to {wanted}" if wanted else "a verdict whose next questions are all measured")


def names(page):
    """The series of a page, without those of what changes by itself."""
    return {(name, tuple(sorted(labels.items()))) for name, labels, _ in e2e.samples(page)
            if not name.startswith(("topdownd_bound", "topdownd_config_info", "process_"))}


def measured(plan):
    return {metric for group in [*plan["event_groups"], plan["combined"]] for metric in group["metrics"]}


def check(scenario, wanted=None):
    with daemon(scenario, ON) as with_evidence, daemon(scenario, OFF) as without:
        found = deeper_than_first(with_evidence, wanted)
        without.wait_round(4)
        assert "because the verdict asks for them" in with_evidence.log(), with_evidence.log()
        assert "because the verdict asks for them" not in without.log()
        before, after = without.json("/api/v1/plan"), with_evidence.json("/api/v1/plan")
        selected = [group for group in after["event_groups"] if not group["fetched"]]
        assert [(g["name"], g["events"]) for g in selected] == [(g["name"], g["events"]) for g in before["event_groups"]], \
            "the profile's event groups have changed"
        for page in ("/metrics", "/metrics/cpu"):  # a new plan has gauges when its first round has ended
            e2e.wait_for(lambda p=page: names(without.get(p)) == names(with_evidence.get(p)), f"the same series on {page}")
        fetched = measured(after) - measured(before)
        values = with_evidence.json("/api/v1/snapshot")["scopes"][0]["metrics"]
        assert fetched and fetched <= set(values), fetched - set(values)
        past = with_evidence.json(f"/api/v1/history?metric={','.join(sorted(fetched)[:4])}")
        assert {series["metric"] for series in past["series"]} == set(sorted(fetched)[:4]), past
        return f"{' > '.join(found['path'])}; {len(fetched)} metrics, {after['round_seconds']} s a round instead of {before['round_seconds']}"


def steady(folder, name, mix):
    """A shipped scenario whose CPUs all run one of its mixes, all the time."""
    with open(os.path.join(ROOT, "scenarios", name + ".json"), encoding="utf-8") as file:
        scenario = json.load(file)
    scenario["loads"] = {"steady": {"period_seconds": 1000, "keyframes": [{"at_seconds": 0, "mix": mix, "utilisation": 0.9},
                                                                      {"at_seconds": 999, "mix": mix, "utilisation": 0.9}]}}
    n = scenario["sockets"] * scenario["cores_per_socket"] * scenario["threads_per_core"]
    scenario["assignments"] = [{"cpus": f"0-{n - 1}", "load": "steady"}]
    return e2e.write_text(os.path.join(folder, name + ".json"), json.dumps(scenario))


def test_the_next_question_is_measured_on_a_neoverse_v2():
    with tempfile.TemporaryDirectory() as folder:
        return check(steady(folder, "neoverse-v2", "memory_bound"))


def test_the_next_question_is_measured_on_a_sapphire_rapids():
    return check(os.path.join(HOSTS, "open/stream-sapphire-rapids.json"), "tma_dram_bound_clocks_ratio")


def test_the_next_question_is_measured_on_a_zen_4():
    return check(os.path.join(HOSTS, "open/chase-zen4.json"), "backend_bound_memory_ratio")


def record(scenario, folder):
    """Records until the next question is measured; the file, and the last pages."""
    file = os.path.join(folder, "recording")
    with e2e.Daemon("--pmu", f"sim:{scenario}", "--record", file, yaml=ON) as live:
        deeper_than_first(live)
        live.wait_round(live.sequence() + 1)
        pages = live.get("/metrics"), live.json("/api/v1/plan")
        live.stop()
    return file, *pages


def test_a_replay_shows_what_was_fetched_as_it_was():
    with tempfile.TemporaryDirectory() as folder:
        file, metrics, plan = record(os.path.join(HOSTS, "open/chase-zen4.json"), folder)
        with e2e.Daemon("--pmu", f"replay:{file}", "--speed", "0") as replay:
            e2e.wait_for(lambda: replay.json("/api/v1/plan")["event_groups"] == plan["event_groups"], "the plan of the end")
            assert any(group["fetched"] for group in plan["event_groups"])
            # what only the process that counts tells has no part in this
            gauges = {name for name, _ in names(metrics) if name.endswith(("_ratio", "_mpki")) and "budget" not in name}
            assert gauges <= {name for name, _ in names(replay.get("/metrics"))}
            assert not {metric for group in plan["event_groups"] if group["fetched"] for metric in group["metrics"]} & \
                {name.removeprefix("topdownd_") for name, _ in names(replay.get("/metrics"))}


def test_a_reload_begins_and_ends_it():
    with daemon(os.path.join(HOSTS, "open/chase-zen4.json"), OFF) as running:
        running.wait_round(2)
        for yaml, wanted in ((ON, True), (OFF, False)):
            e2e.write_text(running.config, yaml)
            running.process.send_signal(signal.SIGHUP)
            e2e.wait_for(lambda w=wanted: w == any(group["fetched"] for group in running.json("/api/v1/plan")["event_groups"]),
                         "what is fetched" if wanted else "a plan without it")


def test_each_core_type_has_its_own():
    with daemon("hybrid", ON) as running:
        def fetched():
            types = running.json("/api/v1/plan")["core_types"]
            return [each["core_type"] for each in types if any(group["fetched"] for group in each["event_groups"])]
        return e2e.wait_for(fetched, "a core type with more event groups")


def test_explain_says_how_many_event_groups_it_may_be():
    status, said = e2e.run_daemon("explain", "--pmu", "sim:neoverse-v2", yaml=ON)
    assert status == 0 and re.search(r"gets up to \d+ event groups more while it holds", said), said
    status, said = e2e.run_daemon("explain", "--pmu", "sim:neoverse-v2", yaml=OFF)
    assert status == 0 and "while it holds" not in said, said


if __name__ == "__main__":
    e2e.run_tests()
