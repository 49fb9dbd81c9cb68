# SPDX-License-Identifier: Apache-2.0
"""The servers of the fleet rehearsal: Prometheus in its three parts (server, agent, receiver), Alertmanager, and a saved exposition."""

import contextlib
import http.server
import json
import math
import os
import re
import threading
import time
import urllib.parse

import e2e

PROMETHEUS, PROMTOOL, ALERTMANAGER = "/usr/bin/prometheus", "/usr/bin/promtool", "/usr/bin/prometheus-alertmanager"
AMTOOL = "/usr/bin/amtool"


class Server(e2e.Program):
    """A server of the Prometheus family, from its start until it says that it is ready."""

    def __init__(self, command):
        self.port = e2e.free_port()
        super().__init__([*command, f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"])

    def wait_ready(self):
        e2e.wait_for(self._ready, "a server of the Prometheus family")
        return self

    def _ready(self):
        assert not self.ended(), self.log()
        with contextlib.suppress(OSError):
            return e2e.fetch(self.port, "/-/ready").status == 200
        return False

    def get(self, path, **arguments):
        answer = e2e.fetch(self.port, f"{path}?{urllib.parse.urlencode(arguments, doseq=True)}")
        assert answer.status == 200, (path, arguments, answer.text())
        return json.loads(answer.body)


class Prometheus(Server):
    """With rules, remote_write and alerting as the configuration says; flags make it an agent or a receiver."""

    def __init__(self, folder, config, agent=False, flags=()):
        path = e2e.write_text(os.path.join(folder, "prometheus.yml"), config)
        storage = ["--enable-feature=agent", f"--storage.agent.path={folder}/data"] if agent else [f"--storage.tsdb.path={folder}/data"]
        super().__init__([PROMETHEUS, f"--config.file={path}", *storage, *flags])

    def query(self, promql):
        """[(labels, value)] now; a scalar has no labels."""
        data = self.get("/api/v1/query", query=promql)["data"]
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        return [(r["metric"], float(r["value"][1])) for r in data["result"]]

    def value(self, promql):
        """The only value of a query, None if there is none."""
        found = self.query(promql)
        assert len(found) <= 1, (promql, found)
        return found[0][1] if found else None

    def firing(self):
        """{(alert, instance)} that fire now."""
        alerts = self.get("/api/v1/alerts")["data"]["alerts"]
        return {(a["labels"]["alertname"], a["labels"].get("instance")) for a in alerts if a["state"] == "firing"}


class Alertmanager(Server):
    def __init__(self, folder):
        config = e2e.write_text(os.path.join(folder, "alertmanager.yml"), "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
        super().__init__([ALERTMANAGER, f"--config.file={config}", f"--storage.path={folder}/data", "--cluster.listen-address="])

    def active(self):
        """{(alert, instance)} that Prometheus has sent."""
        return {(a["labels"]["alertname"], a["labels"].get("instance")) for a in self.get("/api/v2/alerts")}


class SavedExposition:
    """A host that runs an older version: what that exported once, with counters that go on as they did since its start.

    The saved page says when the process had started and when its last snapshot was made; between them each counter grew from 0.
    """

    MOMENTS = ("topdownd_last_snapshot_timestamp_seconds", "process_start_time_seconds")

    def __init__(self, path):
        self.text, self.begun = e2e.read_text(path), time.time()
        self.saved_at, self.saved_start = (self.sample(name) for name in self.MOMENTS)
        self.counters = set(re.findall(r"^# TYPE (\S+) counter$", self.text, re.M))
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                body = outer.page(time.time()).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def sample(self, name):
        return float(re.search(rf"^{name}(?:{{.*}})? (\S+)$", self.text, re.M).group(1))

    def page(self, now, factors=()):
        """The saved page as it would be now; `factors` are pairs of a pattern of counters' names and what they are multiplied by."""
        grown = (now - self.begun) / (self.saved_at - self.saved_start)

        def advance(match):
            name, labels, value = match.groups()
            if name in self.counters:
                times = math.prod(factor for pattern, factor in factors if re.search(pattern, name))
                return f"{name}{labels} {float(value) * times * (1 + grown):.15g}"
            return f"{name}{labels} {now if name == self.MOMENTS[0] else float(value):.15g}" if name in self.MOMENTS else match.group(0)

        return re.sub(r"^(\w+)({.*})? (\S+)$", lambda m: advance(m), self.text, flags=re.M)

    def slots(self):
        """{category: pipeline slots a second}, which is its truth."""
        found = {}
        for category, value in re.findall(r'^topdownd_pipeline_slots_total{.*category="(\w+)".*} (\S+)$', self.text, re.M):
            found[category] = found.get(category, 0) + float(value) / (self.saved_at - self.saved_start)
        return found

    def peak(self):
        return sum(map(float, re.findall(r"^topdownd_peak_pipeline_slots_per_second{.*} (\S+)$", self.text, re.M)))
