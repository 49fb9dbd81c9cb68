# SPDX-License-Identifier: Apache-2.0
"""Recordings of hosts with PMUs outside the cores: what the live daemon said of them comes back, value by value."""

import json
import os
import re
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "interval: 1s\nslot: 50ms\n"
ALL = YAML + "uncore: {groups: [memory, llc]}\n"
OF_BOXES = re.compile(r"topdownd_(memory|llc|interconnect|uncore)_")


def replay(path, *options, yaml=YAML):
    return e2e.Daemon("--pmu", f"replay:{path}", *options, yaml=yaml)


def wait_end(daemon):
    e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")


def load(*rates):
    """Rates that change every second, so that each snapshot has values of its own."""
    return {"period_seconds": len(rates), "keyframes": [{"at_seconds": i, "rates": rate} for i, rate in enumerate(rates)]}


def scenario(folder, kinds=("imc", "l3"), rivals=()):
    """Zen 4 on two sockets; memory controllers whose loads change, and caches with more events than counters."""
    with open(os.path.join(ROOT, "scenarios/zen4.json"), encoding="utf-8") as file:
        host = json.load(file)
    reads, writes = "umc_cas_cmd.rd", "umc_cas_cmd.wr"
    known = {"imc": {"kind": "umc", "spec": "umc-zen4", "boxes_per_socket": 3, "peak": 460800000000,
                     "loads": {"all": load({reads: 1e7, writes: 2e6}, {reads: 3e7, writes: 7e6}, {reads: 5e6, writes: 9e6})},
                     "assignments": [{"cpus": "0-5", "load": "all"}], "rivals": list(rivals)},
             "l3": {"kind": "l3", "spec": "l3-zen4", "boxes_per_socket": 2, "loads": {"all": load({})},
                    "assignments": [{"cpus": "0-3", "load": "all"}]}}
    host["uncore"] = [known[kind] for kind in kinds]
    path = os.path.join(folder, "boxes.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(host, file)
    return f"sim:{path}"


def series(page):
    """What a page says of boxes, without what tells a replay from a live host."""
    return {re.sub(r',?replay="true"', "", line) for line in page.splitlines() if OF_BOXES.match(line)}


def uncore(daemon):
    answer = daemon.json("/api/v1/uncore")
    return answer["timestamp_seconds"], answer["kinds"]


