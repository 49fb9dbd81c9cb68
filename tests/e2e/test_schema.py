# SPDX-License-Identifier: Apache-2.0
"""The JSON interface against its schemas: every page of every kind of host, and docs/api.md.

What ships allows members that it does not name, so that consumers live on when fields are added. Here a schema is made strict
first: a field that a page has and no schema names is a fault.
"""

import copy
import json
import os
import re
import tempfile
import time

import api_fields
import e2e

BINARY, ROOT = e2e.arguments()
SCENARIOS = sorted(file[:-len(".json")] for file in os.listdir(os.path.join(ROOT, "scenarios")))
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
FAST = e2e.LISTEN_ANYWHERE + "slot: 50ms\n"
SCOPES = ("host", "socket", "cpu")
PATHS = [f"{page}?scope={scope}" for page in ("snapshot", "topdown") for scope in SCOPES] + \
    ["snapshot", "topdown", "history", "history?scope=socket", "history?step=300", "catalog", "plan", "status", "cpus", "uncore", "memory", "opportunities",
     "snapshot?scope=cpu&cpu=0"]
WRONG = ("snapshot?scope=core", "topdown?scope=core", "history?scope=cpu", "history?step=7", "history?from=x", "history?metric=x", "cpus?metric=x",
         "snapshot?scope=cpu&cpu=x", "snapshot?scope=cpu&cpu=9999")
KINDS = {"bool": {"boolean"}, "string": {"string"}, "number": {"number"}, "object": {"object"}, "array": {"array"},
         "null": {"null"}}


def validator(schema):
    try:
        import jsonschema
    except ImportError as missing:
        raise e2e.Skip("python3-jsonschema is not installed") from missing
    return jsonschema.Draft202012Validator(schema)


def check(page, document, where=""):
    """By the strict schema; what it accepts, the one that ships accepts, too."""
    errors = list(validator(api_fields.strict(api_fields.load(ROOT, page))).iter_errors(document))
    # of several alternatives, the one that reads furthest says what is wrong
    deepest = [max(error.context or [error], key=lambda each: len(each.absolute_path)) for error in errors]
    assert not errors, (where, page, [(list(each.absolute_path), each.message[:300]) for each in deepest[:3]])


def check_pages(daemon, where):
    documents = {path: daemon.json(f"/api/v1/{path}") for path in PATHS}
    for path, document in documents.items():
        check(path.partition("?")[0], document, where)
    return documents


def check_host(*options, yaml=FAST, rounds=2):
    """Checks every page of a daemon, before its first round where that lasts, and then after two rounds."""
    with e2e.Daemon(*options, yaml=yaml) as daemon:
        check_pages(daemon, "at the start")
        e2e.wait_for(lambda: all(each["sequence"] >= rounds for each in types_of(daemon.json("/api/v1/snapshot"))), "rounds")
        return check_pages(daemon, str(options))


def types_of(document):
    return document.get("core_types", [document])


# ---- the schemas themselves ----

def test_every_schema_is_one_and_says_the_same_of_what_pages_share():
    shared = {}
    for page in (*api_fields.PAGES, "error", "measure"):
        schema = api_fields.load(ROOT, page)
        validator(schema).check_schema(schema)
        for name, part in schema.get("$defs", {}).items():
            if name not in ("page", "several_core_types"):
                assert shared.setdefault(name, part) == part, (page, name)
    assert sorted(os.listdir(os.path.join(ROOT, "exporters/json/schema"))) == sorted(f"{page}.json" for page in (*api_fields.PAGES, "error", "measure"))


def types_that(kind):
    """The JSON types that docs/api.md means by `string or null`; None: it says nothing."""
    if not kind:
        return None
    if kind.startswith("array"):
        return {"array"}
    return set().union(*(KINDS[word] for word in re.split(r", | or ", kind)))


def test_the_manual_and_the_schemas_name_the_same_fields():
    count = 0
    for page, fields in api_fields.documented(ROOT).items():
        told = {api_fields.any_name(path): field for path, field in fields.items()}
        known = api_fields.described(api_fields.load(ROOT, page))
        containers = {path for path in known if any(other.startswith((f"{path}.", f"{path}[].")) for other in known)}
        missing = [path for path in told if path.removesuffix("[]") not in known]
        assert not missing, f"{page}: docs/api.md has, and the schema has not: {missing}"
        silent = [path for path in known if path not in told and path not in containers and not told_elsewhere(page, path)]
        assert not silent, f"{page}: the schema has, and docs/api.md has not: {silent}"
        for path, (kind, unit, meaning) in told.items():
            field = known[path.removesuffix("[]")]
            types = field.get("type")
            types = {"number" if each == "integer" else each for each in ([types] if isinstance(types, str) else types or [])}
            wanted = types_that(kind)
            assert wanted is None or types == wanted, (page, path, types, wanted)
            if kind and not path.endswith("[]") and not path.startswith("attention"):
                assert field.get("description", "") == api_fields.description(unit, meaning), (page, path, field)
            count += 1
    return f"{count} fields"


def told_elsewhere(page, path):
    """Fields that docs/api.md says are as on another page, or as in another place of the same page."""
    return {"topdown": re.match(r"round\.|(bound|scopes\[\]\.bound)\b|scopes\[\]\.(scope|cpu|socket|bound_reason|tree)$", path),
            "catalog": re.match(r"uncore\[\]\.(metrics|groups|events)\[\]\.", path),
            "plan": re.match(r"uncore\[\]\.((event_groups|events|not_plannable)\[\]|combined)\.", path),
            "cpus": re.match(r"round\.", path),
            "opportunities": re.match(r"round\.", path),
            "status": re.match(r"pmu\.guests_excluded$|attention\[\]\.", path)}.get(page)


def test_a_consumer_lives_on_when_fields_are_added_and_the_strict_schema_does_not():
    def with_another(node, place):
        """The document with one more member in the object at `place`, of those that hold named members."""
        if isinstance(node, dict):
            if "metric" in node or "simulated" in node or "text" in node:
                place[0] -= 1
                if place[0] == 0:
                    node["of_tomorrow"] = 1
            for value in list(node.values()):
                with_another(value, place)
        elif isinstance(node, list):
            for value in node:
                with_another(value, place)
        return node
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=FAST) as daemon:
        daemon.wait_round(1)
        for page in api_fields.PAGES:
            document = daemon.json(f"/api/v1/{page}")
            schema = api_fields.load(ROOT, page)
            for place in range(1, 4):
                changed = with_another(copy.deepcopy(document), [place])
                if changed == document:
                    continue
                assert validator(schema).is_valid(changed) and not validator(api_fields.strict(schema)).is_valid(changed), (page, place)
            for field in document:
                lacks = {key: value for key, value in document.items() if key != field}
                assert not validator(schema).is_valid(lacks) or field == "recording", (page, field)


# ---- every kind of host ----

def check_scenarios(names):
    for name in names:
        documents = check_host("--pmu", f"sim:{name}")
        assert ("core_types" in documents["status"]) == (name == "hybrid"), name
    return ", ".join(names)


def test_pages_of_every_ready_scenario():
    return check_scenarios(SCENARIOS[::2])


def test_pages_of_every_other_ready_scenario():
    return check_scenarios(SCENARIOS[1::2])


def test_pages_before_the_first_round():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=e2e.LISTEN_ANYWHERE + "slot: 5s\ninterval: 60s\n") as daemon:
        documents = check_pages(daemon, "before the first round")
        assert documents["snapshot"]["sequence"] == 0 and documents["topdown"]["bound"] is None, documents["snapshot"]
        assert documents["history"]["begin_timestamp_seconds"] is None and documents["history"]["steps"] == 0


def test_pages_of_a_host_without_a_pmu():
    check_host("--pmu", "linux", yaml=FAST + "profiles: {default: {groups: [Software]}}\n")
    check_host("--pmu", "sim:" + os.path.join(ROOT, "tests/data/scenarios/steady-software.json"))


def test_pages_of_a_daemon_that_measures_nothing():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=FAST + "profiles: {default: {groups: []}}\n") as daemon:
        documents = check_pages(daemon, "groups: []")
        assert documents["snapshot"]["scopes"][0]["metrics"] == {}, documents["snapshot"]


def test_pages_of_a_host_whose_counters_others_hold_or_nobody_may_use():
    for kind in ("pinned", "refuse"):
        host = json.loads(e2e.read_text(STEADY))
        host["rivals"] = [{"kind": kind, "cpus": "0-7"} | ({"counters": 6, "cycles": True} if kind == "pinned" else {})]
        with tempfile.TemporaryDirectory() as folder:
            path = e2e.write_text(os.path.join(folder, "host.json"), json.dumps(host))
            documents = check_host("--pmu", f"sim:{path}")
        values = documents["snapshot"]["scopes"][0]["metrics"].values()
        assert any(each["value"] is None and each["reason"] for each in values), values


def test_pages_of_an_adaptive_schedule():
    yaml = FAST + "mode: adaptive\nprofiles: {default: {groups: [stage_1, MPKI, DTLB_Effectiveness, L1D_Cache_Effectiveness]}}\n"
    documents = check_host("--pmu", f"sim:{STEADY}", yaml=yaml, rounds=6)
    assert documents["plan"]["adaptive"]["groups"], documents["plan"]
    documents = check_host("--pmu", "sim:hybrid", yaml=FAST + "mode: adaptive\n")
    assert all(each["adaptive"] for each in types_of(documents["plan"]))


def test_pages_of_a_recording_and_of_its_replay():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        assert check_host("--pmu", "sim:zen4", "--record", path, rounds=3)["status"]["recording"]["up"] == 1
        assert check_host("--pmu", f"replay:{path}", "--speed", "0")["status"]["replay"] is True


def test_pages_of_a_log_of_perf():
    documents = check_host("--pmu", "replay:" + os.path.join(ROOT, "tests/data/perf/pipeline-l2.csv"), "--speed", "0", rounds=1)
    assert documents["snapshot"]["replay"] is True


def test_what_is_wrong_is_answered_by_the_schema_of_errors():
    with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=FAST) as daemon:
        for path in WRONG:
            answer = e2e.fetch(daemon.port, f"/api/v1/{path}")
            assert answer.status == 400 and answer.headers["Content-Type"] == "application/json", (path, answer.status)
            check("error", json.loads(answer.text()), path)


# ---- every value says what it is ----

def nodes_of(tree):
    for node in tree:
        yield node
        yield from nodes_of(node["children"])


def first_type(documents):
    return types_of(documents["snapshot"])[0].get("core_type")


def values_outside(kind, before):
    """The same of what a kind of PMU outside the cores tells. Returns how many values have a quality."""
    assert before < kind["timestamp_seconds"] <= time.time() and kind["sockets"] and kind["metrics"], kind
    assert all(each[key] for each in kind["metrics"].values() for key in ("title", "unit", "domain")), kind["metrics"]
    seen = 0
    for socket in kind["sockets"]:
        assert socket["metrics"].keys() == kind["metrics"].keys() and socket["boxes"] > 0, socket
        for name, each in socket["metrics"].items():
            assert each["unit"] == kind["metrics"][name]["unit"] and (each["value"] is None) == bool(each["reason"]), each
            seen += each["quality"] != "none"
    return seen


def test_every_value_has_unit_domain_definition_quality_and_age():
    """The catalog says what each metric is; every page that has its values says the same, how good they are and from when."""
    keys, seen = ("unit", "domain", "definition"), 0
    for name in ("sapphire-rapids", "zen4", "hybrid"):
        before = time.time()
        documents = check_host("--pmu", f"sim:{name}", rounds=3)
        catalogs = {each.get("core_type"): {metric["metric"]: metric for metric in each["metrics"] if metric["alternative_of"] is None}
                    for each in types_of(documents["catalog"])}
        for page in [page for path in PATHS if path.startswith("snapshot") for page in types_of(documents[path])]:
            meaning = {metric: tuple(each[key] for key in keys) for metric, each in page["metrics"].items()}
            assert meaning == {metric: tuple(catalogs[page.get("core_type")][metric][key] for key in keys) for metric in meaning}, page["metrics"]
            for scope in page["scopes"]:
                assert scope["metrics"].keys() == meaning.keys(), scope
                for metric, each in scope["metrics"].items():
                    assert each["unit"] == meaning[metric][0] and each["quality"] in ("good", "fair", "poor", "none"), each
                    seen += each["quality"] != "none"
            assert before < page["timestamp_seconds"] <= time.time() and page["round"]["seconds"] > 0, page["round"]
            assert ("uncore" in page) == (page["scope"] == "socket" and page is types_of(page)[0] and page.get("core_type") in (None, first_type(documents)))
        seen += sum(values_outside(kind, before) for kind in types_of(documents["snapshot?scope=socket"])[0]["uncore"])
        for page in [page for path in PATHS if path.startswith("topdown") for page in types_of(documents[path])]:
            assert before < page["timestamp_seconds"] <= time.time(), page["timestamp_seconds"]
            for node in [node for scope in page["scopes"] for node in nodes_of(scope["tree"])]:
                assert [node[key] for key in keys] == [catalogs[page.get("core_type")][node["metric"]][key] for key in keys], node
                assert node["quality"] in ("good", "fair", "poor", "none"), node
        for series in documents["history"]["series"] + documents["history?scope=socket"]["series"]:
            assert [series[key] for key in keys] == [catalogs[series.get("core_type")][series["metric"]][key] for key in keys], series
    assert seen > 1000, seen
    return f"{seen} values with a quality"


if __name__ == "__main__":
    e2e.run_tests()
