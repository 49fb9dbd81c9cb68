# SPDX-License-Identifier: Apache-2.0
"""What each action could win at most: the command, the JSON page, and the series, on simulated hosts of three vendors."""

import json
import re
import subprocess

import e2e

BINARY, ROOT = e2e.arguments()
HOSTS = ("sapphire-rapids", "neoverse-v2", "zen4")
# Level 3, of which its bounds are made, is not in the default profile of this CPU.
PROFILES = {"sapphire-rapids": "profiles: {default: {groups: [Defaults, Opportunities]}}\n"}
ACTIONS = {"text_huge_pages", "data_huge_pages", "code_layout", "branch_layout", "numa_placement", "prefetchers", "working_set", "vectorise", "locks", "smt"}
SERIES = re.compile(r'^topdownd_opportunity_pipeline_slots_total\{(.*?)\} (\S+)$', re.M)
LABEL = re.compile(r'(\w+)="([^"]*)"')


def command(*options):
    return subprocess.run([BINARY, "opportunities", "--path.data", ROOT, *options], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)


def measured(host, *options):
    return command("--duration", "5s", "--pmu", f"sim:{host}", *options)


def check_bounds(actions, where):
    assert {each["action"] for each in actions} <= ACTIONS, where
    for each in actions:
        assert each["means"] and each["remedy"] and each["formula"] and each["assumes"].startswith("Assumes that "), each
        assert (each["value"] is None) == (each["reason"] is not None), each
        if each["value"] is not None:
            assert -1e-9 <= each["value"] <= 1, each
        if each["low"] is not None:
            assert each["low"] <= each["value"] <= each["high"], each


def test_the_command_measures_the_bounds_of_the_cpu():
    """The simulated Sapphire Rapids counts no floating point and no waits of its siblings: those bounds are absent, with the reason."""
    for host in HOSTS:
        result = measured(host, "--json")
        assert result.returncode == 0, result.stderr
        document = json.loads(result.stdout)
        assert document["simulated"] and len(document["whole"]) == 1, document
        actions = document["whole"][0]["actions"]
        check_bounds(actions, host)
        known = [each for each in actions if each["value"] is not None]
        assert len(actions) >= 7 and len(known) >= 6, (host, len(actions), [each["reason"] for each in actions])
        assert all(each["low"] is not None for each in known), (host, [each["interval_reason"] for each in known])


def test_the_text_has_the_largest_first_and_says_what_is_assumed():
    result = measured("zen4")
    assert result.returncode == 0, result.stderr
    shown = re.findall(r"^\S.*?(-?[\d.]+)\s?%.* (\w+)$", result.stdout, re.M)
    values = [float(value) for value, action in shown if action in ACTIONS]
    assert len(values) >= 6 and values == sorted(values, reverse=True), result.stdout
    words = " ".join(result.stdout.split())
    assert "never add them" in words and words.count("Assumes that ") == len(values) and words.count("Try it: ") == 2, result.stdout


def test_a_replay_is_refused_with_what_to_do_instead():
    result = command("--pmu", "replay:x")
    assert result.returncode == 2 and "/api/v1/opportunities" in result.stderr, result.stderr


def test_the_page_and_the_series_agree():
    for host in HOSTS:
        with e2e.Daemon("--pmu", f"sim:{host}", yaml=e2e.LISTEN_ANYWHERE + "slot: 50ms\n" + PROFILES.get(host, "")) as daemon:
            e2e.wait_for(lambda: daemon.json("/api/v1/snapshot")["sequence"] >= 4, "rounds")
            page, text = daemon.json("/api/v1/opportunities"), daemon.get("/metrics")
        check_bounds(page["actions"], host)
        known = {each["action"] for each in page["actions"] if each["value"] is not None}
        assert len(known) >= 5, (host, [each["reason"] for each in page["actions"]])
        series = [dict(LABEL.findall(labels)) | {"value": float(value)} for labels, value in SERIES.findall(text)]
        assert {each["action"] for each in series if each["value"] > 0} == known, (host, known, series)
        for socket in {each["socket"] for each in series}:
            assert len([each for each in series if each["socket"] == socket]) <= 10, (host, series)
        for each in page["actions"]:  # a mean over all rounds so far, of which the gauge is the last
            if each["action"] in known and each["value"] > 0.01:
                share = each["pipeline_slots_total"] / page["pipeline_slots_total"]
                assert 0.3 * each["value"] <= share <= min(1, 3 * each["value"]), (host, each["action"], share, each["value"])
                assert abs(sum(socket["pipeline_slots_total"] for socket in each["sockets"]) - each["pipeline_slots_total"]) <= 1e-6 * each["pipeline_slots_total"], each


if __name__ == "__main__":
    e2e.run_tests()
