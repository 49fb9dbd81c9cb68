# SPDX-License-Identifier: Apache-2.0
"""The command line: each command says its options and takes only these, and what is wrong is said with a remedy."""

import os
import re
import subprocess

import e2e

BINARY, ROOT = e2e.arguments()
COMMANDS = ("run", "check-config", "reload", "yield", "mark", "list", "doctor", "top", "explain", "measure", "opportunities", "diff", "eval", "memory",
            "help")


def call(*words):
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
    return done.returncode, done.stdout, done.stderr


def options_of(*command):
    """Name and value ("" where it takes none) of each option that the help lists."""
    status, said, errors = call(*command, "--help")
    assert (status, errors) == (0, ""), (command, status, errors)
    assert said.startswith(f"Usage: topdownd {' '.join(command)}"), said
    assert call(*command, "-h") == call("help", *command) == (0, said, ""), command
    assert all(len(line) <= 100 and line == line.rstrip() for line in said.splitlines()), said
    return dict(re.findall(r"^  --(\S+) ?([A-Z]*)", said, re.M))


def refused(*words):
    status, said, errors = call(*words)
    assert (status, said) == (2, "") and len(errors.splitlines()) == 1, (words, status, said, errors)
    return errors


def test_topdownd_says_its_commands_and_the_options_of_the_first():
    _, said, _ = call("--help")
    assert tuple(re.findall(r"^  ([a-z][a-z-]*)", said, re.M)) == COMMANDS, said
    assert options_of() == options_of("run")


def test_each_command_takes_the_options_that_its_help_lists_and_no_other():
    taken = {command: options_of(command) for command in COMMANDS}
    named = {name: value for options in taken.values() for name, value in options.items()}
    refusals = 0
    for command in COMMANDS:
        for name in named.keys() - taken[command].keys():
            others = ", ".join(other for other in COMMANDS if name in taken[other])
            said = refused(*([command] if command != "run" else []), f"--{name}", *([named[name]] if named[name] else []))
            remedy = r"\. 'topdownd list groups' lists metric groups, .*" if (command, name) == ("list", "groups") else ""
            assert re.search(rf"{command} does not take --{name}: it can only go with the commands? {others}{remedy}\n$", said), said
            refusals += 1
        for name in taken[command]:
            wrong = refused(command, f"--{name}") if taken[command][name] else refused(command, f"--{name}=1")
            assert f"--{name} takes {'a' if taken[command][name] else 'no'} value" in wrong, wrong
    return f"{len(named)} options, {refusals} refusals"


def manual_of(command):
    """Its name as the command's help says it, such as "topdownd-list(1)"."""
    return re.search(r"^Manual: (\S+)$", call("help", command)[1], re.M).group(1)


def source_of(manual):
    name, section = re.fullmatch(r"(\S+)\((\d)\)", manual).groups()
    return e2e.read_text(os.path.join(ROOT, f"docs/{name}.{section}"))


def flags_of(page):
    """The long options that a page marks up."""
    return {flag.strip(",") for line in re.findall(r"(?<=\bFl )[^\n]*", page) for flag in re.findall(r"(?:^| )-([a-z][a-z.-]*)", line)}


def test_each_command_has_a_manual_with_its_options_and_no_others():
    manuals = {command: manual_of(command) for command in COMMANDS}
    for manual in set(manuals.values()):
        page = source_of(manual)
        mine = [command for command in COMMANDS if manuals[command] == manual]
        taken = {name for command in mine for name in options_of(command)} - {"help", "version"}
        marked = flags_of(page)
        assert not taken - marked, f"{manual} lacks {taken - marked}"
        others = {name for command in COMMANDS for name in options_of(command)}
        assert marked <= others | {"help", "version"}, f"{manual} has {marked - others}, which no command takes"
        said = {name for line in re.findall(r"^\.It (Fl .*)", page, re.M) for name in flags_of(line)}
        assert said <= taken | {"help", "version"}, f"{manual} describes {said - taken}, which its commands do not take"
        for command in mine:
            assert re.search(rf"^\.(It )?(Op )?(Cm|Fl) .*\b{command}\b", page, re.M), f"{manual} does not describe {command}"
    assert call("--help")[1].count("Manuals: ") == 1
    listed = re.findall(r"topdownd\S*\(\d\)", call("--help")[1][call("--help")[1].index("Manuals: "):])
    assert listed == [*dict.fromkeys(manuals.values()), "topdownd.yaml(5)"], listed
    of_all = source_of("topdownd(8)")
    for manual in set(manuals.values()) - {"topdownd(8)"}:
        assert f".Xr {manual[:-3]} {manual[-2]}" in of_all, f"topdownd(8) does not refer to {manual}"
    return f"{len(set(manuals.values()))} manuals"


def test_check_config_says_every_key_and_the_manual_has_it():
    said = call("check-config", "--help")[1]
    keys = re.findall(r"^  ([a-z][A-Za-z_.]*)", said[said.index("Keys of the configuration"):], re.M)
    assert {"slot", "counters.reserve", "record.size", "profiles.NAME.groups", "hosts.match.cpu"} <= set(keys), keys
    manual = e2e.read_text(os.path.join(ROOT, "docs/topdownd.yaml.5"))
    for key in keys:
        assert re.search(rf"^\.(It )?Ic .*\b{key.split('.')[-1]}\b", manual, re.M), key
    return f"{len(keys)} keys"


def test_the_command_may_stand_behind_its_options():
    assert call("--json", "list", "--cpu", "zen4", "groups") == call("list", "groups", "--cpu", "zen4", "--json")
    assert call("--json", "list", "--cpu", "zen4", "groups")[0] == 0


def test_help_and_version_win_over_what_follows():
    assert call("list", "--help", "--bogus") == call("list", "--help")
    status, said, errors = call("--version", "run", "--for", "1s")
    assert (status, errors) == (0, "") and re.fullmatch(r"topdownd \d\S+ \(\S+\)\n", said), (status, said, errors)


def test_what_is_wrong_is_said_with_a_remedy():
    for words, says in ((["lst"], "no command 'lst': did you mean 'list'?"), (["frobnicate"], "--help tells what there is"),
                        (["help", "dif"], "no command 'dif': did you mean 'diff'?"), (["help", "list", "cpus"], "too many: 'cpus'"),
                        (["run", "eval"], "one word too many: 'eval'"), (["list", "cpus", "x"], "one word too many: 'x'"),
                        (["--confg", "x"], "no option '--confg': did you mean '--config'?"),
                        (["--confg=x"], "did you mean '--config'?"), (["--path"], "did you mean '--path."),
                        (["-c"], "no option '-c'"), (["--pmu"], "--pmu takes a value: --pmu KIND"),
                        (["yield", "--end=1"], "--end takes no value"), (["--pmu", "linx"], "did you mean 'linux'?"),
                        (["--pmu", "sim:"], "which file?"), (["--record", ""], "--record takes the path of a file"),
                        (["--hostname", ""], "such as node-17"),
                        (["--hostname", "$(NODE_NAME)"], "such as node-17"), (["--speed", "x"], "such as 10"), (["--record.size", "1K"], "such as 256M"),
                        (["--pmu", "replay:x", "--record", "y"], "it is a recording already"),
                        (["--pmu", "replay:x", "--record.size", "1M"], "nothing is recorded"),
                        (["--speed", "2"], "--speed goes with --pmu replay:FILE"),
                        (["check-config", "--pmu", "sim", "--speed", "1"], "--speed goes with --pmu replay:FILE"),
                        (["--spec", "zen4"], "goes with the command eval, and with --pmu replay:FILE"),
                        (["list"], "topdownd list cpus"), (["list", "events", "--group", "x"], "topdownd list metrics"),
                        (["list", "events", "--cpu", "no such CPU"], "'topdownd list cpus' tells what there is")):
        said = refused(*words)
        assert said.startswith("topdownd: ") and says in said, (words, said)


if __name__ == "__main__":
    e2e.run_tests()
