# SPDX-License-Identifier: Apache-2.0
"""The daemon as its surroundings see it: signals, exit statuses, mistakes, systemd's protocol, HTTP, a long stop."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\n"
ENDS_WITHIN_SECONDS = 1.0


def end_daemon(number):
    """How long the daemon waits before it ends, with a client that has asked half a question and one that stays connected."""
    with e2e.Daemon("--pmu", "sim", yaml=YAML) as daemon, contextlib.ExitStack() as stack:
        daemon.wait_round(1)
        for words in (b"GET /metrics HTTP/1.1\r\nHost:", b"GET /metrics/cpu HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", daemon.port), e2e.TIMEOUT))
            client.sendall(words)
        seconds = daemon.stop(number)
        assert "ending" in daemon.log()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", daemon.port), 1):
            raise AssertionError("somebody still listens")
        return seconds


def ends_in_time(number):
    return f"{e2e.shortest(lambda: end_daemon(number), ENDS_WITHIN_SECONDS) * 1000:.0f} ms asleep"


def test_sigterm_ends_it_within_a_second_with_status_0():
    return ends_in_time(signal.SIGTERM)


def test_sigint_ends_it_within_a_second_with_status_0():
    return ends_in_time(signal.SIGINT)


IGNORED = ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGIO", "SIGPWR", "SIGSTKFLT", "SIGRTMIN", "SIGRTMAX"]


def test_signals_without_a_meaning_are_logged_and_change_nothing():
    with e2e.Daemon("--pmu", "sim", yaml=YAML) as daemon:
        for name in IGNORED:
            number = getattr(signal, name)
            before = daemon.log().count("ignored")
            daemon.process.send_signal(number)
            e2e.wait_for(lambda: daemon.ended() or daemon.log().count("ignored") > before, f"the line on {name}")
            assert not daemon.ended(), (name, daemon.process.returncode, daemon.log())
        assert "User defined signal 1: ignored" in daemon.log(), daemon.log()
        daemon.wait_round(daemon.sequence() + 1)
        assert daemon.stop() >= 0
    return daemon.process.returncode


def test_sigquit_and_the_limit_of_cpu_time_end_it_with_a_failure_that_is_logged():
    for number in (signal.SIGQUIT, signal.SIGXCPU):
        with e2e.Daemon("--pmu", "sim", yaml=YAML) as daemon:
            daemon.process.send_signal(number)
            assert daemon.wait() == 1, (number, daemon.process.returncode, daemon.log())
            assert re.search(f"ending with a failure: {signal.strsignal(number)}", daemon.log()), daemon.log()


# ---- nothing starts ----

def refused(*options, says, **settings):
    """The daemon must end with status 2 and say all of this."""
    status, log = e2e.run_daemon(*options, **settings)
    assert status == 2, (status, log)
    assert "look at" not in log, log
    for words in [says] if isinstance(says, str) else says:
        assert re.search(words, log), f"{words!r} is not in:\n{log}"
    return log.strip().splitlines()[-1]


def taken_port(stack):
    """A port on which this test listens."""
    listener = stack.enter_context(socket.socket())
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener.getsockname()[1]


def test_mistakes_in_the_configuration_are_shown_at_once_and_nothing_listens():
    with contextlib.ExitStack() as stack:
        # The port is taken: whoever tried to listen would say so.
        yaml = (f'listen: ["127.0.0.1:{taken_port(stack)}"]\n'
                "slott: 200ms\n"
                "idle: 95%\n"
                "profiles:\n  default: {groups: [Mpkj]}\n  other: {groups: [Generel]}\n"
                "hosts:\n  - {match: {cpu: \"*\"}, profile: nobody}\n")
        status, log = e2e.run_daemon("--pmu", "sim", yaml=yaml)
    assert status == 2, log
    assert re.search(r"topdownd\.yaml:2:1: .*slott.*slot", log), log
    assert re.search(r"topdownd\.yaml:3:7: idle.*90", log), log
    assert "taken" not in log and "look at" not in log, log
    assert re.search(r"topdownd\.yaml:5:22: .*Mpkj.*MPKI", log), log
    assert re.search(r"topdownd\.yaml:6:20: .*Generel.*General", log), log
    assert re.search(r"topdownd\.yaml:8:34: .*nobody", log), log
    assert log.count("topdownd.yaml:") == 5, log
    return f"{log.count('topdownd.yaml:')} mistakes with file, line and column"


def test_a_metric_group_that_no_spec_has_is_refused_with_a_suggestion():
    return refused("--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + "profiles:\n  default: {groups: [stage_1, MPKJ]}\n",
                   says=r"topdownd\.yaml:3:\d+: .*MPKJ.*MPKI")


def test_cpus_that_the_host_does_not_have_are_refused_with_their_place():
    yaml = e2e.LISTEN_ANYWHERE + "profile: few\nprofiles:\n  few: {groups: [MPKI],\n        cpus: 777}\n"
    refused("--pmu", "sim", yaml=yaml, says=r"topdownd\.yaml:5:15: .*`cpus`")
    with tempfile.TemporaryDirectory() as folder:
        arm_sysfs(folder, ("0x00000000413fd0c1",))
        return refused("check-config", "--path.sysfs", folder, yaml=yaml, says=r"topdownd\.yaml:5:15: .*`cpus`")


def test_a_round_that_is_too_long_for_usual_windows_is_warned_of():
    for yaml, minutes in (("slot: 60s\nidle: 90%\n", 80), ("slot: 5s\n", None)):
        status, log = e2e.run_daemon("check-config", "--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + yaml)
        assert status == 0 and ("topdownd.yaml:2: a round takes" in log) == bool(minutes), log
        if minutes:
            assert f"a round takes {minutes * 60} s" in log and f"{4 * minutes} min" in log, log
    with e2e.Daemon("--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + "slot: 60s\nidle: 90%\n") as daemon:
        assert "topdownd.yaml:2: profile default: a round takes 4800 s" in daemon.log(), daemon.log()


def test_a_round_of_days_is_refused():
    listed = subprocess.run([BINARY, "list", "groups", "--cpu", "sapphire-rapids", "--path.data", ROOT, "--json"],
                            capture_output=True, text=True, check=True, timeout=e2e.TIMEOUT)
    names = ", ".join(group["group"] if "group" in group else group["name"] for group in json.loads(listed.stdout))
    scenario = json.loads(e2e.read_text(STEADY)) | {"spec": "sapphire-rapids", "general_counters": 2}
    yaml = e2e.LISTEN_ANYWHERE + f"slot: 60s\nidle: 90%\nprofile: all\nprofiles: {{all: {{groups: [{names}]}}}}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "two.json"), json.dumps(scenario))
        for command in ("run", "check-config"):
            said = refused(command, "--pmu", f"sim:{path}", yaml=yaml,
                           says=r"profile all: a round takes \d+ hours: make slot or idle smaller")
    return said


def test_check_config_refuses_a_recording_that_cannot_be():
    with tempfile.TemporaryDirectory() as folder:
        notes = e2e.write_text(os.path.join(folder, "notes"), "not a recording\n")
        for path, words in ((folder, "there is a folder here"), (notes, "not a recording"), (notes + "/x", "Not a directory"),
                            ("/" + "x" * 300, "too long")):
            refused("check-config", "--pmu", "sim", "--record", path, says=words)
        status, log = e2e.run_daemon("check-config", "--pmu", "sim", "--record", folder + "/none/x")
        assert status == 0 and "warning: " in log, log  # the unit may make the folder


def test_a_size_without_a_recording_is_refused():
    for command in ("run", "check-config"):
        refused(command, "--pmu", "sim", "--record.size", "1M", says="--record.size without a recording: name its file")
    with tempfile.TemporaryDirectory() as folder:
        yaml = f"record: {{path: {folder}/x}}\n"
        status, log = e2e.run_daemon("check-config", "--pmu", "sim", "--record.size", "1M", yaml=yaml)
        assert status == 0 and "1 MiB at most" in log, log


def test_check_config_refuses_ipv4_addresses_that_are_written_as_ipv6():
    return refused("check-config", "--pmu", "sim", yaml='listen: ["[::ffff:127.0.0.1]:0"]\n', says="IPv4 address written as IPv6")


def test_who_measures_nothing_says_nothing_of_the_pmu():
    yaml = YAML + "profile: off\nprofiles: {off: {groups: []}}\n"
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=yaml) as daemon:
        daemon.wait_round(2)
        page, status = daemon.get("/metrics"), daemon.json("/api/v1/status")
        assert "measuring nothing" in daemon.log(), daemon.log()
    assert "topdownd_pmu_up{" not in page and "topdownd_pmu_error{" not in page, page
    assert status["pmu"]["up"] is None, status["pmu"]
    assert e2e.value_of(page, "topdownd_last_snapshot_timestamp_seconds") > 0


def test_broken_yaml_is_refused_with_its_place():
    return refused("--pmu", "sim", yaml='listen: ["127.0.0.1:0"\nslot: 1s\n', says=r"topdownd\.yaml:\d+:\d+: ")


def test_a_missing_configuration_is_refused():
    return refused("--pmu", "sim", "--config", "/nonexistent/topdownd.yaml", says=r"/nonexistent/topdownd\.yaml: .*No such file")


def test_files_in_conf_d_are_merged_in_order():
    drop_ins = {"20-b.yaml": "slot: 60ms\n", "10-a.yaml": "slot: 70ms\nidle: 20%\n",
                "30-c.yaml": "profile: few\nprofiles: {few: {groups: [General]}}\n"}
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML, drop_ins=drop_ins) as daemon:
        plan = daemon.json("/api/v1/plan")
        assert plan["slot_seconds"] == 0.06, plan
        assert abs(plan["idle_seconds"] / plan["round_seconds"] - 0.2) < 1e-6, plan
        assert [m for group in plan["event_groups"] for m in group["metrics"]] == ["ipc"], plan
        assert daemon.json("/api/v1/status")["config"]["profile"] == "few"
    return refused("--pmu", "sim", yaml=YAML, drop_ins={"10-a.yaml": "slot: soon\n"}, says=r"conf\.d/10-a\.yaml:1:7: .*slot")


def test_a_missing_scenario_is_refused():
    return refused("--pmu", "sim:/nonexistent/missing.json", says="/nonexistent/missing.json")


def test_a_broken_scenario_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "broken.json"),
                              e2e.read_text(STEADY).replace('"CPU_CYCLES"', '"CPU_BICYCLES"'))
        return refused("--pmu", f"sim:{path}", says="CPU_BICYCLES")


def test_a_spec_that_names_an_unknown_event_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("specs", "scenarios"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(folder, name))
        family = os.path.join(folder, "specs/families/arm.json")
        text = e2e.read_text(family)
        broken = text.replace('"formula": "INST_RETIRED / CPU_CYCLES"', '"formula": "INST_RETIRED / CPU_BICYCLES"')
        assert broken != text
        e2e.write_text(family, broken)
        return refused("--pmu", "sim", data=folder, says=r"families/arm\.json: metrics\.ipc.*CPU_BICYCLES.*\(as read for neoverse-v2\.json\)")


def test_a_spec_without_its_family_is_refused_and_others_are_not_concerned():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("specs", "scenarios"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(folder, name))
        os.remove(os.path.join(folder, "specs/families/arm.json"))
        status, said = e2e.run_daemon("check-config", "--pmu", "sim:zen5", data=folder)
        assert status == 0 and "spec zen5" in said, said
        return refused("--pmu", "sim", data=folder, says=r"families/arm\.json: cannot be opened: No such file")


def test_a_folder_without_specs_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        return refused("--pmu", "sim", data=folder, says="no readable folder specs")


def test_an_unreadable_sysfs_is_refused():
    return refused("--pmu", "linux", "--path.sysfs", "/nonexistent", says=r"/nonexistent/.*(sysfs|mount)")


def arm_sysfs(folder, midrs):
    """A made-up Arm host: a PMU, and a CPU for each MIDR_EL1."""
    files = {"devices/system/cpu/online": f"0-{len(midrs) - 1}", "bus/event_source/devices/armv8_pmuv3_0/type": "8"}
    for cpu, midr in enumerate(midrs):
        files[f"devices/system/cpu/cpu{cpu}/regs/identification/midr_el1"] = midr
        files[f"devices/system/cpu/cpu{cpu}/topology/core_cpus_list"] = str(cpu)
        files[f"devices/system/cpu/cpu{cpu}/topology/physical_package_id"] = "0"
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        e2e.write_text(os.path.join(folder, name), text + "\n")


def test_cpus_are_measured_by_their_own_spec_or_not_at_all():
    n1, v1, unknown = "0x00000000413fd0c1", "0x00000000411fd401", "0x00000000410fd000"
    for midrs, spec, cpus in (((n1,) * 4, "neoverse-n1", 4), ((v1, v1, n1), "neoverse-v1", 2),
                              ((unknown, unknown), "armv8-pmuv3", 2), ((n1, unknown), "neoverse-n1", 1)):
        with tempfile.TemporaryDirectory() as folder:
            arm_sysfs(folder, midrs)
            status, log = e2e.run_daemon("check-config", "--path.sysfs", folder, yaml=e2e.LISTEN_ANYWHERE)
        assert status == 0, log
        assert f"spec {spec}: {cpus} CPU" in log, (midrs, log)
    return "cores of two kinds share no spec"


def test_a_limit_of_files_is_not_taken_for_one_of_memory():
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        config = e2e.write_text(os.path.join(folder, "c.yaml"), e2e.LISTEN_ANYWHERE)
        for limit in range(5, 20):
            command = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", BINARY, "--pmu", "sim", "--config", config, "--path.data", ROOT]
            with e2e.Program(command) as daemon:
                e2e.wait_for(lambda: daemon.ended() or "look at" in daemon.log(), "its start or end")
                assert "memory" not in daemon.log(), (limit, daemon.log())
                if not daemon.ended():
                    break
                assert daemon.wait() == 1 and "raise LimitNOFILE" in daemon.log(), (limit, daemon.log())
                seen.add(daemon.log().strip().splitlines()[-1])
    assert any("Too many open files" in line for line in seen), seen


def test_too_few_files_while_a_host_is_looked_at_are_no_mistake_of_a_file():
    """Status 1: systemd starts it again. What could not be opened follows from the limit: the configuration, a spec or the kinds of PMUs."""
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        arm_sysfs(folder, ["0x00000000413fd0c1"] * 2)
        os.makedirs(os.path.join(folder, "bus/event_source/devices/software"))
        e2e.write_text(os.path.join(folder, "bus/event_source/devices/software/type"), "1\n")
        config = e2e.write_text(os.path.join(folder, "c.yaml"), e2e.LISTEN_ANYWHERE)
        for limit in range(5, 11):
            command = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", BINARY, "--pmu", "linux", "--config", config, "--path.data", ROOT,
                       "--path.sysfs", folder]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=e2e.TIMEOUT)
            assert ended.returncode == 1 and "raise LimitNOFILE" in ended.stderr, (limit, ended)
            seen.update(part for part in ("c.yaml", "neoverse-n1.json", "kinds.json") if f"{part}: cannot be" in ended.stderr)
    assert len(seen) > 1, seen


def test_unknown_words_on_the_command_line_are_refused():
    refused("--pmux", "sim", says="--pmux")
    refused("--pmu", "simm", says="simm.*sim")
    return refused("rum", says="rum.*run")


def test_check_config_says_what_this_host_gets_and_starts_nothing():
    with contextlib.ExitStack() as stack:
        yaml = f'listen: ["127.0.0.1:{taken_port(stack)}"]\n'
        status, log = e2e.run_daemon("check-config", "--pmu", f"sim:{STEADY}", yaml=yaml)
    assert status == 0, log
    assert "topdownd.yaml: no mistakes" in log and "8 CPUs on 2 sockets" in log and "profile default" in log, log
    files, size, unit = re.search(r"needs (\d+) file descriptors.* about ([\d.]+) ([KM]iB) of the kernel's memory", log).groups()
    size_bytes = float(size) * {"KiB": 2**10, "MiB": 2**20}[unit]
    assert int(files) % 8 == 0 and float(size) >= 1 and abs(size_bytes / (int(files) * 2048) - 1) < 0.001, log
    return log.strip().splitlines()[-1]


# ---- systemd ----

WATCHDOG_SECONDS = 2
ROUNDS_WATCHED = 4


def notified_daemon(stack, notifications, yaml):
    return stack.enter_context(e2e.Daemon(
        "--pmu", f"sim:{STEADY}", yaml=yaml, ready=False,
        environment={"NOTIFY_SOCKET": notifications.path, "WATCHDOG_USEC": str(WATCHDOG_SECONDS * 1000000)}))


def test_systemd_hears_that_it_is_ready_alive_and_stopping():
    with contextlib.ExitStack() as stack:
        notifications = e2e.Notifications(stack)
        daemon = notified_daemon(stack, notifications, YAML)
        notifications.wait("READY=1")
        assert not [line for line in notifications.received if line.startswith("STOPPING")], notifications.received
        daemon.port = daemon.find_port()  # who is told READY=1 may come at once
        assert e2e.fetch(daemon.port, "/-/healthy").status == 200
        status = notifications.wait("STATUS=")
        assert "SIMULATED" in status and "snapshot 1 on 8 CPUs" in status and "retiring 34 %" in status, status
        # By the daemon's own account: so many rounds of 1.1 s take several of the watchdog's periods.
        signs, first = notifications.signs_of_life(), daemon.json("/api/v1/snapshot")
        while (last := daemon.json("/api/v1/snapshot"))["sequence"] < first["sequence"] + ROUNDS_WATCHED:
            notifications.wait("WATCHDOG=1")
        signs = notifications.signs_of_life() - signs
        seconds = (last["round"]["end_ns"] - first["round"]["end_ns"]) * 1e-9
        assert signs >= seconds / WATCHDOG_SECONDS, (signs, seconds)
        daemon.process.send_signal(signal.SIGTERM)
        notifications.wait("STOPPING=1")
        assert daemon.wait() == 0
    return f"{status}; {signs} signs of life in {seconds:.1f} s, at least each {WATCHDOG_SECONDS} s one is asked for"


def test_the_watchdog_is_fed_in_time_also_where_slots_are_long():
    with contextlib.ExitStack() as stack:
        notifications = e2e.Notifications(stack)
        daemon = notified_daemon(stack, notifications, e2e.LISTEN_ANYWHERE + f"slot: {3 * WATCHDOG_SECONDS}s\n")
        notifications.wait("READY=1")
        asleep, signs = e2e.Asleep(daemon.process.pid), notifications.signs_of_life()
        for _ in range(3):
            notifications.wait("WATCHDOG=1")
        signs = notifications.signs_of_life() - signs
        assert asleep.seconds() < signs * WATCHDOG_SECONDS, f"{signs} signs of life in {asleep.seconds():.1f} s asleep"
        assert not [line for line in notifications.received if "snapshot 1 " in line], notifications.received


def test_a_watchdog_that_is_meant_for_another_process_is_not_fed():
    with contextlib.ExitStack() as stack:
        notifications = e2e.Notifications(stack)
        daemon = stack.enter_context(e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML, environment={
            "NOTIFY_SOCKET": notifications.path, "WATCHDOG_USEC": "200000", "WATCHDOG_PID": "1"}))
        daemon.wait_round(2)
        daemon.stop()
        notifications.wait("STOPPING=1")
        assert "WATCHDOG=1" not in notifications.received, notifications.received


def many_cpus(stack):
    """A scenario of 1,024 CPUs: to find out how many counters can be had takes most of a second there, or more."""
    scenario = json.loads(e2e.read_text(STEADY))
    scenario.update(sockets=8, cores_per_socket=64, threads_per_core=2)
    return e2e.write_text(os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "many.json"), json.dumps(scenario))


def test_while_counters_are_looked_for_it_shows_that_it_lives_and_can_be_ended():
    with contextlib.ExitStack() as stack:
        notifications = e2e.Notifications(stack)
        daemon = stack.enter_context(e2e.Daemon(
            "--pmu", f"sim:{many_cpus(stack)}", yaml=YAML, ready=False,
            environment={"NOTIFY_SOCKET": notifications.path, "WATCHDOG_USEC": "40000"}))
        for _ in range(3):
            notifications.wait("WATCHDOG=1")
        daemon.process.send_signal(signal.SIGTERM)
        notifications.wait("STOPPING=1")
        assert daemon.wait() == 0
        assert "READY=1" not in notifications.received, notifications.received
        assert "ending" in daemon.log() and "look at" not in daemon.log(), daemon.log()
    return f"{notifications.received.count('WATCHDOG=1')} signs of life before it was ready"


# ---- HTTP ----

def test_it_is_healthy_at_once_and_ready_after_the_first_round():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=e2e.LISTEN_ANYWHERE + "slot: 500ms\n") as daemon:
        assert e2e.fetch(daemon.port, "/-/healthy").status == 200
        before = e2e.fetch(daemon.port, "/-/ready")
        assert before.status == 503 and "first round" in before.text(), before.text()
        page = daemon.get("/metrics")
        assert not [s for s in e2e.samples(page) if s[0] == "topdownd_ipc"], "a gauge before anything was measured"
        assert e2e.value_of(page, "topdownd_covered_cpu_seconds_total") == 0
        daemon.wait_round(1)
        assert e2e.fetch(daemon.port, "/-/ready").status == 200
        assert abs(e2e.value_of(daemon.get("/metrics"), "topdownd_ipc", socket="0") - 1.5) < 1e-6


def test_every_page_answers_get_and_head_and_nothing_else():
    pages = {"/": "text/html", "/plain": "text/html", "/ui/main.js": "text/javascript", "/metrics": "text/plain; version=0.0.4", "/metrics/cpu": "text/plain; version=0.0.4",
             "/api/v1/plan": "application/json", "/api/v1/status": "application/json",
             "/api/v1/snapshot": "application/json", "/api/v1/snapshot?scope=socket": "application/json",
             "/api/v1/snapshot?scope=cpu": "application/json"}
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        daemon.wait_round(1)
        for path, kind in pages.items():
            get, head = e2e.fetch(daemon.port, path), e2e.fetch(daemon.port, path, "HEAD")
            assert (get.status, head.status, head.body) == (200, 200, b""), path
            assert get.headers["Content-Type"].startswith(kind) and head.headers["Content-Type"].startswith(kind), path
            for method in ("POST", "PUT", "DELETE", "OPTIONS"):
                answer = e2e.fetch(daemon.port, path, method)
                assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD"), (method, path, answer.status)
        for path in ("/metric", "/metrics/", "/api/v1/snapshots", "/../etc/passwd", "//metrics"):
            assert e2e.fetch(daemon.port, path).status == 404, path
        assert e2e.fetch(daemon.port, "/api/v1/snapshot?scope=rack").status == 400
        assert b"simulated" in e2e.fetch(daemon.port, "/plain").body.lower()
    return f"{len(pages)} pages"


def test_json_says_the_same_as_metrics():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        daemon.wait_round(1)
        host = daemon.json("/api/v1/snapshot")
        sockets, cpus = daemon.json("/api/v1/snapshot?scope=socket"), daemon.json("/api/v1/snapshot?scope=cpu")
        assert (len(host["scopes"]), len(sockets["scopes"]), len(cpus["scopes"])) == (1, 2, 8)
        assert host["simulated"] is True and abs(host["scopes"][0]["metrics"]["ipc"]["value"] - 1.5) < 1e-6
        assert [c["cpu"] for c in cpus["scopes"]] == list(range(8))
        for scope in host["scopes"] + sockets["scopes"] + cpus["scopes"]:
            level1 = scope["level1"]
            parts = sum(c["pipeline_slots_total"] for c in level1["categories"].values())
            assert abs(parts - level1["pipeline_slots_total"]) <= 1e-9 * level1["pipeline_slots_total"], scope
        status = daemon.json("/api/v1/status")
        assert status["cpu"]["spec"] == "neoverse-v2" and status["snapshot"]["sequence"] >= 1, status


def check_interval(metric, where):
    """Whether a metric of JSON has an interval; if so, it is one."""
    assert metric["quality"] in ("good", "fair", "poor", "none"), where
    if metric["value"] is not None:
        assert metric["windows"] >= 1 and 0 < metric["share_of_time"] <= 1, where
    if metric["quality"] == "none":
        assert metric["low"] is None and metric["high"] is None, where
        return False
    assert metric["low"] <= metric["value"] <= metric["high"], where
    return True


def all_nodes(nodes):
    for node in nodes:
        yield node
        yield from all_nodes(node["children"])


def test_every_metric_of_the_demo_has_an_interval_around_its_value():
    yaml = 'listen: ["127.0.0.1:0"]\nslot: 50ms\nstandard_error: true\n'
    n = 0
    with e2e.Daemon("--pmu", "sim", yaml=yaml) as daemon:
        daemon.wait_round(3)
        # a machine that is too busy leaves gaps, and rounds beside one are not compared
        for scope in ("host", "socket", "cpu"):
            def intervals():
                scopes = daemon.json(f"/api/v1/snapshot?scope={scope}")["scopes"]
                found = [sum(check_interval(m, (scope, name)) for name, m in each["metrics"].items()) for each in scopes]
                return min(found) >= 20 and sum(found)
            n += e2e.wait_for(intervals, f"intervals of each {scope}")

            def nodes():
                scopes = daemon.json(f"/api/v1/topdown?scope={scope}")["scopes"]
                return all(any([check_interval(node, node["metric"]) for node in all_nodes(each["tree"])]) for each in scopes)
            e2e.wait_for(nodes, f"intervals of the tree of each {scope}")
        e2e.wait_for(lambda: sum(s[0] == "topdownd_metric_standard_error" for s in e2e.samples(daemon.get("/metrics"))) >= 40, "standard errors")
    with e2e.Daemon("--pmu", "sim", yaml=yaml.replace("standard_error: true\n", "")) as daemon:
        daemon.wait_round(3)
        assert "topdownd_metric_standard_error" not in daemon.get("/metrics")
    return f"{n} intervals"


def test_the_first_lines_of_metrics_are_those_of_the_readme():
    shown = re.search(r"first lines of the demo's `/metrics` are:\n\n```\n(.*?)```", e2e.read_text(os.path.join(ROOT, "README.md")), re.S)
    lines = shown.group(1).splitlines()
    with e2e.Daemon("--pmu", "sim") as daemon:
        daemon.wait_round(1)
        page = daemon.get("/metrics").splitlines()
    assert len(lines) >= 5, lines
    for line, printed in zip(lines, page):
        if line.startswith("#"):
            assert line == printed, (line, printed)
        else:
            assert re.sub(r" \d+$", "", line) == re.sub(r" \d+$", "", printed), (line, printed)


# ---- what cannot be measured ----

@contextlib.contextmanager
def changed_steady_host(change):
    """A daemon on the steady host after change(scenario)."""
    scenario = json.loads(e2e.read_text(STEADY))
    change(scenario)
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "changed.json"), json.dumps(scenario))
        with e2e.Daemon("--pmu", f"sim:{path}", yaml=YAML) as daemon:
            yield daemon


def metrics_of(page):
    return {labels["metric"] for name, labels, _ in e2e.samples(page) if name == "topdownd_metric_numerator_total"}


def test_an_event_that_never_happens_is_0_in_all_that_needs_it():
    def without_misses(scenario):
        del scenario["loads"]["steady"]["keyframes"][0]["rates"]["LL_CACHE_MISS_RD"]
    with changed_steady_host(without_misses) as daemon:
        snapshot, status, log = daemon.wait_round(2), daemon.json("/api/v1/status"), daemon.log()
    metrics = snapshot["scopes"][0]["metrics"]
    assert metrics["ll_cache_mpki"]["value"] == 0 and metrics["ll_cache_miss_ratio"]["value"] == 0, metrics
    assert not status["events_not_live"] and "never counted" not in log, log
    lost = {reason: seconds for reason, seconds in snapshot["scopes"][0]["uncovered_cpu_seconds"].items() if reason != "gap"}
    assert not any(lost.values()), lost  # a machine that is too busy leaves gaps


def test_behind_a_filter_zeros_are_in_doubt_and_the_log_and_the_api_say_so():
    def filtered(scenario):
        del scenario["loads"]["steady"]["keyframes"][0]["rates"]["LL_CACHE_MISS_RD"]
        scenario["filtered"] = ["L1D_TLB"]
    with changed_steady_host(filtered) as daemon:
        snapshot, page = daemon.wait_round(2), daemon.get("/metrics")
        status, log = daemon.json("/api/v1/status"), daemon.log()
    assert {(e["event"], e["state"]) for e in status["events_not_live"]} == {("L1D_TLB", "stalled"), ("LL_CACHE_MISS_RD", "filtered")}, status
    assert e2e.value_of(page, "topdownd_event_not_live", event="LL_CACHE_MISS_RD", state="filtered") == 1
    assert len(re.findall("warning: something filters events here, .* not believed either: LL_CACHE_MISS_RD\n", log)) == 1, log
    metric = snapshot["scopes"][0]["metrics"]["ll_cache_mpki"]
    assert metric["value"] is None and "something filters events here" in metric["reason"], metric
    assert not [n for n, _, _ in e2e.samples(page) if n.startswith("topdownd_ll_cache")]


def test_an_event_that_never_counts_though_it_must_is_listed_and_only_its_metrics_are_absent():
    def without_look_ups(scenario):
        del scenario["loads"]["steady"]["keyframes"][0]["rates"]["L1D_TLB"]
    with changed_steady_host(without_look_ups) as daemon:
        snapshot, page = daemon.wait_round(2), daemon.get("/metrics")
        cpus, status = daemon.get("/metrics/cpu"), daemon.json("/api/v1/status")
        plan, log = daemon.json("/api/v1/plan"), daemon.log()
    assert len(re.findall("warning: these events have never counted, .* not believed: L1D_TLB\n", log)) == 1, log
    assert [(e["event"], e["state"]) for e in status["events_not_live"]] == [("L1D_TLB", "stalled")], status
    assert e2e.value_of(page, "topdownd_event_not_live") == 1, "more than one event, or more than one state of it"
    assert 'event="L1D_TLB"' not in cpus
    host = snapshot["scopes"][0]
    stalled = {m for m, v in host["metrics"].items() if v["reason"] and "never counted" in v["reason"]}
    assert len(stalled) >= 2 and all("dtlb" in m or "l1d_tlb" in m for m in stalled), stalled
    assert metrics_of(page) == {m for m, v in host["metrics"].items() if "k" in v} - stalled
    assert not [n for n, _, _ in e2e.samples(page + cpus) if n in {f"topdownd_{m}" for m in stalled} | {f"topdownd_cpu_{m}" for m in stalled}]
    covered, uncovered = host["covered_cpu_seconds"], host["uncovered_cpu_seconds"]
    # a CPU's second is split evenly over the selected metrics whose events rotate
    share = len(stalled) / sum(not m.endswith("_per_second") for m in host["metrics"])
    assert abs(uncovered["stalled"] / (covered + uncovered["stalled"]) - share) < 1e-9, uncovered
    assert sum(uncovered.values()) == uncovered["stalled"], uncovered
    assert {e["support"] for e in plan["events"]} == {"unknown"}, plan["events"]
    return f"{', '.join(sorted(stalled))}: {share:.0%} of the time"


def test_a_cpu_that_goes_away_is_counted_as_offline_and_its_time_as_uncovered():
    def without_cpu_3(scenario):
        scenario["rivals"] = [{"kind": "offline", "cpus": "3", "from_seconds": 0.5}]
    with changed_steady_host(without_cpu_3) as daemon:
        daemon.wait_round(6)
        page, status, cpus = daemon.of_one_snapshot("/metrics", "/api/v1/status", "/api/v1/snapshot?scope=cpu")
    status, cpus = json.loads(status), {c["cpu"]: c for c in json.loads(cpus)["scopes"]}
    assert e2e.value_of(page, "topdownd_cpus", state="offline", socket="0") == 1
    assert e2e.value_of(page, "topdownd_cpus", state="offline", socket="1") == 0
    assert [s["cpus_offline"] for s in status["sockets"]] == [1, 0]
    assert cpus[3]["metrics"]["ipc"]["value"] is None and "offline" in cpus[3]["metrics"]["ipc"]["reason"], cpus[3]
    away = cpus[3]["uncovered_cpu_seconds"]["offline"]
    assert away > 3 and cpus[2]["uncovered_cpu_seconds"]["offline"] == 0, away
    assert abs(e2e.value_of(page, "topdownd_uncovered_cpu_seconds_total", reason="offline", socket="0") - away) < 1e-6 * away
    assert abs(e2e.value_of(page, "topdownd_ipc", socket="0") - 1.5) < 1e-6  # the others go on
    return f"{away:.1f} s"


def test_on_one_counter_there_are_no_pipeline_slots_and_the_plan_says_why():
    with changed_steady_host(lambda scenario: scenario.update(general_counters=1)) as daemon:
        snapshot, page, cpus = daemon.wait_round(1), daemon.get("/metrics"), daemon.get("/metrics/cpu")
        plan, plain = daemon.json("/api/v1/plan"), daemon.get("/plain")
    assert not [n for n, _, _ in e2e.samples(page + cpus) if "pipeline_slots" in n or "deviation" in n or "bound" in n]
    assert abs(e2e.value_of(page, "topdownd_ipc", socket="0") - 1.5) < 1e-6  # the cycle counter and one more
    assert (plan["general_counters"], plan["counters_usable"]) == (1, 2), plan
    missing = {m["metric"]: m["reason"] for m in plan["not_plannable"]}
    assert "counters at once, this host has 1" in missing["retiring_ratio"], missing
    assert snapshot["scopes"][0]["level1"]["composite"] is False
    assert snapshot["scopes"][0]["level1"]["pipeline_slots_total"] is None
    assert "Pipeline slots in the last round" not in plain
    return missing["retiring_ratio"]


def test_on_two_counters_level_1_is_a_composite_and_the_truth():
    with changed_steady_host(lambda scenario: scenario.update(general_counters=2)) as daemon:
        snapshot, metrics = daemon.wait_round(1), daemon.get("/metrics")
    assert e2e.value_of(metrics, "topdownd_level1_composite") == 1
    host = snapshot["scopes"][0]
    assert host["level1"]["composite"] is True
    total = host["level1"]["pipeline_slots_total"]
    for category, share in (("frontend_bound", 0.24), ("bad_speculation", 0.0775), ("retiring", 0.3375),
                            ("backend_bound", 0.345)):  # as the scenario says
        found = host["level1"]["categories"][category]["pipeline_slots_total"] / total
        assert abs(found - share) < 1e-6, (category, found)


# ---- a long stop ----

def counters(page):
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.M))
    return {(name, tuple(sorted(labels.items()))): value for name, labels, value in e2e.samples(page)
            if types.get(name) == "counter"}


def test_a_long_stop_is_a_gap_and_totals_never_fall():
    stopped = 5  # seconds at least; a round takes 1.1 s, and up to three are made up for
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        assert daemon.json("/api/v1/plan")["round_seconds"] * 3.5 < stopped
        daemon.wait_round(2)
        before = daemon.get("/metrics")
        daemon.process.send_signal(signal.SIGSTOP)
        time.sleep(stopped)
        daemon.process.send_signal(signal.SIGCONT)
        daemon.wait_round(daemon.sequence() + 2)
        after = daemon.get("/metrics")
    old, new = counters(before), counters(after)
    assert old.keys() == new.keys()
    fallen = {key: (old[key], new[key]) for key in old if new[key] < old[key]}
    assert not fallen, fallen
    def grown(name, **labels):
        return e2e.value_of(after, name, **labels) - e2e.value_of(before, name, **labels)
    gap, elapsed = grown("topdownd_uncovered_cpu_seconds_total", reason="gap"), grown("topdownd_last_snapshot_timestamp_seconds")
    assert 8 * (stopped - 1.5) < gap < 8 * elapsed, (gap, elapsed)
    covered = grown("topdownd_covered_cpu_seconds_total")
    assert abs(covered + gap - 8 * elapsed) < 0.02 * 8 * elapsed, (covered, gap, elapsed)
    return f"stopped for {stopped} s on 8 CPUs: {gap:.1f} CPU seconds uncovered, {covered:.1f} covered, {len(old)} totals"


def gauges_of_the_last_round(page):
    names = re.findall(r"^# TYPE (topdownd_\w+(?:_ratio|_mpki|_ipc)) gauge$", page, re.M) + ["topdownd_ipc"]
    return [sample for sample in e2e.samples(page) if sample[0] in names]


def test_the_first_scrape_after_a_stop_shows_nothing_old():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=YAML) as daemon:
        stopped = daemon.json("/api/v1/plan")["round_seconds"] * 3 + 2 + 1
        daemon.wait_round(daemon.wait_round(1)["sequence"] + 1)  # it has only just ended
        old = gauges_of_the_last_round(daemon.get("/metrics"))
        assert old and daemon.json("/api/v1/snapshot")["scopes"][0]["metrics"]["ipc"]["value"] > 0
        daemon.process.send_signal(signal.SIGSTOP)
        time.sleep(stopped)
        with socket.create_connection(("127.0.0.1", daemon.port), e2e.TIMEOUT) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            continued = time.time()
            daemon.process.send_signal(signal.SIGCONT)
            page = b"".join(iter(lambda: client.recv(65536), b"")).decode().partition("\r\n\r\n")[2]
        ready = e2e.fetch(daemon.port, "/-/ready").status
        shown, taken = gauges_of_the_last_round(page), e2e.value_of(page, "topdownd_last_snapshot_timestamp_seconds")
        assert taken > continued or not shown, shown  # a round may have ended in between
        assert taken > continued or e2e.value_of(page, "topdownd_pmu_up") == 0
        assert e2e.value_of(page, "topdownd_pipeline_slots_total") > 0
        daemon.wait_round(daemon.sequence() + 1)
        assert len(gauges_of_the_last_round(daemon.get("/metrics"))) == len(old)
        assert e2e.fetch(daemon.port, "/-/ready").status == 200
    return f"stopped for {stopped:.1f} s: {len(shown)} gauges instead of {len(old)}, ready {ready}"


def test_check_config_says_which_profile_another_host_would_take():
    yaml = """profiles:
  db: {groups: [Defaults, SVE_Effectiveness]}
  web: {groups: [MPKI]}
hosts:
  - {match: {hostname: "db-*", cpu: "zen*"}, profile: db}
  - {match: {hostname: "web-*"}, profile: web}
"""
    for words, profile, groups, missing in ((("--host", "db-7", "--cpu", "zen4"), "db", "Miss_Ratio", "SVE_Effectiveness"),
                                            (("--host", "db-7", "--cpu", "neoverse-v2"), "default", "Miss_Ratio", None),
                                            (("--host", "web-1"), "web", "MPKI", None)):
        status, log = e2e.run_daemon("check-config", "--pmu", "sim", *words, yaml=yaml)
        cpu = words[3] if len(words) > 3 else "neoverse-v2"
        assert status == 0 and f"host {words[1]} with CPU {cpu}: profile {profile}\n" in log, log
        assert re.search(rf"^it measures .*\b{groups}\b", log, re.M), log
        assert (f"this CPU does not have {missing}" in log) if missing else ("does not have" not in log), log
    refused("check-config", "--pmu", "sim", "--cpu", "zen9", says="did you mean 'zen")


if __name__ == "__main__":
    e2e.run_tests()
