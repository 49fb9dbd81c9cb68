# SPDX-License-Identifier: Apache-2.0
"""What promtool, Prometheus' own judge of names, units and types, says of the metrics of every CPU that there is a spec for: of what
a host of each exports with all metric groups selected, and of the names of those that only other hosts could measure."""

import contextlib
import glob
import json
import os
import subprocess
import tempfile

import e2e
import spec_files
import test_vendor_files

BINARY, ROOT = e2e.arguments()
PROMTOOL = "/usr/bin/promtool"
SPECS = sorted(os.path.basename(path)[:-5] for path in glob.glob(os.path.join(ROOT, "specs/*.json"))
               if not path.endswith("cpus.json"))
AT_ONCE = 6  # daemons
VENDORS_CPUS = ("GenuineIntel-6-AD-1", "GenuineIntel-6-8F-8", "GenuineIntel-6-6A-6", "GenuineIntel-6-55-7", "GenuineIntel-6-55-4",
                "GenuineIntel-6-4F-1", "GenuineIntel-6-2D-7", "GenuineIntel-6-AF-3", "AuthenticAMD-26-2-1", "AuthenticAMD-25-1-1")


def promtool(page):
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=page, text=True, capture_output=True, timeout=e2e.TIMEOUT,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def listed(what, spec):
    done = subprocess.run([BINARY, "list", what, "--cpu", spec, "--json", "--path.data", ROOT], capture_output=True, text=True,
                          timeout=e2e.TIMEOUT, check=True)
    return json.loads(done.stdout)


def write_scenario(folder, spec):
    """A host with counters for everything, on which every event happens."""
    events = spec_files.load(os.path.join(ROOT, "specs", spec + ".json"))["events"]
    rates = {event: 1e6 * (i % 17 + 1) for i, event in enumerate(events)}
    host = {"description": "Everything happens.", "spec": spec, "sockets": 1, "cores_per_socket": 1, "general_counters": 0,
            "maximum_frequency_hz": 3e9, "loads": {"steady": {"period_seconds": 1, "keyframes": [{"at_seconds": 0, "rates": rates}]}},
            "assignments": [{"cpus": "0", "load": "steady"}]}
    return e2e.write_text(os.path.join(folder, spec + ".json"), json.dumps(host))


def start(programs, folder, spec):
    groups = json.dumps([group["name"] for group in listed("groups", spec)])
    yaml = f"{e2e.LISTEN_ANYWHERE}standard_error: true\nslot: 20ms\nprofiles: {{default: {{groups: {groups}}}}}\n"
    return programs.enter_context(e2e.Daemon("--pmu", f"sim:{write_scenario(folder, spec)}", yaml=yaml))


def complaints(daemon, spec):
    """What promtool says of a host's pages, and how many metrics have a value there."""
    values = daemon.wait_round(1)["scopes"][0]["metrics"]
    said = []
    for path in ("/metrics", "/metrics/cpu"):
        page = daemon.get(path)
        status, text = promtool(page)
        said += [f"{spec} {path}: status {status}: {text}"] if status or text else []
    return said, sum(metric["value"] is not None for metric in values.values())


def test_promtool_has_no_complaint_about_any_cpu_with_all_its_groups():
    said, n_values, n_metrics = [], 0, 0
    for first in range(0, len(SPECS), AT_ONCE):
        with contextlib.ExitStack() as programs:
            folder = programs.enter_context(tempfile.TemporaryDirectory())
            daemons = [(spec, start(programs, folder, spec)) for spec in SPECS[first:first + AT_ONCE]]
            for spec, daemon in daemons:
                found, with_value = complaints(daemon, spec)
                said += found
                n_values += with_value
                n_metrics += len(listed("metrics", spec))
    assert not said, "\n".join(said)
    assert n_values > 0.9 * n_metrics, (n_values, n_metrics)  # there was something to judge
    return f"{len(SPECS)} CPUs, {n_values} of {n_metrics} metrics with a value"


def check_names(metrics):
    page = "".join(f"# HELP {name} A metric.\n# TYPE {name} gauge\n{name} 1\n"
                   for metric in sorted(metrics) for name in ("topdownd_" + metric, "topdownd_cpu_" + metric))
    assert promtool(page) == (0, ""), promtool(page)
    return f"{len(metrics)} names"


def test_promtool_has_no_complaint_about_a_name_that_only_other_hosts_export():
    return check_names({metric["metric"] for spec in SPECS for metric in listed("metrics", spec)})


def test_promtool_has_no_complaint_about_what_can_be_measured_from_the_vendors_files():
    test_vendor_files.need_telemetry()
    specs = f"specs: {{path: '{test_vendor_files.TELEMETRY}/linux', format: perf}}"
    metrics = set()
    for cpu in VENDORS_CPUS:
        status, said = test_vendor_files.on_host(cpu, specs, "list", "metrics", "--json", files={})
        assert status == 0, said
        found = {metric["metric"] for metric in json.loads(said) if metric["unmeasurable"] is None}
        assert len(found) >= 10, (cpu, found)
        metrics |= found
    return check_names(metrics)


if __name__ == "__main__":
    if not os.access(PROMTOOL, os.X_OK):
        print(f"skipped: {PROMTOOL} is not installed (Debian package prometheus)")
        raise SystemExit(e2e.SKIPPED)
    e2e.run_tests()
