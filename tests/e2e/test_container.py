# SPDX-License-Identifier: Apache-2.0
"""The container image, made of the package, and what a pod of packaging/kubernetes does with it: with the capabilities, the seccomp
profile, the mounts and the arguments that its DaemonSet gives it, on this machine's kernel.

It takes root and Debian's packages: mmdebstrap makes the image. Where skopeo and umoci are installed, they judge it.
"""

import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import e2e  # before modules of Debian's python
import yaml
import packages
import web_files
from packages import need, run

BINARY, ROOT = e2e.arguments()
BUILD = os.path.dirname(BINARY)
KUBERNETES = f"{ROOT}/packaging/kubernetes"
CAPABILITIES = {"PERFMON": 38}
NODE, POD = "node-17", "topdownd-x7k2p"
UNPACKED_MIB = 25
MADE = None  # the folder with the package, the archive and what was unpacked from it


def archive():
    return f"{MADE}/topdownd.oci.tar"


def blob(descriptor):
    data = open(f"{MADE}/layout/blobs/{descriptor['digest'].replace(':', '/')}", "rb").read()  # pylint: disable=consider-using-with
    assert (hashlib.sha256(data).hexdigest(), len(data)) == (descriptor["digest"].removeprefix("sha256:"), descriptor["size"])
    return data


def load_image():
    """(manifest, configuration) of the one image in the archive."""
    index = json.loads(e2e.read_text(f"{MADE}/layout/index.json"))
    assert json.loads(e2e.read_text(f"{MADE}/layout/oci-layout")) == {"imageLayoutVersion": "1.0.0"}
    (top,) = index["manifests"]
    manifest = json.loads(blob(top))
    return top, manifest, json.loads(blob(manifest["config"]))


def make():
    """Makes the image and unpacks it as a runtime does: one layer over the other."""
    run("cpack", "-G", "DEB", "--config", f"{BUILD}/CPackConfig.cmake", "-B", MADE, cwd=MADE)
    run(f"{ROOT}/packaging/container/image.py", packages.file_of(MADE, "deb"), "--output", archive())
    os.makedirs(f"{MADE}/rootfs")
    run("tar", "-x", "-f", archive(), "-C", MADE, "--one-top-level=layout")
    for layer in load_image()[1]["layers"]:
        with open(f"{MADE}/layer", "wb") as file:
            file.write(blob(layer))
        run("tar", "-x", "-p", "-z", "-f", f"{MADE}/layer", "-C", f"{MADE}/rootfs", "--keep-directory-symlink")


# ---- the image ----

def test_the_layout_is_that_of_oci():
    top, manifest, config = load_image()
    assert top["platform"] == {"architecture": config["architecture"], "os": "linux"}, top
    assert [layer["mediaType"] for layer in manifest["layers"]] == ["application/vnd.oci.image.layer.v1.tar+gzip"] * 2
    version = re.search(r"VERSION (\S+)", e2e.read_text(f"{ROOT}/CMakeLists.txt").split("project(")[1]).group(1)
    labels = config["config"]["Labels"]
    assert labels["org.opencontainers.image.version"] == version == top["annotations"]["org.opencontainers.image.ref.name"], labels
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0" and labels["org.opencontainers.image.created"] == config["created"]
    assert config["config"]["Entrypoint"] == ["/usr/sbin/topdownd"] and config["config"]["Cmd"][0] == "run", config
    for layer, diff in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
        unpacked = subprocess.run(["gzip", "-dc"], input=blob(layer), stdout=subprocess.PIPE, check=True).stdout
        assert f"sha256:{hashlib.sha256(unpacked).hexdigest()}" == diff


def test_other_tools_take_it():
    need("skopeo", "skopeo")
    need("umoci", "umoci")
    with tempfile.TemporaryDirectory() as folder:
        said = json.loads(run("skopeo", "inspect", f"oci-archive:{archive()}"))
        assert said["Labels"]["org.opencontainers.image.title"] == "topdownd", said
        run("skopeo", "copy", "--quiet", f"oci-archive:{archive()}", f"oci:{folder}/layout:it")
        run("umoci", "unpack", "--image", f"{folder}/layout:it", f"{folder}/bundle")
        run("diff", "--recursive", "--no-dereference", f"{folder}/bundle/rootfs", f"{MADE}/rootfs")


def test_it_holds_what_it_needs_and_nothing_else():
    found = {os.path.relpath(os.path.join(at, name), f"{MADE}/rootfs") for at, _, names in os.walk(f"{MADE}/rootfs") for name in names}
    programs = {path for path in found if "/lib/" not in path and os.stat(f"{MADE}/rootfs/{path}").st_mode & 0o111
                and not os.path.islink(f"{MADE}/rootfs/{path}")}
    assert programs == {"usr/sbin/topdownd"}, programs
    assert {f"usr/share/topdownd/{name}" for name in glob.glob("specs/**/*.json", root_dir=ROOT, recursive=True)} <= found
    for path in found:
        status = os.lstat(f"{MADE}/rootfs/{path}")
        assert not status.st_mode & 0o7022 or os.path.islink(f"{MADE}/rootfs/{path}"), f"{path}: mode {status.st_mode:o}"
        assert status.st_uid == status.st_gid == 0, path
    listed = {path.rsplit("/", 1)[1] for path in found if path.startswith("var/lib/dpkg/status.d/")}
    assert listed >= {"topdownd", "libc6", "libmicrohttpd12", "libgnutls30", "libcrypt1"}, "what scanners look for"
    for name in listed - {"topdownd"}:
        assert f"usr/share/doc/{name}/copyright" in found, name
    size = sum(os.lstat(f"{MADE}/rootfs/{path}").st_size for path in found) / 2 ** 20
    assert size <= UNPACKED_MIB, size
    return f"{len(found)} files, {size:.1f} MiB, {os.path.getsize(archive()) / 2 ** 20:.1f} MiB packed, {len(listed)} packages"


def test_another_run_gives_the_same_bytes():
    with tempfile.TemporaryDirectory() as folder:
        run(f"{ROOT}/packaging/container/image.py", packages.file_of(MADE, "deb"), "--output", f"{folder}/again", umask=0o077)
        with open(archive(), "rb") as one, open(f"{folder}/again", "rb") as two:
            assert one.read() == two.read()


# ---- a pod ----

def daemon_set():
    return yaml.safe_load(e2e.read_text(f"{KUBERNETES}/daemonset.yaml"))["spec"]["template"]["spec"]


class Pod(e2e.Program):
    """The pod of the DaemonSet, with other arguments, profile, capabilities or files in /etc/topdownd where they are given; it serves
    on a port of this machine."""

    def __init__(self, *options, seccomp=True, capabilities=None, files=(f"{KUBERNETES}/topdownd.yaml",), user=None):
        (container,) = daemon_set()["containers"]
        rights = container["securityContext"]
        self.port = e2e.free_port()
        self.own = tempfile.TemporaryDirectory()
        profile = json.loads(e2e.read_text(f"{KUBERNETES}/seccomp.json")) if seccomp is True else seccomp
        arguments = [word.replace("$(NODE_NAME)", NODE).replace(":10813", f"127.0.0.1:{self.port}") for word in container["args"]]
        root = f"{self.own.name}/root"
        run("cp", "-a", "--reflink=auto", f"{MADE}/rootfs", root)
        os.makedirs(f"{self.own.name}/etc")
        for path in files:
            shutil.copy(path, f"{self.own.name}/etc")
        folders = {"sys": "/sys", "config": f"{self.own.name}/etc", "run": None}
        mounts = {mount["mountPath"]: folders[mount["name"]] for mount in container["volumeMounts"]}
        for path in ["/proc", "/sys", *mounts]:
            os.makedirs(root + path, exist_ok=True)
        names = rights["capabilities"]["add"] if capabilities is None else capabilities
        recursive = [mount["mountPath"] for mount in container["volumeMounts"] if mount.get("recursiveReadOnly", "Disabled") != "Disabled"]
        settings = {"root": root, "mounts": mounts, "recursive": recursive, "hostname": POD, "user": rights["runAsUser"] if user is None else user,
                    "capabilities": {name: CAPABILITIES[name] for name in names}, "seccomp": profile,
                    "environment": {"PATH": "/usr/sbin"}, "command": ["/usr/sbin/topdownd", *arguments, *options]}
        super().__init__(["unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", sys.executable,
                          f"{ROOT}/tests/e2e/pod.py", json.dumps(settings)])
        try:
            e2e.wait_for(lambda: "look at" in self.log() or self.ended(), "the pod to serve")
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        with contextlib.suppress(OSError, ValueError):  # a daemon that changed its user does not die with its parent
            os.kill(self.daemon(), signal.SIGKILL)
        super().__exit__()
        with contextlib.suppress(OSError):
            self.own.cleanup()

    def daemon(self):
        """The daemon's process, which is the first one of the pod."""
        (child,) = e2e.read_text(f"/proc/{self.process.pid}/task/{self.process.pid}/children").split()
        return int(child)

    def status(self):
        return e2e.read_text(f"/proc/{self.daemon()}/status")

    get, json = e2e.Daemon.get, e2e.Daemon.json


def need_level_2():
    if os.getuid() != 0:
        raise e2e.Skip("namespaces take root")
    if int(e2e.read_text("/proc/sys/kernel/perf_event_paranoid")) > 2:
        raise e2e.Skip("kernel.perf_event_paranoid is above 2: CAP_PERFMON is not enough here")
    if reason := e2e.perf_events_allowed():
        raise e2e.Skip(reason)


def test_a_pod_measures_with_what_the_daemonset_gives_it():
    need_level_2()
    with Pod() as pod:
        e2e.wait_for(lambda: re.search(r'^topdownd_pmu_up\{[^}]*\} 1$', pod.get("/metrics"), re.M), "counts:\n" + pod.log())
        status = pod.status()
        for line in (r"CapEff:\s0*4000000000", r"CapBnd:\s0*4000000000", r"NoNewPrivs:\s1", r"Seccomp:\s2", r"Uid:\s0\s.*"):
            assert re.search(f"^{line}$", status, re.M), f"{line} in\n{status}"
        assert pod.json("/api/v1/status")["hostname"] == NODE, "the node's name, not the pod's"
        writable = [line for line in e2e.read_text(f"/proc/{pod.daemon()}/mountinfo").splitlines()
                    if line.split()[4].startswith("/host/sys") and "ro" not in line.split()[5].split(",")]
        assert not writable, writable
        # the probes and the address
        (container,) = daemon_set()["containers"]
        for probe in ("livenessProbe", "readinessProbe"):
            path = container[probe]["httpGet"]["path"]
            e2e.wait_for(lambda path=path: e2e.fetch(pod.port, path).status == 200, path)
        before = e2e.value_of(pod.get("/metrics"), "topdownd_metric_numerator_total", metric="context_switches_per_second")
        e2e.wait_for(lambda: e2e.value_of(pod.get("/metrics"), "topdownd_metric_numerator_total",
                                          metric="context_switches_per_second") > before, "counts to grow")
        assert "error" not in pod.log(), pod.log()
        run("nsenter", "-m", "-p", "-r", "-t", str(pod.daemon()), "/usr/sbin/topdownd", "yield", "--for", "1s")
        begun = time.monotonic()
        os.kill(pod.daemon(), signal.SIGTERM)
        assert pod.wait() == 0, pod.log()
        return f"{time.monotonic() - begun:.1f} s to end"


def test_without_the_profiles_permission_or_the_capability_it_says_what_is_missing():
    need_level_2()
    profile = json.loads(e2e.read_text(f"{KUBERNETES}/seccomp.json"))
    without = profile | {"syscalls": [rule for rule in profile["syscalls"] if rule["names"] != ["perf_event_open"]]}
    assert without != profile
    for settings in (dict(seccomp=without), dict(capabilities=[])):
        with Pod(**settings) as pod:
            e2e.wait_for(lambda pod=pod: re.search(r"^topdownd_pmu_error\{.*reason=", pod.get("/metrics"), re.M), "the error")
            assert e2e.fetch(pod.port, "/-/healthy").status == 200, "nothing that the PMU does ends it"


def test_a_user_who_is_not_root_serves_a_simulated_host():
    if os.getuid() != 0:
        raise e2e.Skip("namespaces take root")
    with Pod("--pmu", "sim", capabilities=[], user=65532) as pod:
        assert 'simulated="true"' in e2e.wait_for(lambda: pod.get("/metrics"), "a page")
        assert re.search(r"^CapEff:\s0+$", pod.status(), re.M)


def test_passwords_work_in_the_image():
    """Their library is opened only where there are some."""
    if os.getuid() != 0:
        raise e2e.Skip("namespaces take root")
    files = web_files.Files()
    files.write(f"basic_auth_users: {{me: {web_files.HASHES[4]}}}\n")
    with Pod("--pmu", "sim", "--web.config.file", "/etc/topdownd/web.yml", files=(files.path("web.yml"),)) as pod:
        assert e2e.fetch(pod.port, "/metrics").status == 401, pod.log()


if __name__ == "__main__":
    if not shutil.which("mmdebstrap") or not shutil.which("cpack") or not os.path.exists(f"{BUILD}/CPackConfig.cmake"):
        print("skipped: mmdebstrap, cpack (Debian packages mmdebstrap, cmake) and a build folder are needed")
        sys.exit(e2e.SKIPPED)
    with tempfile.TemporaryDirectory() as MADE:
        make()
        e2e.run_tests()
