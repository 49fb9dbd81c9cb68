# SPDX-License-Identifier: Apache-2.0
"""Functions that run at each wake-up lie together in the program (cmake/hot_functions.cmake)."""

import os
import re
import subprocess

import e2e

TOGETHER_BYTES = 256 << 10
BINARY, ROOT = e2e.arguments()


def listed():
    """All (file, function) of the list."""
    with open(f"{ROOT}/cmake/hot_functions.txt", encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                file, functions = line.split(": ")
                yield from ((file, function) for function in functions.split())


def program():
    """Addresses of the functions with external linkage: one of each name."""
    symbols = subprocess.run(["nm", "--defined-only", BINARY], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: int(address, 16) for address, kind, name in re.findall(r"^(\w+) (\w) (\S+)$", symbols, re.M) if kind == "T"}


def test_the_list_names_functions_that_there_are():
    seen = set()
    for file, function in listed():
        path = os.path.join(ROOT, file)
        assert os.path.exists(path), f"the list has {file}, which is not there any more"
        with open(path, encoding="utf-8") as text:
            assert re.search(rf"\b{function}\(", text.read()), f"{file} has no {function} any more"
        assert (file, function) not in seen, f"{file}: {function} is listed twice"
        seen.add((file, function))


def test_they_lie_together():
    there = program()
    places = {function: there[function] for _, function in listed() if function in there}
    assert len(places) > 150, f"only {len(places)} functions of the list are in the program"
    first, last = min(places, key=places.get), max(places, key=places.get)
    span = places[last] - places[first]
    assert span < TOGETHER_BYTES, f"it is {span} bytes from {first} to {last}"


if __name__ == "__main__":
    e2e.run_tests()
