# SPDX-License-Identifier: Apache-2.0
"""topdownd eval against another evaluator, for every metric of every vendor's file that lies beside the repository, and
what it does with names, literals, several PMUs, and files that are wrong."""
import ast
import glob
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

import e2e
import spec_files

TOPDOWND, SOURCE = e2e.arguments()
TELEMETRY = os.path.join(SOURCE, "..", "shared", "telemetry")
TRIALS = 3
sys.path.insert(0, os.path.join(SOURCE, "tests", "unit"))
sys.stdin = io.StringIO("")
import evaluate_perf  # noqa: E402  reads what stands on standard input: nothing

SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
chance = random.Random(SEED)
keep = tempfile.TemporaryDirectory(prefix="topdownd-eval-")


def need_telemetry():
    if not os.path.isdir(TELEMETRY):
        raise e2e.Skip(f"{TELEMETRY} is not there")


def write(name, content):
    path = os.path.join(keep.name, str(os.getpid()), name)  # each case runs in a process of its own
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write(content if isinstance(content, str) else json.dumps(content))
    return path


def run(*words):
    done = subprocess.run([TOPDOWND, "eval", *words], capture_output=True, text=True, timeout=e2e.TIMEOUT)
    return done.returncode, done.stdout, done.stderr


def evaluate(spec, counts, *words, status=0):
    code, out, err = run("--spec", spec, "--counts", write("counts.json", counts), *words)
    assert code == status, (spec, words, code, out[:200], err)
    return json.loads(out)


def settle(node, of):
    """What a part of a translated formula is: (its number if constants alone settle it, whether it needs a missing count)."""
    if isinstance(node, ast.Subscript):
        value = of["V"][node.slice.value]
        return (value.n if value.fixed and not value.missing else None), value.missing
    if isinstance(node, ast.UnaryOp):
        number, missing = settle(node.operand, of)
        return None if number is None else -number, missing
    if isinstance(node, ast.IfExp):
        x, c, y = (settle(part, of) for part in (node.body, node.test, node.orelse))
        if x[0] is not None and x[0] == y[0]:
            return x
        return (x if c[0] else y) if c[0] is not None else (None, x[1] or c[1] or y[1])
    call = isinstance(node, ast.Call)
    left, right = (settle(part, of) for part in (node.args if call else (node.left, node.right)))
    kind = node.func.id if call else type(node.op)
    if kind is ast.BitAnd and 0 in (left[0], right[0]) or kind == "d_ratio" and right[0] == 0:
        return 0, False
    if kind is ast.BitOr and any(side[0] for side in (left, right)):
        return 1, False
    if kind in (ast.Div, ast.Mod) and right[0] == 0:
        return None, False  # no value, whatever is divided
    if left[0] is None or right[0] is None:
        return None, left[1] or right[1]
    return eval(compile(ast.Expression(node), "constants", "eval"), of).n, False


class Reference:
    """The metrics of one vendor's folder or file, evaluated in Python."""

    def __init__(self, metrics, counts):
        self.metrics, self.counts = metrics, counts  # {(pmu, name in lower case): text}
        self.lower = {}
        for name, value in counts.items():
            self.lower.setdefault(name.lower(), value)
        self.known = {}

    def count(self, name):
        return self.counts.get(name, self.lower.get(name.lower()))

    def metric(self, pmu, name):
        key = (pmu, name.lower())
        if key not in self.known:
            self.known[key] = None  # never asked for: the vendors' metrics do not lead back to themselves
            code, constants = evaluate_perf.translate(self.metrics[key], Names(self, pmu, name))
            scope = {"V": constants, "min": evaluate_perf.smaller, "max": evaluate_perf.larger,
                     "d_ratio": evaluate_perf.d_ratio}
            missing = settle(ast.parse(code, mode="eval").body, scope)[1]
            self.known[key] = None if missing else eval(code, scope).n
        return self.known[key]


class Names:
    """What the names of one formula are worth."""

    def __init__(self, reference, pmu, own):
        self.reference, self.pmu, self.own = reference, pmu, own.lower()

    def __getitem__(self, name):
        reference = self.reference
        if (self.pmu, name.lower()) in reference.metrics and name.lower() != self.own:
            return reference.metric(self.pmu, name)
        value = reference.count(name)
        if value is None and name.startswith("has_event("):
            return reference.count(name[len("has_event("):-1]) is not None
        if value is None and name.startswith("strcmp_cpuid_str("):
            return 0
        return 1 if value is None and name.startswith("source_count(") else value


def names_of(text):
    """Every name of a formula, as counts.json has it."""
    class Collect(dict):
        def __missing__(self, name):
            self[name] = None
            return 1
    found = Collect()
    evaluate_perf.translate(text, found)
    return list(found)


def counts_for(metrics):
    """Numbers for the names of all formulas: now and then none, 0, or another case of the letters."""
    counts = {}
    for (pmu, _), text in metrics.items():
        for name in names_of(text):
            dice = chance.random()
            if dice < 0.03 or (pmu, name.lower()) in metrics and dice < 0.97 or name.startswith("strcmp_cpuid_str"):
                continue
            small = name.startswith(("#", "has_event(", "source_count("))
            value = chance.randrange(3) if small else 0 if dice < 0.08 else chance.randrange(1 << chance.randrange(1, 44))
            counts.setdefault(name.upper() if dice > 0.98 and not small else name, value)
    return counts


def compare(label, got, expected):
    assert set(got) == set(expected), (label, set(got) ^ set(expected))
    finite = 0
    for name, value in expected.items():
        if value is None or not math.isfinite(value):
            assert got[name] is None, (label, name, got[name], value)
            continue
        finite += 1
        assert got[name] is not None and math.isclose(got[name], value, rel_tol=1e-12, abs_tol=0), \
            (label, name, got[name], value)
    return finite


def read_perf(path, standards):
    """[(pmu, name, text, ScaleUnit)] of a folder or file, ArchStdEvent resolved."""
    metrics = []
    for file in sorted(glob.glob(path + "/*.json")) if os.path.isdir(path) else [path]:
        entries = json.load(open(file))
        for entry in entries if isinstance(entries, list) else []:
            whole = {**standards.get(entry.get("ArchStdEvent", "").lower(), {}), **entry}
            if "MetricExpr" in whole:
                metrics.append((whole.get("Unit", ""), whole["MetricName"], whole["MetricExpr"], whole.get("ScaleUnit")))
    return metrics


def number_of(scale_unit):
    """The longest beginning that is a number."""
    for end in range(len(scale_unit), 0, -1):
        try:
            return float(scale_unit[:end])
        except ValueError:
            pass
    raise ValueError(scale_unit)


def expected_keys(metrics, value_of):
    pmus = {}
    for pmu, name, _, _ in metrics:
        pmus.setdefault(name, []).append(pmu)
    expected = {}
    for pmu, name, _, scale in metrics:
        value = value_of(pmu, name, scale)
        if pmus[name][0] == pmu:
            expected[name] = value
        if len(set(pmus[name])) > 1:
            expected[f"{name}@{pmu}"] = value
    return expected


def try_perf(path, standards):
    metrics = read_perf(path, standards)
    table = {}
    for pmu, name, text, _ in metrics:
        table.setdefault((pmu, name.lower()), text)
    finite = 0
    for trial in range(TRIALS):
        counts = counts_for(table)
        reference = Reference(table, counts)
        scaled = trial == 0

        def value_of(pmu, name, scale):
            value = reference.metric(pmu, name)
            return value * number_of(scale) if scaled and scale and value is not None else value
        expected = expected_keys(metrics, value_of)
        words = (["--scaled"] if scaled else []) + (["--format", "perf"] if trial == 1 else [])
        finite += compare(path, evaluate(path, counts, *words), expected)
    return len(metrics), finite


def test_every_metric_of_linux():
    need_telemetry()
    total = finite = folders = 0
    for arch in ("x86", "arm64", "common"):
        root = os.path.join(TELEMETRY, "linux", "arch", arch)
        standards = {}
        for file in glob.glob(root + "/*.json"):
            for entry in json.load(open(file)):
                for key in ("EventName", "MetricName"):
                    if key in entry:
                        standards.setdefault(entry[key].lower(), entry)
        for path in sorted({os.path.dirname(file) for file in glob.glob(root + "/**/*.json", recursive=True)}):
            if path == root:
                continue
            n, f = try_perf(path, standards)
            total, finite, folders = total + n, finite + f, folders + 1
            for file in sorted(glob.glob(path + "/*metrics.json")):
                try_perf(file, standards)
    assert total >= 3300 and finite > total * TRIALS / 2
    return f"{total} metrics of {folders} folders, {finite} finite values in {TRIALS} trials each, seed {SEED}"


def test_every_metric_of_arm():
    need_telemetry()
    total = finite = 0
    for path in sorted(glob.glob(os.path.join(TELEMETRY, "arm", "cpu", "*.json"))):
        table = {("", name.lower()): metric["formula"] for name, metric in json.load(open(path))["metrics"].items()}
        names = {name.lower(): name for name in json.load(open(path))["metrics"]}
        for trial in range(TRIALS):
            counts = counts_for(table)
            reference = Reference(table, counts)
            expected = {names[name]: reference.metric("", name) for _, name in table}
            words = ["--format", "arm"] if trial == 1 else ["--scaled"] if trial == 2 else []
            finite += compare(path, evaluate(path, counts, *words), expected)
        total += len(table)
    assert total >= 1000 and finite > total
    return f"{total} metrics of Arm's files, {finite} finite values in {TRIALS} trials each, seed {SEED}"


def chosen(cpuid, *path):
    code, out, err = run("--spec", os.path.join(TELEMETRY, *path), "--cpuid", cpuid, "--counts", write("none.json", {}))
    assert code == 0, err
    return set(json.loads(out))


def test_the_folder_is_chosen_by_mapfile():
    need_telemetry()
    linux = ("linux", "arch")

    def names(*path):
        return set(json.loads(run("--spec", os.path.join(TELEMETRY, *linux, *path), "--counts",
                                  write("none.json", {}))[1]))
    for cpuid, expected in (("GenuineIntel-6-8F-4", ("x86", "sapphirerapids")),
                            ("GenuineIntel-6-55-4", ("x86", "skylakex")),
                            ("GenuineIntel-6-55-7", ("x86", "cascadelakex")),
                            ("AuthenticAMD-23-1-2", ("x86", "amdzen1")),
                            ("AuthenticAMD-23-31-0", ("x86", "amdzen2")),
                            ("AuthenticAMD-25-61-2", ("x86", "amdzen4")),
                            ("AuthenticAMD-25-21-0", ("x86", "amdzen3")),
                            ("AuthenticAMD-26-2-1", ("x86", "amdzen5")),
                            ("0x00000000410fd4f0", ("arm64", "arm", "neoverse-n2-v2")),
                            ("0x413fd0c1", ("arm64", "arm", "neoverse-n1"))):
        assert chosen(cpuid, *linux) == names(*expected), cpuid
        assert chosen(cpuid, *linux, expected[0]) == names(*expected), cpuid


def test_arms_file_is_chosen_by_midr():
    need_telemetry()
    for cpuid, file in (("0x410fd493", "neoverse-n2-r0p3"), ("0x410fd492", "neoverse-n2"), ("0x410fd4f1", "neoverse-v2"),
                        ("0x411fd8b1", "arm-c1-pro-r1p1-pmu"), ("0x412fd0c1", "neoverse-n1")):
        expected = set(json.load(open(os.path.join(TELEMETRY, "arm", "cpu", file + ".json")))["metrics"])
        assert chosen(cpuid, "arm") == expected and chosen(cpuid, "arm", "cpu") == expected, cpuid


def small(metrics):
    return [{"MetricName": name, "MetricExpr": text, **more} for name, text, more in metrics]


def test_names_and_literals():
    path = write("small.json", small([
        ("a", "cpu@X.Y\\,cmask\\=1@ / b", {}), ("b", "A + 1", {}), ("SELF", "self * 2", {}),
        ("smt", "3 if #SMT_on else 4", {}), ("has", "has_event(e\\-f)", {}), ("hasnt", "has_event(none)", {}),
        ("source", "source_count(E.f)", {}), ("cpuid", "strcmp_cpuid_str(0x410fd490)", {}),
        ("absent", "none + 1", {}), ("zero", "1 / 0", {}), ("time", "1 / duration_time", {}),
        ("scale", "2", {"ScaleUnit": "6.103515625e-5MiB"}), ("percent", "0.5", {"ScaleUnit": "1e2%"})]))
    counts = {"cpu@x.y,cmask=1@": 6, "a": 2, "self": 5, "#smt_on": 0, "e-f": 0, "duration_time": 0.5}
    assert evaluate(path, counts, "--cpuid", "0x410fd493", status=1)["a"] is None  # a and b use each other
    code, out, err = run("--spec", path, "--counts", write("c.json", counts))
    assert code == 1 and "leads back to itself" in err, err
    del counts["a"]
    path = write("small.json", [m for m in json.load(open(path)) if m["MetricName"] != "a"] +
                 small([("c", "cpu@X.Y\\,cmask\\=1@ / b", {})]))
    counts["A"] = 2
    got = evaluate(path, counts, "--cpuid", "0x410fd493")
    assert got == {"b": 3, "SELF": 10, "smt": 4, "has": 1, "hasnt": 0, "source": 1, "cpuid": 1, "absent": None,
                   "zero": None, "time": 2, "scale": 2, "percent": 0.5, "c": 2}, got
    got = evaluate(path, {**counts, "has_event(none)": 1, "source_count(E.f)": 7, "#SMT_ON": 1}, "--scaled")
    assert (got["hasnt"], got["source"], got["smt"], got["scale"], got["percent"], got["cpuid"]) == \
        (1, 7, 4, 2 * 6.103515625e-5, 50, 0), got


def test_without_a_count_there_is_no_value():
    path = write("missing.json", small([
        ("larger", "max(none, 0)", {}), ("smaller", "min(none, 1)", {}), ("less", "none < 1", {}),
        ("condition", "1 if none else 0", {}), ("branch", "e if e else none", {}), ("ratio", "d_ratio(none, z)", {}),
        ("literal", "3 if #smt_on else 4", {}), ("through", "max(larger, 0)", {}), ("through_two", "1 if through else e", {}),
        ("null", "max(n, 0)", {}), ("ruled_out", "e if 1 else none", {}), ("decided", "0 & none", {}),
        ("divided", "max(e / z, 0)", {}), ("has", "none if has_event(none) else e", {})]))
    got = evaluate(path, {"e": 4, "z": 0, "n": None})
    assert got == {**dict.fromkeys(("larger", "smaller", "less", "condition", "branch", "ratio", "literal", "through",
                                    "through_two", "null")), "ruled_out": 4, "decided": 0, "divided": 0, "has": 4}, got


def test_no_shipped_metric_has_a_value_without_counts():
    n = 0
    for path in sorted(glob.glob(os.path.join(SOURCE, "specs", "*.json")) + glob.glob(os.path.join(SOURCE, "specs/uncore/*.json"))):
        metrics = spec_files.load(path).get("metrics") or {}
        if not metrics:
            continue
        got = evaluate(path, {})
        for name, metric in metrics.items():
            assert not names_of(metric["formula"]) or got[name] is None, (path, name, got[name])
            n += got[name] is None
    assert n > 4500, n
    return f"{n} metrics"


def test_a_loop_costs_only_what_needs_it():
    path = write("loop.json", small([("x", "y + 1", {}), ("y", "z", {}), ("z", "x", {}), ("uses", "2 * x", {}),
                                     ("fine", "2 * e", {}), ("dropped", "x if 0 else e", {}), ("wrong", "e +", {})]))
    code, out, err = run("--spec", path, "--counts", write("c.json", {"e": 4}))
    assert code == 1 and json.loads(out) == {"x": None, "y": None, "z": None, "uses": None, "fine": 8, "dropped": 4,
                                             "wrong": None}, (code, out, err)
    assert "wrong: formula, column 4" in err and "fine" not in err, err


def test_one_name_on_two_pmus():
    path = write("two.json", small([("m", "e", {"Unit": "cpu_core"}), ("m", "2 * e", {"Unit": "cpu_atom"}),
                                    ("n", "m", {"Unit": "cpu_atom"}), ("k", "m", {}), ("d", "1", {}), ("d", "1", {}),
                                    ("t", "1", {}), ("t", "2", {})]))
    assert evaluate(path, {"e": 3, "m": 10}) == {"m": 3, "m@cpu_core": 3, "m@cpu_atom": 6, "n": 6, "k": 10, "d": 1,
                                                 "t": 1, "t#2": 2}


def test_wrong_entries_are_named_and_cost_themselves():
    path = write("wrong.json", [{"MetricName": "none"}, {"MetricExpr": "1"}, 7, {"MetricName": "u", "MetricExpr": "1",
                                "ScaleUnit": "%"}, {"MetricName": 3}, {"ArchStdEvent": "nowhere"},
                                {"MetricName": "good", "MetricExpr": "e"}])
    code, out, err = run("--spec", path, "--counts", write("c.json", {"e": 4}), "--scaled")
    assert code == 1 and json.loads(out) == {"u": None, "good": 4}, (out, err)
    for words in ("entry 1 (none): the metric has no MetricExpr", "entry 2 (without a name): the metric has no MetricName",
                  "entry 3", "entry 4 (u): its ScaleUnit", "entry 5", "entry 6 (nowhere): its ArchStdEvent"):
        assert "wrong.json: " + words in err, (words, err)


def test_what_cannot_be_read_is_said():
    good, counts = write("good.json", small([("m", "1", {})])), write("c.json", {})
    arch = write("arch/mapfile.csv", "Family-model,Version,Filename,EventType\nAcme-1-2,v1,acme,core\n")
    write("arch/acme/m.json", small([("m", "1", {})]))
    for words, said in ((["--spec", "/nowhere", "--counts", counts], "/nowhere: cannot be read"),
                        (["--spec", good, "--counts", "/nowhere"], "/nowhere: cannot be opened"),
                        (["--spec", good, "--counts", write("l.json", [1])], "must be an object"),
                        (["--spec", good, "--counts", write("t.json", {"e": "1"})], "e: must be a number"),
                        (["--spec", write("x.json", "x"), "--counts", counts], "neither a list (perf) nor an object"),
                        (["--spec", write("y.json", "[1"), "--counts", counts], "y.json:1:"),
                        (["--spec", os.path.dirname(arch), "--counts", counts], "--cpuid GenuineIntel-6-8F-4"),
                        (["--spec", os.path.join(SOURCE, "specs"), "--counts", counts], "--cpuid GenuineIntel-6-8F-4"),
                        (["--spec", os.path.dirname(arch), "--cpuid", "Acme-1-3-4", "--counts", counts], "no row of"),
                        (["--counts", counts], "eval --spec"), (["--spec", good], "--counts"),
                        (["--spec", good, "--counts", counts, "--format", "prf"], "did you mean 'perf'"),
                        (["--spec", os.path.dirname(os.path.dirname(arch)) + "/none", "--counts", counts], "none")):
        code, out, err = run(*words)
        assert code == 2 and out == "" and said in err, (words, code, out, err)
    assert evaluate(os.path.dirname(arch), {}, "--cpuid", "Acme-1-2-3") == {"m": 1}


def perfmon_value(metric, counts):
    """The value of a metric of intel/perfmon's over counts by the file's names, by Python's own arithmetic; None: no value."""
    names = {of["Alias"]: of["Name"] for key in ("Events", "Constants") for of in metric[key]}
    values = {alias: float(name) if re.fullmatch(r"\d+", name) else counts[name] for alias, name in names.items()}
    formula = metric["Formula"].replace("> =", ">=").replace("[0]", "")  # as some are written; otherwise formulas are Python's, too
    try:
        return float(eval(formula, {"min": min, "max": max}, {**counts, **values}))
    except ZeroDivisionError:
        return None


def test_intels_own_files_are_evaluated_as_they_stand():
    need_telemetry()
    n = 0
    for path in sorted(glob.glob(os.path.join(TELEMETRY, "intel/perfmon/*/metrics/*_metrics*.json"))):
        metrics = json.load(open(path))["Metrics"]
        for _ in range(TRIALS):
            names = {of["Name"] for metric in metrics for key in ("Events", "Constants") for of in metric[key]}
            counts = {name: chance.randrange(1, 10**9) for name in sorted(names)}
            counts.update(HYPERTHREADING_ON=chance.randrange(2), DURATIONTIMEINSECONDS=3)
            out = subprocess.run([TOPDOWND, "eval", "--spec", path, "--counts", write("counts.json", counts)],
                                 capture_output=True, text=True, check=True)
            values = json.loads(out.stdout)
            for metric in metrics:
                wanted, got = perfmon_value(metric, counts), values[metric["MetricName"]]
                assert (wanted is None) == (got is None), (path, SEED, metric["MetricName"], wanted, got)
                assert wanted is None or abs(wanted - got) <= 1e-9 * abs(wanted) + 1e-12, (path, SEED, metric["MetricName"])
                n += 1
    return f"{n} values"


def test_every_metric_of_pmus_outside_the_cores():
    """Ours: the formula with its names replaced by the counts of a box, and metrics by their own formulas."""
    n = 0
    for path in sorted(glob.glob(os.path.join(SOURCE, "specs/uncore/*.json"))):
        with open(path, encoding="utf-8") as file:
            spec = json.load(file)
        if "metrics" not in spec:
            continue  # the list of kinds
        counts = {name: chance.randrange(1, 1 << 30) for name in spec["events"]} | {"cpu_seconds": chance.randrange(1, 100)}

        def value(formula):
            def number(match):
                name = match[0].replace("\\-", "-")
                if name in counts:
                    return repr(counts[name])
                return f"({value(spec['metrics'][name]['formula'])})" if name in spec["metrics"] else name
            return eval(re.sub(r"[A-Za-z_](?:[\w.]|\\-)*", number, formula))
        got = evaluate(path, counts)
        for name, metric in spec["metrics"].items():
            assert math.isclose(got[name], value(metric["formula"]), rel_tol=1e-12), (path, name, metric["formula"], counts, got)
            n += 1
    assert n > 40
    return f"{n} metrics"


def test_a_file_without_metrics_is_refused_and_never_an_empty_object():
    counts = write("counts.json", {"A": 1})
    metrics = {"Header": {}, "Metrics": [{"MetricName": "m", "Events": [{"Name": "A", "Alias": "a"}], "Formula": "2 * a"}]}
    for name, content, options, reason in (
            ("events.json", {"Header": {}, "Events": [{"EventName": "A"}]}, (), "holds no metrics"),
            ("latency.json", {"Data": {}}, ("--format", "perfmon"), "is no file of intel/perfmon"),
            ("list.json", [], (), "holds no metric"),
            ("metrics.json", metrics, ("--format", "perf"), "--format perfmon reads it")):
        done = subprocess.run([TOPDOWND, "eval", "--spec", write(name, content), "--counts", counts, *options],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stdout == "" and reason in done.stderr, (name, done)
    done = subprocess.run([TOPDOWND, "eval", "--spec", write("metrics.json", metrics), "--counts", counts],
                          capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"m": 2}, done
    metrics["Metrics"].append({"MetricName": "n", "Events": [], "Formula": "#NA"})
    done = subprocess.run([TOPDOWND, "eval", "--spec", write("metrics.json", metrics), "--counts", counts],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and json.loads(done.stdout) == {"m": 2} and "(n): its formula is #NA" in done.stderr, done


if __name__ == "__main__":
    e2e.run_tests()
