# SPDX-License-Identifier: Apache-2.0
"""The one reader of spec files for scripts: a spec that names a family is read whole, as topdownd reads it.

docs/specs.md has the rules (Families). The daemon's own merging is in config/spec/spec_family.c; e2e/test_list.py holds the two together.
"""

import glob
import json
import os


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def patched(entry, patch):
    """The entry with a merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    entry = dict(entry) if isinstance(entry, dict) else {}
    for key, value in patch.items():
        if value is None:
            entry.pop(key, None)
        else:
            entry[key] = patched(entry.get(key), value)
    return entry


def section(names, own, defined):
    return {name: patched(defined[name], own[name]) if name in defined and name in own else defined.get(name) or own[name] for name in names}


def load(path):
    """The spec in this file, whole."""
    spec = read(path)
    if not isinstance(spec, dict) or "family" not in spec:
        return spec
    family = read(os.path.join(os.path.dirname(path), "families", f"{spec.pop('family')}.json"))
    for part, defined in ((spec, family), (spec["groups"], family.get("groups", {}))):
        for key in ("events", "metrics"):
            if key in part:
                part[key] = section(part[key]["names"], part[key].get("own", {}), defined.get(key, {}))
    return spec


def shipped(root):
    """The CPUs' specs by name, each as its path."""
    paths = {os.path.basename(path)[:-len(".json")]: path for path in sorted(glob.glob(os.path.join(root, "specs/*.json")))}
    return {name: path for name, path in paths.items() if "metrics" in read(path)}
