# SPDX-License-Identifier: Apache-2.0
"""What outlives a restart: since when the host has its bottleneck, and its history."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time

import e2e

BINARY, ROOT = e2e.arguments()
HISTORY = "/api/v1/history?metric=ipc"
SINCE, UNSEEN = "topdownd_bound_since_timestamp_seconds", "topdownd_bound_since_unseen"
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\n"


def start(*options):
    return e2e.Daemon("--pmu", f"sim:{STEADY}", *options, yaml=YAML)


def lasting(daemon):
    """Since when socket 0 has its verdict, once there is one, and whether its beginning was not seen."""
    def both():
        page = {name: value for name, labels, value in e2e.samples(daemon.get("/metrics")) if labels.get("socket") == "0"}
        return SINCE in page and (page[SINCE], page.get(UNSEEN))
    return e2e.wait_for(both, "a verdict")


def is_identified():
    """A container has no machine-id, usually, or an empty one; an image may have "uninitialized"."""
    try:
        return re.fullmatch("(?!0*\n?$)[0-9a-fA-F]{32}\n?", e2e.read_text("/etc/machine-id")) is not None
    except OSError:
        return False


def bound(daemon):
    return daemon.json("/api/v1/topdown")["bound"]


def mark(folder, text, *options):
    done = subprocess.run([BINARY, "mark", text, "--path.run", folder, *options], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
    return done.returncode, done.stdout, done.stderr


def test_marks_that_somebody_sets_are_in_the_history_over_a_restart_and_their_number_is_limited():
    texts = ["deploy db 4.2", "<b>Grüße & \"quotes\"</b>"]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as run:
        with start("--path.state", folder, "--path.run", run) as daemon:
            e2e.wait_for(lambda: daemon.json(HISTORY)["steps"], "a history")
            before = time.time()
            assert mark(run, texts[0]) == (0, "marked\n", "")
            assert json.loads(mark(run, texts[1], "--json")[1]) == {"marked": True, "error": None}
            after = time.time()
            # with the next snapshot
            set_now = e2e.wait_for(lambda: len(m := [m for m in daemon.json(HISTORY)["marks"] if m["kind"] == "user"]) == 2 and m, "the marks")
            assert [m["text"] for m in set_now] == texts and before - 1 < set_now[0]["timestamp_seconds"] < after + 1, set_now
            for text, why in (("", "what has happened"), ("x" * 120, "at most 119 bytes"), ("a\nb", "one line")):
                status, said, errors = mark(run, text)
                assert (status, said) == (2, "") and (why in errors or "needs a text" in errors), errors
            refused = [errors for _ in range(12) for status, _, errors in [mark(run, "again")] if status == 1]
            assert refused and "too many marks at once" in refused[0], refused
            n = 2 + 12 - len(refused)
            e2e.wait_for(lambda: len([m for m in daemon.json(HISTORY)["marks"] if m["kind"] == "user"]) == n, "all marks")
            daemon.stop()
        with start("--path.state", folder, "--path.run", run) as daemon:
            kept = e2e.wait_for(lambda: [m["text"] for m in daemon.json(HISTORY)["marks"] if m["kind"] == "user"], "the marks")
            assert kept[:2] == texts and len(kept) == n, (kept, n)
    return f"{n} marks"


def test_a_restart_goes_on_with_since_and_tells_what_was_not_watched():
    with tempfile.TemporaryDirectory() as folder:
        with start("--path.state", folder) as daemon:
            first, _ = lasting(daemon)
            host = e2e.wait_for(lambda: (b := bound(daemon)) and b["since_timestamp_seconds"], "a verdict on the host")
            begin = e2e.wait_for(lambda: daemon.json(HISTORY)["begin_timestamp_seconds"], "a history")
            daemon.stop()
        time.sleep(1.2)  # not watched: a second or more of it shows
        with start("--path.state", folder) as daemon:
            assert lasting(daemon) == (first, 1)
            now = e2e.wait_for(lambda: (b := bound(daemon)) and b["since_timestamp_seconds"] == host and b, "the verdict as before")
            assert now["since_at_least"] is True and 1.2 < now["unwatched_seconds"], now
            past = daemon.json(HISTORY)
            assert abs(past["begin_timestamp_seconds"] - begin) < 1, (begin, past)  # the clock is kept in time meanwhile
            marks = [(mark["kind"], mark["text"]) for mark in past["marks"]]
            kinds = [kind for kind, _ in marks]
            assert kinds.count("start") == 2 and kinds.count("verdict") == 1 and any(text.startswith("topdownd did not run for ") for _, text in marks), marks
            daemon.stop()
            assert "cannot be" not in daemon.log(), daemon.log()
        assert sorted(os.listdir(folder)) == ["histories", "verdicts"], os.listdir(folder)
        return f"at least since {first}, {now['unwatched_seconds']:.1f} s not watched"


def test_a_process_that_was_killed_is_not_said_not_to_have_run():
    """It had no time to write anything but that it began."""
    with tempfile.TemporaryDirectory() as folder:
        path, texts = os.path.join(folder, "histories"), []
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
            before = os.path.exists(path) and os.stat(path).st_ino
            with start("--path.state", folder) as daemon:
                lasting(daemon)
                e2e.wait_for(lambda: daemon.json(HISTORY)["begin_timestamp_seconds"], "a history")
                texts.append([mark["text"] for mark in daemon.json(HISTORY)["marks"] if mark["kind"] == "gap"])
                if before:
                    e2e.wait_for(lambda: os.stat(path).st_ino != before, "the file of this process")
                daemon.process.send_signal(number)
                assert daemon.wait() == (0 if number == signal.SIGTERM else -number), daemon.log()
        assert texts[0] == [] and re.fullmatch("topdownd did not run for .* s", texts[1][0]), texts
        assert len(texts[2]) == 1 and re.fullmatch("topdownd was killed: nothing is known of the .* s before it began", texts[2][0]), texts


def test_where_nothing_is_kept_it_holds_at_least_since_the_start():
    with start() as daemon:
        before, unseen = lasting(daemon)
        assert unseen == 1
        daemon.stop()
    with start() as daemon:
        assert lasting(daemon)[0] > before
        now = e2e.wait_for(lambda: bound(daemon), "a verdict")
        assert now["since_at_least"] is True and now["unwatched_seconds"] == 0, now


def test_a_file_that_cannot_be_used_is_named_once_and_written_anew():
    with tempfile.TemporaryDirectory() as folder:
        for number in range(4):
            paths = {what: os.path.join(folder, what) for what in ("verdicts", "histories")}
            for what, path in paths.items():
                content = ("x" * 5000000, "#!/bin/sh\n", f"topdownd kept {what}\n\x01", f"topdownd kept {what}\n\x63")[number]
                e2e.write_text(path, content)
            why = ("it is larger than any that topdownd writes", "it is no file of topdownd", "it is damaged", "it is of a later version of topdownd")[number]
            with start("--path.state", folder) as daemon:
                lasting(daemon)
                daemon.stop()
                for path in paths.values():
                    assert daemon.log().count(f"{path} cannot be used: {why}") == 1, daemon.log()
            for what, path in paths.items():
                with open(path, "rb") as file:
                    assert file.read().startswith(f"topdownd kept {what}\n\x03".encode()), why


def test_after_a_reboot_since_begins_anew_and_the_history_goes_on_if_it_is_the_same_host():
    """A verdict of before the boot is of a load that ended with it. The history is the host's."""
    identified = is_identified()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as procfs:
        seen, begun, texts = [], [], []
        for boot, host in (("one", "db-7"), ("one", "db-7"), ("two", "db-7"), ("three", "db-8")):
            e2e.write_text(os.path.join(procfs, "sys/kernel/random/boot_id"), boot + "\n")
            with start("--path.state", folder, "--path.procfs", procfs, "--hostname", host) as daemon:
                seen.append(lasting(daemon)[0])
                begun.append(e2e.wait_for(lambda: daemon.json(HISTORY)["begin_timestamp_seconds"], "a history"))
                texts.append([mark["text"] for mark in daemon.json(HISTORY)["marks"] if mark["kind"] == "gap"])
                daemon.stop()
                assert ("is of another host" in daemon.log()) == (host == "db-8" or (boot == "two" and not identified)), daemon.log()
        assert seen[0] == seen[1] < seen[2] < seen[3], seen
        assert abs(begun[1] - begun[0]) < 1 and (abs(begun[2] - begun[0]) < 11) == identified, begun
        assert any("the host was booted" in text for text in texts[2]) == identified, texts
        assert texts[3] == [], texts


if __name__ == "__main__":
    e2e.run_tests()
