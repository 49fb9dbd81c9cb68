# SPDX-License-Identifier: Apache-2.0
"""How many connections the HTTP server takes, from whom, and what it does when they are gone.

Every address of 127.0.0.0/8 is this host's, so that one machine is many clients.
"""

import contextlib
import json
import os
import re
import resource
import signal
import socket
import tempfile
import time

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
TOTAL, OF_ONE_CLIENT = 128, 64  # exporters/http/http.h
PATIENCE = 5  # seconds; the server ends an idle connection by itself after ten


@contextlib.contextmanager
def started():
    """A daemon, its port on loopback, and its port on all addresses, which is asked through loopback, too."""
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml='listen: ["127.0.0.1:0", "0.0.0.0:0"]\n') as daemon:
        found = e2e.wait_for(lambda: re.search(r"look at http://0\.0\.0\.0:(\d+)/", daemon.log()), "the second port")
        yield daemon, daemon.port, int(found.group(1))


def dial(port, client):
    return socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(client, 0))


def answers(port, client):
    """Whether a new connection of this client gets an answer, without waiting for others to be ended as idle."""
    with contextlib.suppress(OSError), dial(port, client) as connection:
        connection.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return connection.recv(15) == b"HTTP/1.1 200 OK"
    return False


def ask(connection):
    """Whether it is answered once more on this connection, which stays open."""
    answer = b""
    with contextlib.suppress(OSError):
        connection.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while not answer.endswith(b"healthy.\n") and (more := connection.recv(1000)):
            answer += more
    return answer.startswith(b"HTTP/1.1 200 OK")


def taken(connections):
    """How many of them the server still holds."""
    return sum(ask(connection) for connection in connections)


def idle(port, stack, client, n):
    """Connections that have asked once and now are silent: the server keeps them for ten seconds."""
    opened = []
    for _ in range(n):
        opened.append(stack.enter_context(dial(port, client)))
        assert ask(opened[-1])
    return opened


def test_one_client_has_half_of_the_connections_and_its_oldest_ones_give_way():
    with started() as (_, _, port), contextlib.ExitStack() as stack:
        other = idle(port, stack, "127.0.0.3", 1)
        mine = idle(port, stack, "127.0.0.2", OF_ONE_CLIENT + 20)
        held = taken(mine)
        assert held == OF_ONE_CLIENT and taken(mine[:20]) == 0, held
        assert taken(other) == 1, "another client was pushed out"
        assert answers(port, "127.0.0.2"), "a client is kept out by its own idle connections"
        assert answers(port, "127.0.0.3"), "another client is kept out"
    return f"{held} of {len(mine)} connections of one client"


def test_two_clients_do_not_keep_out_a_third():
    with started() as (_, _, port), contextlib.ExitStack() as stack:
        for client in ("127.0.0.2", "127.0.0.3"):
            idle(port, stack, client, OF_ONE_CLIENT)
        assert answers(port, "127.0.0.4")


def test_on_loopback_idle_connections_give_way():
    with started() as (_, port, _), contextlib.ExitStack() as stack:
        mine = idle(port, stack, "127.0.0.1", TOTAL)
        held = taken(mine)
        assert held == TOTAL, held
        assert answers(port, "127.0.0.1"), "idle connections keep out a new one"
        assert taken(mine[:1]) == 0 and taken(mine[1:]) == TOTAL - 1, "more than one gave way"


def test_connections_that_ask_nothing_give_way():
    with started() as (_, port, _), contextlib.ExitStack() as stack:
        for _ in range(2 * TOTAL):
            stack.enter_context(dial(port, "127.0.0.1"))
        assert answers(port, "127.0.0.1")


def test_it_answers_at_once_when_all_connections_have_ended_together():
    with started() as (daemon, loopback, everywhere):
        for port in (loopback, everywhere, loopback):
            with contextlib.ExitStack() as stack:
                mine = [c for client in ("127.0.0.2", "127.0.0.3") for c in idle(port, stack, client, OF_ONE_CLIENT)]
                assert len(mine) == TOTAL
                held = taken(mine)
                assert held == TOTAL, held
                daemon.process.send_signal(signal.SIGSTOP)  # so that it sees all ends at once
            daemon.process.send_signal(signal.SIGCONT)
            begun = time.monotonic()
            assert answers(port, "127.0.0.4"), f"deaf after {TOTAL} connections had ended"
            seconds = time.monotonic() - begun
        assert daemon.stop() >= 0
    return f"{TOTAL} ended together, and the next one was answered after {seconds * 1000:.0f} ms"


# ---- clients that ask for much and never read ----

READERS, PAGE_BYTES_MIN, WAVES = 110, 5 << 20, 3
QUEUED_MAX = READERS * 300 << 10  # bytes that the kernel holds for them: twice the server's send buffer and some
KERNEL_MAX = 120 << 20  # memory of all sockets of this machine, others' included; it was 413 MB


def socket_memory():
    """Bytes of all TCP sockets' buffers."""
    pages = re.search(r"^TCP:.* mem (\d+)", e2e.read_text("/proc/net/sockstat"), re.M).group(1)
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def queued(port):
    """Bytes that wait to be sent from this port, in connections that the server has closed as well."""
    rows = [line.split() for line in e2e.read_text("/proc/net/tcp").splitlines()[1:]]
    return sum(int(row[4].split(":")[0], 16) for row in rows if int(row[1].split(":")[1], 16) == port and row[3] != "0A")


def held_in_queues(port):
    """The least of some readings: one takes a while, so that a connection that gives way meanwhile counts beside the one that comes."""
    seen = []
    for _ in range(5):
        seen.append(queued(port))
        time.sleep(0.05)
    return min(seen)


def many_cpus(folder):
    scenario = json.loads(e2e.read_text(STEADY)) | {"sockets": 8, "cores_per_socket": 96}
    return e2e.write_text(os.path.join(folder, "many.json"), json.dumps(scenario))


def ask_and_never_read(port, stack):
    for _ in range(READERS):
        connection = stack.enter_context(socket.socket())
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(e2e.TIMEOUT)
        connection.connect(("127.0.0.1", port))
        connection.sendall(b"GET /api/v1/snapshot?scope=cpu HTTP/1.1\r\nHost: localhost\r\n\r\n")


def rotations(daemon):
    """How many rotations have taken at most so long, by bound in seconds."""
    return {float(labels["le"]): value for name, labels, value in e2e.samples(daemon.get("/metrics"))
            if name == "topdownd_rotation_duration_seconds_bucket"}


def bound_of_half(before, after):
    """The bound below which half of the rotations between the two lie."""
    grown = {bound: after[bound] - before[bound] for bound in after}
    return min(bound for bound, n in grown.items() if n >= grown[float("inf")] / 2)


def scrape_seconds(daemon):
    begun = time.monotonic()
    daemon.get("/metrics")
    return time.monotonic() - begun


def under_readers(daemon, stack):
    """What such clients do in waves: the most bytes queued, the most socket memory, the slowest scrape, and the bounds of half of the
    rotations before they came and while they were there. Returns when nothing is queued for them any more."""
    begun, memory, most_queued, most_memory, slowest = rotations(daemon), socket_memory(), 0, 0, 0.0
    daemon.wait_round(daemon.sequence() + 1)
    middle = rotations(daemon)
    for _ in range(WAVES):
        ask_and_never_read(daemon.port, stack)
        slowest = max(slowest, e2e.shortest(lambda: scrape_seconds(daemon), 1))
        e2e.wait_for(lambda: queued(daemon.port) > READERS << 10, "bytes that nobody reads")
        most_queued, most_memory = max(most_queued, held_in_queues(daemon.port)), max(most_memory, socket_memory() - memory)
    daemon.wait_round(daemon.sequence() + 1)
    quiet, busy = bound_of_half(begun, middle), bound_of_half(middle, rotations(daemon))
    # Those that have been closed meanwhile keep nothing, and neither do the others once the server ends them.
    e2e.wait_for(lambda: queued(daemon.port) == 0, "the end of all that nobody reads")
    return most_queued, most_memory, slowest, quiet, busy


def test_clients_that_never_read_pin_little_memory_and_delay_nobody():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon(
            "--pmu", f"sim:{many_cpus(folder)}", yaml=e2e.LISTEN_ANYWHERE) as daemon, contextlib.ExitStack() as stack:
        e2e.wait_for(lambda: len(daemon.get("/api/v1/snapshot?scope=cpu")) > PAGE_BYTES_MIN, "values of all CPUs")
        for attempt in range(5):  # other work of the machine that begins in between delays rotations, too
            most_queued, most_memory, slowest, quiet, busy = under_readers(daemon, stack)
            assert most_queued < QUEUED_MAX, f"{most_queued >> 20} MiB queued"
            assert most_memory < KERNEL_MAX, f"{most_memory >> 20} MiB of socket memory"
            if busy <= max(10 * quiet, 0.1):
                break
        else:
            raise AssertionError(f"{attempt + 1} times; half of the rotations take up to {busy} s, without these clients {quiet} s")
        assert daemon.stop() >= 0
    return (f"{most_queued >> 20} MiB queued, {most_memory >> 20} MiB of socket memory, a scrape took {slowest * 1000:.0f} ms, half of the "
            f"rotations up to {busy} s, before {quiet} s")


def open_files(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def test_where_no_file_is_left_idle_connections_give_way_to_a_scrape():
    with started() as (daemon, port, _), contextlib.ExitStack() as stack:
        daemon.wait_round(1)
        limit = open_files(daemon) + 20
        resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
        for _ in range(60):
            connection = stack.enter_context(dial(port, "127.0.0.1"))
            connection.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
        def answered():
            # five seconds are half of the time after which the server ends an idle connection by itself
            begun = time.monotonic()
            assert answers(port, "127.0.0.1"), "no answer where connections hold all files"
            return time.monotonic() - begun
        e2e.wait_for(lambda: open_files(daemon) >= limit - 2, "the files to be short")
        seconds = e2e.shortest(answered, 1)
        daemon.wait_round(daemon.sequence() + 1)
        assert daemon.stop() >= 0
    return f"answered after {seconds * 1000:.0f} ms"


def refusal(port, request):
    """Status and media type of the answer to these bytes; no type: the HTTP library's own answer."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(request)  # it may be refused before all of it has gone
        with contextlib.suppress(OSError):
            while more := connection.recv(1 << 16):
                answer += more
    head = answer.split(b"\r\n\r\n")[0].decode()
    kind = re.search(r"^Content-Type: ([\w/]+)", head, re.M)
    return int(head.split()[1]), kind.group(1) if kind else None


def test_the_manual_has_each_status_that_a_request_gets():
    page = e2e.read_text(os.path.join(ROOT, "docs/api.md"))
    documented = {int(status): text for status, text in re.findall(r"^\| (\d{3}) \| (.*) \|$", page, re.M)}
    host, end, much = "Host: localhost\r\n", "Connection: close\r\n\r\n", "x" * (33 << 10)
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=e2e.LISTEN_ANYWHERE) as daemon:
        for line, headers, status, kind, word in (
                ("GET /api/v1/snapshot?scope=x", host, 400, "application/json", "unknown scope"),
                ("GET /api/v1/history?metric=x", host, 400, "application/json", "history"),
                ("GET /?" + "&".join("a" * 17), host, 400, "text/plain", "more than 16 arguments"),
                ("GET /%00", host, 400, "text/plain", "zero byte"), ("GET /", host + host, 400, "text/plain", "`Host` header or two"),
                ("GET /", "", 400, None, "no `Host` header"), ("GET /x", host, 404, "text/plain", "path"),
                ("GET /", host + "Content-Length: 0\r\nContent-Length: 1\r\n", 400, "text/plain", "contradicting"),
                ("PUT /", host, 405, "text/plain", "method"), ("GET /metrics", host + "Accept-Encoding: *;q=0\r\n", 406, "text/plain", "coding"),
                ("GET /", host + "Content-Length: 1\r\n", 413, "text/plain", "body"), (f"GET /{much}", host, 414, None, "32 KiB"),
                ("GET /", "Host: proxy.example\r\n", 421, "text/plain", "proxy"), ("GET /", f"{host}X: {much}\r\n", 431, None, "32 KiB")):
            got = refusal(daemon.port, f"{line} HTTP/1.1\r\n{headers}{end}".encode())
            assert got == (status, kind) and word in documented[status], (line[:40], got, documented.get(status))
        assert refusal(daemon.port, f"GET / HTTP/2.0\r\n{host}{end}".encode())[0] == 505 and 505 in documented


if __name__ == "__main__":
    e2e.run_tests()
