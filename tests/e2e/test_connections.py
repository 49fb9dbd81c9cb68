# SPDX-License-Identifier: Apache-2.0
"""How many connections the HTTP server takes, from whom, and what it does when they are gone.

Every address of 127.0.0.0/8 is this host's, so that one machine is many clients.
"""

import contextlib
import os
import socket
import time

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
TOTAL, OF_ONE_CLIENT = 128, 64  # exporters/http.h
PATIENCE = 5  # seconds; the server ends an idle connection by itself after ten


def dial(daemon, client):
    return socket.create_connection(("127.0.0.1", daemon.port), PATIENCE, source_address=(client, 0))


def answers(daemon, client):
    """Whether a new connection of this client gets an answer, without waiting for others to be ended as idle."""
    with contextlib.suppress(OSError), dial(daemon, client) as connection:
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


def idle(daemon, stack, client, n):
    return [stack.enter_context(dial(daemon, client)) for _ in range(n)]


def test_one_client_cannot_take_all_connections():
    with e2e.Daemon("--pmu", f"sim:{STEADY}") as daemon, contextlib.ExitStack() as stack:
        mine = idle(daemon, stack, "127.0.0.2", OF_ONE_CLIENT + 20)
        held = taken(mine)
        assert held == OF_ONE_CLIENT, held
        assert not answers(daemon, "127.0.0.2"), "more than a client may have"
        assert answers(daemon, "127.0.0.3"), "another client is kept out"
        mine[0].close()
        e2e.wait_for(lambda: answers(daemon, "127.0.0.2"), "the place that has become free", PATIENCE)
    return f"{held} of {len(mine)} connections of one client"


def test_it_answers_at_once_when_all_connections_have_ended_together():
    for attempt in range(3):
        with e2e.Daemon("--pmu", f"sim:{STEADY}") as daemon:
            with contextlib.ExitStack() as stack:
                all_of_them = [c for client in ("127.0.0.2", "127.0.0.3")
                               for c in idle(daemon, stack, client, OF_ONE_CLIENT)]
                assert len(all_of_them) == TOTAL
                held = taken(all_of_them)
                assert held == TOTAL, held
            begun = time.monotonic()
            assert answers(daemon, "127.0.0.4"), f"deaf after {TOTAL} connections had ended (attempt {attempt + 1})"
            seconds = time.monotonic() - begun
            assert daemon.stop() >= 0
    return f"{TOTAL} ended together, and the next one was answered after {seconds * 1000:.0f} ms"


if __name__ == "__main__":
    e2e.run_tests()
