# SPDX-License-Identifier: Apache-2.0
"""Where, Why, Trust and Host of the page, in a real browser: what they say is what the API says, by mouse, keyboard and screen reader.

axe-core (tests/install.sh: install_axe) looks at every tab of each kind of host, light and dark.
"""

import contextlib
import json
import lzma
import os
import subprocess
import tempfile

import browser
import e2e

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\ninterval: 1s\n"
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
RECORDING = os.path.join(ROOT, "tests/data/recordings/zen4-smt.xz")
TABS = ("now", "time", "where", "why", "trust", "host")
AT_ONCE = 3  # browsers
ROUNDS = 3  # until values have intervals
BEYOND = """[...document.querySelectorAll("body *")].filter((e) => !e.closest(".wide, nav, .offscreen, .skip") && e.checkVisibility() &&
    e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5).map((e) => `${e.tagName}.${e.className}: ${e.textContent.slice(0, 60)}`)"""
# What is wrong, with the first elements; the frame of a chart is its library's.
AXE = """axe.run(document, { resultTypes: ["violations"], %s }).then((found) => found.violations.map((each) =>
    [each.id, ...each.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 200)} ${node.failureSummary.slice(0, 300)}`)]))"""


def axe():
    found = subprocess.run(["bash", "-c", f". {ROOT}/tests/install.sh && install_axe"], stdout=subprocess.PIPE, text=True, check=False)
    assert found.returncode == 0, "axe-core cannot be installed from npm's registry"
    return e2e.read_text(found.stdout.strip())


def types_of(document):
    return document.get("core_types", [document])


def ready(daemon, rounds=ROUNDS):
    e2e.wait_for(lambda: min(each["sequence"] for each in types_of(daemon.json("/api/v1/snapshot"))) >= rounds, "some rounds")


@contextlib.contextmanager
def changed(loads=None, assignments=None, **changes):
    """The steady host with other members, as a source of counts; `loads` are the steady one with other rates."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = json.loads(e2e.read_text(STEADY)) | changes
        n = scenario["sockets"] * scenario["cores_per_socket"] * scenario["threads_per_core"]
        steady = scenario["loads"]["steady"]
        for name, rates in (loads or {}).items():
            frame = steady["keyframes"][0]
            scenario["loads"][name] = steady | {"keyframes": [frame | {"rates": frame["rates"] | rates}]}
        scenario["assignments"] = assignments or [{"cpus": f"0-{n - 1}", "load": "steady"}]
        yield f"sim:{e2e.write_text(os.path.join(folder, 'changed.json'), json.dumps(scenario))}"


@contextlib.contextmanager
def shown(pmu, fragment, rounds=ROUNDS, **settings):
    """A daemon and a tab of its page, which must say nothing."""
    with e2e.Daemon("--pmu", pmu, yaml=YAML) as daemon, browser.Browser() as chromium:
        ready(daemon, rounds)
        tab = chromium.open(f"http://127.0.0.1:{daemon.port}{page(daemon)}#{fragment}", **settings)
        settled(tab)
        yield daemon, tab
        chromium.listen()
        said = [said for said in tab.said if '"source": "network"' not in said]  # that a machine is too busy to answer, or answers 503, is noted
        assert not said, said


def page(_):
    return "/"


def settled(tab):
    """Until the tab of the address has drawn what it needs."""
    tab.wait("""((id) => document.getElementById('main').dataset.view === id && document.querySelector('main .card') && document.querySelector('main h1') && document.fonts.status === 'loaded' &&
                !/Nothing has been read yet/.test(document.getElementById('main').textContent))(location.hash.slice(1).split('?')[0])""", "the view")


def texts(tab, selector):
    return tab.do(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")


# ---- for everybody ----

def check_everybody(pmu, rounds=ROUNDS):
    library, seen = axe(), 0
    with e2e.Daemon("--pmu", pmu, yaml=YAML) as daemon, browser.Browser() as chromium:
        ready(daemon, rounds)
        tab = chromium.open(f"http://127.0.0.1:{daemon.port}{page(daemon)}#now")
        tab.do(library + ";1")
        for name in TABS:
            tab.do(f"location.hash = '{name}'")
            settled(tab)
            tab.do("document.querySelectorAll('main details').forEach((e) => { e.open = true; })")
            for width, dark in ((1280, False), (1280, True), (320, False)):
                tab.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
                tab.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
                found = tab.do(AXE % ('runOnly: ["color-contrast"]' if dark else 'rules: {}'))
                assert not found, (pmu, name, width, dark, found)
                beyond = tab.do(BEYOND)
                assert not beyond and tab.do("document.documentElement.scrollWidth <= innerWidth"), (pmu, name, width, beyond[:5])
                seen += 1
    return f"{seen} times nothing found"


def test_nothing_shuts_anybody_out_on_arm():
    return check_everybody("sim")


def test_nothing_shuts_anybody_out_on_intel():
    return check_everybody("sim:sapphire-rapids")


def test_nothing_shuts_anybody_out_on_amd():
    return check_everybody("sim:zen5")


def test_nothing_shuts_anybody_out_on_a_hybrid_host():
    return check_everybody("sim:hybrid")


def test_nothing_shuts_anybody_out_where_nothing_is_counted():
    with changed(rivals=[{"kind": "refuse", "cpus": "0-7"}]) as pmu:
        return check_everybody(pmu, rounds=0)


# ---- where ----

SLOW = {"INST_RETIRED": 1000000000}  # instead of 3e9, at 2e9 cycles


def test_cpus_that_differ_come_first_and_one_finding_is_one_row():
    assignments = [{"cpus": "0-1,4,6-7", "load": "steady"}, {"cpus": "2-3,5", "load": "slow"}]
    with changed({"slow": SLOW}, assignments) as pmu, shown(pmu, "where?metric=ipc") as (_, tab):
        rows = tab.wait("((rows) => rows.length > 0 && rows.map((row) => [...row.cells].map((cell) => cell.innerText)))([...document.querySelectorAll('#outliers-section tbody tr')])",
                        "what differs")
        found = [row for row in rows if row[0].startswith("3 CPUs")]
        assert len(found) == 1 and "2-3,5" in found[0][0] and found[0][1].startswith("0.5"), rows
        assert found[0][2].startswith("−1 per cycle") and "from 1.5, the median of 5 others" in found[0][2], rows
        assert found[0][3] == "−0.38 per cycle", rows  # three of eight
        assert not any(row[0].startswith("CPU ") for row in rows), rows
        return found[0]


def test_where_all_cpus_do_the_same_none_differs():
    with shown(f"sim:{STEADY}", "where?metric=ipc") as (_, tab):
        said = tab.wait("(s => /No CPU differs: all 8 are near 1.5 per cycle/.test(s) && s)(document.getElementById('outliers-section').innerText)", "that none differs")
        tab.do("(e => { e.value = 'retiring_ratio'; e.dispatchEvent(new Event('change')); })(document.getElementById('where-metric'))")
        tab.wait("/by Useful work/.test(document.querySelector('.cpumap')?.getAttribute('aria-label'))", "the other metric")
        tab.do("getSelection().selectAllChildren(document.getElementById('outliers-section')); history.back(); 0")  # selected text is no reason to stay
        tab.wait("document.getElementById('where-metric').value === 'ipc' && /all 8 are near 1.5 per cycle/.test(document.getElementById('outliers-section').innerText)", "the metric before")
        return said


def test_a_cpu_opens_from_the_map_by_keyboard_and_has_an_address():
    with changed(threads_per_core=2, nodes_per_socket=2) as pmu, shown(pmu, "where?metric=ipc") as (daemon, tab):
        tab.wait("document.querySelectorAll('.cell').length === 16", "the CPUs")
        assert texts(tab, ".level1 > .place > .label") == ["Socket 0", "Socket 1"]
        assert texts(tab, ".level2 > .place > .label") == [f"NUMA node {i}" for i in range(4)]
        assert texts(tab, ".core")[:2] == ["08", "19"], "threads of a core stand together"
        assert tab.do("document.querySelectorAll('.cpumap [tabindex=\"0\"]').length") == 1
        tab.do("document.querySelector('.cpumap [tabindex=\"0\"]').focus()")
        tab.press("ArrowRight", 3)
        tab.press("ArrowLeft")
        tab.press("Enter")
        tab.wait("document.querySelector('#cpu-section table')", "CPU 1")
        assert tab.do("location.hash") == "#where?metric=ipc&cpu=1" and tab.do("document.activeElement.dataset.cpu") == "1"
        tab.wait("document.activeElement.getAttribute('aria-pressed') === 'true' && document.activeElement.getAttribute('aria-label').startsWith('CPU 1, core 1, socket 0, NUMA node 0: 1.5 ')", "the name of the CPU")
        rows = tab.do("[...document.querySelectorAll('#cpu-section tbody tr')].map((row) => row.cells[0].textContent)")
        assert len(rows) == len(daemon.json("/api/v1/snapshot?scope=cpu&cpu=1")["scopes"][0]["metrics"])
        assert "CPU 9" in tab.do("document.querySelector('#cpu-section dl').textContent"), "no sibling"
        tab.press("Enter")
        tab.wait("!document.getElementById('cpu-section')", "its end")
        nodes = texts(tab, "#by-node-section tbody td:nth-child(2)")
        assert len(nodes) == 4 and all(node.startswith("1.5 ") for node in nodes), nodes


def test_a_thousand_cpus_are_one_stop_of_the_keyboard():
    with shown(f"sim:{os.path.join(ROOT, 'tests/data/scenarios/large.json')}", "where?metric=ipc", rounds=1, width=390, height=844) as (_, tab):
        tab.wait("document.querySelectorAll('.cell').length === 1024", "the CPUs")
        assert tab.do("document.querySelectorAll('.cpumap [tabindex=\"0\"]').length") == 1
        assert not tab.do(BEYOND)
        tab.do("document.querySelector('.cpumap [tabindex=\"0\"]').focus()")
        tab.press("End")
        assert tab.do("document.activeElement.dataset.cpu") == "1023"
        tab.press("ArrowUp")
        assert tab.do("document.activeElement.dataset.cpu") not in ("1023", "1022")
        same = "document.querySelector('.told').textContent === document.activeElement.getAttribute('aria-label')"
        assert tab.do(same)
        tab.do("document.querySelector('.told').textContent = 'of an earlier snapshot'")
        tab.wait(f"document.querySelector('.told').textContent.startsWith('CPU ') && {same}", "the CPU's values of the next snapshot")


def test_memory_of_nodes_has_what_resctrl_counts_and_no_column_of_what_nobody_knows():
    no = {"numa_remote_allocation_ratio": 0.25, "numa_missed_allocation_ratio": None}
    nodes = [{"node": i, "socket": i, "kind": "cpus", "tier": 4, "bytes": 64e9, "free_bytes": 1e9, "values": no,
              "access": {"read_bytes_per_second": None, "read_seconds": 8e-8 if i == 0 else None}} for i in range(2)]
    sockets = [{"socket": 0, "bytes_per_second": 52.5e9, "controllers_bytes_per_second": 60e9, "values": {"resctrl_remote_ratio": 0.125}}]
    memory = {"simulated": False, "replay": False, "reason": None, "problem": None, "values": no, "nodes": nodes, "resctrl": {
        "state": "counting", "text": "resctrl counts", "sockets": sockets, "domains": [{"domain": 3, "gap": "groups_changed"}], "groups": []}}
    made_up = f"fetch = ((real) => async (url, ...rest) => /v1.memory/.test(url) ? new Response({json.dumps(json.dumps(memory))}) : real(url, ...rest))(fetch)"
    with shown(f"sim:{STEADY}", "where?metric=ipc", first=made_up) as (_, tab):
        tables = tab.wait("((all) => all.length === 2 && all.map((table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))))"
                          "([...document.querySelectorAll('#memory-section table')])", "both tables")
        assert tables[0][0] == ["Node", "Kind", "Socket", "Memory", "Free", "Allocated for other nodes", "Tier", "Rated latency of a read"], tables
        assert tables[0][1][-3:] == ["25.0 %", "4", "80 ns"] and tables[0][2][-1] == "–", tables
        assert tables[1][1] == ["0", "52.5 GB/s", "12.5 %", "60 GB/s"], tables
        said = tab.do("document.getElementById('memory-section').textContent")
        assert "Not known of cache 3 since the last reading: groups changed." in said and "Resctrl counts" not in said, said


# ---- why ----

def test_the_way_to_the_answer_is_open_and_ends_in_commands():
    with shown("sim:sapphire-rapids", "why") as (daemon, tab):
        titles = {metric["metric"]: metric["title"] for metric in daemon.json("/api/v1/catalog")["metrics"]}
        bound = e2e.wait_for(lambda: daemon.json("/api/v1/topdown")["bound"], "a verdict")
        way = [titles[metric] for metric in bound["path"]]
        tab.wait(f"JSON.stringify([...document.querySelectorAll('.whole .name.path')].map((e) => e.textContent)) === JSON.stringify({json.dumps(way)})", "the way to the answer")
        commands = texts(tab, ".whole details[open] > .about .command code")
        assert bound["sample_command"] in commands and any(command.startswith("topdownd measure --groups ") for command in commands), commands
        about = tab.do("document.querySelector('.whole details[open] > .about').textContent")
        assert "With 95 % certainty between " in about and "Shares of pipeline slots add up" in about and "High where " in about, about
        assert tab.do("[...document.querySelectorAll('.whole .row')].some((row) => /^Not measured: /.test(row.textContent))")
        query = tab.do("document.querySelector('[data-key=\"prometheus retiring_ratio\"]').textContent")
        assert "topdownd_retiring_ratio" in query and 'topdownd_pipeline_slots_total{instance=~"' in query and 'category="retiring"' in query, query
        names = {line.partition("{")[0] for line in daemon.get("/metrics").splitlines()}
        assert {"topdownd_retiring_ratio", "topdownd_pipeline_slots_total", "topdownd_metric_numerator_total"} <= names
        tab.do("document.getElementById('why-search').value = 'tlb'; document.getElementById('why-search').dispatchEvent(new Event('input'))")
        found = texts(tab, "#why-metrics tbody summary")
        assert found and len(found) < 12, found
        tab.do("location.hash = 'trust'")
        settled(tab)
        tab.do("location.hash = 'why'")
        settled(tab)
        assert tab.do("document.getElementById('why-search').value") == "tlb" and texts(tab, "#why-metrics tbody summary") == found
        return way, commands[:2]


# ---- trust ----

def test_what_the_numbers_rest_on_is_what_the_api_says():
    rival = {"kind": "flexible", "cpus": "0-7", "counters": 6, "period_seconds": 0.2, "on_seconds": 0.06}
    with changed(rivals=[rival]) as pmu, shown(pmu, "trust") as (daemon, tab):
        plan = daemon.json("/api/v1/plan")
        groups = tab.do("[...document.querySelectorAll('#schedule-section tbody tr')].map((row) => [row.cells[0].textContent.trim(), parseFloat(row.cells[1].textContent)])")
        wanted = {group["name"]: group["share_of_time"] for group in plan["event_groups"] if not group["always_on"]}
        assert {name for name, _ in groups} >= set(wanted)
        for name, share in groups:
            assert name not in wanted or abs(share / 100 - wanted[name]) < 0.001, (name, share, wanted)
        tab.wait("[...document.querySelectorAll('#others-section tbody tr')].some((row) => Number(row.cells[3].textContent.replace(/,/g, '')) > 0)", "windows that were shared")
        said = tab.do("document.getElementById('main').innerText")
        assert "of the CPU time since topdownd started is in its totals" in said and "CPU time of the daemon" in said, said
        return groups


# ---- host ----

def test_a_host_that_counts_nothing_says_first_what_helps():
    with changed(rivals=[{"kind": "refuse", "cpus": "0-7"}]) as pmu, shown(pmu, "host", rounds=0) as (_, tab):
        said = tab.wait("(s => /not ready/.test(s) && /LimitNOFILE/.test(s) && s)(document.querySelector('main .card').innerText)", "the remedy")
        assert "topdownd doctor" in said, said
        assert tab.do("document.getElementById('pmus-section').innerText").count("does not count") == 1


def test_a_replay_shows_the_recorded_host():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with lzma.open(RECORDING) as packed, open(path, "wb") as file:
            file.write(packed.read())
        with shown(f"replay:{path}", "host", rounds=1) as (daemon, tab):
            assert "a replay" in tab.do("document.getElementById('daemon-section').innerText")
            tab.do("location.hash = 'where'")
            settled(tab)
            tab.wait(f"document.querySelectorAll('.cell').length === {len(daemon.json('/api/v1/cpus')['cpus'])}", "the CPUs")


if __name__ == "__main__":
    e2e.run_tests(AT_ONCE)
