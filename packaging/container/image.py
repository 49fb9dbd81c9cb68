#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a container image of one or more Debian packages of topdownd, one for each architecture. No container engine is needed.

usage: packaging/container/image.py [--suite SUITE] [--output FILE] PACKAGE.deb...

The image begins from nothing: the program, its data and its configuration, and of Debian's SUITE (that of this machine) the shared
libraries that the program needs, which mmdebstrap downloads and verifies. It has no shell and no package manager. The result is an
OCI archive: `skopeo copy --all oci-archive:FILE docker://REGISTRY/topdownd:VERSION` publishes it, `podman load -i FILE` takes it.
The same packages and the same state of Debian's archive give the same bytes; all times are that of the package.
"""

import argparse
import glob
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

LIBRARIES = "libc6 libgcc-s1 libcrypt1 libcjson1 libgnutls30 libmicrohttpd12 libsystemd0 libyaml-0-2 zlib1g".split()
OPENED = ["libcrypt.so.1", "libgcc_s.so.1"]  # by the program and by the C library; no list of needed libraries names them
ARCHITECTURES = {"amd64": ("x86_64-linux-gnu", "usr/lib64/ld-linux-x86-64.so.2"),
                 "arm64": ("aarch64-linux-gnu", "usr/lib/ld-linux-aarch64.so.1")}
USER = 65532  # topdownd, for those who do not run it as root
PROGRAM = "usr/sbin/topdownd"
OF_PACKAGE = [PROGRAM, "usr/share/topdownd/specs", "usr/share/topdownd/scenarios", "usr/share/topdownd/schema", "etc/topdownd",
              "usr/share/doc/topdownd/copyright"]
FILES = {"etc/passwd": f"root:x:0:0:root:/:/nonexistent\ntopdownd:x:{USER}:{USER}:topdownd:/:/nonexistent\n",
         "etc/group": f"root:x:0:\ntopdownd:x:{USER}:\n"}
FOLDERS = {"run/topdownd": 0, "var/lib/topdownd": USER}  # of the control socket and of recordings, and who may write there
COMMAND = ["run", "--web.listen-address=:10813"]
MEDIA = "application/vnd.oci.image."


def run(*command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def field(fields, name):
    return re.search(rf"^{name}: (.*)", fields, re.M).group(1)


class Layer:
    """Files of a layer: {path: (content, mode)}, links and folders, written in the order of their names."""

    def __init__(self, epoch):
        self.epoch, self.entries = epoch, {}

    def _entry(self, path, kind, mode, owner=0):
        entry = tarfile.TarInfo(path)
        entry.type, entry.mode, entry.mtime, entry.uid, entry.gid = kind, mode, self.epoch, owner, owner
        return entry

    def add(self, path, data, mode=0o644):
        entry = self._entry(path, tarfile.REGTYPE, mode)
        entry.size = len(data)
        self.entries[path] = (entry, data)

    def link(self, path, target):
        entry = self._entry(path, tarfile.SYMTYPE, 0o777)
        entry.linkname = target
        self.entries[path] = (entry, b"")

    def folder(self, path, owner=0):
        self.entries[path] = (self._entry(path, tarfile.DIRTYPE, 0o755, owner), b"")

    def add_file(self, path, source):
        with open(source, "rb") as file:
            self.add(path, file.read(), 0o755 if os.stat(source).st_mode & 0o111 else 0o644)

    def bytes(self):
        for path in list(self.entries):
            while path := os.path.dirname(path):
                if path not in self.entries:
                    self.folder(path)
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in sorted(self.entries):
                entry, data = self.entries[path]
                archive.addfile(entry, io.BytesIO(data))
        return out.getvalue()


# ---- what goes in ----

def debian_tree(folder, architecture, suite):
    """Unpacks the libraries' packages; {package: its fields} of all of them."""
    run("mmdebstrap", "--quiet", "--mode=chrootless", "--variant=extract", f"--architectures={architecture}",
        f"--include={','.join(LIBRARIES)}", "--skip=essential/unlink,cleanup", suite, folder)
    packages = {}
    for path in sorted(glob.glob(f"{folder}/var/cache/apt/archives/*.deb")):
        fields = run("dpkg-deb", "-f", path)
        packages[field(fields, "Package")] = (fields, run("dpkg-deb", "-c", path))
    return packages


def find_library(tree, triplet, name):
    for folder in (f"usr/lib/{triplet}", f"lib/{triplet}"):
        if os.path.exists(f"{tree}/{folder}/{name}"):
            return os.path.realpath(f"{tree}/{folder}/{name}")
    sys.exit(f"{name} is in none of Debian's packages {' '.join(LIBRARIES)}: add its package to LIBRARIES in {sys.argv[0]}")


def needed(tree, triplet, program):
    """{name: path} of the libraries of the program, and theirs."""
    found = {name: find_library(tree, triplet, name) for name in OPENED}
    queue = [program, *found.values()]
    while queue:
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", queue.pop())):
            if name not in found:
                found[name] = find_library(tree, triplet, name)
                queue.append(found[name])
    return found


def library_layer(tree, packages, libraries, architecture, epoch):
    """Also what scanners look for, of the packages that a library comes from; returns these packages' fields, too."""
    triplet, loader = ARCHITECTURES[architecture]
    layer, used = Layer(epoch), {}
    for name, path in libraries.items():
        layer.add_file(f"usr/lib/{triplet}/{name}", path)
        for package, (fields, listing) in packages.items():
            if re.search(rf" \./\S*/{re.escape(os.path.basename(path))}$", listing, re.M):
                used[package] = fields
    layer.link("lib", "usr/lib")
    layer.link("lib64", "usr/lib64")
    layer.folder("usr/lib64")
    layer.link(loader, os.path.relpath(f"usr/lib/{triplet}/{os.path.basename(loader)}", os.path.dirname(loader)))
    for package, fields in used.items():
        layer.add(f"var/lib/dpkg/status.d/{package}", fields.encode())
        layer.add_file(f"usr/share/doc/{package}/copyright", os.path.realpath(f"{tree}/usr/share/doc/{package}/copyright"))
    for path, text in FILES.items():
        layer.add(path, text.encode())
    for path, owner in FOLDERS.items():
        layer.folder(path, owner)
    return layer, used


def program_layer(tree, fields, epoch):
    layer = Layer(epoch)
    for path in OF_PACKAGE:
        files = [path] if os.path.isfile(f"{tree}/{path}") else [
            os.path.relpath(os.path.join(at, name), tree) for at, _, names in os.walk(f"{tree}/{path}") for name in names]
        for name in files:
            layer.add_file(name, f"{tree}/{name}")
    layer.folder("etc/topdownd/conf.d")
    layer.add("var/lib/dpkg/status.d/topdownd", fields.encode())
    return layer


# ---- the image ----

class Archive:
    """An OCI image layout as a tar archive."""

    def __init__(self):
        self.layer = Layer(0)
        self.layer.add("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')

    def blob(self, data, media, **more):
        """Adds data; its descriptor."""
        data = data if isinstance(data, bytes) else json.dumps(data, sort_keys=True).encode()
        digest = hashlib.sha256(data).hexdigest()
        self.layer.add(f"blobs/sha256/{digest}", data)
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(data)} | more

    def write(self, path, manifests, version):
        name = {"org.opencontainers.image.ref.name": version}
        if len(manifests) > 1:
            top = self.blob({"schemaVersion": 2, "mediaType": MEDIA + "index.v1+json", "manifests": manifests}, MEDIA + "index.v1+json")
        else:
            top = manifests[0]
        self.layer.add("index.json", json.dumps({"schemaVersion": 2, "mediaType": MEDIA + "index.v1+json",
                                                 "manifests": [top | {"annotations": name}]}, sort_keys=True).encode())
        with open(path, "wb") as file:
            file.write(self.layer.bytes())


def labels(version, when, suite):
    name = "org.opencontainers.image."
    return {name + "title": "topdownd", name + "description": "Topdown metrics of a host's CPUs, for Prometheus",
            name + "version": version, name + "licenses": "Apache-2.0", name + "created": when,
            "topdownd.base": f"scratch, with libraries of Debian {suite}"}


def add_image(archive, package, suite):
    """The descriptor of the image's manifest, and the version. Prints what is in the image."""
    fields = run("dpkg-deb", "-f", package)
    version, architecture = field(fields, "Version").rsplit("-", 1)[0], field(fields, "Architecture")
    if architecture not in ARCHITECTURES:
        sys.exit(f"{package}: there are images for {' and '.join(ARCHITECTURES)}, not for {architecture}")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        run("dpkg-deb", "-x", package, f"{folder}/package")
        epoch = int(os.stat(f"{folder}/package/{PROGRAM}").st_mtime)
        packages = debian_tree(f"{folder}/debian", architecture, suite)
        libraries = needed(f"{folder}/debian", ARCHITECTURES[architecture][0], f"{folder}/package/{PROGRAM}")
        base, used = library_layer(f"{folder}/debian", packages, libraries, architecture, epoch)
        layers = [layer.bytes() for layer in (base, program_layer(f"{folder}/package", fields, epoch))]
    when = run("date", "-u", "-d", f"@{epoch}", "+%Y-%m-%dT%H:%M:%SZ").strip()
    config = {"architecture": architecture, "os": "linux", "created": when,
              "config": {"Entrypoint": ["/" + PROGRAM], "Cmd": COMMAND, "Env": ["PATH=/usr/sbin"], "WorkingDir": "/",
                         "ExposedPorts": {"10813/tcp": {}}, "StopSignal": "SIGTERM", "Labels": labels(version, when, suite)},
              "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]},
              "history": [{"created": when, "comment": what} for what in ("libraries of Debian", "topdownd")]}
    stored = [archive.blob(gzip.compress(layer, mtime=0), MEDIA + "layer.v1.tar+gzip") for layer in layers]
    manifest = {"schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json", "layers": stored,
                "config": archive.blob(config, MEDIA + "config.v1+json")}
    size = sum(map(len, layers)), sum(blob["size"] for blob in stored)
    print(f"{architecture}: {size[0] / 2 ** 20:.1f} MiB in {len(used) + 1} packages and {len(libraries)} libraries, "
          f"{size[1] / 2 ** 20:.1f} MiB compressed:")
    for text in (*used.values(), fields):
        print(f"  {field(text, 'Package')} {field(text, 'Version')}")
    platform = {"architecture": architecture, "os": "linux"}
    return archive.blob(manifest, MEDIA + "manifest.v1+json", platform=platform), version


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("packages", nargs="+", metavar="PACKAGE.deb")
    parser.add_argument("--suite", help="of Debian; it should be the one on which the packages were made (this machine's)")
    parser.add_argument("--output", help="the archive (topdownd_VERSION.oci.tar)")
    options = parser.parse_args()
    for tool, owner in (("mmdebstrap", "mmdebstrap"), ("readelf", "binutils"), ("dpkg-deb", "dpkg")):
        if not shutil.which(tool):
            sys.exit(f"{tool} is not installed (Debian package {owner})")
    suite = options.suite or run("sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME").strip()
    archive = Archive()
    images = [add_image(archive, package, suite) for package in options.packages]
    versions = {version for _, version in images}
    if len(versions) > 1 or len({blob["platform"]["architecture"] for blob, _ in images}) < len(images):
        sys.exit("one package for each architecture, all of the same version")
    version = versions.pop()
    path = options.output or f"topdownd_{version}.oci.tar"
    archive.write(path, [blob for blob, _ in images], version)
    print(path)


if __name__ == "__main__":
    main()
