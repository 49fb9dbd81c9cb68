# SPDX-License-Identifier: Apache-2.0
"""The shipped rules of Prometheus, evaluated by promtool in virtual time over series that a test makes up."""

import json
import os
import re
import subprocess
import tempfile

import e2e

PROMTOOL = "/usr/bin/promtool"
_, ROOT = e2e.arguments()
FOLDER = os.path.join(ROOT, "packaging/prometheus")
CATEGORIES = ("frontend_bound", "bad_speculation", "retiring", "backend_bound")
REASONS = ("starved", "failed", "offline", "stalled", "not_plannable", "yielded", "gap")
TIMEOUT = 800  # seconds, on a very busy machine


def need():
    if not os.access(PROMTOOL, os.X_OK):
        print(f"skipped: {PROMTOOL} is not installed (Debian package prometheus)")
        raise SystemExit(e2e.SKIPPED)


def run(*arguments):
    done = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True, timeout=TIMEOUT, check=False,
                          env={"GOGC": "400"} | os.environ)  # a third less CPU time than with the memory cleaned up as often as usual
    return done.returncode, done.stdout + done.stderr


def files():
    return sorted(os.path.join(FOLDER, name) for name in os.listdir(FOLDER) if re.match(r"topdownd\.\w+\.yml$", name))


def documented(beginning):
    """The query of docs/fleet.md that begins so."""
    blocks = re.findall(r"```promql\n(.*?)```", e2e.read_text(os.path.join(ROOT, "docs/fleet.md")), re.S)
    found = [block.strip() for block in blocks if block.startswith(beginning)]
    assert len(found) == 1, (beginning, found)
    return found[0]


LONGEST_BOUND, JUST_BOUND = "sort_desc(\n  (time() - topdownd_bound_since", "time() - topdownd_bound_since"  # how these begin


def series(name, **labels):
    inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return f"{name}{{{inside}}}"


def grows(*parts):
    """A counter: (rate a second, for minutes) one after the other. The sample at 0 is 0."""
    text, value = "0", 0
    for rate, minutes in parts:
        step = rate * 60
        text += f" {value + step:.10g}+{step:.10g}x{minutes - 1}"
        value += step * minutes
    return text


def stays(*parts):
    """A gauge: (value, for minutes) one after the other; None: it has no sample."""
    return " ".join(f"_x{minutes}" if value is None else f"{value:.10g}x{minutes - 1}" for value, minutes in parts)


def length(values):
    """How many samples these values are."""
    return sum(int(count or 0) + (sample != "_" or not count) for sample, count in re.findall(r"(?:^| )(_|[^ x]+)(?:x(\d+))?(?= |$)", values))


class Rules:
    """What the rules say of these series ({name with labels: values, one a minute})."""

    def __init__(self, loaded, every="1m", of=None):
        """`of`: names of the files of rules, without which all of them."""
        self.loaded, self.every = loaded, every
        self.files = [os.path.join(FOLDER, name) for name in of] if of else files()

    def ask(self, asked):
        """[(labels, value)] of each (expression, at which minute)."""
        groups = [group for path in self.files for group in re.findall(r"^  - name: (\w+)", e2e.read_text(path), re.M)]
        test = {"interval": "1m", "input_series": [{"series": name, "values": values} for name, values in self.loaded.items()],
                # An answer that cannot be: promtool then prints the one it got.
                "promql_expr_test": [{"expr": promql, "eval_time": f"{minute}m", "exp_samples": [{"labels": "absent", "value": -1}]}
                                     for promql, minute in asked]}
        text = json.dumps({"rule_files": self.files, "evaluation_interval": self.every, "group_eval_order": groups, "tests": [test]})
        with tempfile.TemporaryDirectory() as folder:
            _, said = run("test", "rules", e2e.write_text(os.path.join(folder, "test.yml"), text))
        assert "err:" not in said, said
        answers = re.findall(r"^\s+got:(.*)$", said, re.M)
        assert len(answers) == len(asked), said
        return [_samples(answer) for answer in answers]

    def firing(self, *minutes):
        """{(alert, what it is about)} at each of these minutes."""
        promql = 'count by (alertname, instance, role, reason, category, metric) (ALERTS{alertstate="firing"})'
        return [{(labels.pop("alertname"), *(labels[key] for key in ("instance", "role", "reason", "category", "metric") if key in labels))
                 for labels, _ in answer} for answer in self.ask([(promql, minute) for minute in minutes])]


def _samples(answer):
    """[(labels, value)] of promtool's `{a="b", c="d"} 1E+00, {...} ...`, or nil."""
    return [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value))
            for labels, value in re.findall(r"\{(.*?)\} ([^\s,]+)", answer)]
