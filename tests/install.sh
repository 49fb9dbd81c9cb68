# SPDX-License-Identifier: Apache-2.0
# Sourced by ./run and ./test: installs Debian packages that are missing.

packages_build="gcc libc6-dev cmake ninja-build pkg-config libsystemd-dev libmicrohttpd-dev libgnutls28-dev libcrypt-dev libcjson-dev libyaml-dev zlib1g-dev libncurses-dev libcurl4-gnutls-dev libjs-dygraphs"
packages_test="$packages_build clang libclang-rt-14-dev libcmocka-dev python3 python3-prometheus-client python3-jsonschema python3-yaml
  prometheus prometheus-alertmanager curl openssl apache2-utils systemd mandoc chromium tmux"
# the packages, and what is done with them
packages_test="$packages_test dpkg-dev lintian rpm systemd-container zsh mmdebstrap skopeo umoci ansible-core python3-apt prometheus-node-exporter"
# tests/vm: an x86 machine, emulated, and the headers of its kernel for a module; an Arm machine, emulated, and a compiler for it; what runs there is unpacked by tests/vm/sysroot.py. tests/e2e/newer_perf.py
# runs a perf of arm64
packages_vm="qemu-system-arm qemu-system-x86 qemu-user linux-headers-cloud-amd64 gcc make gcc-aarch64-linux-gnu cmake ninja-build pkg-config python3 tar"

command -v npm >/dev/null || packages_test="$packages_test npm" # a node that is not Debian's brings its own

# install_packages build|test|vm
install_packages() {
  local wanted missing="" package
  case $1 in build) wanted=$packages_build ;; test) wanted=$packages_test ;; vm) wanted=$packages_vm ;; esac
  for package in $wanted; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  echo "installing Debian packages:$missing" >&2
  local sudo=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "not root and no sudo: install these packages first:$missing" >&2; return 1; }
    sudo=sudo
  fi
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  # Prometheus, Alertmanager and node_exporter are for the tests alone: they start neither now nor with the next boot
  local policy=/usr/sbin/policy-rc.d held=no failed=0
  [ -e $policy ] || { held=yes; printf '#!/bin/sh\nexit 101\n' | $sudo install -m 755 /dev/stdin $policy; }
  # shellcheck disable=SC2086
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing </dev/null >/dev/null || failed=$?
  [ $held = no ] || $sudo rm -f $policy
  for package in $missing; do
    case $package in prometheus*) $sudo systemctl disable --quiet "$package" >/dev/null 2>&1 || true ;; esac
  done
  return $failed
}

# install_axe: axe-core, which looks for what shuts people out of the page, from npm's registry with the digest in tests/npm. Prints
# where it is. It lies in the user's cache, so that the registry is asked once.
install_axe() {
  local root folder made
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/topdownd-tests/$(sha256sum "$root/npm/package-lock.json" | cut -c1-16)
  if [ ! -e "$folder/node_modules/axe-core/axe.min.js" ]; then
    command -v npm >/dev/null || { echo "npm is not installed: the page's test for accessibility needs it" >&2; return 1; }
    mkdir -p "$(dirname "$folder")"
    made=$(mktemp -d "$folder.XXXXXX")
    cp "$root/npm/package.json" "$root/npm/package-lock.json" "$made/"
    npm ci --prefix "$made" --ignore-scripts --no-audit --no-fund >&2 || { rm -rf "$made"; return 1; }
    mv -T "$made" "$folder" 2>/dev/null || rm -rf "$made" # another test was faster
  fi
  echo "$folder/node_modules/axe-core/axe.min.js"
}
