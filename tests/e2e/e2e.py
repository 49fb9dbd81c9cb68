# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: programs that always end, a daemon to talk to, and a runner.

A test program is called with the daemon's binary and the source root. It talks to 127.0.0.1 alone, waits with a time-out
everywhere, and ends every program it has started by its process, also when it is killed itself (the kernel does it then).
Functions named test_* run in the order of the file; what one returns is printed beside its name as what it has seen.
"""

import ctypes
import http.client
import json
import os
import platform
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
TIMEOUT = 30  # seconds for anything that is over in a moment on a machine with nothing else to do
PROGRAM_LIMIT = 280  # seconds for a whole test program


class Skip(Exception):
    """This test cannot be made here; the text says why."""


def arguments():
    """The daemon's binary and the source root, absolute."""
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} DAEMON SOURCE_ROOT")
    return os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def wait_for(condition, what, timeout=TIMEOUT):
    """The first true value of condition(), which is asked again and again."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {timeout} s in vain for {what}"
        time.sleep(0.02)


def free_port():
    """A port that was free a moment ago."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


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


class Program:
    """A program in the background; what it says goes to a file. Ends with the `with` block."""

    def __init__(self, command, environment=None):
        self.folder = tempfile.TemporaryDirectory()
        self.log_path = os.path.join(self.folder.name, "log")
        ours = {k: v for k, v in os.environ.items()
                if k not in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM", "INVOCATION_ID",
                             "RUNTIME_DIRECTORY")}
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
        """Asks it to end; returns how many seconds that took. The status must be 0."""
        begun = time.monotonic()
        self.process.send_signal(number)
        status = self.wait()
        seconds = time.monotonic() - begun
        assert status == 0, f"exit status {status}; it said:\n{self.log()}"
        return seconds


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

    def wait_round(self, sequence, timeout=60):
        """Waits until so many rounds have ended; returns the snapshot."""
        return wait_for(lambda: (s := self.json("/api/v1/snapshot"))["sequence"] >= sequence and s,
                        f"round {sequence}", timeout)


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
    """prometheus_client.parser. Debian installs it for its own python only, so this program may begin anew with that one."""
    try:
        import prometheus_client.parser
    except ImportError:
        if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
            print("skipped: python3-prometheus-client is not installed")
            sys.exit(SKIPPED)
        sys.stdout.flush()
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
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


def run_tests():
    """Runs the test_* functions of the main program and ends it."""
    signal.signal(signal.SIGALRM, _on_alarm)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("FAILED: told to end"))
    signal.alarm(PROGRAM_LIMIT)
    tests = [(n, f) for n, f in vars(sys.modules["__main__"]).items() if n.startswith("test_") and callable(f)]
    passed = failed = skipped = 0
    for name, test in tests:
        sentence = name.removeprefix("test_").replace("_", " ")
        try:
            seen = test()
        except Skip as reason:
            skipped += 1
            print(f"skipped: {sentence}: {reason}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED: {sentence}\n{traceback.format_exc()}", flush=True)
        else:
            passed += 1
            print(f"ok: {sentence}" + (f" ({seen})" if seen else ""), flush=True)
    signal.alarm(0)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else SKIPPED if skipped == len(tests) else 0)
