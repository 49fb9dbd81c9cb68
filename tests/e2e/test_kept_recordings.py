# SPDX-License-Identifier: Apache-2.0
"""Recordings that earlier versions made still replay to the values that those versions showed.

tests/data/recordings holds each recording (NAME.xz) beside the last snapshots of its replay (NAME.json.xz), both made by the
version before event groups were led by `slots`. A format that changes converts them; it does not make new ones.
sapphire-rapids-unequal-times is sapphire-rapids-bursts with times and counts as hardware has them: windows of the two event groups
of a slot differ in length, some are contended, starved or failed.
Intervals are those of today's estimators. In neoverse-v2-changes a CPU that comes online begins at its own first round.
specs/ holds the specs of that time whose metrics have other formulas since.
"""

import glob
import json
import lzma
import os
import shutil
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
FOLDER = os.path.join(ROOT, "tests/data/recordings")
NAMES = sorted(name[:-len(".json.xz")] for name in os.listdir(FOLDER) if name.endswith(".json.xz"))


def read(name):
    with lzma.open(os.path.join(FOLDER, name)) as file:
        return file.read()


# Names that changed since, and the factor from the old value to the new one.
RENAMED = {"_clocks_ratio": ("_stalls_ratio", 1), "_bw": ("_bw_bytes_per_second", 1e9), "_bw_2t": ("_bw_2t_bytes_per_second", 1e9),
           "_gflops": ("_gflops_operations_per_second", 1e9), "_frequency": ("_frequency_hertz", 1e9)}


def renamed(key, found):
    for old, (new, factor) in RENAMED.items():
        name = key[:-len(old)] + new
        if key.endswith(old) and name in found:
            return name, factor
    return None, 1


def same(wanted, found, factor):
    if factor == 1 or wanted is None or found is None:
        return wanted == found
    return abs(found - wanted * factor) <= 1e-11 * abs(wanted * factor)


def differences(wanted, found, path="", factor=1):
    """Where the two differ; what is found may have members that are not wanted."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            name, by = (key, 1) if key in found else renamed(key, found)
            if name and name != key:  # in another unit
                value = {k: v for k, v in value.items() if k != "unit"}
            if name:
                yield from differences(value, found[name], f"{path}/{key}", factor if by == 1 else by)
            else:
                yield f"{path}/{key} is missing"
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for i, (a, b) in enumerate(zip(wanted, found)):
            yield from differences(a, b, f"{path}/{i}", factor)
    elif not same(wanted, found, factor if path.endswith(("/value", "/low", "/high")) else 1):
        yield f"{path}: {found} instead of {wanted}"


def data_of_that_time(folder):
    """A folder of data with the specs with which the recordings were made."""
    shutil.copytree(os.path.join(ROOT, "specs"), os.path.join(folder, "specs"))
    for path in glob.glob(os.path.join(FOLDER, "specs/*.xz")):
        name = os.path.basename(path)
        with open(os.path.join(folder, "specs", name[:-len(".xz")]), "wb") as file:
            file.write(read(f"specs/{name}"))
    return folder


def scopes(daemon):
    return {scope: daemon.json(f"/api/v1/snapshot?scope={scope}") for scope in ("cpu", "socket", "host")}


def replay(name, folder, ask=scopes):
    """What a daemon answers that has replayed it."""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(read(name + ".xz"))
    data = data_of_that_time(os.path.join(folder, "data"))
    with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", "--path.data", data, yaml=e2e.LISTEN_ANYWHERE) as daemon:
        e2e.wait_for(lambda: "have been replayed" in daemon.log(), f"the end of {name}")
        return ask(daemon)


def check(name):
    with tempfile.TemporaryDirectory() as folder:
        found = list(differences(json.loads(read(name + ".json.xz")), replay(name, folder)))
    assert not found, f"{name}: {len(found)} values differ:\n" + "\n".join(found[:20])


def make_test(name):
    def test():
        check(name)
    return test


def test_a_recording_that_is_replayed_at_once_has_its_whole_history():
    with tempfile.TemporaryDirectory() as folder:
        series = replay("neoverse-v2-adaptive", folder, lambda daemon: daemon.json("/api/v1/history"))["series"]
    values = series[0]["values"]
    assert len(series) == 4 and len(values) >= 50 and not values.count(None), values  # eight minutes in steps of ten seconds


assert len(NAMES) >= 16, "the recordings are not there"
for each in NAMES:
    globals()[f"test_{each.replace('-', '_')}_replays_as_it_did"] = make_test(each)

if __name__ == "__main__":
    e2e.run_tests()
