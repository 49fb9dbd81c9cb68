# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes simulated hosts, and PromQL confirms the numbers against the truth.

Two hosts are scraped for some seconds: "steady", on which nothing ever changes, with every metric group of the spec; and the
shipped demo, whose load changes while it is measured. On the steady host a quotient of two increases is the truth but
for whole counts. On the demo each event group sees only its own slots, so no single number can be asked for; but whatever
slots it saw, what it found must be possible, and what is possible follows from the scenario (see `possible`).
"""

import contextlib
import json
import math
import os
import re
import subprocess
import urllib.parse

import e2e
import spec_files
import truth

PROMETHEUS, PROMTOOL = "/usr/bin/prometheus", "/usr/bin/promtool"
SLOT_SECONDS = {"steady": 0.05, "demo": 0.1}
ROUNDS = 6
DEMO_GROUPS = ["General", "Clock", "MPKI", "Miss_Ratio"]  # and stage_1: the default profile
SERIES_MAX = 300
CATEGORIES = ["frontend_bound", "bad_speculation", "retiring", "backend_bound"]

BINARY, ROOT = e2e.arguments()
STEADY_FILE = os.path.join(ROOT, "tests/data/scenarios/steady.json")
STEADY = truth.Scenario(STEADY_FILE)
DEMO = truth.Scenario(os.path.join(ROOT, "scenarios/demo.json"))
SPEC = truth.Spec(os.path.join(ROOT, "specs/neoverse-v2.json"))
DEMO_SPEC = truth.Spec(SPEC.path, DEMO.data["clock_hz"])
SOFTWARE = {m["topdownd"]["name"] for m in spec_files.load(os.path.join(ROOT, "specs/software.json"))["metrics"].values()}


def prometheus_yaml(jobs):
    text = "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"
    for job, port, path in jobs:
        text += (f"  - job_name: {job}\n    metrics_path: {path}\n"
                 f"    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n")
    return text


class Prometheus(e2e.Program):
    def __init__(self, folder, jobs):
        self.port = e2e.free_port()
        config = e2e.write_text(os.path.join(folder, "prometheus.yml"), prometheus_yaml(jobs))
        super().__init__([PROMETHEUS, f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                          f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"])
        e2e.wait_for(self._ready, "Prometheus to be ready")

    def _ready(self):
        assert not self.ended(), self.log()
        with contextlib.suppress(OSError):
            return e2e.fetch(self.port, "/-/ready").status == 200
        return False

    def query(self, promql, at=None):
        """[(labels, value)] of a query; a value is a number, or [(time, number)] of a range."""
        arguments = {"query": promql} | ({"time": str(at)} if at else {})
        answer = json.loads(e2e.fetch(self.port, "/api/v1/query?" + urllib.parse.urlencode(arguments)).body)
        assert answer["status"] == "success", (promql, answer)
        if answer["data"]["resultType"] == "matrix":
            return [(r["metric"], [(t, float(v)) for t, v in r["values"]]) for r in answer["data"]["result"]]
        return [(r["metric"], float(r["value"][1])) for r in answer["data"]["result"]]


def start_demo(stack):
    """A daemon on the demo and when its host began, which the first round says: whoever comes too late for it tries again.

    Its snapshots are those of whole rounds, also where a busy machine makes slots longer: what is counted between two of them
    is then of windows between them.
    """
    yaml = f"{e2e.LISTEN_ANYWHERE}slot: 100ms\ninterval: 60s\n"
    for _ in range(5):
        with contextlib.ExitStack() as attempt:
            demo = attempt.enter_context(e2e.Daemon("--pmu", "sim", yaml=yaml))
            first = demo.wait_round(1)
            if first["sequence"] == 1:
                stack.push(attempt.pop_all())
                return demo, first["round"]["start_ns"]
    raise AssertionError("the first round was missed each time")


class Setting:
    """The hosts, Prometheus, and the window [at - window, at] that all tests look at."""

    def __init__(self, stack, folder):
        self.demo, self.begin_ns = start_demo(stack)
        groups = json.dumps(SPEC.groups())
        self.steady = stack.enter_context(e2e.Daemon(
            "--pmu", f"sim:{STEADY_FILE}",
            yaml=f"{e2e.LISTEN_ANYWHERE}slot: 50ms\nprofiles: {{default: {{groups: {groups}}}}}\n"))
        self.prometheus = stack.enter_context(Prometheus(folder, [
            ("steady", self.steady.port, "/metrics"), ("demo", self.demo.port, "/metrics"),
            ("demo_cpu", self.demo.port, "/metrics/cpu")]))
        # From round 2 on, so that counters are not near 0, where rate() extrapolates less.
        for daemon in (self.steady, self.demo):
            daemon.wait_round(2)
        e2e.wait_for(self._scraped_from_round_2, "the first scrapes")
        begun = self._now()
        for daemon in (self.steady, self.demo):
            daemon.wait_round(daemon.sequence() + ROUNDS)
        self.at = self._now()
        self.window = int(self.at - begun) + 1

    def _now(self):
        return self.query("vector(time())")[0][1]

    def _scraped_from_round_2(self):
        return (len(self.query("topdownd_covered_cpu_seconds_total > 0")) >= 4 and
                len(self.query('count by (job) ({job="demo_cpu",__name__="topdownd_cpu_covered_seconds_total"})')) == 1)

    def query(self, promql, at=None):
        return self.prometheus.query(promql.replace("[w]", f"[{self.window}s]") if at else promql, at)

    def ask(self, promql):
        """A query at the end of the window; [w] is the window."""
        return self.query(promql, self.at)

    def ask_one(self, promql):
        found = self.ask(promql)
        assert len(found) == 1, (promql, found)
        return found[0][1]


def setting():
    return SETTING


def close(a, b, relative):
    return math.isclose(a, b, rel_tol=relative, abs_tol=0)


def factors(daemon):
    """{exported name: k}, as the catalog says it."""
    return {m["metric"]: m["k"] for m in daemon.json("/api/v1/catalog")["metrics"] if m["k"] is not None}


def vendor_names(daemon):
    """{exported name: the vendor's}, as the catalog says it, of what is measured."""
    return {m["metric"]: m["name"] for m in daemon.json("/api/v1/catalog")["metrics"] if m["planned"]}


def quotients(job, by):
    """{(socket or None, exported name): numerator over denominator times k} over the window."""
    k, found = factors(setting().steady if job == "steady" else setting().demo), {}
    increase = 'sum by ({1}) (rate(topdownd_metric_{0}_total{{job="{2}"}}[w]))'
    labels = ", ".join(by)
    for series, value in setting().ask(
            f'{increase.format("numerator", labels, job)} / {increase.format("denominator", labels, job)}'):
        name = series["metric"]
        if name in SOFTWARE:  # test_software_beside.py
            continue
        found[int(series["socket"]) if "socket" in series else None, name] = value * k.get(name, 1)
    return found


def check_that_all_ratios_are_there(spec, names, found, metrics, some_rates, sockets):
    expected = {m for m in metrics if spec.fraction(m, some_rates)}
    known = {names[name] for _, name in found}
    assert known == expected, f"which metrics have a numerator and a denominator: {known ^ expected}"
    assert len(found) == len(expected) * sockets
    return len(expected)


# ---- steady ----

def whole_counts(a, b):
    """By how much whole counts can move a quotient of these two rates: by one count each in every window."""
    return 1 / (a * SLOT_SECONDS["steady"]) + 1 / (b * SLOT_SECONDS["steady"])


def test_on_a_steady_load_numerator_over_denominator_is_the_truth():
    rates, worst, exact = STEADY.rates(0, 0), 0, 0
    names = vendor_names(setting().steady)
    for by, sockets in ((["socket", "metric"], 2), (["metric"], 1)):
        found = quotients("steady", by)
        n = check_that_all_ratios_are_there(SPEC, names, found, SPEC.metrics_of(SPEC.groups()), rates, sockets)
        for (socket, name), value in found.items():
            expected, (a, b) = SPEC.value(names[name], rates), SPEC.fraction(names[name], rates)
            assert close(value, expected, 1e-6 + whole_counts(a, b)), (socket, name, value, expected)
            worst = max(worst, abs(value / expected - 1))
            exact += close(value, expected, 1e-6)
    return f"{n} metrics per socket and summed; largest relative error {worst:.1e}, {exact} of {3 * n} within 1e-6"


def test_on_a_steady_load_categories_add_up_to_width_times_cycles():
    width = SPEC.data["topdownd"]["level1"]["width"]
    cycles = 'sum by (socket) (rate(topdownd_metric_denominator_total{job="steady",metric="ipc"}[w]))'
    slots = 'sum by (socket) (rate(topdownd_pipeline_slots_total{job="steady"}[w]))'
    found = setting().ask(f"{slots} / {cycles}")
    assert len(found) == 2
    for labels, value in found:
        assert close(value, width, 1e-6), (labels, value)
    per_second = setting().ask(
        f'{slots} / sum by (socket) (rate(topdownd_covered_cpu_seconds_total{{job="steady"}}[w]))')
    for labels, value in per_second:
        assert close(value, width * STEADY.rates(0, 0)["CPU_CYCLES"], 1e-6), (labels, value)
    shares, _ = SPEC.category_shares(STEADY.rates(0, 0))
    found = setting().ask('sum by (category) (rate(topdownd_pipeline_slots_total{job="steady"}[w])) / ignoring (category) '
                          'group_left sum (rate(topdownd_pipeline_slots_total{job="steady"}[w]))')
    assert sorted(labels["category"] for labels, _ in found) == sorted(CATEGORIES)
    for labels, value in found:
        assert close(value, shares[labels["category"]], 1e-6), (labels, value)
    return f"{per_second[0][1]:.6e} pipeline slots a CPU second; " + ", ".join(f"{c} {s:.4f}" for c, s in shares.items())


# ---- demo ----

def demo_rounds():
    """When the rounds in the window ended, in seconds of the simulated host, as far as they were scraped."""
    (_, samples), = setting().ask('topdownd_last_snapshot_timestamp_seconds{job="demo"}[w]')
    snapshot = setting().demo.json("/api/v1/snapshot")
    begin = snapshot["timestamp_seconds"] - (snapshot["round"]["end_ns"] - setting().begin_ns) * 1e-9
    ends = sorted({value for _, value in samples})
    assert len(ends) > ROUNDS / 2, ends
    return [end - begin for end in ends]


class Stretches:
    """Per CPU and round of the window: how long it took, and the rates at all moments where they bend."""

    def __init__(self, ends):
        self.ends, self.of_cpu = ends, {}
        for cpu in DEMO.place:
            self.of_cpu[cpu] = [(end - begin, [DEMO.rates(cpu, t) for t in DEMO.bends(cpu, begin, end)])
                                for begin, end in zip(ends, ends[1:])]

    def of(self, socket):
        cpus = DEMO.place if socket is None else DEMO.cpus(socket)
        return [stretch for cpu in cpus for stretch in self.of_cpu[cpu]]


def possible(quotient, stretches, parts):
    """Whether sums over stretches of A and B can have this quotient, if each stretch was seen at unknown moments.

    In each stretch, whatever was seen is a mean of pairs (A, B) that occur in it, times its length. The quotient is q
    exactly where the sum of A - q B is 0, and that sum lies between the sums of the least and the largest A - q B of each
    stretch. Rates are straight lines, so both are found where they bend. Whole counts add one count a window.
    """
    least = largest = 0
    for seconds, moments in stretches:
        values = [a - quotient * b for a, b in map(parts, moments)]
        whole = (1 + quotient) / SLOT_SECONDS["demo"]
        least += seconds * (min(values) - whole)
        largest += seconds * (max(values) + whole)
    return least <= 0 <= largest


class Sharpness:
    """How much the comparisons of a test could have noticed."""

    def __init__(self):
        self.n = self.noticed = 0
        self.worst = 0

    def add(self, value, stretches, parts):
        sums = [sum(seconds * parts(moments[i])[part] for seconds, moments in stretches for i in (0, -1))
                for part in (0, 1)]
        self.worst = max(self.worst, abs(value / (sums[0] / sums[1]) - 1))
        self.n += 1
        self.noticed += not possible(value * 1.05, stretches, parts) and not possible(value * 0.95, stretches, parts)

    def text(self):
        assert self.noticed > self.n / 2, f"only {self.noticed} of {self.n} would notice an error of 5 %"
        return (f"{self.n} quotients, {self.noticed} of which could not be 5 % more or less; "
                f"largest difference from the mean of all time {self.worst:.1%}")


def test_on_the_demo_numerator_over_denominator_is_possible():
    stretches, sharp = Stretches(demo_rounds()), Sharpness()
    names = vendor_names(setting().demo)
    k = factors(setting().demo)
    metrics = DEMO_SPEC.metrics_of(DEMO_SPEC.stage_1() + DEMO_GROUPS)
    for by, sockets in ((["socket", "metric"], 2), (["metric"], 1)):
        found = quotients("demo", by)
        check_that_all_ratios_are_there(DEMO_SPEC, names, found, metrics, DEMO.rates(0, 0), sockets)
        for (socket, name), value in found.items():
            def parts(rates, metric=names[name]):
                return DEMO_SPEC.fraction(metric, rates)
            quotient = value / k.get(name, 1)
            assert possible(quotient, stretches.of(socket), parts), (socket, name, value, stretches.ends)
            sharp.add(quotient, stretches.of(socket), parts)
    return sharp.text()


def test_on_the_demo_the_categories_share_out_all_pipeline_slots():
    stretches, sharp = Stretches(demo_rounds()), Sharpness()
    found = setting().ask('sum by (socket, category) (rate(topdownd_pipeline_slots_total{job="demo"}[w])) / ignoring '
                          '(category) group_left sum by (socket) (rate(topdownd_pipeline_slots_total{job="demo"}[w]))')
    assert len(found) == 2 * len(CATEGORIES)
    for labels, value in found:
        def parts(rates, category=labels["category"]):
            shares, slots = SPEC.category_shares(rates)
            return shares[category] * slots, slots
        socket = int(labels["socket"])
        assert possible(value, stretches.of(socket), parts), (labels, value, stretches.ends)
        sharp.add(value, stretches.of(socket), parts)
    return sharp.text()


def test_on_the_demo_pipeline_slots_and_cycles_a_second_are_possible():
    stretches, sharp, width = Stretches(demo_rounds()), Sharpness(), SPEC.data["topdownd"]["level1"]["width"]
    covered = 'sum by (socket) (rate(topdownd_covered_cpu_seconds_total{job="demo"}[w]))'
    for series, factor in (('topdownd_pipeline_slots_total{job="demo"}', width),
                           ('topdownd_metric_denominator_total{job="demo",metric="ipc"}', 1)):
        found = setting().ask(f"sum by (socket) (rate({series}[w])) / {covered}")
        assert len(found) == 2
        for labels, value in found:
            def parts(rates, factor=factor):
                return rates["CPU_CYCLES"] * factor, 1e9
            stretch, a_nanosecond = stretches.of(int(labels["socket"])), value * 1e-9
            assert possible(a_nanosecond, stretch, parts), (series, labels, value, stretches.ends)
            sharp.add(a_nanosecond, stretch, parts)
    return sharp.text()


# ---- what the pages hold ----

def test_level_1_gauges_add_up_to_1_at_every_scrape():
    seen = 0
    for job in ("steady", "demo"):
        scrapes = {}
        for labels, samples in setting().ask(f'{{job="{job}",__name__=~"topdownd_({"|".join(CATEGORIES)})_ratio"}}[w]'):
            for time, value in samples:
                scrapes.setdefault((labels["socket"], time), []).append(value)
        for where, values in scrapes.items():
            assert len(values) == 4 and close(sum(values), 1, 1e-6), (where, values)
        seen += len(scrapes)
    assert seen > 0
    return f"{seen} sums within 1e-6"


def test_covered_time_advances_by_one_second_a_second_and_cpu():
    texts = []
    for job, cpus in (("steady", len(STEADY.place)), ("demo", len(DEMO.place))):
        # By the end of the last round on both sides: the totals advance when a round ends.
        found = setting().ask_one(f'sum(increase(topdownd_covered_cpu_seconds_total{{job="{job}"}}[w])) / '
                                  f'scalar(delta(topdownd_last_snapshot_timestamp_seconds{{job="{job}"}}[w]))')
        assert close(found, cpus, 0.02), (job, found)
        assert setting().ask_one(f'sum(topdownd_cpus{{job="{job}",state="measured"}})') == cpus
        uncovered = setting().ask(f'topdownd_uncovered_cpu_seconds_total{{job="{job}"}} > 0')
        assert uncovered == [], uncovered
        texts.append(f"{found:.3f} of {cpus} CPUs")
    return ", ".join(texts)


def test_no_family_stands_on_both_pages_so_nothing_counts_twice():
    daemon = setting().demo
    host, cpus = set(e2e.parse(daemon.get("/metrics"))), set(e2e.parse(daemon.get("/metrics/cpu")))
    assert len(host) > 20 and len(cpus) > 20 and not host & cpus, host & cpus
    names = {}
    for labels, _ in setting().ask('group by (job, __name__) ({job=~"demo|demo_cpu",simulated="true"})'):
        names.setdefault(labels["job"], set()).add(labels["__name__"])
    assert names["demo"] and names["demo_cpu"] and not names["demo"] & names["demo_cpu"]
    return f"{len(host)} families per socket, {len(cpus)} per CPU"


def test_per_cpu_counters_add_up_to_their_sockets():
    host, cpus = setting().demo.of_one_snapshot("/metrics", "/metrics/cpu")
    for socket in ("0", "1"):
        for category in CATEGORIES:
            whole = e2e.value_of(host, "topdownd_pipeline_slots_total", socket=socket, category=category)
            parts = e2e.value_of(cpus, "topdownd_cpu_pipeline_slots_total", socket=socket, category=category)
            assert abs(whole - parts) <= 0.5 * 33, (socket, category, whole, parts)  # 33 numbers rounded to whole ones
        whole = e2e.value_of(host, "topdownd_covered_cpu_seconds_total", socket=socket)
        assert close(e2e.value_of(cpus, "topdownd_cpu_covered_seconds_total", socket=socket), whole, 1e-9)


def test_every_series_of_simulated_data_says_so():
    for path in ("/metrics", "/metrics/cpu"):
        for name, labels, _ in e2e.samples(setting().demo.get(path)):
            assert labels.get("simulated") == "true", (path, name, labels)
    others = setting().ask('count by (__name__) ({job=~"demo|demo_cpu|steady",simulated!="true"})')
    own = {labels["__name__"] for labels, _ in others if not re.fullmatch(r"up|scrape_\w+", labels["__name__"])}
    assert not own, own
    return f'{setting().ask_one("count({simulated=%ctrue%c})" % (34, 34)):.0f} series in Prometheus'


def test_the_demo_has_few_series():
    # of one and the same scrape
    series = setting().ask_one('count({job="demo",simulated="true"})')
    assert series == setting().ask_one('scrape_samples_scraped{job="demo"}')
    of_actions = setting().ask_one('count(topdownd_opportunity_pipeline_slots_total{job="demo"})')
    of_kernel = setting().ask_one('count(topdownd_busy_cpu_seconds_total{job="demo"})')
    assert 50 < series - of_actions - of_kernel <= SERIES_MAX and of_actions <= 20, f"{series} series, of which {of_actions} are of actions"
    # a scrape may come too late for Prometheus, but what it said of none of the pages is that it cannot be read
    assert setting().ask_one('min(max_over_time(up[w]))') == 1
    return f"{series:.0f}, {of_actions:.0f} of which are of actions"


def check_page(daemon, path):
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=daemon.get(path), text=True, capture_output=True,
                          timeout=e2e.TIMEOUT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (path, done)


def test_promtool_has_no_complaint_about_simulated_hosts():
    for daemon in (setting().demo, setting().steady):
        for path in ("/metrics", "/metrics/cpu"):
            check_page(daemon, path)


def test_promtool_has_no_complaint_about_software_events():
    if reason := e2e.perf_events_allowed():
        raise e2e.Skip(reason)
    with e2e.Daemon("--pmu", "auto", yaml=f"{e2e.LISTEN_ANYWHERE}slot: 50ms\n") as daemon:
        for sequence in (0, 1):
            daemon.wait_round(sequence)
            for path in ("/metrics", "/metrics/cpu"):
                check_page(daemon, path)


if __name__ == "__main__":
    for program in (PROMETHEUS, PROMTOOL):
        if not os.access(program, os.X_OK):
            print(f"skipped: {program} is not installed (Debian package prometheus)")
            raise SystemExit(e2e.SKIPPED)
    with contextlib.ExitStack() as programs:
        SETTING = Setting(programs, programs.enter_context(e2e.tempfile.TemporaryDirectory()))
        e2e.run_tests()
