# SPDX-License-Identifier: Apache-2.0
"""What would help how much: by hand, in JSON and in words, on simulated hosts of three vendors."""

import json
import os
import re
import subprocess

import e2e

BINARY, ROOT = e2e.arguments()
HOSTS = ("sapphire-rapids", "neoverse-v2", "zen4")
HEADINGS = {"mispredictions", "big_code", "instruction_supply", "data_bandwidth", "data_latency", "data_tlbs", "synchronization", "compute",
            "irregular_overhead", "other", "branching_overhead", "useful_work", "front_end", "bad_speculation", "memory", "execution", "retiring",
            "back_end"}
ROW = re.compile(r"^  (\S.*?) +(-?[\d.]+) %", re.M)


def measured(host, *options):
    groups = () if "--groups" in options else ("--groups", "Bottlenecks")
    command = [BINARY, "measure", "--path.data", ROOT, "--duration", "5s", "--pmu", f"sim:{host}", *groups, *options]
    result = subprocess.run(command, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def check(bottlenecks, host):
    assert len(bottlenecks) >= 5 and {each["bottleneck"] for each in bottlenecks} <= HEADINGS, (host, bottlenecks)
    known = [each for each in bottlenecks if each["value"] is not None]
    values = [each["value"] for each in known]
    assert bottlenecks[:len(known)] == known and values == sorted(values, reverse=True), (host, bottlenecks)
    for each in bottlenecks:
        assert each["title"] and each["remedy"] and (each["value"] is None) == (each["reason"] is not None), each
        if each["low"] is not None:
            assert each["low"] <= each["value"] <= each["high"], each
    return {each["bottleneck"]: each["value"] for each in known}


def test_the_group_measures_the_headings_and_they_divide_all_slots():
    for host in HOSTS:
        document = json.loads(measured(host, "--json"))
        values = check(document["whole"][0]["bottlenecks"], host)
        assert len(values) >= 5 and 0.85 <= sum(values.values()) <= 1.15, (host, sum(values.values()), values)


def test_the_page_says_which_metric_a_heading_lacks():
    with e2e.Daemon("--pmu", "sim:sapphire-rapids", yaml=e2e.LISTEN_ANYWHERE + "slot: 50ms\n") as daemon:
        e2e.wait_for(lambda: daemon.json("/api/v1/snapshot")["sequence"] >= 2, "rounds")
        page = daemon.json("/api/v1/topdown?scope=socket")
        cpus = daemon.json("/api/v1/topdown?scope=cpu")
    for scope in page["scopes"]:
        values = check(scope["bottlenecks"], f"socket {scope['socket']}")
        assert {"front_end", "memory"} <= set(values), values
        missing = [each["reason"] for each in scope["bottlenecks"] if each["value"] is None]
        assert missing and all(re.match(r"needs \w+: ", reason) for reason in missing), missing
    assert not any("bottlenecks" in scope for scope in cpus["scopes"])


def test_the_report_has_the_largest_first_and_what_to_do():
    text = measured("zen4")
    part = text.partition("What would help how much, of the pipeline slots\n")[2]
    assert part, text
    part = part.partition("\n\n")[0]
    values = [float(value) for _, value in ROW.findall(part)]
    assert len(values) >= 3 and values == sorted(values, reverse=True) and values[-1] >= 1, part
    assert "Waits for data, the rest" in part, part


def test_a_matrix_product_on_arm_computes_well_and_gets_no_advice():
    """Half of its operations are vectors, and four of five slots do useful work."""
    host = os.path.join(ROOT, "tests/data/hosts/blind/gemm-neoverse-n2.json")
    document = json.loads(measured(host, "--groups", "stage_1,Operation_Mix", "--json"))["whole"][0]
    assert document["answer"].startswith("Nothing stands out: this computes well. Useful work"), document["answer"]
    assert document["path"] == ["retiring_ratio"] and document["next"] is None and document["sample_command"] is None, document


if __name__ == "__main__":
    e2e.run_tests()
