# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: programs that always end, a daemon to talk to, and a runner.

A test program is called with the daemon's binary and the source root. It talks to 127.0.0.1 alone, waits with a time-out
everywhere, and ends every program it has started by its process, also when it is killed itself (the kernel does it then).
Functions named test_* are its cases. Cases mostly wait for a daemon's rounds, so several run side by side, each in a
process of its own, forked when the program has set up what they share; what one changes in memory no other sees. They begin in
the order of the file. What a case returns is printed beside its name as what it has seen.

No case may depend on how fast or how loaded the machine is: it waits for a condition (wait_for), compares within one
answer or one daemon's own account, and asks for CPU or sleeping time where a duration is the subject (seconds_asleep).
"""

import contextlib
import ctypes
import http.client
import importlib.util
import json
import multiprocessing
import multiprocessing.connection
import os
import platform
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

SKIPPED = 77
TIMEOUT = 240  # seconds after which a wait is in vain, however busy the machine is: what passes never takes a part of it
PROGRAM_LIMIT = 840  # seconds for a whole test program
AT_ONCE = 6  # cases of a program side by side, unless it says otherwise


def _with_debians_python():
    """Debian installs prometheus_client for its own python only, so a program begins anew with that one."""
    debians = "/usr/bin/python3"
    if not importlib.util.find_spec("prometheus_client") and os.access(debians, os.X_OK) and \
            os.path.realpath(sys.executable) != os.path.realpath(debians):
        os.execv(debians, [debians, *sys.argv])


_with_debians_python()


class Skip(Exception):
    """This test cannot be made here; the text says why."""


def arguments():
    """The daemon's binary and the source root, absolute."""
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} DAEMON SOURCE_ROOT")
    return os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def wait_for(condition, what, timeout=TIMEOUT, pause=0.02):
    """The first true value of condition(), which is asked again and again, with so many seconds in between."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {timeout} s in vain for {what}"
        time.sleep(pause)


def free_port():
    """A port that was free a moment ago, and that the kernel gives to nobody who asks it for any port."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        first = int(file.read().split()[0])
    while True:
        port = random.randrange(first // 2, first)
        with contextlib.suppress(OSError), socket.socket() as s:
            s.bind(("127.0.0.1", port))
            return port


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def write_text(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Asleep:
    """For how long a program's first thread has slept since this was made, without what it ran or waited for a CPU."""

    def __init__(self, pid):
        self.path, self.begun = f"/proc/{pid}/schedstat", time.monotonic()
        self.busy = self._busy()

    def _busy(self):
        running, waiting, _ = map(int, read_text(self.path).split())
        return (running + waiting) * 1e-9

    def seconds(self):
        """Also after its end, until somebody has asked for its status. The kernel adds up what a program has waited
        when it runs, so a wait that began before is seen in full: that must not make this negative."""
        return max(time.monotonic() - self.begun - (self._busy() - self.busy), 0)


def shortest(measure, limit):
    """The first of five values below the limit: for a duration that a busy machine can only make longer."""
    seen = []
    while not seen or seen[-1] >= limit:
        assert len(seen) < 5, f"{seen} seconds, where {limit} are allowed"
        seen.append(measure())
    return seen[-1]


class Program:
    """A program in the background; what it says goes to a file. Ends with the `with` block."""

    def __init__(self, command, environment=None):
        self.folder = tempfile.TemporaryDirectory()
        self.log_path = os.path.join(self.folder.name, "log")
        ours = {k: v for k, v in os.environ.items()
                if k not in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM", "INVOCATION_ID",
                             "RUNTIME_DIRECTORY", "STATE_DIRECTORY")}
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=ours | (environment or {}), preexec_fn=_die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(TIMEOUT)
        self.folder.cleanup()

    def log(self):
        return read_text(self.log_path)

    def ended(self):
        return self.process.poll() is not None

    def wait(self, timeout=TIMEOUT):
        """Its exit status."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still runs after {timeout} s; it said:\n{self.log()}") from None

    def stop(self, number=signal.SIGTERM):
        """Asks it to end; returns how many seconds it slept before it did. The status must be 0."""
        asleep = Asleep(self.process.pid)
        self.process.send_signal(number)
        seconds = self.wait_asleep(asleep)
        status = self.wait()
        assert status == 0, f"exit status {status}; it said:\n{self.log()}"
        return seconds

    def wait_asleep(self, asleep):
        """Waits for its end; how many seconds it has slept since `asleep` was made."""
        wait_for(lambda: os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG), "its end")
        return asleep.seconds()


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def text(self):
        return self.body.decode("utf-8")


def fetch(port, path, method="GET", body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    try:
        connection.request(method, path, body)
        return Answer(connection.getresponse())
    finally:
        connection.close()


LISTEN_ANYWHERE = 'listen: ["127.0.0.1:0"]\n'


class Daemon(Program):
    """A topdownd with a configuration of its own. With ready=False it may also end at once."""

    def __init__(self, *options, yaml=LISTEN_ANYWHERE, drop_ins=None, data=None, environment=None, ready=True):
        binary, root = arguments()
        self.config_folder = tempfile.TemporaryDirectory()
        self.config = write_text(os.path.join(self.config_folder.name, "topdownd.yaml"), yaml)
        for name, text in (drop_ins or {}).items():
            write_text(os.path.join(self.config_folder.name, "conf.d", name), text)
        super().__init__([binary, "--config", self.config, "--path.data", data or root, *options], environment)
        try:
            self.port = self._wait_port() if ready else None
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        super().__exit__()
        self.config_folder.cleanup()

    def find_port(self):
        """The port that it says it listens on, None where it has not said so yet."""
        found = re.search(r"look at http://127\.0\.0\.1:(\d+)/", self.log())
        assert found or not self.ended(), f"ended with status {self.process.returncode}; it said:\n{self.log()}"
        return int(found.group(1)) if found else None

    def _wait_port(self):
        return wait_for(self.find_port, "the line that says where to look")

    def get(self, path):
        answer = fetch(self.port, path)
        assert answer.status == 200, f"{path}: {answer.status} {answer.text()}"
        return answer.text()

    def json(self, path):
        return json.loads(self.get(path))

    def sequence(self):
        return self.json("/api/v1/snapshot")["sequence"]

    def of_one_snapshot(self, *paths):
        """Pages that show the same snapshot."""
        def fetch_all():
            taken = [self.json("/api/v1/snapshot")["timestamp_seconds"]]
            pages = [self.get(path) for path in paths]
            return pages if [self.json("/api/v1/snapshot")["timestamp_seconds"]] == taken else None
        return wait_for(fetch_all, "pages of one snapshot")

    def wait_round(self, sequence, timeout=TIMEOUT):
        """Waits until so many rounds have ended; returns the snapshot."""
        return wait_for(lambda: (s := self.json("/api/v1/snapshot"))["sequence"] >= sequence and s,
                        f"round {sequence}", timeout)


class Notifications:
    """systemd's end of NOTIFY_SOCKET."""

    def __init__(self, stack):
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.path = os.path.join(folder, "notify")
        self.socket = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.socket.bind(self.path)
        self.socket.settimeout(TIMEOUT)
        self.received = []

    def wait(self, prefix):
        """The next line that begins so; all lines are kept in `received`."""
        while True:
            try:
                lines = self.socket.recv(65536).decode().splitlines()
            except TimeoutError:
                raise AssertionError(f"no {prefix}, only {self.received}") from None
            self.received += lines
            for line in lines:
                if line.startswith(prefix):
                    return line

    def signs_of_life(self):
        return self.received.count("WATCHDOG=1")


def run_daemon(*options, **settings):
    """Runs a daemon that is expected to end by itself: its exit status and what it said."""
    with Daemon(*options, ready=False, **settings) as daemon:
        status = daemon.wait()
        return status, daemon.log()


def parse(text):
    """An exposition as {family: {(sample name, ((label, value), ...)): number}}, read by Debian's own parser."""
    families = {}
    for family in prometheus_parser().text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            samples = families.setdefault(family.name, {})
            assert key not in samples, f"{key} stands twice on the page"
            samples[key] = sample.value
    return families


def prometheus_parser():
    """prometheus_client.parser."""
    try:
        import prometheus_client.parser
    except ImportError:
        raise Skip("python3-prometheus-client is not installed") from None
    return prometheus_client.parser


def samples(text):
    """All samples of an exposition as [(name, labels, number)]."""
    return [(name, dict(labels), value) for family in parse(text).values() for (name, labels), value in family.items()]


def value_of(text, name, **labels):
    """The sum of the samples of this name that have these labels; at least one must."""
    found = [v for n, l, v in samples(text) if n == name and labels.items() <= l.items()]
    assert found, f"no sample {name}{labels}"
    return sum(found)


def perf_events_allowed():
    """None where this process may count software events of a whole CPU, else why not."""
    number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
    if not number:
        return f"how to call perf_event_open on {platform.machine()} is not known to this test"
    # struct perf_event_attr: type 1 (software), size, config 3 (context switches), then zeros
    attr = ctypes.create_string_buffer(struct.pack("=IIQ", 1, 128, 3), 128)
    cpu = min(os.sched_getaffinity(0))
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(ctypes.c_long(number), attr, ctypes.c_long(-1), ctypes.c_long(cpu), ctypes.c_long(-1), ctypes.c_long(8))
    if fd < 0:
        return f"perf_event_open: {os.strerror(ctypes.get_errno())}"
    os.close(fd)
    return None


def _on_alarm(*_):
    sys.exit(f"FAILED: the whole test has taken {PROGRAM_LIMIT} s")  # through the `with` blocks


class _Case:
    """A case that runs in a process of its own."""

    fork = multiprocessing.get_context("fork")

    def __init__(self, name, test):
        self.sentence = name.removeprefix("test_").replace("_", " ")
        self.begun = time.monotonic()
        ours, theirs = self.fork.Pipe(duplex=False)
        self.said = ours
        self.process = self.fork.Process(target=self._run, args=(test, theirs, os.getpid()))
        sys.stdout.flush()
        self.process.start()
        theirs.close()

    @staticmethod
    def _run(test, said, parent):
        _die_with_parent()
        if os.getppid() != parent:
            return  # it was gone before
        try:
            said.send(("ok", test()))
        except Skip as reason:
            said.send(("skipped", str(reason)))
        except Exception:  # pylint: disable=broad-except
            said.send(("FAILED", traceback.format_exc()))

    def result(self):
        """How it went, after its end: ok, skipped or FAILED. Prints that with what the case has seen."""
        try:
            how, seen = self.said.recv()
        except EOFError:
            how, seen = "FAILED", "it ended without a word"
        self.process.join()
        self.said.close()
        note = f": {seen}" if how == "skipped" else f" ({seen})" if how == "ok" and seen else ""
        print(f"{how}: {self.sentence}{note} [{time.monotonic() - self.begun:.1f} s]", flush=True)
        if how == "FAILED":
            print(seen, flush=True)
        return how

    def end(self):
        self.process.terminate()  # through its `with` blocks
        self.process.join()


def _run_all(tests, at_once):
    """Runs (name, function) pairs, so many at once; how each went."""
    running, results = {}, []
    try:
        while tests or running:
            while tests and len(running) < at_once:
                case = _Case(*tests.pop(0))
                running[case.said] = case
            for said in multiprocessing.connection.wait(running):
                results.append(running.pop(said).result())
    finally:
        for case in running.values():
            case.end()
    return results


def run_tests(at_once=AT_ONCE):
    """Runs the test_* functions of the main program and ends it. What takes all of a CPU wants a smaller at_once."""
    signal.signal(signal.SIGALRM, _on_alarm)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("FAILED: told to end"))
    signal.alarm(PROGRAM_LIMIT)
    results = _run_all([(n, f) for n, f in vars(sys.modules["__main__"]).items() if n.startswith("test_") and callable(f)],
                       at_once)
    signal.alarm(0)
    print(f"{results.count('ok')} passed, {results.count('FAILED')} failed, {results.count('skipped')} skipped")
    sys.exit(1 if "FAILED" in results else SKIPPED if results.count("skipped") == len(results) else 0)
