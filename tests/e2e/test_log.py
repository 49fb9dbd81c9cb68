# SPDX-License-Identifier: Apache-2.0
"""What the daemon writes on standard error: for the journal or for people, and always one line for one thing."""

import os
import re
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()


def said(scenario, stream=None):
    """What it says on standard error of a scenario that is not there; stream(fd) makes JOURNAL_STREAM."""
    with tempfile.TemporaryFile() as log:
        environment = {k: v for k, v in os.environ.items() if k != "JOURNAL_STREAM"}
        if stream:
            environment["JOURNAL_STREAM"] = stream(os.fstat(log.fileno()))
        command = [BINARY, "check-config", "--path.data", ROOT, "--config", os.devnull, "--pmu", f"sim:{scenario}"]
        status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=log, env=environment, timeout=e2e.TIMEOUT,
                                check=False).returncode
        assert status == 2, status
        log.seek(0)
        return log.read().decode()


def test_lines_carry_a_priority_where_standard_error_is_the_journal_itself():
    line = said("/nonexistent", lambda s: f"{s.st_dev}:{s.st_ino}")
    assert re.fullmatch(r"<3>/nonexistent: .*\n", line), line


def test_an_inherited_name_of_a_journal_that_is_elsewhere_does_not_count():
    for stream in (lambda s: f"{s.st_dev}:{s.st_ino + 1}", lambda s: f"{s.st_dev + 1}:{s.st_ino}",
                   lambda s: f"{s.st_dev}:{s.st_ino}0", lambda s: str(s.st_dev), lambda s: "", lambda s: "x"):
        line = said("/nonexistent", stream)
        assert re.fullmatch(r"topdownd: error: /nonexistent: .*\n", line), line


def test_control_characters_cannot_make_a_line_of_their_own():
    line = said("/no\n<0>such\x1b[2J\x7f\tfile\u00e9")
    assert line.count("\n") == 1 and line.endswith("\n"), line
    assert r"/no\x0a<0>such\x1b[2J\x7f\x09file\u00e9".replace(r"\u00e9", "\u00e9") in line, line
    assert said("/" + "\n" * 3000).count("\n") == 1
    return line.strip()


if __name__ == "__main__":
    e2e.run_tests()
