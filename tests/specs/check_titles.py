#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One thing has one title: an event of a vendor with the same name and encoding, and a metric with the same name, formula and units, are
called the same in all specs.

    check_titles.py SOURCE
"""

import collections
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

import spec_files

NO_TERMS = {"counters", "takes", "sampling_only", "must_count", "dead_on", "may_be_zero", "known_as"}  # what is no part of the encoding
# Cores whose second level counts code apart have "for data" in these titles; on the others one event counts both.
APART = {"L2D_CACHE", "L2D_CACHE_REFILL"}


def number(value):
    try:
        return int(value, 0) if isinstance(value, str) else value
    except ValueError:
        return value  # the name of a PMU


def encoding(event):
    terms = {key: number(value) for key, value in event.get("topdownd", {}).items() if key not in NO_TERMS}
    return (number(event["code"]), *sorted((key, str(value)) for key, value in terms.items() if value != 0))


def main():
    titles = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, path in spec_files.shipped(sys.argv[1]).items():
        spec = spec_files.load(path)
        vendor = spec["topdownd"].get("vendor") or spec["product_configuration"].get("implementer")
        for event, entry in spec["events"].items():
            if event not in APART:
                titles[vendor, "event", event, encoding(entry)][entry.get("title", "")].append(name)
        for metric, entry in spec["metrics"].items():
            titles[vendor, "metric", metric, entry["formula"], entry["units"]][entry["title"]].append(name)
    several = {what: by_title for what, by_title in titles.items() if len(by_title) > 1}
    for what, by_title in several.items():
        print(*what[:3], "is", ", ".join(f'"{title}" in {" ".join(specs)}' for title, specs in by_title.items()))
    shared = sum(len(specs) > 1 for by_title in titles.values() for specs in by_title.values())
    print(f"{len(titles)} events and metrics, {shared} of them in several specs, {len(several)} with several titles")
    return 1 if several or shared < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
