# SPDX-License-Identifier: Apache-2.0
"""No byte of any page changes by accident: every page of the replay of each kept recording is as it was.

Beside the recordings of earlier versions (tests/data/recordings) there is one of each shipped scenario (tests/data/digests/NAME.xz, of
its core types each), with its boxes and what the kernel counts of memory. digests.json holds a digest of each page of each recording,
without what no two runs have in common (VOLATILE). Who changes a page on purpose says so in CHANGELOG.md and writes the digests anew:

    TOPDOWND_WRITE_PAGES=FOLDER python3 tests/e2e/test_page_digests.py build/release/topdownd .

writes the pages into FOLDER and the digests into digests.json. The same with an earlier program, and `diff -r` of both folders, show
what has changed.
"""

import concurrent.futures
import hashlib
import json
import lzma
import os
import re
import subprocess
import tempfile
import urllib.request

import e2e
import test_kept_recordings as kept

WRITE = os.environ.get("TOPDOWND_WRITE_PAGES")  # a folder
BINARY, ROOT = e2e.arguments()
FOLDER = os.path.join(ROOT, "tests/data/digests")
DIGESTS = os.path.join(FOLDER, "digests.json")
SCOPED = [f"/api/v1/{page}?scope={scope}" for page in ("snapshot", "topdown") for scope in ("host", "socket", "cpu")]
PAGES = ["/plain", "/metrics", "/metrics/cpu", *SCOPED, "/api/v1/history", "/api/v1/cpus", "/api/v1/uncore", "/api/v1/memory", "/api/v1/plan",
         "/api/v1/catalog", "/api/v1/status", "/no-such-page"]
OPENMETRICS = {"Accept": "application/openmetrics-text"}
# What two runs of one program do not share: the version, this process and this host.
VOLATILE = [(re.compile(pattern), by) for pattern, by in (
    (r'("(?:version|recorded_version|revision)":\s*)"[^"]*"', r'\1"MASKED"'),
    (r'(topdownd_build_info\{version=)"[^"]*",revision="[^"]*"', r'\1"MASKED"'),
    (r'("(?:last_reload_success_timestamp_seconds|start_timestamp_seconds|resident_bytes|virtual_bytes|open_fds|max_fds)":\s*)[0-9.e+-]+', r"\1MASKED"),
    (r'("start_timestamp_seconds":\s*MASKED,\s*"cpu_seconds_total":\s*)[0-9.e+-]+', r"\1MASKED"),
    (r"(?m)^((?:topdownd_config_last_reload_success_timestamp_seconds|process_[a-z_]+)(?:\{[^}]*\})? )[0-9.e+-]+$", r"\1MASKED"))]


VERSION = subprocess.run([BINARY, "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout.split()[1]


def masked(text, own):
    for what, by in own:
        text = text.replace(what, by)
    for pattern, by in VOLATILE:
        text = pattern.sub(by, text)
    return text


def recordings():
    """Of each its name, the compressed file, and if it needs specs of its time."""
    for name in kept.NAMES:
        yield name, os.path.join(kept.FOLDER, name + ".xz"), True
    for file in sorted(os.listdir(FOLDER)):
        if file.endswith(".xz"):
            yield "scenario-" + file[:-len(".xz")], os.path.join(FOLDER, file), False


def pages(name, compressed, old):
    with tempfile.TemporaryDirectory() as folder:
        data = kept.data_of_that_time(os.path.join(folder, "data")) if old else ROOT
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(lzma.open(compressed).read())
        with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", "--path.data", data, yaml=e2e.LISTEN_ANYWHERE,
                        environment={"TZ": "UTC"}) as daemon:
            e2e.wait_for(lambda: "have been replayed" in daemon.log(), f"the end of {name}")
            own = [(daemon.config, "CONFIG"), (folder, "FOLDER"), (f"127.0.0.1:{daemon.port}", "127.0.0.1:PORT"), (VERSION, "VERSION")]
            found = {page: masked(e2e.fetch(daemon.port, page).text(), own) for page in PAGES}
            for page in ("/metrics", "/metrics/cpu"):
                request = urllib.request.Request(f"http://127.0.0.1:{daemon.port}{page}", headers=OPENMETRICS)
                with urllib.request.urlopen(request, timeout=e2e.TIMEOUT) as answer:
                    found[page + " as OpenMetrics"] = masked(answer.read().decode(), own)
        return found


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check(name, compressed, old):
    wanted = json.loads(e2e.read_text(DIGESTS))[name]
    found = {page: digest(text) for page, text in pages(name, compressed, old).items()}
    differ = [page for page in wanted if wanted[page] != found.get(page)] + [page for page in found if page not in wanted]
    assert not differ, f"{name}: these pages are not as they were: {', '.join(differ)}. If that is intended, see the head of this test."


def make_test(*of):
    def test():
        check(*of)
    return test


def write():
    """All pages, and digests.json."""
    every = list(recordings())
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda of: pages(*of), every))
    for (name, *_), texts in zip(every, found):
        for page, text in texts.items():
            e2e.write_text(os.path.join(WRITE, name, re.sub("[^A-Za-z0-9=_.-]+", "_", page)), text)
    digests = {name: {page: digest(text) for page, text in texts.items()} for (name, *_), texts in zip(every, found)}
    e2e.write_text(DIGESTS, json.dumps(digests, indent=1) + "\n")


for each in recordings():
    globals()[f"test_pages_of_{each[0].replace('-', '_').replace('.', '_')}_are_as_they_were"] = make_test(*each)

if __name__ == "__main__":
    if WRITE:
        write()
    else:
        e2e.run_tests()
