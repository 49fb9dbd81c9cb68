# SPDX-License-Identifier: Apache-2.0
"""What topdownd says of simulated hosts whose bottleneck is known, against what somebody who knows the CPU would say of
them (tests/data/hosts/README.md)."""
import os
import re
import subprocess
import sys

import e2e

TOPDOWND, SOURCE = e2e.arguments()
HOSTS = os.path.join(SOURCE, "tests", "data", "hosts")
# What is reached, in per cent of the points. These limits only rise.
AT_LEAST = {"open": {"all": 97, "default": 72, "evidence": 89}, "blind": {"all": 95, "default": 65, "evidence": 90}}
SECONDS = 60  # a busy machine may take longer than a host on its own, which is not what is judged


def ports(n):
    """The first of so many free ports in a row."""
    while True:
        first = e2e.free_port()
        if first + n < 65536:
            return first


def judge(folder, profile):
    judged = subprocess.run([sys.executable, os.path.join(HOSTS, "judge.py"), TOPDOWND, os.path.join(HOSTS, folder),
                             "--at-least", str(AT_LEAST[folder][profile]), "--profile", profile, "--seconds", str(SECONDS),
                             "--port", str(ports(3))], capture_output=True, text=True)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert re.search(r"^\d+ of \d+ verdicts right", judged.stdout, re.M), judged.stdout


def test_hosts_with_all_levels_measured_are_told_as_an_expert_would():
    judge("open", "all")


def test_hosts_with_the_default_profile_are_told_as_an_expert_would():
    judge("open", "default")


def test_hosts_that_were_written_blind_are_told_with_all_levels_measured():
    judge("blind", "all")


def test_hosts_that_were_written_blind_are_told_with_the_default_profile():
    judge("blind", "default")


def test_hosts_are_told_with_the_default_profile_and_what_the_verdict_leads_to():
    judge("open", "evidence")


def test_hosts_that_were_written_blind_are_told_with_what_the_verdict_leads_to():
    judge("blind", "evidence")


def test_the_judge_refuses_what_is_less():
    """A limit that nobody can miss would judge nothing."""
    judged = subprocess.run([sys.executable, os.path.join(HOSTS, "judge.py"), TOPDOWND, os.path.join(HOSTS, "open"),
                             "--at-least", "101", "--host", "branchy", "--seconds", str(SECONDS),
                             "--port", str(ports(3))], capture_output=True, text=True)
    assert judged.returncode == 1, judged.stdout + judged.stderr


if __name__ == "__main__":
    e2e.run_tests()
