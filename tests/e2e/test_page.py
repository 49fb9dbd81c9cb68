# SPDX-License-Identifier: Apache-2.0
"""The page for people, in a real browser without a screen: its frame, and the first view."""

import base64
import contextlib
import http.server
import json
import lzma
import os
import re
import tempfile
import threading
import urllib.error
import urllib.request

import browser
import e2e
import web_files

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\ninterval: 1s\n"
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
SERVICE = os.path.join(ROOT, "scenarios/sapphire-rapids.json")
LARGE = os.path.join(ROOT, "tests/data/scenarios/large.json")
DESK, PHONE, NARROW = (1400, 900), (390, 844), (320, 700)  # pixels
AT_ONCE = 3  # browsers
ROUNDS = 3  # until values have intervals
TABS_MAX = 60  # from the top of the page to the command

# What reaches beyond the edges of the page without being in a part that scrolls.
BEYOND = """[...document.querySelectorAll("body *")].filter((e) => !e.closest(".wide, nav, .offscreen, .skip, svg") && e.checkVisibility() &&
    (e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5 || e.getBoundingClientRect().left < -0.5))
    .map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 60)}`)"""
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
VERDICT = "document.getElementById('verdict')?.textContent"


def waited(daemon):
    """Until there are values with intervals, of each core type."""
    def sequences():
        snapshot = daemon.json("/api/v1/snapshot")
        return [of["sequence"] for of in snapshot.get("core_types", [snapshot])]
    e2e.wait_for(lambda: min(sequences()) >= ROUNDS, "some rounds")


def opened(chromium, daemon, fragment="", size=DESK, **settings):
    return chromium.open(f"http://127.0.0.1:{daemon.port}/{fragment}", width=size[0], height=size[1], **settings)


@contextlib.contextmanager
def shown(pmu, fragment="", yaml=YAML, **settings):
    """A daemon and its page in a browser. The page must say nothing and ask nobody else."""
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(e2e.Daemon("--pmu", pmu, yaml=yaml))
        chromium = stack.enter_context(browser.Browser())
        waited(daemon)
        tab = opened(chromium, daemon, fragment, **settings)
        yield daemon, tab
        chromium.listen()
        assert not tab.said, tab.said
        assert tab.asked and all(url.startswith(f"http://127.0.0.1:{daemon.port}/") or url.startswith("data:") for url in tab.asked), tab.asked


@contextlib.contextmanager
def changed(path=STEADY, **changes):
    """A host of a scenario with other members, as a source of counts."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = json.loads(e2e.read_text(path)) | changes
        n = scenario["sockets"] * scenario["cores_per_socket"] * scenario["threads_per_core"]
        if "assignments" not in changes:
            scenario["assignments"] = [{"cpus": f"0-{n - 1}", "load": "steady"}]
        yield f"sim:{e2e.write_text(os.path.join(folder, 'changed.json'), json.dumps(scenario))}"


def idle():
    return changed(SERVICE, assignments=[{"cpus": "0-127", "load": "idle"}])


def next_update(tab):
    """Waits until the page has newer values."""
    taken = tab.wait("document.querySelector('.taken')?.textContent", "the time of the values")
    tab.wait(f"(t => t !== {json.dumps(taken)} && t)(document.querySelector('.taken').textContent)", "newer values")


def percent(value):
    return f"{100 * value:.1f} %"


def nodes_of(tree):
    for node in tree:
        yield node
        yield from nodes_of(node.get("children") or [])


def test_the_first_screen_says_what_the_api_says_and_stays_up_to_date():
    with shown(f"sim:{STEADY}") as (daemon, tab):
        tab.wait("document.getElementById('state').textContent === 'live, every 1 s'", "the state")
        next_update(tab)
        answer = daemon.json("/api/v1/topdown")  # of a steady load, so the same a moment later
        last, tree = answer["bound"]["path"][-1], answer["scopes"][0]["tree"]
        node = next(node for node in nodes_of(tree) if node["metric"] == last)
        assert tab.do(VERDICT) == f"{node['title']} {percent(node['value'])} of pipeline slots"
        assert tab.do("document.getElementById('text').textContent") in answer["bound"]["text"]
        legend = dict(tab.do("[...document.querySelectorAll('.legend > div')].map((row) => [row.dataset.key, row.querySelector('dd').firstChild.textContent])"))
        roots = {root["metric"]: 100 * root["value"] for root in tree}
        assert len(legend) == 4 and all(abs(float(text.removesuffix(" %")) - roots[metric]) < 0.1 for metric, text in legend.items()), (legend, roots)
        chips = tab.do("document.querySelector('.chips').textContent")
        assert "for at least" in chips and "UTC" in chips and f"{percent(node['low'])} to {percent(node['high'])}" in chips, chips
        rows = tab.do("[...document.querySelectorAll('#where li')].map((row) => row.textContent)")
        assert [row.split()[1] for row in rows] == ["0", "1"] and all(percent(node["value"]) in row for row in rows), rows
        assert answer["bound"]["sample_command"] in tab.do("[...document.querySelectorAll('#next code')].map((e) => e.textContent)")
        assert tab.do("document.title") == f"{daemon.json('/api/v1/status')['hostname']}: topdownd"
        return tab.do(VERDICT)


def test_all_of_the_first_screen_is_seen_without_scrolling():
    with shown(f"sim:{SERVICE}") as (daemon, tab):
        bottom = "Math.max(...[...document.querySelectorAll('#verdicts, #where, #next')].map((e) => e.getBoundingClientRect().bottom))"
        tab.wait("document.querySelector('#next code')", "the last of it")
        tab.wait("document.querySelector('#timeline canvas')", "the last hour")
        assert tab.do(bottom) <= DESK[1], tab.do(bottom)
        phone = opened(tab.browser, daemon, size=PHONE)
        phone.wait("document.querySelector('#next code')", "the last of it")
        phone.wait("document.querySelector('#timeline canvas')", "the last hour")
        seen = phone.do("Object.fromEntries(['#verdicts', '#hour', '#where', '#next h2', '#next .copy'].map((s) => [s, document.querySelector(s).getBoundingClientRect().bottom]))")
        assert max(seen.values()) <= PHONE[1], seen
        return seen


def test_a_host_that_is_idle_says_so():
    with idle() as pmu, shown(pmu) as (_, tab):
        assert tab.wait(VERDICT, "the verdict").startswith("Idle "), tab.do(VERDICT)
        assert "Nothing is worth fixing here" in tab.do("document.getElementById('text').textContent")


def test_a_host_without_a_pmu_says_first_what_to_do():
    if reason := e2e.perf_events_allowed():
        raise e2e.Skip(reason)
    if any(name in os.listdir("/sys/bus/event_source/devices") for name in ("cpu", "armv8_pmuv3_0", "cpu_core")):
        raise e2e.Skip("this host has a PMU")
    with shown("auto") as (daemon, tab):
        tab.wait("document.getElementById('blind')", "what to do")
        assert tab.do("document.querySelector('main').firstElementChild.id") == "blind"
        text = tab.do("document.getElementById('blind').textContent")
        assert daemon.json("/api/v1/status")["pmu_errors"][0]["text"][1:] in text and "topdownd doctor" in text, text


def test_a_hybrid_host_has_one_answer_and_one_for_each_core_type():
    with shown("sim:hybrid") as (daemon, tab):
        tab.wait(VERDICT, "the verdict")
        answer = daemon.json("/api/v1/topdown")
        assert tab.do(VERDICT).split(" (")[0] == answer["bound_text"].split(" (")[0]
        assert tab.do("[...document.querySelectorAll('.type h2')].map((e) => e.textContent.split(':')[0])") == [of["core_type"] for of in answer["core_types"]]
        assert tab.do("document.querySelectorAll('.type .stack').length") == len(answer["core_types"])


def test_sockets_that_differ_are_listed_worst_first():
    """One of two sockets waits, the other one works."""
    with open(os.path.join(ROOT, "tests/data/scenarios/bottleneck.json"), encoding="utf-8") as file:
        scenario = json.load(file)
    mixes = list(scenario["mixes"])
    loads = {mix: {"period_seconds": 10, "keyframes": [{"at_seconds": 0, "mix": mix, "utilisation": 0.8}]} for mix in mixes}
    with changed(os.path.join(ROOT, "tests/data/scenarios/bottleneck.json"), loads=loads,
                 assignments=[{"cpus": "0-1", "load": mixes[0]}, {"cpus": "2-3", "load": mixes[1]}]) as pmu, shown(pmu) as (daemon, tab):
        tab.wait("document.querySelectorAll('#where li').length === 2", "both sockets")
        sockets = {scope["socket"]: scope["bound"] for scope in daemon.json("/api/v1/topdown?scope=socket")["scopes"]}
        exceeded = [socket for socket, bound in sockets.items() if bound["exceeded"]]
        rows = tab.do("[...document.querySelectorAll('#where li b')].map((e) => e.textContent)")
        rows = [row for row in rows if row.startswith("Socket")]
        assert exceeded and rows[0] == f"Socket {exceeded[0]}", (rows, sockets)
        if e2e.wait_for(lambda: daemon.json("/api/v1/topdown")["bound"], "a verdict")["sockets_differ"]:
            assert re.match("Socket 0: .* %, socket 1: .* %$|.* on CPUs? .* of their pipeline slots$", tab.do(VERDICT)), tab.do(VERDICT)


def test_a_replay_says_that_it_is_one_and_of_when():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with open(path, "wb") as file:
            file.write(lzma.open(os.path.join(ROOT, "tests/data/digests/sapphire-rapids.xz")).read())
        with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", yaml=e2e.LISTEN_ANYWHERE) as daemon, browser.Browser() as chromium:
            e2e.wait_for(lambda: "have been replayed" in daemon.log(), "its end")
            tab = opened(chromium, daemon)
            tab.wait(VERDICT, "the verdict")
            assert "A replay." in tab.do("document.getElementById('alerts').textContent")
            assert re.match(r"a replay, at \d\d:\d\d:\d\d UTC$", tab.do("document.getElementById('state').textContent"))
            assert not tab.said, tab.said


# ---- trouble ----

def test_when_topdownd_is_gone_the_page_says_so_and_goes_on_when_it_is_back():
    port = e2e.free_port()
    yaml = YAML.replace("127.0.0.1:0", f"127.0.0.1:{port}")
    with browser.Browser() as chromium:
        with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=yaml) as daemon:
            waited(daemon)
            tab = opened(chromium, daemon, size=PHONE)
            verdict = tab.wait(VERDICT, "the verdict")
            daemon.stop()
            said = tab.wait("document.getElementById('trouble')?.textContent", "the trouble")
            assert said.startswith("topdownd does not answer (no connection): the values below are of "), said
            assert tab.do(VERDICT) == verdict and tab.do("document.getElementById('state').textContent") == "no answer"
            tab.do("scrollTo(0, 1e6)")
            assert tab.do("document.getElementById('trouble').getBoundingClientRect().top >= 0"), "out of sight"
            tab.do("location.hash = 'trust'; 0")  # a view whose module was not loaded before
            tab.wait("document.querySelector('nav [aria-current=page]').textContent === 'Trust'", "the tab")
            assert tab.do("document.getElementById('trouble')?.textContent") == said
        with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=yaml) as daemon:
            waited(daemon)
            tab.wait("!document.getElementById('trouble') && document.getElementById('state').textContent.startsWith('live')", "values again")
            tab.wait("document.getElementById('coverage-section')", "the view that was chosen meanwhile")
        return said


def test_a_password_that_is_asked_for_and_a_server_that_is_busy_are_said_plainly():
    with shown(f"sim:{STEADY}") as (_, tab):
        tab.wait(VERDICT, "the verdict")
        for status, words in ((401, "topdownd asks for a name and a password: reload"), (503, "topdownd answers too many at once (503)"), (429, "too many at once (429)")):
            tab.do(f"globalThis.real ??= fetch; globalThis.fetch = async () => new Response('no', {{status: {status}}}); 0")
            said = tab.wait("document.getElementById('trouble')?.textContent", "the trouble")
            tab.wait(f"document.getElementById('trouble')?.textContent.includes({json.dumps(words)})", words)
            tab.do("globalThis.fetch = real; 0")
            tab.wait("!document.getElementById('trouble')", "values again")
        return said


def test_values_that_do_not_change_any_more_are_said_to_be_old():
    with shown(f"sim:{STEADY}") as (_, tab):
        tab.wait(VERDICT, "the verdict")
        tab.do("""globalThis.real ??= fetch; globalThis.kept = {}; globalThis.fetch = async (url, options) => {
            kept[url] ??= await (await real(url, options)).text();
            return new Response(kept[url]); }; 0""")
        tab.wait("document.getElementById('state').textContent === 'nothing new'", "the state")
        assert "has made no snapshot since" in tab.do("document.getElementById('alerts').textContent")
        tab.do("globalThis.fetch = real; 0")
        tab.wait("document.getElementById('state').textContent.startsWith('live')", "values again")


def test_a_page_that_nobody_sees_asks_nothing():
    with shown(f"sim:{STEADY}") as (daemon, tab):
        tab.wait(VERDICT, "the verdict")
        tab.do("Object.defineProperty(document, 'hidden', {configurable: true, get: () => true}); document.dispatchEvent(new Event('visibilitychange')); 0")
        tab.wait("document.getElementById('state').textContent === 'paused while hidden'", "the state")
        tab.browser.listen(0.2)  # what was on its way
        asked, sequence = len(tab.asked), daemon.sequence()
        daemon.wait_round(sequence + 3)
        tab.browser.listen()
        assert len(tab.asked) == asked, tab.asked[asked:]
        tab.do("delete document.hidden; document.dispatchEvent(new Event('visibilitychange')); 0")
        tab.wait("document.getElementById('state').textContent.startsWith('live')", "it to go on")


# ---- use ----

def tab_to(tab, condition, what):
    """Presses the tabulator until the element with the focus is such a one; how often."""
    for n in range(1, TABS_MAX):
        tab.press("Tab")
        if tab.do(f"((e) => {condition})(document.activeElement)"):
            return n
    raise AssertionError(f"the tabulator does not lead to {what}")


def test_from_the_top_to_the_command_by_keyboard():
    with shown("sim") as (daemon, tab):
        tab.wait("document.querySelector('#next .copy')", "the command")
        tab.press("Tab")
        assert tab.do("document.activeElement.id") == "skip"
        tab.press("Enter")
        assert tab.do("document.activeElement.id") == "main" and tab.do("location.hash") == ""
        times = tab_to(tab, "e.matches('#next .copy')", "the button")
        command = tab.do("document.activeElement.previousSibling.textContent")
        assert command == daemon.json("/api/v1/topdown")["bound"]["sample_command"]
        next_update(tab)
        assert tab.do("document.activeElement.previousSibling?.textContent") == command, "an update takes the focus"
        # a window that the system has not yet brought to the front may not copy
        said = e2e.wait_for(lambda: tab.press("Enter") or tab.do("(s => s !== 'Copy' && s)(document.activeElement.textContent)"), "an answer of the button", pause=0.5)
        assert said == "Copied", said
        return f"{times} steps of the keyboard"


def test_an_address_that_nobody_knows_and_one_of_an_earlier_version_show_something():
    with shown(f"sim:{STEADY}", "#nothing") as (_, tab):
        tab.wait(VERDICT, "the first view")
        assert tab.do("document.querySelector('nav [aria-current=page]').textContent") == "Now"
        for address, view in (("#metric=ipc", "time"), ("#cpus&cpu=7", "where"), ("#boxes", "where"), ("#now", "now")):
            tab.do(f"location.hash = '{address}'; 0")
            tab.wait(f"document.getElementById('main').dataset.view === '{view}' && document.querySelector('nav [aria-current=page]').textContent.toLowerCase() === '{view}'", address)


def check_layout(tab, size, what):
    assert tab.do("document.documentElement.scrollWidth") <= size[0], (what, tab.do(BEYOND))
    assert tab.do(BEYOND) == [], (what, tab.do(BEYOND))
    contrast, text = tab.do(CONTRAST)
    assert contrast >= 4.5, (what, contrast, text)
    assert tab.do("document.querySelectorAll('[style*=\"width: NaN\"], [style*=\"undefined\"]').length") == 0
    assert not re.search(r"\bNaN\b|undefined|\[object|\bnull\b", tab.do("document.body.innerText")), (what, tab.do("document.body.innerText"))


def test_nothing_is_cut_off_on_a_phone_and_on_a_desk_in_light_and_dark():
    with contextlib.ExitStack() as stack:
        eight = stack.enter_context(changed(sockets=8, cores_per_socket=1))
        hosts = (eight, "sim:hybrid", "auto", f"sim:{SERVICE}", stack.enter_context(idle()), "sim:zen4", "sim:neoverse-n1")
        chromium = stack.enter_context(browser.Browser())
        dark = True
        for host in hosts:
            with e2e.Daemon("--pmu", host, yaml=YAML) as daemon:
                waited(daemon)
                for size in (DESK, PHONE, NARROW):
                    tab = opened(chromium, daemon, size=size, dark=dark)
                    tab.wait(VERDICT, "the verdict")
                    check_layout(tab, size, (host, size, dark))
                    assert not tab.said, tab.said
                    tab.close()
                    dark = not dark


def test_numbers_have_their_digits_units_and_intervals():
    cases = {  # as told by hand
        "number(2.8e9)": "2.8 G", "number(54.15e9)": "54.15 G", "number(9999)": "9999", "number(29990)": "29.99 k", "number(123456)": "123.5 k", "number(999999)": "1000 k", "number(1.5e6)": "1.5 M", "number(0.00002345)": "0.00002345", "number(2e-7)": "0.0000002",
        "number(null)": "–", "number(0)": "0", "share(0.4333)": "43.3 %", "share(0)": "0.0 %", "share(0.0001)": "0.01 %", "share(undefined)": "–",
        "bytes(307.2e9, '/s')": "307.2 GB/s", "bytes(512)": "512 B", "seconds(8.01e-8)": "80.1 ns", "seconds(0.0032)": "3.2 ms",
        "quantity(3.5e9, 'hertz')": "3.5 GHz", "quantity(0.329, 'ratio of pipeline slots')": "32.9 %", "unitOf('ratio of pipeline slots')": "% of pipeline slots",
        "quantity(7.5, 'per 1000 instructions')": "7.5", "unitOf('per 1000 instructions')": "per 1000 instructions",
        "margin({value: 2, high: 3.5}, 'per cycle')": "± 1.5", "margin({value: 2, high: 4}, 'per cycle')": "too uncertain to tell",
        "margin({value: 2, high: 2, exact: true}, 'per cycle')": "exact", "margin({value: 2, high: 2}, 'per cycle')": "± 0", "margin({value: 2, high: null}, 'per cycle')": "",
        "margin({value: 0.02, high: 0.06}, 'ratio of pipeline slots')": "± 4", "margin({value: 0.25, high: 0.75}, 'ratio of pipeline slots')": "too uncertain to tell",
        "duration(59)": "59 s", "duration(3599)": "59 min", "duration(7500)": "2 h 05 min", "duration(90000)": "1 day 1 h",
        "clock(1795855411)": "08:43", "clock(1795855411, true)": "08:43:31", "moment(1795855411, 1795855500)": "08:43 UTC", "moment(1795855411, 1795955500)": "2026-11-28 08:43 UTC"}
    with shown(f"sim:{STEADY}") as (_, tab):
        found = tab.do("(async () => { const {" + ", ".join(sorted({case.split("(")[0] for case in cases})) + "} = await import('./ui/format.js'); return [" + ", ".join(cases) + "]; })()")
        wrong = {case: got for (case, wanted), got in zip(cases.items(), found) if got != wanted}
        assert not wrong, wrong
        return f"{len(cases)} texts"


def test_what_a_host_says_of_itself_is_text():
    """Its name, its CPU and its reasons come from files."""
    evil = "<img src=x onerror=alert(1)>"
    with shown(f"sim:{STEADY}") as (_, tab):
        tab.wait(VERDICT, "the verdict")
        tab.do("""globalThis.real ??= fetch; globalThis.fetch = async (url, options) => {
            const answer = await real(url, options), evil = %s, data = await answer.json();
            if (data.hostname) { data.hostname = evil; data.cpu.model = evil; data.pmu_errors = [{pmu: "cpu", reason: "x", text: evil}]; }
            if (data.bound) data.bound.text = evil;
            return new Response(JSON.stringify(data)); }; 0""" % json.dumps(evil))
        tab.wait("document.querySelector('#blind')", "the error")
        tab.wait(f"document.getElementById('host').textContent === {json.dumps(evil)}", "the name as text")
        assert tab.do("document.querySelectorAll('img').length") == 0
        assert evil[1:] in tab.do("document.getElementById('blind').textContent")


# ---- how it is served ----

def test_nothing_comes_from_elsewhere_and_nothing_is_allowed_to():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        answer = e2e.fetch(daemon.port, "/")
        policy = answer.headers["Content-Security-Policy"]
        assert policy == ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                          "frame-ancestors 'none'"), policy
        assert not re.search(r'(src|href)="(https?:)?//', answer.text())
        assert re.findall("<script[^>]*>", answer.text()) == ['<script type="module" src="ui/main.js">']
        with open(os.path.join(ROOT, "exporters/page/index.html"), "rb") as file:
            assert file.read() == answer.body


def test_without_a_script_there_is_a_link_to_the_short_page():
    with shown(f"sim:{STEADY}", script=False) as (daemon, tab):
        assert tab.asked[0].endswith("/") and 'href="plain"' in e2e.fetch(daemon.port, "/").text()
        short = opened(tab.browser, daemon, "plain", size=PHONE, script=False)
        page = e2e.wait_for(lambda: (text := e2e.fetch(daemon.port, "/plain").text()) and "perf record" in text and text, "a verdict")
        assert all(part in page for part in ("What this host is bound by", "Pipeline slots in the last round", "perf record", "socket 1", 'href="api/v1/topdown"')), page
        data = short.ask("Page.captureScreenshot", format="jpeg", quality=10)["data"]  # it has been drawn
        assert not short.said, short.said
        return f"{len(page)} bytes, a picture of {len(base64.b64decode(data))}"


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes what is below /hosts/db-17/ on to a daemon."""

    def do_GET(self):  # pylint: disable=invalid-name
        prefix = "/hosts/db-17/"
        if not self.path.startswith(prefix):
            self.send_error(404)
            return
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.server.daemon_port}/{self.path[len(prefix):]}", timeout=e2e.TIMEOUT) as answer:
                body = answer.read()
                self.send_response(200)
                for name in ("Content-Type", "Content-Security-Policy"):
                    self.send_header(name, answer.headers[name])
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
        except (urllib.error.HTTPError, ConnectionError):
            self.close_connection = True

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def test_over_tls_with_a_password_all_is_as_without():
    files = web_files.Files()
    files.authority()
    files.certificate("server")
    web = files.write(e2e.read_text(files.tls()) + web_files.users(), "both.yml")
    with web_files.Served(web, pmu=f"sim:{STEADY}", yaml=YAML) as daemon, browser.Browser() as chromium:
        tab = chromium.open("data:text/html,")
        tab.ask("Security.setIgnoreCertificateErrors", ignore=True)  # of an authority that the browser does not know
        tab.ask("Page.navigate", url=f"https://alice:secret@127.0.0.1:{daemon.port}/")
        tab.wait(VERDICT, "the verdict")
        next_update(tab)
        assert tab.do("location.protocol") == "https:" and not tab.said, tab.said


def test_below_a_path_of_a_reverse_proxy_all_is_as_without():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon, browser.Browser() as chromium, \
            http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        proxy.daemon_port = daemon.port
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        waited(daemon)
        tab = chromium.open(f"http://127.0.0.1:{proxy.server_port}/hosts/db-17/")
        tab.wait(VERDICT, "the verdict")
        next_update(tab)
        assert not tab.said, tab.said
        proxy.shutdown()


def bytes_of(chromium, daemon):
    """What the first screen takes from the host, but for its own files; and when it was first painted, in milliseconds."""
    tab = opened(chromium, daemon)
    tab.wait(VERDICT, "the verdict")
    entries = tab.do("performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/')).map((e) => [e.name.split('/api/')[1], e.decodedBodySize])")
    paint = tab.do("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    assert not tab.said, tab.said
    tab.close()
    sizes = {}
    for name, size in entries:
        sizes.setdefault(name, size)
    return sum(sizes.values()), sizes, paint


def test_the_first_screen_of_a_large_host_takes_no_more_than_that_of_a_small_one():
    with e2e.Daemon("--pmu", f"sim:{LARGE}", yaml=YAML) as large, e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as small, browser.Browser() as chromium:
        waited(large)
        waited(small)
        (many, sizes, painted), (few, _, _) = bytes_of(chromium, large), bytes_of(chromium, small)
        assert many < 1.5 * few, (many, few, sizes)
        assert not any("scope=cpu" in name for name in sizes), sizes
        return f"{many} bytes of 1,024 CPUs, {few} of 8; first paint after {painted:.0f} ms"


if __name__ == "__main__":
    e2e.run_tests(AT_ONCE)
