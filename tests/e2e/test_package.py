# SPDX-License-Identifier: Apache-2.0
"""The packages, made from the source and judged by Debian's and rpm's own tools, and what they do to a host and its configuration.

They are installed on a private copy of this machine (packages.Copy); nothing changes on the machine itself.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import e2e
import packages
from packages import need, run

BINARY, ROOT = e2e.arguments()
BUILD = os.path.dirname(BINARY)
CONFIG = "/etc/topdownd/topdownd.yaml"
NEWEST_GLIBC = (2, 34)  # that of the oldest systems that the rpm is for
MADE = None  # the folder with both packages


def version():
    return re.search(r"^project\(topdownd VERSION (\S+)", e2e.read_text(f"{ROOT}/CMakeLists.txt"), re.M).group(1)


def deb():
    return packages.file_of(MADE, "deb")


def rpm():
    return packages.file_of(MADE, "rpm")


# What both packages have; the man pages, the documentation and the completions of zsh are where each system wants them.
FILES = {CONFIG, "/usr/sbin/topdownd", "/usr/lib/systemd/system/topdownd.service", "/usr/lib/systemd/system/topdownd.socket",
         "/usr/lib/systemd/system/topdownd-memory.service",
         "/usr/lib/sysusers.d/topdownd.conf", "/usr/lib/systemd/catalog/topdownd.catalog",
         "/usr/share/bash-completion/completions/topdownd", "/usr/share/topdownd/remedies/90-topdownd.conf",
         "/usr/share/topdownd/remedies/cap-sys-admin.conf"} | {
             f"/usr/share/man/man{page[-1]}/{page}.gz" for page in glob.glob("*.[1-9]", root_dir=f"{ROOT}/docs")}


def shipped():
    """Where a host finds the data of the source."""
    names = {f"/usr/share/topdownd/{path}" for pattern in ("specs/**/*.json", "scenarios/*.json")
             for path in glob.glob(pattern, root_dir=ROOT, recursive=True)}
    names |= {f"/usr/share/topdownd/schema/{path}" for path in glob.glob("**/*.json", root_dir=f"{ROOT}/exporters/json/schema",
                                                                         recursive=True)}
    for folder in ("prometheus", "grafana"):
        names |= {f"/usr/share/topdownd/{folder}/{path}" for end in ("yml", "yaml", "json")
                  for path in glob.glob(f"**/*.{end}", root_dir=f"{ROOT}/packaging/{folder}", recursive=True)}
    return names


def test_the_deb_holds_what_a_host_needs():
    need("dpkg-deb", "dpkg")
    listed = [line.split(None, 5) for line in run("dpkg-deb", "-c", deb()).splitlines()]
    files = {words[5][1:] for words in listed if not words[0].startswith("d")}
    missing = (FILES | shipped() | {"/usr/share/zsh/vendor-completions/_topdownd"}) - files
    assert not missing, missing
    assert not files & {"/etc/sysctl.d/90-topdownd.conf"}, "the remedies are not active by themselves"
    assert {words[1] for words in listed} == {"root/root"}, listed
    for words in listed:
        wanted = "drwxr-xr-x" if words[0][0] == "d" else "-rwxr-xr-x" if words[5] == "./usr/sbin/topdownd" else "-rw-r--r--"
        assert words[0] == wanted, words
    fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "-f", deb()).splitlines() if re.match(r"\S+: ", line))
    assert (fields["Package"], fields["Version"]) == ("topdownd", f"{version()}-1"), fields
    assert all(name in fields["Depends"] for name in ("libc6", "libmicrohttpd12", "libsystemd0", "libyaml-0-2")), fields
    assert fields["Maintainer"] == "topdownd authors <see-SECURITY.md@no-mail.invalid>", "no address that looks like one"
    # what packages for another architecture say, for which dpkg-shlibdeps has no answer
    told = e2e.read_text(f"{ROOT}/packaging/package.cmake").replace("\\\n", "")
    assert fields["Depends"].startswith("libcrypt1, systemd | "), "what is opened for passwords, and what no library asks for"
    assert fields["Depends"].split(", ", 2)[2] in told, fields["Depends"]
    assert run("dpkg-deb", "-I", deb(), "conffiles") == CONFIG + "\n"
    return f"{len(files)} files, {os.path.getsize(deb()) // 1024} KiB, installed {fields['Installed-Size']} KiB"


def test_the_view_in_a_terminal_is_a_package_of_its_own():
    """A server that does not want it gets neither ncurses nor libcurl."""
    need("dpkg-deb", "dpkg")
    need("rpm", "rpm")
    view = "/usr/libexec/topdownd/topdownd-top"
    for kind, ours, fields in (("deb", ("dpkg-deb", "-c"), ("dpkg-deb", "-f")), ("rpm", ("rpm", "-qpl"), ("rpm", "-qpR"))):
        main, extra = packages.file_of(MADE, kind), packages.file_of(MADE, kind, "topdownd-top")
        assert view not in run(*ours, main) and view in run(*ours, extra)
        needed, more = run(*fields, main), run(*fields, extra)
        assert not re.search("ncurses|tinfo|curl", needed), needed
        assert all(name in more for name in ("ncursesw", "curl")), more
        assert re.search(rf"topdownd \(= {re.escape(version())}-1\)|topdownd = {re.escape(version())}-1", more), more
    assert "topdownd-top" in re.search(r"^Suggests: (.*)$", run("dpkg-deb", "-f", deb()), re.M).group(1)


def test_lintian_finds_nothing():
    need("lintian", "lintian")
    said = run("lintian", "--allow-root", "--fail-on", "error,warning", deb(), packages.file_of(MADE, "deb", "topdownd-top"))
    assert said == "", said


def test_the_rpm_holds_the_same_and_needs_no_newer_system():
    need("rpm", "rpm")
    files = set(run("rpm", "-qpl", rpm()).splitlines())
    missing = (FILES | shipped() | {"/usr/share/zsh/site-functions/_topdownd", "/usr/share/licenses/topdownd/LICENSE", "/usr/share/licenses/topdownd/NOTICE"}) - files
    assert not missing, missing
    foreign = {path for path in files if "topdownd" not in path}
    assert not foreign, f"folders of others: {foreign}"
    assert run("rpm", "-qpc", rpm()) == CONFIG + "\n"
    dump = [line.split() for line in run("rpm", "-qp", "--dump", rpm()).splitlines()]
    assert {(words[5], words[6]) for words in dump} == {("root", "root")}, dump
    needed = run("rpm", "-qpR", rpm())
    assert all(f"{library}.so" in needed for library in ("libc", "libcjson", "libmicrohttpd", "libsystemd", "libyaml-0")), needed
    assert "libcrypt.so.2()(64bit) or libcrypt.so.1" in needed, "opened for passwords"
    newest = max(tuple(map(int, number.split("."))) for number in re.findall(r"GLIBC_([\d.]+)", needed))
    assert newest <= NEWEST_GLIBC, f"the binary needs glibc {newest}"
    kept = run("rpm", "-qp", "--queryformat", "[%{FILENAMES} %{FILEFLAGS:fflags}\n]", rpm())
    assert f"{CONFIG} cn" in kept, "an edited configuration survives an upgrade: %config(noreplace)"
    scripts = run("rpm", "-qp", "--scripts", rpm())
    assert scripts.count("systemd-update-helper") == 6 and "systemd-sysusers" in scripts, scripts
    assert run("rpm", "-K", "--nosignature", rpm()).endswith("digests OK\n")
    return f"{len(files)} files, {os.path.getsize(rpm()) // 1024} KiB, glibc {'.'.join(map(str, newest))} at most"


def test_another_build_gives_the_same_bytes():
    """In another folder, from the tree that has the tests, and of somebody who gives others no right to new files."""
    with tempfile.TemporaryDirectory() as folder:
        cache = e2e.read_text(f"{BUILD}/CMakeCache.txt") if os.path.exists(f"{BUILD}/CMakeCache.txt") else ""
        if re.search(r"^CMAKE_C_COMPILER_LAUNCHER:\S*=$", cache, re.M) or "CMAKE_C_COMPILER_LAUNCHER" not in cache:
            run("cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-B", folder, cwd=folder, umask=0o077, timeout=5 * e2e.TIMEOUT)
            other = folder
        else:  # a cache of compilations rewrites paths
            other = packages.build(ROOT, f"{folder}/another/folder", umask=0o077)
        for kind, name in ((kind, name) for kind in ("deb", "rpm") for name in ("topdownd", "topdownd-top")):
            ours, theirs = packages.file_of(MADE, kind, name), packages.file_of(other, kind, name)
            assert os.path.basename(ours) == os.path.basename(theirs)
            with open(ours, "rb") as one, open(theirs, "rb") as two:
                assert one.read() == two.read(), f"{theirs} differs from {ours}"


def test_the_program_for_terminals_can_be_run():
    """Whatever its folder: it is no file of data. What a package for another architecture depends on is as here."""
    listed = [line.split(None, 5) for line in run("dpkg-deb", "-c", packages.file_of(MADE, "deb", "topdownd-top")).splitlines()]
    modes = {words[5]: words[0] for words in listed if not words[0].startswith("d")}
    assert modes.pop("./usr/libexec/topdownd/topdownd-top") == "-rwxr-xr-x" and set(modes.values()) == {"-rw-r--r--"}, modes
    depends = run("dpkg-deb", "-f", packages.file_of(MADE, "deb", "topdownd-top"), "Depends").strip()
    told = e2e.read_text(f"{ROOT}/packaging/package.cmake").replace("\\\n", "")
    assert depends.split(", ", 1)[1] in told, depends


def test_links_of_the_installed_pages_lead_somewhere():
    with tempfile.TemporaryDirectory() as folder:
        run("dpkg-deb", "-x", deb(), folder)
        pages = glob.glob(f"{folder}/usr/share/doc/topdownd/*.md")
        assert len(pages) == len(glob.glob(f"{ROOT}/docs/*.md")) - len(("ARCHITECTURE", "RELEASING")) + len(("README", "SECURITY")), pages
        links = {(page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", e2e.read_text(page))
                 if not link.startswith("http")}
        for page, link in links:
            path = folder + link if link.startswith("/") else os.path.join(os.path.dirname(page), link)
            assert os.path.isfile(path), f"{os.path.basename(page)}: {link}"
        return f"{len(links)} links"


def test_an_older_time_is_taken_from_the_environment():
    with tempfile.TemporaryDirectory() as folder:
        run("cpack", "-G", "DEB", "--config", f"{BUILD}/CPackConfig.cmake", "-B", folder, cwd=folder,
            env=os.environ | {"SOURCE_DATE_EPOCH": "86400"})
        listed = run("dpkg-deb", "-c", packages.file_of(folder, "deb"), env=os.environ | {"TZ": "UTC"})
        assert set(re.findall(r" (\d{4}-\d\d-\d\d) ", listed)) == {"1970-01-02"}, listed


def test_install_upgrade_downgrade_remove_and_purge():
    need("dpkg-deb", "dpkg")
    with tempfile.TemporaryDirectory() as folder:
        packages.make_later(deb(), f"{folder}/later.deb")
        shutil.copy(deb(), f"{folder}/this.deb")
        shutil.copy(packages.file_of(MADE, "deb", "topdownd-top"), f"{folder}/view.deb")
        with packages.copy_of_this_machine(folder) as copy:
            if os.path.exists(copy.outside("/usr/sbin/topdownd")):
                raise e2e.Skip("this machine has topdownd installed")
            install = ["dpkg", "--force-confold", "-i"]  # as somebody who answers "keep mine"
            copy.run("apt-get", "install", "-y", "-q", "/tmp/packages/this.deb")
            assert copy.run("topdownd", "--version").startswith(f"topdownd {version()} (")
            assert "topdownd" in copy.run("getent", "passwd", "topdownd")
            link = "/etc/systemd/system/multi-user.target.wants/topdownd.service"
            assert os.path.islink(copy.outside(link)), "the service starts with the host"
            assert "install the package topdownd-top" in copy.run("topdownd", "top", "--pmu", "sim", "--once", status=2)
            copy.run("apt-get", "install", "-y", "-q", "/tmp/packages/view.deb")
            assert "SIMULATED" in copy.run("topdownd", "top", "--pmu", "sim", "--once").splitlines()[0]
            copy.run("dpkg", "-P", "topdownd-top")
            # what nobody has edited follows the package
            copy.run(*install, "/tmp/packages/later.deb")
            assert "later version" in e2e.read_text(copy.outside(CONFIG))
            copy.run(*install, "/tmp/packages/this.deb")
            assert "later version" not in e2e.read_text(copy.outside(CONFIG))
            # what somebody has edited or added stays, and so does what systemctl disable has said
            edited = e2e.read_text(copy.outside(CONFIG)) + "mode: adaptive\n"
            e2e.write_text(copy.outside(CONFIG), edited)
            e2e.write_text(copy.outside("/etc/topdownd/conf.d/ours.yaml"), "slot: 200ms\n")
            e2e.write_text(copy.outside("/var/lib/topdownd/recording"), "a recording")
            copy.run("systemctl", "disable", "topdownd")
            said = copy.run(*install, "/tmp/packages/later.deb")
            assert e2e.read_text(copy.outside(CONFIG)) == edited, said
            assert "later version" in e2e.read_text(copy.outside(CONFIG + ".dpkg-dist"))
            assert not os.path.islink(copy.outside(link)), "disabled stays disabled"
            assert copy.run("topdownd", "check-config", "--pmu", "sim").count("adaptive") > 0
            copy.run(*install, "/tmp/packages/this.deb")
            # removed, the configuration is still there; purged, nothing is
            copy.run("dpkg", "-r", "topdownd")
            assert not os.path.exists(copy.outside("/usr/sbin/topdownd"))
            assert e2e.read_text(copy.outside(CONFIG)) == edited
            copy.run("dpkg", "-P", "topdownd")
            left = {path for path in copy.changed() if "topdownd" in path}
            assert not left, left
            return "an edited configuration stays, and a purge leaves no file"


def test_an_installation_keeps_an_edited_configuration():
    need("cmake", "cmake")
    with tempfile.TemporaryDirectory() as folder:
        install = ["cmake", "--install", BUILD]
        ours = os.environ | {"DESTDIR": folder}
        run(*install, env=ours)
        assert e2e.read_text(folder + CONFIG) == e2e.read_text(f"{ROOT}/config/topdownd.yaml")
        e2e.write_text(folder + CONFIG, "listen: []\n")
        said = run(*install, env=ours)
        assert e2e.read_text(folder + CONFIG) == "listen: []\n" and f"Kept: {CONFIG}" in said, said


def test_it_builds_where_the_libraries_of_the_tests_are_missing():
    """A pkg-config that knows all packages but cmocka's."""
    need("pkg-config", "pkg-config")
    with tempfile.TemporaryDirectory() as folder:
        for path in reversed(run("pkg-config", "--variable", "pc_path", "pkg-config").strip().split(":")):
            for file in glob.glob(f"{path}/*.pc"):
                link = f"{folder}/{os.path.basename(file)}"
                if os.path.basename(file) != "cmocka.pc" and not os.path.exists(link):
                    os.symlink(file, link)
        for preset in ("release", "debug", "package"):
            said = run("cmake", "-S", ROOT, "--preset", preset, "-B", f"{folder}/{preset}",
                       env=os.environ | {"PKG_CONFIG_LIBDIR": folder})
            assert preset == "package" or "building without tests" in said, said
            assert "test_" not in run("ninja", "-C", f"{folder}/{preset}", "-t", "targets", "all")


def test_without_the_libraries_of_the_view_all_else_is_built():
    """Configuring says which packages it lacks."""
    need("pkg-config", "pkg-config")
    with tempfile.TemporaryDirectory() as folder:
        for path in reversed(run("pkg-config", "--variable", "pc_path", "pkg-config").strip().split(":")):
            for file in glob.glob(f"{path}/*.pc"):
                link = f"{folder}/{os.path.basename(file)}"
                if os.path.basename(file) not in ("ncursesw.pc", "libcurl.pc") and not os.path.exists(link):
                    os.symlink(file, link)
        said = run("cmake", "-S", ROOT, "--preset", "package", "-B", f"{folder}/package", env=os.environ | {"PKG_CONFIG_LIBDIR": folder})
        assert "libncurses-dev, libcurl4-gnutls-dev): building without topdownd top" in said, said
        assert "topdownd-top:" not in run("ninja", "-C", f"{folder}/package", "-t", "targets", "all")


def test_the_versions_agree():
    said = e2e.read_text(f"{ROOT}/packaging/deb/changelog")
    assert said.startswith(f"topdownd ({version()}-1) "), said
    spec = e2e.read_text(f"{ROOT}/packaging/rpm/topdownd.spec")
    assert re.search(rf"^Version: +{re.escape(version())}$", spec, re.M), spec
    for path in ("README.md", "docs/install.md", "docs/kubernetes.md", "packaging/ansible/topdownd.yml",
                 "packaging/ansible/group_vars/all.yml.example"):
        named = re.findall(r"topdownd[_:-](\d+\.\d+\.\d+)", e2e.read_text(f"{ROOT}/{path}"))
        assert named and set(named) == {version()}, (path, named)
    assert run(BINARY, "--version").startswith(f"topdownd {version()} (")


def test_the_spec_file_of_rpm_names_every_file_and_library():
    """A native build takes it; what it lists is what the other rpm has."""
    need("rpmspec", "rpm")
    spec = f"{ROOT}/packaging/rpm/topdownd.spec"
    parsed = run("rpmspec", "--parse", spec)
    listed = [re.sub(r"^%\S+ ", "", line) for line in parsed[parsed.index("%files"):].splitlines()[1:] if line]
    for path in run("rpm", "-qpl", rpm()).splitlines():
        assert any(path == name or path.startswith(name.rstrip("*") if name.endswith("*") else name + "/") or name.startswith(path)
                   for name in listed), path
    wanted = re.findall(r"^pkg_check_modules\(\S+ REQUIRED IMPORTED_TARGET (\S+?)(?: ?>=.*)?\)", e2e.read_text(f"{ROOT}/CMakeLists.txt"), re.M)
    assert wanted and all(f"pkgconfig({name})" in parsed for name in wanted), wanted


def test_the_remedies_are_the_same_wherever_they_are_told():
    """Of a kernel.perf_event_paranoid that lets nobody count without CAP_SYS_ADMIN."""
    folder = "/usr/share/topdownd/remedies"
    remedies = (f"cp {folder}/90-topdownd.conf /etc/sysctl.d/ && sysctl -p /etc/sysctl.d/90-topdownd.conf",
                f"install -Dm644 -t /etc/systemd/system/topdownd.service.d {folder}/cap-sys-admin.conf && "
                "systemctl daemon-reload && systemctl restart topdownd")
    for path in ("packaging/deb/postinst", "docs/install.md", "docs/topdownd.8"):
        text = e2e.read_text(f"{ROOT}/{path}")
        assert all(remedy in text for remedy in remedies), path
    for remedy, name in zip(remedies, ("90-topdownd.conf", "cap-sys-admin.conf")):
        assert remedy in e2e.read_text(f"{ROOT}/packaging/remedies/{name}"), name
    # the log, /api/v1/status and doctor have it from the program
    program = e2e.read_text(BINARY)
    assert all(remedy in program for remedy in remedies)


def bash_completes(*words):
    """What bash completes the last word with."""
    script = f""". {ROOT}/packaging/completion/topdownd.bash
        complete -p topdownd >/dev/null || exit 1
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _topdownd; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return set(run("bash", "--norc", "-c", script, "bash", BINARY, *words, cwd=ROOT).split())


def zsh_completes(*words):
    """The same of zsh, whose _arguments shows what it is given."""
    script = f"""_arguments() {{ print -l -- "$@"; }}
        words=("$@"); CURRENT=$#; source {ROOT}/packaging/completion/topdownd.zsh"""
    return run("zsh", "-f", "-c", script, "zsh", BINARY, *words, cwd=ROOT)


def zsh_shows(line):
    """What zsh itself shows in a terminal for the line; `topdownd` is the program."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(f"{ROOT}/packaging/completion/topdownd.zsh", f"{folder}/_topdownd")
        os.symlink(BINARY, f"{folder}/topdownd")
        script = f"""zmodload zsh/zpty
            zpty z zsh -f -i
            zpty -w z "PS1= ; PATH={folder}:$PATH; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D"
            zpty -w z "stty columns 200; bindkey '^Xl' list-choices; print begins; print {'-' * 9}"
            zpty -r z said '*begins*{'-' * 9}*'
            zpty -w -n z $'{line}\\C-xl'
            repeat 100; do sleep 0.1; zpty -r -t z part && said+=$part; [[ $said == *{{MARK}}* ]] && break; done
            print -r -- $said"""
        return run("zsh", "-f", "-c", script.replace("{MARK}", "--version"))


def options_of(*command):
    return set(re.findall(r"^  (--[a-z.]+)", run(BINARY, *command, "--help"), re.M))


def commands():
    said = run(BINARY, "--help")
    return re.findall(r"^  ([a-z][a-z-]*) ", said[said.index("\nCommands"):said.index("\nOptions")], re.M)


def words_of(command):
    return re.search(rf"^  {command} (\S+\|\S+)", run(BINARY, "--help"), re.M).group(1).split("|")


def test_bash_completes_every_command_option_and_value():
    need("bash", "bash")
    assert bash_completes("") == set(commands())
    for command in commands():
        assert bash_completes(command, "--") == options_of(command), command
    assert bash_completes("list", "") == set(words_of("list")) >= {"cpus", "groups"}
    assert bash_completes("help", "") == set(commands())
    assert bash_completes("--pmu", "") >= {"auto", "linux", "sim:", "replay:"}
    assert bash_completes("eval", "--format", "perf") == {"perf", "perfmon"}
    assert bash_completes("list", "groups", "--cpu", "neoverse-v") == {"neoverse-v1", "neoverse-v2", "neoverse-v3"}
    assert bash_completes("diff", "--by", "") == bash_completes("measure", "--by", "") == {"host", "socket", "cpu"}
    assert bash_completes("check-config", "--cpu", "zen") >= {"zen4", "zen5"} and bash_completes("check-config", "--host", "zen") == set()
    assert bash_completes("list", "metrics", "--group", "") == bash_completes("measure", "--groups", "") != set()
    assert bash_completes("--pmu", "replay", ":", "READ") == bash_completes("--config", "READ") == {"README.md"}


def test_zsh_completes_every_command_and_option():
    need("zsh", "zsh")
    for command in commands():
        said = zsh_completes(command, "--")
        assert set(re.findall(r"^(--[a-z.]+)", said, re.M)) == options_of(command), said
    said = zsh_completes("list", "")
    assert f"2: :({' '.join(words_of('list'))})" in said and "_topdownd_column cpus" in said, said
    assert all(("*: :_files" in zsh_completes(command, "")) == (command in ("check-config", "diff")) for command in commands())
    assert re.search(r"^--by=.*_topdownd_brackets --by$", zsh_completes("diff", ""), re.M)
    shown = zsh_shows("topdownd yield --")
    assert all(option in shown for option in options_of("yield")), shown


if __name__ == "__main__":
    need_cmake = shutil.which("cmake") and shutil.which("rpmbuild")
    if not need_cmake or not os.path.exists(f"{BUILD}/CPackConfig.cmake"):
        print("skipped: cmake and rpmbuild (Debian packages cmake, rpm) and a build folder are needed")
        sys.exit(e2e.SKIPPED)
    with tempfile.TemporaryDirectory() as made:
        MADE = packages.build(ROOT, f"{made}/source")
        e2e.run_tests()
