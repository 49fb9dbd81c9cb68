# SPDX-License-Identifier: Apache-2.0
"""The page for people, in a real browser without a screen."""

import contextlib
import json
import os
import re
import tempfile

import browser
import e2e

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\ninterval: 1s\n"
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
PHONE, DESK = 390, 1280  # pixels
AT_ONCE = 3  # browsers
ROUNDS = 3  # until values have intervals
TABS_MAX = 60  # from the top of the page to level 1

# What reaches beyond the right edge of the page without being in a part that scrolls, and what is cut off within its own box.
BEYOND = """[...document.querySelectorAll("body *")].filter((e) => !e.closest(".wide") && !e.closest("svg") && e.checkVisibility() &&
    (e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5 || e.getBoundingClientRect().left < -0.5))
    .map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 60)}`)"""
CUT = """[...document.querySelectorAll(".plot .y span, .plot .x span, .plot .mark")].filter((e) => {
    const box = (e.closest(".canvas") || document.documentElement).getBoundingClientRect(), mine = e.getBoundingClientRect();
    return e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflow !== "visible" || mine.top < box.top - 1 || mine.right > box.right + 1; })
    .map((e) => e.textContent)"""
# The least contrast of visible text to what it stands on, as WCAG 2 computes it.
CONTRAST = """(() => {
  const light = (color) => { const [r, g, b] = color.match(/[\\d.]+/g).map((c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
  let least = [21, ""];
  for (const e of document.querySelectorAll("body *")) {
    if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x), contrast = (a + 0.05) / (b + 0.05);
    if (contrast < least[0]) least = [contrast, e.textContent.slice(0, 40)];
  }
  return least; })()"""


def waited(daemon):
    """Until there are values with intervals, of each core type."""
    def sequences():
        snapshot = daemon.json("/api/v1/snapshot")
        return [of["sequence"] for of in snapshot.get("core_types", [snapshot])]
    e2e.wait_for(lambda: min(sequences()) >= ROUNDS, "some rounds")


@contextlib.contextmanager
def shown(pmu, fragment="", yaml=YAML, **settings):
    """A daemon and its page in a browser. The page must say nothing and ask nobody else."""
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(e2e.Daemon("--pmu", pmu, yaml=yaml))
        chromium = stack.enter_context(browser.Browser())
        waited(daemon)
        tab = chromium.open(f"http://127.0.0.1:{daemon.port}/{fragment}", **settings)
        yield daemon, tab
        chromium.listen()
        assert not tab.said, tab.said
        assert tab.asked and all(url.startswith(f"http://127.0.0.1:{daemon.port}/") for url in tab.asked), tab.asked


@contextlib.contextmanager
def changed(**changes):
    """The steady host with other members, as a source of counts."""
    with tempfile.TemporaryDirectory() as folder, open(STEADY, encoding="utf-8") as file:
        scenario = json.load(file) | changes
        n = scenario["sockets"] * scenario["cores_per_socket"] * scenario["threads_per_core"]
        scenario["assignments"] = [{"cpus": f"0-{n - 1}", "load": "steady"}]
        yield f"sim:{e2e.write_text(os.path.join(folder, 'changed.json'), json.dumps(scenario))}"


def next_update(tab):
    """Waits until the page has renewed itself."""
    tab.do("document.querySelector('#live-first > *').dataset.old = 1")
    tab.wait("!document.querySelector('#live-first > *').dataset.old", "an update")


def number(text):
    """What the page says of a value, as a number; None where it says why there is none."""
    if text.startswith("–"):
        return None
    found = re.match(r"([-0-9.e+]+)( [MGT]\b)?", text)
    assert found, text
    return float(found.group(1)) * {None: 1, " M": 1e6, " G": 1e9, " T": 1e12}[found.group(2)]


def same(text, value):
    """Whether the page says this value: four digits of it."""
    said = number(text)
    return said is None if value is None else said is not None and abs(said - value) <= 1e-3 * abs(value) + 1e-9


def test_values_are_those_of_the_api_and_stay_up_to_date():
    with shown(f"sim:{STEADY}") as (daemon, tab):
        tab.wait("/^live, updated \\d\\d:\\d\\d:\\d\\d UTC$/.test(document.getElementById('state').textContent)", "the state")
        next_update(tab)
        rows = tab.do("[...document.querySelectorAll('a[id^=metric-]')].map((a) => [a.dataset.metric, ...[...a.closest('tr').querySelectorAll('td.n')]"
                      ".map((cell) => [cell.dataset.socket, cell.textContent])])")
        sockets = {f"socket {s['socket']}": s["metrics"] for s in daemon.json("/api/v1/snapshot?scope=socket")["scopes"]}
        assert len(rows) == len(sockets["socket 0"]) and len(sockets) == 2
        for metric, *cells in rows:
            assert [socket for socket, _ in cells] == list(sockets), cells
            for socket, text in cells:
                value = sockets[socket][metric]["value"]  # of a steady load, so the same a moment later
                assert same(text, value), (metric, text, value)
        tree = tab.do("[...document.querySelectorAll('.tree > li > details > summary > span:not(.bar):not(.flag)')].map((e) => e.textContent)")
        roots = daemon.json("/api/v1/topdown")["scopes"][0]["tree"]
        assert len(tree) == len(roots)
        for text, node in zip(tree, roots):
            title, value = re.match(r"(.*) ([0-9.]+) %", text).groups()
            assert title == node["title"] and abs(float(value) - 100 * node["value"]) < 0.1, (text, node["value"])
        cards = tab.do("[...document.querySelectorAll('.card')].map((card) => card.textContent)")
        for card, scope in zip(cards, daemon.json("/api/v1/topdown?scope=socket")["scopes"], strict=True):
            assert f"Socket {scope['socket']}" in card and "since " in card.lower() and scope["bound"]["text"].split(",")[0].split(": ")[-1] in card, (card, scope["bound"])
        return f"{len(rows)} metrics of {len(sockets)} sockets"


def test_when_topdownd_is_gone_the_page_says_so():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon, browser.Browser() as chromium:
        waited(daemon)
        tab = chromium.open(f"http://127.0.0.1:{daemon.port}/")
        tab.wait("document.getElementById('state').textContent.startsWith('live')", "the state")
        daemon.stop()
        said = tab.wait("(s => s.startsWith('topdownd does not answer since') && s)(document.getElementById('state').textContent)", "the state")
        tab.do("scrollTo(0, 1e6)")
        assert tab.do("document.getElementById('state').getBoundingClientRect().top >= 0"), "out of sight"
        return said


def tab_to(tab, condition, what):
    """Presses the tabulator until the element with the focus is such a one; how often."""
    for n in range(1, TABS_MAX):
        tab.press("Tab")
        if tab.do(f"((e) => {condition})(document.activeElement)"):
            return n
    raise AssertionError(f"the tabulator does not lead to {what}")


def test_from_level_1_to_the_command_by_keyboard():
    with shown("sim") as (daemon, tab):
        high = next(n for n in daemon.json("/api/v1/topdown")["scopes"][0]["tree"] if n["exceeded"] and n["title"] == "Back-end bound")
        times = tab_to(tab, "e.matches('.tree summary') && e.textContent.includes('Back-end bound')", "level 1")
        node = tab.do("document.activeElement.id")
        is_open = f"document.getElementById('{node}').parentElement.open"
        assert tab.do(is_open), "the path to the bottleneck is not open"
        about = tab.do("document.activeElement.parentElement.querySelector('.about').textContent")
        assert all(part in about for part in (high["meaning"], "With 95 % certainty between ", "pipeline slots add up")), about
        tab.press("Enter")
        assert not tab.do(is_open)
        next_update(tab)
        assert tab.do("document.activeElement.id") == node and not tab.do(is_open), "an update opens what was closed, or takes the focus"
        tab.press("Enter")
        tab_to(tab, "e.textContent === 'Its history'", "the history")
        tab.press("Enter")
        tab.wait("document.querySelector('#history path') && document.activeElement.closest('#history')", "the history with the focus")
        assert tab.do("location.hash") == "#metric=backend_bound_ratio"
        tab.press("Escape")
        assert tab.do("document.activeElement.textContent === 'Its history' && !document.getElementById('history').firstChild")
        tab_to(tab, "e.matches('.tree summary') && e.textContent === 'What next?'", "the next step")
        tab.press("Enter")
        times += tab_to(tab, "e.matches('button.copy')", "the command")
        assert tab.do("document.activeElement.previousSibling.textContent") == high["sample_command"]
        # a window that the system has not yet brought to the front may not copy, and an update takes the answer away
        said = e2e.wait_for(lambda: tab.press("Enter") or tab.do("(s => s !== 'Copy' && s)(document.activeElement.textContent)"),
                            "an answer of the button", pause=0.5)
        assert said == "Copied", said
        return f"{times} steps of the keyboard"


def test_a_cpu_opens_from_the_map_by_keyboard_and_stays_up_to_date():
    with shown(f"sim:{STEADY}") as (daemon, tab):
        tab_to(tab, "e.matches('#cpus summary')", "the map")
        tab.press("Enter")
        tab.wait("document.querySelectorAll('#map button').length === 8", "the CPUs")
        tab_to(tab, "e.matches('#map button')", "a CPU")
        tab.press("ArrowRight", 3)
        tab.press("ArrowLeft")
        tab.press("Enter")
        tab.wait("document.querySelector('#map-shown h3')?.textContent === 'CPU 2, socket 0'", "CPU 2")
        assert tab.do("location.hash") == "#cpus&cpu=2"
        tab.do("document.querySelector('#map-shown table').dataset.old = 1")
        tab.wait("!document.querySelector('#map-shown table').dataset.old", "fresh values of the CPU")
        assert tab.do("document.activeElement.dataset.cpu") == "2"
        rows = dict(tab.do("[...document.querySelectorAll('#map-shown tr')].map((row) => [row.cells[0].textContent, row.cells[1].textContent])"))
        metrics = daemon.json("/api/v1/snapshot?scope=cpu")["scopes"][2]["metrics"]
        assert set(rows) == set(metrics)
        for name, text in rows.items():
            assert same(text, metrics[name]["value"]), (name, text, metrics[name])
        tab.press("Enter")
        tab.wait("!document.querySelector('#map-shown h3')", "its end")


def test_a_cpus_value_whose_interval_says_nothing_says_so_in_words():
    with shown(f"sim:{os.path.join(ROOT, 'tests/data/scenarios/changing.json')}", "#cpus&cpu=0") as (_, tab):
        tab.wait("[...document.querySelectorAll('#map-shown td.n')].some((cell) => cell.textContent.endsWith(', too uncertain to tell'))", "such a value")
        for text, unit in tab.do("[...document.querySelectorAll('#map-shown tr')].map((row) => [row.cells[1].textContent, row.cells[2].textContent])"):
            value, _, half = text.partition(" ± ")
            most = 0.5 if unit == "ratio of pipeline slots" else abs(number(value) or 0)
            assert not half or number(half) <= 1.06 * most, (text, unit)  # two digits


def test_an_address_opens_a_history_and_the_map_of_cpus():
    with shown(f"sim:{STEADY}", "#metric=ipc&cpus") as (daemon, tab):
        tab.wait("document.querySelector('#history path') && document.querySelector('#map button')", "the plot and the map")
        assert "(ipc), last hour" in tab.do("document.querySelector('#history h2').textContent")
        assert tab.do("[...document.querySelectorAll('#history .plot path')].map((path) => path.className.baseVal)") == ["l0", "l1"]  # two sockets
        times = [sum(int(part) * unit for part, unit in zip(text.split(":"), (3600, 60, 1)))
                 for text in tab.do("[...document.querySelectorAll('#history .plot')[0].querySelectorAll('.x span')].map((e) => e.textContent)")]
        apart = {(after - before) % 86400 for before, after in zip(times, times[1:])}
        assert len(times) == 5 and min(apart) > 0 and max(apart) - min(apart) <= 1, times  # to the second, as it is short
        marks = [mark["text"] for mark in daemon.json("/api/v1/history?metric=ipc")["marks"]]
        assert all(text in tab.do("document.querySelector('#history .marks').textContent") for text in marks), marks
        assert tab.do("document.querySelectorAll('#history .mark').length") == len(marks)
        cpus = {cpu["cpu"]: cpu for cpu in daemon.json("/api/v1/snapshot?scope=cpu")["scopes"]}
        said = tab.do("[...document.querySelectorAll('#map button')].map((button) => button.getAttribute('aria-label'))")
        assert len(said) == len(cpus)
        for text in said:
            cpu, socket, value = re.match(r"CPU (\d+), socket (\d+): ([0-9.e-]+)", text).groups()
            truth = cpus[int(cpu)]
            assert int(socket) == truth["socket"] and abs(float(value) - truth["metrics"]["retiring_ratio"]["value"]) < 0.02, (text, truth)
        tab.do("document.getElementById('level1-day-').click()")
        tab.wait("document.querySelector('#history h2').textContent === 'Pipeline slots, last day' && document.querySelector('#history .f3')", "the last day")
        assert tab.do("location.hash") == "#metric=level1&day&cpus"


def boxes(**more):
    """Memory controllers, of which those of the first socket read 2.56e9 and write 1.024e9 bytes a second, and the other ones read alone."""
    loads = {name: {"period_seconds": 10, "keyframes": [{"at_seconds": 0, "rates": rates}]} for name, rates in (
        ("both", {"UNC_M_CAS_COUNT.RD": 1e7, "UNC_M_CAS_COUNT.WR": 4e6}), ("read", {"UNC_M_CAS_COUNT.RD": 1e7}))}
    return [{"kind": "imc", "spec": "imc-sapphire-rapids", "boxes_per_socket": 4, "loads": loads,
             "assignments": [{"cpus": "0-3", "load": "both"}, {"cpus": "4-7", "load": "read"}]} | more]


MEMORY = "[...document.querySelectorAll('.card .memory')].map((e) => e.textContent.trim())"
PARTS = """[...document.querySelectorAll('.card .memory + .bar')].map((bar) => [...bar.children].map((part) =>
    [part.className, Math.round(1000 * part.getBoundingClientRect().width / bar.getBoundingClientRect().width)]))"""


def test_each_socket_says_what_its_memory_moves_and_how_much_of_its_peak():
    with changed(uncore=boxes(peak=4e9)) as pmu, shown(pmu) as (daemon, tab):
        next_update(tab)
        assert tab.do(MEMORY) == [
            "Memory 3.6 GB/s of 4.0 GB/s (90 %), read 2.6, written 1.0 Its history", "Memory 2.6 GB/s of 4.0 GB/s (64 %), read 2.6, written 0.0 Its history"]
        assert tab.do(PARTS) == [[["mr", 640], ["mw", 256]], [["mr", 640], ["mw", 0]]]
        for width, dark in ((PHONE, True), (PHONE, False), (DESK, True)):
            narrow = tab.browser.open(f"http://127.0.0.1:{daemon.port}/", width=width, dark=dark)
            narrow.wait("document.querySelectorAll('.card .memory + .bar').length === 2", "the bars")
            check_layout(narrow, width, (width, dark))
            narrow.close()
        tab.do("document.getElementById('memory-history-0').click()")
        tab.wait("document.querySelector('#history .legend')", "the memory's history")
        assert tab.do("document.querySelector('#history h2').textContent") == "Bytes read from memory, Bytes written to memory, last hour"
        lines = tab.do("[...document.querySelectorAll('#history .legend .nb')].map((e) => e.textContent)")
        assert [re.sub("[0-9.]+ G$|0$", "N", line) for line in sorted(lines)] == [
            f"socket {socket}, bytes {way} memory: now N" for socket in (0, 1) for way in ("read from", "written to")], lines


def test_memory_without_a_peak_has_words_and_memory_that_is_not_measured_none():
    with changed(uncore=boxes()) as pmu, shown(pmu, script=False) as (daemon, _):
        page = e2e.fetch(daemon.port, "/").text()
        found = [re.sub("<.*?>", "", line) for line in re.findall(r'<p class="memory">(.*)', page)]
        assert found == [f"Memory {text}. Its peak is not known: see topdownd-memory(8). Its history" for text in (
            "3.6 GB/s, read 2.6, written 1.0", "2.6 GB/s, read 2.6, written 0.0")], found
        assert 'class="mr"' not in page, "a bar of an unknown whole"
    one = boxes(assignments=[{"cpus": "0-3", "load": "both"}])
    with changed(uncore=one, sockets=1, cores_per_socket=8) as pmu, e2e.Daemon("--pmu", pmu, yaml=YAML + "profiles: {default: {groups: [MPKI]}}\n") as daemon:
        waited(daemon)
        page = e2e.fetch(daemon.port, "/").text()
        assert "Pipeline slots in the last round" not in page and 'class="memory"' in page, "hidden with level 1"
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        waited(daemon)
        assert 'class="memory"' not in e2e.fetch(daemon.port, "/").text()


def test_what_is_missing_where_boxes_are_left_out_is_said_and_why_no_peak_is_shown():
    left_out = "uncore.boxes leaves out 1 of 4 boxes: what they move is missing here"
    for peak, first, second in (("auto", f"Memory 2.7 GB/s, read 1.9, written 0.8. {left_out}, and a peak is shown only if uncore.peak states one. Its history",
                                 "Memory 2.6 GB/s of 4.0 GB/s (64 %), read 2.6, written 0.0 Its history"),
                                ("5GB", f"Memory 2.7 GB/s of 5.0 GB/s (54 %), read 1.9, written 0.8. {left_out}. Its history",
                                 "Memory 2.6 GB/s of 5.0 GB/s (51 %), read 2.6, written 0.0 Its history")):
        with changed(uncore=boxes(peak=4e9)) as pmu, e2e.Daemon("--pmu", pmu, yaml=f"{YAML}uncore: {{peak: {peak}, boxes: {{exclude: [imc_3]}}}}\n") as daemon:
            waited(daemon)
            page = e2e.wait_for(lambda: "GB/s" in (page := e2e.fetch(daemon.port, "/").text()) and page, "the memory")
            assert [" ".join(re.sub("<.*?>", "", line).split()) for line in re.findall(r'<p class="memory">(.*)', page)] == [first, second], page
            assert page.count('<span class="mr" style') == (2 if peak == "5GB" else 1), "a bar of an unknown whole"


def test_each_socket_says_how_long_reads_wait_where_that_is_measured():
    kinds = boxes()
    for each in kinds[0]["loads"].values():  # 100 and 50 cycles of 1 GHz
        long = 2e9 if "UNC_M_CAS_COUNT.WR" in each["keyframes"][0]["rates"] else 1e9
        each["keyframes"][0]["rates"].update({"UNC_M_RPQ_INSERTS.PCH0": 2e7, "UNC_M_RPQ_OCCUPANCY_PCH0": long, "UNC_M_CLOCKTICKS": 1e9})
    with changed(uncore=kinds) as pmu, e2e.Daemon("--pmu", pmu, yaml=YAML + "uncore: {groups: [memory, Queue_Latency]}\n") as daemon:
        def waits():
            page = e2e.fetch(daemon.port, "/").text()
            found = re.findall(r'<dl class="latency"><dt><a [^>]*>(.*)</a><dd class="nb">(.*)', page)
            return (page, found) if len(found) == 2 else None
        page, told = e2e.wait_for(waits, "latencies")
        assert told == [("Latency of reads in the memory controller&#39;s queue", f"{ns} ns") for ns in (100, 50)], told
        links = re.findall(r'<a id="(latency[^"]*)" data-metric="memory_queue_latency_seconds" href="/api/v1/history\?scope=socket&amp;metric=', page)
        assert len(set(links)) == 2, links
        assert len(daemon.json("/api/v1/history?scope=socket&metric=memory_queue_latency_seconds")["series"]) == 2


def test_memory_whose_directions_are_not_told_apart_is_one_part_of_the_bar():
    loads = {"all": {"period_seconds": 10, "keyframes": [{"at_seconds": 0, "rates": {"dram_channel_data_controller_0": 5e7}}]}}
    with changed(uncore=boxes(kind="df", spec="df-zen1", boxes_per_socket=1, peak=6.4e9, loads=loads,
                              assignments=[{"cpus": "0-1", "load": "all"}])) as pmu, shown(pmu) as (_, tab):
        assert tab.do(MEMORY) == ["Memory 3.2 GB/s of 6.4 GB/s (50 %) Its history"] * 2
        assert tab.do(PARTS) == [[["mr", 500]]] * 2


def check_layout(tab, width, what):
    assert tab.do("document.documentElement.scrollWidth") <= width, (what, tab.do(BEYOND))
    for condition in (BEYOND, CUT):
        assert tab.do(condition) == [], (what, tab.do(condition))
    contrast, text = tab.do(CONTRAST)
    assert contrast >= 4.4, (what, contrast, text)


BOX_ROWS = """[...document.querySelectorAll('#boxes tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"""


def test_each_box_is_on_a_page_of_its_own_which_stays_up_to_date():
    with changed(uncore=boxes()) as pmu, shown(pmu) as (daemon, tab):
        tab_to(tab, "e.matches('#boxes summary')", "the boxes")
        tab.press("Enter")
        tab.wait("document.querySelectorAll('#boxes tr').length === 9", "the boxes")
        assert tab.do("location.hash") == "#boxes"
        def complete():
            rows = tab.do(BOX_ROWS)
            return "–" not in str(rows) and rows
        head, *rows = e2e.wait_for(complete, "their values")
        first_cpu = json.loads(e2e.read_text(STEADY))["cores_per_socket"]
        assert head == ["PMU", "Socket", "CPU", "memory read", "memory write", "Share of time", "Error"], head
        for i, (name, socket, cpu, read, written, share, error) in enumerate(rows):
            assert (name, socket, cpu, share, error) == (f"imc_{i}", str(i // 4), str(i // 4 * first_cpu), "100 %", ""), rows
            assert read.endswith("B/s") and abs(number(read.removesuffix("B/s")) / 6.4e8 - 1) < 0.01, rows
            assert written == "0 B/s" if i >= 4 else abs(number(written.removesuffix("B/s")) / 2.56e8 - 1) < 0.01, rows
        assert tab.do("document.querySelector('#boxes p').textContent") == "Events: UNC_M_CAS_COUNT.RD, UNC_M_CAS_COUNT.WR"
        assert tab.do("document.querySelector('#boxes h3').textContent") == "imc: 8 boxes"
        tab_to(tab, "e.matches('#boxes .wide')", "the table")
        tab.do("document.querySelector('#boxes table').dataset.old = 1")
        tab.wait("!document.querySelector('#boxes table').dataset.old", "fresh values")
        assert tab.do("document.activeElement.matches('#boxes .wide')")
        names = [box["name"] for box in daemon.json("/api/v1/uncore")["kinds"][0]["boxes"]]
        assert names == [f"imc_{i}" for i in range(8)], names
        for width, dark in ((PHONE, True), (PHONE, False), (DESK, True)):
            other = tab.browser.open(f"http://127.0.0.1:{daemon.port}/#boxes", width=width, dark=dark)
            other.wait("document.querySelectorAll('#boxes tr').length === 9", "the boxes of the address")
            check_layout(other, width, (width, dark))
            assert not other.said, other.said
            other.close()


def test_a_box_that_does_not_count_says_why_and_a_host_without_boxes_has_no_such_page():
    with changed(uncore=boxes(rivals=[{"kind": "refuse", "cpus": "0-7"}])) as pmu, shown(pmu, "#boxes") as (_, tab):
        tab.wait("document.querySelector('#boxes .warn')", "the error of the kind")
        assert "could not be opened" in tab.do("document.querySelector('#boxes .warn').textContent")
        row = tab.wait(f"({BOX_ROWS})[1]?.[6] && ({BOX_ROWS})[1]", "a row with a reason")
        assert row[:6] == ["imc_0", "0", "0", "–", "–", "–"] and row[6] != "", row
    with shown(f"sim:{STEADY}", "#boxes") as (_, tab):
        next_update(tab)
        assert tab.do("document.getElementById('boxes')") is None


def test_nothing_is_cut_off_on_a_phone_and_on_a_desk_in_light_and_dark():
    with contextlib.ExitStack() as stack:
        eight = stack.enter_context(changed(sockets=8, cores_per_socket=1))
        four = stack.enter_context(changed(sockets=1, cores_per_socket=4))
        daemons = [stack.enter_context(e2e.Daemon("--pmu", pmu, yaml=YAML)) for pmu in (eight, "sim:hybrid", "auto", four)]
        chromium = stack.enter_context(browser.Browser())
        for daemon, dark in zip(daemons, (True, False, True, False)):
            waited(daemon)
            for width in (PHONE, DESK):
                metric = "ipc" if daemon is not daemons[2] else "context_switches_per_second"
                tab = chromium.open(f"http://127.0.0.1:{daemon.port}/#metric={metric}&cpus&cpu=0", width=width, dark=dark)
                tab.wait("document.querySelector('#history path') && document.querySelector('#map-shown h3')", "all of it")
                tab.do("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
                check_layout(tab, width, (daemon.config, width))
                dark = not dark
                if daemon is daemons[0]:  # so many lines would look alike in one plot
                    # a plot without the host's line was drawn while a step ended, and the next update has it
                    tab.wait("document.querySelectorAll('#history .several figcaption').length === 9", "the host's line")
                    names = {name.split(":")[0] for name in tab.do("[...document.querySelectorAll('#history .several figcaption')].map((e) => e.textContent)")}
                    assert names == {"host", *(f"socket {socket}" for socket in range(8))}, names  # the host's because not all sockets' are kept
                    assert tab.do("document.querySelectorAll('#live-first .card').length") == 8
                if daemon is daemons[3]:
                    assert tab.do("document.querySelectorAll('#map button').length") == 4
                assert not tab.said, tab.said
                tab.close()


def test_a_large_host_has_a_map_in_each_order():
    with changed(sockets=2, cores_per_socket=256) as large, shown(large, "#cpus&cpu=511", yaml=e2e.LISTEN_ANYWHERE, width=PHONE) as (daemon, tab):
        tab.wait("document.querySelectorAll('#map button').length === 512", "512 CPUs")
        assert tab.do("document.querySelector('#map-shown h3').textContent") == "CPU 511, socket 1"
        check_layout(tab, PHONE, "512 CPUs")
        choose = "((select, value) => { select.value = value; select.dispatchEvent(new Event('change')); })"
        tab.do(f"{choose}(document.getElementById('map-order'), 'socket')")
        tab.wait("document.querySelectorAll('#map h3').length === 2", "two sockets")
        tab.do(f"{choose}(document.getElementById('map-metric'), 'l1d_cache_mpki')")
        tab.do(f"{choose}(document.getElementById('map-order'), 'value')")
        tab.wait("document.querySelectorAll('#map h3').length === 0 && document.querySelector('#map button').getAttribute('aria-label').includes('MPKI')", "the order")
        values = [number(text.split(": ")[1]) for text in tab.do("[...document.querySelectorAll('#map button')].map((b) => b.getAttribute('aria-label'))")]
        truth = [cpu["metrics"]["l1d_cache_mpki"]["value"] for cpu in daemon.json("/api/v1/snapshot?scope=cpu")["scopes"]]
        assert values == sorted(values, reverse=True) and len(values) == 512
        assert abs(values[0] - max(truth)) < 0.01 * max(truth), (values[0], max(truth))
        assert tab.do("document.querySelectorAll('#map [tabindex=\"0\"]').length") == 1, "the keyboard stops at each CPU"


def test_without_a_script_the_page_is_whole():
    with shown(f"sim:{STEADY}", script=False) as (_, tab):
        page = e2e.fetch(int(tab.asked[0].split(":")[2].split("/")[0]), "/").text()
        for part in ("What this host is bound by", "Pipeline slots in the last round", "<svg", "class=\"tree\"", "perf record", "Metrics of the last round",
                     "Event groups and their time", 'href="/api/v1/history?scope=socket&amp;metric=ipc"'):
            assert part in page, part
        assert "title=" not in re.sub("<title>.*</title>", "", page), "told by a tooltip alone"
        data = tab.ask("Page.captureScreenshot", format="jpeg", quality=10)["data"]  # it has been drawn
        return f"{len(page)} bytes, a picture of {len(data)}"


def test_nothing_comes_from_elsewhere():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        answer = e2e.fetch(daemon.port, "/")
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "connect-src 'self'" in policy and "unsafe-eval" not in policy, policy
        assert not re.search(r'(src|href)="(https?:)?//', answer.text())
        assert re.findall("<script[^>]*>", answer.text()) == ['<script src="/page.js">']
        script = e2e.fetch(daemon.port, "/page.js")
        assert script.status == 200 and script.headers["Content-Type"].startswith("text/javascript")
        with open(os.path.join(ROOT, "exporters/html/page.js"), "rb") as file:
            assert script.body == file.read()
        with open(os.path.join(ROOT, "exporters/html/page.css"), encoding="utf-8") as file:
            assert file.read() in answer.text()
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", script.text())


if __name__ == "__main__":
    e2e.run_tests(AT_ONCE)
