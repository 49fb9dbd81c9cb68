# SPDX-License-Identifier: Apache-2.0
"""What a release shows of the same simulated hosts: pages, schemas, options and configuration keys.

    tests/e2e/pages.py DAEMON SOURCE_ROOT    saves those of DAEMON as tests/data/pages/VERSION

The hosts are small ones like the ready scenarios. Each is kept with its pages, so that it stays the same when those change.
"""

import json
import lzma
import os
import re
import subprocess
import tempfile

import api_fields
import e2e

HOSTS = ("sapphire-rapids", "zen4", "neoverse-v2", "neoverse-n1", "hybrid", "software")
METRICS = ("metrics", "metrics/cpu")
JSON = ("snapshot", "snapshot?scope=socket", "snapshot?scope=cpu", "topdown", "topdown?scope=socket", "topdown?scope=cpu", "history",
        "history?scope=socket", "catalog", "plan", "status")
COMMANDS = ("run", "check-config", "reload", "yield", "list", "doctor", "explain", "measure", "diff", "eval", "memory")


def small_host(name, root):
    """A ready scenario on two cores of each socket; hybrid and software hosts are small as they are."""
    path = "tests/data/scenarios/steady-software" if name == "software" else f"scenarios/{name}"
    host = json.loads(e2e.read_text(os.path.join(root, f"{path}.json")))
    if name not in ("hybrid", "software"):
        host["cores_per_socket"] = 2
        host["assignments"] = [{"cpus": f"0-{2 * host['sockets'] * host['threads_per_core'] - 1}", "load": "service"}]
    return host


def of_host(host):
    """All pages of a simulated host after three rounds, by path."""
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "host.json"), json.dumps(host))
        with e2e.Daemon("--pmu", f"sim:{path}", yaml=e2e.LISTEN_ANYWHERE + "slot: 50ms\n") as daemon:
            e2e.wait_for(lambda: all(each["sequence"] >= 3 for each in types_of(daemon.json("/api/v1/snapshot"))), "three rounds")
            return {page: daemon.get(f"/{page}") for page in METRICS} | {page: daemon.json(f"/api/v1/{page}") for page in JSON}


def types_of(document):
    return document.get("core_types", [document])


def words(binary):
    """Options of each command, and keys of the configuration."""
    def help_of(*command):
        return subprocess.run([binary, *command, "--help"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=True).stdout
    check_config = help_of("check-config")
    return {"options": {command: sorted(re.findall(r"^  --(\S+)", help_of(command), re.M)) for command in COMMANDS},
            "keys": re.findall(r"^  ([a-z][A-Za-z_.]*)", check_config[check_config.index("Keys of the configuration"):], re.M)}


def read(path):
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def write(path, document):
    with lzma.open(path, "wt", encoding="utf-8", preset=9) as file:
        json.dump(document, file, separators=(",", ":"))


def save(binary, root):
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    folder = os.path.join(root, "tests/data/pages", version)
    os.makedirs(folder, exist_ok=True)
    for name in HOSTS:
        host = small_host(name, root)
        write(os.path.join(folder, f"{name}.json.xz"), {"host": host, "pages": of_host(host)})
    schemas = {page: api_fields.load(root, page) for page in (*api_fields.PAGES, "error")}
    write(os.path.join(folder, "interface.json.xz"), {"schemas": schemas, **words(binary)})
    print(f"saved {folder}")


if __name__ == "__main__":
    save(*e2e.arguments())
