# SPDX-License-Identifier: Apache-2.0
"""What holds for every command: where it writes, when it uses colour, what its exit status means, and that nothing is lost unsaid."""

import json
import os
import pty
import re
import select
import subprocess
import tempfile
import time

import e2e

BINARY, ROOT = e2e.arguments()
# One line of each command that ends by itself; those of `run` are in test_daemon.py.
ANSWERS = (("--version",), ("--help",), ("help", "list"), ("check-config", "--pmu", "sim"), ("explain", "--pmu", "sim:zen4"),
           ("doctor", "--pmu", "sim"), ("list", "cpus"), ("list", "scenarios", "--json"), ("list", "events", "--cpu", "zen4"),
           ("eval", "--spec", f"{ROOT}/specs/neoverse-v2.json", "--counts", "COUNTS"))


def lines(folder):
    counts = e2e.write_text(os.path.join(folder, "counts.json"), '{"INST_RETIRED": 3e9, "CPU_CYCLES": 2e9}')
    return [[word if word != "COUNTS" else counts for word in words] for words in ANSWERS]


def call(*words, **how):
    return subprocess.run([BINARY, *words], timeout=e2e.TIMEOUT, check=False, text=True,
                          **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how))


def in_terminal(*words, **environment):
    """The exit status, and what a terminal shows of the line: both streams are the terminal."""
    ours, theirs = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")} | environment
    child = subprocess.Popen([BINARY, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    said, end = b"", time.monotonic() + e2e.TIMEOUT
    try:
        while time.monotonic() < end:
            if select.select([ours], [], [], 1)[0]:
                said += os.read(ours, 65536)
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    return child.wait(timeout=e2e.TIMEOUT), said.decode()


def test_an_answer_is_on_standard_output_alone_and_plain():
    with tempfile.TemporaryDirectory() as folder:
        for words in lines(folder):
            done = call(*words)
            assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith("\n"), done
            assert "\033" not in done.stdout, words
    return f"{len(ANSWERS)} lines"


def test_a_full_disk_is_said_and_fails_with_2():
    with tempfile.TemporaryDirectory() as folder:
        for words in lines(folder):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = call(*words, stdout=full)
            assert done.returncode == 2, done
            assert done.stderr == "topdownd: cannot write the output: No space left on device\n", done


def test_a_reader_that_goes_away_is_no_failure():
    """Also where SIGPIPE is ignored, so that writing fails."""
    with tempfile.TemporaryDirectory() as folder:
        for words in lines(folder):
            for ignored in (False, True):
                reader, writer = os.pipe()
                os.close(reader)
                # pylint: disable-next=consider-using-with
                child = subprocess.Popen([BINARY, *words], stdout=writer, stderr=subprocess.PIPE, restore_signals=not ignored)
                os.close(writer)
                said = child.communicate(timeout=e2e.TIMEOUT)[1]
                assert said == b"" and child.returncode == (0 if ignored else -13), (words, ignored, child.returncode, said)


def test_json_is_one_document_where_a_command_takes_the_option():
    with tempfile.TemporaryDirectory() as folder:
        for words in lines(folder):
            if "--json" in call(words[0], "--help").stdout and words[0] != "--help" and "--json" not in words:
                words = [*words, "--json"]
            done = call(*words)
            if "--json" in words or words[0] == "eval":
                assert (done.returncode, done.stderr) == (0, ""), done
                json.loads(done.stdout)


def test_a_wrong_command_line_is_2_for_every_command():
    for command in re.findall(r"^  ([a-z][a-z-]*)", call("--help").stdout, re.M):
        done = call(command, "--no-such-option")
        assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1, done
        done = call(command, "a", "b", "c", "d", "--pmu", "sim") if command != "help" else call("help", "no-such-command")
        assert (done.returncode, done.stdout) == (2, ""), done


def test_the_manual_has_the_exit_statuses():
    page = e2e.read_text(f"{ROOT}/docs/topdownd.8")
    table = page[page.index(".Sh EXIT STATUS"):page.index(".Sh EXAMPLES")]
    assert re.findall(r"^\.It (\d)", table, re.M) == ["0", "1", "2"], table


def test_progress_and_colour_are_for_terminals():
    with tempfile.TemporaryDirectory() as folder:
        for words in lines(folder):
            for environment in ({"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}, {}):
                status, said = in_terminal(*words, **environment)
                assert status == 0 and "\033" not in said, (words, environment, said)


if __name__ == "__main__":
    e2e.run_tests()
