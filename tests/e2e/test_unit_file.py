# SPDX-License-Identifier: Apache-2.0
"""The systemd unit and the manuals, judged by systemd's and mandoc's own tools."""

import glob
import os
import re
import shutil
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
EXPOSURE_BELOW = 3.0


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)


def need(program, package):
    if not shutil.which(program):
        raise e2e.Skip(f"{program} is not installed (Debian package {package})")


def unit_text():
    """The unit as the build has made it, beside the binary; from the template where the binary came alone."""
    made = os.path.join(os.path.dirname(BINARY), "systemd/topdownd.service")
    if os.path.exists(made):
        return e2e.read_text(made)
    template = e2e.read_text(os.path.join(ROOT, "systemd/topdownd.service.in"))
    return template.replace("@CMAKE_INSTALL_FULL_SBINDIR@", "/usr/sbin")


def runnable_unit(folder):
    """A copy whose program exists: the installed one may not be there."""
    text, n = re.subn(r"^ExecStart=\S+/topdownd\b", f"ExecStart={BINARY}", unit_text(), flags=re.M)
    assert n == 1, "one ExecStart= with an absolute path"
    return e2e.write_text(os.path.join(folder, "topdownd.service"), text)


def settings(text):
    found = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", text, re.M):
        found.setdefault(key, []).append(value)
    return found


def test_systemd_finds_no_fault_with_the_unit():
    need("systemd-analyze", "systemd")
    with tempfile.TemporaryDirectory() as folder:
        done = run("systemd-analyze", "verify", "--man=no", runnable_unit(folder))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        # What it says of a fault, so that silence means something.
        faulty = e2e.write_text(os.path.join(folder, "faulty.service"), unit_text() + "[Service]\nPrivateTemp=yes\n")
        assert "PrivateTemp" in run("systemd-analyze", "verify", "--man=no", faulty).stderr


def test_the_unit_exposes_little():
    need("systemd-analyze", "systemd")
    with tempfile.TemporaryDirectory() as folder:
        done = run("systemd-analyze", "security", "--offline=true", "--no-pager", runnable_unit(folder))
    assert done.returncode == 0, done
    exposure = float(re.search(r"Overall exposure level for topdownd\.service: ([\d.]+)", done.stdout).group(1))
    assert exposure < EXPOSURE_BELOW, done.stdout
    return f"exposure {exposure}, less than {EXPOSURE_BELOW} is asked for"


def test_the_unit_gives_one_capability_and_a_user_of_its_own():
    unit = settings(unit_text())
    assert unit["AmbientCapabilities"] == unit["CapabilityBoundingSet"] == ["CAP_PERFMON"], unit
    assert set(re.findall(r"CAP_\w+", re.sub(r"^#.*$", "", unit_text(), flags=re.M))) == {"CAP_PERFMON"}
    assert unit["Type"] == ["notify"] and unit["User"] == ["topdownd"] and unit["NoNewPrivileges"] == ["yes"], unit
    assert "2" in unit["RestartPreventExitStatus"] and float(unit["WatchdogSec"][0].rstrip("s")) > 0, unit
    sysusers = e2e.read_text(os.path.join(ROOT, "systemd/topdownd.sysusers"))
    assert re.search(r"^u topdownd - ", sysusers, re.M), sysusers


def test_sysusers_accepts_the_user():
    need("systemd-sysusers", "systemd")
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, "etc"))
        done = run("systemd-sysusers", f"--root={root}", os.path.join(ROOT, "systemd/topdownd.sysusers"))
        assert done.returncode == 0, done
        assert re.search(r"^topdownd:.*:/usr/sbin/nologin$", e2e.read_text(os.path.join(root, "etc/passwd")), re.M)


def test_mandoc_finds_no_fault_with_the_manuals():
    need("mandoc", "mandoc")
    pages = sorted(glob.glob(os.path.join(ROOT, "docs/*.[0-9]")))
    assert [os.path.basename(page) for page in pages] == ["topdownd.8", "topdownd.yaml.5"], pages
    for page in pages:
        assert os.path.getsize(page) > 1000, f"{page} is no manual yet"
        done = run("mandoc", "-T", "lint", "-W", "warning", page)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done.stdout
    return f"{len(pages)} pages"


if __name__ == "__main__":
    e2e.run_tests()
