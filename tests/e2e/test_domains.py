# SPDX-License-Identifier: Apache-2.0
"""What a share is a share of, computed from the denominator of its formula, against what its unit and its name say."""

import ast
import os
import re
import sys

import e2e

_, ROOT = e2e.arguments()
sys.path.insert(0, os.path.join(ROOT, "docs"))
import tables  # noqa: E402

CLOCKS = re.compile(r"CPU_CYCLES|CPU_CLK_UNHALTED\.\w+|ls_not_halted_cyc|cycles|IMP_WFX_CLOCK_CYCLES|ref-cycles")
STALLS = re.compile(r"STALL_(?!SLOT)\w+|MEM_BOUND_STALLS\w*(\.\w+)?")


def domain_of_units(units):
    of = re.match(r"(?:percent|share) of (.*)", units)
    if not of or of[1] == "slots":
        return "slots" if of else None
    return "stalls" if "stall" in of[1] else "clocks" if "cycles" in of[1] else "other"


def parse(formula):
    """The formula as a tree of Python's; None if it has what Python's expressions lack."""
    names = []

    def replace(match):
        names.append(match[0].replace("\\", ""))
        return f"n{len(names) - 1}"

    text = re.sub(r"[A-Za-z_](?:[\w.]|\\.)*", replace, formula)
    if re.search(r"#|\bif\b", formula):
        return None
    try:
        return ast.parse(text, mode="eval").body, names
    except SyntaxError:
        return None


class Domains:
    def __init__(self, metrics):
        self.metrics = {entry["name"]: entry for entry in metrics.values()}

    def whole(self, node, names):
        """What a denominator counts: clocks, stalls or slots; None: something else."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = [side for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
            whole = self.whole(sides[0], names) if len(sides) == 1 else None
            return "slots" if whole == "clocks" and len(sides) == 1 else whole
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left, right = self.whole(node.left, names), self.whole(node.right, names)
            return "stalls" if {left, right} == {"stalls", "clocks"} and isinstance(node.op, ast.Sub) else left if left == right else None
        if not isinstance(node, ast.Name):
            return None
        name = names[int(node.id[1:])]
        if name in self.metrics and "/" not in self.metrics[name]["formula"]:
            parsed = parse(self.metrics[name]["formula"])
            return self.whole(*parsed) if parsed else None
        return "clocks" if CLOCKS.fullmatch(name) else "stalls" if STALLS.fullmatch(name) else None

    def of(self, node, names):
        """The domain of a formula that is a quotient, times and over numbers; None: no such formula."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = [side for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
            return self.of(sides[0], names) if len(sides) == 1 else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and not isinstance(node.right, ast.Constant):
            return self.whole(node.right, names)
        return None


# Shares of what execution ports could do: cycles times ports are no pipeline slots. And Lion Cove's decoders: their numerators are
# cycles by the share of slots that were empty in them.
OTHERS = re.compile(r"tma_(alu|load|store)_op_utilization|((ixu|fsu)_)?pipe_utilization|tma_dsb|tma_mite")


def test_the_domain_of_a_share_is_what_its_formula_divides_by():
    n = {}
    for spec, metrics in tables.specs().items():
        domains = Domains(metrics)
        for export, entry in metrics.items():
            said, parsed = domain_of_units(entry["units"]), parse(entry["formula"])
            found = domains.of(*parsed) if said and parsed else None
            if not found or OTHERS.fullmatch(entry["name"]):
                continue
            assert said == found, f"{spec}: {entry['name']} is a {entry['units']}, and its formula divides by {found}: {entry['formula']}"
            n[found] = n.get(found, 0) + 1
    assert min(n.get("clocks", 0), n.get("stalls", 0), n.get("slots", 0)) > 50, n
    return ", ".join(f"{count} shares of {domain}" for domain, count in sorted(n.items()))


if __name__ == "__main__":
    e2e.run_tests()
