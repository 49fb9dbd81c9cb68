# SPDX-License-Identifier: Apache-2.0
"""`topdownd top` in a terminal: what it shows of a daemon, of this host by itself and of a recording, and what keys do."""

import contextlib
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import threading

import e2e
import tmux
import web_files

BINARY, ROOT = e2e.arguments()
VIEW = os.path.join(os.path.dirname(BINARY), "topdownd-top")
SHORT = e2e.LISTEN_ANYWHERE + "slot: 20ms\ninterval: 1s\n"
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
CHANGING = os.path.join(ROOT, "tests/data/scenarios/changing.json")


def daemon(kind="demo", **how):
    return e2e.Daemon("--pmu", f"sim:{kind}", **({"yaml": SHORT} | how))


def top(*words, **how):
    return tmux.Terminal(BINARY, "top", *words, **how)


def url(port, scheme="http"):
    return f"--url={scheme}://127.0.0.1:{port}"


def call(*words, **environment):
    return subprocess.run([BINARY, "top", *words], env=os.environ | environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=e2e.TIMEOUT, check=False)


def test_the_overview_fits_80_columns_and_says_what_the_api_says():
    with daemon() as host, top(url(host.port)) as screen:
        host.wait_round(3)
        lines = screen.wait("Back-end bound", "ipc", "a column", "At least since")
        assert all(len(line) <= 80 for line in lines), lines
        assert re.match(r"\S+  Neoverse V2, 64 CPUs, 2 sockets  SIMULATED +\d\d:\d\d:\d\d$", lines[0]), lines[0]
        assert lines[1].startswith(f"http://127.0.0.1:{host.port}: ") and lines[1].endswith(" s old"), lines[1]
        said = host.json("/api/v1/topdown")["bound"]["text"]
        shown = " ".join(lines[2:next(i for i, line in enumerate(lines) if line.startswith("At least since"))])
        first, second = (re.sub("[0-9.]+ %", "", text).split(". ")[0] for text in (shown, said))  # values may be of another round
        assert first == second and "Back-end bound" in first, (lines, said)
        assert lines[23].startswith(" q end  ? help"), lines[23]
        begin = next(i for i, line in enumerate(lines) if line.startswith("Level 1 of pipeline slots")) + 1
        shares = [float(match.group(1)) for line in lines[begin:begin + 4] if (match := re.search(r"(\d+\.\d) % ±", line))]
        assert len(shares) == 4 and abs(sum(shares) - 100) < 0.3, lines
        screen.press("q")
        assert screen.ended() == 0
        return f"{len(lines)} lines"


def test_keys_lead_to_a_metric_the_cpus_one_of_them_and_back():
    with daemon() as host, top(url(host.port)) as screen:
        screen.wait("Back-end bound", "ipc")
        screen.press("Down", "Down", "Down", "Enter")
        screen.wait("backend_bound_ratio", "HIGH", "threshold", "next groups", "the code")
        screen.press("Escape")
        screen.wait("Tree (! high")
        screen.press("c")
        lines = screen.wait("64 CPUs by backend_bound_ratio, the largest first", " CPU socket",
                            where=lambda now: all(len(row.split()) > 4 for row in now[6:22]))
        column = [float(line.split()[4]) for line in lines[6:22]]
        assert column == sorted(column, reverse=True) and column[0] > 50, lines
        screen.press("r")
        lines = screen.wait("the smallest first")
        screen.press(">")
        screen.wait("64 CPUs by retiring_ratio")
        screen.press("s")
        screen.wait("2 Sockets by retiring_ratio")
        screen.press("Enter")
        lines = screen.wait("whole host", "branch_mpki")
        assert re.match("Socket [01] ", lines[2]), lines  # whichever did less at that moment of the scenario
        screen.press("e")
        screen.wait("What happened", "topdownd 0.1.0 began")
        screen.press("?")
        screen.wait("Pipeline slots: what the CPU could have done")
        screen.press("o")
        screen.wait("Tree (! high")
        screen.press("q")
        assert screen.ended() == 0


def test_it_follows_the_size_of_the_terminal():
    with daemon() as host, top(url(host.port)) as screen:
        screen.wait("Back-end bound", "ipc")
        screen.resize(200, 60)
        lines = screen.wait("ll_cache_miss_ratio", where=lambda now: now[59].startswith(" q end"))
        assert 150 < max(map(len, lines)) <= 200, "the pictures take the width"
        screen.resize(60, 16)
        screen.wait("Useful work", where=lambda now: now[15].startswith(" q end") and max(map(len, now)) <= 60)
        screen.resize(30, 8)
        screen.wait("too small")
        screen.resize(80, 24)
        screen.wait(" q end", where=lambda now: now[23].startswith(" q end"))


def test_without_colour_and_in_ascii_it_says_the_same():
    with daemon() as host:
        for environment in ({"TERM": "vt100"}, {"NO_COLOR": "1"}):
            with top(url(host.port), **environment) as screen:
                screen.wait("Back-end bound", "ipc")
                assert not re.search(r"\033\[[\d;]*3[0-7]", "\n".join(screen.lines(colours=True))), environment
        with top(url(host.port), LC_ALL="C") as screen:
            lines = screen.wait("Back-end bound", "ipc", "####", "~0.")
            assert all(line.isascii() for line in lines), lines
        with top(url(host.port)) as screen:
            screen.wait("Back-end bound", "ipc")
            coloured = "\n".join(screen.lines(colours=True))
            used = set(re.findall(r"\033\[(?:\d+;)*(3[0-7])m", coloured))
            assert used >= {"34", "35", "36"} and not used & {"31", "32"}, "blue, cyan, magenta; neither red nor green"


def test_when_the_daemon_is_gone_it_says_so_and_comes_back():
    port = e2e.free_port()
    yaml = SHORT.replace("127.0.0.1:0", f"127.0.0.1:{port}")
    with top(url(port)) as screen:
        screen.wait("GONE: ", "Trying again every 2 s")
        with daemon(yaml=yaml):
            e2e.wait_for(lambda: "GONE" not in "".join(screen.lines()), "the daemon on the screen")
            screen.wait("Back-end bound", "ipc")
        lines = screen.wait("GONE: ")
        assert any("Back-end bound" in line for line in lines), "the last values stay"
        with daemon(yaml=yaml):
            e2e.wait_for(lambda: "GONE" not in "".join(screen.lines()), "the daemon on the screen")


def test_a_remote_daemon_with_tls_and_a_password():
    files = web_files.Files()
    files.authority()
    files.certificate("server")
    path = files.write("tls_server_config: {cert_file: server.pem, key_file: server.key}\n"
                       f"basic_auth_users: {{ops: {web_files.HASHES[4]}}}\n")
    with e2e.Daemon("--pmu", f"sim:{STEADY}", "--web.config.file", path, yaml=SHORT, ready=False) as host:
        port = int(e2e.wait_for(lambda: re.search(r"https://127\.0\.0\.1:(\d+)/", host.log()), "its address").group(1))
        remote, trust = url(port, "https"), ("--cacert", files.path("ca.pem"))
        with top(remote, *trust, "--user", "ops", TOPDOWND_PASSWORD="secret") as screen:
            lines = screen.wait("Level 1", "ipc")
            assert lines[1].startswith(f"https://127.0.0.1:{port}"), lines
        secret = e2e.write_text(files.path("password"), "secret\n")
        done = call(remote, *trust, "--user", "ops", "--password-file", secret, "--once")
        assert done.returncode == 0 and "Level 1" in done.stdout, done
        for words, says in ((("--user", "ops"), "--cacert FILE"), (trust, "--user NAME"),
                            ((*trust, "--user", "ops", "--password-file", files.path("ca.key")), "the right password")):
            done = call(remote, *words, "--once", TOPDOWND_PASSWORD="x")
            assert done.returncode == 1 and says in done.stderr, (words, done)
        done = call(url(port), "--once")
        assert done.returncode == 1 and "if it has TLS: --url https://" in done.stderr, done
    for words, says in (((url(1), "--user", "ops"), "TOPDOWND_PASSWORD"), (("--url", "http://a:b@c:1"), "no user or password in the URL"),
                        (("--url", "ftp://c"), "no URL of a daemon"), ((url(1), "--pmu", "sim"), "--url does not go with"),
                        (("--user", "x"), "go with --url")):
        done = call(*words, "--once")
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, (words, done)


def test_hosts_with_several_core_types_are_shown_type_by_type():
    with daemon("hybrid") as host, top(url(host.port)) as screen:
        first = screen.wait("core type 1 of 3", "ipc")
        screen.press("t")
        second = screen.wait("core type 2 of 3", "ipc")
        names = [page["core_type"] for page in host.json("/api/v1/topdown")["core_types"]]
        for lines, name in ((first, names[0]), (second, names[1])):
            assert any(line.startswith(f"{name}, core type") for line in lines), (names, lines)
        screen.press("c")
        screen.wait("CPUs by")


def processes_of(pid):
    """The processes below one, with their command lines."""
    found = {}
    for child in e2e.read_text(f"/proc/{pid}/task/{pid}/children").split():
        found[int(child)] = e2e.read_text(f"/proc/{child}/cmdline")
        found |= processes_of(int(child))
    return found


def test_a_host_by_itself_is_measured_aside_and_the_process_ends_with_the_view():
    with tempfile.TemporaryDirectory() as folder:
        config = e2e.write_text(f"{folder}/topdownd.yaml", f"record: {{path: {folder}/recording}}\ntextfile: {{path: {folder}}}\nslot: 20ms\n")
        for end in ("key", "kill"):
            with top("--pmu", f"sim:{STEADY}", "--config", config) as screen:
                lines = screen.wait("Level 1", "ipc")
                assert lines[1].startswith("a simulated host, measured for this view"), lines
                running = processes_of(screen.pid())
                (view,) = [pid for pid, line in running.items() if line.startswith("topdownd-top")]
                (aside,) = processes_of(view)
                mapped = e2e.read_text(f"/proc/{aside}/maps") + e2e.read_text(f"/proc/{view}/maps").replace("ncurses", "").replace("curl", "")
                assert "ncurses" not in mapped and "curl" not in mapped, "the serving process needs neither"
                assert "libncursesw" in e2e.read_text(f"/proc/{view}/maps")
                if end == "key":
                    screen.press("q")
                    assert screen.ended() == 0
                else:
                    os.kill(view, 9)
                e2e.wait_for(lambda: not os.path.exists(f"/proc/{aside}/maps") or not e2e.read_text(f"/proc/{aside}/cmdline"), "its end")
        assert os.listdir(folder) == ["topdownd.yaml"], "no recording, no text file"


def test_the_daemon_maps_no_library_of_terminals_or_clients():
    with daemon() as host:
        host.wait_round(1)
        mapped = e2e.read_text(f"/proc/{host.process.pid}/maps")
        assert "libmicrohttpd" in mapped and not re.search("ncurses|tinfo|curl", mapped), mapped


def test_a_recording_is_paused_and_stepped():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{CHANGING}", "--record", path, yaml=SHORT) as host:
            host.wait_round(8)
            host.stop()
        with top("--replay", path, "--speed", "0") as screen:
            lines = screen.wait("at the end of the recording", "REPLAY")
            newest = lines[0].split()[-1]
            screen.press("[")
            lines = screen.wait("PAUSED, 1 newer")
            assert lines[0].split()[-1] < newest, (lines[0], newest)
            screen.press("]")
            assert screen.wait("at the end of the recording")[0].split()[-1] == newest
            screen.press("g")
            lines = screen.wait("PAUSED, ")
            first = lines[0].split()[-1]
            screen.press("c")
            screen.wait("CPUs by", " CPU socket")  # of each moment
            screen.press("q")
            assert screen.ended() == 0
        with top("--replay", path, "--speed", "0.1") as screen:
            screen.wait("played 0.1 times")
            e2e.wait_for(lambda: re.search(r"\d:\d\d$", screen.lines()[0]), "the first moment: before it no time is known")
            screen.press(" ")
            lines = screen.wait("PAUSED, 0 newer")
            assert lines[0].split()[-1] == first, "it begins at the beginning, and takes its time"
            screen.press("}")
            e2e.wait_for(lambda: screen.lines()[0].split()[-1] == newest, "the end")
        done = call("--replay", path, "--once")
        first_line = done.stdout.splitlines()[0]
        assert done.returncode == 0 and "REPLAY" in first_line and first_line.split()[-1] == newest, (done, newest)
        done = call("--replay", f"{folder}/none", "--once")
        assert done.returncode == 2 and f"{folder}/none" in done.stderr, done


def test_where_it_cannot_draw_it_says_what_can_be_done():
    done = call(url(1))
    assert done.returncode == 2 and "topdownd top --once" in done.stderr and "topdownd measure" in done.stderr, done
    done = call(url(e2e.free_port()), "--once")
    assert done.returncode == 1 and "Trying again" not in done.stderr and "onnect" in done.stderr, done
    with daemon(STEADY) as host:
        with top(url(host.port), TERM="no-such-terminal") as screen:
            screen.wait("nothing is known of the terminal type 'no-such-terminal'")
            assert screen.ended() == 2
        done = call(url(host.port), "--once", COLUMNS="60", LC_ALL="C.UTF-8", http_proxy="http://127.0.0.1:1")
        assert done.returncode == 0 and max(map(len, done.stdout.splitlines())) <= 60, done
        done = call(url(host.port, "https"), "--once")
        assert done.returncode == 1 and "if it has no TLS: --url http://" in done.stderr, done
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/bin")
        os.link(BINARY, f"{folder}/bin/topdownd") if os.stat(folder).st_dev == os.stat(BINARY).st_dev else subprocess.run(
            ["cp", BINARY, f"{folder}/bin/topdownd"], check=True)
        done = subprocess.run([f"{folder}/bin/topdownd", "top", "--once"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        assert done.returncode == 2 and "install the package topdownd-top" in done.stderr, done


def test_a_host_that_does_nothing_is_no_riddle():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(ROOT, "scenarios/zen4.json"), encoding="utf-8") as file:
            host = json.load(file) | {"assignments": []}
        done = call("--once", "--pmu", f"sim:{e2e.write_text(os.path.join(folder, 'idle.json'), json.dumps(host))}")
    assert "\nNot known: nothing was done: no pipeline slots were counted.\n" in done.stdout, done


class Hostile:
    """A server that answers every request with the same bytes."""

    def __init__(self, answer):
        self.answer = answer
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client):
        try:
            client.recv(65536)
            for part in self.answer():
                client.sendall(part)
        except OSError:
            pass
        client.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def test_a_certificate_does_not_steer_the_terminal():
    """The C library of TLS quotes the certificate's name."""
    files = web_files.Files()
    key, trusted = files.path("key"), files.path("certificate")
    web_files.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", trusted,
                      "-subj", "/CN=it is \x1b[2J\x07", "-days", "2")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted, key)

    def serve(listener):
        with contextlib.suppress(OSError), listener.accept()[0] as client:
            context.wrap_socket(client, server_side=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        done = call(url(listener.getsockname()[1], "https"), "--cacert", trusted, "--once")
    assert done.returncode == 1 and "it is ?[2J?" in done.stderr and "\x1b" not in done.stderr, done


def test_no_answer_of_a_hostile_server_ends_it_or_steers_the_terminal():
    ok = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    steering = json.dumps({"bound": {"text": "\x1b]0;owned\x07\x1b[2J\x9b31mX"}, "scopes": [], "hostname": "\x1b[2J",
                           "metrics": {}, "series": [], "sequence": 1}).encode()

    def endless():
        yield ok + b'{"bound":"'
        while True:
            yield b"x" * (1 << 20)
    for what, says in ((lambda: [b"\x00\xff garbage\r\n\r\n"], "GONE: "), (lambda: [ok + b"<html>no</html>"], "not JSON of topdownd"),
                       (lambda: [ok + b"[" * 100000], "nested too deeply"), (lambda: [ok + b"{}"], "not /api/v1/topdown"),
                       (lambda: [b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"], "HTTP status 302"),
                       (endless, "larger than 64 MiB"), (lambda: [ok + steering], "?]0;owned??[2J?31mX")):
        with Hostile(what) as server, top(url(server.port)) as screen:
            screen.wait(says)
            screen.press("q")
            assert screen.ended() == 0


if __name__ == "__main__":
    if not os.path.exists(VIEW):
        print("skipped: topdownd-top was not built (libncurses-dev, libcurl4-gnutls-dev)")
        raise SystemExit(e2e.SKIPPED)
    e2e.run_tests()
