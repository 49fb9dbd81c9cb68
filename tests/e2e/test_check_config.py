# SPDX-License-Identifier: Apache-2.0
"""`topdownd check-config`: all mistakes at once, and what is allowed and unwise."""

import glob
import json
import os
import re
import subprocess
import tempfile

import e2e
import uncore_hosts

BINARY, ROOT = e2e.arguments()
LEFT = re.compile(r"[\d.]+ [KMGT]?i?B left")  # on a disk that others write to, too
OPEN = "listen: ['0.0.0.0:10999']\n"
USERS = "basic_auth_users: {prometheus: $2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG}\n"


def check(*words, yaml=None, web=None):
    """The exit status and what it says, as JSON and for people."""
    with tempfile.TemporaryDirectory() as folder:
        config = os.devnull if yaml is None else e2e.write_text(os.path.join(folder, "a.yaml"), yaml)
        options = [] if web is None else ["--web.config.file", e2e.write_text(os.path.join(folder, "web.yaml"), web)]
        command = [BINARY, "check-config", config, "--path.data", ROOT, *([] if "--pmu" in words else ["--pmu", "sim"]), *options, *words]
        text = subprocess.run(command, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
    assert done.returncode == text.returncode and done.stderr == "", (text, done)
    said = json.loads(done.stdout)
    assert list(said) == ["valid", "files", "hostname", "profile", "core_types", "uncore", "uncore_not_measured", "mistakes", "warnings"], said
    assert said["valid"] == (said["mistakes"] == []) == (done.returncode != 2), (done.returncode, said)
    assert len(re.findall(r"^(?:core type \S+ |PMUs \S+ )?warning: ", text.stdout.replace(": warning: ", " warning: "), re.M)) == len(said["warnings"]), text
    for warning in said["warnings"]:
        words, printed = LEFT.sub("", warning["text"]), LEFT.sub("", text.stdout)
        assert words in printed and (warning["remedy"] or "") in printed, (warning, text)
        place = f"{warning['file']}:{warning['line']}: "
        assert (warning["file"] in (config, *options[1:])) == (warning["line"] > 0) == (warning["column"] > 0), warning
        assert warning["line"] == 0 or f"warning: {place}{words}" in printed, (warning, text)
    for mistake in said["mistakes"]:
        assert mistake["text"] in text.stderr, (mistake, text)
    return done.returncode, said


def warnings_of(*words, **how):
    """The words of the warnings about the configuration."""
    status, said = check("--strict", *words, **how)
    found = {warning["check"] for warning in said["warnings"] if warning["about"] == "configuration"}
    assert status == (1 if found else 0), (status, said)
    assert check(*words, **how)[0] == 0, "without --strict a warning does not fail"
    return found


def test_what_ships_has_no_warning():
    for path in sorted(glob.glob(os.path.join(ROOT, "scenarios/*.json"))):
        name = os.path.splitext(os.path.basename(path))[0]
        assert warnings_of("--pmu", f"sim:{name}") == set(), name
    assert warnings_of(yaml=e2e.read_text(os.path.join(ROOT, "config/topdownd.yaml"))) == set()


UNWISE = {
    "listen_unprotected": OPEN,
    "listen_port": "listen: ['127.0.0.1:80']\n",
    "nobody_reads": "listen: none\n",
    "slot_short": "slot: 20ms\n",
    "interval_below_slot": "slot: 5s\n",
    "interval_long": "interval: 45s\n",
    "round_long": "slot: 30s\ninterval: 30s\n",
    "idle_none": "idle: 0\n",
    "idle_large": "idle: 80%\n",
    "reserve_all": "counters: {reserve: 6}\n",
    "group_not_plannable": "counters: {reserve: 5}\nprofiles: {default: {groups: [MPKI]}}\n",
    "adaptive_alone": "mode: adaptive\n",
    "series": "max_series: 10\n",
    "cpu_series": "max_cpu_series: 100\n",
    "rule_never_reached": "hosts:\n- {match: {hostname: '*'}, profile: default}\n- {match: {cpu: zen4}, profile: default}\n",
    "rule_without_cpu": "hosts: [{match: {cpu: zen9}, profile: default}]\n",
    "textfile_cannot_be_written": "textfile: {path: /nonexistent}\n",
    "textfile_open": "textfile: {path: /tmp}\n",
    "textfile_interval": "interval: 20s\ntextfile: {path: /}\n",
    "record_cannot_be_made": "record: {path: /nonexistent/a}\n",
    "record_too_large": "record: {path: /a, size: 1024G}\n",
}


def test_unwise_settings_are_warned_of():
    for word, yaml in UNWISE.items():
        assert word in warnings_of(yaml=yaml), (word, warnings_of(yaml=yaml))
    if os.path.isdir("/dev/shm"):
        assert "record_in_memory" in warnings_of(yaml="record: {path: /dev/shm/a, size: 1M}\n")
    return f"{len(UNWISE)} settings"


def places_of(word, *words, **how):
    """Line and column of each warning of the word."""
    return [(warning["line"], warning["column"]) for warning in check(*words, **how)[1]["warnings"] if warning["check"] == word]


def test_a_warning_of_a_setting_names_its_place():
    for word, yaml in UNWISE.items():
        places = places_of(word, yaml="\n\n" + yaml)
        assert places and all(line > 2 for line, _ in places), (word, places)
    assert places_of("idle_large", yaml="idle: 80%\nprofiles:\n  default:\n    groups: [stage_1]\n    idle: 70%\n") == [(5, 11)], "the profile wins"
    assert places_of("idle_large", yaml="idle: 80%\nprofiles:\n  default: {groups: [stage_1]}\n  other: {groups: [], idle: 70%}\n") == [(1, 7)]
    assert places_of("group_not_plannable", yaml="counters: {reserve: 5}\nprofiles:\n  default:\n    groups:\n    - stage_1\n    - MPKI\n")[-1] == (6, 7)
    assert places_of("groups_missing", "--cpu", "zen4", yaml="profiles:\n  default:\n    groups: [stage_1, L1D_Cache_Effectiveness]\n") == [(3, 13)]
    open_to_all = [warning for warning in check(yaml=OPEN)[1]["warnings"] if warning["check"] == "listen_unprotected"]
    assert all("--web.config.file" in each["remedy"] and "--web.config.file" not in each["text"] for each in open_to_all), open_to_all
    assert places_of("listen_unprotected", "--web.listen-address", ":10999") == [(0, 0)], "the command line has no lines"


def test_a_rule_for_a_cpu_without_a_spec_gets_the_nearest_name():
    rules = {"zen9": 'did you mean "zen', "Graviton 4": 'did you mean "neoverse-v2"', "ZEN4": None, "neoverse-*": None, "qqqqqq-*": 'the name "qqqqqq-*"'}
    yaml = "hosts:\n" + "".join(f"- {{match: {{cpu: '{cpu}'}}, profile: default}}\n" for cpu in rules)
    for words in ((), ("--cpu", "zen4")):
        said = {warning["line"]: warning["text"] for warning in check(*words, yaml=yaml)[1]["warnings"] if warning["check"] == "rule_without_cpu"}
        assert list(said) == [2, 3, 6] and all(text in said[line] for line, text in enumerate(rules.values(), 2) if text), said
    assert places_of("rule_without_cpu", yaml=yaml + "specs: {path: /}\n") == [], "a vendor's files have other names"


def test_cpus_that_this_host_lacks_are_told():
    def missing(yaml, *words):
        return [(each["line"], each["column"], each["text"]) for each in check(*words, yaml=yaml)[1]["warnings"] if each["check"] == "cpus_missing"]
    assert missing("cpus: 0-3,60-70,200-300\n") == [(1, 7, "cpus names 64-70,200-300, and this host has the CPUs 0-63")]
    assert "cpus_missing" not in warnings_of(yaml="cpus: 0-70\n"), "it is right on another host"
    assert missing("cpus: 0-63\n") == missing("cpus: all\n") == missing("cpus: 0-300\n", "--cpu", "zen4") == []
    assert missing("cpus: 0-999\n", "--pmu", "sim:hybrid")[0][2].endswith("has the CPUs 0-7"), "those of all core types"
    with tempfile.TemporaryDirectory() as host:
        uncore_hosts.zen4(host)
        present = e2e.read_text(os.path.join(host, "devices/system/cpu/present")).strip()
        e2e.write_text(os.path.join(host, "devices/system/cpu/online"), "0")
        found = missing("cpus: 0-4095\n", "--pmu", "auto", "--path.sysfs", host, "--path.procfs", host)
        assert found[0][2].endswith(f"has the CPUs {present}"), (present, found)


def test_a_metric_group_that_only_counts_outside_the_cores_is_warned_of():
    yaml = "profiles:\n  default:\n    groups:\n    - stage_1\n    - l3_cache\n    - memory_controller\n"
    with tempfile.TemporaryDirectory() as host:
        uncore_hosts.zen4(host)
        for words in (("--pmu", "sim:zen4"), ("--cpu", "zen4"), ("--pmu", "auto", "--path.sysfs", host, "--path.procfs", host)):
            status, said = check("--strict", *words, yaml=yaml)
            found = {(each["line"], each["column"]): each["text"] for each in said["warnings"] if each["check"] == "group_not_plannable"}
            assert status == 1 and {(5, 7), (6, 7)} <= set(found), (words, said)
            assert all("uncore.groups" in found[place] for place in ((5, 7), (6, 7))), found
            assert "PMU amd_l3" in found[5, 7] and "PMU amd_umc" in found[6, 7], found
    assert places_of("group_not_plannable", "--cpu", "zen4", yaml="profiles: {default: {groups: [stage_1, l2_cache]}}\n") == []


def test_what_a_scenario_lacks_outside_the_cores_is_told():
    yaml = "uncore:\n  groups: [memory, llc,\n    io, Queue_Latency]\n  boxes: {exclude: [imc_0, umc_1]}\n  pmus: [{name: power, events: [x]}]\n"
    assert places_of("uncore_groups", "--pmu", "sim:zen4", yaml=yaml) == [(2, 20), (3, 5), (3, 9)]
    assert places_of("boxes_missing", "--pmu", "sim:zen4", yaml=yaml) == [(4, 21)]
    said = check("--pmu", "sim:zen4", yaml=yaml)[1]["warnings"]
    assert any("a.yaml:5: a simulated host has no PMU power" in warning["text"] for warning in said), said
    assert any("uncore.boxes leaves out 1 of" in warning["text"] for warning in said), said
    assert places_of("uncore_groups", "--pmu", "sim:zen4", yaml="uncore: {groups: [memory]}\n") == []


def test_a_peak_that_is_not_the_scenarios_is_warned_of():
    """Also the peak of the boxes that are left is right: seven of eight."""
    for host, truth in (("sapphire-rapids", "307.2"), ("zen4", "460.8")):
        for peak, stated in (("100GB", "100"), ("1MB", "0.001"), ("1.5TB", "1500")):
            yaml = f"uncore: {{peak: {peak}}}\n"
            assert warnings_of("--pmu", f"sim:{host}", yaml=yaml) == {"peak_differs"} and places_of("peak_differs", "--pmu", f"sim:{host}", yaml=yaml) == [(1, 16)] * 2
            said = [each["text"] for each in check("--pmu", f"sim:{host}", yaml=yaml)[1]["warnings"] if each["check"] == "peak_differs"]
            assert said == [f"uncore.peak of socket {socket} is {stated} GB/s, and its scenario states {truth} GB/s" for socket in (0, 1)], said
        for right in (f"{truth}GB", "auto", f"{{0: {truth}GB}}"):
            assert warnings_of("--pmu", f"sim:{host}", yaml=f"uncore: {{peak: {right}}}\n") == set(), right
        assert places_of("peak_differs", "--pmu", f"sim:{host}", yaml=f"uncore:\n  peak: {{1: 100GB, 0: {truth}GB}}\n") == [(2, 9)]
    for peak, fits in (("268.8GB", True), ("307.2GB", True), ("230GB", False), ("350GB", False)):
        found = warnings_of("--pmu", "sim:sapphire-rapids", yaml=f"uncore: {{peak: {{0: {peak}}}, boxes: {{exclude: [imc_3]}}}}\n")
        assert found == (set() if fits else {"peak_differs"}), (peak, found)


def test_wise_ones_beside_them_are_not():
    for yaml in ("listen: ['127.0.0.1:10999', '[::1]:10999']\n", "slot: 200ms\n", "interval: 15s\n", "slot: 1s\ninterval: 1s\n", "idle: 50%\n",
                 "idle: 0\ncounters: {reserve: 1}\n", "max_series: none\n", "guests: share\n",
                 "mode: adaptive\nprofiles: {default: {groups: [Defaults, L1D_Cache_Effectiveness]}}\n",
                 "hosts:\n- {match: {cpu: zen4}, profile: default}\n- {match: {hostname: 'a*', cpu: zen4, file: /x}, profile: default}\n"
                 .replace("'a*', cpu: zen4, file: /x", "'a*'"), "listen: none\ntextfile: {path: /}\n"):
        assert warnings_of(yaml=yaml) <= {"textfile_cannot_be_written"}, yaml


def test_a_group_that_the_cpu_lacks_is_warned_of():
    lacking = "profiles: {default: {groups: [stage_1, Rename_Effectiveness]}}\n"
    assert warnings_of("--pmu", "sim:hybrid", yaml=lacking) == {"groups_missing"}
    assert warnings_of("--cpu", "zen4", yaml=lacking.replace("Rename", "L1D_Cache")) == {"groups_missing"}


def test_protection_is_judged_as_a_whole():
    assert warnings_of(yaml=OPEN, web=USERS) == {"password_without_tls"}
    assert warnings_of(yaml="listen: ['127.0.0.1:1099']\n", web=USERS) == set()
    assert warnings_of("--web.systemd-socket", yaml=OPEN) == set(), "systemd knows the addresses"
    with tempfile.TemporaryDirectory() as folder:
        for command in (["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{folder}/k", "-out", f"{folder}/c", "-subj", "/CN=x"],):
            if subprocess.run(["openssl", *command], capture_output=True, check=False).returncode != 0:
                raise e2e.Skip("openssl makes no certificate")
        tls = f"tls_server_config: {{cert_file: {folder}/c, key_file: {folder}/k}}\n"
        done = subprocess.run(["openssl", "req", "-x509", "-key", f"{folder}/k", "-out", f"{folder}/soon", "-subj", "/CN=x", "-days", "10"],
                              capture_output=True, check=False)
        assert done.returncode == 0, done
        soon = tls.replace(f"{folder}/c", f"{folder}/soon") + USERS
        assert warnings_of(yaml=OPEN, web=soon) == warnings_of("--web.systemd-socket", yaml=OPEN, web=soon) == {"certificate_expires"}
        warning, = [each for each in check(yaml=OPEN, web=soon)[1]["warnings"] if each["check"] == "certificate_expires"]
        assert (warning["line"], warning["column"]) == (1, 32) and f"{folder}/soon: this certificate expires in " in warning["text"], warning
        mutual = tls.replace("}", f", client_auth_type: RequireAndVerifyClientCert, client_ca_file: {folder}/c}}")
        assert warnings_of(yaml=OPEN, web=tls) == {"tls_without_authentication"}
        assert warnings_of(yaml=OPEN, web=tls + USERS) == warnings_of(yaml=OPEN, web=mutual) == set()


def test_mistakes_of_all_files_are_told_at_once():
    status, said = check("--web.config.file", "/nonexistent.yaml", yaml="slots: 1s\nidle: 99%\n")
    assert status == 2 and [(os.path.basename(m["file"]), m["line"], m["column"]) for m in said["mistakes"]] == [
        ("a.yaml", 1, 1), ("a.yaml", 2, 7), ("nonexistent.yaml", 0, 0)], said
    assert (said["files"], said["profile"], said["core_types"], said["warnings"]) == ([], None, [], []), said
    for web, what in (("tls_server_config: {}\n", "cert_file"), ("basic_auth_users: {a: b}\n", "bcrypt")):
        status, said = check(yaml="slot: 1s\n", web=web)
        assert status == 2 and what in said["mistakes"][0]["text"], said
        assert said["files"] == [], "nothing is said to have no mistakes beside one that has"


def test_json_says_what_is_measured_here_and_elsewhere():
    _, said = check("--pmu", "sim:hybrid")
    assert said["profile"] == "default" and [t["spec"] for t in said["core_types"]] == ["c1-ultra", "c1-pro", "c1-nano"], said
    for kind in said["core_types"]:
        assert list(kind) == ["spec", "groups", "cpus", "metrics", "event_groups", "round_seconds", "slot_seconds", "files"], kind
        assert kind["files"] > kind["cpus"] > 0 and kind["round_seconds"] > kind["slot_seconds"] > 0 and kind["groups"], kind
    _, said = check("--host", "db-7", "--cpu", "zen4", yaml="profiles: {a: {groups: [MPKI]}}\nhosts: [{match: {hostname: 'db-*'}, profile: a}]\n")
    assert (said["hostname"], said["profile"], said["core_types"]) == ("db-7", "a", [{"spec": "zen4", "groups": ["MPKI"]}]), said


def test_slots_are_those_of_so_many_cores_and_shorter_where_a_round_would_last_more_than_15_s():
    many = "profiles: {default: {groups: [stage_1, MPKI, Miss_Ratio, General], weights: {MPKI: 10}}}\n"
    scenario = json.loads(e2e.read_text(os.path.join(ROOT, "tests/data/scenarios/steady.json")))
    with tempfile.TemporaryDirectory() as folder:
        for cores, slot in ((32, 0.2), (128, 0.375), (256, 0.75)):
            host = e2e.write_text(os.path.join(folder, "a.json"), json.dumps(scenario | {"sockets": 1, "cores_per_socket": cores}))
            few, more = (check("--pmu", f"sim:{host}", yaml=yaml)[1]["core_types"][0] for yaml in (None, many))
            assert few["slot_seconds"] == slot and few["round_seconds"] < 15, (cores, few)
            slots = round(more["round_seconds"] * 0.9 / more["slot_seconds"])
            assert abs(more["slot_seconds"] - min(slot, 15 * 0.9 / slots)) < 1e-8 and more["round_seconds"] <= 15, (cores, slots, more)
            assert (more["slot_seconds"] < slot) == (cores > 32), (cores, slots, more)


def test_the_file_is_named_once():
    done = subprocess.run([BINARY, "check-config", "/dev/null", "--config", "/dev/null"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "mean the same" in done.stderr, done


def test_the_manual_has_each_warning():
    page = e2e.read_text(os.path.join(ROOT, "docs/topdownd-check-config.8"))
    sources = "".join(e2e.read_text(path) for path in glob.glob(os.path.join(ROOT, "daemon/check/*.c")))
    words = set(re.findall(r'advice_add(?:_of)?\((?:[^"]|"")*?"([a-z_]+)"', sources))
    told = set(re.findall(r"^\.It Li ([a-z_, ]+)$", page, re.M))
    told = {word for line in told for word in re.split(r"[ ,]+", line)}
    assert words <= told, words - told
    assert told - {"valid", "files", "hostname", "profile", "core_types", "uncore", "uncore_not_measured", "mistakes", "warnings"} <= words, told - words
    return f"{len(words)} warnings"


if __name__ == "__main__":
    e2e.run_tests()
