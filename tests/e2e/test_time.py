# SPDX-License-Identifier: Apache-2.0
"""The view of time and its charts, in a real browser: against a daemon, and over a made-up day.

The made-up day replaces what /api/v1/history says within the browser, so that a test knows each value of a day without waiting for it.
"""

import contextlib
import gzip
import os
import re
import subprocess
import tempfile

import browser
import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\ninterval: 1s\n"
BYTES_MAX = 150 * 1024  # of all files of the page, compressed
CHART = "document.querySelector('.chart')"
WINDOW = f"[Number({CHART}.dataset.from), Number({CHART}.dataset.to)]"
DRAWN = f"{CHART} && {CHART}.dataset.drawn"

# A day until now: ipc rises evenly from 1 to 2, with an interval of 0.1 to both sides, and nothing is measured for an hour in the middle. Marks lie so that
# labels have to make room, one of them with markup in its text.
MADE_UP = """
const real = window.fetch, END = Math.floor(Date.now() / 300000) * 300, BEGIN = END - 86400;
const answer = (url) => {
  const step = url.searchParams.get('step') === '300' ? 300 : 10, n = step === 300 ? 288 : 360, begin = END - n * step;
  const times = Array.from({ length: n }, (_, i) => begin + (i + 0.5) * step), gap = (at) => at > BEGIN + 43200 && at < BEGIN + 46800;
  const list = (f) => times.map((at) => (gap(at) ? null : f((at - BEGIN) / 86400)));
  const shares = { backend_bound_ratio: (x) => 0.2 + 0.4 * x, retiring_ratio: (x) => 0.5 - 0.3 * x, frontend_bound_ratio: (x) => 0.2 - 0.1 * x, bad_speculation_ratio: () => 0.1 };
  const of = (metric, title, unit, f, half) => ({ metric, title, unit, domain: 'x', definition: null, values: list(f), low: list((x) => f(x) - half), high: list((x) => f(x) + half) });
  const metrics = url.searchParams.get('metric');
  const series = metrics ? metrics.split(',').map((name) => of(name, name === 'ipc' ? 'Instructions per clock cycle' : name, 'per cycle', (x) => 1 + x, 0.1))
    : Object.entries(shares).map(([name, f]) => of(name, name, 'ratio of pipeline slots', f, 0.01));
  const marks = [[20000, 'reload', 'another configuration'], [20100, 'user', '<b>deploy db 4.2</b>'], [21500, 'plan', 'other event groups'], [23000, 'cpus', '2 CPUs offline'], [86100, 'verdict', 'Back-end bound'], [86340, 'user', 'at the very end']];
  return { simulated: true, replay: false, scope: 'host', step_seconds: step, begin_timestamp_seconds: begin, steps: n, series,
    marks: marks.map(([at, kind, text]) => ({ timestamp_seconds: BEGIN + at, kind, text })).filter((mark) => mark.timestamp_seconds >= begin) };
};
window.fetch = (input, init) => {
  const url = new URL(input, location.href);
  return url.pathname.endsWith('/api/v1/history') ? Promise.resolve(new Response(JSON.stringify(answer(url)), { status: 200 })) : real(input, init);
};
window.END = END;
"""


def page_of(daemon, fragment=""):
    return f"http://127.0.0.1:{daemon.port}/{fragment}"


@contextlib.contextmanager
def host(*options, ready=True):
    with e2e.Daemon("--pmu", f"sim:{STEADY}", *options, yaml=YAML) as daemon:
        if ready:
            daemon.wait_round(2)
        yield daemon


@contextlib.contextmanager
def shown(daemon, fragment, **settings):
    """The page, which must say nothing on its console (also not that something breaks its policy) and ask nobody else."""
    with browser.Browser() as chromium:
        tab = chromium.open(page_of(daemon, fragment), **settings)
        tab.wait(DRAWN, "a chart")
        yield tab
        chromium.listen()
        assert not tab.said, tab.said
        assert all(url.startswith((f"http://127.0.0.1:{daemon.port}/", "data:", "blob:")) for url in tab.asked), tab.asked


def span(tab):
    begin, end = tab.do(WINDOW)
    return end - begin


def wait_span(tab, low, high, what):
    return tab.wait(f"(([a, b]) => b - a >= {low} && b - a <= {high} && {CHART}.dataset.from)({WINDOW})", what)


def mouse(tab, kind, x, y, button="left"):
    tab.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" and button is None else button, buttons=1 if button else 0,
            clickCount=1 if kind != "mouseMoved" else 0)


def area(tab, n=0):
    """Left, top, width and height of the n-th plot on the screen."""
    return tab.do(f"(() => {{ const e = document.querySelectorAll('.chart-canvas')[{n}]; e.scrollIntoView({{ block: 'center' }}); const b = e.getBoundingClientRect(); "
                  "return [b.left, b.top, b.width, b.height]; })()")


def key(tab, name, text=None):
    tab.ask("Input.dispatchKeyEvent", type="keyDown", key=name, **({"text": text} if text else {}))
    tab.ask("Input.dispatchKeyEvent", type="keyUp", key=name)


# ---- against a daemon ----

def test_values_are_those_of_the_api_and_a_mark_is_text():
    text = "<b>deploy</b> & <img src=x onerror=alert(1)>"
    with tempfile.TemporaryDirectory() as folder, host("--path.run", folder) as daemon:
        done = subprocess.run([BINARY, "mark", text, "--path.run", folder], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        assert done.returncode == 0, done
        with shown(daemon, "#time?metric=level1,ipc&scope=socket&span=300") as tab:
            rows = tab.wait("((rows) => rows.length === 2 && rows)([...document.querySelectorAll('.chart-lines .chart-legend li')].map((e) => e.textContent))", "both sockets")
            history = daemon.json("/api/v1/history?metric=ipc&scope=socket&step=10")["series"]
            for row, series in zip(rows, history, strict=True):
                said = re.match(rf"Socket {series['socket']}([0-9.]+)", row)
                newest = [value for value in series["values"] if value is not None][-1]
                assert said and abs(float(said.group(1)) - newest) < 0.02 * newest, (row, newest)
            assert tab.do("document.querySelectorAll('.chart-areas').length") == 2
            lane = tab.wait("((t) => t.includes('deploy') && t)(document.querySelector('.chart-lane').textContent)", "the mark")
            assert "<b>deploy</b>" in lane, lane
            assert text in tab.wait("((e) => e && e.textContent)(document.querySelector('[aria-label=\"What happened\"] tbody'))", "what happened")
            # the library's handles are pictures
            assert tab.do("[...document.querySelectorAll('main img, main b')].filter((e) => !e.closest('.chart-canvas')).map((e) => e.outerHTML)") == []
        return f"{len(history)} sockets"


def test_what_is_chosen_is_in_the_address_and_comes_back_from_it():
    with host() as daemon, shown(daemon, "#time?metric=ipc&span=900", first=MADE_UP) as tab:
        tab.do("((e) => { e.value = 'l2_cache_mpki'; e.dispatchEvent(new Event('change')); })(document.querySelector('#time-add'))")
        tab.wait("document.querySelectorAll('.chart-plot').length === 2", "a second plot")
        tab.do("[...document.querySelectorAll('button')].find((e) => e.textContent === '5 minutes').click()")
        wait_span(tab, 299, 301, "five minutes")
        address = tab.do("location.hash")
        assert address == "#time?metric=ipc,l2_cache_mpki&span=300", address
        tab.do("[...document.querySelectorAll('button')].find((e) => e.textContent === 'Earlier').click()")
        tab.wait("location.hash.includes('from=')", "a fixed time")
        tab.wait(f"Number({CHART}.dataset.to) < END - 100", "an earlier time")
        window, address = tab.do(WINDOW), tab.do("location.hash")
        again = tab.browser.open(page_of(daemon, address), first=MADE_UP)
        again.wait(DRAWN, "a chart")
        assert again.do("document.querySelectorAll('.chart-plot').length") == 2
        assert max(abs(a - b) for a, b in zip(again.do(WINDOW), window)) <= 1, (again.do(WINDOW), window)
        return address


# ---- over a made-up day ----

def test_zoom_by_dragging_by_keys_and_by_buttons():
    with host() as daemon, shown(daemon, "#time?metric=level1,ipc&span=86400", first=MADE_UP) as tab:
        wait_span(tab, 86399, 86401, "the day")
        left, top, width, height = area(tab)
        begin, end = tab.do(WINDOW)
        mouse(tab, "mousePressed", left + width * 0.5, top + height / 2)
        mouse(tab, "mouseMoved", left + width * 0.6, top + height / 2)
        assert tab.do("[...document.querySelectorAll('.chart-shade')].every((e) => !e.hidden)"), "what is chosen shows in all plots"
        mouse(tab, "mouseMoved", left + width * 0.75, top + height / 2)
        mouse(tab, "mouseReleased", left + width * 0.75, top + height / 2)
        wait_span(tab, 18000, 30000, "a quarter of the day")
        zoomed = tab.do(WINDOW)
        assert begin + 30000 < zoomed[0] < zoomed[1] < end - 15000, (begin, zoomed, end)
        tab.do(f"{CHART}.focus()")
        before = span(tab)
        key(tab, "+", "+")
        wait_span(tab, before / 2 - 2, before / 2 + 2, "half of it")
        key(tab, "-", "-")
        wait_span(tab, before - 4, before + 4, "all of that again")
        key(tab, "0", "0")
        wait_span(tab, 86399, 86401, "the day again")
        tab.do("[...document.querySelectorAll('button')].find((e) => e.textContent === '1 minute').click()")
        wait_span(tab, 59, 61, "a minute")
        tab.do("document.querySelector('button[aria-label=\"Zoom in\"]').click()")
        assert 59 <= span(tab) <= 61, "no less than a minute"
        tab.do("[...document.querySelectorAll('button')].find((e) => e.textContent === '1 day').click()")
        wait_span(tab, 86399, 86401, "the day once more")


def test_the_cursor_says_values_and_intervals_of_all_plots_and_gaps_are_gaps():
    with host() as daemon, shown(daemon, "#time?metric=level1,ipc&span=86400", first=MADE_UP) as tab:
        left, top, width, height = area(tab)
        inner = tab.do("(() => { const l = document.querySelector('.dygraph-axis-label-x'); return 58; })()")
        mouse(tab, "mouseMoved", left + inner + (width - inner) * 0.25, top + height / 2, None)
        at = tab.wait("((t) => t.startsWith('At ') && t)(document.querySelector('.chart-at').textContent)", "the time at the cursor")
        assert "UTC" in at, at
        ipc = tab.do("document.querySelector('.chart-lines .chart-value').textContent")
        value, low, high = map(float, re.fullmatch(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)", ipc).groups())
        assert 1.15 < value < 1.35 and abs(value - low - 0.1) < 0.02 and abs(high - value - 0.1) < 0.02, ipc
        areas = tab.do("[...document.querySelectorAll('.chart-areas .chart-value')].map((e) => e.textContent)")
        shares = [float(text.split(" ")[0]) for text in areas]
        assert len(areas) == 4 and abs(sum(shares) - 100) < 0.5 and all(" to " in text for text in areas), areas
        lines = tab.do("[...document.querySelectorAll('.chart-cursor')].map((e) => [e.hidden, Math.round(parseFloat(e.style.left))])")
        assert len(lines) == 2 and lines[0] == lines[1] and not lines[0][0], lines
        # half an hour after the middle nothing was measured
        mouse(tab, "mouseMoved", left + inner + (width - inner) * 0.521, top + height / 2, None)
        tab.wait("document.querySelector('.chart-lines .chart-value').textContent === 'not measured'", "the gap")
        # by keyboard, aloud
        tab.do(f"{CHART}.focus()")
        key(tab, "Home")
        said = tab.wait("((t) => t.startsWith('At ') && t)(document.querySelector('.chart [aria-live]').textContent)", "what a screen reader says")
        assert "Host: 1.0" in said and "Waits for data or units: 20." in said, said
        key(tab, "m", "m")
        assert "reload: another configuration" in tab.wait("((t) => t.includes('reload') && t)(document.querySelector('.chart-at').textContent)", "the first mark")
        key(tab, "Escape")
        tab.wait("document.querySelector('.chart-at').textContent.startsWith('Newest values')", "no cursor")


def test_dragging_over_the_last_hour_of_the_first_view_shows_that_time():
    with host() as daemon, shown(daemon, "#now", first=MADE_UP) as tab:
        tab.wait("document.querySelector('.chart-mark')", "the marks of the last hour")
        values = tab.do("[...document.querySelectorAll('.chart-value')].map((e) => e.textContent)")
        assert len(values) == 4 and all(re.fullmatch(r"[\d.]+ % ± 1\.0", value) for value in values), values
        assert tab.do("[...document.querySelectorAll('.chart-legend')].every((e) => e.scrollWidth <= e.clientWidth)"), "no value is cut off"
        tab.do("((remove) => { globalThis.ended = 0; removeEventListener = (type, ...rest) => { ended += type === 'beforeprint'; remove(type, ...rest); }; })(removeEventListener)")
        left, top, width, height = area(tab)
        mouse(tab, "mousePressed", left + width * 0.4, top + height / 2)
        mouse(tab, "mouseMoved", left + width * 0.6, top + height / 2)
        mouse(tab, "mouseReleased", left + width * 0.6, top + height / 2)
        address = tab.wait("location.hash.startsWith('#time?metric=level1&from=') && location.hash", "the view of time")
        tab.wait("document.querySelector('.controls')", "its controls")
        wait_span(tab, 500, 1300, "a fifth of the hour")
        assert tab.do("ended") == 1, "who leaves the first view keeps its chart for good"
        return address


def test_marks_have_labels_that_neither_overlap_nor_lie_over_areas():
    overlaps = """((boxes) => boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5)))
        ([...document.querySelectorAll('.chart-mark')].map((e) => e.getBoundingClientRect().toJSON()))"""
    told = []
    for width in (1280, 390, 320):
        with host() as daemon, shown(daemon, "#time?metric=level1,ipc&span=86400", first=MADE_UP, width=width) as tab:
            labels = tab.do("[...document.querySelectorAll('.chart-mark')].map((e) => e.textContent)")
            assert labels and any("<b>deploy db 4.2</b>" in text for text in labels), labels
            assert tab.do(overlaps) == [], (width, labels)
            assert tab.do("[...document.querySelectorAll('.chart-mark')].every((e) => e.scrollWidth <= e.clientWidth && e.getBoundingClientRect().bottom <= document.querySelector('.chart-canvas').getBoundingClientRect().top)")
            assert tab.do("[...document.querySelectorAll('.chart-mark')].every((e) => e.getBoundingClientRect().right <= document.querySelector('.chart').getBoundingClientRect().right + 0.5)")
            assert tab.do("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), f"nothing is wider than {width} pixels"
            told.append(f"{len(labels)} labels at {width}")
    return ", ".join(told)


def test_who_does_not_see_it_has_a_table_and_who_takes_it_along_a_csv():
    with host() as daemon, shown(daemon, "#time?metric=level1,ipc&span=3600", first=MADE_UP) as tab:
        tab.do("document.querySelector('.chart-lines details').open = true")
        rows = tab.wait("((rows) => rows.length > 50 && rows)([...document.querySelectorAll('.chart-lines tbody tr')].map((e) => e.textContent))", "the table")
        assert all(re.search(r"UTC[\d.]+ \([\d.]+ to [\d.]+\)$", row) for row in rows), rows[:3]
        assert "Instructions per clock cycle" in tab.do("document.querySelector('.chart-lines').getAttribute('aria-label')")
        csv = tab.do("""(async () => { const { csvOf } = await import(new URL('./views/time.js', document.querySelector('script[type=module]').src));
            return csvOf([{ metric: 'ipc', kind: 'lines', series: [{ label: 'a, "b"', name: 'ipc', times: [0, 10], values: [1, null], low: [0.5, null], high: [1.5, null] }] }], 0, 10); })()""")
        assert csv == 'time,"ipc a, ""b""","ipc a, ""b"" low","ipc a, ""b"" high"\n1970-01-01T00:00:00.000Z,1,0.5,1.5\n1970-01-01T00:00:10.000Z,,,\n', csv
        tab.do("document.querySelector('[aria-label=\"Take it along\"] details').open = true")
        queries = tab.do("[...document.querySelectorAll('[aria-label=\"Take it along\"] .command code')].map((e) => e.textContent)")
        assert any("topdownd_metric_numerator_total{" in query and 'metric="ipc"' in query for query in queries), queries
        assert sum("topdownd_pipeline_slots_total{" in query and 'category="' in query for query in queries) == 4, queries


def test_a_hidden_page_asks_nothing():
    with host() as daemon, shown(daemon, "#time?metric=ipc") as tab:
        tab.do("Object.defineProperty(document, 'hidden', { get: () => true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))")
        tab.wait("document.querySelector('#state').textContent.includes('hidden')", "that it says so")
        tab.browser.listen(0.5)
        before, sequence = len(tab.asked), daemon.sequence()
        daemon.wait_round(sequence + 4)
        tab.browser.listen(0.1)
        assert len(tab.asked) == before, tab.asked[before:]
        tab.do("Object.defineProperty(document, 'hidden', { get: () => false, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))")
        e2e.wait_for(lambda: tab.browser.listen(0.1) or len(tab.asked) > before, "that it asks again")


# ---- the library ----

# The policy of the page as a document's own, so that nothing but this decides: whatever breaks it is counted.
STRICT = """
window.broken = [];
document.addEventListener('securitypolicyviolation', (event) => window.broken.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
new MutationObserver((_, observer) => {
  if (!document.head) return;
  observer.disconnect();
  const policy = document.createElement('meta');
  policy.httpEquiv = 'Content-Security-Policy';
  policy.content = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";
  document.head.prepend(policy);
}).observe(document, { childList: true, subtree: true });
"""


def test_charts_need_no_inline_styles_and_no_eval():
    with host() as daemon, browser.Browser() as chromium:
        tab = chromium.open(page_of(daemon, "#time?metric=level1,ipc&span=3600"), first=STRICT + MADE_UP)
        tab.wait(DRAWN, "a chart")
        left, top, width, height = area(tab)
        mouse(tab, "mousePressed", left + width * 0.5, top + height / 2)
        mouse(tab, "mouseMoved", left + width * 0.8, top + height / 2)
        mouse(tab, "mouseReleased", left + width * 0.8, top + height / 2)
        wait_span(tab, 500, 2000, "a part of the hour")
        tab.do("[...document.querySelectorAll('details')].forEach((e) => { e.open = true; })")
        tab.wait("document.querySelector('.chart-table tbody tr')", "a table")
        tab.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        tab.browser.listen(0.3)
        assert tab.do("window.broken") == [], tab.do("window.broken")
        tab.do("document.body.setAttribute('style', 'color: red')")  # and what breaks it is seen
        assert "style-src" in tab.wait("window.broken[0]", "that the policy holds")

def test_all_of_the_page_is_light_and_its_policy_is_strict():
    with host(ready=False) as daemon:
        folder, total, told = os.path.join(ROOT, "exporters/page"), 0, []
        names = ["dygraph.js", "page.css"] + [os.path.relpath(os.path.join(at, name), os.path.join(folder, "js")) for at, _, files in os.walk(os.path.join(folder, "js")) for name in files]
        for name in names:
            answer = e2e.fetch(daemon.port, f"/ui/{name}")
            assert answer.status == 200, name
            size = len(gzip.compress(answer.body, 9)) if hasattr(answer, "body") else len(gzip.compress(answer.text().encode(), 9))
            total += size
            told.append((size, name))
        assert total < BYTES_MAX, f"{total} bytes: {sorted(told)}"
        policy = e2e.fetch(daemon.port, "/").headers["Content-Security-Policy"]
        assert "default-src 'none'; script-src 'self';" in policy and "unsafe" not in policy, policy
        return f"{total} bytes in {len(names)} files, the largest {max(told)}"


def test_a_build_without_the_library_says_where_it_is_from_and_its_licence_is_in_every_package():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(ROOT, "cmake/dygraphs.cmake")
        def look(*options):
            done = subprocess.run(["cmake", *options, "-P", script], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False, cwd=folder)
            return done.returncode, " ".join(done.stderr.split())
        status, said = look(f"-DFOLDERS={folder}")
        assert status != 0 and "libjs-dygraphs" in said and "-DTOPDOWND_DYGRAPHS=" in said, said
        e2e.write_text(os.path.join(folder, "dygraph.min.js"), "/*! dygraphs/blob/v1.1 */\n")
        status, said = look(f"-DFOLDERS={folder}")
        assert status != 0 and "is not dygraphs 2" in said, said
        assert look("-DFOLDERS=/usr/share/javascript/dygraphs")[0] == 0
    for path in ("NOTICE", "packaging/deb/copyright"):
        text = " ".join(e2e.read_text(os.path.join(ROOT, path)).split())
        assert "Dan Vanderkam" in text and "Permission is hereby granted, free of charge" in text, path
    assert "libjs-dygraphs" in e2e.read_text(os.path.join(ROOT, "tests/install.sh"))


if __name__ == "__main__":
    e2e.run_tests()
