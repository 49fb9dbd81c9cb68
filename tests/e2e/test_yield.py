# SPDX-License-Identifier: Apache-2.0
"""Handing counters over: `topdownd yield`, the control socket, and counters that are reserved for others."""

import contextlib
import glob
import json
import os
import re
import signal
import socket
import stat
import subprocess
import tempfile
import time

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\n"  # a round takes 1.1 s
CPUS = 8  # of the steady host
NOBODY = 65534
CLIENT_TIMEOUT_SECONDS = 10
SLOW_CLIENT_SECONDS = 5


def command(*words):
    """Runs the program to its end."""
    environment = {k: v for k, v in os.environ.items() if k != "RUNTIME_DIRECTORY"}
    return subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=e2e.TIMEOUT, env=environment)


class Host:
    """A daemon with a runtime folder of its own."""

    def __init__(self, stack, *options, folder=None, **settings):
        self.folder = folder or stack.enter_context(tempfile.TemporaryDirectory())
        self.path = os.path.join(self.folder, "control.sock")
        self.daemon = stack.enter_context(
            e2e.Daemon(*(options or ("--pmu", f"sim:{STEADY}")), "--path.run", self.folder, yaml=YAML, **settings))

    def yield_(self, *words):
        return command("yield", "--path.run", self.folder, *words)

    def yielded(self, *words):
        done = self.yield_(*words)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(e2e.TIMEOUT)
        client.connect(self.path)
        return client

    def ask(self, words):
        """Sends bytes, and reads until the daemon closes the connection."""
        with self.connect() as client:
            with contextlib.suppress(BrokenPipeError):
                client.sendall(words)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while more := client.recv(4096):
                    answer += more
            return answer.decode()

    def perf_events(self):
        """How many of the kernel's events the daemon holds."""
        held = 0
        for fd in glob.glob(f"/proc/{self.daemon.process.pid}/fd/*"):
            with contextlib.suppress(FileNotFoundError):
                held += "perf_event" in os.readlink(fd)
        return held

    def wait_measuring(self, metric):
        e2e.wait_for(lambda: gauge(self.daemon.get("/metrics"), metric), f"{metric} to come back")


def gauge(page, name):
    return [value for sample, _, value in e2e.samples(page) if sample == name]


def totals(page):
    """All counters of what is measured, and the uncovered time by itself."""
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.M))
    found = {(name, tuple(sorted(labels.items()))): value for name, labels, value in e2e.samples(page)
             if kinds.get(name) == "counter"}
    measured = {key: value for key, value in found.items()
                if key[0].startswith(("topdownd_pipeline", "topdownd_metric", "topdownd_covered", "topdownd_event"))}
    assert len(measured) > 10, measured
    return measured, e2e.value_of(page, "topdownd_uncovered_cpu_seconds_total", reason="yielded")


def check_handing_over(host, metric, cpus):
    """Hands over, watches, and has it end by itself after 2 more seconds; returns how long that was, by the daemon's account."""
    host.daemon.wait_round(2)
    host.wait_measuring(metric)
    begun = time.monotonic()
    host.daemon.wait_round(host.daemon.sequence() + 1)  # the round that is cut short begins after this
    assert host.yielded("--for", "1h") == "all counters are free for 3600 s\n"
    e2e.wait_for(lambda: host.perf_events() == 0, "the stopped events to be closed")
    page = host.daemon.get("/metrics")
    assert not gauge(page, metric) and e2e.value_of(page, "topdownd_pmu_up") == 0, page
    metrics = host.daemon.json("/api/v1/snapshot")["scopes"][0]["metrics"].values()
    assert all(m["value"] is None for m in metrics), metrics
    assert any("handed over" in m["reason"] for m in metrics), metrics
    before, uncovered = totals(page)
    after, _ = e2e.wait_for(lambda: (seen := totals(host.daemon.get("/metrics")))[1] > uncovered and seen, "the next page")
    assert after == before, {k: (before[k], after[k]) for k in before if before[k] != after[k]}
    assert "no longer handed over" not in host.daemon.log()
    assert host.yielded("--for", "2s") == "all counters are free for 2 s\n"
    host.wait_measuring(metric)  # by itself
    late, all_of_it = totals(host.daemon.get("/metrics"))
    elapsed = time.monotonic() - begun
    assert all(late[k] >= before[k] for k in before) and sum(late.values()) > sum(before.values())
    assert 2 * cpus <= all_of_it <= elapsed * cpus, (all_of_it, elapsed)
    log = host.daemon.log()
    for seconds in (3600, 2):
        assert len(re.findall(rf"handed over for {seconds} s: process \d+ of user \d+ asked", log)) == 1, log
    assert log.count("no longer handed over") == 1, log
    return all_of_it / cpus


def test_all_counters_are_handed_over_and_taken_back():
    with contextlib.ExitStack() as stack:
        seconds = check_handing_over(Host(stack), "topdownd_ipc", CPUS)
    return f"{seconds:.1f} s of each CPU are uncovered"


def test_events_of_the_kernel_are_closed_and_opened_again():
    reason = e2e.perf_events_allowed()
    if reason:
        raise e2e.Skip(reason)
    with contextlib.ExitStack() as stack:
        host = Host(stack, "--pmu", "linux")
        status = host.daemon.json("/api/v1/status")
        if status["cpu"]["spec"] != "software":
            raise e2e.Skip("this host has a hardware PMU, whose metrics have other names")
        held = host.perf_events()
        assert held > 0
        assert e2e.value_of(host.daemon.get("/metrics"), "topdownd_pmu_kernel_memory_bytes") == held * 2048
        check_handing_over(host, "topdownd_context_switches_per_second",
                           sum(s["cpus_measured"] for s in status["sockets"]))
        assert host.perf_events() == held
    return f"{held} events"


def test_end_takes_the_counters_back_at_once():
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.daemon.wait_round(1)
        assert host.yielded("--for", "1h") == "all counters are free for 3600 s\n"
        assert not gauge(host.daemon.get("/metrics"), "topdownd_ipc")
        assert host.yielded("--end") == "topdownd measures again\n"
        host.wait_measuring("topdownd_ipc")
        log = host.daemon.log()
        assert host.yielded("--end") == "topdownd measures again\n"  # nothing to take back: nothing happens
        assert host.daemon.log() == log
        host.daemon.wait_round(host.daemon.sequence() + 1)
        assert gauge(host.daemon.get("/metrics"), "topdownd_ipc")


def answered(done, status):
    """The one object that a command printed."""
    assert (done.returncode, done.stderr) == (status, ""), done
    return json.loads(done.stdout)


def test_programs_get_the_answer_as_json():
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.daemon.wait_round(1)
        assert answered(host.yield_("--for", "60s", "--json"), 0) == {"yielded": True, "seconds": 60, "error": None}
        assert answered(host.yield_("--end", "--json"), 0) == {"yielded": False, "seconds": None, "error": None}
        reload = ("reload", "--path.run", host.folder, "--json")
        assert answered(command(*reload), 0) == {"in_force": True, "mistakes": [], "warnings": [], "error": None}
        e2e.write_text(host.daemon.config, "slot: 1\nbogus: 2\n")
        said = answered(command(*reload), 2)
        assert (said["in_force"], said["error"], len(said["mistakes"])) == (False, None, 2), said
        assert any("bogus" in text for text in said["mistakes"]), said
    with tempfile.TemporaryDirectory() as folder:
        for words, empty in ((("yield", "--for", "1s"), {"yielded": None, "seconds": None}), (("reload",), {"in_force": None, "mistakes": [], "warnings": []})):
            said = answered(command(*words, "--path.run", folder, "--json"), 1)
            assert "no topdownd listens there" in said.pop("error") and said == empty, said


def test_asking_again_sets_a_new_time():
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.daemon.wait_round(1)
        host.yielded("--for", "10m")
        host.yielded("--for", "1s")
        host.wait_measuring("topdownd_ipc")


def test_the_daemon_ends_and_is_watched_also_while_counters_are_handed_over():
    with contextlib.ExitStack() as stack:
        notify = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "notify")
        receiver = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        receiver.bind(notify)
        receiver.settimeout(e2e.TIMEOUT)
        host = Host(stack, environment={"NOTIFY_SOCKET": notify, "WATCHDOG_USEC": "2000000"})
        host.daemon.wait_round(1)
        host.yielded("--for", "1m")
        receiver.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while receiver.recv(4096):
                pass
        receiver.settimeout(e2e.TIMEOUT)
        asleep = e2e.Asleep(host.daemon.process.pid)
        for _ in range(3):
            while b"WATCHDOG=1" not in receiver.recv(4096):
                pass
        assert asleep.seconds() < 3 * 2, asleep.seconds()
        host.daemon.stop()
        assert not os.path.exists(host.path), "the socket is still there"


# ---- what is refused ----

def test_a_wrong_time_is_refused_before_anything_is_asked():
    wrong = {("--for", "0s"): "1s to 1h", ("--for", "999ms"): "1s to 1h", ("--for", "61m"): "1s to 1h",
             ("--for", "3601s"): "1s to 1h", ("--for", "60"): "such as 60s", ("--for", "-5s"): "such as 60s",
             ("--for", "5d"): "such as 60s", ("--for", ""): "such as 60s", ("--for", "1e3s"): "such as 60s",
             (): "for how long", ("--for", "60s", "--end"): "for how long"}
    for words, says in wrong.items():
        done = command("yield", "--socket", "/nonexistent/control.sock", *words)
        assert (done.returncode, done.stdout) == (2, "") and says in done.stderr, (words, done)
    for words, commands in ((("--for", "60s"), "command yield"), (("run", "--end"), "command yield"),
                            (("check-config", "--socket", "/x"), "commands reload, yield")):
        done = command(*words)
        assert done.returncode == 2 and f"go with the {commands}" in done.stderr, (words, done)
    return f"{len(wrong)} wrong times"


def test_a_daemon_that_is_not_there_is_said_with_the_remedy():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        done = command("yield", "--for", "60s", "--socket", os.path.join(folder, "control.sock"))
        assert done.returncode == 1 and re.search("no topdownd listens there: start .*--path.run DIR", done.stderr), done
        host = Host(stack)
        host.daemon.process.kill()
        host.daemon.process.wait(e2e.TIMEOUT)
        done = host.yield_("--for", "60s")
        assert done.returncode == 1 and "has ended: start it again" in done.stderr, done
        done = command("yield", "--for", "60s", "--socket", "/" + "x" * 200)
        assert done.returncode == 1 and "too long" in done.stderr, done


def test_a_daemon_that_is_started_by_hand_says_nothing_of_a_socket_that_nobody_asked_for():
    if os.path.exists("/run/topdownd"):
        raise e2e.Skip("/run/topdownd exists: a service may be installed")
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        assert "control" not in daemon.log() and "yield" not in daemon.log(), daemon.log()
        done = command("yield", "--for", "60s")
        assert done.returncode == 1 and "/run/topdownd/control.sock: no topdownd listens there" in done.stderr, done
        assert "by hand needs --path.run DIR" in done.stderr, done
    return done.stderr.strip()


def test_a_daemon_that_does_not_answer_is_not_waited_for():
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.daemon.process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        with e2e.Program([BINARY, "yield", "--path.run", host.folder, "--for", "60s"]) as client:
            seconds = client.wait_asleep(e2e.Asleep(client.process.pid))
            waited = time.monotonic() - begun
            assert client.wait() == 1 and "does not answer" in client.log(), client.log()
        host.daemon.process.send_signal(signal.SIGCONT)
        assert waited >= CLIENT_TIMEOUT_SECONDS and seconds < CLIENT_TIMEOUT_SECONDS + 5, (waited, seconds)
    return f"{seconds:.1f} s"


def yield_as(host, user, group):
    """Asks as somebody else, from a copy of the program that everybody can reach."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = os.path.join(folder, "topdownd")
        with open(BINARY, "rb") as source, open(copy, "wb") as target:
            target.write(source.read())
        os.chmod(copy, 0o755)
        return subprocess.run([copy, "yield", "--for", "1s", "--socket", host.path], capture_output=True, text=True,
                              timeout=e2e.TIMEOUT, user=user, group=group, extra_groups=[])


def test_root_and_the_group_may_ask_and_nobody_else():
    if os.geteuid() != 0:
        raise e2e.Skip("only root can be somebody else")
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.daemon.wait_round(1)
        assert stat.S_IMODE(os.stat(host.path).st_mode) == 0o660
        for mode in (0o755, 0o750):  # the socket alone keeps others out; so does systemd's folder
            os.chmod(host.folder, mode)
            done = yield_as(host, NOBODY, NOBODY)
            assert done.returncode == 1 and "run this as root, or as a member of the group" in done.stderr, done
        assert "handed over" not in host.daemon.log(), host.daemon.log()
        assert yield_as(host, NOBODY, os.stat(host.path).st_gid).returncode == 0
        assert f"of user {NOBODY} asked" in host.daemon.log(), host.daemon.log()


def test_the_mode_of_the_socket_does_not_depend_on_the_umask():
    for umask in (0, 0o077):
        before = os.umask(umask)
        try:
            with contextlib.ExitStack() as stack:
                assert stat.S_IMODE(os.stat(Host(stack).path).st_mode) == 0o660, oct(umask)
        finally:
            os.umask(before)


# ---- the socket ----

def test_the_socket_of_a_dead_daemon_is_replaced():
    with contextlib.ExitStack() as stack:
        first = Host(stack)
        first.daemon.process.kill()
        first.daemon.process.wait(e2e.TIMEOUT)
        assert os.path.exists(first.path)
        second = Host(stack, folder=first.folder)
        second.daemon.wait_round(1)
        second.yielded("--for", "1s")
        second.daemon.stop()
        assert os.listdir(first.folder) == []


def test_the_socket_of_a_living_daemon_is_left_alone():
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        for _ in range(2):
            status, log = e2e.run_daemon("--pmu", f"sim:{STEADY}", "--path.run", host.folder, yaml=YAML)
            assert status == 2 and re.search(r"control\.sock: another topdownd listens there: end it", log), (status, log)
        host.daemon.wait_round(1)
        host.yielded("--for", "1s")


def test_what_is_no_socket_is_left_alone():
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "control.sock"), "precious")
        status, log = e2e.run_daemon("--pmu", f"sim:{STEADY}", "--path.run", folder, yaml=YAML)
        assert status == 2 and "is not a socket: remove it" in log, (status, log)
        assert e2e.read_text(path) == "precious"
        status, log = e2e.run_daemon("--pmu", f"sim:{STEADY}", "--path.run", os.path.join(folder, "absent"), yaml=YAML)
        assert status == 2 and re.search(r"absent/control\.sock: there is no such folder: make it, or name another one with --path\.run", log), (status, log)
        status, log = e2e.run_daemon("--pmu", f"sim:{STEADY}", "--path.run", "/" + "x" * 200, yaml=YAML)
        assert status == 2 and "too long" in log, (status, log)


def test_the_folder_that_systemd_made_is_used():
    with contextlib.ExitStack() as stack:
        folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2)]
        daemon = stack.enter_context(e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML,
                                                environment={"RUNTIME_DIRECTORY": ":".join(folders)}))
        daemon.wait_round(1)
        assert (os.listdir(folders[0]), os.listdir(folders[1])) == (["control.sock"], [])
        done = command("yield", "--for", "1s", "--socket", os.path.join(folders[0], "control.sock"))
        assert done.returncode == 0, done


# ---- hostile clients ----

GARBAGE = [b"\n", b"yield\n", b"yield \n", b"yield  5\n", b"yield 0.5\n", b"yield 3601\n", b"yield 99999999999999999999\n",
           b"yield -5\n", b"yield 5s\n", b"yield 1e3\n", b"yield nan\n", b"yield 5 \n", b"yield 5\r\n", b"YIELD 5\n", b"end\n",
           b"yield 5\0\n", b"\0yield 5\n", b"yield 5\0garbage\n", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100 + b"\n", b"x" * 128,
           b"x" * 1000000]


def test_garbage_is_answered_with_an_error_and_changes_nothing():
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.daemon.wait_round(1)
        for words in GARBAGE:
            answer = host.ask(words)
            assert re.fullmatch(r"error [ -~]+\n", answer), (words[:40], answer)
        assert host.ask(b"yield 1\nyield 3600\n") == "ok 1\n"  # one line a connection
        host.wait_measuring("topdownd_ipc")
        assert len(re.findall("handed over for", host.daemon.log())) == 1, host.daemon.log()
    return f"{len(GARBAGE)} kinds"


def patience(host):
    """For how long the daemon waits for the rest of a line."""
    with host.connect() as client:
        client.sendall(b"yield 60")
        begun = time.monotonic()
        assert client.recv(100) == b""
        return time.monotonic() - begun


def test_half_a_line_is_waited_for_but_not_for_long():
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.daemon.wait_round(1)
        with host.connect() as client:
            for piece in (b"yie", b"ld ", b"1", b"\n"):
                client.sendall(piece)
                time.sleep(0.1)
            assert client.recv(100) == b"ok 1\n"
        seconds = e2e.shortest(lambda: patience(host), SLOW_CLIENT_SECONDS + 10)
        assert seconds > SLOW_CLIENT_SECONDS - 1, seconds
        with host.connect() as client:
            client.sendall(b"yield 60")
            client.shutdown(socket.SHUT_WR)
            assert client.recv(100) == b""
        assert "for 60 s" not in host.daemon.log()
    return f"given up after {seconds:.1f} s"


def control_clients(host):
    """How many connections of the control socket the daemon has accepted. Whatever else it has open for a moment does not count."""
    held = set()
    for fd in glob.glob(f"/proc/{host.daemon.process.pid}/fd/*"):
        with contextlib.suppress(FileNotFoundError):
            held.add(os.readlink(fd))
    connected = "03"
    with open("/proc/net/unix", encoding="utf-8") as file:
        rows = [line.split() for line in file]
    return sum(row[-1] == host.path and row[5] == connected and f"socket:[{row[6]}]" in held for row in rows)


def seconds_without_cpu(daemon):
    """For how long the daemon could have run and others had all CPUs."""
    return int(e2e.read_text(f"/proc/{daemon.process.pid}/schedstat").split()[1]) * 1e-9


def test_many_clients_do_no_harm():
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.daemon.wait_round(1)
        idle = []
        for _ in range(14):  # more than are served at a time; the rest wait in the kernel's queue
            client = socket.socket(socket.AF_UNIX)
            stack.callback(client.close)
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.connect(host.path)
                idle.append(client)
        assert len(idle) > 8, len(idle)
        e2e.wait_for(lambda: control_clients(host) == 8, "all places to be taken")
        host.daemon.wait_round(host.daemon.sequence() + 2)
        assert control_clients(host) <= 8 + 1, control_clients(host)  # one more while the oldest gives way
        done = host.yield_("--for", "1s")  # idle ones give way
        assert done.returncode == 0, done
        for _ in range(200):
            with contextlib.suppress(OSError):
                host.connect().close()
        host.wait_measuring("topdownd_ipc")
        host.daemon.wait_round(host.daemon.sequence() + 1)
        e2e.wait_for(lambda: control_clients(host) == 0, "all clients to be let go")
        gap = e2e.value_of(host.daemon.get("/metrics"), "topdownd_uncovered_cpu_seconds_total", reason="gap")
        assert gap <= CPUS * seconds_without_cpu(host.daemon), gap  # no client has made it late


def yield_among_idle_clients(host):
    """For how long a yield sleeps while idle clients hold every place; each of them came before it."""
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(host.connect())
        with e2e.Program([BINARY, "yield", "--path.run", host.folder, "--for", "1s"]) as client:
            seconds = client.wait_asleep(e2e.Asleep(client.process.pid))
            assert client.wait() == 0, client.log()
    return seconds


def test_idle_clients_give_way_to_a_new_one():
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.daemon.wait_round(1)
        seconds = e2e.shortest(lambda: yield_among_idle_clients(host), SLOW_CLIENT_SECONDS / 2)
    return f"{seconds:.2f} s asleep"


# ---- counters for others ----

def general_events(group):
    return len([event for event in group["events"] if event["name"] != "CPU_CYCLES"])


def test_reserved_counters_are_never_used():
    widest = {}
    for reserve in (0, 2, 4):
        yaml = YAML + f"counters: {{reserve: {reserve}}}\n"
        with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=yaml) as daemon:
            plan = daemon.json("/api/v1/plan")
            widest[reserve] = max(general_events(group) for group in plan["event_groups"] if not group["always_on"])
            daemon.wait_round(1)
            assert abs(e2e.value_of(daemon.get("/metrics"), "topdownd_ipc", socket="0") - 1.5) < 0.01
            assert (f"{reserve} of 6 general counters are left to others" in daemon.log()) == (reserve > 0), daemon.log()
    assert widest[0] > 4 >= widest[2] > 2 >= widest[4], widest
    return f"widest event group by counters reserved: {widest}"


def test_where_all_counters_are_reserved_nothing_that_takes_one_is_measured_and_it_says_so():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML + "counters: {reserve: 31}\n") as daemon:
        plan = daemon.json("/api/v1/plan")
        assert all(group["always_on"] for group in plan["event_groups"]), plan  # software events take no counters
        assert len(plan["not_plannable"]) > 10, plan
        assert all("reserved for others" in item["reason"] for item in plan["not_plannable"]), plan
        assert "is always on" in daemon.log() and "31 of 6" not in daemon.log(), daemon.log()
        assert e2e.fetch(daemon.port, "/-/healthy").status == 200
        daemon.stop()


if __name__ == "__main__":
    e2e.run_tests()
