# SPDX-License-Identifier: Apache-2.0
"""Debian packages for arm64, unpacked: what the cross compiler builds against, and the kernel that a test machine boots.

They come through an apt of our own: its folders, architecture and lists are private and only the machine's Debian
mirrors are taken over, so the host's apt and dpkg stay as they are, and root is not needed. The result is kept in the
user's cache, one folder for each version of this file.
"""

import contextlib
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time

import e2e

KERNEL = "linux-image-cloud-arm64"
LIBRARIES = ["libc6-dev", "libsystemd-dev", "libmicrohttpd-dev", "libcjson-dev", "libyaml-dev", "zlib1g-dev",
             "libncurses-dev", "libcurl4-gnutls-dev"]
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LIBRARY_FOLDER = "usr/lib/aarch64-linux-gnu"
UNUSED_SECONDS = 7 * 86400  # until a folder of another version is deleted


def cache_folder():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "topdownd-vm")


def run(command, folder=None):
    """What the program says; an AssertionError with all of it where it fails."""
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    assert done.returncode == 0, f"{' '.join(command)}: status {done.returncode}\n{done.stdout}"
    return done.stdout


@contextlib.contextmanager
def locked(folder):
    """One at a time: several build folders and several sources share the cache."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def debian_sources():
    """The machine's Debian mirrors as lines of a sources.list for arm64. Empty where apt has no lists yet."""
    targets = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)",
                   "Created-By: Packages", "Origin: Debian"])
    return [f"deb [arch=arm64 signed-by={KEYRING}] {line}" for line in sorted(set(targets.splitlines()))
            if line.endswith(" main")]


class Apt:
    """An apt for arm64 that has nothing installed, in a folder of its own."""

    def __init__(self, folder, sources):
        e2e.write_text(f"{folder}/sources.list", "\n".join(sources) + "\n")
        e2e.write_text(f"{folder}/status", "")
        for name in ("lists/partial", "cache/archives/partial"):
            os.makedirs(f"{folder}/{name}")
        self.archives = f"{folder}/cache/archives"
        self.options = ["-q", "-y", "--no-install-recommends"]
        for option in (f"Dir::Etc::sourcelist={folder}/sources.list", "Dir::Etc::sourceparts=/dev/null",
                       f"Dir::State::lists={folder}/lists", f"Dir::State::status={folder}/status",
                       f"Dir::Cache={folder}/cache", "APT::Architecture=arm64", "APT::Architectures=arm64",
                       "APT::Sandbox::User=", "APT::Keep-Downloaded-Packages=true", "Acquire::Retries=3"):
            self.options += ["-o", option]
        self.get("update")

    def get(self, *words):
        return run(["apt-get", *self.options, *words], self.archives)

    def kernel_package(self):
        """The package that holds the kernel: what the one with the lasting name depends on."""
        plan = self.get("install", "--simulate", KERNEL)
        return re.search(r"^Inst (linux-image-\d\S*)", plan, re.M).group(1)


def unpack(package, root):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as source:
        subprocess.run(["tar", "-x", "-C", root, "--keep-directory-symlink", "--exclude=./usr/share"],
                       stdin=source.stdout, check=True)
    assert source.returncode == 0, package


def make_links_relative(root):
    """Links such as libm.so to /lib/... lead out of a sysroot."""
    for path in glob.glob(f"{root}/{LIBRARY_FOLDER}/*"):
        if os.path.islink(path) and os.readlink(path).startswith("/"):
            target = os.path.relpath(root + os.readlink(path), os.path.dirname(path))
            os.remove(path)
            os.symlink(target, path)


def make_sysroot(folder, sources):
    """Downloads and unpacks everything into folder/tree."""
    apt = Apt(f"{folder}/apt", sources)
    apt.get("install", "--download-only", *LIBRARIES)
    apt.get("download", apt.kernel_package())
    os.makedirs(f"{folder}/tree/usr/lib")
    os.symlink("usr/lib", f"{folder}/tree/lib")  # packages use either name
    for package in sorted(glob.glob(f"{apt.archives}/*.deb")):
        unpack(package, f"{folder}/tree")
    make_links_relative(f"{folder}/tree")
    shutil.rmtree(f"{folder}/apt")


def sysroot():
    """The folder with the unpacked packages, made where it is not there yet; None where apt knows no Debian mirror."""
    cache = cache_folder()
    with open(__file__, "rb") as file:
        key = hashlib.sha256(file.read()).hexdigest()[:16]
    wanted = os.path.join(cache, f"sysroot-{key}")
    with locked(cache):
        if os.path.isdir(wanted):
            os.utime(wanted)
            return f"{wanted}/tree"
        sources = debian_sources()
        if not sources:
            return None
        for old in glob.glob(os.path.join(cache, "sysroot-*")):
            if time.time() - os.path.getmtime(old) > UNUSED_SECONDS:
                shutil.rmtree(old)
        with tempfile.TemporaryDirectory(dir=cache, prefix="new-") as folder:
            make_sysroot(folder, sources)
            os.chmod(folder, 0o755)
            os.rename(folder, wanted)
            os.mkdir(folder)  # for its end
    return f"{wanted}/tree"


def kernel(root):
    """(the kernel's file, its folder of modules)."""
    return glob.glob(f"{root}/boot/vmlinuz-*")[0], glob.glob(f"{root}/usr/lib/modules/*")[0]


if __name__ == "__main__":
    if not (FOUND := sysroot()):
        raise SystemExit("apt knows no Debian mirror: run apt-get update")
    print(FOUND)
