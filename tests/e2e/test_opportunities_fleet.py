# SPDX-License-Identifier: Apache-2.0
"""What would be gained, over a fleet of sixty hosts in a real Prometheus with the shipped rules.

Four simulated hosts, one of each role, are measured for some rounds. Then one server has the pages of fifteen hosts of each role: that of
its role with its counters going on, of a host of another size, and with bounds that differ by some per cent. Roles must come in the order
of what truly happens on them, each share beside the truth, which is worked out here from the scenario by the formulas as docs/opportunities.md
has them.
"""

import contextlib
import http.server
import os
import random
import re
import tempfile
import threading
import time

import e2e
import fleet
import fleet_servers
import yaml

_, ROOT = e2e.arguments()
SEED, OF_EACH, ROUNDS, SCRAPES = 7, 15, 6, 2
SPREAD = 0.05  # how far hosts of a role differ
TOLERANCE = 0.02
# All that the rules about bounds ask for, and what SavedExposition needs: sixty whole pages every other second take a core.
ASKED_FOR = re.compile(r"^(?!(# TYPE )?(topdownd_(opportunity_|pipeline_slots_total|cpu_info|last_snapshot_timestamp_seconds)|process_start_time_seconds)).*\n", re.M)
BOUNDS = re.compile("^topdownd_opportunity_")
# Level 1, and what happens in a thousand cycles besides.
ROLES = {
    "database": ({"frontend_bound": 0.10, "bad_speculation": 0.04, "retiring": 0.26, "backend_bound": 0.60},
                 {"DTLB_WALK": 5, "ITLB_WALK": 0.1, "L1D_CACHE_REFILL": 12, "L2D_CACHE_REFILL": 3, "LL_CACHE_MISS_RD": 0.2, "BR_MIS_PRED_RETIRED": 1}),
    "web": ({"frontend_bound": 0.42, "bad_speculation": 0.08, "retiring": 0.30, "backend_bound": 0.20},
            {"DTLB_WALK": 0.5, "ITLB_WALK": 3, "L1D_CACHE_REFILL": 4, "L2D_CACHE_REFILL": 0.6, "LL_CACHE_MISS_RD": 0.05, "BR_MIS_PRED_RETIRED": 6}),
    "cache": ({"frontend_bound": 0.05, "bad_speculation": 0.02, "retiring": 0.18, "backend_bound": 0.75},
              {"DTLB_WALK": 2, "ITLB_WALK": 0.02, "L1D_CACHE_REFILL": 9, "L2D_CACHE_REFILL": 2.5, "LL_CACHE_MISS_RD": 0.9, "BR_MIS_PRED_RETIRED": 0.4}),
    "batch": ({"frontend_bound": 0.02, "bad_speculation": 0.01, "retiring": 0.85, "backend_bound": 0.12},
              {"DTLB_WALK": 0.1, "ITLB_WALK": 0.01, "L1D_CACHE_REFILL": 1, "L2D_CACHE_REFILL": 0.1, "LL_CACHE_MISS_RD": 0.01, "BR_MIS_PRED_RETIRED": 0.2}),
}


def truth(role):
    """Shares of slots by action, from what happens in a cycle."""
    shares, events = ROLES[role]
    walk, code, first, second, last, missed = (events[name] / 1000 for name in (
        "DTLB_WALK", "ITLB_WALK", "L1D_CACHE_REFILL", "L2D_CACHE_REFILL", "LL_CACHE_MISS_RD", "BR_MIS_PRED_RETIRED"))
    front, back = shares["frontend_bound"], shares["backend_bound"]
    return {"text_huge_pages": min(front, 60 * code), "data_huge_pages": min(back, 60 * walk), "code_layout": front,
            "branch_layout": shares["bad_speculation"] + min(front, 20 * missed),
            "prefetchers": min(back, 80 * second + 270 * last), "working_set": min(back, 15 * first + 65 * second + 270 * last)}


class Told(fleet.Model):
    """A Neoverse V2 on which these events happen, and all others hardly."""

    def __init__(self, events):
        v2 = fleet.MODELS[0]
        super().__init__(v2.spec, v2.cycles, v2.instructions, v2.width, v2.level1)
        self.events = events

    def mix(self, shares, ipc, misses):
        rare = {event: 1e-6 for event in self.default_events()}
        return rare | {self.cycles: 1, self.instructions: 2} | self.level1(shares) | {name: count / 1000 for name, count in self.events.items()}


def host_of(role, number, rng):
    shares, events = ROLES[role]
    host = fleet.Host(number, Told(events), rng)
    host.name, host.shares = role, shares
    return host


class Fleet:
    """Sixty hosts behind one server, and a Prometheus that scrapes them with the shipped rules."""

    def __init__(self, stack):
        folder, rng = stack.enter_context(tempfile.TemporaryDirectory()), random.Random(SEED)
        pages = self.measure(folder, rng)
        self.saved = {role: stack.enter_context(fleet_servers.SavedExposition(e2e.write_text(os.path.join(folder, f"{role}.txt"), text)))
                      for role, text in pages.items()}
        self.hosts = [(role, rng.uniform(0.5, 4), rng.uniform(1 - SPREAD, 1 + SPREAD)) for role in ROLES for _ in range(OF_EACH)]
        rng.shuffle(self.hosts)
        self.port = self.serve(stack)
        self.prometheus = stack.enter_context(fleet_servers.Prometheus(folder, self.config(folder))).wait_ready()
        self.found = e2e.wait_for(self.look, "what the rules record of all hosts")

    def look(self):
        """{(what, role, action): value} of one moment, once each host has been scraped so often and is in it; until then None."""
        scraped = self.prometheus.value(f'count(count_over_time(topdownd_pipeline_slots_total{{socket="0",category="retiring"}}[1h]) >= {SCRAPES})')
        found = {(labels["__name__"].rpartition(":")[2].removesuffix("5m"), labels["role"], labels["action"]): value
                 for labels, value in self.prometheus.query('{__name__=~"role_model_action:topdownd_opportunity:.+"}')}
        hosts = [value for (what, _, _), value in found.items() if what == "hosts"]
        whole = len(found) == 3 * len(ROLES) * len(truth("web")) and set(hosts) == {OF_EACH} and scraped == len(self.hosts)
        return found if whole else None

    @staticmethod
    def measure(folder, rng):
        with contextlib.ExitStack() as stack:
            hosts = [host_of(role, number, rng) for number, role in enumerate(ROLES)]
            daemons = {host.name: host.start(stack, folder, e2e.LISTEN_ANYWHERE + "slot: 20ms\n") for host in hosts}
            for daemon in daemons.values():
                daemon.port = e2e.wait_for(daemon.find_port, "a port")
                e2e.wait_for(lambda daemon=daemon: e2e.fetch(daemon.port, "/-/ready").status == 200, "a daemon that counts")
                e2e.wait_for(lambda daemon=daemon: daemon.json("/api/v1/snapshot")["sequence"] >= ROUNDS, "rounds")
            return {role: ASKED_FOR.sub("", daemon.get("/metrics")) for role, daemon in daemons.items()}

    def serve(self, stack):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                role, size, bounds = outer.hosts[int(self.path.rpartition("/")[2])]
                body = outer.saved[role].page(time.time(), (("", size), (BOUNDS, bounds))).encode()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # of a scrape that took too long
                    self.send_response(200)
                    self.send_header("Content-Type", "text/plain; version=0.0.4")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
        return server.server_address[1]

    def config(self, folder):
        rules = e2e.read_text(os.path.join(ROOT, "packaging/prometheus/topdownd.rules.yml"))
        path = e2e.write_text(os.path.join(folder, "rules.yml"), re.sub(r"^(\s+interval:) \S+", r"\1 2s", rules, flags=re.M))
        targets = [{"targets": [f"127.0.0.1:{self.port}"], "labels": {"role": role, "__metrics_path__": f"/{i}", "instance": f"{role}-{i}"}}
                   for i, (role, _, _) in enumerate(self.hosts)]
        return yaml.safe_dump({"global": {"scrape_interval": "5s", "scrape_timeout": "5s", "evaluation_interval": "2s"}, "rule_files": [path],
                               "scrape_configs": [{"job_name": "topdownd", "static_configs": targets}]})

    def told(self, role, action):
        """The truth of the role: its hosts weigh as much as they have slots."""
        of = [(size, bounds) for each, size, bounds in self.hosts if each == role]
        return truth(role)[action] * sum(size * bounds for size, bounds in of) / sum(size for size, _ in of)

    def recorded(self, what, action):
        return {role: self.found[what, role, action] for role in ROLES}


def test_roles_rank_by_what_each_action_could_truly_win():
    for action in truth("web"):
        shares, errors = FLEET.recorded("share", action), FLEET.recorded("error", action)
        wanted = {role: FLEET.told(role, action) for role in ROLES}
        for role, share in shares.items():
            assert abs(share - wanted[role]) <= TOLERANCE + 0.1 * wanted[role] + errors[role], (action, role, share, wanted[role], errors[role])
        rank = sorted(wanted, key=wanted.get, reverse=True)
        far = [(a, b) for a, b in zip(rank, rank[1:]) if wanted[a] > wanted[b] + 2 * TOLERANCE]
        assert all(shares[a] > shares[b] for a, b in far) and far, (action, shares, wanted)


def test_the_largest_bound_of_a_role_is_what_its_truth_says():
    for role in ROLES:
        shares, wanted = ({action: of(role, action) for action in truth(role)} for of in (lambda role, action: FLEET.found["share", role, action], FLEET.told))
        assert wanted[max(shares, key=shares.get)] >= 0.9 * max(wanted.values()), (role, shares, wanted)


def test_the_error_is_that_of_hosts_that_differ():
    """Hosts differ by some per cent: the mean of fifteen is known to about 1.96 * 0.05 / sqrt(3) / sqrt(15) of the share, and rules see rates of different moments."""
    for role in ROLES:
        share, error = FLEET.found["share", role, "code_layout"], FLEET.found["error", role, "code_layout"]
        assert 0.005 * share < error < 0.1 * share, (role, share, error)


if __name__ == "__main__":
    if not os.access(fleet_servers.PROMETHEUS, os.X_OK):
        print(f"skipped: {fleet_servers.PROMETHEUS} is not installed (Debian package prometheus)")
        raise SystemExit(e2e.SKIPPED)
    with contextlib.ExitStack() as everything:
        FLEET = Fleet(everything)
        e2e.run_tests()
