# SPDX-License-Identifier: Apache-2.0
"""What tests of the packages share: packages built from the source, and a private copy of this machine to install them on."""

import contextlib
import glob
import os
import shutil
import subprocess
import tempfile

import e2e

# The copy is the machine's own root below an overlay: nothing is downloaded, and nothing outside of the copy changes.
# What a host mounts elsewhere (/proc, /sys, /run) is not in it.
_MOUNTS = """
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o lowerdir=/,upperdir="$1/upper",workdir="$1/work" "$1/root"
mount -t tmpfs -o mode=1777 tmpfs "$1/root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$1/root/run"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
rm -f "$1/root/var/lib/man-db/auto-update" # else dpkg indexes all manuals after each installation and removal
mkdir "$1/root/tmp/packages"
mount --bind "$2" "$1/root/tmp/packages"
shift 2
exec "$@"
"""


def run(*command, status=0, timeout=e2e.TIMEOUT, **options):
    """What the program says on both outputs; an AssertionError with all of it if it ends otherwise."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=timeout, check=False, **options)
    assert status is None or done.returncode == status, f"{' '.join(command)}: status {done.returncode}\n{done.stdout}"
    return done.stdout


def need(program, package):
    if not shutil.which(program):
        raise e2e.Skip(f"{program} is not installed (Debian package {package})")


def copy_source(root, folder):
    shutil.copytree(root, folder, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    found = subprocess.run(["git", "-C", root, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], capture_output=True,
                           text=True, check=False)
    if found.returncode == 0 and os.path.exists(f"{root}/.git"):  # the copy is no repository: it says of which commit it is
        e2e.write_text(f"{folder}/cmake/revision.txt", found.stdout)


def build(root, folder, umask=0o022):
    """Builds both packages with the commands of docs/install.md from a copy of the source, as somebody who unpacks and builds
    with that umask. Returns the folder that has them."""
    copy_source(root, folder)
    run("chmod", "-R", {0o022: "go=u-w", 0o077: "go="}[umask], folder)
    ours = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"} | {"CCACHE_DISABLE": "1"}
    for words in (["--preset", "package"], ["--build", "--preset", "package"]):
        run("cmake", *words, cwd=folder, env=ours, umask=umask, timeout=5 * e2e.TIMEOUT)
    return f"{folder}/build/package"


def edit(path, begin, line):
    """Replaces the line that begins so."""
    lines = [line if old.startswith(begin) else old for old in e2e.read_text(path).splitlines()]
    assert line in lines, path
    e2e.write_text(path, "\n".join(lines) + "\n")


def make_later(package, later):
    """The package as of version 9.0-1, with another configuration."""
    with tempfile.TemporaryDirectory() as folder:
        run("dpkg-deb", "-R", package, f"{folder}/tree")
        edit(f"{folder}/tree/DEBIAN/control", "Version: ", "Version: 9.0-1")
        path = f"{folder}/tree/etc/topdownd/topdownd.yaml"
        e2e.write_text(path, e2e.read_text(path) + "# of the later version\n")
        run("dpkg-deb", "--root-owner-group", "-Zgzip", "-b", f"{folder}/tree", later)


def file_of(folder, kind, name="topdownd"):
    found = glob.glob(f"{folder}/{name}[-_][0-9]*.{kind}")
    assert len(found) == 1, found
    return found[0]


class Copy:
    """A private copy of this machine, with a folder of packages at /tmp/packages; changed files are below `upper`."""

    def __init__(self, folder, packages, process):
        self.root, self.upper, self.packages, self.process = f"{folder}/root", f"{folder}/upper", packages, process

    def enter(self, *command):
        """The command that runs `command` beside the copy's mounts."""
        return ["nsenter", "-m", "-t", str(self.process.pid), *command]

    def run(self, *command, status=0):
        return run(*self.enter("chroot", self.root, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", *command),
                   status=status)

    def outside(self, path):
        """The path of a file of the copy, for this program."""
        return f"/proc/{self.process.pid}/root{self.root}{path}"

    def changed(self):
        """The files and folders that differ from the machine's, or that are only here."""
        upper = f"/proc/{self.process.pid}/root{self.upper}"
        found = []
        for path, folders, files in os.walk(upper):
            found += [os.path.join(path, name)[len(upper):] for name in folders + files]
        return {path for path in found if not path.startswith(("/tmp", "/run"))}


@contextlib.contextmanager
def copy_of_this_machine(packages):
    """A Copy, which is gone afterwards."""
    if os.getuid() != 0:
        raise e2e.Skip("a private copy of this machine takes root")
    with tempfile.TemporaryDirectory() as folder:
        with e2e.Program(["unshare", "--mount", "sh", "-c", _MOUNTS + "\n", "sh", folder, packages, "sh", "-c",
                          "echo ready; exec sleep 1000"]) as holder:
            e2e.wait_for(lambda: "ready" in holder.log() or holder.ended(), "the mounts of the copy")
            if holder.ended():
                raise e2e.Skip(f"no mounts of one's own (overlayfs is needed): {holder.log().strip()}")
            yield Copy(folder, packages, holder.process)
