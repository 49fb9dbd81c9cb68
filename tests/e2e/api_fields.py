# SPDX-License-Identifier: Apache-2.0
"""The fields of the JSON interface as docs/api.md and the schemas say them."""

import copy
import json
import os
import re

PAGES = ("snapshot", "topdown", "history", "catalog", "plan", "status", "cpus", "uncore", "memory", "opportunities")
SECTION = re.compile(r"^## /api/v1/(\w+)$(.*?)(?=^## |\Z)", re.M | re.S)
CELL = re.compile(r"(?<!\\)\|")
PREFIXES = {("snapshot", 1): "scopes[].", ("topdown", 1): "scopes[].tree[].", ("topdown", 2): "scopes[].bottlenecks[]."}  # of the fields of a section's further tables


def _paths(cell):
    """The fields of a row: one that begins with a dot has the parent of the one before it."""
    paths = []
    for name in re.findall(r"`([^`]+)`", cell):
        paths.append(paths[-1].rpartition(".")[0] + name if name.startswith(".") else name)
    return paths


def _plain(text):
    """A meaning without the marks of the page's language."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).replace("`", "").replace("\\|", "|").strip()


def _for_each(cell, paths):
    """What a cell says of each field of its row: as many parts as fields, or the same of all; "none" is nothing."""
    parts = ["" if part == "none" else part for part in cell.split(", ")]
    return parts if len(parts) == len(paths) else [cell] * len(paths)


def documented(root):
    """By page: each field with its type, unit and meaning, as docs/api.md says them; "" where it says nothing."""
    with open(os.path.join(root, "docs/api.md"), encoding="utf-8") as file:
        sections = dict(SECTION.findall(file.read()))
    pages = {}
    for page in PAGES:
        fields = pages[page] = {}
        tables = [table for table in re.split(r"(?:^(?!\|).*\n)+", sections[page], flags=re.M) if table.startswith("| field | type")]
        for i, table in enumerate(tables):
            for row in table.splitlines()[2:]:
                cell, kinds, units, meaning = (_plain(each) if n > 0 else each for n, each in enumerate(CELL.split(row)[1:-1]))
                paths = [PREFIXES.get((page, i), "") + path for path in _paths(cell)]
                for path, kind, unit in zip(paths, _for_each(kinds, paths), _for_each(units, paths)):
                    assert path not in fields, f"{page}: {path} stands twice"
                    fields[path] = (kind, unit, meaning)
    return pages


def description(unit, meaning):
    """What the schema says of a field that docs/api.md documents so."""
    sentence = f"{meaning[:1].upper()}{meaning[1:].removesuffix('.')}." if meaning else ""
    return " ".join(part for part in (sentence, f"Unit: {unit}." if unit else "") if part)


def load(root, page):
    with open(os.path.join(root, "exporters/json/schema", f"{page}.json"), encoding="utf-8") as file:
        return json.load(file)


def strict(schema):
    """The same schema, but no object may have a member that it does not name."""
    schema = copy.deepcopy(schema)

    def close(node):
        if isinstance(node, dict):
            if "properties" in node and "additionalProperties" not in node:
                node["additionalProperties"] = False
            for value in node.values():
                close(value)
        elif isinstance(node, list):
            for value in node:
                close(value)
    close(schema)
    return schema


def described(schema):
    """Each field of a page's schema with its subschema. A tree's children stand for themselves once."""
    fields = {}

    def resolve(node):
        while "$ref" in node:
            node = {**schema["$defs"][node["$ref"].removeprefix("#/$defs/")], **{k: v for k, v in node.items() if k != "$ref"}}
        return node

    def walk(node, path):
        if path.endswith("children[]"):
            return
        node = resolve(node)
        for name, value in node.get("properties", {}).items():
            at = f"{path}.{name}" if path else name
            fields[at] = resolve(value)
            walk(value, at)
        if isinstance(node.get("additionalProperties"), dict):
            at = f"{path}.<>"
            fields[at] = resolve(node["additionalProperties"])
            walk(node["additionalProperties"], at)
        if "items" in node:
            walk(node["items"], f"{path}[]")
    walk(schema["$defs"]["page"], "")
    return fields


def any_name(path):
    """A documented path with what stands for any name cut to <>: metrics.<metric>.value is metrics.<>.value."""
    return re.sub(r"<\w+>", "<>", path)
