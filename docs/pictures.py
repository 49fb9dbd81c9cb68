# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/page.md anew, from simulated hosts: python3 docs/pictures.py build/release/topdownd ."""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/e2e"))
import browser  # noqa: E402  pylint: disable=wrong-import-position
import e2e  # noqa: E402  pylint: disable=wrong-import-position

BINARY, ROOT = e2e.arguments()
ROUNDS = 12
PICTURES = [  # name, host, address, width, height, dark
    ("now", "sim", "now", 1400, 900, False), ("now-phone", "sim", "now", 390, 844, False), ("where", "large", "where?metric=frontend_bound_ratio", 1040, 800, False),
    ("why", "sim:sapphire-rapids", "why", 1040, 620, False), ("trust", "sim:zen5", "trust", 1040, 720, False),
    ("phone", "sim", "where", 390, 844, True)]


def large(folder):
    """Zen 5 with 1,024 CPUs, of which a few do something else."""
    host = json.loads(e2e.read_text(os.path.join(ROOT, "scenarios/zen5.json")))
    host |= {"cores_per_socket": 256, "nodes_per_socket": 4, "caches_per_socket": 32, "assignments": [
        {"cpus": "0-47,56-299,301-511,512-559,568-811,813-1023", "load": "service", "stagger_seconds": 0.5},
        {"cpus": "48-55,560-567", "load": "frontend_bound"}, {"cpus": "300,812", "load": "idle"}]}
    return "sim:" + e2e.write_text(os.path.join(folder, "large.json"), json.dumps(host))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for picture in PICTURES:
            take(folder, *picture)


def take(folder, name, pmu, address, width, height, dark):
    with e2e.Daemon("--pmu", large(folder) if pmu == "large" else pmu, "--hostname", "db-17", yaml=e2e.LISTEN_ANYWHERE + "slot: 20ms\n") as daemon, \
            browser.Browser() as chromium:
        daemon.get("/api/v1/cpus")  # from now on single CPUs of large hosts have intervals
        daemon.wait_round(ROUNDS)
        tab = chromium.open(f"http://127.0.0.1:{daemon.port}/#{address}", width=width, height=height, dark=dark)
        tab.wait(f"document.getElementById('main').dataset.view === '{address.partition('?')[0]}' && document.querySelector('main .card')", "the view")
        tab.do("new Promise((done) => setTimeout(done, 1500))")
        path = os.path.join(ROOT, "docs", f"page-{name}.png")
        tab.picture(path, whole=False)
        print(f"{path}: {os.path.getsize(path) // 1024} KiB")


if __name__ == "__main__":
    main()
