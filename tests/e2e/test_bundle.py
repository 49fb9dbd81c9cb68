# SPDX-License-Identifier: Apache-2.0
"""`topdownd doctor --bundle`: what a bug report needs is in it, and nothing that is secret, under any name."""

import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import tarfile
import tempfile

import e2e
import test_hosts

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
BOXES = os.path.join(ROOT, "tests/data/scenarios/boxes.json")  # the same, with PMUs outside the cores
HASH = "$2y$10$" + "Qp7vYz3kLm9sXw2bNc5dReTfGhJkLpOiUyTrEwQaZxCvBnMqWsEd2"
SECRETS = {"host": "db-secret-17", "domain": "db-secret-17.corp.example", "home": "alice-secret", "certificate": "secret-server.crt",
           "key": "secret-server.key", "user": "scrape-secret", "hash": HASH[8:], "address": "10.11.12.13", "address6": "2001:db8::17",
           "comment": "the-secret-comment", "pattern": "web-{secret", "header": "secret-policy-of-headers"}
WEB = """tls_server_config: {cert_file: /home/alice-secret/secret-server.crt, key_file: /etc/ssl/secret-server.key}
basic_auth_users: {scrape-secret: '%s'}
http_server_config: {headers: {Content-Security-Policy: secret-policy-of-headers}}
""" % HASH
YAML = """listen: ["127.0.0.1:0"]  # the-secret-comment of 10.11.12.13 and 2001:db8::17
slot: 20ms
record: {path: /home/alice-secret/recording}
hosts:
  - {match: {hostname: "web-{secret,secret}-*"}, profile: default}
  - {match: {"hostname": "secret-one-*"}, profile: default}
  - match: {hostname : secret-two-?}
    profile: default
  - match:
      hostname:
        secret-three-*
    profile: default
"""


def bundle(folder, *options, status=0, environment=None):
    path = os.path.join(folder, "bundle.tar.gz")
    done = subprocess.run([BINARY, "doctor", "--bundle", path, "--path.data", ROOT, "--path.run", folder, *options],
                          capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False, env=os.environ | (environment or {}))
    assert done.returncode == status, done
    return path, done


def files_of(path):
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        assert all(member.isreg() and member.mode == 0o600 and member.name.startswith("topdownd-bundle/") for member in members)
        return {member.name.split("/", 1)[1]: archive.extractfile(member).read() for member in members}


def configured(folder):
    return ("--config", e2e.write_text(os.path.join(folder, "topdownd.yaml"), YAML),
            "--web.config.file", e2e.write_text(os.path.join(folder, "web.yml"), WEB))


def test_planted_secrets_are_found_nowhere():
    with tempfile.TemporaryDirectory() as folder:
        path, done = bundle(folder, "--pmu", f"sim:{BOXES}", *configured(folder), "--hostname", SECRETS["domain"],
                            environment={"USER": "alice-secret", "HOME": "/srv/alice-secret"})
        files = files_of(path)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        for name, content in files.items():
            for kind, secret in SECRETS.items():
                assert secret.encode() not in content, f"{kind} is in {name}"
            assert b"secret" not in content, f"something secret is in {name}"
        own = os.uname().nodename
        if len(own) > 3 and own not in ("localhost", "topdownd"):
            assert not any(re.search(rb"\b" + re.escape(own.encode()) + rb"\b", content) for content in files.values())
        assert re.search(rb"^users with a password: 1, not shown$", files["configuration/web.txt"], re.M), files["configuration/web.txt"]
        assert b"slot: 20ms" in files["configuration/1.yaml"] and b"match: {hostname: HOST}, profile: default" in files["configuration/1.yaml"]
        assert "Look at what is in it before you send it" in done.stdout and path in done.stdout, done
        return f"{len(files)} files, {os.path.getsize(path) >> 10} KiB"


def test_the_manifest_lists_every_file_and_what_is_missing():
    with tempfile.TemporaryDirectory() as folder:
        path, done = bundle(folder, "--pmu", f"sim:{STEADY}", *configured(folder))
        files = files_of(path)
        manifest = files.pop("MANIFEST.txt").decode()
        listed = dict(re.findall(r"^(\S+\.\w+|recording/recording|\S+)  +(?:[\d.]+ (?:bytes|KiB|MiB)|missing)  (.+)$", manifest, re.M))
        missing = set(re.findall(r"^(\S+) +missing ", manifest, re.M))
        assert set(listed) == set(files) | missing and not missing & set(files), (listed, files.keys())
        assert manifest in done.stdout
        assert missing == {f"daemon/{page}" for page in ("status.json", "plan.json", "snapshot.json", "topdown.json", "catalog.json", "memory.json", "metrics.txt")}
        assert json.loads(files["doctor.json"])["findings"] and json.loads(files["explain.json"]), files
        assert b"neoverse-v2" in files["list-cpus.txt"] and b"PROFILE" not in files["version.txt"], files
        assert b"kernel: Linux" in files["host/kernel.txt"] and b"CapEff" in files["host/kernel.txt"], files["host/kernel.txt"]


def test_the_recording_is_replayed():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = bundle(folder, "--pmu", f"sim:{BOXES}", "--config", e2e.write_text(os.path.join(folder, "a.yaml"), "slot: 20ms\n"))
        recording = os.path.join(folder, "recording")
        with open(recording, "wb") as file:
            file.write(files_of(path)["recording/recording"])
        with e2e.Daemon("--pmu", f"replay:{recording}", "--speed", "0") as daemon:
            status = e2e.wait_for(lambda: (s := daemon.json("/api/v1/status"))["replay"] and s, "the replay")
            assert status["hostname"] == "HOST", status
            assert e2e.wait_for(lambda: daemon.json("/api/v1/topdown")["scopes"], "its values")
            assert [kind["pmu"] for kind in daemon.json("/api/v1/uncore")["kinds"]] == ["imc", "df"]
            daemon.stop()


def test_a_host_of_its_own_files_has_its_facts_and_no_serial_number():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as host:
        test_hosts.x86_host(host, "GenuineIntel-6-8F-4")
        cpuinfo = e2e.read_text(os.path.join(host, "cpuinfo"))
        test_hosts.write_all(host, {"cpuinfo": cpuinfo + "\n" + cpuinfo.replace("processor\t: 0", "processor\t: 1") + "\nSerial\t\t: 0123456789\n",
                                    "sys/kernel/perf_event_paranoid": "2",
                                    "cmdline": "root=UUID=0a1b-2c3d isolcpus=2-3 ip=10.9.8.7 nmi_watchdog=0\n"})
        path, _ = bundle(folder, "--path.sysfs", host, "--path.procfs", host)
        files = files_of(path)
    assert files["host/cpuinfo.txt"].count(b"vendor_id") == 1 and b"0123456789" not in files["host/cpuinfo.txt"], files["host/cpuinfo.txt"]
    assert b"cmdline: isolcpus=2-3 nmi_watchdog=0\n" in files["host/kernel.txt"], files["host/kernel.txt"]
    assert b"sys/kernel/perf_event_paranoid: 2\n" in files["host/kernel.txt"], files["host/kernel.txt"]
    assert b"bus/event_source/devices/cpu/format/event: " in files["host/sysfs.txt"], files["host/sysfs.txt"]


def test_nothing_is_written_over_without_force():
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "bundle.tar.gz"), "mine\n")
        _, done = bundle(folder, "--pmu", f"sim:{STEADY}", status=2)
        assert e2e.read_text(path) == "mine\n" and "--force" in done.stderr, done
        bundle(folder, "--pmu", f"sim:{STEADY}", "--force")
        assert "MANIFEST.txt" in files_of(path) and stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert os.listdir(folder) == ["bundle.tar.gz"], os.listdir(folder)


def test_ended_early_it_leaves_nothing_behind():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(folder, "bundle.tar.gz")
        command = [BINARY, "doctor", "--bundle", path, "--path.data", ROOT, "--path.run", folder, "--pmu", f"sim:{STEADY}"]
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
        process = subprocess.Popen(command, env=os.environ | {"TMPDIR": temporary}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        signal.signal(signal.SIGINT, before)
        try:
            e2e.wait_for(lambda: any("recording" in files for _, _, files in os.walk(temporary)), "its own recording")
            process.send_signal(signal.SIGINT)
            assert process.wait(e2e.TIMEOUT) == -signal.SIGINT, process.returncode
        finally:
            process.kill()
        assert os.listdir(temporary) == [] and not os.path.exists(path), os.listdir(temporary)


def test_a_running_daemons_pages_are_in_it():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder) as daemon:
        config = e2e.write_text(os.path.join(folder, "a.yaml"), f'listen: ["127.0.0.1:{daemon.port}"]\n')
        path, _ = bundle(folder, "--pmu", f"sim:{STEADY}", "--config", config)
        files = files_of(path)
    assert json.loads(files["daemon/status.json"])["version"] and json.loads(files["daemon/plan.json"])
    assert b"topdownd_build_info{" in files["daemon/metrics.txt"], files["daemon/metrics.txt"][:500]


def test_pages_behind_a_password_are_missed_and_said():
    hashed = subprocess.run(["htpasswd", "-nbBC", "4", "prometheus", "word"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        user, word = hashed.split(":", 1)
        web = e2e.write_text(os.path.join(folder, "web.yml"), f"basic_auth_users: {{{user}: '{word}'}}\n")
        with contextlib.ExitStack() as stack:
            daemon = stack.enter_context(e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder, "--web.config.file", web))
            config = e2e.write_text(os.path.join(folder, "a.yaml"), f'listen: ["127.0.0.1:{daemon.port}"]\n')
            path, done = bundle(folder, "--pmu", f"sim:{STEADY}", "--config", config)
        files = files_of(path)
    assert "the server asks for a password" in done.stdout and "daemon/status.json" not in files, done
    assert b"users with a password: 1" in files["configuration/web.txt"], "found by the daemon's command line"
    assert not any(word.encode() in content for content in files.values())


if __name__ == "__main__":
    e2e.run_tests()
