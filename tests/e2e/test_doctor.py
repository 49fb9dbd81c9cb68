# SPDX-License-Identifier: Apache-2.0
"""`topdownd doctor`: made-up hosts with something wrong, whose trouble must be found and named with its remedy."""

import contextlib
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

import e2e
import test_addresses
import test_hosts
import test_uncore
import uncore_hosts
import web_files

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
SAPPHIRE_RAPIDS = "GenuineIntel-6-8F-4"
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_PERFMON = 24, 1, 2, 38


def listen(port):
    return f'listen: ["127.0.0.1:{port}"]\n'


def doctor(*options, yaml=None, **process):
    """The findings by check; of a check with several findings the last one."""
    with tempfile.TemporaryDirectory() as folder:
        config = e2e.write_text(os.path.join(folder, "topdownd.yaml"), yaml or listen(e2e.free_port()))
        words = [BINARY, "doctor", "--config", config, "--path.data", ROOT, *options]
        if "--path.run" not in options:
            words += ["--path.run", folder]
        for_people = subprocess.run(words, capture_output=True, text=True, timeout=e2e.TIMEOUT, **process)
        done = subprocess.run([*words, "--json"], capture_output=True, text=True, timeout=e2e.TIMEOUT, **process)
    assert done.stderr == "" and done.returncode in (0, 1), done
    assert done.returncode == for_people.returncode and max(map(len, for_people.stdout.splitlines())) <= 120, for_people
    said = json.loads(done.stdout)
    states = [finding["state"] for finding in said["findings"]]
    assert (said["failures"], said["warnings"]) == (states.count("failure"), states.count("warning")), said
    assert said["fit"] == (said["failures"] == 0) == (done.returncode == 0), said
    for finding in said["findings"]:
        assert finding["check"] in for_people.stdout and (finding["remedy"] or finding["state"] not in ("warning", "failure")), finding
    return {finding["check"]: finding for finding in said["findings"]}


@contextlib.contextmanager
def made_up_host(cpu=SAPPHIRE_RAPIDS, **settings):
    with tempfile.TemporaryDirectory() as folder:
        test_hosts.x86_host(folder, cpu, **settings)
        yield folder


def on(folder, **settings):
    return doctor("--path.sysfs", folder, "--path.procfs", folder, **settings)


def test_a_simulated_host_is_fit():
    found = doctor("--pmu", f"sim:{STEADY}")
    assert {finding["state"] for finding in found.values()} == {"ok"}, found
    assert "general and" in found["counters"]["text"] and "rights" not in found, found


def scenario(rival):
    with open(STEADY, encoding="utf-8") as file:
        return json.load(file) | {"rivals": [rival]}


def test_counters_that_others_have_are_counted():
    for counters, state, words in ((2, "warning", "4 of 6 general counters are free"), (6, "failure", "all 6 general counters")):
        with tempfile.TemporaryDirectory() as folder:
            path = e2e.write_text(os.path.join(folder, "rival.json"),
                                  json.dumps(scenario({"kind": "pinned", "cpus": "0-7", "counters": counters})))
            found = doctor("--pmu", f"sim:{path}")["counters"]
        assert found["state"] == state and words in found["text"] and found["remedy"], found


def test_what_a_host_has_is_named_with_its_state():
    with made_up_host(watchdog="1") as folder:
        test_hosts.write_all(folder, {"devices/system/clocksource/clocksource0/current_clocksource": "hpet",
                                      "sys/kernel/perf_event_paranoid": "3"})
        found = on(folder)
    assert found["nmi_watchdog"]["state"] == "warning" and "nmi_watchdog=0" in found["nmi_watchdog"]["remedy"], found
    assert found["clock_source"]["state"] == "warning" and "hpet" in found["clock_source"]["text"], found
    assert "perf_event_paranoid is 3" in found["rights"]["text"], found
    assert found["spec"]["state"] == "ok" and "sapphire-rapids" in found["spec"]["text"], found
    assert "4 CPUs in 4 cores on 1 socket" in found["cpu"]["text"], found


def test_a_host_without_counters_is_told_why_once():
    with made_up_host() as folder:
        shutil.rmtree(os.path.join(folder, "bus/event_source/devices/cpu"))
        found = on(folder)
    assert found["pmu"]["state"] == "warning" and "no hardware counters (No such file" in found["pmu"]["text"], found
    assert "the kernel's software events" not in found["pmu"]["remedy"] and "hypervisor" in found["pmu"]["remedy"], found
    assert re.search(r" [\d.]{2,} KiB of the kernel's memory", found["files"]["text"]), found


def test_files_are_those_of_cpus_and_of_boxes():
    yaml = listen(e2e.free_port()) + 'uncore: {pmus: [{name: "uncore_foo_*", events: [faults]}]}\n'
    with tempfile.TemporaryDirectory() as folder:
        here = test_uncore.foo(folder, ("0", "1"))
        _, planned = e2e.run_daemon("check-config", *here, yaml=yaml)
        files, = re.findall(r"^needs (\d+) file descriptors in all", planned, re.M)
        text = doctor(*here, yaml=yaml)["files"]["text"]
        assert text.startswith(f"{files} files are needed, one for each event and CPU or box, "), (text, planned)


def test_what_is_measured_outside_the_cores_is_named():
    found = doctor("--pmu", "sim:sapphire-rapids")
    assert found["uncore"]["state"] == found["memory_peak"]["state"] == "ok" and found["memory_peak"]["text"].endswith(" 307.2 GB/s"), found
    assert found["uncore"]["text"].startswith("PMUs imc: 16 boxes on 2 sockets, "), found
    assert doctor("--pmu", "sim:zen4")["memory_peak"]["text"].endswith(" 460.8 GB/s")
    out = doctor("--pmu", "sim:sapphire-rapids", yaml=listen(e2e.free_port()) + "uncore: {boxes: {exclude: [imc_*]}}\n")
    assert out["uncore"]["state"] == "warning" and "leaves out all boxes" in out["uncore"]["text"] and "memory_peak" not in out, out
    assert out["not_measured"]["text"].startswith("PMUs upi: 8 boxes, not measured: uncore.groups names"), out
    part = doctor("--pmu", "sim:sapphire-rapids", yaml=listen(e2e.free_port()) + "uncore: {boxes: {exclude: [imc_3]}}\n")["uncore"]
    assert part["state"] == "warning" and part["text"].startswith("PMUs imc: uncore.boxes leaves out 1 of 16 boxes") and "if that is meant" in part["remedy"], part
    off = doctor("--pmu", "sim:sapphire-rapids", yaml=listen(e2e.free_port()) + "uncore: {enabled: off}\n")
    assert off["uncore"]["text"] == "outside the cores nothing is measured: uncore.enabled is off" and "memory_peak" not in off, off


def test_a_peak_that_is_not_known_and_pmus_that_are_missing_are_told_with_a_remedy():
    with tempfile.TemporaryDirectory() as folder:
        uncore_hosts.sapphire_rapids(folder)
        found = on(folder)
        assert found["uncore"]["state"] == "ok" and found["memory_peak"]["state"] == "warning", found
        assert "uncore.peak" in found["memory_peak"]["remedy"] and "memory of socket 0 and of others " in found["memory_peak"]["text"], found
        stated = on(folder, yaml=listen(e2e.free_port()) + "uncore: {peak: 300GB}\n")["memory_peak"]
        assert (stated["state"], stated["text"]) == ("ok", "the memory of a socket can move 300.0 GB/s"), stated
    with made_up_host() as folder:
        found = on(folder)["uncore"]
        assert found["state"] == "warning" and "intel_uncore" in found["remedy"], found
        test_hosts.write_all(folder, {"hypervisor/type": "xen"})
        found = on(folder)["uncore"]
        assert found["state"] == "ok" and "as most virtual machines" in found["text"] and not found["remedy"], found


def test_what_the_configuration_names_outside_the_cores_and_the_host_lacks_is_told():
    yaml = listen(e2e.free_port()) + 'uncore: {groups: [memory, io], peak: {0: 307.2GB, 5: 100GB}, boxes: {exclude: ["nix_*"]}}\n'
    found = doctor("--pmu", "sim:sapphire-rapids", yaml=yaml)
    for check, says in (("uncore_groups", "has io: "), ("peak_socket", "names socket 5, "), ("boxes_missing", "nix_*")):
        assert found[check]["state"] == "warning" and says in found[check]["text"], (check, found)
        assert "topdownd.yaml:2:" in found[check]["text"] and "other hosts" in found[check]["remedy"], found
    wrong = doctor("--pmu", "sim:sapphire-rapids", yaml=listen(e2e.free_port()) + "uncore: {peak: 100GB}\n")["peak_differs"]
    assert wrong["state"] == "warning" and "307.2 GB/s" in wrong["text"] and "uncore.peak: auto" in wrong["remedy"], wrong


def test_a_peak_that_the_memorys_clock_tells_is_measured():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(ROOT, "scenarios/zen4.json"), encoding="utf-8") as file:
            host = json.load(file)
        for kind in host["uncore"]:
            kind.pop("peak", None)
        found = doctor("--pmu", f"sim:{e2e.write_text(os.path.join(folder, 'clock.json'), json.dumps(host))}")["memory_peak"]
    assert found["state"] == "ok" and found["text"].endswith("its boxes count the memory's clock"), found


def test_a_cpu_without_a_spec_of_its_own_is_told_of():
    with made_up_host("GenuineIntel-6-10-1") as folder:
        found = on(folder)["spec"]
    assert found["state"] == "warning" and "not for exactly this CPU" in found["text"] and "specs:" in found["remedy"], found


def test_who_else_counts_is_named_by_program_and_process():
    """Where topdownd takes counters they share them; where it counts software events alone nobody loses any."""
    with made_up_host() as folder, tempfile.TemporaryDirectory() as bare:
        for process, program, events in ((4_000_001, "few", 1), (4_000_002, "many\x1b", 3), (4_000_003, "none", 0)):
            test_hosts.write_all(folder, {f"{process}/comm": program})
            os.makedirs(os.path.join(folder, f"{process}/fd"))
            os.symlink("/dev/null", os.path.join(folder, f"{process}/fd/0"))
            for i in range(events):
                os.symlink("anon_inode:[perf_event]", os.path.join(folder, f"{process}/fd/{i + 1}"))
        found = on(folder)["counting"]
        test_uncore.made_up(bare, ())
        shutil.copytree(os.path.join(folder, "4000002"), os.path.join(bare, "4000002"), symlinks=True)
        beside = on(bare)["counting"]
    assert beside["state"] == "ok" and "many? (process 4000002, 3 events); topdownd takes no counters" in beside["text"], beside
    assert found["state"] == "warning", found
    assert "many? (process 4000002, 3 events), few (process 4000001, 1 event)" in found["text"] and "none" not in found["text"], found


def test_a_host_that_waits_for_its_disks_is_told_so():
    with made_up_host() as folder:
        path = os.path.join(folder, "vmstat")
        os.mkfifo(path)  # each reader gets what the next call of the writer says
        writer = subprocess.Popen(["sh", "-c", 'for n in 0 500 0 500; do printf "pgfault 1\\npgmajfault %d\\n" $n >"$0"; sleep 0.3; done', path])
        try:
            found = on(folder)["page_faults"]
        finally:
            writer.kill()
            writer.wait()
    assert found["state"] == "warning" and found["text"].startswith("500 page faults a second"), found


def test_a_port_that_somebody_has_is_a_failure():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with made_up_host() as folder:
            found = on(folder, yaml=listen(taken.getsockname()[1]))["port"]
    assert found["state"] == "failure" and "Address already in use" in found["text"] and "ss -ltnp" in found["remedy"], found


def test_a_running_daemon_is_found_and_left_alone():
    with tempfile.TemporaryDirectory() as folder, made_up_host() as host, \
            e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder) as daemon:
        yaml = listen(daemon.port)
        found = doctor("--path.sysfs", host, "--path.procfs", host, "--path.run", folder, yaml=yaml)
        pid = str(daemon.process.pid)
    assert pid in found["daemon"]["text"] and pid in found["counters"]["text"], found
    assert (found["counters"]["state"], found["port"]["state"]) == ("not_checked", "ok"), found


def test_a_port_that_the_running_daemon_waits_for_is_a_failure():
    with tempfile.TemporaryDirectory() as folder, made_up_host() as host, e2e.Daemon("--pmu", f"sim:{STEADY}") as other:
        yaml = listen(other.port)
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder, yaml=yaml, ready=False) as daemon:
            e2e.wait_for(lambda: "the port is taken" in daemon.log(), "its word on the port")
            e2e.wait_for(lambda: os.path.exists(os.path.join(folder, "control.sock")), "the control socket")
            found = doctor("--path.sysfs", host, "--path.procfs", host, "--path.run", folder, yaml=yaml)["port"]
    assert found["state"] == "failure" and "topdownd waits until" in found["text"], found
    assert "the port is taken, perhaps by another topdownd" in found["remedy"], found


def test_a_port_of_which_the_running_daemon_knows_nothing_is_somebody_elses():
    with tempfile.TemporaryDirectory() as folder, made_up_host() as host, socket.socket() as taken, \
            e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder):
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        found = doctor("--path.sysfs", host, "--path.procfs", host, "--path.run", folder, yaml=listen(taken.getsockname()[1]))["port"]
    assert found["state"] == "failure" and "Address already in use" in found["text"] and "ss -ltnp" in found["remedy"], found


def test_a_daemon_in_another_network_is_asked_where_it_listens():
    """Nobody but itself knows: its addresses are not this network's. One that stands for all has each of its kind."""
    port = e2e.free_port()
    with tempfile.TemporaryDirectory() as folder, made_up_host() as host:
        config = e2e.write_text(os.path.join(folder, "c.yaml"), f'listen: ["0.0.0.0:{port}"]\n')
        command = test_addresses.in_a_network_of_its_own(BINARY, "--pmu", f"sim:{STEADY}", "--config", config, "--path.data", ROOT,
                                                         "--path.run", folder)
        with e2e.Program(command) as daemon:
            e2e.wait_for(lambda: f"look at http://0.0.0.0:{port}/" in daemon.log(), "the daemon")
            here = ("--path.sysfs", host, "--path.procfs", host, "--path.run", folder)
            ok, other = doctor(*here, yaml=listen(port))["port"], doctor(*here, yaml=f'listen: ["[::1]:{port}"]\n')["port"]
    assert (ok["state"], "as it should be" in ok["text"]) == ("ok", True), ok
    assert (other["state"], "nobody listens" in other["text"]) == ("warning", True), other


def test_a_daemon_that_does_not_say_where_it_listens_is_not_taken_to_have_the_port():
    def answer(requests):
        with contextlib.suppress(OSError):
            while True:
                client, _ = requests.accept()
                with client:
                    if client.recv(128):
                        client.sendall(b"error there is no such request: 'yield SECONDS', 'lease SECONDS' and 'reload' are all\n")

    with tempfile.TemporaryDirectory() as folder, made_up_host() as host, socket.socket() as taken, \
            socket.socket(socket.AF_UNIX) as requests:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        requests.bind(os.path.join(folder, "control.sock"))
        requests.listen()
        thread = threading.Thread(target=answer, args=(requests,), daemon=True)
        thread.start()
        found = doctor("--path.sysfs", host, "--path.procfs", host, "--path.run", folder, yaml=listen(taken.getsockname()[1]))["port"]
        requests.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert found["state"] == "not_checked" and "does not say" in found["text"] and "restart" in found["remedy"], found


def test_what_is_wrong_with_the_running_daemon_is_told_by_the_page_and_the_doctor():
    with tempfile.TemporaryDirectory() as folder, made_up_host() as host:
        recording, prom = os.path.join(folder, "recording"), os.path.join(folder, "later")
        here = ("--path.sysfs", host, "--path.procfs", host, "--path.run", folder)
        yaml = e2e.LISTEN_ANYWHERE + f"slot: 50ms\ntextfile: {{path: '{prom}', interval: 1s}}\n"
        names = ("configuration", "recording", "textfile")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder, "--record", recording, yaml=yaml) as daemon:
            os.mkdir(prom)
            value = lambda name: e2e.value_of(daemon.get("/metrics"), name, simulated="true") if name in daemon.get("/metrics") else None
            e2e.wait_for(lambda: os.path.getsize(recording) > 0 and value("topdownd_textfile_up") == 1, "its files")
            well, page = doctor(*here, yaml=listen(daemon.port)), daemon.get("/plain")
            assert not set(names) & set(well) and not any(f"<b>{name}</b>" in page for name in names), (well, page)
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (os.path.getsize(recording) + 1000, resource.RLIM_INFINITY))
            shutil.rmtree(prom)
            e2e.write_text(daemon.config, "listen: nowhere\n")
            daemon.process.send_signal(signal.SIGHUP)
            e2e.wait_for(lambda: [value(f"topdownd_{name}") for name in ("config_last_reload_successful", "recording_up", "textfile_up")]
                         == [0, 0, 0], "all three")
            page, found = daemon.get("/plain"), doctor(*here, yaml=listen(daemon.port))
    for name, text, remedy in (("configuration", "the one before it is still in force", "topdownd check-config"),
                               ("recording", f"{recording} cannot be written", "File too large"),
                               ("textfile", f"the file for Prometheus in {prom} cannot be written", "the folder does not exist: make it")):
        assert found[name]["state"] == "warning" and text in found[name]["text"] and remedy in found[name]["remedy"], found
        assert f"<b>{name}</b> " in page and text in page and remedy[1:] in page, page


def test_a_user_who_may_not_ask_the_daemon_is_not_told_that_none_runs():
    def without_rights_to_others_files():
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)

    if os.geteuid() != 0:
        raise e2e.Skip("it takes root to lose a capability")
    with tempfile.TemporaryDirectory() as folder, made_up_host() as host, \
            e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder) as daemon:
        os.chmod(os.path.join(folder, "control.sock"), 0)
        found = doctor("--path.sysfs", host, "--path.procfs", host, "--path.run", folder, yaml=listen(daemon.port),
                       preexec_fn=without_rights_to_others_files)
    assert (found["daemon"]["state"], found["port"]["state"]) == ("not_checked", "not_checked"), found
    assert "root" in found["daemon"]["remedy"] and "perhaps by topdownd" in found["port"]["text"], found


@contextlib.contextmanager
def beside(*options, yaml, **settings):
    """What the doctor finds, called with the options and the configuration, beside a daemon with this one."""
    with tempfile.TemporaryDirectory() as folder, made_up_host() as host, \
            e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder, *options, yaml=yaml, **settings) as daemon:
        yield daemon, lambda yaml=yaml, *more: doctor("--path.sysfs", host, "--path.procfs", host, "--path.run", folder, *more, yaml=yaml)


def test_probes_of_the_running_daemon_are_asked():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "with space", "probe.sock")
        os.mkdir(os.path.dirname(path))
        with beside(yaml=e2e.LISTEN_ANYWHERE + f"probe: '{path}'\n") as (_, look):
            found = look()
            assert (found["probe"]["state"], found["probe_rights"]["state"]) == ("ok", "ok"), found
            assert f"{path} answers to probes" in found["probe"]["text"] and "every user" in found["probe_rights"]["text"], found
            os.chmod(os.path.dirname(path), 0o750)
            os.chmod(path, 0o600)
            found = look()["probe_rights"]
            assert found["state"] == "warning" and "mode 600" in found["text"] and f"chmod 0666 {path}" in found["remedy"], found
            os.chmod(path, 0o666)
            found = look()["probe_rights"]
            assert found["state"] == "ok" and f"may enter {os.path.dirname(path)}: its owner and its group" in found["text"], found
            other = look(e2e.LISTEN_ANYWHERE + f"probe: '{path}.other'\n")["probe"]
            assert other["state"] == "warning" and "topdownd reload" in other["remedy"], other
            os.unlink(path)
            gone = look()["probe"]
            assert gone["state"] == "not_checked" and "No such file" in gone["text"] and gone["remedy"], gone


def test_a_probe_that_is_taken_or_does_not_answer_is_a_failure():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yaml = e2e.LISTEN_ANYWHERE + f'probe: "127.0.0.1:{taken.getsockname()[1]}"\n'
        with made_up_host() as folder:
            alone = on(folder, yaml=yaml)["probe"]
        assert alone["state"] == "failure" and "Address already in use" in alone["text"] and "ss -ltnp" in alone["remedy"], alone
        with beside(yaml=yaml) as (_, look):
            waits = look()["probe"]
            assert waits["state"] == "failure" and "topdownd waits until" in waits["text"] and "the port is taken" in waits["remedy"], waits
    with tempfile.TemporaryDirectory() as folder, made_up_host() as host:
        path = e2e.write_text(os.path.join(folder, "probe.sock"), "no socket")
        found = on(host, yaml=e2e.LISTEN_ANYWHERE + f"probe: {path}\n")["probe"]
        assert found["state"] == "failure" and "is not a socket" in found["text"], found
        found = on(host, yaml=e2e.LISTEN_ANYWHERE + f"probe: {folder}/none/probe.sock\n")["probe"]
        assert found["state"] == "failure" and "No such file" in found["text"], found
        assert on(host, yaml=e2e.LISTEN_ANYWHERE + f"probe: {folder}/probe.sock.2\n")["probe"]["state"] == "ok"


def test_a_certificate_that_expires_is_told_by_the_daemon_or_found_in_the_file():
    files = web_files.Files()
    files.authority()
    for name, days in (("server", 2), ("long", 400), ("old", -1)):
        files.certificate(name, days=days)
    yaml, web = e2e.LISTEN_ANYWHERE, files.tls()
    with beside("--web.config.file", web, yaml=yaml, ready=False) as (daemon, look):
        e2e.wait_for(lambda: "look at https" in daemon.log(), "the daemon")
        soon = look()
        assert soon["certificate"]["state"] == "warning" and "expires in" in soon["certificate"]["text"] and "web_configuration" not in soon, soon
        assert "topdownd's TLS: " in soon["certificate"]["text"] and "renew" in soon["certificate"]["remedy"], soon
        os.unlink(files.path("server.key"))
        e2e.wait_for(lambda: "the web configuration has changed and is not in force" in daemon.log(), "its word")
        wrong = look(yaml, "--web.config.file", web)
        assert wrong["web_configuration"]["state"] == "failure" and "server.key" in wrong["web_configuration"]["text"], wrong
        told = look(yaml)["web_configuration"]
        assert told["state"] == "warning" and "is not in force" in told["text"] and "journalctl" in told["remedy"], told
        assert wrong["certificate"] == soon["certificate"] or "expires in" in wrong["certificate"]["text"], wrong
    with made_up_host() as host:
        def of(web):
            return doctor("--path.sysfs", host, "--path.procfs", host, "--web.config.file", web)
        fine = of(files.tls(cert_file="long.pem", key_file="long.key"))["certificate"]
        assert fine["state"] == "ok" and "good for another 399 days" in fine["text"], fine
        old = of(files.tls(cert_file="old.pem", key_file="old.key"))["certificate"]
        assert old["state"] == "failure" and "has expired" in old["text"], old
        none = of(files.tls(cert_file="none.pem"))
        assert none["web_configuration"]["state"] == "failure" and "none.pem" in none["web_configuration"]["text"] and "certificate" not in none, none


def test_who_may_not_read_the_web_configuration_does_not_say_that_topdownd_may_not():
    def without_rights_to_others_files():
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):  # nobody but root has any to lose
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)

    files = web_files.Files()
    files.authority()
    files.certificate("server")
    web = files.tls()
    with made_up_host() as host:
        def found(rights=0, path=None):
            os.chmod(path or web, rights)
            return doctor("--path.sysfs", host, "--path.procfs", host, "--web.config.file", web, preexec_fn=without_rights_to_others_files)

        fine = found(0o600)
        assert fine["certificate"]["state"] == "warning" and "web_configuration" not in fine, fine  # it is good for two days
        for path in (files.path("server.key"), web):
            denied = found(0, path)["web_configuration"]
            assert denied["state"] == "not_checked" and path in denied["text"] and "as root" in denied["remedy"], denied
            os.chmod(path, 0o600)


def test_passwords_without_tls_are_told():
    files = web_files.Files()
    web = files.write(web_files.users())
    yaml = f'listen: ["0.0.0.0:{e2e.free_port()}"]\n'
    with beside("--web.config.file", web, yaml=yaml, ready=False) as (daemon, look):
        e2e.wait_for(lambda: "look at" in daemon.log(), "the daemon")
        found = look(yaml, "--web.config.file", web)["password_without_tls"]
        assert found["state"] == "warning" and "go over the network as they are" in found["text"] and "tls_server_config" in found["remedy"], found
    with made_up_host() as host:
        alone = doctor("--path.sysfs", host, "--path.procfs", host, "--web.config.file", web, yaml=yaml)
        assert alone["password_without_tls"] == found, alone


def test_mistakes_of_the_configuration_end_it():
    with tempfile.TemporaryDirectory() as folder:
        config = e2e.write_text(os.path.join(folder, "topdownd.yaml"), "slotz: 5ms\n")
        done = subprocess.run([BINARY, "doctor", "--config", config, "--path.data", ROOT], capture_output=True, text=True,
                              timeout=e2e.TIMEOUT)
    assert (done.returncode, done.stdout) == (2, "") and "slotz" in done.stderr and ":1" in done.stderr, done


def test_whether_the_service_may_count_is_tried_with_its_rights():
    if reason := e2e.perf_events_allowed():
        raise e2e.Skip(reason)
    found = doctor()["rights"]
    if os.geteuid() != 0:
        assert found["state"] == "not_checked" and "as root" in found["remedy"], found
    else:
        level = int(e2e.read_text("/proc/sys/kernel/perf_event_paranoid"))
        assert f"perf_event_paranoid is {level}" in found["text"], found
        assert found["state"] in (("ok", "not_checked") if level <= 2 else ("ok", "failure", "not_checked")), found
    return found["text"]


def give_up_perfmon():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_CAPBSET_DROP, CAP_PERFMON, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def test_who_has_no_right_to_give_is_not_told_that_the_service_may_count():
    if os.geteuid() != 0:
        raise e2e.Skip("only root has rights to give up")
    found = doctor(preexec_fn=give_up_perfmon)["rights"]  # as in most containers
    assert found["state"] == "not_checked" and "CAP_PERFMON" in found["remedy"], found


if __name__ == "__main__":
    e2e.run_tests()
