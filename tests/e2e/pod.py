# SPDX-License-Identifier: Apache-2.0
"""Runs a program as a container runtime runs a pod's: `unshare --mount --pid --uts --fork pod.py SETTINGS`.

SETTINGS is JSON: root (a folder, mounted read-only), mounts ({path within: folder of this host, or null for a tmpfs}), recursive (those of
them whose submounts are read-only, too), hostname, user, capabilities ({name: number} of the only ones it has), seccomp (a profile in
the format of OCI runtimes, null for none), environment and command. The program gets a /proc of its own pid namespace, a read-only
/sys, and no new privileges.
"""

import ctypes
import json
import os
import socket
import struct
import subprocess
import sys

MASKED_EQUAL, ALLOW, ERRNO = 7, 0x7FFF0000, 0x00050000  # of libseccomp
SET_NO_NEW_PRIVS, DROP_FROM_BOUNDING_SET, KEEP_CAPS, SET_PDEATHSIG = 38, 24, 8, 1  # of prctl
LAST_CAPABILITY, VERSION_3 = 40, 0x20080522


class Comparison(ctypes.Structure):  # struct scmp_arg_cmp
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def checked(result, what):
    if result < 0:
        sys.exit(f"pod: {what}: {os.strerror(ctypes.get_errno() or -result)}")


def load_seccomp(profile):
    """Each rule as the runtime takes it; the names of other architectures are left out."""
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO", profile["defaultAction"]
    filters = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ERRNO | profile.get("defaultErrnoRet", 1))))
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ALLOW" and all(a["op"] == "SCMP_CMP_MASKED_EQ" for a in rule.get("args", ())), rule
        comparisons = [Comparison(a["index"], MASKED_EQUAL, a["value"], a["valueTwo"]) for a in rule.get("args", ())]
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            if number >= 0:
                checked(library.seccomp_rule_add_array(filters, ctypes.c_uint32(ALLOW), number, len(comparisons),
                                                       (Comparison * len(comparisons))(*comparisons)), name)
    return library, filters


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def mounts_below(folder):
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return [line.split()[4] for line in file if line.split()[4].startswith(folder + "/")]


def enter_root(settings):
    root = settings["root"]
    mount("--make-rprivate", "/")
    mount("--bind", root, root)
    mount("-t", "proc", "proc", f"{root}/proc")
    mount("-t", "sysfs", "-o", "ro", "sysfs", f"{root}/sys")
    for path, source in settings["mounts"].items():
        if source is None:
            mount("-t", "tmpfs", "tmpfs", root + path)
        else:
            mount("--rbind", source, root + path)
            mount("-o", "remount,bind,ro", root + path)
            if path in settings["recursive"]:
                for below in mounts_below(root + path):
                    mount("-o", "remount,bind,ro", below)
    mount("-o", "remount,bind,ro", root)
    socket.sethostname(settings["hostname"])
    os.chroot(root)
    os.chdir("/")


def give_up_rights(libc, user, capabilities):
    for number in range(LAST_CAPABILITY + 1):
        if number not in capabilities:
            libc.prctl(DROP_FROM_BOUNDING_SET, number, 0, 0, 0)
    os.setgroups([])
    checked(libc.prctl(KEEP_CAPS, 1, 0, 0, 0), "keep")
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    mask = sum(1 << number for number in capabilities)
    words = [(mask >> shift) & 0xFFFFFFFF for shift in (0, 32)]
    data = struct.pack("=6I", *(word for low in words for word in (low, low, 0)))
    checked(libc.syscall(ctypes.c_long(126 if os.uname().machine == "x86_64" else 91), struct.pack("=Ii", VERSION_3, 0), data), "capset")
    checked(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


def main():
    settings = json.loads(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(SET_PDEATHSIG, 9, 0, 0, 0)
    loaded = load_seccomp(settings["seccomp"]) if settings["seccomp"] else None  # before there is nothing but the image
    enter_root(settings)
    give_up_rights(libc, settings["user"], set(settings["capabilities"].values()))
    if loaded:
        checked(loaded[0].seccomp_load(loaded[1]), "the filter")
    os.execve(settings["command"][0], settings["command"], settings["environment"])


main()
