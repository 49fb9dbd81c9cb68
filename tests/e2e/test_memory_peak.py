# SPDX-License-Identifier: Apache-2.0
"""How fast the memory is: root reads the firmware's tables and leaves the speed of a channel; the service's user, who may not read
them, finds it there."""

import json
import os
import shutil
import stat
import struct
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
USER = 65534  # nobody, as a service without rights
SAVED = "memory-channel-bytes-per-second"


def module(speed, size=32768, width=64):
    """A memory device of SMBIOS 3.3, with two texts behind it."""
    device = bytearray(0x5C)
    device[0], device[1], device[0x28] = 17, 0x5C, 3
    for offset, value in ((0x08, width + 8), (0x0A, width), (0x0C, size), (0x15, 6400), (0x20, speed)):
        struct.pack_into("<H", device, offset, value)
    return bytes(device) + b"DIMM A1\0P0 CHANNEL A\0\0"


class Host:
    """Two sockets of eight channels, whose tables are for root alone, and a runtime folder."""

    def __init__(self, folder, tables):
        os.chmod(folder, 0o755)
        self.sysfs, self.run_folder = os.path.join(folder, "sys"), os.path.join(folder, "run")
        os.makedirs(self.run_folder)
        files = {"devices/system/cpu/online": "0-1"}
        for socket in range(2):
            files[f"devices/system/cpu/cpu{socket}/topology/physical_package_id"] = str(socket)
            for channel in range(8):
                edac = f"devices/system/edac/mc/mc{socket * 4 + channel // 2}/dimm{channel % 2}"
                files |= {f"{edac}/size": "32768", f"{edac}/dimm_location": f"channel {channel % 2} slot 0 ",
                          f"{edac}/dimm_label": f"CPU_SrcID#{socket}_MC#{channel // 2}_Chan#{channel % 2}_DIMM#0"}
        for name, text in files.items():
            path = os.path.join(self.sysfs, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            e2e.write_text(path, text + "\n")
        if tables is not None:
            path = os.path.join(self.sysfs, "firmware/dmi/tables/DMI")
            os.makedirs(os.path.dirname(path))
            with open(path, "wb") as file:
                file.write(tables)
            os.chmod(path, 0o400)

    def ask(self, *words, user=None, status=0):
        more = {"user": user, "group": user, "extra_groups": []} if user else {}
        done = subprocess.run([BINARY, "memory", *words, "--path.sysfs", self.sysfs, "--path.run", self.run_folder],
                              capture_output=True, text=True, timeout=e2e.TIMEOUT, umask=0o077, **more)
        assert done.returncode == status, done
        return done

    def peaks(self, user=None):
        done = self.ask("--json", user=user)
        return [(row["socket"], row["channels"], row["peak_bytes_per_second"]) for row in json.loads(done.stdout)], done.stderr


def host(tables):
    folder = tempfile.TemporaryDirectory()
    made = Host(folder.name, tables)
    made.folder = folder
    return made


def need_root():
    if os.geteuid() != 0:
        raise e2e.Skip("the tables are for root")
    if subprocess.run([BINARY, "--version"], user=USER, group=USER, extra_groups=[], capture_output=True).returncode != 0:
        raise e2e.Skip("the program's folder is not for other users")


def test_the_services_user_finds_what_root_has_saved():
    need_root()
    two = host(b"".join(module(4800) for _ in range(16)))
    peaks, said = two.peaks(user=USER)
    assert peaks == [(0, 8, None), (1, 8, None)] and "'topdownd memory save' as root" in said, (peaks, said)
    assert two.ask("save", user=USER, status=1).stderr.startswith("topdownd: /sys/firmware/dmi/tables/DMI is for root")
    two.ask("save")
    saved = os.path.join(two.run_folder, SAVED)
    assert e2e.read_text(saved) == "38400000000\n" and stat.S_IMODE(os.stat(saved).st_mode) == 0o644
    assert two.peaks(user=USER) == ([(0, 8, 307200000000), (1, 8, 307200000000)], "")
    assert os.listdir(two.run_folder) == [SAVED], "nothing else is left"


def test_the_slowest_module_counts():
    need_root()
    mixed = host(b"".join(module(speed) for speed in (4800, 4400)) + module(0, size=0))
    assert mixed.peaks()[0] == [(0, 8, 281600000000), (1, 8, 281600000000)]


def test_help_says_that_save_may_be_left_out():
    for words in (("help", "memory"), ("memory", "--help")):
        said = subprocess.run([BINARY, *words], capture_output=True, text=True, check=True).stdout
        assert said.startswith("Usage: topdownd memory [save] [OPTION]...\n"), said


def test_a_host_without_tables_saves_nothing_and_goes_on():
    for tables in (None, b"", bytes(range(256)) * 8, module(0)):
        none = host(tables)
        assert "do not tell how fast the memory is, so topdownd shows no peak" in none.ask("save").stdout
        assert os.listdir(none.run_folder) == []
        peaks, said = none.peaks()
        assert peaks == [(0, 8, None), (1, 8, None)] and "do not tell how fast" in said


def test_a_host_of_which_nothing_is_known_gets_a_sentence_and_no_empty_table():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([BINARY, "memory", "--path.sysfs", folder, "--path.run", folder], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout == "The peak of this host's memory is unknown.\n", done
        assert "uncore.peak" in done.stderr and "load the driver" in done.stderr, done


def test_a_folder_that_is_missing_is_told_of():
    need_root()
    lost = host(module(4800))
    os.rmdir(lost.run_folder)
    assert "No such file or directory" in lost.ask("save", status=1).stderr


def test_the_services_user_may_with_one_capability_and_not_without():
    """As topdownd-memory.service runs it; without ambient capabilities, an exec leaves a user none."""
    need_root()
    if not shutil.which("setpriv"):
        raise e2e.Skip("setpriv is not installed (Debian package util-linux)")
    for capability, status in (("+dac_read_search", 0), ("", 1)):
        made = host(module(4800))
        os.chown(made.run_folder, USER, USER)
        only = ["-all", capability] if capability else ["-all"]
        command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs",
                   *(f"--{which}-{'set' if which == 'bounding' else 'caps'}={','.join(only)}" for which in ("inh", "ambient", "bounding")),
                   BINARY, "memory", "save", "--path.sysfs", made.sysfs, "--path.run", made.run_folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        if done.returncode == 127 or "setpriv:" in done.stderr:
            raise e2e.Skip(f"no capabilities to give: {done.stderr.strip()}")
        assert done.returncode == status, done
        assert os.path.exists(os.path.join(made.run_folder, SAVED)) == (status == 0), done


def test_a_unit_of_its_own_runs_it_before_the_service():
    unit = e2e.read_text(os.path.join(ROOT, "systemd/topdownd-memory.service.in")).splitlines()
    assert [line for line in unit if line.startswith("Exec")] == ["ExecStart=-@CMAKE_INSTALL_FULL_SBINDIR@/topdownd memory save"], unit
    service = e2e.read_text(os.path.join(ROOT, "systemd/topdownd.service.in")).splitlines()
    assert "Wants=topdownd-memory.service" in service and "After=network.target topdownd-memory.service" in service, service
    assert not [line for line in service if line.startswith("ExecStartPre")], "nothing of the service runs as root"


if __name__ == "__main__":
    e2e.run_tests()
