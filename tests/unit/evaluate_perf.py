# SPDX-License-Identifier: Apache-2.0
"""Evaluates perf's metric expressions by letting Python do it. Each line of the input is a JSON object: "text", and
"values", what its names are worth ("#name" for literals, "function(name)" for functions of names). Prints one value a
line.

< and > become << and >>, whose place among Python's operators is the one of perf's < and >; if and else are the same in
both languages. What is left is the arithmetic of Value."""
import json
import math
import re
import sys

TOKEN = re.compile(r"""
    \s+ | (?P<function>has_event|source_count|aggr_nr|strcmp_cpuid_str)\s*\(\s*(?P<argument>(?:[\w.:@?]|\\.)+)\s*\)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)(?![\w.:@?\\])
    | (?P<literal>\#\w+)
    | (?P<name>(?:[\w.:?]+@(?:[\w.:?=,]|\\.)*@|[\w.:?]|\\.)+)
    | (?P<operator>[-+*/%<>&|^(),])""", re.VERBOSE)
WORDS = {"if", "else", "min", "max", "d_ratio"}


class Value:
    def __init__(self, number):
        self.n = float(number)

    def __bool__(self):
        return self.n != 0  # NaN is true

    def __neg__(self):
        return Value(-self.n)

    def __add__(self, other):
        return Value(self.n + other.n)

    def __sub__(self, other):
        return Value(self.n - other.n)

    def __mul__(self, other):
        return Value(self.n * other.n)

    def __truediv__(self, other):
        return Value(self.n / other.n if other.n != 0 else math.nan)

    def __lshift__(self, other):
        return Value(self.n < other.n)

    def __rshift__(self, other):
        return Value(self.n > other.n)

    def truths(self, other):
        """What both could be: NaN could be either."""
        a, b = ({False, True} if math.isnan(v.n) else {v.n != 0} for v in (self, other))
        return [(x, y) for x in a for y in b]

    def __and__(self, other):
        return agreed({x and y for x, y in self.truths(other)})

    def __or__(self, other):
        return agreed({x or y for x, y in self.truths(other)})

    def __xor__(self, other):
        return agreed({x != y for x, y in self.truths(other)})


def agreed(results):
    return Value(results.pop() if len(results) == 1 else math.nan)


def smaller(a, b):
    return a if a.n < b.n else b


def larger(a, b):
    return a if a.n > b.n else b


def d_ratio(a, b):
    return Value(a.n / b.n if b.n != 0 else 0)


def translate(text, values):
    python, constants, at = [], [], 0
    while at < len(text):
        token = TOKEN.match(text, at)
        assert token, text[at:]
        at = token.end()
        kind, word = token.lastgroup, token.group().strip()
        if kind == "operator":
            python.append({"<": "<<", ">": ">>"}.get(word, word))
        elif word in WORDS:
            python.append(word)
        elif kind:
            if kind == "argument":
                value = values[f"{token['function']}({unescape(token['argument'])})"]
            elif kind == "number":
                value = word
            else:
                value = values[word.lower() if kind == "literal" else unescape(word)]
            python.append(f"V[{len(constants)}]")
            constants.append(Value(math.nan if value is None else value))
            constants[-1].missing, constants[-1].fixed = value is None, kind not in ("name", None)
    return " ".join(python), constants


def unescape(name):
    return re.sub(r"\\(.)", r"\1", name)


compiled = {}


def evaluate(text, values):
    code, constants = translate(text, values)
    if code not in compiled:
        compiled[code] = compile(code, "expression", "eval")
    return eval(compiled[code], {"V": constants, "min": smaller, "max": larger, "d_ratio": d_ratio}).n


if __name__ == "__main__":
    for line in sys.stdin:
        task = json.loads(line)
        print(repr(evaluate(task["text"], task["values"])))
