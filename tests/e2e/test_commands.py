# SPDX-License-Identifier: Apache-2.0
"""Every command line of README.md, docs/, the manuals and the help texts is run, or listed here with the reason why not.

Commands run by a shell in a folder of their own, with the program of this build in the path as `topdownd`, beside two daemons: one
on the port of the documents, and one that the control socket reaches. Both measure simulated hosts."""

import contextlib
import glob
import os
import re
import shutil
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
ROUNDS = 7
# What a line may begin with to be a command of ours, in a block without a language or between back quotes.
PROGRAMS = r"(?:sudo )?(?:topdownd|build/release/topdownd|curl|echo)"

# Not run: what it needs, and what runs it instead.
NOT_RUN = {
    r"\./(run|test)\b": "builds everything; who runs this has run ./test",
    r"sudo apt(-get)? install": "installs packages: e2e/test_package.py installs the one that is built",
    r"(sudo )?(systemd-sysusers|systemctl|journalctl)\b": "needs systemd as the first process: e2e/test_systemd.py and e2e/test_unit_file.py",
    r"TOPDOWND_PASSWORD=": "needs TLS and a password: e2e/test_top.py",
    r"(sudo )?cmake ": "builds and installs: e2e/test_package.py and e2e/test_unit_file.py",
    r"(ansible-playbook|kubectl|skopeo|docker|for name in rules)\b": "needs hosts, a cluster or a registry: e2e/test_container.py, e2e/test_kubernetes.py and "
                                                                   "e2e/test_systemd.py look at what these commands use",
    r"(packaging/sums|tests/fuzz/nightly)\.sh": "signs a release, fuzzes for an hour: e2e/test_sums.py and e2e/test_nightly.py",
    r"curl --unix-socket ": "needs the key `probe`: e2e/test_attack.py asks such a socket",
    r"packaging/container/image\.py": "needs both packages: e2e/test_container.py makes an image",
    r"(TOPDOWND_PASSWORD=\S+ )?topdownd top\b": "needs a terminal and somebody at its keys: e2e/test_top.py",
    r"sudo topdownd doctor --verify": "computes for minutes: e2e/test_verify.py",
    r"install -Dm644 packaging/": "changes the host: e2e/test_kubernetes.py and e2e/test_package.py hold the files",
    r"(sudo sh -c ')?(cp|install) .*/usr/share/topdownd/(remedies|systemd)": "changes the host: e2e/test_package.py holds it against the files",
}
# A bad answer is an answer: of a host that may be unfit, and of recordings that may differ.
MAY_BE_1 = r"\b(doctor|diff|check-config --strict)\b"
ENDLESS = r"^topdownd(?: run)?(?: -|$)"  # measures until it is told to end
SECONDS = 2

# A log of `perf stat -x, -I 1000 -A`.
PERF_CSV = "".join(f"{second}.0,CPU0,{count},,{event},1000000000,100.00,,\n" for second in range(1, 5)
                   for event, count in (("cpu_cycles", 2000000000), ("inst_retired", 3000000000)))


def undo_roff(line):
    return line.replace("\\(dq", '"').replace("\\-", "-").replace("\\e", "\\").strip()


def lines_of_manual(page):
    found = re.findall(r"^\.Dl (.*)$", page, re.M)
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", page, re.M | re.S):
        found += [line for line in block.splitlines() if re.match(PROGRAMS + " ", line)]
    return [undo_roff(line) for line in found]


def whole(words):
    """Whether what stands between back quotes is a command line, and no mention of a command or of its placeholders."""
    return bool(re.match(r"(sudo )?topdownd \S+ \S", words)) and not re.search(r"\b(FILE|DIR|BEFORE|NAME|PORT)\b|\.\.\.| recording$", words)


def lines_of_page(page):
    found = []
    for language, block in re.findall(r"^ *```(\w*)\n(.*?)^ *```", page, re.M | re.S):
        block = re.sub(r"\\\n\s*", " ", block)
        block = re.sub(r"^ *for .*?^ *done", lambda loop: re.sub(r"\n\s*", "; ", loop.group()), block, flags=re.M | re.S)
        lines = [line.strip() for line in block.splitlines() if line.strip() and not line.strip().startswith("#")]
        if language in ("", "console"):
            lines = [line for line in lines if re.match(PROGRAMS + " ", line)]
        found += lines if language in ("", "sh", "bash", "console") else []
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```", "", page, flags=re.M | re.S))
    return found + [span for span in spans if whole(span) or span.startswith("curl ")]


def command_lines():
    """Each line with the first file that has it."""
    found = {}
    for path in ("README.md", *sorted(glob.glob("docs/*.md", root_dir=ROOT))):
        for line in lines_of_page(e2e.read_text(os.path.join(ROOT, path))):
            found.setdefault(re.sub(r"\s+#.*", "", line), path)
    for path in sorted(glob.glob("docs/*.[1-9]", root_dir=ROOT)):
        for line in lines_of_manual(e2e.read_text(os.path.join(ROOT, path))):
            if "\\(mu" not in line:  # a formula
                found.setdefault(line, path)
    said = subprocess.run([BINARY, "--help"], capture_output=True, text=True, check=True).stdout
    for command in re.findall(r"^  ([a-z][a-z-]*) ", said[said.index("\nCommands"):said.index("\nOptions")], re.M):
        text = subprocess.run([BINARY, command, "--help"], capture_output=True, text=True, check=True).stdout
        found.setdefault(re.search(r"^Example: (.*)$", text, re.M).group(1), f"topdownd help {command}")
    return found


def reason_not_to_run(line):
    return next((reason for pattern, reason in NOT_RUN.items() if re.match(pattern, line)), None)


class Sandbox:
    """A folder with all that the documents' commands name."""

    def __init__(self, stack):
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.run_folder = self.path("run")
        os.makedirs(self.run_folder)
        os.makedirs(self.path("var"))
        self._programs()
        self._files()
        for name in ("specs", "scenarios", "config"):
            os.symlink(os.path.join(ROOT, name), self.path(name))
        shutil.copytree(os.path.join(ROOT, "config"), self.path("etc"), ignore=shutil.ignore_patterns("*.[ch]"))  # commands write here
        yaml = e2e.LISTEN_ANYWHERE + "slot: 50ms\ninterval: 1s\nprofiles: {default: {groups: [Topdown_L1, General]}}\n"
        self.daemon = stack.enter_context(e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", self.run_folder, yaml=yaml,
                                                     environment=os.environ | {"HOME": self.folder}))
        self._recordings(yaml)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def _programs(self):
        script = f"""#!/bin/sh
            case "$1" in
            yield | reload | mark) exec {BINARY} "$@" --path.run {self.run_folder} ;;
            eval | memory | help | --help | --version) exec {BINARY} "$@" ;;
            -* | run) exec timeout --preserve-status {SECONDS} {BINARY} "$@" --path.data {ROOT} --path.run {self.folder} ;;
            top) exec {BINARY} "$@" --once ;;
            *) exec {BINARY} "$@" --path.data {ROOT} ;;
            esac\n"""
        for name, text in (("topdownd", script), ("sudo", '#!/bin/sh\nexec "$@"\n'), ("perf", "#!/bin/sh\nexit 0\n"),
                           ("make", "#!/bin/sh\nexec sleep 1\n")):
            os.chmod(e2e.write_text(self.path("bin", name), text), 0o755)

    def _files(self):
        e2e.write_text(self.path("fleet.yaml"), "profiles: {database: {groups: [stage_1, MPKI]}}\n"
                       "hosts: [{match: {hostname: 'db-*'}, profile: database}]\n")
        e2e.write_text(self.path("counts.json"), '{"INST_RETIRED": 3e9, "CPU_CYCLES": 2e9}')
        e2e.write_text(self.path("perf.csv"), PERF_CSV)
        arch = self.path("tools/perf/pmu-events/arch")
        e2e.write_text(os.path.join(arch, "x86/mapfile.csv"), "Family-model,Version,Filename,EventType\nGenuineIntel-6-8F,v1,sapphirerapids,core\n")
        e2e.write_text(os.path.join(arch, "x86/sapphirerapids/metrics.json"),
                       '[{"MetricName": "ipc", "MetricExpr": "INST_RETIRED / CPU_CYCLES", "MetricGroup": "Summary"}]')

    def _recordings(self, yaml):
        """All that the documents name are copies of one."""
        made = self.path("made.rec")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", made, yaml=yaml) as daemon:
            daemon.wait_round(ROUNDS)
        for name in ("yesterday.rec", "today.rec", "baseline.rec", "candidate.rec", "monday.rec", "tuesday.rec", "recording", "topdownd.rec", "var/recording"):
            shutil.copy(made, self.path(name))

    def as_here(self, line):
        """The line with this sandbox's places, and with a daemon that ends."""
        port = str(self.daemon.port)
        for words, here in (("/tmp/", self.folder + "/"), ("127.0.0.1:10813/", f"127.0.0.1:{port}/"), ("localhost:10813/", f"localhost:{port}/"),
                            ("http://web-1:10813", f"http://127.0.0.1:{port}"), ("http://127.0.0.1:10813", f"http://127.0.0.1:{port}"),
                            ("127.0.0.1:10813", "127.0.0.1:0"), ("127.0.0.1:9999", "127.0.0.1:0"), ("build/release/topdownd", "topdownd"),
                            ("/usr/share/topdownd", ROOT), ("/etc/topdownd", self.path("etc")),
                            ("--duration 60s", "--duration 2s"), ("--duration 10s", "--duration 2s"),
                            ("/run/topdownd", self.path("var")), ("/var/lib/topdownd", self.path("var")), ("@0-600", "@0-4"), ("@600-1200", "@4-8")):
            line = line.replace(words, here)
        if line == "topdownd top":  # any host has a simulated one
            line += " --pmu sim"
        if re.match(ENDLESS, line) and "--web.listen-address" not in line:
            line += " --web.listen-address 127.0.0.1:0"
        return line

    def run(self, line):
        path = f"{self.path('bin')}:{os.environ['PATH']}"
        environment = {name: value for name, value in os.environ.items() if name != "RUNTIME_DIRECTORY"}
        return subprocess.run(["bash", "-o", "pipefail", "-c", self.as_here(line)], cwd=self.folder, capture_output=True, text=True,
                              timeout=e2e.TIMEOUT, check=False, env=environment | {"PATH": path, "HOME": self.folder, "TMPDIR": self.folder})


def test_every_command_line_runs_or_has_a_reason():
    lines = command_lines()
    run = {line: path for line, path in lines.items() if not reason_not_to_run(line)}
    with contextlib.ExitStack() as stack:
        sandbox = Sandbox(stack)
        for line, path in run.items():
            if "| jq" in line and not shutil.which("jq"):
                continue
            done = sandbox.run(line)
            fine = done.returncode == 0 or (done.returncode == 1 and re.search(MAY_BE_1, line)) or (
                done.returncode == 2 and " diff " in line and "cannot be told" in done.stdout)
            fine = fine or (done.returncode in (141, 23) and "| head" in line)  # what head did to curl
            assert fine, f"{path}: {line}\n{done.returncode}\n{done.stdout[-2000:]}{done.stderr}"
            assert re.search(r"curl .*[^|]$|reload|>", line) or done.stdout or done.stderr or re.match(ENDLESS, line), f"{path}: {line} says nothing"
    return f"{len(run)} run, {len(lines) - len(run)} listed"


def test_each_reason_has_a_command():
    lines = command_lines()
    assert len(lines) > 60, lines
    for pattern in NOT_RUN:
        assert any(re.match(pattern, line) for line in lines), f"{pattern} is in no document: remove it"


if __name__ == "__main__":
    e2e.run_tests()
