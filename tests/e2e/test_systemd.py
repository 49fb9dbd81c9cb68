# SPDX-License-Identifier: Apache-2.0
"""A life of the service under a real systemd: installed with apt, scraped, reloaded, killed, upgraded to sockets, purged; a restart and
an upgrade under load; and packaging/ansible.

A private copy of this machine (packages.Copy) boots in a container, with systemd as PID 1, a network of its own, and none of
the machine's services. Nothing outside of it changes. It takes root, overlayfs and systemd-nspawn.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import e2e
import packages
import web_files
from packages import need

BINARY, ROOT = e2e.arguments()
BUILD = os.path.dirname(BINARY)
UNIT, HELPER = "topdownd.service", "topdownd-memory.service"
DROP_IN = f"/etc/systemd/system/{UNIT}.d/test.conf"

# Short times for the test alone; what they are the times of is as in the unit.
SHORT = "[Service]\nWatchdogSec=2s\nTimeoutAbortSec=1s\nRestartSec=100ms\n"


class Container:
    """A booted copy: what runs in it, and what systemd says of the unit."""

    def __init__(self, pid):
        self.enter = ["nsenter", "-t", str(pid), "-m", "-u", "-i", "-n", "-p", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                      "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"]

    def run(self, *command, status=0):
        return packages.run(*self.enter, *command, status=status)

    def write(self, path, text):
        self.run("sh", "-c", 'mkdir -p "$(dirname "$1")" && printf %s "$2" >"$1"', "sh", path, text)

    def show(self, name, unit=UNIT):
        return self.run("systemctl", "show", "-P", name, unit).strip()

    def pid(self):
        return int(self.show("MainPID"))

    def active(self):
        return self.show("ActiveState") == "active"

    def scrape(self):
        return self.run("curl", "-s", "-m", "30", "http://127.0.0.1:10813/metrics", status=None)

    def wait_for_another(self, before):
        """Waits for a started daemon that is not the one of that number, and is scraped."""
        return e2e.wait_for(lambda: self.active() and self.pid() not in (0, before) and self.scrape() and self.pid(),
                            f"a daemon after process {before}:\n" + self.run("journalctl", "-n", "30", "-u", UNIT, status=None))


def children(pid):
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in map(int, e2e.read_text(f"/proc/{pid}/task/{task}/children").split()):
                yield child
                yield from children(child)


def first_process(pid):
    """The process below `pid` that is number 1 of a pid namespace and has become systemd."""
    for child in children(pid):
        with contextlib.suppress(OSError):
            if re.search(r"^NSpid:\t.*\t1$", e2e.read_text(f"/proc/{child}/status"), re.M) and \
                    e2e.read_text(f"/proc/{child}/comm") == "systemd\n":
                return child
    return None


@contextlib.contextmanager
def booted(folder):
    """The copy as a Container, with a folder of packages at /packages."""
    need("systemd-nspawn", "systemd-container")
    with packages.copy_of_this_machine(folder) as copy:
        # none of the machine's own services, no terminals, and no policy against starting services
        copy.run("sh", "-c", "rm -rf /etc/systemd/system/* /etc/rc?.d/* /etc/fstab /usr/sbin/policy-rc.d; mkdir /packages; "
                             "ln -s /dev/null /etc/systemd/system/console-getty.service; systemctl disable topdownd 2>/dev/null; true")
        alone = f'cd {copy.root} && umount -l dev proc run tmp && cd / && mount -t tmpfs tmpfs /run && exec "$@"'
        boot = ["unshare", "--mount", "sh", "-c", alone, "sh", "systemd-nspawn", "--quiet", "--directory", copy.root, "--boot", "--register=no", "--keep-unit", "--private-network", "--console=read-only",
                "--machine", f"topdownd-{os.getpid()}", "--system-call-filter=perf_event_open", "--capability=CAP_PERFMON",
                f"--bind-ro={folder}:/packages", "systemd.show_status=0"]
        with e2e.Program(copy.enter(*boot)) as nspawn:
            with contextlib.suppress(AssertionError):
                e2e.wait_for(lambda: first_process(nspawn.process.pid) or nspawn.ended(), "systemd in the container", 60)
            pid = first_process(nspawn.process.pid)
            if not pid:
                raise e2e.Skip(f"systemd-nspawn does not boot here: {nspawn.log().strip()[-500:]}")
            container = Container(pid)
            e2e.wait_for(lambda: container.run("systemctl", "is-system-running", status=None).strip() in ("running", "degraded"),
                         "the container's start")
            try:
                yield container
            finally:
                container.run("systemctl", "poweroff", "--force", "--force", status=None)


def check_journal(container):
    started = ("journalctl", "-u", UNIT, "MESSAGE_ID=bfb048cdfc364f56bc36945dd2d8967e")
    fields = json.loads(e2e.wait_for(lambda: container.run(*started, "-n", "1", "-o", "json"), "the start in the journal"))
    assert fields["TOPDOWND_CONFIG"] == "/etc/topdownd/topdownd.yaml" and fields["SYSLOG_IDENTIFIER"] == "topdownd", fields
    assert "topdownd measures this host" in container.run(*started, "-x"), "the catalog is not in use"


class Prometheus:
    """A real one in the container, which scrapes the service each second while that is restarted again and again."""

    YAML = """global: {scrape_interval: 1s}
scrape_configs: [{job_name: topdownd, static_configs: [{targets: ["127.0.0.1:10813"]}]}]
"""
    # Of a daemon whose counters began anew, and were read as if they had gone on, this would leap by all that they had.
    ACCOUNTED = "sum(rate(topdownd_covered_cpu_seconds_total[20s])) + sum(rate(topdownd_uncovered_cpu_seconds_total[20s]))"

    def __init__(self, container):
        self.container = container
        container.write("/root/prometheus.yml", self.YAML)
        container.run("systemd-run", "--unit=prometheus-of-the-test", "/usr/bin/prometheus", "--config.file=/root/prometheus.yml",
                      "--storage.tsdb.path=/root/data", "--web.listen-address=127.0.0.1:9090")

    def value(self, promql):
        """That of the one series of the answer; None where there is none."""
        said = self.container.run("curl", "-s", "-m", "30", "--data-urlencode", f"query={promql}",
                                  "http://127.0.0.1:9090/api/v1/query", status=None)
        result = json.loads(said)["data"]["result"] if said else []
        return float(result[0]["value"][1]) if result else None

    def wait_for_counts(self, seconds):
        """Waits until it has seen the present daemon count for so long."""
        e2e.wait_for(lambda: (self.value("sum(topdownd_covered_cpu_seconds_total)") or 0) > seconds, "Prometheus to see counts")

    def check(self):
        """Returns how many restarts it has seen. A busy machine lets it scrape some daemons never."""
        cpus = os.cpu_count()
        seen = self.value("changes(process_start_time_seconds[10m])")
        resets = self.value("max(resets(topdownd_covered_cpu_seconds_total[10m]))")
        assert seen >= 1 and resets >= 1, (seen, resets)
        highest, lowest = (self.value(f"{name}_over_time(({self.ACCOUNTED})[10m:1s])") for name in ("max", "min"))
        assert 0 <= lowest <= highest < 2 * cpus, f"between {lowest} and {highest} seconds a second of {cpus} CPUs"
        return int(seen)


def check_start(container):
    container.run("apt-get", "install", "-y", "-q", "/packages/topdownd.deb")
    assert container.active(), container.run("systemctl", "status", UNIT, status=None)
    container.write(DROP_IN, SHORT)
    container.run("systemctl", "daemon-reload")
    container.run("systemctl", "restart", UNIT)
    assert container.active() and container.show("UnitFileState") == "enabled"
    page = e2e.wait_for(container.scrape, "the first page")
    check_journal(container)
    assert "topdownd_build_info{" in page, page
    pid = container.pid()
    status = container.run("cat", f"/proc/{pid}/status")
    assert re.search(r"^CapEff:\s0*4000000000$", status, re.M), f"CAP_PERFMON and no other: {status}"
    user = container.run("id", "-u", "topdownd").strip()
    assert re.search(rf"^Uid:\s{user}\s", status, re.M), status
    assert container.run("stat", "-c", "%U:%G %a", "/run/topdownd", "/var/lib/topdownd") == "topdownd:topdownd 750\n" * 2
    assert container.run("stat", "-c", "%U:%G %a", "/run/topdownd/control.sock") == "topdownd:topdownd 660\n"
    return page


def check_helper(container):
    """It has run before this start, and runs before the next one; what systemd itself could not do is a status above 200."""
    name = "ExecMainExitTimestampMonotonic"
    before, status = int(container.show(name, HELPER)), int(container.show("ExecMainStatus", HELPER))
    assert before > 0 and status in (0, 1), container.run("journalctl", "-u", HELPER, status=None)
    container.run("systemctl", "restart", UNIT)
    assert before < int(container.show(name, HELPER)) <= int(container.show("ExecMainStartTimestampMonotonic")), "it ended before the service began"
    assert container.run("stat", "-c", "%U:%G %a", "/run/topdownd") == "topdownd:topdownd 750\n"
    e2e.wait_for(container.scrape, "a page after the restart")


def check_counting(container):
    """The capability and the filter of system calls let it count."""
    e2e.wait_for(lambda: re.search(r'^topdownd_pmu_up\{[^}]*\} 1$', container.scrape(), re.M), "counts:\n" + container.scrape())


def check_exposure(container, limit):
    said = container.run("systemd-analyze", "security", "--no-pager", UNIT)
    found = float(re.search(r"Overall exposure level for \S+: ([\d.]+)", said).group(1))
    assert found <= limit, said
    return found


def check_address(container):
    """One that the host gets only later is served from then on; the others are served meanwhile."""
    late = "192.0.2.7"
    container.write("/etc/topdownd/conf.d/ours.yaml", f'listen: ["127.0.0.1:10813", "{late}:10813"]\n')
    container.run("systemctl", "restart", UNIT)
    page = ["curl", "-s", "-m", "30", f"http://{late}:10813/metrics"]
    assert container.active() and e2e.wait_for(container.scrape, "the other address")
    assert container.run(*page, status=None) == ""
    container.run("ip", "address", "add", f"{late}/32", "dev", "lo")
    e2e.wait_for(lambda: "topdownd_build_info{" in container.run(*page, status=None), "the late address")
    container.run("rm", "/etc/topdownd/conf.d/ours.yaml")
    container.run("systemctl", "restart", UNIT)


def check_versions(container):
    """The package of a later version, and this one again, while the service runs."""
    for name, version in (("later", "9.0-1"), ("topdownd", None)):
        before = container.pid()
        container.run("apt-get", "install", "-y", "-q", "--allow-downgrades", f"/packages/{name}.deb")
        assert version in (None, container.run("dpkg-query", "-W", "-f", "${Version}", "topdownd"))
        container.wait_for_another(before)


def check_reload(container):
    pid = container.pid()
    container.write("/etc/topdownd/conf.d/ours.yaml", "idle: 20%\n")
    container.run("systemctl", "reload", UNIT)
    container.write("/etc/topdownd/conf.d/ours.yaml", "idel: 20%\n")
    container.run("systemctl", "reload", UNIT, status=1)
    assert "ours.yaml:1:1:" in container.run("journalctl", "-u", UNIT)
    assert container.active() and container.pid() == pid, "a bad configuration changes nothing"
    # who is neither root nor of the group may not ask for the counters
    container.run("topdownd", "yield", "--for", "1s")
    said = container.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "topdownd", "yield", "--for", "1s", status=1)
    assert "not allowed" in said, said
    container.run("rm", "/etc/topdownd/conf.d/ours.yaml")


def check_ends(container):
    """What ends a daemon brings another one, and a stopped one is found by the watchdog."""
    seconds = {}
    for signal in ("KILL", "SEGV", "STOP"):
        before, begun = container.pid(), time.monotonic()
        container.run("systemctl", "kill", "--kill-whom=main", f"--signal={signal}", UNIT)
        container.wait_for_another(before)
        seconds[signal] = round(time.monotonic() - begun, 1)
    assert int(container.show("NRestarts")) >= 3, "the watchdog may find one more that a busy machine has stopped"
    assert "Watchdog timeout" in container.run("journalctl", "-u", UNIT)
    return seconds


def check_mistakes(container):
    """A wrong configuration is final, whatever else is not; a stop is quick."""
    container.write("/etc/topdownd/conf.d/ours.yaml", "idel: 20%\n")
    container.run("systemctl", "restart", UNIT, status=1)
    assert (container.show("ActiveState"), container.show("ExecMainStatus")) == ("failed", "2")
    container.run("rm", "/etc/topdownd/conf.d/ours.yaml")
    container.run("systemctl", "start", UNIT)
    container.run("systemctl", "stop", UNIT)
    took = [int(container.show(name)) for name in ("ActiveExitTimestampMonotonic", "InactiveEnterTimestampMonotonic")]
    assert (container.show("ActiveState"), container.show("Result")) == ("inactive", "success")
    assert took[1] - took[0] < 5e6, "it ended by itself, before systemd killed it"


def check_sockets(container):
    container.run("install", "-Dm644", "-t", f"/etc/systemd/system/{UNIT}.d", "/usr/share/topdownd/systemd/socket-activation.conf")
    container.run("systemctl", "daemon-reload")
    container.run("systemctl", "enable", "--now", "topdownd.socket")
    # the first request starts the service, and one during a restart waits
    assert not container.active()
    assert "topdownd_build_info{" in container.scrape()
    before = container.pid()
    container.run("systemctl", "restart", "--no-block", UNIT)
    assert "topdownd_build_info{" in container.scrape()
    container.wait_for_another(before)
    check_counting(container)
    assert "10813" not in container.run("nsenter", "-n", "-t", str(container.pid()), "cat", "/proc/net/tcp").replace("2A3D", "10813")


def check_purge(container):
    container.run("dpkg", "-P", "topdownd")
    assert container.run("curl", "-s", "http://127.0.0.1:10813/metrics", status=7) == ""
    container.run("rm", "-r", f"/etc/systemd/system/{UNIT}.d")
    left = container.run("sh", "-c", "find /etc /usr /var/lib /run -xdev -name '*topdownd*' -not -path '/usr/src/*'; "
                                     "ls -d /run/topdownd 2>/dev/null; true")
    assert left == "", left


def test_a_life_of_the_service():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(packages.file_of(MADE, "deb"), f"{folder}/topdownd.deb")
        packages.make_later(f"{folder}/topdownd.deb", f"{folder}/later.deb")
        os.chmod(folder, 0o755)
        with booted(folder) as container:
            check_start(container)
            check_helper(container)
            prometheus = Prometheus(container) if shutil.which("prometheus") else None
            exposure = [check_exposure(container, 1.5)]
            check_counting(container)
            check_reload(container)
            if prometheus:
                prometheus.wait_for_counts(3)
            seconds = check_ends(container)
            check_address(container)
            check_versions(container)
            if prometheus:
                prometheus.wait_for_counts(1)
                restarts = prometheus.check()
            check_mistakes(container)
            check_sockets(container)
            exposure.append(check_exposure(container, 1.2))
            check_purge(container)
    return "back after " + ", ".join(f"SIG{name} {value} s" for name, value in seconds.items()) + \
        (f"; Prometheus saw {restarts} restarts" if prometheus else "") + f"; exposure {exposure[0]}, with sockets {exposure[1]}"


# ---- restarts under load ----

SCRAPERS, HOLDERS, GUESSERS = 4, 3, 2
LOAD = ("restart_load.py", "../attack/connections.py")
CLOCKS = 0.5  # seconds that the clock of pages may be adjusted by meanwhile, and that a busy machine may take between two clocks
RUN = "/usr/sbin/topdownd run --pmu sim:/packages/steady.json --web.config.file /etc/topdownd/web.yml"


def run_simulated(container, *options):
    """What the service runs from its next start on: as the unit says, but on a simulated host, with passwords."""
    container.write(DROP_IN, f"[Service]\nExecStart=\nExecStart={' '.join((RUN, *options))}\n")
    container.run("systemctl", "daemon-reload")


class Load:
    """restart_load.py in the container, from its first answered scrape on."""

    def __init__(self, stack, container, folder):
        self.container, self.path = container, os.path.join(folder, "load")
        with open(self.path, "wb") as out:
            self.program = stack.enter_context(subprocess.Popen(
                [*container.enter, "python3", "/packages/restart_load.py", *(str(n) for n in (10813, HOLDERS, GUESSERS, SCRAPERS))],
                stdin=subprocess.PIPE, stdout=out))
        e2e.wait_for(lambda: self.told(0), "the scrapers before the restart")

    def lines(self):
        """Of scrapes and of guesses."""
        text = e2e.read_text(self.path)
        every = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        return ([line for line in every if line["kind"] == kind] for kind in ("scraper", "guesser"))

    def told(self, since):
        """Whether every scraper has had a page with a verdict that it asked for after that moment."""
        assert self.program.poll() is None, "the load has ended"
        scrapes, _ = self.lines()
        return len({one["number"] for one in scrapes if one["begin"] > since and "since" in one}) == SCRAPERS

    def restart(self, *command):
        """Runs the command, which restarts the service, and waits for the scrapers. When the old service ended, and the new one was ready:
        seconds of CLOCK_MONOTONIC, which the container shares."""
        before = self.container.pid()
        self.container.run(*command)
        try:
            e2e.wait_for(lambda: self.container.active() and self.container.pid() not in (0, before), "the new service")
        except AssertionError as why:
            raise AssertionError(self.container.run("journalctl", "-u", UNIT, "-n", "40", "--no-pager", status=None)) from why
        assert self.container.show("Result") == "success", "it ended by itself, before systemd killed it"
        moments = tuple(int(self.container.show(name)) / 1e6 for name in ("ActiveExitTimestampMonotonic", "ActiveEnterTimestampMonotonic"))
        e2e.wait_for(lambda: self.told(moments[1]), "the scrapers after the restart")
        return moments

    def end(self):
        """All scrapes, and the guesses."""
        self.program.stdin.close()
        assert self.program.wait(e2e.TIMEOUT) == 0
        return self.lines()


def check_scrapes(scrapes, restarts):
    """None is lost but by a restart. Returns how many were."""
    lost = [one for one in scrapes if one["status"] != 200]
    others = [one for one in lost if not any(one["begin"] <= ready and one["end"] >= ended for ended, ready in restarts)]
    assert len(others) <= 0.02 * len(scrapes), others
    return len(lost)


def check_since(scrapes):
    """Every page that has a verdict has it since the same moment; after a restart, "at least since"."""
    told = [one for one in scrapes if "since" in one]
    began = sorted({one["began"] for one in told})
    assert len(began) == 3 and len({one["since"] for one in told}) == 1, (began, {one["since"] for one in told})
    assert all(one.get("unseen") == 1 for one in told if one["began"] > began[0]), "nobody watched during the restart"


def check_time(scrapes, restarts, cpus, offset):
    """All CPU time from when a service was ready until its newest round ended is in its totals, covered or not: on a busy machine rounds
    get longer than the snapshot interval, and the page tells how long before it that round ended. `offset`: of the clock of pages to
    CLOCK_MONOTONIC."""
    began = sorted({one["began"] for one in scrapes if "began" in one})  # of the boot in whole seconds: only their order tells
    for (_, ready), process in zip(restarts, began[1:], strict=True):
        pages = [one for one in scrapes if one.get("began") == process and one.get("taken", 0) + offset > ready]
        assert pages, (ready, process)
        for one in pages:
            until = one["taken"] - one.get("age", 0) + offset
            assert one["counted"] >= cpus * (until - ready - CLOCKS), (one, ready, offset)


def check_restart_with_sockets(container, folder):
    """The sockets are systemd's, so that scrapes wait for the new service. Returns how many were lost, of how many."""
    container.run("systemctl", "stop", UNIT)
    run_simulated(container, "--web.systemd-socket")
    container.run("systemctl", "enable", "--now", "topdownd.socket")
    container.run("systemctl", "start", UNIT)
    with contextlib.ExitStack() as stack:
        load = Load(stack, container, folder)
        load.restart("systemctl", "restart", UNIT)
        scrapes, _ = load.end()
    # those whose answer was under way, or that had come and not been asked yet, are lost: one of each scraper at most
    lost = [one for one in scrapes if one["status"] != 200]
    assert len(lost) <= SCRAPERS + 0.02 * len(scrapes), lost
    return len(lost), len(scrapes)


def test_a_restart_and_an_upgrade_under_load_lose_no_more_than_their_own_time():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(packages.file_of(MADE, "deb"), f"{folder}/topdownd.deb")
        packages.make_later(f"{folder}/topdownd.deb", f"{folder}/later.deb")
        scenario = f"{ROOT}/tests/data/scenarios/steady.json"
        for path in (scenario, *(f"{ROOT}/tests/e2e/{name}" for name in LOAD)):
            shutil.copy(path, folder)
        os.chmod(folder, 0o755)
        with booted(folder) as container:
            container.run("dpkg", "-i", "/packages/topdownd.deb")
            container.write("/etc/topdownd/conf.d/ours.yaml", "slot: 50ms\ninterval: 1s\n")
            container.write("/etc/topdownd/web.yml", web_files.users(**{f"scraper{i}": web_files.HASHES[4] for i in range(SCRAPERS)}))
            run_simulated(container)
            container.run("systemctl", "restart", UNIT)
            offset = time.monotonic() - time.time()
            with contextlib.ExitStack() as stack:
                load = Load(stack, container, folder)
                restarts = [load.restart("systemctl", "restart", UNIT), load.restart("dpkg", "-i", "/packages/later.deb")]
                scrapes, guesses = load.end()
            assert container.run("dpkg-query", "-W", "-f", "${Version}", "topdownd") == "9.0-1"
            assert any(one["status"] == 401 for one in guesses), guesses[:10]
            lost = check_scrapes(scrapes, restarts)
            check_since(scrapes)
            host = json.loads(e2e.read_text(scenario))
            check_time(scrapes, restarts, host["sockets"] * host["cores_per_socket"] * host["threads_per_core"], offset)
            waited = check_restart_with_sockets(container, folder)
    return f"away for {', '.join(f'{ready - ended:.2f} s' for ended, ready in restarts)}; {lost} of {len(scrapes)} scrapes lost, beside {len(guesses)} guesses; with " \
        f"topdownd.socket {waited[0]} of {waited[1]}"


PLAYBOOK = "/packages/ansible/topdownd.yml"
DATABASE = "profiles: {database: {groups: [Software]}}\nslot: 100ms\n"


def play(container, variables, status=0):
    """Runs the playbook on the container itself; what it said of the host in the end, by number."""
    container.write("/root/variables.yml", variables)
    said = container.run("env", "HOME=/root", "LC_ALL=C.UTF-8", "ansible-playbook", "-c", "local", "-i", "localhost,", PLAYBOOK,
                         "-e", "ansible_become=false", "-e", "ansible_python_interpreter=/usr/bin/python3", "-e", "@/root/variables.yml",
                         status=status)
    return {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", said[said.index("PLAY RECAP"):])}, said


def test_the_playbook_installs_configures_by_role_and_verifies():
    need("ansible-playbook", "ansible-core")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(packages.file_of(MADE, "deb"), f"{folder}/topdownd.deb")
        shutil.copytree(f"{ROOT}/packaging/ansible", f"{folder}/ansible")
        os.chmod(folder, 0o755)
        variables = "topdownd_package: /packages/topdownd.deb\ntopdownd_profile: database\ntopdownd_config:\n" + \
            "".join(f"  {line}\n" for line in DATABASE.splitlines())
        with booted(folder) as container:
            recap, said = play(container, variables)
            assert recap["failed"] == 0 and recap["changed"] > 0, said
            assert container.active() and container.show("UnitFileState") == "enabled"
            assert "profile database:" in container.run("topdownd", "check-config", "--pmu", "sim"), "by role"
            before = container.pid()
            recap, said = play(container, variables)
            assert (recap["failed"], recap["changed"]) == (0, 0), said
            recap, said = play(container, variables.replace("slot", "slto"), status=2)
            assert recap["failed"] == 1 and "50-site.yaml:" in said and "slot" in said, said
            assert "slto" not in container.run("cat", "/etc/topdownd/conf.d/50-site.yaml"), "a mistake changes nothing"
            recap, said = play(container, variables.replace("100ms", "200ms"))
            assert recap["changed"] == len(("the file", "the reload")) and container.pid() == before, said
            assert "200" in container.run("cat", "/etc/topdownd/conf.d/50-site.yaml")
        return ", ".join(f"{name} {n}" for name, n in recap.items() if n)


if __name__ == "__main__":
    if not shutil.which("cpack") or not os.path.exists(f"{BUILD}/CPackConfig.cmake"):
        print("skipped: cpack (Debian package cmake) and a build folder are needed")
        sys.exit(e2e.SKIPPED)
    with tempfile.TemporaryDirectory() as MADE:
        packages.run("cpack", "-G", "DEB", "--config", f"{BUILD}/CPackConfig.cmake", "-B", MADE, cwd=MADE)
        e2e.run_tests()
