#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Families of specs (docs/specs.md): some spec names each entry of a family, and a spec writes only what differs from its family.

    check_families.py SOURCE
"""

import glob
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

import spec_files

failures = []


def sections(document):
    return {"events": document.get("events", {}), "metrics": document.get("metrics", {}),
            "groups.metrics": document.get("groups", {}).get("metrics", {})}


def check_spec(path, family, used):
    for part, section in sections(spec_files.read(path)).items():
        defined = family[part]
        used[part] |= set(section["names"])
        for name, patch in section.get("own", {}).items():
            for key in patch if name in defined else ():
                if spec_files.patched(defined[name], {key: patch[key]}) == defined[name]:
                    failures.append(f"{path}: {part}.own.{name}.{key} says what the family says")


def check_family(path, specs):
    family = sections(spec_files.read(path))
    used = {part: set() for part in family}
    for spec in specs:
        check_spec(spec, family, used)
    for part, entries in family.items():
        failures.extend(f"{path}: no spec names {part}.{name}" for name in entries if name not in used[part])
    return sum(len(entries) for entries in family.values())


def main():
    folder = os.path.join(sys.argv[1], "specs")
    of_family, n = {}, 0
    for spec in sorted(glob.glob(f"{folder}/*.json")):
        of_family.setdefault(spec_files.read(spec).get("family"), []).append(spec)
    families = {os.path.basename(path)[:-len(".json")]: path for path in glob.glob(f"{folder}/families/*.json")}
    for name, path in sorted(families.items()):
        n += check_family(path, of_family.get(name, []))
    failures.extend(f"{specs[0]}: there is no family {name}" for name, specs in of_family.items() if name and name not in families)
    for text in failures[:60]:
        print(text)
    print(f"{len(families)} families of {sum(len(specs) for name, specs in of_family.items() if name)} specs with {n} entries, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
