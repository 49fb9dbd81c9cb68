# SPDX-License-Identifier: Apache-2.0
"""docs/compatibility.md, held: what a release showed of the same hosts is still there, under the same names and of the same types."""

import copy
import os
import re

import api_fields
import e2e
import pages
import test_schema

BINARY, ROOT = e2e.arguments()
FOLDER = os.path.join(ROOT, "tests/data/pages")
RELEASES = sorted(os.listdir(FOLDER))

# What the load, the moment or the plan decides, not the version: only the names of the labels count.
OF_THE_MOMENT = re.compile(r"_info$|^topdownd_bound_|^topdownd_event_(group|not_live)|^topdownd_pmu_error$")
VALUES_OF = ("event_group",)  # labels whose values are not promised


def families_of(text):
    """By family: its type, and of each series the labels."""
    families, family = {}, None
    for line in text.splitlines():
        if found := re.match(r"# TYPE (\S+) (\S+)", line):
            family = families.setdefault(found.group(1), (found.group(2), set()))
        elif found := re.match(r"(\w+)(?:\{(.*)\})? \S+$", line):
            labels = tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found.group(2) or "")))
            family[1].add((found.group(1), labels))
    return families


def promised(name, series):
    """What of a family's series a later version must have."""
    if OF_THE_MOMENT.search(name):
        return {(sample, tuple(sorted({label for label, _ in labels}))) for sample, labels in series}
    return {(sample, tuple((label, None if label in VALUES_OF else value) for label, value in labels)) for sample, labels in series}


def lost_of_metrics(before, now):
    """What disappeared from a page for Prometheus, or changed."""
    before, now = families_of(before), families_of(now)
    for name, (kind, series) in before.items():
        if name not in now:
            yield f"family {name}"
        elif now[name][0] != kind:
            yield f"type of {name}: {kind} before, {now[name][0]} now"
        elif name.endswith("_info"):
            labels = [{label for label, _ in of} for _, of in series]
            if not all(any(each <= {label for label, _ in of} for _, of in now[name][1]) for each in labels):
                yield f"labels of {name}"
        else:
            yield from (f"series {name}: {each}" for each in sorted(promised(name, series) - promised(name, now[name][1]), key=str))


def kind_of(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def key_of(value):
    """What tells the element of an array from the others: its name."""
    return next((value[key] for key in ("metric", "name", "event", "core_type") if key in value), None) if isinstance(value, dict) else None


def lost_of_json(before, now, path=""):
    """What disappeared from a JSON document, or changed its type. Arrays without names are compared by their first elements."""
    if before is None or now is None:
        return
    if kind_of(before) != kind_of(now):
        yield f"{path}: {kind_of(before)} before, {kind_of(now)} now"
    elif isinstance(before, dict):
        for key, value in before.items():
            if key not in now:
                yield f"{path}.{key}"
            else:
                yield from lost_of_json(value, now[key], f"{path}.{key}")
    elif isinstance(before, list) and before and now:
        named = {key_of(each): each for each in now}
        for each in before[:1] if key_of(before[0]) is None else before:
            if key_of(each) is None:
                yield from lost_of_json(each, now[0], f"{path}[]")
            elif key_of(each) in named:
                yield from lost_of_json(each, named[key_of(each)], f"{path}[{key_of(each)}]")
            elif not re.search(r"\.(event_groups(\[\w+\]\.events)?|path|next|next_groups|events_not_live|marks)$", path):  # of the moment, or of the plan
                yield f"{path}[{key_of(each)}]"


def check_host(name):
    for release in RELEASES:
        saved = pages.read(os.path.join(FOLDER, release, f"{name}.json.xz"))
        schemas = pages.read(os.path.join(FOLDER, release, "interface.json.xz"))["schemas"]
        found, count = pages.of_host(saved["host"]), 0
        for page, before in saved["pages"].items():
            lost = list((lost_of_metrics if page in pages.METRICS else lost_of_json)(before, found[page]))
            assert not lost, (release, name, page, lost[:10])
            if page not in pages.METRICS:
                errors = [error.message[:300] for error in test_schema.validator(schemas[page.partition("?")[0]]).iter_errors(found[page])]
                assert not errors, (release, name, page, errors[:3])
            count += len(before)
        assert count > 0
    return ", ".join(RELEASES)


def test_a_sapphire_rapids_shows_what_it_showed():
    return check_host("sapphire-rapids")


def test_a_zen_4_shows_what_it_showed():
    return check_host("zen4")


def test_neoverses_show_what_they_showed():
    check_host("neoverse-n1")
    return check_host("neoverse-v2")


def test_a_hybrid_host_shows_what_it_showed():
    return check_host("hybrid")


def test_a_host_without_a_pmu_shows_what_it_showed():
    return check_host("software")


def test_options_and_keys_are_still_there():
    now = pages.words(BINARY)
    for release in RELEASES:
        before = pages.read(os.path.join(FOLDER, release, "interface.json.xz"))
        for command, options in before["options"].items():
            assert set(options) <= set(now["options"][command]), (release, command, set(options) - set(now["options"][command]))
        assert set(before["keys"]) <= set(now["keys"]), (release, set(before["keys"]) - set(now["keys"]))
    return f"{len(now['keys'])} keys"


def test_fields_and_their_types_are_still_in_the_schemas():
    for release in RELEASES:
        before = pages.read(os.path.join(FOLDER, release, "interface.json.xz"))["schemas"]
        for page in (each for each in api_fields.PAGES if each in before):  # later releases may have more pages
            old, new = (api_fields.described(schema) for schema in (before[page], api_fields.load(ROOT, page)))
            for path, field in old.items():
                assert path in new, (release, page, path)
                assert new[path].get("type") == field.get("type"), (release, page, path, field.get("type"), new[path].get("type"))


def test_what_disappears_is_noticed():
    saved = pages.read(os.path.join(FOLDER, RELEASES[0], "zen4.json.xz"))["pages"]
    text, document = saved["metrics"], saved["snapshot"]
    assert not list(lost_of_metrics(text, text)) and not list(lost_of_json(document, document))
    assert not list(lost_of_metrics(text, text + '# TYPE new gauge\nnew{a="b"} 1\n'))
    for change, says in ((lambda t: re.sub(r"(?m)^.*topdownd_ipc\b.*\n", "", t), "family topdownd_ipc"),
                         (lambda t: t.replace("# TYPE topdownd_ipc gauge", "# TYPE topdownd_ipc counter"), "type of topdownd_ipc"),
                         (lambda t: t.replace('topdownd_ipc{socket="', 'topdownd_ipc{package="'), "series topdownd_ipc"),
                         (lambda t: t.replace('topdownd_ipc{', 'topdownd_ipc{host="x",'), "series topdownd_ipc"),
                         (lambda t: t.replace('vendor="', 'maker="'), "labels of topdownd_cpu_info"),
                         (lambda t: re.sub(r'(?m)^topdownd_pipeline_slots_total.*retiring.*\n', "", t), "series topdownd_pipeline_slots_total")):
        lost = list(lost_of_metrics(text, change(text)))
        assert change(text) != text and lost and lost[0].startswith(says), (says, lost)
    changed = copy.deepcopy(document)
    changed["scopes"][0]["metrics"]["ipc"]["low"] = "1"
    del changed["scopes"][0]["metrics"]["branch_mpki"]["quality"], changed["scopes"][0]["events"]["ex_ret_instr"]
    assert [each.rpartition(".")[2] for each in lost_of_json(document, changed)] == ["low: number before, str now", "quality", "ex_ret_instr"]


if __name__ == "__main__":
    e2e.run_tests()
