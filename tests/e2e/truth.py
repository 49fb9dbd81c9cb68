# SPDX-License-Identifier: Apache-2.0
"""What truly happens on a simulated host, worked out from its scenario and spec files alone.

Written apart from the daemon's own code, after docs/scenarios.md and docs/specs.md. Time is in seconds since the host
began. All rates are straight lines between the moments that a load names.
"""

import json
import re

import spec_files


class Scenario:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.data = json.load(file)
        self.cpus_of_socket = self.data["cores_per_socket"]
        assert self.data.get("threads_per_core", 1) == 1 and "rivals" not in self.data
        self.sockets = range(self.data["sockets"])
        self.place = {}  # cpu: (load, how far it is ahead)
        for assignment in self.data["assignments"]:
            for i, cpu in enumerate(cpu_list(assignment["cpus"])):
                ahead = assignment.get("offset_seconds", 0) + i * assignment.get("stagger_seconds", 0)
                self.place[cpu] = (self.data["loads"][assignment["load"]], ahead)

    def cpus(self, socket):
        return range(socket * self.cpus_of_socket, (socket + 1) * self.cpus_of_socket)

    def _keyframe_rates(self, keyframe):
        if "rates" in keyframe:
            return keyframe["rates"]
        cycles = keyframe["utilisation"] * self.data["frequency_hz"]
        return {event: cycles * each for event, each in self.data["mixes"][keyframe["mix"]].items()}

    def rates(self, cpu, at):
        """How often each event happens a second on this CPU at this moment."""
        load, ahead = self.place[cpu]
        period, frames = load["period_seconds"], load["keyframes"]
        phase = (at + ahead) % period
        i = max(i for i, frame in enumerate(frames) if frame["at_seconds"] <= phase)
        begin, end = frames[i], frames[(i + 1) % len(frames)]
        end_seconds = end["at_seconds"] if i + 1 < len(frames) else period
        way = (phase - begin["at_seconds"]) / (end_seconds - begin["at_seconds"])
        a, b = self._keyframe_rates(begin), self._keyframe_rates(end)
        return {event: a.get(event, 0) * (1 - way) + b.get(event, 0) * way for event in a.keys() | b.keys()}

    def bends(self, cpu, begin, end):
        """begin, end, and the moments between them at which the rates of this CPU change direction."""
        load, ahead = self.place[cpu]
        period, found = load["period_seconds"], [begin]
        first_period = (begin + ahead) // period
        for p in range(int(first_period), int((end + ahead) // period) + 1):
            for frame in load["keyframes"]:
                moment = p * period + frame["at_seconds"] - ahead
                if begin < moment < end:
                    found.append(moment)
        return sorted(found) + [end]


def cpu_list(text):
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


class Spec:
    def __init__(self, path, clock_hz=None):
        self.path, self.clock_hz = path, clock_hz  # of the clock that never changes; None: unknown
        self.data = spec_files.load(path)

    def groups(self):
        return list(self.data["groups"]["metrics"])

    def stage_1(self):
        return self.data["methodologies"]["topdown_methodology"]["metric_grouping"]["stage_1"]

    def metrics_of(self, groups):
        return sorted({m for group in groups for m in self.data["groups"]["metrics"][group]["metrics"]})

    def value(self, metric, rates):
        """The metric as it is exported: ratios from 0 to 1 also where the vendor says per cent."""
        scale = 0.01 if self.data["metrics"][metric]["units"].startswith("percent") else 1
        return evaluate(self.data["metrics"][metric]["formula"], rates) * scale

    def fraction(self, metric, rates):
        """A and B of a metric of the form k A/B, where A and B are sums or differences of counts; None for other metrics."""
        formula = self.data["metrics"][metric]["formula"]
        seconds = re.fullmatch(r"(\w+) / \((\w+) / #system_tsc_freq\)", formula)
        if seconds and self.clock_hz and seconds.group(2) in rates:
            return rates[seconds.group(1)], rates[seconds.group(2)] / self.clock_hz
        match = re.fullmatch(r"(\w+|\([\w +-]*\)) / (\w+)( \* \d+)?", formula)
        made_of_counts = match and match.group(2) in rates  # and not of other metrics
        return (evaluate(match.group(1), rates), rates[match.group(2)]) if made_of_counts else None

    def category_shares(self, rates):
        """{category: its share of the pipeline slots}, and all pipeline slots a second."""
        level1 = self.data["topdownd"]["level1"]
        shares = {c: self.value(m, rates) for c, m in level1["categories"].items()}
        total = sum(shares.values())
        return {c: share / total for c, share in shares.items()}, evaluate(level1["pipeline_slots"], rates)


def evaluate(formula, rates):
    return eval(formula, {"__builtins__": {}}, rates)  # our own spec file
