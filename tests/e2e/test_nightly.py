# SPDX-License-Identifier: Apache-2.0
"""The job that fuzzes at night (tests/fuzz/nightly.sh), with targets that only play libFuzzer."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile

import e2e

_, ROOT = e2e.arguments()

# Notes how it was called. It merges all inputs into the first folder, as if each reached something of its own.
TARGET = """#!/usr/bin/env python3
import hashlib, os, sys
with open(os.path.join(os.path.dirname(sys.argv[0]), "calls"), "a") as calls:
    print(*sys.argv[1:], file=calls)
folders = [word for word in sys.argv[1:] if not word.startswith("-")]
most = int(next((word for word in sys.argv if word.startswith("-max_len=")), "=0").split("=")[1])
if os.path.isfile(folders[0]):
    pass  # inputs to run once
elif "-merge=1" in sys.argv:
    for path in [os.path.join(folder, name) for folder in folders[1:] for name in os.listdir(folder)]:
        with open(path, "rb") as file:
            data = file.read()
        if len(data) <= most:
            with open(os.path.join(folders[0], hashlib.sha1(data).hexdigest()), "wb") as file:
                file.write(data)
else:
    with open(os.path.join(folders[0], "new"), "w") as file:
        file.write("new")
print("stat::number_of_executed_units: 4711")
"""
FAILS = TARGET + "sys.exit(77)\n"


class Night:
    """A repository with two targets, alpha and beta, and its job."""

    def __init__(self, folder):
        self.source, self.build = os.path.join(folder, "source"), os.path.join(folder, "build")
        self.night = os.path.join(folder, "night")
        self.report = os.path.join(self.night, "report")
        os.mkdir(self.build)
        for name in ("alpha", "beta"):
            os.makedirs(os.path.join(self.source, "tests/fuzz/seeds", name))
            e2e.write_text(os.path.join(self.source, f"tests/fuzz/fuzz_{name}.c"), "")
            e2e.write_text(os.path.join(self.source, "tests/fuzz/seeds", name, "seed"), "seed of " + name)
            self.target(name, TARGET)
        e2e.write_text(os.path.join(self.source, "tests/fuzz/alpha.dict"), '"a"\n')
        self.git("init", "-q")
        self.commit("first")

    def git(self, *words):
        done = subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x.invalid", "-c", "commit.gpgsign=false", *words], cwd=self.source,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)

    def target(self, name, script):
        path = os.path.join(self.build, f"fuzz_{name}")
        e2e.write_text(path, script)
        os.chmod(path, 0o755)

    def call(self, *words, status=0):
        done = subprocess.run([f"{ROOT}/tests/fuzz/nightly.sh", *words], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False,
                              env=os.environ | {"TOPDOWND_FUZZ_SOURCE": self.source, "TOPDOWND_FUZZ_BUILD": self.build,
                                                "TOPDOWND_FUZZ_NIGHT": self.night})
        assert done.returncode == status, done
        return done.stdout + done.stderr

    def kept(self, name):
        folder = os.path.join(self.source, "tests/fuzz/corpus", name)
        return {each: os.path.getsize(os.path.join(folder, each)) for each in os.listdir(folder)} if os.path.exists(folder) else {}


@contextlib.contextmanager
def night():
    with tempfile.TemporaryDirectory() as folder:
        yield Night(folder)


def test_every_target_gets_its_share_of_the_time_and_all_inputs():
    with night() as job:
        said = job.call("run", "7")
        assert re.findall(r"^target (\w+) (\w+) (\d+)$", said, re.M) == [("alpha", "ok", "4711"), ("beta", "ok", "4711")], said
        calls = e2e.read_text(os.path.join(job.build, "calls")).splitlines()
        assert len(calls) == 2 and all("-max_total_time=3 " in call for call in calls), calls
        assert "-dict=tests/fuzz/alpha.dict" in calls[0] and "-dict" not in calls[1], calls
        assert calls[0].endswith(f"{job.night}/corpus/alpha tests/fuzz/seeds/alpha"), "what is found goes into the first folder"
        assert "too few" in job.call("run", "1", status=1)


def test_a_target_that_fails_is_told_and_stops_no_other():
    with night() as job:
        job.target("alpha", FAILS)
        said = job.call("run", "7200", status=1)
        assert "target alpha FAILED" in said and "target beta ok" in said, said
        assert "a target failed" in job.call("check", status=1)


def test_an_input_that_failed_once_fails_until_it_is_repaired():
    """A later night that does not find it anew is no proof."""
    fails_on_input = TARGET + 'sys.exit(77 if any(os.path.isfile(word) for word in sys.argv[1:]) else 0)\n'
    with night() as job:
        job.call("run", "7200")
        job.call("check")
        e2e.write_text(os.path.join(job.night, "found/beta/crash-1"), "input")
        job.target("beta", fails_on_input)
        assert "beta still fails with an input" in job.call("check", status=1)
        said = job.call("run", "7200", status=1)
        assert "target alpha ok" in said and "target beta FAILED 4711" in said, said
        assert "a target failed" in job.call("check", status=1)
        job.target("beta", TARGET)
        job.call("run", "7200")
        assert "passed" in job.call("check"), "it is repaired, and the input stays"
        assert f"{job.night}/found/beta/crash-1" in e2e.read_text(os.path.join(job.build, "calls"))


def test_two_nights_do_not_run_at_once():
    with night() as job:
        os.mkdir(job.night)
        with open(os.path.join(job.night, "lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert "another one runs" in job.call("run", "7", status=1) and "another one runs" in job.call("keep", status=1)
        job.call("run", "7")


def test_a_whole_night_of_this_branch_is_what_a_release_needs():
    with night() as job:
        assert "no report" in job.call("check", status=1)
        job.call("run", "60")
        assert "the night had 60 seconds" in job.call("check", status=1)
        job.call("run")
        assert "passed for 3600 seconds" in job.call("check")
        job.commit("a later one")
        assert "passed for 3600 seconds" in job.call("check"), "of an earlier commit"
        fine = e2e.read_text(job.report)
        began = int(re.search(r"^began (\d+)$", fine, re.M).group(1))
        for old, new, why in ((f"began {began}", f"began {began - 8 * 86400}", "8 days ago"), (r"commit \w+", "commit " + 40 * "7", "no commit of this branch"),
                              (r"commit (\w+)", r"commit \1-dirty", "changes that are in no commit"), ("target beta.*\n", "", "not every target was run: beta"), ("target beta", "target gamma", "not every target was run: beta"),
                              ("target beta ok 4711", "target beta ok 0", "not every target")):
            e2e.write_text(job.report, re.sub(old, new, fine))
            assert why in job.call("check", status=1), why
        e2e.write_text(job.report, fine)
        job.call("check")


def test_the_sources_are_judged_and_no_older_build_of_them():
    with night() as job, tempfile.TemporaryDirectory() as tools:
        job.call("run")
        cmake = e2e.write_text(os.path.join(tools, "cmake"), "#!/bin/sh\necho no compiler\nexit 1\n")
        os.chmod(cmake, 0o755)
        done = subprocess.run([f"{ROOT}/tests/fuzz/nightly.sh", "check"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False,
                              env=os.environ | {"TOPDOWND_FUZZ_SOURCE": job.source, "TOPDOWND_FUZZ_NIGHT": job.night,
                                                "PATH": f"{tools}:{os.environ['PATH']}"})
        assert done.returncode == 1 and "no compiler" in done.stdout and "cannot be built" in done.stderr, done


def test_what_is_kept_is_small_and_repeats_no_seed():
    with night() as job:
        job.call("run", "2")
        found = os.path.join(job.night, "corpus/alpha")
        for i in range(120):
            e2e.write_text(os.path.join(found, f"{i}"), f"{i}" * 200)
        e2e.write_text(os.path.join(found, "large"), "x" * 5000)
        assert "bytes" in job.call("keep")
        kept = job.kept("alpha")
        assert 50 < len(kept) <= 100 and sum(kept.values()) <= 65536 and max(kept.values()) <= 4096, kept
        assert hashlib.sha1(b"seed of alpha").hexdigest() not in kept and hashlib.sha1(b"new").hexdigest() in kept
        assert set(job.kept("beta")) == {hashlib.sha1(b"new").hexdigest()}
        job.call("keep")
        assert job.kept("alpha") == kept, "what was kept is kept"
        assert job.call("run", "2") and f"{job.night}/corpus/alpha tests/fuzz/corpus/alpha tests/fuzz/seeds/alpha" in \
            e2e.read_text(os.path.join(job.build, "calls")), "and used"


def test_the_corpora_that_ship_are_small_and_of_targets_that_exist():
    corpus = os.path.join(ROOT, "tests/fuzz/corpus")
    targets = {name[len("fuzz_"):-len(".c")] for name in os.listdir(os.path.join(ROOT, "tests/fuzz")) if re.match(r"fuzz_\w+\.c$", name)}
    folders = os.listdir(corpus) if os.path.isdir(corpus) else []
    assert set(folders) <= targets, set(folders) - targets
    total = 0
    for folder in folders:
        sizes = [os.path.getsize(os.path.join(corpus, folder, name)) for name in os.listdir(os.path.join(corpus, folder))]
        assert len(sizes) <= 100 and sum(sizes) <= 65536, folder
        total += sum(sizes)
    assert total <= 1 << 20, total
    return f"{total} bytes of {len(folders)} targets"


if __name__ == "__main__":
    if not shutil.which("git"):
        print("skipped: git is not installed")
        raise SystemExit(e2e.SKIPPED)
    e2e.run_tests()
