# SPDX-License-Identifier: Apache-2.0
"""Real data on any host: the kernel's software events, caused by programs that know what they have done.

A child pinned to one CPU takes page faults and leaves the CPU, and says how often. The daemon counts all the time, so it misses
nothing. What others did in the meantime comes on top, so the kernel's own totals (/proc/vmstat, /proc/stat) are the upper
bound: those before the first page was made and after the last. They may be TOLERANCE apart, as they are not read at the
same moment. perf says it more exactly: what one perf counts between two of our snapshots is at most what we count between
them, and what a perf counts around them at least.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import e2e

TOLERANCE = 0.05
SECONDS = 7
SOFTWARE_METRICS = ["context_switches", "task_migrations", "minor_faults", "major_faults", "alignment_faults", "emulation_faults"]
YAML = e2e.LISTEN_ANYWHERE

# Touches PAGES fresh pages, gives them back and sleeps for a moment, again and again.
CHILD = """
import json, mmap, os, resource, time
cpu, seconds, pages = {cpu}, {seconds}, 200
os.sched_setaffinity(0, [cpu])
memory = mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_NOHUGEPAGE)
before, touched, end = resource.getrusage(resource.RUSAGE_SELF), 0, time.monotonic() + seconds
while time.monotonic() < end:
    for page in range(pages):
        memory[page * mmap.PAGESIZE] = 1
    touched += pages
    memory.madvise(mmap.MADV_DONTNEED)
    time.sleep(0.002)
after = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps(dict(touched=touched, faults=after.ru_minflt - before.ru_minflt,
                      switches=after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw)))
"""


def numerator(page, metric):
    return e2e.value_of(page, "topdownd_metric_numerator_total", metric=f"{metric}_per_second")


def kernel_total(path, name):
    return int(re.search(rf"^{name} (\d+)", e2e.read_text(path), re.M).group(1))


def kernel_totals():
    return {"minor_faults": kernel_total("/proc/vmstat", "pgfault"),
            "context_switches": kernel_total("/proc/stat", "ctxt")}


def run_child():
    cpu = max(os.sched_getaffinity(0))
    done = subprocess.run([sys.executable, "-c", CHILD.format(cpu=cpu, seconds=SECONDS)], check=True, text=True,
                          capture_output=True, timeout=SECONDS + e2e.TIMEOUT)
    return cpu, json.loads(done.stdout)


def at_the_end_of_a_round(daemon):
    """Both pages at the end of a round, and the kernel's totals before and after they were made."""
    sequence, before = daemon.sequence(), kernel_totals()
    while daemon.sequence() == sequence:
        time.sleep(0.02)
        previous, before = before, kernel_totals()
    page, cpus = daemon.of_one_snapshot("/metrics", "/metrics/cpu")
    return previous, kernel_totals(), page, cpus


def measure_child(daemon):
    """What the child did, and by how much totals grew: ours of the host and of its CPU, and the kernel's at least and at most."""
    begin, begun, page_before, cpus_before = at_the_end_of_a_round(daemon)
    cpu, child = run_child()
    end, ended, page, cpus = at_the_end_of_a_round(daemon)
    grown = {m: numerator(page, m) - numerator(page_before, m) for m in end}
    on_cpu = {e: e2e.value_of(cpus, "topdownd_cpu_event_total", cpu=str(cpu), event=e) -
              e2e.value_of(cpus_before, "topdownd_cpu_event_total", cpu=str(cpu), event=e)
              for e in ("MINOR_FAULTS", "CONTEXT_SWITCHES")}
    return child, grown, on_cpu, {m: end[m] - begun[m] for m in end}, {m: ended[m] - begin[m] for m in end}


def test_page_faults_and_context_switches_of_a_child_are_counted():
    with e2e.Daemon("--pmu", "auto", yaml=YAML) as daemon:
        child, grown, on_cpu, least, kernel = measure_child(daemon)
    assert child["faults"] >= child["touched"] > 10000, child
    assert child["switches"] > 500, child
    for metric, event, done in (("minor_faults", "MINOR_FAULTS", child["touched"]),
                                ("context_switches", "CONTEXT_SWITCHES", child["switches"])):
        assert done * (1 - TOLERANCE) <= grown[metric] <= kernel[metric] * (1 + TOLERANCE), (metric, child, grown, kernel)
        assert done * (1 - TOLERANCE) <= on_cpu[event] <= grown[metric] + 2, (event, child, on_cpu, grown)
    # Page faults on behalf of others (pinned memory) are in the kernel's total only; context switches are the same thing.
    assert grown["context_switches"] >= least["context_switches"] * (1 - TOLERANCE), (grown, least)
    return (f"{child['touched']} pages touched, {grown['minor_faults']:.0f} faults counted, the kernel says "
            f"{kernel['minor_faults']}; {child['switches']} switches made, {grown['context_switches']:.0f} counted, the "
            f"kernel says {kernel['context_switches']}")


class PerfStat:
    """perf stat on all CPUs, from the moment that it counts."""

    EVENTS = {"cpu-migrations": "task_migrations", "context-switches": "context_switches"}

    def __init__(self):
        self.control, self.answer = os.pipe(), os.pipe()
        descriptors = f"fd:{self.control[0]},{self.answer[1]}"
        self.program = subprocess.Popen(["perf", "stat", "-a", "-x,", "-D", "-1", "--control", descriptors, "-e", ",".join(self.EVENTS)],
                                        stderr=subprocess.PIPE, text=True, pass_fds=(self.control[0], self.answer[1]))
        self.ask("enable")

    def ask(self, what):
        os.write(self.control[1], f"{what}\n".encode())
        assert os.read(self.answer[0], 100).startswith(b"ack"), what

    def counts(self):
        self.ask("disable")
        self.program.send_signal(signal.SIGINT)
        fields = [line.split(",") for line in self.program.communicate(timeout=e2e.TIMEOUT)[1].splitlines()]
        return {self.EVENTS[f[2]]: int(f[0]) for f in fields if len(f) > 2 and f[2] in self.EVENTS}


# Wakes up on one CPU after another, again and again.
MIGRATOR = """
import os, time
cpus, end = sorted(os.sched_getaffinity(0)), time.monotonic() + 6
while time.monotonic() < end:
    for cpu in cpus:
        os.sched_setaffinity(0, [cpu])
        time.sleep(0.001)
"""


def test_migrations_and_context_switches_are_those_that_perf_counts():
    if not shutil.which("perf"):
        raise e2e.Skip("no perf here")
    with e2e.Daemon("--pmu", "auto", yaml=YAML) as daemon:
        daemon.wait_round(1)
        around = PerfStat()
        _, _, before, _ = at_the_end_of_a_round(daemon)
        between = PerfStat()
        subprocess.run([sys.executable, "-c", MIGRATOR], check=True, timeout=e2e.TIMEOUT)
        least = between.counts()
        _, _, after, _ = at_the_end_of_a_round(daemon)
        most = around.counts()
    ours = {m: numerator(after, m) - numerator(before, m) for m in least}
    assert len(least) == 2 and least["task_migrations"] > 100 * len(os.sched_getaffinity(0)), least
    for metric, grown in ours.items():
        assert least[metric] - 1 <= grown <= most[metric] + 1, (metric, least, ours, most)  # rounded to whole ones
    return ", ".join(f"{m}: {least[m]} <= {ours[m]:.0f} <= {most[m]}" for m in ours)


def wakeups_of(daemon):
    pid = daemon.process.pid
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", e2e.read_text(f"/proc/{pid}/task/{pid}/status"), re.M).group(1))


def test_a_snapshot_wakes_the_daemon_once():
    with e2e.Daemon("--pmu", "auto", yaml=YAML) as daemon:
        daemon.wait_round(2)
        sequence, before = daemon.sequence(), wakeups_of(daemon)
        daemon.wait_round(sequence + 5)
        time.sleep(0.5)
        rounds, wakeups = daemon.sequence() - sequence, wakeups_of(daemon) - before
    assert wakeups <= 1.3 * rounds + 1, (wakeups, rounds)
    return f"{wakeups} wake-ups in {rounds} rounds"


def test_all_software_metrics_are_there_and_none_is_simulated():
    with e2e.Daemon("--pmu", "auto", yaml=YAML) as daemon:
        daemon.wait_round(1)
        host, cpus = daemon.get("/metrics"), daemon.get("/metrics/cpu")
        assert daemon.json("/api/v1/status")["simulated"] is False
    for metric in SOFTWARE_METRICS:
        assert numerator(host, metric) >= 0
        assert e2e.value_of(host, f"topdownd_{metric}_per_second") >= 0
    marked = [s for page in (host, cpus) for s in e2e.samples(page) if "simulated" in s[1]]
    assert not marked, marked[0]
    assert e2e.value_of(host, "topdownd_pmu_up", pmu="software") == 1
    n = e2e.value_of(host, "topdownd_cpus", state="measured")
    assert n == os.sysconf("SC_NPROCESSORS_ONLN"), n
    return f"{len(SOFTWARE_METRICS)} metrics on {n:.0f} CPUs"


def test_what_is_missing_is_said_at_start_and_in_a_series():
    with e2e.Daemon("--pmu", "auto", yaml=YAML) as daemon:
        page, log = daemon.get("/metrics"), daemon.log()
    errors = [labels for name, labels, _ in e2e.samples(page) if name == "topdownd_pmu_error"]
    assert len(errors) == 1 and errors[0]["pmu"] == "cpu", errors
    if errors[0]["reason"] == "absent":
        assert "no Topdown, no MPKI and no miss ratio" in log and "No such file" in log, log
    elif errors[0]["reason"] == "unsupported":
        assert "no spec for it yet" in log, log
    assert "this host cannot measure General, MPKI, Miss_Ratio" in log, log
    return f"reason {errors[0]['reason']}"


def test_the_counts_of_all_cpus_add_up_to_the_totals():
    with e2e.Daemon("--pmu", "auto", yaml=YAML) as daemon:
        daemon.wait_round(2)
        host, cpus = daemon.of_one_snapshot("/metrics", "/metrics/cpu")
    n = os.sysconf("SC_NPROCESSORS_ONLN")
    for metric, event in (("minor_faults", "MINOR_FAULTS"), ("context_switches", "CONTEXT_SWITCHES")):
        whole, parts = numerator(host, metric), e2e.value_of(cpus, "topdownd_cpu_event_total", event=event)
        assert abs(whole - parts) <= 0.5 * (n + 1), (metric, whole, parts)  # n + 1 numbers rounded to whole ones
    covered = e2e.value_of(host, "topdownd_covered_cpu_seconds_total")
    assert abs(e2e.value_of(cpus, "topdownd_cpu_covered_seconds_total") - covered) < 1e-6 * covered
    assert numerator(host, "context_switches") > 0
    return f"{numerator(host, 'context_switches'):.0f} context switches on {n} CPUs"


if __name__ == "__main__":
    if REASON := e2e.perf_events_allowed():
        print(f"skipped: {REASON}")
        raise SystemExit(e2e.SKIPPED)
    e2e.run_tests()
