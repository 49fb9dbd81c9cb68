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


def complete(answer, nodes):
    """The answer, if it has all hosts: on a busy machine a scrape may be late, and then a host is missing."""
    return answer if answer.keys() == {node.instance for node in nodes} else None


def wait_for_moments(prometheus, promql, wanted):
    answers = []

    def same():
        answers.append(moments(prometheus, promql))
        return close(answers[-1], wanted)

    try:
        e2e.wait_for(same, promql)
    except AssertionError:
        raise AssertionError((promql, answers[-1], wanted)) from None


def upgrade(prometheus, node, sick):
    """Replaces its daemon; returns when Prometheus has seen the new one's verdict. Other hosts are in the answer meanwhile."""
    changes = f'changes(process_start_time_seconds{{instance="{node.instance}"}}[1h])'
    node.stop()
    others = sick - {node.instance}
    e2e.wait_for(lambda: others <= moments(prometheus, LONGEST).keys(), "the others' verdicts")
    node.start()
    e2e.wait_for(lambda: prometheus.value(changes) == 1 and node.instance in moments(prometheus, SINCE), "the new daemon's verdict")


def test_the_longest_bottleneck_outlives_an_upgrade_of_the_fleet():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        nodes = [Node(number, state, folder) for number, state in enumerate(STATES)]
        for node in nodes:
            node.start()
            stack.callback(lambda node=node: node.stack.close())
        config, rules = test_fleet.rehearsed(folder, [{"targets": [node.instance], "labels": {"role": node.host.role}} for node in nodes])
        config["global"] |= {"scrape_interval": "2s", "scrape_timeout": "2s"}
        prometheus = stack.enter_context(fleet_servers.Prometheus(os.path.join(folder, "server"), yaml.safe_dump(config | {"rule_files": rules})))
        prometheus.wait_ready()
        sick = {node.instance for node in nodes if node.host.state == "sick"}
        e2e.wait_for(lambda: moments(prometheus, LONGEST).keys() == sick, "a verdict of each sick host")
        before = e2e.wait_for(lambda: complete(moments(prometheus, SINCE), nodes), "the beginnings of all verdicts")
        wait_for_moments(prometheus, f"time() - ({LONGEST})", {instance: before[instance] for instance in sick})
        for node in nodes:
            upgrade(prometheus, node, sick)
        e2e.wait_for(lambda: moments(prometheus, LONGEST).keys() == sick, "the verdicts as before")
        forgets = nodes[FORGETS].instance
        after = e2e.wait_for(lambda: {instance: since for instance, since in moments(prometheus, SINCE).items()
                                      if instance == forgets and since > before[forgets] + TOLERANCE}, "who keeps nothing to forget")
        kept = {instance: since for instance, since in before.items() if instance != forgets}
        wait_for_moments(prometheus, f'{SINCE}{{instance!="{forgets}"}}', kept)
        wait_for_moments(prometheus, f"time() - ({LONGEST})", {instance: (kept | after)[instance] for instance in sick})
        e2e.wait_for(lambda: moments(prometheus, BEGAN) == {}, "none of them to have just begun")
        resets = "resets(topdownd_covered_cpu_seconds_total[1h])"
        e2e.wait_for(lambda: moments(prometheus, resets) == dict.fromkeys(before, 1), "one restart of each")
    return f"{len(nodes)} hosts, each restarted once"


if __name__ == "__main__":
    if not os.access(fleet_servers.PROMETHEUS, os.X_OK):
        print(f"skipped: {fleet_servers.PROMETHEUS} is not installed (Debian package prometheus)")
        raise SystemExit(e2e.SKIPPED)
    e2e.run_tests()
