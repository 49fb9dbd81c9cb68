# SPDX-License-Identifier: Apache-2.0
"""What every ready scenario exposes, in both formats: Prometheus' own parsers read it, and docs/metrics.md says all of it.

Each scenario runs once, with everything on that adds families: an adaptive schedule, standard errors, a recording, a textfile,
and a /metrics/cpu that is cut on one of them. Two more hosts have what no ready scenario has: PCIe stacks that count, and a
made-up tree with NUMA nodes, tiers of memory, resctrl and a PMU that the configuration names.
"""

import contextlib
import glob
import gzip
import json
import os
import re
import subprocess

import e2e
import test_host_memory
import test_uncore

_, ROOT = e2e.arguments()
PROMTOOL = "/usr/bin/promtool"
PAGES = ("/metrics", "/metrics/cpu")
OPENMETRICS = "application/openmetrics-text;version=1.0.0"
CONTENT_TYPES = {None: "text/plain; version=0.0.4; charset=utf-8",
                 OPENMETRICS: "application/openmetrics-text; version=1.0.0; charset=utf-8"}
OF_ALL = {"core_type", "simulated", "replay"}  # labels that any family may have
OFTEN = "hybrid"  # some of its snapshots end no round
CUT = "neoverse-v2"  # its /metrics/cpu is limited
REFUSED = f"{ROOT}/tests/data/scenarios/refused-boxes.json"  # its PMUs outside the cores cannot be opened
OF_FILES = ("topdownd_numa_", "topdownd_memory_tier_", "topdownd_resctrl_", "topdownd_uncore_event_")  # the made-up tree alone has them
UNITS = {"seconds", "bytes", "ratio", "hertz"}


def scenarios():
    return sorted(os.path.basename(path).removesuffix(".json") for path in glob.glob(f"{ROOT}/scenarios/*.json"))


def with_stacks(folder):
    """The options for a simulated host whose PCIe stacks count."""
    rates = {"UNC_IIO_DATA_REQ_OF_CPU.MEM_WRITE.ALL_PARTS": 4e7, "UNC_IIO_DATA_REQ_OF_CPU.MEM_READ.ALL_PARTS": 4e6}
    return "--pmu", test_uncore.of_kinds(folder, [("iio", "iio-ice-lake", 1, rates)])


def of_files(folder):
    """The options for a host whose memory the kernel counts in files, with a PMU that only the configuration knows."""
    host = test_host_memory.two_nodes(folder).node(2, "")
    host.resctrl()
    host.write({"devices/virtual/memory_tiering/memory_tier4/nodelist": "0-1", "devices/virtual/memory_tiering/memory_tier22/nodelist": "2",
                "bus/event_source/devices/uncore_foo_0/type": "1", "bus/event_source/devices/uncore_foo_0/cpumask": "0",
                "bus/event_source/devices/uncore_foo_0/format/event": "config:0-7",
                "bus/event_source/devices/uncore_foo_0/events/faults": "event=0x05",
                "bus/event_source/devices/uncore_foo_0/events/faults.unit": "MiB"})
    return "--path.sysfs", folder, "--path.procfs", folder


def fetch(daemon, path, accept=None, coding=None):
    headers = {"Accept": accept} if accept else {}
    if coding:
        headers["Accept-Encoding"] = coding
    connection = e2e.http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=e2e.TIMEOUT)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        answer = e2e.Answer(connection.getresponse())
    assert answer.status == 200, (path, answer.status, answer.body)
    return answer


class Exposed:
    """The pages of a scenario, all of one snapshot."""

    def __init__(self, stack, name, options=None, uncore="groups: [memory, remote, llc, interconnect, io]"):
        folder = stack.enter_context(e2e.tempfile.TemporaryDirectory())
        limit, interval = 1000 if name == CUT else "none", "1s" if name == OFTEN else "2s"
        self.name, self.pages = name, {}
        self.daemon = stack.enter_context(e2e.Daemon(
            *(options or ("--pmu", f"sim:{name}")), "--textfile", folder,
            yaml=f"{e2e.LISTEN_ANYWHERE}uncore: {{{uncore}}}\nslot: 100ms\ninterval: {interval}\nmode: adaptive\nstandard_error: true\n"
            f"max_cpu_series: {limit}\nrecord: {{path: {folder}/recording, size: 64M}}\n"))

    def take(self):
        e2e.wait_for(lambda: min(self._when()) >= 3, f"three rounds of {self.name}")
        self.pages = e2e.wait_for(self._take, f"pages of one snapshot of {self.name}")
        self.catalogs = json.loads(fetch(self.daemon, "/api/v1/catalog").body)

    def _when(self):
        snapshot = self.daemon.json("/api/v1/snapshot")
        return [s["sequence"] for s in snapshot.get("core_types", [snapshot])]

    def _moment(self):
        """Of all snapshots that a page shows: PMUs outside the cores have their own."""
        sockets = self.daemon.json("/api/v1/snapshot?scope=socket")
        kinds = sockets.get("core_types", [sockets])[0]["uncore"]
        return self._when(), [kind["timestamp_seconds"] for kind in kinds]

    def _take(self):
        before = self._moment()
        pages = {(path, accept, coding): fetch(self.daemon, path, accept, coding)
                 for path in PAGES for accept in CONTENT_TYPES for coding in (None, "gzip")}
        return pages if self._moment() == before else None

    def text(self, path, accept=None):
        return self.pages[path, accept, None].text()

    def metrics(self):
        """The names that metrics of the catalogs are exported under."""
        documents = self.catalogs.get("core_types", [self.catalogs])
        return {metric["metric"] for document in documents for metric in document["metrics"]}


def exposed():
    return EXPOSED


def families(text, openmetrics=False):
    """{name: family}, as the parsers of python3-prometheus-client read them."""
    if not openmetrics:
        return {f.name: f for f in e2e.prometheus_parser().text_string_to_metric_families(text)}
    import prometheus_client.openmetrics.parser as parser  # pylint: disable=import-outside-toplevel
    return {f.name: f for f in parser.text_string_to_metric_families(text)}


def samples_of(families_of):
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for f in families_of.values() for s in f.samples}


def test_both_parsers_read_every_page_of_every_scenario_and_find_the_same():
    n = 0
    for host in exposed():
        for path in PAGES:
            text, openmetrics = families(host.text(path)), families(host.text(path, OPENMETRICS), True)
            assert host.text(path, OPENMETRICS).endswith("\n# EOF\n")
            assert samples_of(text) == samples_of(openmetrics), (host.name, path)
            for family in openmetrics.values():
                end = family.name.rsplit("_", 1)[-1]
                assert family.unit == (end if end in UNITS else ""), (host.name, family.name, family.unit)
                # a plain parser calls a counter's family by the name without _total as well
                plain = text[f"{family.name}_info" if family.type == "info" else family.name]
                assert (plain.type, plain.documentation) == ({"info": "gauge"}.get(family.type, family.type),
                                                             family.documentation), (host.name, family.name)
            n += len(samples_of(text))
    return f"{n} samples of {len(exposed())} scenarios"


def test_formats_and_codings_are_announced_and_gzip_has_the_same_bytes():
    sizes = [0, 0]
    for host in exposed():
        for (path, accept, coding), answer in host.pages.items():
            assert answer.headers["Content-Type"] == CONTENT_TYPES[accept], (path, accept)
            assert answer.headers["Vary"] == "Accept, Accept-Encoding"
            assert answer.headers["Content-Encoding"] == coding, (path, coding)
            if coding:
                plain = host.pages[path, accept, None].body
                assert gzip.decompress(answer.body) == plain, (host.name, path, accept)
                sizes[0] += len(plain)
                sizes[1] += len(answer.body)
    return f"{sizes[0]} bytes become {sizes[1]}"


def test_promtool_has_no_complaint():
    if not os.access(PROMTOOL, os.X_OK):
        raise e2e.Skip(f"{PROMTOOL} is not installed (Debian package prometheus)")
    for host in exposed():
        for path in PAGES:
            done = subprocess.run([PROMTOOL, "check", "metrics"], input=host.text(path), text=True, capture_output=True,
                                  timeout=e2e.TIMEOUT, check=False)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (host.name, path, done)


def test_a_page_that_is_cut_says_what_is_missing():
    for host in exposed():
        found = families(host.text("/metrics/cpu")).get("topdownd_cpu_series_omitted")
        assert bool(found) == (host.name == CUT), host.name
        if found:
            kinds = {s.labels["kind"]: s.value for s in found.samples}
            assert set(kinds) == set(["events", "metrics", "uncovered", "covered", "categories"][:len(kinds)]), kinds
            assert "topdownd_cpu_event_total" not in host.text("/metrics/cpu")
            assert "leaves out: events" in host.daemon.log()


# ---- docs/metrics.md ----

class Row:
    """What docs/metrics.md says of a family."""

    def __init__(self, cells):
        self.name, self.type = cells[0].strip("`"), cells[1]
        self.labels = set(re.findall(r"\w+", cells[2]))
        self.unit = cells[3]


def documented():
    """{page: {family: row}}"""
    text = e2e.read_text(os.path.join(ROOT, "docs/metrics.md"))
    found = {}
    for path, title in zip(PAGES, ("Per socket and per host: /metrics", "Per CPU: /metrics/cpu")):
        part, = re.findall(rf"^## {title}\n(.*?)^## ", text, re.M | re.S)
        rows = [[cell.strip() for cell in line.split("|")[1:]]
                for line in re.findall(r"^\| `(?:topdownd|process)_.* \|$", part, re.M)]
        found[path] = {row.name: row for row in map(Row, rows)}
    return found


def seen(path):
    """{family: (types, labels)} of all scenarios, and of the toy host of the unit tests, which has all kinds of trouble."""
    toys = {"/metrics": ["toy.prom"], "/metrics/cpu": ["toy_cpu_simulated.prom"]}[path]
    pages = [host.text(path) for host in exposed()]
    pages += [e2e.read_text(os.path.join(ROOT, "tests/data/golden", toy)) for toy in toys]
    found = {}
    for number, page in enumerate(pages):
        for family in families(page).values():
            name = f"{family.name}_total" if family.type == "counter" else family.name
            if number >= len(exposed()) and name not in documented()[path]:
                continue  # a metric of the toy
            types, labels = found.setdefault(name, (set(), set()))
            types.add(family.type)
            labels |= {label for sample in family.samples for label in sample.labels}
    return found


def test_every_family_is_documented_with_its_type_labels_and_unit_and_there_is_no_other():
    metrics, n = set.union(*(host.metrics() for host in exposed())), 0
    facts = set(next(host for host in exposed() if host.name == CUT).daemon.json("/api/v1/status")["platform"])
    for path in PAGES:
        rows, found = documented()[path], seen(path)
        prefix = "topdownd_cpu_" if path == "/metrics/cpu" else "topdownd_"
        of_metric = rows.pop(f"{prefix}<metric>")
        rows.pop("process_*", None)
        for name, (types, labels) in found.items():
            if name.startswith("process_"):
                continue
            row = rows.get(name)
            if not row:
                assert name.removeprefix(prefix) in metrics, f"docs/metrics.md has no {name}"
                row = of_metric
            assert types == {{"info": "gauge"}.get(row.type, row.type)}, (name, types, row.type)
            known = labels - OF_ALL
            if name == "topdownd_platform_info":  # a simulated host knows few of its facts
                known |= row.labels & facts
            assert known == row.labels, f"{name}: labels {known ^ row.labels} are not both here and in docs/metrics.md"
            end = name.removesuffix("_total").rsplit("_", 1)[-1]
            assert row is of_metric or end not in UNITS or end in row.unit, (name, row.unit)
            n += 1
        missing = {name for name in set(rows) - set(found) if not (NO_EVENTS and name.startswith(OF_FILES))}
        assert not missing, f"docs/metrics.md has {missing}, which no host exposed"
    return f"{n} families"


if __name__ == "__main__":
    with contextlib.ExitStack() as programs:
        NO_EVENTS = e2e.perf_events_allowed()
        EXPOSED = [Exposed(programs, name) for name in [*scenarios(), REFUSED]]
        made = [programs.enter_context(e2e.tempfile.TemporaryDirectory()) for _ in range(2)]
        EXPOSED.append(Exposed(programs, "PCIe stacks", with_stacks(made[0])))
        if not NO_EVENTS:
            EXPOSED.append(Exposed(programs, "files", of_files(made[1]), "pmus: [{name: uncore_foo_0, events: [faults]}]"))
        for each in EXPOSED:
            each.take()
        e2e.run_tests()
