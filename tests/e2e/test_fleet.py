# SPDX-License-Identifier: Apache-2.0
"""A rehearsal of a fleet: real Prometheus and Alertmanager, simulated hosts of three vendors, and what packaging/ ships for them.

Prometheus scrapes every host and a saved page of version 0.1.0, with the shipped scrape configuration, rules and alerts. A second
one in agent mode scrapes the same and sends all of it to a third by remote write. What the shipped files say is changed in four
places only (see `rehearsed`), because hosts are simulated and a rehearsal takes minutes: the targets, the rule that drops
simulated series, intervals, and how long an alert's condition must hold.
"""

import contextlib
import math
import os
import re
import subprocess
import tempfile
import time

import grafana
import e2e
import fleet
import fleet_servers
import yaml

BINARY, ROOT = e2e.arguments()
HOSTS = 51  # so that more than ten are of one role and CPU model: with fewer no host is an outlier
INTERVAL, SCRAPES = "3s", 20  # a minute of each host before shares are compared
WINDOW = "45s"
JOB_SHARES = 'job_category:topdownd_pipeline_slots:share5m{job="topdownd"}'
EVALUATION = "5s"
HELD = "10s"  # in place of the minutes for which an alert's condition must hold
TOLERANCE = 0.002  # 0.2 points of pipeline slots
GROUP_TOLERANCE = 0.003  # of six to eleven hosts: their error is larger than that of all of them
YOUNG_TOLERANCE = 0.005  # of rates over five minutes after one
ATTEMPTS = 40  # at that, 3 seconds apart
CAPACITY_TOLERANCE = 0.005  # of the peak: windows begin and end within a round
# What the first commit with /metrics exported for the demo, 75 s after its start: version 0.1.0 as of 2026-11-21
SAVED = os.path.join(ROOT, "tests/data/fleet/metrics-0.1.0.txt")
# Queries that have answers only on hosts in trouble of a kind that this fleet has not, and those that look back for days.
NOT_OF_HYBRID = ("Alerts", "Memory bandwidth", "Share of the memory's peak")  # it has no trouble and no memory controllers
OF_KERNELS = ("Memory of other nodes", "Most memory of other nodes", "Moved between tiers")  # simulated hosts have none that counts
OF_GROUPS = ("Devices", "Most traffic of devices")  # that these hosts are not asked to measure
MAY_BE_EMPTY = re.compile(r"offset 1w|change1w|30d:5m|topdownd_event_not_live|^up.* == 0$| < 0\.9$|"
                          r"llc_miss_remote|numa_remote|resctrl")  # of kernels, and of PMUs that this fleet has not; test_rules.py has them


def shipped(name):
    return yaml.safe_load(e2e.read_text(os.path.join(ROOT, "packaging/prometheus", name)))


def rehearsed(folder, targets):
    """The shipped configuration and rules with what a rehearsal changes; the configuration's path within the folder."""
    config = shipped("prometheus.yml")
    config["global"] |= {"scrape_interval": INTERVAL, "scrape_timeout": INTERVAL}
    job, = config["scrape_configs"]
    e2e.write_text(os.path.join(folder, "targets.yml"), yaml.safe_dump(targets))
    job["file_sd_configs"] = [{"files": [os.path.join(folder, "targets.yml")]}]
    job["metric_relabel_configs"] = [{"regex": "simulated", "action": "labeldrop"}] + [
        rule for rule in job["metric_relabel_configs"] if "simulated" not in rule.get("source_labels", [])]
    files = config.pop("rule_files")
    for name in files:
        text = e2e.read_text(os.path.join(ROOT, "packaging/prometheus", name))
        text = re.sub(r"^(\s+interval:) \S+", rf"\1 {EVALUATION}", text, flags=re.M)
        e2e.write_text(os.path.join(folder, name), re.sub(r"^(\s+for:) \S+", rf"\1 {HELD}", text, flags=re.M))
    config["global"]["evaluation_interval"] = EVALUATION
    return config, [os.path.join(folder, name) for name in files]


class Setting:
    """The fleet, whose job has the name that the rules know, and its servers. A host with several core types has a job of its own: every
    query must bear it, and no sum of the fleet has it."""

    def __init__(self, stack):
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.hosts = fleet.hosts(HOSTS)
        self.daemons = {host: host.start(stack, folder, e2e.LISTEN_ANYWHERE) for host in self.hosts}
        self.saved = stack.enter_context(fleet_servers.SavedExposition(SAVED))
        self.hybrid = stack.enter_context(e2e.Daemon("--pmu", "sim:hybrid"))
        self.alertmanager = stack.enter_context(fleet_servers.Alertmanager(os.path.join(folder, "alertmanager")))
        self.receiver = stack.enter_context(fleet_servers.Prometheus(
            os.path.join(folder, "receiver"), "global: {}\n", flags=["--web.enable-remote-write-receiver"]))
        self.addresses = {host: f"127.0.0.1:{e2e.wait_for(daemon.find_port, host.name)}" for host, daemon in self.daemons.items()}
        config, rules = rehearsed(folder, self.targets())
        config["scrape_configs"].append({
            "job_name": "hybrid", "static_configs": [{"targets": [self.hybrid_address()], "labels": {"role": "workstation"}}],
            "metric_relabel_configs": config["scrape_configs"][0]["metric_relabel_configs"]})
        alerting = {"alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{self.alertmanager.port}"]}]}]}
        self.prometheus = stack.enter_context(fleet_servers.Prometheus(
            os.path.join(folder, "server"), yaml.safe_dump(config | {"rule_files": rules, "alerting": alerting})))
        remote = [{"url": f"http://127.0.0.1:{self.receiver.port}/api/v1/write"}]
        del config["global"]["evaluation_interval"]
        self.agent = stack.enter_context(fleet_servers.Prometheus(
            os.path.join(folder, "agent"), yaml.safe_dump(config | {"remote_write": remote}), agent=True))
        for server in (self.alertmanager, self.receiver, self.prometheus, self.agent):
            server.wait_ready()

    def targets(self):
        found = [{"targets": [address], "labels": {"role": host.role}} for host, address in self.addresses.items()]
        found.append({"targets": [self.saved_address()], "labels": {"role": "web"}})
        return found

    def saved_address(self):
        return f"127.0.0.1:{self.saved.port}"

    def hybrid_address(self):
        return f"127.0.0.1:{self.hybrid.port}"

    def addresses_of(self, state):
        return {address for host, address in self.addresses.items() if host.state == state}

    def addresses_of_group(self, role, spec):
        found = [address for host, address in self.addresses.items() if (host.role, host.model.spec) == (role, spec)]
        return found + [self.saved_address()] * (role == "web" and spec == "neoverse-v2")

    def of_the_fleet(self, alerts):
        """Those of hosts whose state is known: the load of the one with several core types changes as it likes."""
        return {alert for alert in alerts if alert[1] != self.hybrid_address()}

    def truth(self, role=None, spec=None):
        """Level 1 of all hosts that can be measured, or of those of a role and a CPU model."""
        measured = [host.slots() for host in self.hosts if host.state != "blind" and role in (None, host.role)
                    and spec in (None, host.model.spec)]
        saved = [self.saved.slots()] if role in (None, "web") and spec in (None, "neoverse-v2") else []
        return fleet.true_shares(measured + saved)

    def useful(self):
        """What the fleet does of what it could, in truth: retiring over peak."""
        measured = [host for host in self.hosts if host.state != "blind"]
        retired = sum(host.slots()["retiring"] for host in measured) + self.saved.slots()["retiring"]
        return retired / (sum(host.peak() for host in measured) + self.saved.peak())

    def wait_scraped(self):
        scrapes = 'min(count_over_time(up{job="topdownd"}[1h]))'
        e2e.wait_for(lambda: (self.prometheus.value(scrapes) or 0) >= SCRAPES, f"{SCRAPES} scrapes of each host")

    def evaluations(self):
        """How often the rules have been evaluated by Prometheus, the rarest group."""
        text = e2e.fetch(self.prometheus.port, "/metrics").text()
        return min(map(float, re.findall(r"^prometheus_rule_evaluations_total{.*} (\S+)$", text, re.M)), default=0)


def setting():
    return SETTING


def compare(ask, truth, tolerance=TOLERANCE):
    """The largest difference of shares by category from the truth. A busy machine scrapes late, and rate() extrapolates what it has not
    seen: what is right within two minutes is right."""
    for _ in range(ATTEMPTS):
        found = {labels["category"]: value for labels, value in ask()}
        worst = max(abs(found.get(category, math.inf) - truth[category]) for category in truth)
        if found.keys() == truth.keys() and worst <= tolerance:
            return worst
        time.sleep(3)
    raise AssertionError(f"{worst * 100:.2f} points off: {found}, in truth {truth}")


def shares(selector=""):
    """Level 1 of the hosts with these labels by the raw counters, over a window that lies within what has been scraped."""
    slots = f'sum by (category) (rate(topdownd_pipeline_slots_total{{job="topdownd"{selector}}}[{WINDOW}]))'
    return f"{slots} / scalar(sum({slots}))"


def test_shares_of_the_fleet_are_the_truth():
    setting().wait_scraped()
    worst = max(compare(lambda: setting().prometheus.query(promql), setting().truth()) for promql in (shares(), JOB_SHARES))
    means = {labels["category"]: value for labels, value in
             setting().prometheus.query(f"avg by (category) (instance_{JOB_SHARES.removeprefix('job_')})")}
    truth = setting().truth()
    assert max(abs(means[c] - truth[c]) for c in truth) > TOLERANCE, "hosts so alike that a mean of ratios passes for the truth"
    work = 'sum(rate(topdownd_pipeline_slots_total{job="topdownd",category="retiring"}[%s]))' % WINDOW
    peak = 'sum(topdownd_peak_pipeline_slots_per_second{job="topdownd"} and on (instance, socket) topdownd_retiring_ratio)'
    useful = setting().prometheus.value(f"{work} / {peak}")
    assert abs(useful - setting().useful()) <= CAPACITY_TOLERANCE, (useful, setting().useful())
    return f"{HOSTS} hosts and version 0.1.0, at most {worst * 100:.2f} points off"


def test_shares_of_each_role_and_cpu_model_are_the_truth():
    """The rules take five minutes, and there is one: each host's rate is then too small by what is missing, which differs by a scrape
    among hosts. One of seven hosts that weighs 5 % too much and is sick moves its group's shares by 0.3 points."""
    setting().wait_scraped()
    groups = sorted({(host.role, host.model.spec) for host in setting().hosts})
    worst = 0
    for role, spec in groups:
        found = setting().addresses_of_group(role, spec)
        raw = shares(f',instance=~"{"|".join(found)}"')
        worst = max(worst, compare(lambda: setting().prometheus.query(raw), setting().truth(role, spec), GROUP_TOLERANCE))
        recorded = f'role_model_category:topdownd_pipeline_slots:share5m{{role="{role}",spec="{spec}"}}'
        compare(lambda: setting().prometheus.query(recorded), setting().truth(role, spec), YOUNG_TOLERANCE)
    return f"{len(groups)} groups, at most {worst * 100:.2f} points off"


def test_exactly_the_sick_and_the_blind_hosts_alert():
    sick = ("TopdowndMemoryBound", "TopdowndIpcOutlier", "TopdowndLevel1Outlier")
    bad = {alert: setting().addresses_of("sick") for alert in sick} | {"TopdowndBlind": setting().addresses_of("blind")}
    assert [len(hosts) for hosts in bad.values()] == [2, 2, 2, 1]
    expected = {(alert, host) for alert, hosts in bad.items() for host in hosts}
    asked = (setting().prometheus.firing, setting().alertmanager.active)
    for ask in asked:
        e2e.wait_for(lambda: expected <= ask(), f"{expected}; there are {ask()}")
    setting().wait_scraped()
    evaluations = setting().evaluations()
    e2e.wait_for(lambda: setting().evaluations() >= 2 * evaluations, "as many evaluations again")
    for ask in asked:
        alerts = setting().of_the_fleet(ask())
        assert alerts == expected, alerts ^ expected
    return ", ".join(sorted(alert for alert, _ in alerts))


def test_every_query_of_every_panel_has_data():
    setting().wait_scraped()
    asked = 0
    for name, dashboard in grafana.load().items():
        hosts = [".*"] if "fleet" in name else [min(setting().addresses_of("sick")), setting().hybrid_address()]
        for host in hosts:
            for title, promql in grafana.queries(dashboard):
                filled = grafana.fill(promql, {"host": host})
                may_be_empty = title in OF_KERNELS + OF_GROUPS or (title in NOT_OF_HYBRID and host == setting().hybrid_address())
                e2e.wait_for(lambda: setting().prometheus.query(filled) or may_be_empty, f"data of \"{title}\" of {name}: {filled}", timeout=60)
                asked += 1
    return f"{asked} queries"


def test_every_variable_of_the_dashboards_has_values():
    setting().wait_scraped()
    asked = 0
    for dashboard in grafana.load().values():
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
                series = grafana.fill(series, {"host": setting().hybrid_address()})
                found = setting().prometheus.query(f"count by ({label}) ({series})")
                assert any(label in labels for labels, _ in found), variable
                asked += 1
    return f"{asked} variables"


def documented(language):
    """Every block of PromQL or YAML of docs/fleet.md."""
    return [block.strip() for block in re.findall(rf"```{language}\n(.*?)```", e2e.read_text(os.path.join(ROOT, "docs/fleet.md")), re.S)]


def test_every_query_of_the_fleets_page_runs():
    asked = documented("promql")
    assert len(asked) >= 12, asked
    setting().wait_scraped()
    empty = 0
    for promql in asked:
        may_be_empty = MAY_BE_EMPTY.search(promql)
        found = setting().prometheus.query(promql) if may_be_empty else e2e.wait_for(lambda: setting().prometheus.query(promql), promql)
        empty += not found
    return f"{len(asked)} queries, {empty} of them with nothing to say here"


def accepted(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return 1


def test_every_configuration_of_the_fleets_page_is_accepted():
    blocks = documented("yaml")
    targets, = (block for block in blocks if block.startswith("- targets"))
    by_prometheus = others = 0
    with tempfile.TemporaryDirectory() as folder:
        e2e.write_text(os.path.join(folder, "targets.yml"), targets)
        for block in blocks:
            keys, path = yaml.safe_load(block), e2e.write_text(os.path.join(folder, "block.yml"), block + "\n")
            if "listen" in keys:
                others += accepted(BINARY, "check-config", "--config", path, "--path.data", ROOT)
            elif "route" in keys:
                others += accepted(fleet_servers.AMTOOL, "check-config", path)
            elif "scrape_configs" in keys:
                by_prometheus += accepted(fleet_servers.PROMTOOL, "check", "config", "--agent", path)
            elif "remote_write" in keys or "alerting" in keys:
                by_prometheus += accepted(fleet_servers.PROMTOOL, "check", "config", path)
    assert by_prometheus == 3 and others == 2
    return f"{by_prometheus} by promtool, {others} by amtool and topdownd"


def test_all_that_is_scraped_arrives_by_remote_write():
    names = 'group by (instance, __name__) ({__name__=~"topdownd_.+|process_.+|up",job="topdownd"})'
    setting().wait_scraped()

    def series(server):
        return {(labels["instance"], labels["__name__"]) for labels, _ in server.query(names)}
    e2e.wait_for(lambda: series(setting().prometheus) == series(setting().receiver), "the same series at the receiver")
    agents = e2e.fetch(setting().agent.port, "/metrics").text()
    lost = re.findall(r"^prometheus_remote_storage_samples_(?:failed|dropped)_total{.*} (\S+)$", agents, re.M)
    assert lost and not any(map(float, lost)), lost
    e2e.wait_for(lambda: (setting().receiver.value('min(count_over_time(up[1h]))') or 0) >= SCRAPES, "as many samples")
    worst = compare(lambda: setting().receiver.query(shares()), setting().truth())
    return f"{len(series(setting().receiver))} families of hosts, shares at most {worst * 100:.2f} points off"


def test_a_host_of_version_0_1_0_is_one_of_the_fleet():
    setting().wait_scraped()
    host = f'instance="{setting().saved_address()}"'
    assert setting().prometheus.value(f'topdownd_build_info{{{host},version="0.1.0"}}') == 1
    shares_of_host = f"instance_category:topdownd_pipeline_slots:share5m{{{host}}}"
    compare(lambda: setting().prometheus.query(shares_of_host), fleet.true_shares([setting().saved.slots()]))
    for record in ("instance:topdownd_effective_capacity:ratio5m", "instance:topdownd_headroom:ratio5m", "instance:topdownd_covered_cpu:ratio5m"):
        e2e.wait_for(lambda: setting().prometheus.value(f"{record}{{{host}}}") is not None, record)
    # what 0.1.0 did not have is absent, and nothing is made up for it
    assert setting().prometheus.value(f"count(topdownd_bound_info{{{host}}})") is None


if __name__ == "__main__":
    for program in (fleet_servers.PROMETHEUS, fleet_servers.ALERTMANAGER):
        if not os.access(program, os.X_OK):
            print(f"skipped: {program} is not installed (Debian packages prometheus, prometheus-alertmanager)")
            raise SystemExit(e2e.SKIPPED)
    with contextlib.ExitStack() as programs:
        SETTING = Setting(programs)
        e2e.run_tests(at_once=10)
