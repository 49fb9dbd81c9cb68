# SPDX-License-Identifier: Apache-2.0
"""What the kernel counts of memory on made-up hosts: NUMA nodes, CXL, tiers and resctrl, on the pages of a daemon."""

import json
import os
import re
import subprocess
import tempfile

import e2e
import test_schema

BINARY, ROOT = e2e.arguments()
READ_SECONDS = 120  # a reading is made every ten seconds, with a snapshot, and less often on a busy machine
GIB = 1 << 20  # in kB
FAMILIES = ("topdownd_numa_", "topdownd_memory_tier_", "topdownd_resctrl_")


class Host:
    """Software events on the CPUs of this machine, and the files of another host's memory."""

    def __init__(self, folder):
        self.folder = folder
        self.write({"bus/event_source/devices/software/type": "1", "devices/system/cpu/online": "0",
                    "devices/system/cpu/cpu0/topology/core_cpus_list": "0", "devices/system/cpu/cpu0/topology/package_cpus_list": "0",
                    "devices/system/cpu/cpu0/topology/physical_package_id": "0",
                    "devices/system/cpu/cpu1/topology/physical_package_id": "1"})
        self.vmstat()

    def write(self, files):
        for name, text in files.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            e2e.write_text(path, text + "\n")

    def node(self, number, cpus, **counts):
        rows = {"numa_hit": 1000, "numa_miss": 1, "numa_foreign": 2, "interleave_hit": 3, "local_node": 900, "other_node": 100} | counts
        self.write({f"devices/system/node/node{number}/cpulist": cpus,
                    f"devices/system/node/node{number}/numastat": "\n".join(f"{name} {count}" for name, count in rows.items()),
                    f"devices/system/node/node{number}/meminfo": f"Node {number} MemTotal: {64 * GIB} kB\nNode {number} MemFree: {GIB} kB"})
        return self

    def vmstat(self, local=9000, other=1000):
        self.write({"vmstat": f"numa_hit 9\nnuma_miss 5\nnuma_local {local}\nnuma_other {other}\npgpromote_success 3\npgdemote_kswapd 2\n"
                              "numa_hint_faults 80\nnuma_hint_faults_local 60\nnuma_pages_migrated 4\npgmigrate_success 7\npgmigrate_fail 1"})

    def resctrl(self, total=1000, local=700):
        self.write({"self/mountinfo": f"56 22 0:44 / {self.folder}/resctrl rw - resctrl resctrl rw",
                    "devices/system/cpu/cpu0/cache/index3/level": "3", "devices/system/cpu/cpu0/cache/index3/id": "0",
                    "resctrl/mon_data/mon_L3_00/mbm_total_bytes": str(total), "resctrl/mon_data/mon_L3_00/mbm_local_bytes": str(local)})

    def daemon(self, *arguments, yaml="", **options):
        return e2e.Daemon("--path.sysfs", self.folder, "--path.procfs", self.folder, *arguments, yaml=e2e.LISTEN_ANYWHERE + yaml, **options)


def two_nodes(folder):
    return Host(folder).node(0, "0").node(1, "1")


def values(daemon):
    """The series of these families: {(name, the labels by their names): value}"""
    return {(name, *(labels[key] for key in sorted(labels))): value for name, labels, value in e2e.samples(daemon.get("/metrics")) if name.startswith(FAMILIES)}


def needs_events():
    if reason := e2e.perf_events_allowed():
        raise e2e.Skip(reason)


def test_two_nodes_have_five_series_and_the_page_follows():
    needs_events()
    with tempfile.TemporaryDirectory() as folder:
        host = two_nodes(folder)
        with host.daemon() as daemon:
            assert values(daemon) == {("topdownd_numa_allocations_total", "local"): 9000, ("topdownd_numa_allocations_total", "remote"): 1000,
                                      ("topdownd_numa_missed_allocations_total",): 5, ("topdownd_numa_hint_faults_total", "local"): 60,
                                      ("topdownd_numa_hint_faults_total", "remote"): 20}, values(daemon)
            host.vmstat(local=9300, other=1100)
            host.resctrl()
            e2e.wait_for(lambda: values(daemon)[("topdownd_numa_allocations_total", "local")] == 9300, "the next reading", READ_SECONDS)
            page = daemon.json("/api/v1/memory")
            assert page["totals"]["remote_allocations_total"] == 1100 and page["totals"]["promoted_bytes_total"] is None, page
            assert [node["numastat"]["other_node"] for node in page["nodes"]] == [100, 100] and page["problem"] is None, page
            assert page["interval_seconds"] > 9 and page["resctrl"]["state"] == "counting", page
            assert page["resctrl"]["sockets"][0] | {"bytes_per_second": 0} == {
                "socket": 0, "local_bytes_total": 700, "remote_bytes_total": 300, "all_bytes_total": None, "bytes_per_second": 0,
                "controllers_bytes_per_second": None,
                "values": {"resctrl_memory_bytes_per_second": None, "resctrl_remote_ratio": None}}, page
            assert page["resctrl"]["domains"][0]["gap"] is None and page["resctrl"]["implausible_total"] == 0, page
            assert page["resctrl"]["groups"] == [{"group": "", "monitoring": False, "local_bytes_total": 700, "remote_bytes_total": 300,
                                                  "all_bytes_total": None, "readable": True}], page
            assert values(daemon)[("topdownd_resctrl_memory_bytes_total", "remote", "0")] == 300
            assert page["values"]["numa_remote_allocation_ratio"] == 0.25, page
            assert "resctrl counts the bytes of 1 last-level cache" in daemon.log()


def test_check_config_counts_these_series():
    numbers = []
    for build in (lambda folder: Host(folder).node(0, "0"), two_nodes):
        with tempfile.TemporaryDirectory() as folder:
            build(folder)
            _, said = e2e.run_daemon("check-config", "--path.sysfs", folder, "--path.procfs", folder, yaml=e2e.LISTEN_ANYWHERE + "max_series: 10\n")
            numbers += re.findall(r"/metrics has (\d+) series", said)
            _, said = e2e.run_daemon("explain", "--path.sysfs", folder, "--path.procfs", folder)
            assert f"\n{numbers[-1]} series on /metrics" in said, (numbers, said)
    assert int(numbers[1]) - int(numbers[0]) == 5, numbers


def test_a_host_with_cxl_tells_it_apart():
    needs_events()
    with tempfile.TemporaryDirectory() as folder:
        host = two_nodes(folder).node(2, "")
        place = "devices/platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0/dax0.0"
        host.write({f"{place}/target_node": "2", "devices/virtual/memory_tiering/memory_tier4/nodelist": "0-1",
                    "devices/virtual/memory_tiering/memory_tier22/nodelist": "2"})
        os.makedirs(os.path.join(folder, "bus/dax/devices"))
        os.symlink(f"../../../{place}", os.path.join(folder, "bus/dax/devices/dax0.0"))
        with host.daemon() as daemon:
            nodes = daemon.json("/api/v1/memory")["nodes"]
            assert [(node["kind"], node["tier"], node["socket"]) for node in nodes] == [("cpus", 4, 0), ("cpus", 4, 1), ("cxl", 22, None)], nodes
            moved = {key[1]: value for key, value in values(daemon).items() if key[0] == "topdownd_memory_tier_moved_bytes_total"}
            assert moved == {"promoted": 3 * os.sysconf("SC_PAGE_SIZE"), "demoted": 2 * os.sysconf("SC_PAGE_SIZE")}, moved


def test_one_node_exports_nothing_and_neither_does_a_configuration_that_wants_none():
    needs_events()
    with tempfile.TemporaryDirectory() as folder:
        with Host(folder).node(0, "0").daemon() as daemon:
            assert values(daemon) == {}
            page = daemon.json("/api/v1/memory")
            assert len(page["nodes"]) == 1 and set(page["totals"].values()) == {None} and page["resctrl"]["state"] == "not_mounted", page
    for wants, families in (("{enabled: off}", set()), ("{numa: off}", {"topdownd_resctrl_memory_bytes_total"}),
                            ("{resctrl: off}", {"topdownd_numa_allocations_total", "topdownd_numa_missed_allocations_total",
                                                "topdownd_numa_hint_faults_total"})):
        with tempfile.TemporaryDirectory() as folder:
            host = two_nodes(folder)
            host.resctrl()
            with host.daemon(yaml=f"uncore: {wants}\n") as daemon:
                assert {key[0] for key in values(daemon)} == families, (wants, values(daemon))
                assert daemon.json("/api/v1/memory")["resctrl"]["state"] == ("off" if "numa" not in wants else "counting"), wants


def test_a_full_page_obeys_its_schema():
    needs_events()
    with tempfile.TemporaryDirectory() as folder:
        host = two_nodes(folder).node(2, "")
        host.resctrl()
        host.write({"devices/virtual/memory_tiering/memory_tier22/nodelist": "2",
                    "devices/system/node/node2/access1/initiators/read_latency": "250"})
        with host.daemon() as daemon:
            page = daemon.json("/api/v1/memory")
    assert len(page["nodes"]) == 3 and len(page["resctrl"]["domains"]) == 1 and page["nodes"][2]["access"]["read_seconds"] == 2.5e-7, page
    test_schema.check("memory", page)


def test_the_history_has_shares_and_rates_of_the_host_its_nodes_and_its_sockets():
    """A reading stands for its interval. Names that nobody has, and nodes of a host with one, are refused with the reason."""
    needs_events()
    with tempfile.TemporaryDirectory() as folder:
        host = two_nodes(folder)
        host.resctrl()
        with host.daemon() as daemon:
            known = daemon.json("/api/v1/memory")["timestamp_seconds"]
            host.vmstat(local=9300, other=1100)
            host.node(1, "1", local_node=960, other_node=140)
            host.resctrl(total=2000, local=950)
            e2e.wait_for(lambda: daemon.json("/api/v1/memory")["timestamp_seconds"] > known, "the next reading", READ_SECONDS)
            page = daemon.json("/api/v1/memory")
            seconds = page["interval_seconds"]
            assert page["values"]["numa_remote_allocation_ratio"] == 0.25 and page["values"]["tier_promoted_bytes_per_second"] is None, page
            assert page["nodes"][1]["values"] == {"numa_remote_allocation_ratio": 0.4, "numa_missed_allocation_ratio": None}, page
            assert page["resctrl"]["sockets"][0]["values"]["resctrl_remote_ratio"] == 0.75, page
            history = daemon.json("/api/v1/history?metric=ipc,numa_remote_allocation_ratio,numa_migrated_pages_per_second")
            test_schema.check("history", history)
            assert last(history) == {"numa_remote_allocation_ratio": 0.25, "numa_migrated_pages_per_second": 0}, history
            nodes = daemon.json("/api/v1/history?scope=node")
            test_schema.check("history", nodes)
            assert [(series["node"], series["metric"]) for series in nodes["series"]] == [
                (node, f"numa_{what}_allocation_ratio") for what in ("remote", "missed") for node in (0, 1)], nodes
            assert nodes["scope"] == "node" and abs(newest(nodes["series"][1]) - 0.4) < 1e-6, nodes
            sockets = daemon.json("/api/v1/history?scope=socket&metric=resctrl_memory_bytes_per_second,resctrl_remote_ratio")
            assert abs(last(sockets)["resctrl_memory_bytes_per_second"] * seconds - 1000) < 0.01 and sockets["series"][0]["socket"] == 0, sockets
            seen = subprocess.run([BINARY, "top", "--once", "--url", f"http://127.0.0.1:{daemon.port}"], capture_output=True, text=True,
                                  timeout=e2e.TIMEOUT, env=os.environ | {"LC_ALL": "C.UTF-8"}).stdout
            assert re.search(r"Remote allocations +25\.0 %", seen), seen
            for query, words in (("scope=cpu", "choose host, socket or node"), ("scope=node&metric=ipc", "no metric of a NUMA node has the name ipc: choose among numa_remote_allocation_ratio, "
                                                             "numa_missed_allocation_ratio"),
                                 ("metric=memory_read", "and /api/v1/memory (values) those")):
                assert words in refused(daemon, query), query
    with tempfile.TemporaryDirectory() as folder, Host(folder).node(0, "0-1").daemon() as daemon:
        e2e.wait_for(lambda: daemon.json("/api/v1/memory")["nodes"], "the first reading")
        for query in ("scope=node", "scope=node&metric=ipc"):
            assert "this host has one NUMA node" in refused(daemon, query), query


def test_the_history_of_the_nodes_outlives_a_restart():
    needs_events()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as state:
        host = two_nodes(folder)
        host.write({"sys/kernel/random/boot_id": "one"})
        with host.daemon("--path.state", state) as daemon:
            known = daemon.json("/api/v1/memory")["timestamp_seconds"]
            host.node(1, "1", local_node=960, other_node=140)
            e2e.wait_for(lambda: daemon.json("/api/v1/memory")["timestamp_seconds"] > known, "the next reading", READ_SECONDS)
            assert abs(newest(daemon.json(f"/api/v1/history?{REMOTE}")["series"][1]) - 0.4) < 1e-6
            daemon.stop()
        with host.daemon("--path.state", state) as daemon:
            e2e.wait_for(lambda: e2e.fetch(daemon.port, f"/api/v1/history?{REMOTE}").status == 200, "the second reading", READ_SECONDS)
            nodes = daemon.json(f"/api/v1/history?{REMOTE}")
            assert abs(newest(nodes["series"][1]) - 0.4) < 1e-6, nodes  # nothing was allocated since


REMOTE = "scope=node&metric=numa_remote_allocation_ratio"


def refused(daemon, query):
    answer = e2e.fetch(daemon.port, f"/api/v1/history?{query}")
    assert answer.status == 400, answer.text()
    return json.loads(answer.text())["error"]


def newest(series):
    return [value for value in series["values"] if value is not None][-1]


def last(history):
    return {series["metric"]: newest(series) for series in history["series"] if series["metric"] != "ipc"}


def test_a_file_that_cannot_be_understood_is_told_once():
    needs_events()
    with tempfile.TemporaryDirectory() as folder:
        host = two_nodes(folder)
        host.write({"devices/system/node/node1/numastat": "numa_hit lots"})
        with host.daemon() as daemon:
            problem = f"{folder}/devices/system/node/node1/numastat does not hold whole numbers, so its values are missing"
            assert daemon.json("/api/v1/memory")["problem"] == problem
            assert daemon.json("/api/v1/memory")["nodes"][1]["numastat"]["numa_hit"] is None
            first = daemon.json("/api/v1/memory")["timestamp_seconds"]
            e2e.wait_for(lambda: daemon.json("/api/v1/memory")["timestamp_seconds"] > first, "the next reading", READ_SECONDS)
            assert daemon.log().count(problem) == 1, daemon.log()
            assert ("topdownd_numa_allocations_total", "local") in values(daemon), "the host's totals are those of another file"
        done = e2e.run_daemon("doctor", "--json", "--path.sysfs", folder, "--path.procfs", folder)
        assert problem in done[1], done


def test_a_simulated_host_and_a_replay_show_nothing_of_this_host():
    with e2e.Daemon("--pmu", "sim:zen4") as daemon:
        page = daemon.json("/api/v1/memory")
        assert page["simulated"] and page["nodes"] == [] and page["reason"] and page["resctrl"]["state"] == "off", page
        assert values(daemon) == {}


if __name__ == "__main__":
    e2e.run_tests()
