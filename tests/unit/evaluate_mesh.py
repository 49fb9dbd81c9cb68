# SPDX-License-Identifier: Apache-2.0
"""Evaluates the metrics of Arm's file for a mesh over rates of events.

As a program: each line of the input is a JSON object with the `file`, `rates` of events a second, `lacks`, types of nodes that the
mesh does not have, and `values`, what topdownd finds for each metric. Prints a line for each difference."""
import json
import math
import re
import sys


def read(path, lacks=()):
    """{metric: its entry}: those of nodes, and those over nodes."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    metrics = dict(document["metrics"])
    for name, node in document["components"].items():
        metrics |= {metric: entry if name not in lacks else None for metric, entry in node["metrics"].items()}
    return metrics


def evaluate(metrics, name, rates):
    """A metric of the file. Of the frequency the file says only that results are bytes per second, with rates per 1,000 cycles: so it
    is in kHz. Nodes that a mesh lacks count nothing."""
    if metrics[name] is None:
        return 0
    formula = metrics[name]["formula"]
    for entry in metrics[name].get("filters", []):
        if not entry["encodings"][0].startswith("all_"):
            formula = formula.replace(entry["event"], f"{entry['event']}.{entry['encodings'][0]}")

    def value(match):
        word = match.group()
        if word in metrics:
            return repr(evaluate(metrics, word, rates))
        return repr(rates["SYS_CMN_CYCLES"] / 1000 if word == "SYS_FREQUENCY" else rates.get(word, 0))
    text = re.sub(r"[A-Za-z_][\w.]*", value, formula)
    while "<<" in text:  # it binds looser than +
        text = re.sub(r"\(([^()]*)<< (\d+)\)", lambda match: f"(({match.group(1)}) * {1 << int(match.group(2))})", text)
    return eval(text)  # numbers and operators only


def main():
    for line in sys.stdin:
        task = json.loads(line)
        metrics = read(task["file"], task["lacks"])
        for name, value in task["values"].items():
            wanted = evaluate(metrics, name, task["rates"])
            if value is None or not math.isclose(wanted, value, rel_tol=1e-12):
                print(f"{name} = {metrics[name]['formula']} is {wanted!r}, topdownd finds {value!r}")


if __name__ == "__main__":
    main()
