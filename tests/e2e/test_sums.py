# SPDX-License-Identifier: Apache-2.0
"""The signed checksums of a release (packaging/sums.sh): what was signed holds, and whatever was done to it since does not."""

import contextlib
import os
import shutil
import subprocess
import tempfile

import e2e

_, ROOT = e2e.arguments()


def sums(*words):
    return subprocess.run([f"{ROOT}/packaging/sums.sh", *words], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)


def make_key(folder, name):
    """A key, and the file that trusts it alone."""
    key = os.path.join(folder, name)
    done = subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    return key, e2e.write_text(f"{key}.signers", "release@topdownd " + e2e.read_text(f"{key}.pub"))


@contextlib.contextmanager
def signed():
    """A folder with a signed release, and the file that trusts its key."""
    with tempfile.TemporaryDirectory() as folder:
        release = os.path.join(folder, "release")
        os.mkdir(release)
        for name in ("topdownd-1.2.3.tar.gz", "topdownd_1.2.3-1_amd64.deb", "a name with spaces"):
            e2e.write_text(os.path.join(release, name), name)
        key, signers = make_key(folder, "key")
        done = sums("sign", key, release)
        assert done.returncode == 0, done
        yield release, signers


def test_what_was_signed_holds_and_may_be_signed_again():
    with signed() as (release, signers):
        done = sums("check", signers, release)
        assert (done.returncode, done.stderr) == (0, "") and "3 files are those that were signed" in done.stdout, done
        assert sorted(os.listdir(release)) == ["SHA256SUMS", "SHA256SUMS.sig", "a name with spaces", "topdownd-1.2.3.tar.gz",
                                               "topdownd_1.2.3-1_amd64.deb"]
        lines = e2e.read_text(os.path.join(release, "SHA256SUMS")).splitlines()
        assert len(lines) == 3 and "SHA256SUMS" not in "".join(lines), lines
        assert sums("sign", signers.removesuffix(".signers"), release).returncode == 0
        assert sums("check", signers, release).returncode == 0


def change_a_file(release):
    e2e.write_text(os.path.join(release, "topdownd-1.2.3.tar.gz"), "another")


def change_a_file_and_its_sum(release):
    change_a_file(release)
    done = subprocess.run("sha256sum * | grep -v SHA256SUMS >new; mv new SHA256SUMS", shell=True, cwd=release, check=False)
    assert done.returncode == 0


def add_a_file(release):
    e2e.write_text(os.path.join(release, "topdownd_1.2.3-1_arm64.deb"), "not of the release")


def remove_a_file(release):
    os.remove(os.path.join(release, "topdownd-1.2.3.tar.gz"))


def remove_the_signature(release):
    os.remove(os.path.join(release, "SHA256SUMS.sig"))


def sign_with_another_key(release):
    with tempfile.TemporaryDirectory() as folder:
        assert sums("sign", make_key(folder, "other")[0], release).returncode == 0


def test_whatever_was_changed_since_is_told():
    changes = (change_a_file, change_a_file_and_its_sum, add_a_file, remove_a_file, remove_the_signature, sign_with_another_key)
    for change in changes:
        with signed() as (release, signers):
            change(release)
            done = sums("check", signers, release)
            assert done.returncode != 0 and done.stdout + done.stderr != "", change.__name__
            assert "files are those that were signed" not in done.stdout, change.__name__
    return f"{len(changes)} changes"


def test_a_wrong_call_says_how():
    for words in ((), ("sign",), ("verify", "/dev/null", "/")):
        done = sums(*words)
        assert done.returncode == 2 and "packaging/sums.sh sign KEY FOLDER" in done.stderr, done


if __name__ == "__main__":
    for needed in ("ssh-keygen", "sha256sum"):
        if not shutil.which(needed):
            print(f"skipped: {needed} is not installed")
            raise SystemExit(e2e.SKIPPED)
    e2e.run_tests()
