# SPDX-License-Identifier: Apache-2.0
"""run --record and --pmu replay:FILE: the same values again, bounded files, full disks, and logs of perf."""

import glob
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import time

import e2e
import spec_files
import test_hosts

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
CHANGING = os.path.join(ROOT, "tests/data/scenarios/changing.json")
LOGS = os.path.join(ROOT, "tests/data/perf")
SHORT = e2e.LISTEN_ANYWHERE + "slot: 50ms\n"
MANY = e2e.LISTEN_ANYWHERE + "slot: 10ms\n"  # many windows a round


def replay(path, *options, yaml=e2e.LISTEN_ANYWHERE):
    return e2e.Daemon("--pmu", f"replay:{path}", *options, yaml=yaml)


def wait_end(daemon):
    """Until all has been replayed; returns the last snapshot."""
    e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")
    return daemon.json("/api/v1/snapshot?scope=cpu")


def refused(*options):
    status, log = e2e.run_daemon(*options)
    assert status == 2, log
    return log


def test_the_last_round_is_replayed_as_it_was_shown():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{CHANGING}", "--record", path, yaml=SHORT) as daemon:
            daemon.wait_round(4)
            pages = {name: daemon.get(f"/api/v1/snapshot?scope={name}") for name in ("host", "socket")}
            last = daemon.json("/api/v1/snapshot?scope=cpu")
            daemon.stop()
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
        with replay(path, "--speed", "0") as daemon:
            again = wait_end(daemon)
            assert (again["replay"], again["simulated"]) == (True, True)
            if again["sequence"] == last["sequence"]:  # else a round ended while the daemon did
                for key in ("scopes", "round", "timestamp_seconds"):
                    assert again[key] == last[key], key
                for name, page in pages.items():
                    if json.loads(page)["sequence"] == again["sequence"]:
                        assert json.loads(daemon.get(f"/api/v1/snapshot?scope={name}"))["scopes"] == \
                            json.loads(page)["scopes"]
            page = daemon.get("/metrics")
            assert all('replay="true"' in line for line in page.splitlines() if line[0] != "#")
            assert e2e.value_of(page, "topdownd_pmu_up", pmu="replay") == 1
            assert daemon.get("/-/ready")
            return f"{again['sequence']} rounds, {os.path.getsize(path)} bytes"


def test_a_replay_keeps_the_pace_it_is_told():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
            rounds = daemon.wait_round(3)["sequence"]
            daemon.stop()
        with replay(path, "--speed", "0.05") as daemon:  # a round of a second takes twenty
            assert daemon.sequence() == 0
            daemon.stop()
        with replay(path, "--speed", "100") as daemon:
            assert wait_end(daemon)["sequence"] >= rounds
            text = daemon.log()
            daemon.stop()
    assert "REPLAY of" in text and "up to the last full record" not in text


def series_of(page):
    """The samples of a page, but for what is about the daemon itself."""
    own = re.compile(r"topdownd_(process_|build_info|config_|collection_|rotation_|pmu_calls|pmu_kernel_memory|interrupt|budget|recording_)|process_")
    return {re.sub(r',?(replay|pmu)="[^"]*"', "", line) for line in page.splitlines()
            if line and line[0] != "#" and not own.match(line)}


def plan_of(daemon):
    plan = daemon.json("/api/v1/plan")
    plan.pop("replay")
    return plan


def verdicts_of(daemon):
    """The round, and what the host and its sockets are bound by and since when."""
    page = daemon.json("/api/v1/topdown?scope=socket")
    bounds = [page["bound"]] + [scope["bound"] for scope in page["scopes"]]
    assert all(bound["since_timestamp_seconds"] <= page["timestamp_seconds"] for bound in bounds), bounds
    return page["sequence"], bounds


def test_every_series_and_the_plan_come_back_at_any_speed():
    groups = "stage_1, Branch_Effectiveness, ITLB_Effectiveness, L1D_Cache_Effectiveness, L2_Cache_Effectiveness"
    yaml = SHORT + "mode: adaptive\nstandard_error: true\nprofiles: {default: {groups: [%s]}}\n" % groups
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", "sim", yaml=yaml + f"record: {{path: '{path}', size: 4M}}\n") as daemon:
            e2e.wait_for(lambda: daemon.json("/api/v1/plan")["adaptive"]["decisions"], "a decision")
            last = daemon.wait_round(daemon.sequence() + 2)["sequence"]
            page, plan = daemon.get("/metrics"), plan_of(daemon)
            live = daemon.json("/api/v1/snapshot?scope=cpu")
            verdicts = verdicts_of(daemon)
            daemon.stop()
        for speed in ("0", "25"):
            with replay(path, "--speed", speed, yaml=e2e.LISTEN_ANYWHERE + "standard_error: true\n") as daemon:
                again = wait_end(daemon)
                assert plan_of(daemon) == plan, speed
                if again["sequence"] == last == live["sequence"]:  # else a round ended while the daemon did
                    assert again["scopes"] == live["scopes"], speed
                    replayed = series_of(daemon.get("/metrics"))
                    assert replayed == series_of(page), (speed, sorted(replayed ^ series_of(page))[:10])
                if again["sequence"] == verdicts[0]:
                    assert verdicts_of(daemon) == verdicts, speed
                daemon.stop()
        assert any(decision["raised"] for decision in plan["adaptive"]["decisions"]), plan["adaptive"]
        return f"{len(series_of(page))} series, {len(plan['adaptive']['decisions'])} decisions"


def test_what_was_shown_while_counters_were_handed_over_is_shown_again():
    with tempfile.TemporaryDirectory() as folder:
        path, run = os.path.join(folder, "recording"), os.path.join(folder, "run")
        os.mkdir(run)
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, "--path.run", run, yaml=SHORT) as daemon:
            daemon.wait_round(2)
            subprocess.run([BINARY, "yield", "--path.run", run, "--for", "60s"], capture_output=True, timeout=e2e.TIMEOUT,
                           check=True)
            handed_over = daemon.json("/api/v1/snapshot")["timestamp_seconds"]
            live = e2e.wait_for(lambda: (s := daemon.json("/api/v1/snapshot?scope=host"))["timestamp_seconds"] > handed_over + 1
                                and s, "more snapshots")
            daemon.stop()
        assert "handed over" in live["scopes"][0]["metrics"]["ipc"]["reason"], live
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            again = daemon.json("/api/v1/snapshot?scope=host")
            assert again["timestamp_seconds"] >= live["timestamp_seconds"]
            if again["timestamp_seconds"] == live["timestamp_seconds"]:  # else one more was shown
                assert again["scopes"] == live["scopes"]
            assert "handed over" in again["scopes"][0]["metrics"]["ipc"]["reason"]
            daemon.stop()


def test_a_host_without_slots_is_replayed_as_it_was():
    with tempfile.TemporaryDirectory() as folder:
        path, host = os.path.join(folder, "recording"), os.path.join(folder, "host")
        test_hosts.x86_host(host, "GenuineIntel-6-8F-8")
        with e2e.Daemon("--path.sysfs", host, "--path.procfs", host, "--record", path, yaml=SHORT) as daemon:
            daemon.wait_round(2)
            plan, status = plan_of(daemon), daemon.json("/api/v1/status")
            daemon.stop()
        assert any(error["reason"] == "no_slots" for error in status["pmu_errors"]), status
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            assert plan_of(daemon) == plan
            assert daemon.json("/api/v1/status")["pmu_errors"] == status["pmu_errors"]
            assert "another version" not in daemon.log(), daemon.log()
            daemon.stop()


def test_what_was_measured_with_a_vendors_files_is_replayed_without_them():
    """A recording with little room leaves their catalog out: its replay asks for the files."""
    telemetry = os.path.realpath(os.path.join(ROOT, "../shared/telemetry"))
    if not os.path.isdir(telemetry):
        raise e2e.Skip("the vendors' files are not there")
    with tempfile.TemporaryDirectory() as folder:
        host = os.path.join(folder, "host")
        test_hosts.x86_host(host, "GenuineIntel-6-55-4")
        for number, (files, kind, options) in enumerate((
                ("linux/arch", "perf", ("--pmu", f"sim:{STEADY}")), ("arm", "arm", ("--pmu", f"sim:{STEADY}")),
                ("linux/arch", "perf", ("--path.sysfs", host, "--path.procfs", host)))):
            specs = f"specs: {{path: '{telemetry}/{files}', format: {kind}}}\n"
            for size in ("256M", "1M"):
                path, small = os.path.join(folder, f"{number}-{size}"), size == "1M"
                with e2e.Daemon(*options, "--record", path, "--record.size", size, yaml=SHORT + specs) as daemon:
                    daemon.wait_round(3)
                    plan, live, catalog = plan_of(daemon), daemon.json("/api/v1/snapshot?scope=cpu"), daemon.json("/api/v1/catalog")
                    daemon.stop()
                if small:
                    said = refused("--pmu", f"replay:{path}")
                    assert "was recorded with the vendor's files of" in said and "have `specs:`" in said, said
                with replay(path, "--speed", "0", yaml=e2e.LISTEN_ANYWHERE + (specs if small else "")) as daemon:
                    again = wait_end(daemon)
                    assert plan_of(daemon) == plan
                    assert again["sequence"] > live["sequence"] or again["scopes"] == live["scopes"]
                    assert "another version" not in daemon.log(), daemon.log()
                    replayed = daemon.json("/api/v1/catalog")
                    assert (replayed["metrics"], replayed["groups"]) == (catalog["metrics"], catalog["groups"])
                    daemon.stop()


def test_the_configuration_says_where_to_record():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        yaml = SHORT + f"record:\n  path: '{path}'\n  size: 2M\n"
        with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=yaml) as daemon:
            daemon.wait_round(1)
            assert f"recording to {path}, and before that to {path}.1 and so on; all together 2 MiB at most" in daemon.log(), daemon.log()
            daemon.stop()
        # the command line goes before it, and a replay is not recorded
        other = os.path.join(folder, "other")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", other, yaml=yaml) as daemon:
            assert f"recording to {other}" in daemon.log()
            daemon.stop()
        size = os.path.getsize(path)
        with replay(path, "--speed", "0", yaml=yaml) as daemon:
            wait_end(daemon)
            daemon.stop()
        assert os.path.getsize(path) == size and not os.path.exists(path + ".1")
        e2e.write_text(path, "not a recording\n")
        status, said = e2e.run_daemon("--pmu", f"sim:{STEADY}", yaml=yaml)
        assert status == 2 and re.search(r":\d+:9: record\.path: .*/recording there is a file here", said), said


def files_of(path):
    """FILE, FILE.1 and so on, as far as they are there without a gap."""
    names = [path] + [f"{path}.{number}" for number in range(1, 100)]
    return names[:next((n for n, name in enumerate(names) if not os.path.exists(name)), len(names))]


def test_check_config_warns_where_nothing_could_be_recorded():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "none", "recording")
        config = e2e.write_text(os.path.join(folder, "c.yaml"), SHORT + f"record: {{path: '{path}', size: 2M}}\n")
        check = [BINARY, "check-config", "--config", config, "--path.data", ROOT, "--pmu", "sim"]
        said = subprocess.run(check, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=True).stdout
        assert f"recording to {path}, 2 MiB at most\nwarning: {config}:3: record.path: {path} cannot be made" in said, said
        os.mkdir(os.path.dirname(path))
        said = subprocess.run(check, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=True).stdout
        assert "recording to" in said and "warning" not in said and not os.listdir(os.path.dirname(path)), said
        e2e.write_text(path + ".7", "notes\n")  # no other folder or user helps here
        done = subprocess.run(check, capture_output=True, text=True, timeout=e2e.TIMEOUT)
        assert done.returncode == 2 and "that is not a recording" in done.stderr, done
        os.rename(path + ".7", f"{folder}/notes")
        os.mkdir(path)
        done = subprocess.run(check, capture_output=True, text=True, timeout=e2e.TIMEOUT)
        assert done.returncode == 2 and f"{path} there is a folder here" in done.stderr, done


def test_check_config_refuses_what_no_folder_makes_possible():
    with tempfile.TemporaryDirectory() as folder:
        for path, says in (("/proc/x", "the kernel's own"), ("/proc/none/x", "the kernel's own"), ("/sys/x", "the kernel's own"),
                           (f"{folder}/none/", "a slash at its end"), (f"{folder}/", "a slash at its end")):
            if path.startswith("/sys") and not os.path.ismount("/sys"):
                continue
            config = e2e.write_text(os.path.join(folder, "c.yaml"), SHORT + f"record: {{path: '{path}'}}\n")
            for command in ("check-config", "run"):
                status, said = e2e.run_daemon(command, "--config", config, "--pmu", "sim")
                assert status == 2 and f"c.yaml:3:16: record.path: {path} " in said and says in said, (command, path, said)
        assert os.listdir(folder) == ["c.yaml"]


def test_files_are_bounded_and_replayed_one_after_the_other():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", "sim", "--record", path, "--record.size", "2M", yaml=MANY) as daemon:
            e2e.wait_for(lambda: len(files_of(path)) > 2, "the third file")
            daemon.wait_round(daemon.sequence() + 2)
            live = daemon.sequence()
            daemon.stop()
        files = files_of(path)
        sizes = [os.path.getsize(name) for name in files]
        assert sum(sizes) <= 2 ** 21 and all(size < 1.4 * 2 ** 19 for size in sizes), sizes  # each ends with a whole round
        with replay(path, "--speed", "0") as daemon:
            ended = wait_end(daemon)["sequence"]
            assert ended >= live, (ended, live)
            assert f"{files[-1]} is replayed before {path}" in daemon.log(), daemon.log()
            daemon.stop()
        with replay(files[1], "--speed", "0") as daemon:  # FILE.1, and what is before it
            assert 0 < wait_end(daemon)["sequence"] < live
            assert f"{files[-1]} is replayed before {files[1]}" in daemon.log(), daemon.log()
            daemon.stop()
        os.truncate(files[-1], sizes[-1] - 1)
        with replay(path, "--speed", "0") as daemon:  # what is there of the oldest one, and all of the others
            assert wait_end(daemon)["sequence"] >= live - 1
            assert re.search(re.escape(files[-1]) + r": what follows byte \d+ cannot be read", daemon.log())
            daemon.stop()
        os.unlink(files[1])
        with replay(path, "--speed", "0") as daemon:  # readable alone
            assert 0 < wait_end(daemon)["sequence"] < live
            daemon.stop()
        return f"{sizes} bytes"


def test_many_restarts_do_not_take_away_what_was_recorded_before():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        for start in range(4):
            with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
                rounds = daemon.wait_round(5 if start == 0 else 1)["sequence"]
                daemon.process.send_signal(signal.SIGKILL)
                daemon.process.wait()
                first = rounds if start == 0 else first
        assert len(files_of(path)) == 4
        with replay(path + ".3", "--speed", "0") as daemon:
            assert wait_end(daemon)["sequence"] >= first - 1
            daemon.stop()
        with replay(path, "--speed", "0") as daemon:  # another recording
            assert wait_end(daemon)["sequence"] < first - 1
            assert "is replayed before" not in daemon.log()
            daemon.stop()


def test_a_crash_loop_leaves_yesterdays_recording_and_every_file_replays():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")

        def killed(rounds):
            with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
                if rounds:
                    daemon.wait_round(rounds)
                e2e.wait_for(lambda: os.path.getsize(path), "the recording's beginning")
                daemon.process.send_signal(signal.SIGKILL)
                daemon.process.wait()
                return os.stat(path).st_ino

        yesterday = killed(2)
        os.utime(path, (time.time() + 86400,) * 2)  # it lasted a day
        for _ in range(50):
            killed(0)
        files = files_of(path)
        assert len(files) == 19, files  # the newest, 17 short ones, and yesterday's
        assert os.stat(path + ".18").st_ino == yesterday, files
        for number, file in enumerate([path] + [f"{path}.{i}" for i in range(1, 19)]):
            with replay(file, "--speed", "0") as daemon:
                if number == 18:
                    assert wait_end(daemon)["sequence"] >= 1
                daemon.stop()


def test_check_config_says_what_a_replay_shows():
    groups = "stage_1, Branch_Effectiveness, L1D_Cache_Effectiveness"
    yaml = SHORT + "mode: adaptive\nprofile: deep\nprofiles: {deep: {groups: [%s]}}\n" % groups
    with tempfile.TemporaryDirectory() as folder:
        path, other = os.path.join(folder, "recording"), e2e.write_text(os.path.join(folder, "other.yaml"), SHORT)
        with e2e.Daemon("--pmu", "sim", "--record", path, yaml=yaml) as daemon:
            daemon.wait_round(1)
            recorded = re.search(r"profile deep: (\d+ metrics in .*)", daemon.log()).group(1)
            daemon.stop()
        check = [BINARY, "check-config", "--config", other, "--path.data", ROOT, "--pmu"]
        said = subprocess.run(check + [f"replay:{path}"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=True)
        assert f"profile deep: {recorded}\n" in said.stdout, said.stdout
        assert "adaptive" in recorded
        assert re.search(f"replay of {path}, recorded by topdownd .* from 20.* UTC on", said.stdout), said.stdout
        said = subprocess.run(check + [f"replay:{LOGS}/cpus-6.1.csv"], capture_output=True, text=True,
                              timeout=e2e.TIMEOUT, check=True)
        assert f"replay of {LOGS}/cpus-6.1.csv, a log of perf\n" in said.stdout, said.stdout
        assert "warning: the log's spec does not have General, MPKI, Miss_Ratio\n" in said.stdout, said.stdout
        assert "a round takes 0.50 s" in said.stdout, said.stdout  # the log's interval, not the configuration's slots
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            assert f"profile deep: {recorded}" in daemon.log(), daemon.log()
            daemon.stop()


def test_a_full_disk_is_said_once_and_recording_goes_on_when_there_is_room():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", "sim", "--record", path, yaml=MANY) as daemon:
            e2e.wait_for(lambda: os.path.getsize(path) > 0, "a first record")
            limit = os.path.getsize(path) + 1000
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            e2e.wait_for(lambda: "cannot be written" in daemon.log(), "the failure")
            size = os.path.getsize(path)
            sequence = daemon.sequence()
            daemon.wait_round(sequence + 3)  # measuring goes on
            assert os.path.getsize(path) == size <= limit
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            e2e.wait_for(lambda: "can be written again" in daemon.log(), "more room")
            log = daemon.log()
            daemon.stop()
        assert log.count("cannot be written") == 1, log
        with replay(path, "--speed", "0") as daemon:
            assert wait_end(daemon)["sequence"] > 0
            assert "up to the last full record" not in daemon.log() and "damaged" not in daemon.log()
            daemon.stop()


def test_no_space_left_on_a_tiny_file_system():
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True)
        if mounted.returncode != 0:
            raise e2e.Skip("a tmpfs cannot be mounted here")
        try:
            path = os.path.join(folder, "recording")
            with e2e.Daemon("--pmu", "sim", "--record", path, yaml=MANY) as daemon:
                e2e.wait_for(lambda: "No space left" in daemon.log(), "the full disk")
                daemon.wait_round(daemon.sequence() + 1)
                daemon.stop()
            with replay(path, "--speed", "0") as daemon:
                assert wait_end(daemon)["sequence"] > 0
                assert "up to the last full record" not in daemon.log()
                daemon.stop()
        finally:
            subprocess.run(["umount", folder], check=True)


def test_a_disk_that_is_full_at_the_start_does_not_keep_from_measuring():
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "nr_inodes=1", "tmpfs", folder]  # the folder itself takes it
        if subprocess.run(mount, capture_output=True).returncode != 0:
            raise e2e.Skip("a tmpfs cannot be mounted here")
        try:
            path = os.path.join(folder, "recording")
            with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
                assert "cannot be written: No space left" in daemon.log(), daemon.log()
                daemon.wait_round(2)
                assert not os.path.exists(path)
                full = daemon.json("/api/v1/status")["recording"]
                assert (full["up"], full["bytes_total"]) == (0, 0), full
                assert full["reason"] == "No space left on device: make room on its disk", full
                assert full["rounds_lost_total"] > 0, full
                subprocess.run(["mount", "-o", "remount,nr_inodes=100", folder], check=True)
                e2e.wait_for(lambda: "can be written again" in daemon.log(), "room")
                e2e.wait_for(lambda: daemon.json("/api/v1/status")["recording"]["up"] == 1, "it to be shown")
                daemon.stop()
            with replay(path, "--speed", "0") as daemon:
                assert wait_end(daemon)["sequence"] > 0
                daemon.stop()
        finally:
            subprocess.run(["umount", folder], check=True)


def test_a_killed_daemons_recording_plays_up_to_the_last_full_record():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
            daemon.wait_round(3)
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait()
        os.truncate(path, os.path.getsize(path) - 1)
        with replay(path, "--speed", "0") as daemon:
            assert wait_end(daemon)["sequence"] >= 1
            assert "up to the last full record" in daemon.log()
            daemon.stop()
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            assert "is damaged" in daemon.log() or "up to the last full record" in daemon.log(), daemon.log()
            daemon.stop()
        # and the next daemon keeps what it finds
        size = os.path.getsize(path)
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
            assert os.path.getsize(path + ".1") == size
            daemon.stop()


def test_a_second_daemon_does_not_take_the_recording_of_the_first():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as first:
            number = os.stat(path).st_ino
            said = refused("--pmu", f"sim:{STEADY}", "--record", path)
            assert "another topdownd writes this recording" in said, said
            assert os.listdir(folder) == ["recording"] and os.stat(path).st_ino == number
            first.wait_round(first.sequence() + 1)
            assert e2e.value_of(first.get("/metrics"), "topdownd_recording_up") == 1
            first.stop()
    return said.strip()


def test_older_parts_that_another_daemon_writes_stay_where_they_are():
    """FILE.1 is another daemon's own FILE: a start with FILE is refused, and a daemon that is there stops recording with the reason."""
    named = "another topdownd writes a recording of this name with a number at its end"
    sim = ("--pmu", f"sim:{STEADY}", "--record")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon(*sim, path, yaml=SHORT) as daemon:
            daemon.wait_round(1)
            daemon.stop()
        with e2e.Daemon(*sim, path + ".1", yaml=SHORT) as other:
            number = os.stat(path + ".1").st_ino
            said = refused(*sim, path)
            assert named in said and "give one of the two another name" in said, said
            assert sorted(os.listdir(folder)) == ["recording", "recording.1"] and os.stat(path + ".1").st_ino == number
            other.stop()
        with e2e.Daemon(*sim, path, yaml=SHORT) as daemon:
            with e2e.Daemon(*sim, path + ".1", yaml=SHORT) as other:
                number = os.stat(path + ".1").st_ino
                daemon.wait_round(1)
                os.unlink(path)  # the next round wants a new file
                e2e.wait_for(lambda: "another topdownd writes a file of this name with a number" in daemon.log(), "the reason")
                e2e.wait_for(lambda: daemon.json("/api/v1/status")["recording"]["up"] == 0, "it to be shown")
                shown = daemon.json("/api/v1/status")["recording"]["reason"]
                assert "give one of the two recordings another name" in shown, shown
                assert os.stat(path + ".1").st_ino == number
                other.wait_round(other.sequence() + 1)
                assert other.json("/api/v1/status")["recording"]["up"] == 1
                other.stop()
            e2e.wait_for(lambda: daemon.json("/api/v1/status")["recording"]["up"] == 1, "it to record again")
            daemon.stop()
    return said.strip()


def test_a_recording_that_was_removed_begins_anew_with_the_next_round():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
            daemon.wait_round(1)
            os.unlink(path)
            daemon.wait_round(daemon.sequence() + 2)
            e2e.wait_for(lambda: os.path.exists(path) and os.path.getsize(path), "the new file")
            assert daemon.log().count("somebody has removed this file") == 1, daemon.log()
            daemon.stop()
        with replay(path, "--speed", "0") as daemon:
            assert wait_end(daemon)["sequence"] >= 1


def test_other_files_are_never_written_over():
    with tempfile.TemporaryDirectory() as folder:
        path, link = os.path.join(folder, "notes"), os.path.join(folder, "link")
        e2e.write_text(path, "not a recording\n")
        os.symlink(path, link)
        assert "is not a recording" in refused("--pmu", "sim", "--record", path)
        assert "symbolic link" in refused("--pmu", "sim", "--record", link)
        assert "No such file" in refused("--pmu", "sim", "--record", os.path.join(folder, "none/file"))
        assert e2e.read_text(path) == "not a recording\n" and os.path.islink(link)


def test_what_cannot_be_replayed_is_refused_with_the_reason():
    with tempfile.TemporaryDirectory() as folder:
        text = e2e.write_text(os.path.join(folder, "text"), "hello\n")
        assert "neither a recording" in refused("--pmu", f"replay:{text}")
        assert "No such file" in refused("--pmu", f"replay:{folder}/none")
        assert "regular file" in refused("--pmu", "replay:/dev/null")
        assert "there is no spec" in refused("--pmu", f"replay:{LOGS}/multiplexed.csv", "--spec", "nothing")
        assert "is a recording already" in refused("--pmu", f"replay:{text}", "--record", f"{folder}/x")
        garbage = e2e.write_text(os.path.join(folder, "garbage"), "\0\1binary\n")
        assert "garbage: is neither a recording" in refused("--pmu", f"replay:{garbage}")
        assert "which file?" in refused("--pmu", "replay:")
        assert "the path of a file" in refused("--pmu", "sim", "--record", "")
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
            daemon.wait_round(1)
            daemon.stop()
        assert "says itself what spec" in refused("--pmu", f"replay:{path}", "--spec", "neoverse-v1")
        assert "--speed takes" in refused("--pmu", f"replay:{text}", "--speed", "fast")


def test_another_version_of_the_spec_is_said_and_a_missing_event_named():
    with tempfile.TemporaryDirectory() as folder:
        path, data = os.path.join(folder, "recording"), os.path.join(folder, "data")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
            daemon.wait_round(2)
            daemon.stop()
        shutil.copytree(os.path.join(ROOT, "specs"), os.path.join(data, "specs"))
        spec = os.path.join(data, "specs/neoverse-v2.json")
        text = json.dumps(spec_files.load(spec))
        e2e.write_text(spec, text.replace("INST_RETIRED / CPU_CYCLES", "INST_RETIRED / CPU_CYCLES * 1"))
        with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", data=data) as daemon:
            assert "another version of the spec neoverse-v2" in daemon.log()
            wait_end(daemon)
            daemon.stop()
        e2e.write_text(spec, text.replace("L1D_CACHE_REFILL", "L1D_CACHE_FILLED"))
        status, log = e2e.run_daemon("--pmu", f"replay:{path}", data=data)
        assert status == 2 and "needs L1D_CACHE_REFILL, which the spec neoverse-v2 does not have" in log, log


def data_that_said_what_may_be_zero(folder):
    """Specs as of the version before zeros were believed: some events, and all outside the cores, were marked may_be_zero."""
    specs = shutil.copytree(os.path.join(ROOT, "specs"), os.path.join(folder, "data/specs"))
    boxes = [path for path in glob.glob(os.path.join(specs, "uncore/*.json")) if not path.endswith("/kinds.json")]
    for path in [os.path.join(specs, name) for name in ("sapphire-rapids.json", "software.json")] + boxes:
        spec = spec_files.load(path)
        for name, event in spec["events"].items():
            if not path.endswith("/sapphire-rapids.json") or name == "INT_MISC.UOP_DROPPING":
                event.setdefault("topdownd", {})["may_be_zero"] = True
        e2e.write_text(path, json.dumps(spec))
    return os.path.dirname(specs)


def test_what_specs_once_said_of_zeros_is_replayed_without_a_warning():
    host = json.loads(e2e.read_text(os.path.join(ROOT, "scenarios/sapphire-rapids.json")))
    for mix in host["mixes"].values():
        mix.pop("INT_MISC.UOP_DROPPING", None)
    host["uncore"] = [{"kind": "imc", "spec": "imc-sapphire-rapids", "boxes_per_socket": 2, "loads": {}, "assignments": []}]
    with tempfile.TemporaryDirectory() as folder:
        path, scenario = os.path.join(folder, "recording"), e2e.write_text(os.path.join(folder, "host.json"), json.dumps(host))
        with e2e.Daemon("--pmu", f"sim:{scenario}", "--record", path, yaml=SHORT, data=data_that_said_what_may_be_zero(folder)) as daemon:
            daemon.wait_round(3)
            daemon.stop()
        with replay(path, "--speed", "0") as daemon:
            level1 = {name: each for name, each in wait_end(daemon)["scopes"][0]["metrics"].items() if name.endswith("_bound_ratio")}
            assert level1 and all(each["value"] is not None for each in level1.values()), level1
            assert daemon.json("/api/v1/uncore")["kinds"], "the boxes are replayed, too"
            assert "another version of the spec" not in daemon.log(), daemon.log()


def test_a_log_of_perf_is_served_with_our_metrics():
    with replay(os.path.join(LOGS, "multiplexed.csv"), "--spec", "neoverse-v1", "--speed", "0") as daemon:
        wait_end(daemon)
        assert e2e.value_of(daemon.get("/metrics"), "topdownd_ipc", socket="0") == 0.25
        reasons = json.dumps(daemon.json("/api/v1/plan")["not_plannable"])
        assert "is not in the log" in reasons
        ipc = daemon.json("/api/v1/snapshot?scope=cpu")["scopes"][0]["metrics"]["ipc"]  # CPU 0: 40 %, then 100 % of the time
        assert ipc["share_of_time"] == 1 and not ipc["exact"] and ipc["quality"] != "none", ipc  # the second differs from the first
        daemon.stop()
    with tempfile.TemporaryDirectory() as folder:
        turns = [f"{i}.0,{cycles},,r11,166000000,16.60,,\n{i}.0,500000,,r8,166000000,16.60,,\n" for i, cycles in ((1, 1000000), (2, 1250000))]
        for lines, interval in ((turns[:1], False), (turns, True)):
            with replay(e2e.write_text(os.path.join(folder, "turns.csv"), "".join(lines)), "--spec", "neoverse-v1", "--speed", "0") as daemon:
                wait_end(daemon)
                ipc = daemon.json("/api/v1/snapshot")["scopes"][0]["metrics"]["ipc"]
                assert abs(ipc["share_of_time"] - 0.166) < 1e-9 and not ipc["exact"], ipc
                assert (ipc["low"] is not None) == (ipc["quality"] != "none") == (ipc["interval_reason"] is None) == interval, ipc
                assert not interval or ipc["low"] < ipc["high"], ipc
                daemon.stop()
    with replay(os.path.join(LOGS, "cpus-6.1.csv"), "--speed", "0") as daemon:
        wait_end(daemon)
        assert "in the spec software" in daemon.log()
        time.sleep(4)  # three rounds of half a second and two seconds: a live daemon would have taken its gauges back
        assert e2e.value_of(daemon.get("/metrics"), "topdownd_context_switches_per_second", socket="0") > 0
        assert daemon.get("/-/ready")
        daemon.stop()


def test_rates_of_a_log_that_adds_cpus_up_are_divided_by_their_number_or_say_that_they_are_not():
    known, unknown = "1.0,800,,context-switches,4000000000,100.00,,\n", "     1.000000000              800      context-switches\n"
    with tempfile.TemporaryDirectory() as folder:
        for text, rate, unit in ((known, 200, "per second and CPU"), (unknown, 800, "per second")):
            with replay(e2e.write_text(os.path.join(folder, "sum"), text), "--spec", "software", "--speed", "0") as daemon:
                wait_end(daemon)
                switches = daemon.json("/api/v1/snapshot")["scopes"][0]["metrics"]["context_switches_per_second"]
                assert (switches["value"], switches["unit"]) == (rate, unit), switches
                assert switches["exact"] and switches["low"] == rate, switches  # from the first interval on
                assert ("per second and CPU" in daemon.get("/metrics")) == (rate == 200)
                daemon.stop()


def test_a_log_of_perf_is_not_shown_under_the_name_of_this_host():
    path = os.path.join(LOGS, "multiplexed.csv")
    for option, name in (((), None), (("--hostname", "node-17"), "node-17")):  # perf does not write it, but somebody may know it
        with replay(path, "--spec", "neoverse-v1", "--speed", "0", *option) as daemon:
            wait_end(daemon)
            assert daemon.json("/api/v1/status")["hostname"] == (name or "unknown")
            assert f"<title>{name or 'an unknown host'}: topdownd</title>" in daemon.get("/plain")
            assert f" on {name or 'an unknown host'}: REPLAY of " in daemon.log(), daemon.log()
            daemon.stop()
        said = subprocess.run([BINARY, "check-config", "--path.data", ROOT, "--pmu", f"replay:{path}", "--spec", "neoverse-v1", *option],
                              capture_output=True, text=True, timeout=e2e.TIMEOUT, check=True).stdout
        assert f"host {name or 'unknown'}, spec neoverse-v1" in said, said
    said = subprocess.run([BINARY, "diff", path, path, "--path.data", ROOT], capture_output=True, text=True, timeout=e2e.TIMEOUT)
    assert ": an unknown host, spec armv8-pmuv3" in said.stdout, (said.stdout, said.stderr)


def test_a_log_of_several_core_types_is_replayed_one_type_at_a_time():
    hybrid = f"replay:{LOGS}/hybrid.csv"
    text = refused("--pmu", hybrid)
    assert "several core types (cpu_atom, cpu_core)" in text and "--spec NAME@cpu_atom" in text, text
    assert "--spec intel-generic@cpu_atom" in refused("--pmu", hybrid, "--spec", "intel-generic")
    assert "several core types" in refused("--pmu", hybrid, "--spec", "intel-generic@cpu")
    assert "without @cpu_core" in refused("--pmu", f"replay:{LOGS}/multiplexed.csv", "--spec", "neoverse-v1@cpu_core")
    for pmu, ipc in (("cpu_core", 2), ("cpu_atom", 0.5)):
        with replay(os.path.join(LOGS, "hybrid.csv"), "--spec", f"intel-generic@{pmu}", "--speed", "0") as daemon:
            wait_end(daemon)
            assert e2e.value_of(daemon.get("/metrics"), "topdownd_ipc", socket="0", core_type=pmu) == ipc
            daemon.stop()


def test_a_spec_goes_with_the_pmu_of_its_cores_and_no_other():
    hybrid = f"replay:{LOGS}/hybrid.csv"
    for spec, pmu, of_it in (("golden-cove@cpu_atom", "cpu_atom", "gracemont"), ("gracemont@cpu_core", "cpu_core", "golden-cove"),
                             ("sapphire-rapids", "cpu_atom", "skymont"), ("neoverse-v1@cpu_core", "cpu_core", "lion-cove")):
        said = refused("--pmu", hybrid, "--spec", spec)
        assert f"the spec {spec.split('@')[0]} is not for CPUs of the PMU {pmu}" in said, said
        names = said.split("these are: ")[1].strip().split(", ")
        assert of_it in names and "intel-generic" in names and "amd-generic" not in names and spec not in names, said
    for spec, pmu, ipc in (("golden-cove", "cpu_core", 2), ("gracemont", "cpu_atom", 0.5)):  # the spec tells the PMU
        with replay(os.path.join(LOGS, "hybrid.csv"), "--spec", spec, "--speed", "0") as daemon:
            wait_end(daemon)
            assert e2e.value_of(daemon.get("/metrics"), "topdownd_ipc", socket="0", core_type=pmu) == ipc
            daemon.stop()


def test_a_log_that_several_specs_fit_takes_the_one_for_all_cpus_or_none():
    def spec_of(*lines):
        with tempfile.TemporaryDirectory() as folder:
            path = e2e.write_text(os.path.join(folder, "log"), "".join(f"1.0,9,,{line},1000,100.00,,\n" for line in lines))
            return e2e.run_daemon("check-config", "--pmu", f"replay:{path}")

    for lines, spec in ((("r11", "r8"), "armv8-pmuv3"), (("cpu/event=0x3c/", "r00c0"), "intel-generic"),
                        (("armv8_pmuv3_0/cpu_cycles/", "armv8_pmuv3_0/inst_retired/"), "armv8-pmuv3"),
                        (("task-clock", "cycles", "instructions"), "kernel-events"), (("cycles", "ex_ret_ops", "ls_dispatch.ld_dispatch"), None),
                        (("TOPDOWN.SLOTS", "UOPS_RETIRED.SLOTS"), None), (("cpu_atom/MEM_LOAD_UOPS_RETIRED.L1_MISS/", "cpu_atom/MEM_UOPS_RETIRED.ALL_LOADS/"), None)):
        status, log = spec_of(*lines)
        if spec:
            assert status == 0 and f"in the spec {spec}" in log, (lines, log)
        else:
            assert status == 2 and "events of several specs alike" in log and "--spec" in log, (lines, log)
    assert "golden-cove" not in log and "skymont" in log, log  # of the PMU that the log names
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "log"), "1.0,9,,cycles,9,100.00,,\n1.0,9,,LLC-loads,9,100.00,,\n1.0,9,,emulation-faults,9,100.00,,\n")
        status, log = e2e.run_daemon("check-config", "--pmu", f"replay:{path}", "--spec", "skylake-sp")
        assert status == 0 and "2 of its 3 events are in the spec skylake-sp; not matched: LLC-loads;" in log, log


def test_a_table_of_perf_stat_is_replayed():
    with replay(os.path.join(LOGS, "table.txt"), "--spec", "neoverse-v1", "--speed", "0") as daemon:
        wait_end(daemon)
        assert e2e.value_of(daemon.get("/metrics"), "topdownd_ipc", socket="0") == 1.5
        daemon.stop()


if __name__ == "__main__":
    e2e.run_tests()
