# SPDX-License-Identifier: Apache-2.0
"""The revision that topdownd_build_info tells: from the repository, from an archive of it, or given by hand."""

import os
import re
import shutil
import subprocess
import tempfile

import e2e

_, ROOT = e2e.arguments()
SCRIPT = os.path.join(ROOT, "cmake/revision.cmake")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def run(*command, folder=None):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False,
                          env=os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"})
    assert done.returncode == 0, (command, done)
    return done.stdout.strip()


def git(folder, *words):
    if not shutil.which("git"):
        raise e2e.Skip("git is not installed")
    return run("git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words, folder=folder)


def revision(source, given=""):
    """What the script writes for a source."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "revision.c")
        run("cmake", f"-DSOURCE={source}", f"-DOUTPUT={output}", f"-DREVISION={given}", "-P", SCRIPT)
        return re.search(r'command_revision\[\] = "(.*)";', e2e.read_text(output)).group(1)


def make_source(folder, text="$Format:%H$\n"):
    e2e.write_text(os.path.join(folder, "cmake/revision.txt"), text)
    e2e.write_text(os.path.join(folder, ".gitattributes"), e2e.read_text(os.path.join(ROOT, ".gitattributes")))
    return folder


def commit(folder):
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    return git(folder, "rev-parse", "HEAD")[:12]


def test_a_source_without_a_repository_is_unknown_or_what_its_archive_says():
    with tempfile.TemporaryDirectory() as folder:
        assert revision(make_source(folder)) == "unknown"
        assert revision(make_source(folder, f"{COMMIT}\n")) == COMMIT[:12]
        assert revision(folder, given="1.2-3~deb12u1") == "1.2-3~deb12u1"


def test_a_repository_tells_its_commit_and_whether_files_differ():
    with tempfile.TemporaryDirectory() as folder:
        expected = commit(make_source(folder))
        assert revision(folder) == expected
        git(folder, "tag", "-a", "-m", "x", "v9.9.9")
        assert revision(folder) == expected  # a tag does not change it
        e2e.write_text(os.path.join(folder, ".gitattributes"), "# other\n")
        assert revision(folder) == f"{expected}-dirty"


def test_an_archive_of_a_repository_tells_the_same_commit():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as unpacked:
        expected = commit(make_source(folder))
        git(folder, "archive", "-o", f"{unpacked}/x.tar", "HEAD")
        run("tar", "-xf", "x.tar", folder=unpacked)
        assert revision(unpacked) == expected
        git(unpacked, "init", "-q")  # a repository around an unpacked archive has another commit
        os.makedirs(f"{unpacked}/sub")
        shutil.move(f"{unpacked}/cmake", f"{unpacked}/sub")
        assert revision(f"{unpacked}/sub") == expected


def test_the_file_keeps_its_time_while_the_revision_is_the_same():
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(make_source(folder), "revision.c")
        command = ("cmake", f"-DSOURCE={folder}", f"-DOUTPUT={output}", "-P", SCRIPT)
        run(*command)
        os.utime(output, (1, 1))
        run(*command)
        assert os.stat(output).st_mtime == 1


def test_the_daemon_tells_it():
    with e2e.Daemon("--pmu", "sim") as daemon:
        (_, labels, value), = [s for s in e2e.samples(daemon.get("/metrics")) if s[0] == "topdownd_build_info"]
    assert value == 1 and re.fullmatch(r"[A-Za-z0-9.+~_-]+", labels["revision"]), labels
    return labels["revision"]


if __name__ == "__main__":
    e2e.run_tests()
