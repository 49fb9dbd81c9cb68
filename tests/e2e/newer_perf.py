# SPDX-License-Identifier: Apache-2.0
"""A perf that knows newer CPUs than the one that is installed: the distribution's backport, unpacked and not installed.

It comes through an apt of our own, whose folders and lists are private (tests/vm/sysroot.py), and is kept in the user's cache, one
folder for each version of this file. Where there is no such package, or no mirror, there is no newer perf.
"""

import glob
import hashlib
import os
import shutil
import sys
import tempfile

import e2e

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vm"))
import sysroot  # noqa: E402  pylint: disable=wrong-import-position

PACKAGE = "linux-perf"


def cache_folder():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "topdownd-perf")


def sources():
    """(lines of a sources.list, the backports' suite): the machine's Debian mirrors and their backports."""
    targets = sysroot.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)",
                           "Created-By: Packages", "Origin: Debian", "Label: Debian"])
    lines = sorted({line for line in targets.splitlines() if line.endswith(" main")})
    releases = [line.split() for line in lines if "-" not in line.split()[1]]
    if not releases:
        return [], None
    uri, release, component = releases[0]
    lines.append(f"{uri} {release}-backports {component}")
    return [f"deb [signed-by={sysroot.KEYRING}] {line}" for line in lines], f"{release}-backports"


def download(folder):
    """Unpacks the package, and what it needs and this machine lacks, into folder/tree. An AssertionError where it cannot be had."""
    lines, suite = sources()
    assert lines, "apt knows no Debian mirror"
    e2e.write_text(f"{folder}/sources.list", "\n".join(lines) + "\n")
    for name in ("lists/partial", "cache/archives/partial", "tree"):
        os.makedirs(f"{folder}/{name}")
    command = ["apt-get", "-q", "-y", "--no-install-recommends"]
    for option in (f"Dir::Etc::sourcelist={folder}/sources.list", "Dir::Etc::sourceparts=/dev/null", f"Dir::State::lists={folder}/lists",
                   f"Dir::Cache={folder}/cache", "APT::Sandbox::User=", "APT::Keep-Downloaded-Packages=true", "Debug::NoLocking=true",
                   "Acquire::Languages=none", "Acquire::http::Timeout=20"):
        command += ["-o", option]
    sysroot.run([*command, "update"])
    sysroot.run([*command, "install", "--download-only", f"{PACKAGE}/{suite}"])
    packages = glob.glob(f"{folder}/cache/archives/*.deb")
    for package in packages:
        sysroot.unpack(package, f"{folder}/tree")
    for name in ("lists", "cache"):
        shutil.rmtree(f"{folder}/{name}")


def newer_perf():
    """(the program, the folders of the libraries that came with it). An AssertionError that says why there is none."""
    cache = cache_folder()
    with open(__file__, "rb") as file:
        key = hashlib.sha256(file.read()).hexdigest()[:16]
    wanted = os.path.join(cache, f"perf-{key}")
    assert shutil.which("apt-get") and shutil.which("dpkg-deb"), "no apt-get or dpkg-deb"
    with sysroot.locked(cache):
        if not os.path.isdir(wanted):
            with tempfile.TemporaryDirectory(dir=cache, prefix="new-") as folder:
                download(folder)
                for old in glob.glob(os.path.join(cache, "perf-*")):
                    shutil.rmtree(old)
                os.rename(folder, wanted)
                os.mkdir(folder)  # for its end
    program = f"{wanted}/tree/usr/bin/perf"
    assert os.path.exists(program), f"{PACKAGE} has no usr/bin/perf"
    return program, glob.glob(f"{wanted}/tree/usr/lib/*-linux-gnu")
