# SPDX-License-Identifier: Apache-2.0
"""What the serving process maps: its memory with private copies of its libraries, with TLS and without, and which libraries those are."""

import os
import re
import ssl
import urllib.request

import e2e
import packages
import web_files

BINARY, ROOT = e2e.arguments()
MIB = 2 ** 20
PLAIN_MIB, TLS_MIB = 5.5, 7.5
ROUNDS, SCRAPES = 3, 20
OF_EVERYBODY = re.compile(r"(libc|libm|ld-linux-[\w-]+)([.-].*)?\.so.*|ld-linux.*|\[v.*")  # mapped by every program on a host
NEEDED = {"libc", "libm", "libsystemd", "libmicrohttpd", "libcjson", "libyaml-0", "libz", "libgnutls"}
CLIENT = re.compile(r"curl|ncurses|tinfo|panel|readline|libedit|slang|newt|ssh|nghttp|ldap|krb5|python|X11")


def is_of_everybody(name):
    return OF_EVERYBODY.fullmatch(os.path.basename(name)) is not None


def mappings(pid):
    """[(name, {"Rss": bytes, "Pss": bytes})]"""
    found = []
    for line in e2e.read_text(f"/proc/{pid}/smaps").splitlines():
        if match := re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+ *(.*)", line):
            found.append((match.group(1), {}))
        elif match := re.match(r"(Rss|Pss): +(\d+) kB", line):
            found[-1][1][match.group(1)] = int(match.group(2)) * 1024
    return found


def memory(pid):
    """The PSS as if nobody else used its libraries: the C library counts with its share, all else in full."""
    return sum(sizes["Pss" if is_of_everybody(name) else "Rss"] for name, sizes in mappings(pid))


def libraries(pid):
    return {os.path.basename(name) for name, _ in mappings(pid) if ".so" in name}


def check(daemon, limit, scrape):
    seen = []
    for _ in range(ROUNDS):
        before = daemon_sequence(scrape)
        e2e.wait_for(lambda: daemon_sequence(scrape) > before, "another snapshot")
        for _ in range(SCRAPES):
            scrape("/metrics")
        seen.append(memory(daemon.process.pid) / MIB)
    assert max(seen) <= limit, f"{max(seen):.2f} MiB, where {limit} are allowed"
    strange = {name for name in libraries(daemon.process.pid) if CLIENT.search(name)}
    assert not strange, f"libraries of terminals and clients: {strange}"
    return f"{max(seen):.2f} MiB of {limit}, {len(libraries(daemon.process.pid))} libraries"


def daemon_sequence(scrape):
    return int(re.search(r'"sequence": ?(\d+)', scrape("/api/v1/snapshot")).group(1))


def shipped(web=""):
    """The shipped configuration with an address of its own."""
    return re.sub(r"^listen:.*$", e2e.LISTEN_ANYWHERE.strip(), e2e.read_text(f"{ROOT}/config/topdownd.yaml"), flags=re.M) + web


def need_counting():
    if reason := e2e.perf_events_allowed():
        raise e2e.Skip(reason)


def test_without_tls():
    need_counting()
    with e2e.Daemon("--pmu", "linux", yaml=shipped()) as daemon:
        return check(daemon, PLAIN_MIB, daemon.get)


def test_with_tls():
    need_counting()
    files = web_files.Files()
    files.authority()
    files.certificate("server")
    context = ssl.create_default_context(cafile=files.path("ca.pem"))
    with e2e.Daemon("--pmu", "linux", "--web.config.file", files.tls(), yaml=shipped(), ready=False) as daemon:
        port = e2e.wait_for(lambda: re.search(r"look at https://127\.0\.0\.1:(\d+)/", daemon.log()), "its address").group(1)

        def scrape(path):
            with urllib.request.urlopen(f"https://localhost:{port}{path}", context=context, timeout=e2e.TIMEOUT) as answer:
                return answer.read().decode()
        return check(daemon, TLS_MIB, scrape)


def test_the_program_asks_for_no_other_library():
    packages.need("readelf", "binutils")
    said = packages.run("readelf", "-d", BINARY)
    needed = {name for name in re.findall(r"\(NEEDED\).*\[(.*?)\.so", said) if not name.startswith("ld-")}
    assert needed == NEEDED, needed


if __name__ == "__main__":
    e2e.run_tests()
