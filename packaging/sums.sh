#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The checksums of a release, signed with a key of ssh-keygen, which also signs tags (git config gpg.format ssh).
#   packaging/sums.sh sign KEY FOLDER        writes SHA256SUMS of all files in FOLDER, and SHA256SUMS.sig
#   packaging/sums.sh check SIGNERS FOLDER   holds both against the files; SIGNERS: lines of "release@topdownd ssh-ed25519 AAAA..."
# A file that SHA256SUMS does not have is a mistake as well: nobody has signed it.
set -euo pipefail

readonly identity=release@topdownd namespace=topdownd-release
export LC_ALL=C # one order of names

usage() {
  sed -n 's/^#   //p' "$0" >&2
  exit 2
}

# files: what a release consists of, but for the checksums themselves.
files() { find . -mindepth 1 -maxdepth 1 ! -name SHA256SUMS ! -name SHA256SUMS.sig -printf '%f\n' | sort; }

sign() {
  [ -n "$(files)" ] || { echo "there is no file to sign" >&2; exit 1; }
  rm -f SHA256SUMS SHA256SUMS.sig
  files | xargs -d '\n' sha256sum -- >SHA256SUMS
  ssh-keygen -q -Y sign -f "$1" -n $namespace SHA256SUMS
}

check() {
  ssh-keygen -Y verify -f "$1" -I $identity -n $namespace -s SHA256SUMS.sig <SHA256SUMS
  sha256sum --check --strict --quiet SHA256SUMS
  diff <(sed 's/^[0-9a-f]* [ *]//' SHA256SUMS | sort) <(files) >&2 || { echo "the folder has other files than SHA256SUMS" >&2; exit 1; }
  echo "$(wc -l <SHA256SUMS) files are those that were signed"
}

[ $# -eq 3 ] || usage
key=$(realpath -e "$2")
cd "$3"
case $1 in
sign) sign "$key" ;;
check) check "$key" ;;
*) usage ;;
esac
