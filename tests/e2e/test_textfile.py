# SPDX-License-Identifier: Apache-2.0
"""The page for Prometheus as a file: for hosts that may open no port, read by node_exporter's own collector."""

import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
SILENT = "listen: none\nslot: 50ms\n"
NODE_EXPORTER = "/usr/bin/prometheus-node-exporter"


def prom(folder):
    return os.path.join(folder, "topdownd.prom")


def wait_file(folder, says="topdownd_ipc{"):
    def read():
        with contextlib.suppress(FileNotFoundError):
            return says in (text := e2e.read_text(prom(folder))) and text
        return None
    return e2e.wait_for(read, f"{says} in the file")


def families(page):
    return set(re.findall(r"^# TYPE (\S+)", page, re.M))


def series(page):
    return {line.rsplit(" ", 1)[0] for line in page.splitlines() if not line.startswith("#")}


def started(stack, *options, yaml=SILENT, ready=False):
    return stack.enter_context(e2e.Daemon("--pmu", f"sim:{STEADY}", *options, yaml=yaml, ready=ready))


def sockets_of(daemon):
    """The TCP sockets that a process has open."""
    inodes = set()
    for fd in os.listdir(f"/proc/{daemon.process.pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            inodes.update(re.findall(r"^socket:\[(\d+)\]$", os.readlink(f"/proc/{daemon.process.pid}/fd/{fd}")))
    tables = [e2e.read_text(f"/proc/net/{table}").splitlines()[1:] for table in ("tcp", "tcp6")]
    return [line for lines in tables for line in lines if line.split()[9] in inodes]


def test_the_file_is_the_page_without_what_node_exporter_has_itself():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        yaml = e2e.LISTEN_ANYWHERE + f"slot: 50ms\ntextfile: {{path: '{folder}', interval: 1s}}\n"
        daemon = started(stack, yaml=yaml, ready=True)
        text = wait_file(folder)
        e2e.wait_for(lambda: "topdownd_textfile_up" in daemon.get("/metrics"), "the metric about the file")
        page = daemon.get("/metrics")
        text = wait_file(folder, "topdownd_textfile_up")
        assert {name for name in families(page) if not name.startswith("process_")} == families(text), families(page) ^ families(text)
        assert series(text) == {each for each in series(page) if not each.startswith("process_")}
        assert all(len(line.rsplit("}", 1)[-1].split()) <= 2 for line in text.splitlines() if not line.startswith("#")), "a timestamp"
        if shutil.which("promtool"):
            done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
            assert (done.returncode, done.stdout + done.stderr) == (0, ""), done
        assert stat.S_IMODE(os.stat(prom(folder)).st_mode) == 0o644
        assert os.listdir(folder) == ["topdownd.prom"] or sorted(os.listdir(folder)) == [".topdownd.prom.new", "topdownd.prom"]
        status = daemon.json("/api/v1/status")["textfile"]
        assert status == {"folder": folder, "up": 1, "reason": None, "failures_total": 0}, status
    return f"{len(series(text))} series"


def test_node_exporter_shows_it_beside_its_own():
    if not os.access(NODE_EXPORTER, os.X_OK):
        raise e2e.Skip("node_exporter is not installed (Debian package prometheus-node-exporter)")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        started(stack, "--textfile", folder)
        text = wait_file(folder)
        port = e2e.free_port()
        exporter = stack.enter_context(e2e.Program([
            NODE_EXPORTER, f"--web.listen-address=127.0.0.1:{port}", "--collector.disable-defaults", "--collector.textfile",
            f"--collector.textfile.directory={folder}"]))

        def scrape():
            with contextlib.suppress(OSError):
                answer = e2e.fetch(port, "/metrics")
                return answer if answer.status == 200 else None
            return None
        page = e2e.wait_for(scrape, "node_exporter").text()
        assert "node_textfile_scrape_error 0\n" in page and re.search(r"^process_cpu_seconds_total ", page, re.M), page[:2000]
        assert {name for name in families(text)} <= families(page), families(text) - families(page)
        assert {each.partition("{")[0] for each in series(text)} <= {each.partition("{")[0] for each in series(page)}
        assert "error" not in exporter.log(), exporter.log()


def test_no_port_is_open_and_the_file_goes_with_the_daemon():
    for options, yaml in ((("--web.listen-address", "none"), "slot: 50ms\n"), ((), SILENT)):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            with e2e.Daemon("--pmu", f"sim:{STEADY}", "--textfile", folder, *options, yaml=yaml, ready=False) as daemon:
                wait_file(folder)
                assert not sockets_of(daemon) and "look at http" not in daemon.log(), daemon.log()
                assert "nobody can read" not in daemon.log()
                daemon.process.terminate()
                assert daemon.process.wait(e2e.TIMEOUT) == 0
            assert os.listdir(folder) == []


def test_a_reader_never_sees_a_part():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        started(stack, yaml=SILENT + f"textfile: {{path: '{folder}', interval: 1s}}\n")
        whole, ends, until = families(wait_file(folder, "topdownd_textfile_up")), set(), time.monotonic() + 4
        while time.monotonic() < until:
            text = e2e.read_text(prom(folder))
            assert families(text) == whole and text.endswith("\n"), whole ^ families(text)
            ends.add(os.stat(prom(folder)).st_ino)
        assert len(ends) > 2, "it was not replaced"
    return f"{len(ends)} files"


def test_a_folder_that_is_missing_is_said_once_and_tried_again():
    with tempfile.TemporaryDirectory() as parent, contextlib.ExitStack() as stack:
        folder = os.path.join(parent, "later")
        daemon = started(stack, yaml=e2e.LISTEN_ANYWHERE + f"slot: 50ms\ntextfile: {{path: '{folder}', interval: 1s}}\n", ready=True)
        e2e.wait_for(lambda: e2e.value_of(daemon.get("/metrics"), "topdownd_textfile_failures_total", simulated="true") >= 2
                     if "topdownd_textfile_failures_total" in daemon.get("/metrics") else False, "two failures")
        status = daemon.json("/api/v1/status")["textfile"]
        assert status["up"] == 0 and "--collector.textfile.directory" in status["reason"], status
        assert daemon.log().count("cannot be written") == 1 and "the folder does not exist: make it" in daemon.log(), daemon.log()
        os.mkdir(folder)
        wait_file(folder, "topdownd_textfile_up{simulated=\"true\"} 1\n")
        assert daemon.log().count("can be written again") == 1 and "topdownd_textfile_failures_total" in e2e.read_text(prom(folder))


def test_what_lies_beside_the_file_is_replaced_and_no_link_is_followed():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        secret = e2e.write_text(os.path.join(folder, "secret"), "mine")
        os.symlink(secret, os.path.join(folder, ".topdownd.prom.new"))
        os.symlink(secret, prom(folder))
        started(stack, "--textfile", folder)
        wait_file(folder)
        assert e2e.read_text(secret) == "mine" and not os.path.islink(prom(folder))


def test_a_reload_takes_another_folder_and_ends_the_file_in_the_first():
    with tempfile.TemporaryDirectory() as parent, contextlib.ExitStack() as stack:
        folders = [os.path.join(parent, name) for name in "ab"]
        for folder in folders:
            os.mkdir(folder)
        daemon = started(stack, yaml=SILENT + f"textfile: {{path: {folders[0]}}}\n")
        wait_file(folders[0])
        e2e.write_text(daemon.config, SILENT + f"textfile: {{path: {folders[1]}, interval: 1s}}\n")
        daemon.process.send_signal(1)
        wait_file(folders[1])
        e2e.wait_for(lambda: os.listdir(folders[0]) == [], "the end of the first file")
        e2e.write_text(daemon.config, e2e.LISTEN_ANYWHERE + "slot: 50ms\n")
        daemon.process.send_signal(1)
        e2e.wait_for(lambda: os.listdir(folders[1]) == [], "the end of the second file")
        daemon.port = e2e.wait_for(daemon.find_port, "the address")
        e2e.wait_for(lambda: "textfile" not in daemon.json("/api/v1/status"), "a status without a file")
        assert "textfile" not in daemon.get("/metrics")


def test_a_hybrid_host_has_one_file_and_a_replay_leaves_the_hosts_file_alone():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        recording = os.path.join(folder, "recording")
        daemon = stack.enter_context(e2e.Daemon("--pmu", "sim:hybrid", "--textfile", folder, yaml=SILENT, ready=False))
        assert set(re.findall(r'core_type="([^"]+)"', wait_file(folder))) == {"c1-ultra", "c1-pro", "c1-nano"}
        assert not daemon.ended()
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", recording, yaml=e2e.LISTEN_ANYWHERE + "slot: 50ms\n") as recorder:
            recorder.wait_round(2)
        with tempfile.TemporaryDirectory() as other:
            yaml = e2e.LISTEN_ANYWHERE + f"textfile: {{path: {other}}}\n"
            with e2e.Daemon("--pmu", f"replay:{recording}", "--speed", "0", yaml=yaml) as replay:
                replay.wait_round(1)
                assert os.listdir(other) == [] and "textfile" not in replay.json("/api/v1/status")


def test_check_config_says_where_it_writes_and_what_is_in_the_way():
    def said(yaml):
        with tempfile.TemporaryDirectory() as folder:
            config = e2e.write_text(os.path.join(folder, "topdownd.yaml"), yaml)
            done = subprocess.run([BINARY, "check-config", "--pmu", f"sim:{STEADY}", "--config", config, "--path.data", ROOT],
                                  capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
            assert done.returncode == 0, done
            return done.stdout
    with tempfile.TemporaryDirectory() as folder:
        text = said(f"textfile: {{path: {folder}}}\n")
        assert f"writing {folder}/topdownd.prom every 10 s" in text and "warning" not in text, text
    assert "topdownd.yaml:1: /nonexistent: the folder does not exist" in said("textfile: {path: /nonexistent, interval: 15s}\n")


def test_a_daemon_that_nobody_can_read_says_so():
    with contextlib.ExitStack() as stack:
        daemon = started(stack)
        e2e.wait_for(lambda: "nobody can read what is measured" in daemon.log(), "the warning")
        assert json.dumps(daemon.log()).count("nobody can read") == 1


if __name__ == "__main__":
    e2e.run_tests()
