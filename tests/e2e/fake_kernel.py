# SPDX-License-Identifier: Apache-2.0
"""The program on a made-up host whose kernel answers perf_event_open, too (fake_kernel.c): what was opened where, and counts whose
truth is known. The host is one of uncore_hosts."""

import os
import subprocess
import tempfile

import e2e

RATE = 0.001  # counts a nanosecond, of the first box of a PMU; the second has twice as many


FOLDER = tempfile.TemporaryDirectory()  # of the library; cases begin as copies of the program that has made it
LIBRARY = os.path.join(FOLDER.name, "fake_kernel.so")


def build():
    """Once for all cases."""
    _, root = e2e.arguments()
    subprocess.run(["gcc", "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", LIBRARY,
                    os.path.join(root, "tests/e2e/fake_kernel.c"), "-ldl", "-lpthread"], check=True, timeout=e2e.TIMEOUT)


class Kernel:
    """The kernel of one host. Its files lie in a folder of their own beside the host's."""

    def __init__(self, host, rates=(), lines=()):
        self.host, self.rates, self.lines = host, list(rates), list(lines)
        self.folder = os.path.join(host.folder, "kernel")
        os.makedirs(self.folder)
        self.write()

    def write(self):
        """The table, of what the host is now."""
        lists = self.host.lists
        lines = [f"online {lists(self.host.online)}", "pmu 1 software"]
        for type_, counters in self.host.cores.items():
            lines += [f"pmu {type_} core {counters}", f"rate {type_} * 1"]
        for name, boxes in self.host.readers.items():
            lines.append(f"pmu {self.host.types[name]} box {' '.join(lists(cpus) for cpus, _ in boxes)}")
            lines.append(f"rate {self.host.types[name]} * {RATE}")
        path = os.path.join(self.folder, "table")
        os.replace(e2e.write_text(path + "~", "\n".join(lines + self.rates + self.lines) + "\n"), path)

    def unplug(self, *cpus):
        for cpu in cpus:
            self.host.unplug(cpu)
        self.write()

    def plug(self, *cpus):
        for cpu in cpus:
            self.host.plug(cpu)
        self.write()

    def environment(self):
        """Sanitizers want to be loaded first, and work without."""
        return {"LD_PRELOAD": LIBRARY, "FAKE_KERNEL": self.folder,
                "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}

    def options(self):
        return ("--path.sysfs", self.host.folder, "--path.procfs", self.host.folder, "--path.run", os.path.join(self.host.folder, "run"))

    def daemon(self, yaml, *options, **settings):
        os.makedirs(os.path.join(self.host.folder, "run"), exist_ok=True)
        return e2e.Daemon(*self.options(), *options, yaml=yaml, environment=self.environment(), **settings)

    def events(self):
        """What is open: {fd: {type, config, cpu, leader, exclude_guest, dead}}. And how many opens were refused, by errno."""
        found, refused = {}, {}
        path = os.path.join(self.folder, "log")
        for line in e2e.read_text(path).splitlines() if os.path.exists(path) else ():
            word, *rest = line.split()
            if word == "open":
                config = tuple(int(each, 0) for each in rest.pop(2).split(","))
                fd, type_, cpu, leader, exclude_guest, error = map(int, rest)
                if error:
                    refused[error] = refused.get(error, 0) + 1
                else:
                    found[fd] = {"type": type_, "config": config, "cpu": cpu, "leader": leader, "exclude_guest": bool(exclude_guest),
                                 "dead": False}
            elif word == "close":
                found.pop(int(rest[0]), None)
            elif word == "move":
                found[int(rest[0])]["cpu"] = int(rest[1])
            elif word == "dead":
                found[int(rest[0])]["dead"] = True
        return found, refused

    def opens(self):
        """(type, exclude_guest, errno) of each event that was ever opened, 0, or refused, in order."""
        path = os.path.join(self.folder, "log")
        lines = [line.split() for line in e2e.read_text(path).splitlines()] if os.path.exists(path) else []
        return [(int(words[2]), int(words[6]), int(words[7])) for words in lines if words[0] == "open"]

    def opened(self):
        """{(PMU, CPU): how often each of its events is open} of those PMUs outside the cores that have any."""
        events, _ = self.events()
        names, found = {type_: name for name, type_ in self.host.types.items()}, {}
        for event in events.values():
            if event["type"] in names and not event["dead"]:
                counts = found.setdefault((names[event["type"]], event["cpu"]), {})
                counts[event["config"]] = counts.get(event["config"], 0) + 1
        return found

    def masks(self):
        """{(PMU, CPU)}: the readers of all boxes, which is what the files cpumask say."""
        return {(name, reader) for name, boxes in self.host.readers.items() for _, reader in boxes if reader is not None}
