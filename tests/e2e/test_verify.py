# SPDX-License-Identifier: Apache-2.0
"""`topdownd doctor --verify`: right hosts pass, wrong ones are found; and on this machine kernel, topdownd and perf agree."""

import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

import e2e
import test_bundle

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
KERNELS = ("pointer_chase", "branches", "arithmetic", "code_footprint", "stream")
CATEGORIES = ("backend_bound_ratio", "bad_speculation_ratio", "retiring_ratio", "frontend_bound_ratio", "backend_bound_ratio")
# stalled pipeline slots at the front end and the back end, operations speculated and retired, of 16e9 slots
LOADS = {"backend_bound_ratio": (1e9, 12e9, 3e9, 2.9e9), "frontend_bound_ratio": (12e9, 1e9, 3e9, 2.9e9),
         "bad_speculation_ratio": (1e9, 1e9, 14e9, 4.5e9), "retiring_ratio": (1e9, 1e9, 14e9, 13.6e9)}


def scenario_of(folder, categories):
    """A simulated host whose CPUs have loads with these parts of level 1 as the largest."""
    with open(STEADY, encoding="utf-8") as file:
        scenario = json.load(file)
    steady = scenario["loads"]["steady"]["keyframes"][0]["rates"]
    scenario["loads"] = {}
    for category, (front, back, speculated, retired) in LOADS.items():
        misses = 4e6 if category != "bad_speculation_ratio" else 4e8
        rates = steady | {"STALL_SLOT_FRONTEND": front, "STALL_SLOT_BACKEND": back, "STALL_SLOT": front + back, "OP_SPEC": speculated,
                          "OP_RETIRED": retired, "BR_MIS_PRED": misses, "BR_MIS_PRED_RETIRED": misses * 0.9}
        scenario["loads"][category] = {"period_seconds": 1, "keyframes": [{"at_seconds": 0, "rates": rates}]}
    scenario["assignments"] = [{"cpus": str(cpu), "load": category} for cpu, category in enumerate(categories)]
    return e2e.write_text(os.path.join(folder, "kernels.json"), json.dumps(scenario))


def verify(folder, *options, status=0):
    """All findings, in their order."""
    done = subprocess.run([BINARY, "doctor", "--verify", "--json", "--path.data", ROOT, "--config", os.devnull, "--path.run", folder, *options],
                          capture_output=True, text=True, timeout=150, check=False, env=os.environ | {"TMPDIR": folder})
    assert done.returncode == status and not done.stderr, done
    return json.loads(done.stdout)["findings"]


def of(findings, check):
    return [finding for finding in findings if finding["check"] == check]


def test_a_host_that_does_what_it_says_passes():
    with tempfile.TemporaryDirectory() as folder:
        findings = verify(folder, "--pmu", f"sim:{scenario_of(folder, CATEGORIES)}")
        verdicts = of(findings, "verify_verdict")
        assert [finding["state"] for finding in verdicts] == ["ok"] * 5, verdicts
        for kernel, category, finding in zip(KERNELS, CATEGORIES, verdicts):
            assert finding["text"].startswith(f"{kernel} (") and f"expected {category} to be the largest, seen {category}" in finding["text"], finding
        assert "SIMULATED: no kernel ran" in of(findings, "verify")[0]["text"], findings
        recordings = glob.glob(f"{folder}/topdownd-verify-*/recording.*")
        assert {os.path.basename(path).split(".")[1] for path in recordings} == set(KERNELS), recordings
        with e2e.Daemon("--pmu", f"replay:{next(p for p in recordings if 'branches' in p)}", "--speed", "0") as daemon:
            answer = e2e.wait_for(lambda: (daemon.json("/api/v1/topdown")["bound"] or {}).get("path"), "the verdict of the recording", 30)
            assert answer[0] == "bad_speculation_ratio", answer
            daemon.stop()


def test_a_host_that_counts_something_else_is_found():
    with tempfile.TemporaryDirectory() as folder:
        wrong = ("backend_bound_ratio", "retiring_ratio", "retiring_ratio", "frontend_bound_ratio", "frontend_bound_ratio")
        verdicts = of(verify(folder, "--pmu", f"sim:{scenario_of(folder, wrong)}", status=1), "verify_verdict")
        assert [finding["state"] for finding in verdicts] == ["ok", "failure", "ok", "ok", "failure"], verdicts
        assert "seen retiring_ratio with" in verdicts[1]["text"] and "--bundle" in verdicts[1]["remedy"], verdicts[1]


def test_kernels_topdownd_and_perf_agree_on_this_machine():
    if reason := e2e.perf_events_allowed():
        raise e2e.Skip(reason)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([BINARY, "doctor", "--verify", "--json", "--path.data", ROOT, "--config", os.devnull, "--path.run", folder],
                              capture_output=True, text=True, timeout=200, check=False, env=os.environ | {"TMPDIR": folder})
        findings = json.loads(done.stdout)["findings"]
        counted = {finding["text"].split(":")[0]: finding for finding in of(findings, "verify_counts")}
        for kernel, low, high in (("page_faults", 64, 600), ("context_switches", 1, 20)):  # other programs run here as well
            each = float(re.search(r": ([\d.e+]+) ", counted[kernel]["text"]).group(1))
            assert low * 0.9 <= each <= high, counted[kernel]
        if shutil.which("perf"):
            perf = [finding["text"] for finding in of(findings, "verify_perf")]
            assert any(re.match("page_faults: .* minor-faults a second", text) for text in perf), perf
            assert any(re.match("context_switches: .* context-switches a second", text) for text in perf), perf
        return "; ".join(finding["text"] for finding in counted.values())


def test_a_bundle_has_the_verification_in_it():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bundle.tar.gz")
        done = subprocess.run([BINARY, "doctor", "--verify", "--bundle", path, "--path.data", ROOT, "--config", os.devnull, "--path.run", folder,
                               "--pmu", f"sim:{scenario_of(folder, CATEGORIES)}"], capture_output=True, text=True, timeout=150,
                              check=False, env=os.environ | {"TMPDIR": folder})
        assert done.returncode == 0, done
        files = test_bundle.files_of(path)
    assert {f"verify/recording.{kernel}" for kernel in KERNELS} | {"verify/report.txt"} <= set(files), files.keys()
    assert b"expected bad_speculation_ratio to be the largest" in re.sub(rb"\s+", b" ", files["verify/report.txt"]), files["verify/report.txt"]


def test_beside_a_daemon_that_has_the_counters_it_does_not_run():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        host = stack.enter_context(tempfile.TemporaryDirectory())
        test_bundle.test_hosts.x86_host(host, "GenuineIntel-6-8F-4")
        stack.enter_context(e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder))
        done = subprocess.run([BINARY, "doctor", "--verify", "--path.data", ROOT, "--config", os.devnull, "--path.run", folder,
                               "--path.sysfs", host, "--path.procfs", host], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and "topdownd is running" in done.stderr and "systemctl stop" in done.stderr, done


if __name__ == "__main__":
    e2e.run_tests()
