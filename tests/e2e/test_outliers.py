# SPDX-License-Identifier: Apache-2.0
"""Which of 1,000 hosts the shipped rule for outliers finds, and which the rule of two standard deviations does.

The hosts are of four kinds, each a role on a CPU model with an IPC of its own; hosts of a kind differ by 3 %. A tenth of a host's minutes
differ from its mean by more than 1.6 times its noise, which is between 2 and 20 %, and each host says how large it is, as topdownd does,
not quite right. Ten hosts are sick: they retire 8 to 40 % fewer instructions per cycle. Whoever is found in half an hour counts.
promtool evaluates the rules as they are shipped, and the other rules as CPI2 has them (Zhang et al., EuroSys 2013): an outlier is more than
two standard deviations worse than the mean of its kind, and three times in five minutes make an alarm.
"""

import math
import os
import random
import tempfile

import e2e
import promtool
from promtool import Rules, series

N_HOSTS, MINUTES, BEGIN = 1000, 66, 36
KINDS = (("web", "Neoverse N1", 1.2), ("web", "Sapphire Rapids", 1.6), ("database", "Neoverse N1", 0.8), ("database", "Sapphire Rapids", 1.0))
LOSSES = (0.08, 0.10, 0.12, 0.15, 0.18, 0.20, 0.25, 0.30, 0.35, 0.40)
STRONG = {f"sick-{100 * loss:.0f}" for loss in LOSSES if loss >= 0.18}
SPREAD, NOISE, CYCLES = 0.03, (0.02, 0.20), 6e10  # CYCLES: a minute
KIND = "(job, role, model, microarchitecture, spec, core_type, definition)"
ALERTS = {"ours": "TopdowndIpcOutlier", "two standard deviations": "TwoDeviations", "CPI2": "Cpi2"}
# Two standard deviations: of the same half hours and kinds. CPI2: of minutes.
OTHERS = f"""groups:
  - name: others
    rules:
      - alert: TwoDeviations
        expr: |
          instance:topdownd_ipc:ratio30m < on {KIND} group_left () (
            avg by {KIND} (instance:topdownd_ipc:ratio30m) - 2 * stddev by {KIND} (instance:topdownd_ipc:ratio30m))
      - record: cpi
        expr: |
          (topdownd_metric_denominator_total - topdownd_metric_denominator_total offset 1m)
            / (topdownd_metric_numerator_total - topdownd_metric_numerator_total offset 1m)
      - record: cpi_outlier
        expr: cpi > on (role, model) group_left () (avg by (role, model) (cpi) + 2 * stddev by (role, model) (cpi))
      - alert: Cpi2
        expr: count_over_time(cpi_outlier[5m]) >= 3
"""


def add_host(found, draw, instance, kind, loss):
    role, model, ipc = kind
    about = {"job": "topdownd", "instance": instance, "role": role, "model": model}  # the target says the model here
    ipc *= (1 + draw.gauss(0, SPREAD)) * (1 - loss)
    noise = draw.uniform(*NOISE)
    total, totals = 0, ["0"]
    for _ in range(MINUTES):
        total += CYCLES * ipc * max(0.05, 1 + draw.gauss(0, noise))
        totals.append(f"{total:.0f}")
    found[series("topdownd_metric_numerator_total", **about, socket=0, metric="ipc")] = " ".join(totals)
    found[series("topdownd_metric_denominator_total", **about, socket=0, metric="ipc")] = f"0+{CYCLES:.0f}x{MINUTES}"
    # As many degrees of freedom as the daemon has, which remembers 16 rounds.
    said = (noise * ipc * math.sqrt(sum(draw.gauss(0, 1)**2 for _ in range(16)) / 16) for _ in range(MINUTES))
    found[series("topdownd_ipc_standard_error", **about)] = "_ " + " ".join(f"{error:.5f}" for error in said)
    found[series("topdownd_metric_info", **about, metric="ipc", definition="retired")] = f"1x{MINUTES}"
    found[series("topdownd_cpu_info", **about, microarchitecture=model, spec=model)] = f"1x{MINUTES}"


def fleet(seed):
    draw, found = random.Random(seed), {}
    for i in range(N_HOSTS):
        loss = LOSSES[i] if i < len(LOSSES) else 0
        add_host(found, draw, f"sick-{100 * loss:.0f}" if loss else f"host-{i}", KINDS[i % len(KINDS)], loss)
    return found


def judge(seed):
    """{rule: (sick hosts found, others found)}"""
    with tempfile.TemporaryDirectory() as folder:
        others = e2e.write_text(os.path.join(folder, "others.yml"), OTHERS)
        rules = Rules(fleet(seed), of=("topdownd.rules.yml", "topdownd.outliers.yml", others))
        answer, = rules.ask([('max_over_time(ALERTS{alertstate="firing"}[30m])', BEGIN + 30)])
    found = {rule: {labels["instance"] for labels, _ in answer if labels["alertname"] == alert} for rule, alert in ALERTS.items()}
    return {rule: ({name for name in names if "sick" in name}, {name for name in names if "sick" not in name})
            for rule, names in found.items()}


def check(seed):
    results = judge(seed)
    said = "; ".join(f"{rule}: {len(sick)} of {len(LOSSES)}, {len(wrong)} false alarms" for rule, (sick, wrong) in results.items())
    sick, wrong = results["ours"]
    assert STRONG <= sick and not wrong, (said, STRONG - sick, wrong)
    assert len(results["two standard deviations"][1]) > 10, f"the fleet is too quiet to tell rules apart: {said}"
    return said


def test_the_rule_finds_the_strong_ones_of_ten_sick_hosts_and_accuses_nobody():
    return check(1)


def test_in_another_fleet_too():
    return check(2)


if __name__ == "__main__":
    promtool.need()
    e2e.run_tests()
