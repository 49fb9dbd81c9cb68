#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes every target at night, keeps what that finds, and says before a release whether it was done.
#   tests/fuzz/nightly.sh run [SECONDS]   builds preset fuzz; all targets one after the other, an hour in all (3600), and a report.
#                                         Status 1: a target failed, now or with an input that an earlier night has found
#   tests/fuzz/nightly.sh keep            merges what was found into tests/fuzz/corpus: little, and of small inputs
#   tests/fuzz/nightly.sh check           status 0 if a whole hour of this or an earlier commit passed in the last seven days, and no input
#                                         that was ever found fails; builds preset fuzz first, so that these inputs judge the sources as they are
# What nights find stays in build/fuzz-nightly: corpus, found (inputs that fail), logs, report.
set -euo pipefail
cd "${TOPDOWND_FUZZ_SOURCE:-$(dirname "$0")/../..}" # the variables are for the test of this script

readonly build=${TOPDOWND_FUZZ_BUILD:-build/fuzz/tests} night=${TOPDOWND_FUZZ_NIGHT:-build/fuzz-nightly}
readonly hour=3600 days_max=7
readonly kept_input_max=4096 kept_bytes_max=65536 kept_files_max=100 # of each target; of all targets a mebibyte

targets() { find tests/fuzz -name 'fuzz_*.c' -printf '%f\n' | sed 's/^fuzz_\(.*\)\.c$/\1/' | sort; }

fail() {
  echo "nightly.sh: $*" >&2
  exit 1
}

# alone: nobody else may write to the same folders meanwhile.
alone() {
  mkdir -p "$night/logs"
  exec 9>"$night/lock"
  flock -n 9 || fail "another one runs"
}

# build_targets: of the sources as they are now, so that they are what is judged, and what the report names.
build_targets() {
  [ -z "${TOPDOWND_FUZZ_BUILD-}" ] || return 0
  { cmake --preset fuzz && cmake --build --preset fuzz -- --quiet; } >"$night/logs/build.log" 2>&1 || {
    tail -n 30 "$night/logs/build.log"
    fail "the targets cannot be built"
  }
}

# again TARGET: the inputs that have failed some night. A new night may not find them anew.
again() {
  local -a inputs
  mapfile -t inputs < <(find "$night/found/$1" -type f 2>/dev/null)
  [ ${#inputs[@]} = 0 ] || "$build/fuzz_$1" -timeout=30 -rss_limit_mb=1024 "${inputs[@]}" >"$night/logs/$1.again.log" 2>&1
}

# folders TARGET: those of inputs that exist beside the working corpus.
folders() { find "tests/fuzz/corpus/$1" "tests/fuzz/seeds/$1" -maxdepth 0 2>/dev/null || true; }

# fuzz TARGET SECONDS: one target; its log ends with what libFuzzer counted.
fuzz() {
  local target=$1 options=(-max_total_time="$2" -max_len=16384 -timeout=30 -rss_limit_mb=1024 -print_final_stats=1)
  local -a inputs
  mkdir -p "$night/corpus/$target" "$night/found/$target" "$night/logs"
  mapfile -t inputs < <(folders "$target")
  [ ! -e "tests/fuzz/$target.dict" ] || options+=(-dict="tests/fuzz/$target.dict")
  "$build/fuzz_$target" "${options[@]}" -artifact_prefix="$night/found/$target/" "$night/corpus/$target" "${inputs[@]}" \
    >"$night/logs/$target.log" 2>&1
}

run() {
  local seconds=$1 failed=0 how log target n each
  n=$(targets | wc -l)
  each=$((seconds / n))
  [ "$each" -ge 1 ] || fail "$seconds seconds are too few for $n targets"
  alone
  build_targets
  {
    echo "commit $(git describe --always --dirty --abbrev=40 --match='')"
    echo "began $(date +%s)"
    echo "seconds $((each * n))"
  } >"$night/report.new"
  for target in $(targets); do
    how=ok log=$night/logs/$target.log
    again "$target" || { how=FAILED failed=1 log=$night/logs/$target.again.log; }
    fuzz "$target" "$each" || { how=FAILED failed=1 log=$night/logs/$target.log; }
    echo "target $target $how $(sed -n 's/^stat::number_of_executed_units: *//p' "$night/logs/$target.log")" |
      tee -a "$night/report.new"
    [ $how = ok ] || tail -n 30 "$log"
  done
  mv "$night/report.new" "$night/report"
  return $failed
}

# shrink FOLDER: removes the largest inputs, which find least for what they take.
shrink() {
  local path size bytes=0 files=0
  while read -r size path; do
    bytes=$((bytes + size)) files=$((files + 1))
    if [ $bytes -gt $kept_bytes_max ] || [ $files -gt $kept_files_max ]; then rm "$path"; fi
  done < <(find "$1" -type f -printf '%s %p\n' | sort -n -k1,1 -k2,2)
}

# keep_target TARGET: the fewest inputs that reach all that the old and the new ones reach, but for those that are seeds.
keep_target() {
  local target=$1 new=$night/merged/$1 seed
  local -a inputs
  mapfile -t inputs < <(folders "$target")
  mkdir -p "$night/corpus/$target" "$night/logs"
  rm -rf "$new"
  mkdir -p "$new"
  "$build/fuzz_$target" -merge=1 -max_len=$kept_input_max -timeout=30 -rss_limit_mb=1024 "$new" "${inputs[@]}" \
    "$night/corpus/$target" >"$night/logs/$target.merge.log" 2>&1 || fail "$target: see $night/logs/$target.merge.log"
  for seed in "tests/fuzz/seeds/$target"/*; do
    [ ! -e "$seed" ] || rm -f "$new/$(sha1sum <"$seed" | cut -d ' ' -f 1)" # libFuzzer calls an input by its SHA-1
  done
  shrink "$new"
  rm -rf "tests/fuzz/corpus/$target"
  mkdir -p tests/fuzz/corpus
  [ -z "$(ls "$new")" ] || cp -r "$new" "tests/fuzz/corpus/$target"
}

keep() {
  local target
  alone
  for target in $(targets); do keep_target "$target"; done
  echo "$(find tests/fuzz/corpus -type f | wc -l) inputs of $(find tests/fuzz/corpus -type f -printf '%s\n' | awk '{n += $1} END {print n + 0}') bytes"
}

# value NAME: of the report.
value() { sed -n "s/^$1 //p" "$night/report"; }

check() {
  [ -e "$night/report" ] || fail "there is no report of a night: run it first"
  local commit age target
  alone
  build_targets
  commit=$(value commit)
  age=$((($(date +%s) - $(value began)) / 86400))
  ! grep ' FAILED' "$night/report" || fail "a target failed: $night/found has the inputs"
  for target in $(targets); do
    grep -q "^target $target ok [1-9]" "$night/report" || fail "not every target was run: $target"
    again "$target" || fail "$target still fails with an input of $night/found/$target: see $night/logs/$target.again.log"
  done
  [ "$(value seconds)" -ge $((hour - $(targets | wc -l))) ] || fail "the night had $(value seconds) seconds of $hour"
  [ "$age" -lt $days_max ] || fail "the night was $age days ago"
  [ "$commit" = "${commit%-dirty}" ] || fail "what was fuzzed had changes that are in no commit"
  git merge-base --is-ancestor "$commit" HEAD 2>/dev/null || fail "$commit, which was fuzzed, is no commit of this branch"
  echo "$commit passed for $(value seconds) seconds; $(git diff --name-only "$commit" HEAD -- '*.[ch]' | wc -l) files of C have changed since"
}

case "${1-} $#" in
'run 1') run $hour ;;
'run 2') run "$2" ;;
'keep 1') keep ;;
'check 1') check ;;
*)
  sed -n 's/^#   //p' "$0" >&2
  exit 2
  ;;
esac
