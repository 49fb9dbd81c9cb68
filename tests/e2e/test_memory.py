# SPDX-License-Identifier: Apache-2.0
"""A limit of address space that is only just enough to start: every request gets an answer at once, and it ends when told.

The HTTP library closes a connection that it finds no memory for before the daemon hears of it: a reserve of address space is kept for that."""

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
PAGES = ("/metrics/cpu", "/api/v1/snapshot?scope=cpu", "/api/v1/topdown?scope=cpu", "/plain", "/metrics", "/api/v1/catalog", "/-/healthy")
LIMITS = range(0, 9)  # MiB above the first limit that it starts with, where not even a window's counts find place
PASSES = 24  # over the pages at the tightest limit: what was kept of one takes space from the next
ENDS_WITHIN_SECONDS = 1.0


def sanitized():
    """A sanitizer reserves terabytes of address space."""
    return b"__asan_init" in subprocess.run(["nm", "-D", BINARY], capture_output=True, check=False).stdout or \
        b"__tsan_init" in subprocess.run(["nm", BINARY], capture_output=True, check=False).stdout


@contextlib.contextmanager
def limited(folder, mebibytes):
    """A daemon of 256 CPUs under this limit, and its port, None where it could not start."""
    scenario = json.loads(e2e.read_text(STEADY)) | {"sockets": 4, "cores_per_socket": 64}
    host = e2e.write_text(os.path.join(folder, "host.json"), json.dumps(scenario))
    config = e2e.write_text(os.path.join(folder, "c.yaml"), e2e.LISTEN_ANYWHERE + "slot: 50ms\n")
    with e2e.Program(["sh", "-c", f'ulimit -v {mebibytes * 1024}; exec "$@"', "sh", BINARY, "--pmu", f"sim:{host}",
                      "--config", config, "--path.data", ROOT]) as daemon:
        e2e.wait_for(lambda: daemon.ended() or "look at" in daemon.log(), "its start or end")
        found = re.search(r"look at http://127\.0\.0\.1:(\d+)/", daemon.log())
        yield daemon, int(found.group(1)) if found else None


def statuses(daemon, port):
    found = []
    for path in PAGES:
        asleep = e2e.Asleep(daemon.process.pid)
        answer = e2e.fetch(port, path)
        assert answer.status in (200, 503), (path, answer.status)
        assert asleep.seconds() < 5, f"{path} took {asleep.seconds():.1f} s"  # nothing waits for a time limit
        found.append(answer.status)
    return found


def hurried(daemon, port):
    """One connection after the other without a pause, so that the HTTP library accepts the next while it closes the last."""
    e2e.wait_for(lambda: "no memory" in daemon.log() or e2e.fetch(port, "/-/ready").status == 200, "a round")
    for path in PAGES * PASSES:
        answer = e2e.fetch(port, path)
        assert answer.status in (200, 503), (path, answer.status)


def test_where_no_address_space_is_left_every_request_is_answered_and_it_ends_within_a_second():
    if sanitized():
        raise e2e.Skip("sanitizers reserve address space")
    refused, slowest = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        first = None
        for limit in range(16, 200):
            with limited(folder, limit) as (daemon, port):
                if not port:
                    assert first is None, f"{limit} MiB are not enough, {first} are"
                    continue
                first = first or limit
                if limit - first not in LIMITS:
                    continue
                refused += statuses(daemon, port).count(503)
                if limit == first:
                    hurried(daemon, port)
                daemon.process.send_signal(signal.SIGTERM)
                asleep = e2e.Asleep(daemon.process.pid)
                slowest = max(slowest, daemon.wait_asleep(asleep))
                assert daemon.wait() == 0, daemon.log()
            if limit - first == LIMITS[-1]:
                break
    assert refused > 0, "no limit was short"
    assert slowest < ENDS_WITHIN_SECONDS, slowest
    return f"from {first} MiB on: {refused} times 503; it slept {slowest * 1000:.0f} ms at most before its end"


if __name__ == "__main__":
    e2e.run_tests()
