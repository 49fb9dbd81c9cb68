# SPDX-License-Identifier: Apache-2.0
"""The page for people, in a real browser without a screen."""

import html.parser
import json
import os
import re
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\ninterval: 1s\n"
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
CPUS = 8  # of the steady host
AT_ONCE = 2  # browsers


class Page(html.parser.HTMLParser):
    """What a browser shows, as its elements: (name, attributes, own text)."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])

    def handle_data(self, data):
        if self.elements:
            self.elements[-1][2] += data

    def find(self, tag=None, **attributes):
        return [e for e in self.elements if tag in (None, e[0]) and all(attributes[k] == e[1].get(k) for k in attributes)]


def browse(port, fragment="", seconds=5, size="1280,1600"):
    """The page after some seconds; the script has run."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--enable-logging=stderr",
                               f"--user-data-dir={folder}", f"--window-size={size}", f"--virtual-time-budget={seconds * 1000}", "--dump-dom",
                               f"http://127.0.0.1:{port}/{fragment}"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=True)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not said, said
    return Page(done.stdout)


def waited(daemon):
    e2e.wait_for(lambda: daemon.json("/api/v1/history")["steps"], "the first step")


def test_the_page_keeps_itself_up_to_date():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        waited(daemon)
        page = browse(daemon.port)
        state = page.find(id="state")[0]
        assert "hidden" not in state[1] and re.match(r"live, updated \d\d:\d\d:\d\d UTC", state[2]), state
        assert page.find("svg", **{"class": "plot"}) and page.find("polygon", **{"class": "f3"})
        assert len(page.find("main")) == 1 and len(page.find("details", **{"data-key": "map"})) == 1
        buttons = {e[1]["id"] for e in page.find("button") if "id" in e[1]}
        assert "h-ipc" in buttons, buttons
        return state[2]


def test_an_address_opens_a_history_and_the_map_of_cpus():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        waited(daemon)
        page = browse(daemon.port, "#metric=ipc&cpus")
        assert any("(ipc), last hour" in e[2] for e in page.find("h2"))
        assert page.find("path", **{"class": "l0"}) and page.find("path", **{"class": "l1"})  # two sockets
        cpus = [e[1] for e in page.find("button") if "data-cpu" in e[1]]
        assert len(cpus) == CPUS, cpus
        snapshot = {cpu["cpu"]: cpu for cpu in daemon.json("/api/v1/snapshot?scope=cpu")["scopes"]}
        for cpu in cpus:
            said = re.match(r"CPU (\d+), socket (\d+): ([0-9.e-]+)", cpu["aria-label"])
            truth = snapshot[int(said.group(1))]
            assert int(said.group(2)) == truth["socket"]
            value = truth["metrics"]["retiring_ratio"]["value"]  # of a steady load, so the same a moment later
            assert abs(float(said.group(3)) - value) < 0.02, (cpu, value)


def test_a_large_host_has_them_all():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.json")
        with open(STEADY, encoding="utf-8") as file:
            scenario = json.load(file)
        scenario["sockets"], scenario["cores_per_socket"], scenario["threads_per_core"] = 2, 256, 1
        for assignment in scenario["assignments"]:
            assignment["cpus"] = "0-511"
        scenario["assignments"] = scenario["assignments"][:1]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario, file)
        with e2e.Daemon("--pmu", f"sim:{path}", yaml=e2e.LISTEN_ANYWHERE) as daemon:
            waited(daemon)
            page = browse(daemon.port, "#cpus", size="390,1600")
            assert len([e for e in page.find("button") if "data-cpu" in e[1]]) == 512


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
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", script.text())


if __name__ == "__main__":
    e2e.run_tests()
