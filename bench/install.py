# SPDX-License-Identifier: Apache-2.0
"""Measures what a host gets with the package: from `apt install ./topdownd.deb` to the first scrape, and the files, the memory and
the CPU time that it adds, each beside Debian's package of node_exporter, in the same run.

Both are installed on a private copy of this machine that has their libraries and neither of them, booted with systemd in a container
(tests/e2e/test_systemd.py). Each service as its package starts it is scraped once a second. Memory is the proportional set size with
private copies of the libraries, as in bench/footprint.c; CPU time is that of all threads, by the scheduler's clock, and without what
the kernel adds to other programs.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests/e2e"))
# pylint: disable=wrong-import-position
import e2e
import packages
import test_libraries
from test_systemd import booted

BINARY, ROOT = e2e.arguments()
BUILD = os.path.dirname(BINARY)
PEER = "prometheus-node-exporter"
TURNS = 2  # installations of each, taking turns
WARM_SCRAPES, SCRAPES = 2, 10  # one a second
# What the figure of topdownd may be at most, as a ratio to the peer's; seen: 0.7, 7.1 (a file for each CPU), 0.42, 0.17, 0.02.
LIMITS = {"seconds from apt to the first scrape": 1.3, "files": 10, "KiB on disk": 0.55, "MiB of memory": 0.25, "CPU ms a minute": 0.2}


class Package:
    def __init__(self, name, file, port, sign):
        self.name, self.file, self.port, self.sign = name, file, port, sign

    def scrape(self, container):
        said = container.run("curl", "-s", "-m", "5", f"http://127.0.0.1:{self.port}/metrics", status=None)
        return self.sign in said

    def install(self, container):
        """Seconds until it was scraped."""
        begun = time.monotonic()
        container.run("apt-get", "install", "-y", "-q", "--no-install-recommends", f"/packages/{self.file}")
        while not self.scrape(container):
            assert time.monotonic() < begun + e2e.TIMEOUT, container.run("systemctl", "status", self.name, status=None)
            time.sleep(0.01)
        return time.monotonic() - begun

    def purge(self, container):
        container.run("dpkg", "-P", self.name)

    def files(self, container):
        """(how many, KiB)."""
        paths = [path for path in container.run("dpkg", "-L", self.name).splitlines() if path != "/."]
        sizes = container.run("sh", "-c", 'for path; do [ -d "$path" ] || stat -c %s "$path"; done', "sh", *paths).split()
        return len(sizes), sum(map(int, sizes)) / 1024

    def process(self, container):
        """Its number on this machine."""
        inside = container.run("systemctl", "show", "-P", "MainPID", self.name).strip()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if re.search(rf"^NSpid:\t.*\t{inside}$", e2e.read_text(f"/proc/{pid}/status"), re.M):
                    return int(pid)
            except OSError:
                continue  # has just ended
        raise AssertionError(f"{self.name} does not run")


def scrape_all(container, those, n):
    for _ in range(n):
        time.sleep(1)
        assert all(one.scrape(container) for one in those)


def running(container, those):
    """{package: (MiB, ms of CPU time a minute)} while each is scraped."""
    pids = {one: one.process(container) for one in those}
    scrape_all(container, those, WARM_SCRAPES)
    before, begun = {one: cpu_ns(pid) for one, pid in pids.items()}, time.monotonic()
    scrape_all(container, those, SCRAPES)
    minutes = (time.monotonic() - begun) / 60
    return {one: (test_libraries.memory(pid) / 2 ** 20, (cpu_ns(pid) - before[one]) / 1e6 / minutes) for one, pid in pids.items()}


def cpu_ns(pid):
    return sum(int(e2e.read_text(f"/proc/{pid}/task/{task}/schedstat").split()[0]) for task in os.listdir(f"/proc/{pid}/task"))


def measure(container, ours, theirs):
    """{figure: (ours, theirs)}"""
    seconds = {ours: [], theirs: []}
    for turn in range(TURNS):
        for one in (ours, theirs) if turn % 2 else (theirs, ours):
            seconds[one].append(one.install(container))
            if turn + 1 < TURNS:
                one.purge(container)
    ran = running(container, (ours, theirs))
    figures = {one: dict(zip(LIMITS, [min(seconds[one]), *one.files(container), *ran[one]], strict=True)) for one in (ours, theirs)}
    return {name: (figures[ours][name], figures[theirs][name]) for name in LIMITS}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(e2e.SKIPPED)


def main():
    if not shutil.which("cpack") or not os.path.exists(f"{BUILD}/CPackConfig.cmake"):
        skip("cpack (Debian package cmake) and a build folder are needed")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        packages.run("cpack", "-G", "DEB", "--config", f"{BUILD}/CPackConfig.cmake", "-B", f"{folder}/made", cwd=folder)
        if subprocess.run(["apt-get", "download", "-q", PEER], cwd=folder, capture_output=True, check=False).returncode != 0:
            skip(f"{PEER} cannot be downloaded")
        os.rename(packages.file_of(folder, "deb", PEER), f"{folder}/peer.deb")
        os.rename(packages.file_of(f"{folder}/made", "deb"), f"{folder}/topdownd.deb")
        try:
            with booted(folder) as container:
                container.run("dpkg", "-P", PEER, status=None)
                found = measure(container, Package("topdownd", "topdownd.deb", 10813, "topdownd_build_info{"),
                                Package(PEER, "peer.deb", 9100, "node_exporter_build_info{"))
        except e2e.Skip as reason:
            skip(reason)
    over = 0
    for name, (ours, theirs) in found.items():
        over += ours > LIMITS[name] * theirs
        print(f"{name}: {ours:.1f}, node_exporter {theirs:.1f}; ratio {ours / theirs:.2f} (limit {LIMITS[name]}): "
              f"{'ok' if ours <= LIMITS[name] * theirs else 'OVER THE LIMIT'}")
    sys.exit(1 if over else 0)


main()
