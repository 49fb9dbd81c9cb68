# SPDX-License-Identifier: Apache-2.0
"""A fleet of simulated hosts: three vendors, two roles, hosts that are sick or blind, and what truly happens on each.

A host is a scenario file made here and a topdownd that measures it. Every event that its default profile needs happens at a rate
that swings about a mean within some seconds, each host at its own pace, so that event groups see different times and the
estimates have errors as on real hosts. A period's mean rates are exact, so the truth of each host and of the fleet is a sum.
"""

import json
import os
import random
import re

import e2e
import spec_files

_, ROOT = e2e.arguments()
CATEGORIES = ("frontend_bound", "bad_speculation", "retiring", "backend_bound")
SEED = 20
SOCKETS, CORES, FREQUENCY = 1, 8, 2_500_000_000
HEALTHY = {"frontend_bound": 0.13, "bad_speculation": 0.05, "retiring": 0.52, "backend_bound": 0.30}
SICK = {"frontend_bound": 0.06, "bad_speculation": 0.03, "retiring": 0.16, "backend_bound": 0.75}
NOISE = 0.06  # how far the mix of a load swings about its mean
EVENT = re.compile(r"[A-Za-z_][\w.:]*(?:\\-[\w.:]+)*")


class Model:
    """A CPU model: its spec file, and which of its events make level 1."""

    def __init__(self, spec, cycles, instructions, width, level1):
        self.spec, self.cycles, self.instructions, self.width, self.level1 = spec, cycles, instructions, width, level1
        self.data = spec_files.load(os.path.join(ROOT, f"specs/{spec}.json"))

    def default_events(self):
        """What the metrics of the default profile count, by following their formulas."""
        grouping = self.data["methodologies"]["topdown_methodology"]["metric_grouping"]
        groups, metrics, events = self.data["groups"]["metrics"], [], set(self.level1(HEALTHY))
        for name in self.data["topdownd"]["defaults"]:
            metrics += [metric for group in grouping.get(name, [name]) for metric in groups[group]["metrics"]]
        for metric in metrics:  # grows while it is walked
            for name in EVENT.findall(self.data["metrics"][metric]["formula"]):
                name = name.replace("\\-", "-")
                if name in self.data["events"]:
                    events.add(name)
                elif name in self.data["metrics"] and name not in metrics:
                    metrics.append(name)
        return sorted(events)

    def mix(self, shares, ipc, misses):
        """Events per cycle: level 1 as told; what else happens is rare, but happens."""
        mix = {event: 0.01 * misses for event in self.default_events()}
        return mix | {self.cycles: 1, self.instructions: ipc} | self.level1(shares)


def arm_level1(shares):
    """Neoverse V2, whose formulas correct for mispredictions: with none they are these."""
    used = 8 * (shares["retiring"] + shares["bad_speculation"])
    return {"OP_SPEC": used, "OP_RETIRED": 8 * shares["retiring"], "STALL_SLOT": 8 - used,
            "STALL_SLOT_FRONTEND": 8 * shares["frontend_bound"], "STALL_SLOT_BACKEND": 8 * shares["backend_bound"],
            "BR_MIS_PRED": 1e-9, "CNT_CYCLES": 0.4}


def intel_level1(shares):
    return {"slots": 6, "topdown-fe-bound": 6 * shares["frontend_bound"], "topdown-bad-spec": 6 * shares["bad_speculation"],
            "topdown-retiring": 6 * shares["retiring"], "topdown-be-bound": 6 * shares["backend_bound"],
            "topdown-mem-bound": 4 * shares["backend_bound"], "topdown-fetch-lat": 2 * shares["frontend_bound"],
            "topdown-br-mispredict": 4 * shares["bad_speculation"], "topdown-heavy-ops": 0.2 * shares["retiring"],
            "INT_MISC.UOP_DROPPING": 1e-9, "CPU_CLK_UNHALTED.REF_TSC": 0.8}


def amd_level1(shares):
    return {"de_src_op_disp.all": 6 * (shares["retiring"] + shares["bad_speculation"]), "ex_ret_ops": 6 * shares["retiring"],
            "de_no_dispatch_per_slot.no_ops_from_frontend": 6 * shares["frontend_bound"],
            "de_no_dispatch_per_slot.backend_stalls": 6 * shares["backend_bound"],
            "de_no_dispatch_per_slot.smt_contention": 1e-9, "ls_not_halted_p0_cyc.p0_freq_cyc": 0.9}


MODELS = [
    Model("neoverse-v2", "CPU_CYCLES", "INST_RETIRED", 8, arm_level1),
    Model("sapphire-rapids", "CPU_CLK_UNHALTED.THREAD", "INST_RETIRED.ANY", 6, intel_level1),
    Model("zen4", "ls_not_halted_cyc", "ex_ret_instr", 6, amd_level1),
]


# The memory controllers of those models whose boxes are simulated: kind, spec, and events of 64 bytes that read and write.
BOXES = {"sapphire-rapids": ("imc", "imc-sapphire-rapids", "UNC_M_CAS_COUNT.RD", "UNC_M_CAS_COUNT.WR"),
         "zen4": ("umc", "umc-zen4", "umc_cas_cmd.rd", "umc_cas_cmd.wr")}
BOXES_PER_SOCKET, PEAK = 4, 153.6e9  # bytes a second


class Host:
    """One simulated host: its labels, its load, its scenario, and its true level 1 in pipeline slots a second."""

    def __init__(self, number, model, rng, state="healthy"):
        self.name, self.model, self.state = f"{model.spec}-{number:02}", model, state
        self.role = "database" if number % 3 else "web"
        self.cores, self.utilisation = CORES * (1 + number % 3), rng.uniform(0.3, 0.8)
        base = SICK if state == "sick" else HEALTHY
        self.ipc, self.misses = (0.6, 4) if state == "sick" else (model.width * base["retiring"] * 0.9, 1)
        own = {category: share * rng.uniform(0.97, 1.03) for category, share in base.items()}
        self.shares = {category: share / sum(own.values()) for category, share in own.items()}
        self.period = rng.uniform(3, 7)

    def slots(self):
        """{category: pipeline slots a second}, the mean over a period."""
        all_slots = self.peak() * self.utilisation
        return {category: share * all_slots for category, share in self.shares.items()}

    def peak(self):
        """Pipeline slots a second of all cores at their highest frequency."""
        return self.cores * SOCKETS * FREQUENCY * self.model.width

    def scenario(self):
        """Two keyframes that lie as far above as below the mean, at one utilisation: the mean of a period is the mean of both."""
        towards = NOISE * min(self.shares["backend_bound"], self.shares["retiring"])
        frames = []
        for at, sign in ((0, 1), (self.period / 2, -1)):
            shares = self.shares | {"backend_bound": self.shares["backend_bound"] + sign * towards,
                                    "retiring": self.shares["retiring"] - sign * towards}
            mix = self.model.mix(shares, self.ipc * (1 - sign * NOISE), self.misses * (1 + sign * NOISE))
            frames.append((at, mix))
        cpus = f"0-{self.cores * SOCKETS - 1}"
        counters = self.model.data["topdownd"]["counters"]
        rivals = {"rivals": [{"kind": "refuse", "cpus": cpus}]} if self.state == "blind" else {}
        return self.boxes() | {
            "spec": self.model.spec, "sockets": SOCKETS, "cores_per_socket": self.cores, "general_counters": counters["general"],
            "maximum_frequency_hz": FREQUENCY, "frequency_hz": FREQUENCY, "clock_hz": 1_000_000_000,
            "mixes": {f"mix{i}": mix for i, (_, mix) in enumerate(frames)},
            "loads": {"swing": {"period_seconds": self.period, "keyframes": [
                {"at_seconds": at, "mix": f"mix{i}", "utilisation": self.utilisation} for i, (at, _) in enumerate(frames)]}},
            "assignments": [{"cpus": cpus, "load": "swing", "stagger_seconds": self.period / 3.7}]} | rivals

    def boxes(self):
        """Memory of which a sick host uses four fifths and others a quarter, three bytes read for each one written."""
        if self.model.spec not in BOXES:
            return {}
        kind, spec, read, write = BOXES[self.model.spec]
        each = (0.8 if self.state == "sick" else 0.25) * PEAK / 64 / BOXES_PER_SOCKET
        load = {"period_seconds": self.period, "keyframes": [{"at_seconds": 0, "rates": {read: 0.75 * each, write: 0.25 * each}}]}
        return {"uncore": [{"kind": kind, "spec": spec, "boxes_per_socket": BOXES_PER_SOCKET, "peak": PEAK, "loads": {"steady": load},
                            "assignments": [{"cpus": f"0-{BOXES_PER_SOCKET * SOCKETS - 1}", "load": "steady"}]}]}

    def start(self, stack, folder, yaml, *options):
        path = e2e.write_text(os.path.join(folder, f"{self.name}.json"), json.dumps(self.scenario()))
        return stack.enter_context(e2e.Daemon("--pmu", f"sim:{path}", *options, yaml=yaml, ready=False))


def hosts(count):
    """So many hosts, a third of each vendor; two databases are sick, of the second and of the third one, and one of the first is blind."""
    rng, found = random.Random(SEED), []
    for i in range(count):
        number, model = divmod(i, len(MODELS))
        state = {(4, 0): "blind", (4, 1): "sick", (4, 2): "sick"}.get((number, model), "healthy")
        found.append(Host(number, MODELS[model], rng, state))
    return found


def true_shares(slots):
    """{category: share} of many hosts' slots: sums first, then the quotient."""
    total = {category: sum(each[category] for each in slots) for category in CATEGORIES}
    return {category: value / sum(total.values()) for category, value in total.items()}
