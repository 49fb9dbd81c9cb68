# SPDX-License-Identifier: Apache-2.0
"""An upgrade of a fleet, rehearsed: a real Prometheus with the shipped rules scrapes simulated hosts, whose daemons end one after the
other and begin again on the same port with the same state folder. The query for the longest bottleneck (docs/fleet.md) holds.

One host has no state folder: its bottleneck lasts "at least since" its restart afterwards. e2e/test_rules.py has the alerts, in virtual
time."""

import contextlib
import os
import random
import tempfile

import e2e
import fleet
import fleet_servers
import promtool
import test_fleet
import yaml

STATES = ("sick", "sick", "healthy", "sick")  # the last one forgets
MODELS = {"sick": fleet.MODELS[1], "healthy": fleet.MODELS[0]}  # the verdict of the first names memory
SINCE, FORGETS = "topdownd_bound_since_timestamp_seconds", len(STATES) - 1
TOLERANCE = 1e-3  # seconds: of a difference of moments in a number


LONGEST, BEGAN = promtool.documented(promtool.LONGEST_BOUND), promtool.documented(promtool.JUST_BOUND)


class Node:
    """A host whose daemon may be replaced."""

    def __init__(self, number, state, folder):
        self.host = fleet.Host(number, MODELS[state], random.Random(number), state)
        self.folder, self.port, self.stack = folder, e2e.free_port(), None
        self.instance = f"127.0.0.1:{self.port}"
        self.options = () if number == FORGETS else ("--path.state", os.path.join(folder, f"state{number}"))
        if self.options:
            os.mkdir(self.options[1])

    def start(self):
        self.stack = contextlib.ExitStack()
        self.daemon = self.host.start(self.stack, self.folder, f'listen: ["{self.instance}"]\n', *self.options)
        e2e.wait_for(self.daemon.find_port, "the daemon")

    def stop(self):
        self.daemon.stop()
        self.stack.close()


def moments(prometheus, promql):
    """{instance: value}; a host here has one socket."""
    return {labels["instance"]: value for labels, value in prometheus.query(promql)}


def close(a, b):
    return a.keys() == b.keys() and all(abs(a[key] - b[key]) < TOLERANCE for key in a)


def upgrade(prometheus, node, sick):
    """Replaces its daemon; returns when Prometheus has seen the new one's verdict. Other hosts are in the answer all the time."""
    changes = f'changes(process_start_time_seconds{{instance="{node.instance}"}}[1h])'
    node.stop()
    others = sick - {node.instance}
    assert others <= moments(prometheus, LONGEST).keys()
    node.start()
    e2e.wait_for(lambda: prometheus.value(changes) == 1 and node.instance in moments(prometheus, SINCE), "the new daemon's verdict")


def test_the_longest_bottleneck_outlives_an_upgrade_of_the_fleet():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        nodes = [Node(number, state, folder) for number, state in enumerate(STATES)]
        for node in nodes:
            node.start()
            stack.callback(lambda node=node: node.stack.close())
        config, rules = test_fleet.rehearsed(folder, [{"targets": [node.instance], "labels": {"role": node.host.role}} for node in nodes])
        config["global"] |= {"scrape_interval": "1s", "scrape_timeout": "1s"}
        prometheus = stack.enter_context(fleet_servers.Prometheus(os.path.join(folder, "server"), yaml.safe_dump(config | {"rule_files": rules})))
        prometheus.wait_ready()
        sick = {node.instance for node in nodes if node.host.state == "sick"}
        e2e.wait_for(lambda: moments(prometheus, SINCE).keys() == {node.instance for node in nodes} and
                     moments(prometheus, LONGEST).keys() == sick, "a verdict of each host")
        before, longest = moments(prometheus, SINCE), moments(prometheus, f"time() - ({LONGEST})")
        assert close(longest, {instance: before[instance] for instance in sick}), (longest, before)
        for node in nodes:
            upgrade(prometheus, node, sick)
        e2e.wait_for(lambda: moments(prometheus, LONGEST).keys() == sick, "the verdicts as before")
        forgets = nodes[FORGETS].instance
        after, longest = moments(prometheus, SINCE), moments(prometheus, f"time() - ({LONGEST})")
        assert before.pop(forgets) + TOLERANCE < after.pop(forgets), "who keeps nothing forgets"
        assert close(after, before), (before, after)
        longest.pop(forgets)
        assert close(longest, {instance: before[instance] for instance in longest}) and len(longest) == 2, (longest, before)
        assert moments(prometheus, BEGAN) == {}, "none of them just began"
        assert set(moments(prometheus, "resets(topdownd_covered_cpu_seconds_total[1h])").values()) == {1}
    return f"{len(nodes)} hosts, each restarted once"


if __name__ == "__main__":
    if not os.access(fleet_servers.PROMETHEUS, os.X_OK):
        print(f"skipped: {fleet_servers.PROMETHEUS} is not installed (Debian package prometheus)")
        raise SystemExit(e2e.SKIPPED)
    e2e.run_tests()
