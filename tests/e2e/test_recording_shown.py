# SPDX-License-Identifier: Apache-2.0
"""What status and metrics say of a recording and its trouble."""

import errno
import os
import resource
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
SHORT = e2e.LISTEN_ANYWHERE + "slot: 50ms\n"
MANY = e2e.LISTEN_ANYWHERE + "slot: 10ms\n"  # many windows a round


def shown(daemon):
    """What the status says of the recording."""
    return daemon.json("/api/v1/status")["recording"]


def test_what_is_not_recorded_is_not_shown():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=SHORT) as daemon:
            daemon.wait_round(1)
            assert "recording" not in daemon.json("/api/v1/status") and "recording" not in daemon.get("/metrics")
            daemon.stop()
        with e2e.Daemon("--pmu", f"sim:{STEADY}", "--record", path, yaml=SHORT) as daemon:
            daemon.wait_round(1)
            daemon.stop()
        with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", yaml=e2e.LISTEN_ANYWHERE + f"record: {{path: '{path}.again'}}\n") as daemon:
            e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")
            assert "recording" not in daemon.json("/api/v1/status") and "recording" not in daemon.get("/metrics")
            daemon.stop()


def rounds_in(path):
    """The numbers of the rounds in a recording: docs/recording.md has the format."""
    with open(path, "rb") as file:
        data = file.read()
    rounds, at = [], 0
    while at < len(data):
        length = int.from_bytes(data[at + 1:at + 5], "little")
        if data[at:at + 1] == b"c":
            value = shift = 0
            for byte in data[at + 5:at + 15]:
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            rounds.append(value)
        at += 5 + length + 4
    return rounds


def test_trouble_with_a_recording_is_seen_from_outside_and_so_is_its_end():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", "sim", "--record", path, yaml=MANY) as daemon:
            e2e.wait_for(lambda: os.path.getsize(path) > 0, "a first record")
            daemon.wait_round(daemon.sequence() + 2)
            before = shown(daemon)
            assert (before["file"], before["up"], before["reason"], before["rounds_lost_total"]) == (path, 1, None, 0)
            assert 0 < before["bytes_total"] <= os.path.getsize(path)
            page = daemon.get("/metrics")
            assert e2e.value_of(page, "topdownd_recording_up") == 1
            assert e2e.value_of(page, "topdownd_recording_bytes_total") >= before["bytes_total"]
            assert e2e.value_of(page, "topdownd_recording_rounds_lost_total") == 0
            limit = os.path.getsize(path) + 1000
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            e2e.wait_for(lambda: shown(daemon)["up"] == 0, "the failure")
            failed = shown(daemon)
            assert failed["reason"].startswith(f"{os.strerror(errno.EFBIG)}: raise "), failed
            page = daemon.get("/metrics")
            assert e2e.value_of(page, "topdownd_recording_up") == 0
            assert failed["bytes_total"] == os.path.getsize(path) == e2e.value_of(page, "topdownd_recording_bytes_total")
            e2e.wait_for(lambda: shown(daemon)["rounds_lost_total"] > failed["rounds_lost_total"] > 0, "more lost")
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            e2e.wait_for(lambda: shown(daemon)["up"] == 1, "more room")
            daemon.wait_round(daemon.sequence() + 2)
            after, page = shown(daemon), daemon.get("/metrics")
            assert after["reason"] is None and after["bytes_total"] > failed["bytes_total"], after
            assert e2e.value_of(page, "topdownd_recording_up") == 1
            lost = after["rounds_lost_total"]
            assert e2e.value_of(page, "topdownd_recording_rounds_lost_total") == lost
            log = daemon.log()
            daemon.stop()
        assert f"can be written again; {lost} rounds are missing" in log, log
        rounds = rounds_in(path)  # what is lost is what is not in the file
        assert rounds[-1] - rounds[0] + 1 - len(rounds) == lost > 0 and rounds[0] == 0, (rounds, lost)
        return f"{len(rounds)} rounds recorded, {lost} lost"


if __name__ == "__main__":
    e2e.run_tests()
