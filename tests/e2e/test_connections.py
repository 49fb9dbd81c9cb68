# SPDX-License-Identifier: Apache-2.0
"""How many connections the HTTP server takes, from whom, and what it does when they are gone.

Every address of 127.0.0.0/8 is this host's, so that one machine is many clients.
"""

import contextlib
import os
import re
import signal
import socket
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
        connection.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return connection.recv(15) == b"HTTP/1.1 200 OK"
    return False


def taken(connections):
    """How many of them the server holds: it has answered on each, and still listens to it."""
    for connection in connections:
        with contextlib.suppress(OSError):
            connection.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
    held = 0
    for connection in connections:
        with contextlib.suppress(OSError):
            held += connection.recv(15) == b"HTTP/1.1 200 OK"
    return held


def idle(port, stack, client, n):
    return [stack.enter_context(dial(port, client)) for _ in range(n)]


def test_one_client_cannot_take_all_connections():
    with started() as (_, _, port), contextlib.ExitStack() as stack:
        mine = idle(port, stack, "127.0.0.2", OF_ONE_CLIENT + 20)
        held = taken(mine)
        assert held == OF_ONE_CLIENT, held
        assert not answers(port, "127.0.0.2"), "more than a client may have"
        assert answers(port, "127.0.0.3"), "another client is kept out"
        mine[0].close()
        e2e.wait_for(lambda: answers(port, "127.0.0.2"), "the place that has become free", PATIENCE)
    return f"{held} of {len(mine)} connections of one client"


def test_on_loopback_all_are_one_client_and_who_comes_too_many_waits():
    with started() as (_, port, _), contextlib.ExitStack() as stack:
        mine = idle(port, stack, "127.0.0.1", TOTAL)
        held = taken(mine)
        assert held == TOTAL, held
        late = stack.enter_context(dial(port, "127.0.0.1"))
        late.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
        mine[0].close()
        assert late.recv(15) == b"HTTP/1.1 200 OK"


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


if __name__ == "__main__":
    e2e.run_tests()
