# SPDX-License-Identifier: Apache-2.0
"""Guests of KVM, on hosts whose kernel is made up (fake_kernel.py): events of the cores exclude guests from the first one on wherever
the CPU can run them, so that KVM may come at any time; and what the host did beside a guest is counted once, also where the kernel
lends the guest the counters themselves (the mediated virtual PMU)."""

import contextlib
import os
import tempfile

import e2e
import fake_kernel
import uncore_hosts

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "interval: 1s\nuncore: {enabled: off}\n"
ZEN4, SAPPHIRE_RAPIDS = "AuthenticAMD-25-11-1", "GenuineIntel-6-8F-8"
CPUS, SHARE = 4, 0.9  # of the time, CPU 0 runs a guest; a CPU runs at 1 GHz
EOPNOTSUPP = 95


def write_stat(host, guest):
    """/proc/stat, with the ticks that each CPU spent in guests. It stays the same file, of the same length."""
    lines = ["cpu  1 0 1 1 0 0 0 0 0 0"] + [f"cpu{cpu} 9000 0 90 100 0 0 0 0 {guest if cpu == 0 else 0} 0" for cpu in range(CPUS)]
    fd = os.open(os.path.join(host.folder, "stat"), os.O_WRONLY | os.O_CREAT)
    os.pwrite(fd, ("\n".join(lines) + "\nintr 0\n").encode(), 0)
    os.close(fd)


@contextlib.contextmanager
def made(cpuid, flags, mediated=False, share=0.0):
    with tempfile.TemporaryDirectory() as folder:
        host = uncore_hosts.Host(folder, 1, CPUS)
        if cpuid == "arm":
            host.arm("0x410fd4f0")
        else:
            host.x86(cpuid)
            host.write({"cpuinfo": e2e.read_text(os.path.join(folder, "cpuinfo")) + f"flags\t\t: fpu {flags}"})
        write_stat(host, 1000)
        yield fake_kernel.Kernel(host, lines=guest_lines(mediated, share))


def guest_lines(mediated, share):
    return (["mediated"] if mediated else []) + ([f"guest 0 {share}"] if share else [])


def core_opens(kernel):
    """(exclude_guest, errno) of each event of the cores that was ever opened or refused; generic ones are theirs, too."""
    of_cores = {0, 3, *kernel.host.cores}
    return [(bool(exclude_guest), error) for type_, exclude_guest, error in kernel.opens() if type_ in of_cores]


def any_excludes(kernel):
    """True where an event that is open now excludes guests; questions do everywhere."""
    return any(event["exclude_guest"] for event in kernel.events()[0].values())


def sequence_grows(daemon, by):
    begin = daemon.sequence()
    e2e.wait_for(lambda: daemon.sequence() >= begin + by, f"{by} snapshots")


def check_excluded(kernel):
    opens = core_opens(kernel)
    assert opens, "no event of the cores was opened"
    assert all(excluded for excluded, error in opens if not error), opens
    assert not [error for _, error in opens if error == EOPNOTSUPP], "an event that includes guests was tried beside one"
    assert not any(exclude_guest for type_, exclude_guest, _ in kernel.opens() if type_ == 1), "software events have no such bit"


def kvm_comes_later(cpuid, flags):
    """Its device and a guest that has the counters for itself appear while topdownd measures."""
    with made(cpuid, flags) as kernel, kernel.daemon(YAML) as daemon:
        daemon.wait_round(2)
        check_excluded(kernel)
        before = {fd for fd, event in kernel.events()[0].items() if event["type"] in kernel.host.cores}
        kernel.host.write({"class/misc/kvm/dev": "10:232"})
        kernel.lines = guest_lines(True, SHARE)
        kernel.write()
        sequence_grows(daemon, 3)
        check_excluded(kernel)
        assert before == {fd for fd, event in kernel.events()[0].items() if event["type"] in kernel.host.cores}, "events were opened anew"
        assert 'topdownd_guests_excluded{pmu="cpu"} 1' in daemon.get("/metrics")
        return f"{len(core_opens(kernel))} events"


def test_kvm_that_is_loaded_later_changes_nothing_on_intel():
    return kvm_comes_later(SAPPHIRE_RAPIDS, "vmx")


def test_kvm_that_is_loaded_later_changes_nothing_on_amd():
    return kvm_comes_later(ZEN4, "svm")


def test_in_a_virtual_machine_that_may_have_guests_it_is_the_same():
    return kvm_comes_later(ZEN4, "hypervisor svm")


def test_a_cpu_that_cannot_run_guests_counts_everything():
    with made(ZEN4, "sse") as kernel, kernel.daemon(YAML) as daemon:
        daemon.wait_round(2)
        assert not any_excludes(kernel)
        page = daemon.get("/metrics")
        assert 'topdownd_guests_excluded{pmu="cpu"} 0' in page and "topdownd_guest_cpu_seconds_total" not in page


def test_arms_events_exclude_guests_where_kvm_has_its_device():
    for device in (True, False):
        with made("arm", "") as kernel:
            if device:
                kernel.host.write({"class/misc/kvm/dev": "10:232"})
            with kernel.daemon(YAML) as daemon:
                daemon.wait_round(1)
                assert any_excludes(kernel) == device


def test_guests_share_counts_them():
    with made(ZEN4, "svm", share=SHARE) as kernel, kernel.daemon(YAML + "guests: share\n") as daemon:
        daemon.wait_round(2)
        assert not any_excludes(kernel)
        assert abs(cycles_a_second(daemon, 0) / 1e9 - 1) < 0.05


def cpu_totals(daemon, cpu):
    """(cycles, covered seconds, uncovered seconds) of a CPU so far."""
    page = daemon.get("/metrics/cpu")
    return (e2e.value_of(page, "topdownd_cpu_event_total", cpu=str(cpu), event="ls_not_halted_cyc"),
            e2e.value_of(page, "topdownd_cpu_covered_seconds_total", cpu=str(cpu)),
            e2e.value_of(page, "topdownd_cpu_uncovered_seconds_total", cpu=str(cpu)))


def cycles_a_second(daemon, cpu):
    """Over some snapshots, of the time that is covered."""
    begin = cpu_totals(daemon, cpu)
    sequence_grows(daemon, 4)
    end = cpu_totals(daemon, cpu)
    assert end[1] > begin[1] and end[2] == begin[2], "all of it is covered"
    return (end[0] - begin[0]) / (end[1] - begin[1])


def beside_a_guest(mediated):
    with made(ZEN4, "svm", mediated, SHARE) as kernel, kernel.daemon(YAML) as daemon:
        daemon.wait_round(3)
        # what a busy machine lets a call wait is missing in the guest's time
        for cpu, truth, error in ((0, (1 - SHARE) * 1e9, 0.4 if mediated else 0.05), (1, 1e9, 0.05)):
            seen = cycles_a_second(daemon, cpu)
            assert abs(seen / truth - 1) < error, f"CPU {cpu} made {seen:.4g} cycles a second, where {truth:.4g} are true"
        page = daemon.get("/metrics")
        assert not [1 for name, labels, value in e2e.samples(page)
                    if name == "topdownd_event_group_windows_total" and labels["result"] in ("starved", "contended") and value > 0], page
        check_excluded(kernel)


def test_a_cpu_nine_tenths_in_a_guest_shows_a_tenth_where_the_guest_has_the_counters():
    return beside_a_guest(True)


def test_a_cpu_nine_tenths_in_a_guest_shows_a_tenth_where_it_has_none():
    return beside_a_guest(False)


def test_what_guests_took_is_what_the_kernel_says():
    with made(ZEN4, "svm", True, SHARE) as kernel, kernel.daemon(YAML) as daemon:
        daemon.wait_round(2)
        write_stat(kernel.host, 1350)
        e2e.wait_for(lambda: e2e.value_of(daemon.get("/metrics"), "topdownd_guest_cpu_seconds_total", socket="0") == 3.5, "3.5 s")
        page = daemon.get("/metrics/cpu")
        assert e2e.value_of(page, "topdownd_cpu_guest_seconds_total", cpu="0") == 3.5
        assert e2e.value_of(page, "topdownd_cpu_guest_seconds_total", cpu="1") == 0
        assert daemon.json("/api/v1/snapshot")["scopes"][0]["guest_cpu_seconds"] == 3.5


def test_every_command_leaves_guests_alone():
    """Where a guest has the counters, none tries an event that includes guests."""
    commands = (["doctor"], ["list", "events"], ["explain"], ["check-config"], ["measure", "--duration", "2s"],
                ["measure", "--", "sleep", "0.2"])
    with made(ZEN4, "svm", True, SHARE) as kernel:
        config = e2e.write_text(os.path.join(kernel.host.folder, "topdownd.yaml"), YAML)
        os.makedirs(os.path.join(kernel.host.folder, "run"), exist_ok=True)
        opened = {}
        for command in commands:
            before = len(core_opens(kernel))
            name, *rest = command
            files = [*kernel.options(), "--path.data", ROOT] + ([config] if name == "check-config" else ["--config", config])
            with e2e.Program([BINARY, name, *(rest[:1] if name == "list" else ()), *files, *(rest if name != "list" else ())],
                             kernel.environment()) as program:
                program.wait()
            opened[" ".join(command)] = len(core_opens(kernel)) - before
        check_excluded(kernel)
        assert all(n for command, n in opened.items() if command.startswith(("doctor", "measure"))), opened
        return ", ".join(f"{command}: {n} events" for command, n in opened.items())


if __name__ == "__main__":
    fake_kernel.build()
    e2e.run_tests()
