# SPDX-License-Identifier: Apache-2.0
"""A perf that knows newer CPUs than the one that is installed: the distribution's backport, unpacked and not installed.

It comes through an apt of our own, whose folders and lists are private (tests/vm/sysroot.py), and is kept in the user's cache, one
folder for each version of this file. Where there is no such package, or no mirror, there is no newer perf. That of arm64, which
alone knows Arm's cores, comes with all its libraries and runs in QEMU.
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
    return lines, f"{release}-backports"


def unpack(archives, folder):
    os.makedirs(f"{folder}/tree/usr/lib")
    os.symlink("usr/lib", f"{folder}/tree/lib")  # packages use either name
    for package in glob.glob(f"{archives}/*.deb"):
        sysroot.unpack(package, f"{folder}/tree")


def download_arm(folder, lines, suite):
    apt = sysroot.Apt(f"{folder}/apt", [f"deb [arch=arm64 signed-by={sysroot.KEYRING}] {line}" for line in lines])
    apt.get("install", "--download-only", f"{PACKAGE}/{suite}")
    unpack(apt.archives, folder)
    e2e.write_text(f"{folder}/perf", 'exec qemu-aarch64 -L "${0%/*}/tree" "${0%/*}/tree/usr/bin/perf" "$@"\n')
    shutil.rmtree(f"{folder}/apt")


def download(folder, lines, suite):
    """Unpacks the package, and what it needs and this machine lacks, into folder/tree."""
    e2e.write_text(f"{folder}/sources.list", "".join(f"deb [signed-by={sysroot.KEYRING}] {line}\n" for line in lines))
    for name in ("lists/partial", "cache/archives/partial"):
        os.makedirs(f"{folder}/{name}")
    command = ["apt-get", "-q", "-y", "--no-install-recommends"]
    for option in (f"Dir::Etc::sourcelist={folder}/sources.list", "Dir::Etc::sourceparts=/dev/null", f"Dir::State::lists={folder}/lists",
                   f"Dir::Cache={folder}/cache", "APT::Sandbox::User=", "APT::Keep-Downloaded-Packages=true", "Debug::NoLocking=true",
                   "Acquire::Languages=none", "Acquire::http::Timeout=20"):
        command += ["-o", option]
    sysroot.run([*command, "update"])
    sysroot.run([*command, "install", "--download-only", f"{PACKAGE}/{suite}"])
    unpack(f"{folder}/cache/archives", folder)
    library = 'LD_LIBRARY_PATH="$(echo "${0%/*}"/tree/usr/lib/*-linux-gnu)"'
    e2e.write_text(f"{folder}/perf", f'{library} exec "${{0%/*}}/tree/usr/bin/perf" "$@"\n')
    for name in ("lists", "cache"):
        shutil.rmtree(f"{folder}/{name}")


def newer_perf(arm=False):
    """The program, for `sh`. An AssertionError that says why there is none."""
    cache, kind = cache_folder(), "arm64" if arm else "perf"
    with open(__file__, "rb") as file:
        key = hashlib.sha256(file.read()).hexdigest()[:16]
    wanted = os.path.join(cache, f"{kind}-{key}")
    assert shutil.which("apt-get") and shutil.which("dpkg-deb"), "no apt-get or dpkg-deb"
    assert not arm or shutil.which("qemu-aarch64"), "no qemu-aarch64 (Debian: qemu-user)"
    with sysroot.locked(cache):
        if not os.path.isdir(wanted):
            lines, suite = sources()
            assert lines, "apt knows no Debian mirror"
            with tempfile.TemporaryDirectory(dir=cache, prefix="new-") as folder:
                (download_arm if arm else download)(folder, lines, suite)
                for old in glob.glob(os.path.join(cache, f"{kind}-*")):
                    shutil.rmtree(old)
                os.rename(folder, wanted)
                os.mkdir(folder)  # for its end
    assert os.path.exists(f"{wanted}/tree/usr/bin/perf"), f"{PACKAGE} has no usr/bin/perf"
    return f"{wanted}/perf"
