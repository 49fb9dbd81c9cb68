# SPDX-License-Identifier: Apache-2.0
"""The installation, as it is: unit and manuals, judged by systemd's and mandoc's own tools, and the program that starts."""

import contextlib
import glob
import os
import re
import shutil
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
BUILD = os.path.dirname(BINARY)
EXPOSURE, EXPOSURE_OF_SOCKETS, EXPOSURE_OF_HELPER = 1.5, 1.2, 0.8  # at most


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)


def need(program, package):
    if not shutil.which(program):
        raise e2e.Skip(f"{program} is not installed (Debian package {package})")


@contextlib.contextmanager
def installed():
    """A folder with what `cmake --install` puts on a host: the folder stands for /."""
    if not os.path.exists(os.path.join(BUILD, "cmake_install.cmake")):
        raise e2e.Skip("the binary does not come from a build folder that could be installed")
    need("cmake", "cmake")
    with tempfile.TemporaryDirectory() as root:
        done = subprocess.run(["cmake", "--install", BUILD], env=os.environ | {"DESTDIR": root}, capture_output=True,
                              text=True, timeout=e2e.TIMEOUT, check=False)
        assert done.returncode == 0, done
        yield root


def test_scenarios_and_schemas_are_installed_as_they_are():
    with installed() as root:
        for source, target in (("scenarios", "scenarios"), ("exporters/json/schema", "schema")):
            there = os.path.join(root, "usr/share/topdownd", target)
            names = os.listdir(os.path.join(ROOT, source))
            assert sorted(os.listdir(there)) == sorted(names) and names, there
            for name in names:
                assert e2e.read_text(os.path.join(there, name)) == e2e.read_text(os.path.join(ROOT, source, name)), name


def on_the_host(root, *command):
    """The command that runs `command` on this host as if the installation were on it, which nothing else sees."""
    overlays = [f"mount -t overlay overlay -o lowerdir={root}/{name}:/{name} /{name}" for name in ("usr", "etc")]
    return ["unshare", "--mount", "sh", "-ec", "\n".join([*overlays, 'exec "$@"']), "sh", *command]


def need_own_mounts(root):
    done = run(*on_the_host(root, "true"))
    if done.returncode != 0:
        raise e2e.Skip(f"no mounts of one's own (root and overlayfs are needed): {done.stderr.strip()}")


def unit_text(root, name="topdownd.service"):
    return e2e.read_text(os.path.join(root, "usr/lib/systemd/system", name))


def settings(text):
    found = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", text, re.M):
        found.setdefault(key, []).append(value)
    return found


def test_systemd_finds_no_fault_with_the_unit_as_it_is_installed():
    need("systemd-analyze", "systemd")
    with installed() as root:
        need_own_mounts(root)
        manuals = "yes" if shutil.which("man") else "no"  # whether those that it names exist
        verify = on_the_host(root, "systemd-analyze", "verify", f"--man={manuals}", "topdownd.service", "topdownd-memory.service")
        done = run(*verify)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        # What it says of faults, so that silence means something.
        path = os.path.join(root, "usr/lib/systemd/system/topdownd.service")
        e2e.write_text(path, unit_text(root) + "[Service]\nPrivateTemp=yes\n")
        os.remove(os.path.join(root, "usr/sbin/topdownd"))
        faults = run(*verify).stderr
        assert "PrivateTemp" in faults and "/usr/sbin/topdownd is not executable" in faults, faults


def test_what_the_unit_starts_runs_as_it_is_installed():
    with installed() as root:
        need_own_mounts(root)
        start = settings(unit_text(root))["ExecStart"]
        assert len(start) == 1, start
        program, *words = start[0].split()
        version = run(*on_the_host(root, program, "--version"))
        assert version.returncode == 0 and re.fullmatch(r"topdownd \d+\.\d+\.\d+ \(\S+\)\n", version.stdout), version
        # It finds its specs, its scenarios and its configuration by itself; only the port is ours.
        e2e.write_text(os.path.join(root, "etc/topdownd/conf.d/port.yaml"), e2e.LISTEN_ANYWHERE)
        with e2e.Program(on_the_host(root, program, *words, "--pmu", "sim")) as daemon:
            found = e2e.wait_for(lambda: re.search(r"look at http://127\.0\.0\.1:(\d+)/", daemon.log()) or
                                 daemon.ended(), "the line that says where to look")
            assert found is not True, daemon.log()
            page = e2e.fetch(int(found.group(1)), "/metrics").text()
            assert 'spec="neoverse-v2"' in page and "topdownd_build_info{" in page, page
            daemon.stop()
    return version.stdout.strip()


def test_what_the_unit_reloads_with_answers_as_it_is_installed():
    with installed() as root:
        need_own_mounts(root)
        unit = settings(unit_text(root))
        port = os.path.join(root, "etc/topdownd/conf.d/port.yaml")
        e2e.write_text(port, e2e.LISTEN_ANYWHERE)
        with tempfile.TemporaryDirectory() as folder:
            here = ["--path.run", folder]  # in the place of systemd's folder
            with e2e.Program(on_the_host(root, *unit["ExecStart"][0].split(), "--pmu", "sim", *here)) as daemon:
                e2e.wait_for(lambda: "look at http" in daemon.log() or daemon.ended(), "the line that says where to look")
                reload = on_the_host(root, *unit["ExecReload"][0].split(), *here)
                done = run(*reload)
                assert (done.returncode, done.stderr) == (0, ""), done
                e2e.write_text(port, e2e.LISTEN_ANYWHERE + "slots: 1s\n")
                done = run(*reload)
                assert done.returncode == 2 and "/etc/topdownd/conf.d/port.yaml:2:1:" in done.stderr, done
                daemon.stop()


def exposure_of(text):
    with tempfile.TemporaryDirectory() as folder:
        done = run("systemd-analyze", "security", "--offline=true", "--no-pager",
                   e2e.write_text(os.path.join(folder, "topdownd.service"), text))
    assert done.returncode == 0, done
    return float(re.search(r"Overall exposure level for topdownd\.service: ([\d.]+)", done.stdout).group(1))


def test_the_unit_exposes_little():
    need("systemd-analyze", "systemd")
    with installed() as root:
        text = unit_text(root)
        sockets = text + e2e.read_text(os.path.join(root, "usr/share/topdownd/systemd/socket-activation.conf"))
        helper = unit_text(root, "topdownd-memory.service")
    alone, activated, before = exposure_of(text), exposure_of(sockets), exposure_of(helper)
    assert alone <= EXPOSURE and activated <= EXPOSURE_OF_SOCKETS and before <= EXPOSURE_OF_HELPER, (alone, activated, before)
    return f"exposure {alone}, with sockets from systemd {activated}; of the helper {before}"


def test_the_helper_before_the_start_reads_and_no_more():
    with installed() as root:
        helper, service = settings(unit_text(root, "topdownd-memory.service")), settings(unit_text(root))
    assert helper["AmbientCapabilities"] == helper["CapabilityBoundingSet"] == ["CAP_DAC_READ_SEARCH"], helper
    assert helper["User"] == service["User"] == ["topdownd"] and helper["NoNewPrivileges"] == ["yes"], helper
    assert helper["PrivateNetwork"] == ["yes"] and helper["ProtectSystem"] == ["strict"] and "ReadWritePaths" not in helper, helper
    # both make the same folder, so that neither takes it from the other
    assert [helper[key] for key in ("RuntimeDirectory", "RuntimeDirectoryMode")] == \
        [service[key] for key in ("RuntimeDirectory", "RuntimeDirectoryMode")] and helper["RuntimeDirectoryPreserve"] == ["yes"], helper
    assert helper["ExecStart"] == ["-" + service["ExecStart"][0].split()[0] + " memory save"], helper
    assert "ExecStartPre" not in service and "topdownd-memory.service" in service["Wants"][0].split(), service
    assert "topdownd-memory.service" in service["After"][0].split(), service


def test_only_a_mistake_is_final():
    """What may pass, such as too few files, is not what the unit refuses to start again for."""
    with installed() as root:
        unit = settings(unit_text(root))
    assert unit["Restart"] == ["on-failure"] and unit["RestartPreventExitStatus"] == ["2"], unit
    assert unit["StartLimitIntervalSec"] == ["0"], "systemd never gives up"
    passing = run("prlimit", "--nofile=4:4", BINARY, "run", "--pmu", "sim")
    assert passing.returncode == 1, passing
    with tempfile.TemporaryDirectory() as folder:
        wrong = run(BINARY, "run", "--pmu", "sim", "--config", e2e.write_text(os.path.join(folder, "wrong.yaml"), "slots: 1s\n"))
    assert wrong.returncode == 2, wrong


def test_the_unit_gives_one_capability_and_a_user_of_its_own():
    with installed() as root:
        text = unit_text(root)
    unit = settings(text)
    assert unit["AmbientCapabilities"] == unit["CapabilityBoundingSet"] == ["CAP_PERFMON"], unit
    assert set(re.findall(r"CAP_\w+", re.sub(r"^#.*$", "", text, flags=re.M))) == {"CAP_PERFMON"}
    assert unit["Type"] == ["notify"] and unit["User"] == ["topdownd"] and unit["NoNewPrivileges"] == ["yes"], unit
    # the first word is the same program, and the second one waits until the configuration is in force or refused
    assert unit["ExecReload"] == [unit["ExecStart"][0].split()[0] + " reload"], unit
    assert "2" in unit["RestartPreventExitStatus"] and float(unit["WatchdogSec"][0].rstrip("s")) > 0, unit
    # recordings are the only thing that it may write outside of its runtime directory
    assert unit["StateDirectory"] == ["topdownd"] and unit["ProtectSystem"] == ["strict"] and "ReadWritePaths" not in unit, unit
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
    named = re.findall(r"(topdownd\S*)\((\d)\)", run(BINARY, "--help").stdout)
    assert [os.path.basename(page) for page in pages] == sorted({f"{name}.{section}" for name, section in named}), pages
    for page in pages:
        assert os.path.getsize(page) > 1000, f"{page} is no manual yet"
        done = run("mandoc", "-T", "lint", "-W", "warning", page)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done.stdout
    return f"{len(pages)} pages"


if __name__ == "__main__":
    e2e.run_tests()
