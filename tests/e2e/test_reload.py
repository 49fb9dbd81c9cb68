# SPDX-License-Identifier: Apache-2.0
"""Reloading the configuration: under load, again and again, with good and bad ones; what users see of it."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
RELOADS = 24  # in each storm: a hundred in all, as each waits for the end of a round
SETTLED = 10  # after so many everything has been in use
PSS_GROWS_KIB = 1024
PATHS = ("/metrics", "/metrics/cpu", "/plain", "/api/v1/status", "/api/v1/plan", "/api/v1/snapshot?scope=cpu", "/-/healthy")

# Each is in force after the one before; FOLDER, HERE and PORT stand for the daemon's own.
GOOD = (
    "listen: [HERE]\ninterval: 1s\nprofiles: {default: {groups: [stage_1, MPKI, Software]}}\n",
    "listen: [HERE, \"127.0.0.1:PORT\"]\ninterval: 1s\ncpus: 0-1\nstandard_error: true\n"
    "profiles: {default: {groups: [General, Miss_Ratio], slot: 100ms, idle: 20%}}\n",
    "listen: [HERE]\ninterval: 1s\nmode: adaptive\nprofile: other\n"
    "profiles: {other: {groups: [stage_1, General, MPKI, Software], weights: {stage_1: 2}, counters: {reserve: 1}}}\n",
    "listen: [HERE]\ninterval: 1s\nrecord: {path: FOLDER/recording, size: 1M}\n"
    "profiles: {default: {groups: [stage_1, General, Software]}}\n",
    "listen: [HERE]\ninterval: 1s\nprofiles: {default: {groups: []}}\n",
)

# With what is said of each: where it is, and what to do.
BAD = (
    ("listen: [HERE]\nintervall: 1s\n", r'topdownd\.yaml:2:1: .*did you mean "interval"'),
    ("listen: [HERE]\ninterval: soon\n", r"topdownd\.yaml:2:11: .*interval"),
    ("listen: [HERE]\nprofiles: {default: {groups: [stage_1, Genral]}}\n", r"topdownd\.yaml:2:\d+: .*did you mean 'General'"),
    ("listen: [HERE\ninterval: 1s\n", r"topdownd\.yaml:\d+"),
    ("listen: [\"nowhere:10813\"]\n", r"topdownd\.yaml:1:\d+: .*listen"),
    ("listen: [HERE]\nspecs: {path: /nowhere/there}\n", r"topdownd\.yaml:2:\d+: .*/nowhere/there"),
    ("listen: [HERE]\ncpus: 900-901\n", r"topdownd\.yaml:2:\d+: .*cpus"),
    ("listen: [HERE]\nrecord: {path: /nowhere/there/recording}\n", r"topdownd\.yaml:2:\d+: .*record\.path"),
)


class Reloaded(e2e.Daemon):
    """A daemon whose configuration the test writes anew."""

    def __init__(self, stack, *options, yaml=None, environment=None):
        self.run_folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.second_port = e2e.free_port()
        super().__init__(*options, "--path.run", self.run_folder, yaml=self.fill(yaml or GOOD[0]), environment=environment)

    def fill(self, yaml):
        return yaml.replace("HERE", '"127.0.0.1:0"').replace("FOLDER", self.run_folder).replace("PORT", str(self.second_port))

    def write(self, yaml):
        e2e.write_text(self.config, self.fill(yaml))

    def reload(self, yaml):
        """What `topdownd reload` answers: its exit status, and what it says."""
        self.write(yaml)
        done = subprocess.run([BINARY, "reload", "--path.run", self.run_folder], capture_output=True, text=True,
                              timeout=e2e.TIMEOUT, check=False)
        return done.returncode, done.stdout + done.stderr

    def reloaded(self, yaml):
        status, said = self.reload(yaml)
        assert status == 0, (said, self.log())

    def files(self):
        """How many it holds: the least of some readings, as it opens files for moments and clients connect anew."""
        seen = []
        for _ in range(5):
            seen.append(len(os.listdir(f"/proc/{self.process.pid}/fd")))
            time.sleep(0.02)
        return min(seen)

    def pss_kib(self):
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as rollup:
            return int(re.search(r"^Pss_Anon: +(\d+) kB", rollup.read(), re.M).group(1))


def sanitized():
    return b"__asan_init" in subprocess.run(["nm", "-D", BINARY], capture_output=True, check=False).stdout


class Scraper(threading.Thread):
    """Scrapes until it is told to stop: every answer is 200, and no counter falls, also if it was away meanwhile."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.wrong, self.n, self.over = port, [], 0, threading.Event()
        self.highest = {}

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=e2e.TIMEOUT)
        while not self.over.is_set() and not self.wrong:
            for path in PATHS:
                try:
                    connection.request("GET", path)
                    answer = e2e.Answer(connection.getresponse())
                except (OSError, http.client.HTTPException) as error:
                    self.wrong.append(f"{path}: {error!r}")
                    continue
                self.n += 1
                if answer.status != 200:
                    self.wrong.append(f"{path}: {answer.status}")
                elif path.startswith("/metrics"):
                    self.take(answer.text())
            time.sleep(0.02)
        connection.close()

    def take(self, page):
        counters = set(re.findall(r"^# TYPE (\S+) counter$", page, re.M))
        for line in page.splitlines():
            name = re.match(r"[^{ ]*", line).group()
            if name not in counters:
                continue
            key, value = line.rsplit(" ", 1)
            if float(value) < self.highest.get(key, 0):
                self.wrong.append(f"{key} was {self.highest[key]} and is {value}")
            self.highest[key] = float(value)

    def stop(self):
        self.over.set()
        self.join(e2e.TIMEOUT)
        assert not self.wrong, self.wrong[:10]
        assert self.n > 0


def storm(*options, reloads=RELOADS, skip=()):
    """Reloads again and again, while clients scrape, with a bad configuration after every other good one."""
    good = [yaml for i, yaml in enumerate(GOOD) if i not in skip]
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Reloaded(stack, *options))
        e2e.wait_for(lambda: e2e.fetch(daemon.port, "/-/ready").status == 200, "a round of every core type")
        scrapers = [Scraper(daemon.port) for _ in range(2)]
        for scraper in scrapers:
            scraper.start()
        files, pss = {False: [], True: []}, {False: [], True: []}
        for i in range(1, reloads + 1):
            which = i % len(good)
            daemon.reloaded(good[which])
            if i % 2:
                yaml, said = BAD[i // 2 % len(BAD)]
                status, text = daemon.reload(yaml)
                assert status == 2 and re.search(said, text) and "nothing has changed" in text, (yaml, text)
            if which == 0:
                files[i > SETTLED].append(daemon.files())
                pss[i > SETTLED].append(daemon.pss_kib())
            assert not any(scraper.wrong for scraper in scrapers), [s.wrong[:5] for s in scrapers]
        for scraper in scrapers:
            scraper.stop()
        log = daemon.log()
        daemon.stop()
    assert log.count("the configuration is not in force") == (reloads + 1) // 2, log
    settled = files[False] and files[True]
    # a client that a busy machine keeps waiting has no connection for a moment
    assert not settled or max(files[True]) <= max(*files[False], min(files[False]) + len(scrapers)), (files, pss)
    if settled and not sanitized():
        assert min(pss[True]) <= min(pss[False]) + PSS_GROWS_KIB, (files, pss)
    scrapes = sum(scraper.n for scraper in scrapers)
    return f"{reloads} reloads, {scrapes} answers; files {files}, KiB {pss}"


def test_reloads_under_load_lose_nothing_on_a_steady_host():
    return storm("--pmu", f"sim:{STEADY}")


def test_reloads_under_load_lose_nothing_on_a_large_host():
    return storm("--pmu", "sim")


def test_reloads_under_load_lose_nothing_where_adapting_begins_and_ends():
    return storm("--pmu", f"sim:{STEADY}", skip=(1, 3))


def test_reloads_under_load_lose_nothing_with_the_kernels_own_events():
    why = e2e.perf_events_allowed()
    if why:
        raise e2e.Skip(why)
    return storm("--pmu", "auto")


def test_reloads_under_load_lose_nothing_on_a_host_with_several_core_types():
    return storm("--pmu", "sim:hybrid", reloads=8, skip=(1,))  # `cpus: 0-1` is one type alone, and rounds are long


def config_info(daemon):
    return [labels for name, labels, _ in e2e.samples(daemon.get("/metrics")) if name == "topdownd_config_info"]


def test_a_bad_configuration_changes_nothing_and_shows():
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Reloaded(stack, "--pmu", f"sim:{STEADY}"))
        name = "topdownd_config_last_reload_successful"
        stamp = "topdownd_config_last_reload_success_timestamp_seconds"
        before, info = daemon.get("/metrics"), config_info(daemon)
        assert e2e.value_of(before, name) == 1
        status, said = daemon.reload(BAD[0][0])
        assert status == 2 and re.search(BAD[0][1], said), said
        page = e2e.wait_for(lambda: (p := daemon.get("/metrics")) and e2e.value_of(p, name) == 0 and p, "the failure to show")
        assert e2e.value_of(page, stamp) == e2e.value_of(before, stamp)
        assert config_info(daemon) == info
        assert daemon.json("/api/v1/status")["config"]["last_reload_successful"] == 0
        assert re.search(r"topdownd: error: .*" + BAD[0][1], daemon.log()), daemon.log()
        daemon.reloaded(GOOD[2])
        page = e2e.wait_for(lambda: (p := daemon.get("/metrics")) and e2e.value_of(p, name) == 1 and p, "the success to show")
        assert e2e.value_of(page, stamp) > e2e.value_of(before, stamp)
        assert config_info(daemon)[0]["profile"] == "other"
        daemon.stop()


def test_sighup_reads_the_configuration_again():
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Reloaded(stack, "--pmu", f"sim:{STEADY}"))
        daemon.write(GOOD[2])
        daemon.process.send_signal(signal.SIGHUP)
        e2e.wait_for(lambda: config_info(daemon)[0]["profile"] == "other", "the other profile")
        daemon.write(BAD[0][0])
        for _ in range(3):
            daemon.process.send_signal(signal.SIGHUP)
        e2e.wait_for(lambda: "the configuration is not in force" in daemon.log(), "the mistake in the log")
        assert config_info(daemon)[0]["profile"] == "other"
        daemon.process.send_signal(signal.SIGHUP)
        daemon.stop()  # also right behind a reload


def test_a_reload_during_the_start_waits_until_there_is_a_plan():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        listener.bind(os.path.join(folder, "notify"))
        listener.settimeout(e2e.TIMEOUT)
        daemon = stack.enter_context(e2e.Daemon("--pmu", f"sim:{STEADY}", ready=False,
                                                environment={"NOTIFY_SOCKET": os.path.join(folder, "notify")}))
        # signals are blocked from the start of the program's own code on
        e2e.wait_for(lambda: int(re.search(r"^SigBlk:\s+(\w+)", e2e.read_text(f"/proc/{daemon.process.pid}/status"),
                                           re.M).group(1), 16) & 1, "the daemon to take signals")
        daemon.process.send_signal(signal.SIGHUP)
        first = listener.recv(4096).decode()
        assert first.startswith("READY=1\n"), first  # and not before there is something to serve
        daemon.port = e2e.wait_for(daemon.find_port, "the line that says where to look")
        e2e.wait_for(lambda: "the configuration was read again and is in force" in daemon.log(), "the reload")
        daemon.stop()


def test_with_a_much_longer_interval_the_daemon_stays_ready():
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Reloaded(stack, "--pmu", f"sim:{STEADY}"))
        e2e.wait_for(lambda: e2e.fetch(daemon.port, "/-/ready").status == 200, "a round")
        before = e2e.value_of(daemon.get("/metrics"), "topdownd_pipeline_slots_total")
        daemon.reloaded(GOOD[0].replace("interval: 1s", "interval: 60s"))
        page = daemon.get("/metrics")
        assert e2e.value_of(page, "topdownd_pipeline_slots_total") >= before
        time.sleep(6)  # what was shown at an interval of a second is too old after five
        assert e2e.fetch(daemon.port, "/-/ready").status == 200
        daemon.stop()


def test_systemd_is_told_of_a_reload():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        listener.bind(os.path.join(folder, "notify"))
        listener.settimeout(e2e.TIMEOUT)
        daemon = stack.enter_context(Reloaded(stack, "--pmu", f"sim:{STEADY}",
                                              environment={"NOTIFY_SOCKET": os.path.join(folder, "notify")}))

        def until(word):
            while word not in (text := listener.recv(4096).decode()).split("\n"):
                assert "RELOADING=1" not in text, text
            return text
        until("READY=1")
        for yaml, status in ((GOOD[2], 0), (BAD[0][0], 2)):
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            assert daemon.reload(yaml)[0] == status
            begun = int(re.search(r"^MONOTONIC_USEC=(\d+)$", until("RELOADING=1"), re.M).group(1))
            assert before <= begun <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            until("READY=1")
        daemon.stop()


def test_addresses_change_and_those_that_stay_are_not_disturbed():
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Reloaded(stack, "--pmu", f"sim:{STEADY}"))
        held = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=e2e.TIMEOUT)
        stack.callback(held.close)

        def ask():
            held.request("GET", "/-/healthy")
            return e2e.Answer(held.getresponse()).status
        assert ask() == 200
        ours = held.sock
        daemon.reloaded(GOOD[1])
        assert e2e.fetch(daemon.second_port, "/-/healthy").status == 200
        assert ask() == 200 and held.sock is ours
        daemon.reloaded(GOOD[0])

        def gone():
            try:
                e2e.fetch(daemon.second_port, "/-/healthy")
            except OSError:
                return True
            return False
        e2e.wait_for(gone, "the address to go")
        assert ask() == 200
        # all addresses in the place of one: the port is free only when that one has gone
        daemon.reloaded("listen: [\"127.0.0.1:PORT\"]\n")
        daemon.reloaded("listen: [\"0.0.0.0:PORT\"]\n")
        daemon.port = daemon.second_port

        def answers():
            with contextlib.suppress(OSError):
                return e2e.fetch(daemon.port, "/-/healthy").status == 200
        e2e.wait_for(answers, "the port to be listened to again")
        daemon.stop()


def test_a_replay_refuses_and_says_why():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        recording = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", recording) as daemon:
            daemon.wait_round(3)
            daemon.stop()
        replay = stack.enter_context(Reloaded(stack, "--pmu", f"replay:{recording}", "--speed", "0"))
        status, said = replay.reload(GOOD[2])
        assert status == 2 and "a replay shows what was recorded" in said, said
        replay.stop()


def slots_of(daemon):
    return daemon.json("/api/v1/snapshot")["scopes"][0]["level1"]["pipeline_slots_total"]


def test_what_is_recorded_over_a_reload_is_replayed():
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Reloaded(stack, "--pmu", f"sim:{STEADY}", yaml=GOOD[3]))
        daemon.wait_round(2)
        daemon.reloaded(GOOD[3].replace("[stage_1, General, Software]", "[stage_1, MPKI]"))
        daemon.wait_round(daemon.sequence() + 3)
        slots = slots_of(daemon)
        daemon.reloaded(GOOD[3].replace("default:", "other:") + "profile: other\n")
        daemon.wait_round(daemon.sequence() + 3)
        daemon.stop()
        profiles = []
        for name in ("recording.1", "recording"):
            with e2e.Daemon("--pmu", f"replay:{os.path.join(daemon.run_folder, name)}", "--speed", "0") as replay:
                e2e.wait_for(lambda: replay.sequence() >= 3, "the replay")
                profiles.append(replay.json("/api/v1/status")["config"]["profile"])
                if name == "recording.1":  # totals go on over the reload in it
                    e2e.wait_for(lambda: (slots_of(replay) or 0) >= slots > 0, "all pipeline slots")
                replay.stop()
        assert profiles == ["default", "other"], profiles


def test_without_a_daemon_it_says_what_to_do():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([BINARY, "reload", "--path.run", folder], capture_output=True, text=True,
                              timeout=e2e.TIMEOUT, check=False)
    assert done.returncode == 1 and "start the service" in done.stderr, done


def test_what_is_in_force_and_reaches_nobody_is_warned_of():
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Reloaded(stack, "--pmu", f"sim:{STEADY}"))
        taken = stack.enter_context(socket.socket())
        taken.bind(("127.0.0.1", daemon.second_port))
        taken.listen()
        assert daemon.reload(GOOD[0]) == (0, "the configuration is in force\n"), daemon.log()
        lines = ["the configuration is in force",
                 f"topdownd: warning: 127.0.0.1:{daemon.second_port}: the port is taken, perhaps by another topdownd: stop it, or set listen "
                 "to another port. topdownd measures without this address, and tries it again every few seconds"]
        status, said = daemon.reload('listen: [HERE, "127.0.0.1:PORT"]\n')
        assert (status, said.splitlines()) == (0, lines), said
        status, said = daemon.reload('listen: ["127.0.0.1:PORT"]\n')
        lines.append("topdownd: warning: topdownd listens to no address now")
        assert (status, said.splitlines()) == (0, lines), said
        status, said = daemon.reload("listen: none\n")
        assert status == 0 and "nobody can read what is measured: listen is none" in said and said.count("warning") == 1, said
        done = subprocess.run([BINARY, "reload", "--path.run", daemon.run_folder, "--json"], capture_output=True, text=True,
                              timeout=e2e.TIMEOUT, check=True)
        answer = json.loads(done.stdout)
        assert (answer["in_force"], answer["mistakes"], answer["error"]) == (True, [], None), answer
        assert [text.partition(": ")[2][:37] for text in answer["warnings"]] == ["nobody can read what is measured: lis"], answer


if __name__ == "__main__":
    e2e.run_tests()
