# SPDX-License-Identifier: Apache-2.0
"""The initramfs that a test machine boots: our own first process, the files of topdownd's package for arm64 where they are installed,
a benchmark, and the libraries and modules that they need."""

import glob
import lzma
import os
import re
import shutil

from sysroot import LIBRARY_FOLDER, kernel, run

PROGRAM = "usr/sbin/topdownd"
TOOLS = ["qemu-system-aarch64", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-readelf", "cmake", "cpack", "ninja", "pkg-config",
         "apt-get", "dpkg-deb"]
LOADER = "ld-linux-aarch64.so.1"
# In the order in which they can be loaded; those that are built into the kernel have no file.
MODULES = ["virtio_ring", "virtio", "virtio_mmio", "failover", "net_failover", "virtio_net"]
WARNINGS = "-Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror".split()


def missing_tools():
    return [tool for tool in TOOLS if not shutil.which(tool)]


class Archive:
    """A cpio archive as the kernel reads it: "newc", see Documentation/driver-api/early-userspace/buffer-format.rst."""

    def __init__(self, path):
        self.file = open(path, "wb")  # pylint: disable=consider-using-with
        self.inode = 0
        self.folders = set()

    def _entry(self, name, mode, data=b"", device=(0, 0)):
        self.inode += 1
        name = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0)
        self._padded(b"070701" + b"".join(b"%08X" % field for field in fields) + name)
        self._padded(data)

    def _padded(self, data):
        self.file.write(data + bytes(-len(data) % 4))

    def _folders_of(self, name):
        folder = os.path.dirname(name)
        if folder and folder not in self.folders:
            self._folders_of(folder)
            self._entry(folder, 0o040755)
            self.folders.add(folder)

    def add(self, name, data, mode=0o644):
        self._folders_of(name)
        self._entry(name, 0o100000 | mode, data)

    def add_file(self, name, path, mode=0o644):
        with open(path, "rb") as file:
            self.add(name, file.read(), mode)

    def add_link(self, name, target):
        self._folders_of(name)
        self._entry(name, 0o120777, target.encode())

    def add_console(self):
        self._folders_of("dev/console")
        self._entry("dev/console", 0o020600, device=(5, 1))

    def close(self):
        self._entry("TRAILER!!!", 0)
        self.file.close()


def needed_libraries(root, binaries):
    """The shared libraries of binaries, and theirs: {name: path}."""
    found, queue = {}, list(binaries)
    while queue:
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", run(["aarch64-linux-gnu-readelf", "-d", queue.pop()])):
            if name not in found:
                found[name] = os.path.realpath(os.path.join(root, LIBRARY_FOLDER, name))
                queue.append(found[name])
    return found


def add_modules(archive, folder):
    for i, name in enumerate(MODULES):
        for path in glob.glob(f"{folder}/kernel/**/{name}.ko*", recursive=True):
            with (lzma.open if path.endswith(".xz") else open)(path, "rb") as file:
                archive.add(f"modules/{i:02}-{name}.ko", file.read())


def unpack_package(build):
    """Makes the package for Debian and unpacks it; the folder."""
    for old in glob.glob(f"{build}/*.deb"):
        os.remove(old)
    run(["cpack", "-G", "DEB", "--config", f"{build}/CPackConfig.cmake", "-B", build], build)
    (package,) = glob.glob(f"{build}/*.deb")
    assert run(["dpkg-deb", "-f", package, "Architecture"]) == "arm64\n", package
    shutil.rmtree(f"{build}/installed", ignore_errors=True)
    run(["dpkg-deb", "-x", package, f"{build}/installed"])
    return f"{build}/installed"


def build_programs(source_root, build, root):
    """The unpacked package, and the benchmark."""
    run(["cmake", "--fresh", "-S", source_root, "-B", build, "-G", "Ninja",
         f"-DCMAKE_TOOLCHAIN_FILE={source_root}/tests/vm/aarch64.cmake", f"-DTOPDOWND_SYSROOT={root}", "-DTOPDOWND_TESTS=OFF",
         "-DTOPDOWND_TOP=OFF", "-DTOPDOWND_BENCH=ON", "-DCMAKE_INSTALL_PREFIX=/usr"])
    run(["cmake", "--build", build, "--target", "topdownd", "bench_collect"])
    return unpack_package(build), f"{build}/bench/bench_collect"


def add_tree(archive, tree):
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            archive.add_file(os.path.relpath(path, tree), path, os.stat(path).st_mode & 0o777)


def build_init(source_root, build, root):
    out = os.path.join(build, "init")
    run(["aarch64-linux-gnu-gcc", f"--sysroot={root}", "-static", "-O2", "-std=c17", "-D_GNU_SOURCE", "-I", source_root,
         *WARNINGS, "-o", out, *sorted(glob.glob(f"{source_root}/tests/vm/guest/*.c"))])
    return out


def make_initramfs(path, source_root, build, root):
    package, bench = build_programs(source_root, build, root)
    archive = Archive(path)
    archive.add_console()
    archive.add_file("init", build_init(source_root, build, root), 0o755)
    add_tree(archive, package)
    archive.add_file("usr/bin/bench_collect", bench, 0o755)
    archive.add_link("lib", "usr/lib")
    for name, library in needed_libraries(root, [f"{package}/{PROGRAM}", bench]).items():
        archive.add_file(f"{LIBRARY_FOLDER}/{name}", library, 0o755)
    archive.add_link(f"usr/lib/{LOADER}", f"aarch64-linux-gnu/{LOADER}")
    add_modules(archive, kernel(root)[1])
    archive.close()
