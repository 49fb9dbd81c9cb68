# SPDX-License-Identifier: Apache-2.0
"""TLS as Prometheus' exporters are told to speak it: certificates of server and clients, versions, renewal, and garbage."""

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import e2e
import web_files

BINARY, ROOT = e2e.arguments()
FILES = web_files.Files()
FILES.authority()
FILES.authority("other")
FILES.certificate("server")
FILES.certificate("client", "clientAuth")
FILES.certificate("stranger", "clientAuth", "other")
V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def own_files():
    """A case's own configuration and certificates: cases run beside each other, and none writes into the common folder."""
    files = web_files.Files()
    shutil.copytree(FILES.folder.name, files.folder.name, dirs_exist_ok=True)
    files.serial = 100
    return files


def seconds(text):
    """Of a time as openssl prints it, since the epoch."""
    return ssl.cert_time_to_seconds(text.strip().split("=", 1)[1])


def test_the_metric_is_when_the_certificate_in_force_expires():
    files = own_files()
    name = "topdownd_tls_certificate_expiry_timestamp_seconds"
    with web_files.Served(files.tls()) as daemon:
        tls = web_files.context(files)

        def shows(certificate):
            wanted = seconds(web_files.openssl("x509", "-in", files.path(certificate), "-noout", "-enddate"))
            page = web_files.ask(daemon.port, tls=tls).text()
            return name in page and e2e.value_of(page, name) == wanted
        e2e.wait_for(lambda: shows("server.pem"), "the first certificate's")
        assert f"{files.path('server.pem')}: this certificate expires in " in daemon.log(), daemon.log()
        files.certificate("longer", days=400)
        for kind in ("pem", "key"):
            os.rename(files.path(f"longer.{kind}"), files.path(f"server.{kind}"))
        before = daemon.log().count("this certificate expires")
        e2e.wait_for(lambda: shows("server.pem"), "the new certificate's")
        assert daemon.log().count("this certificate expires") == before, "400 days are long enough"
        assert daemon.stop() >= 0
    with web_files.Served(files.write("http_server_config:\n")) as daemon:
        assert name not in web_files.ask(daemon.port).text()
        assert daemon.stop() >= 0


def successful(port, tls):
    return e2e.value_of(web_files.ask(port, tls=tls).text(), "topdownd_config_last_reload_successful")


def test_a_client_that_trusts_the_authority_is_served_and_no_other_trusts_the_server():
    files = own_files()
    with web_files.Served(files.tls()) as daemon:
        assert f"look at https://127.0.0.1:{daemon.port}/" in daemon.log()
        assert b"topdownd_build_info" in web_files.ask(daemon.port, tls=web_files.context(files)).body
        assert web_files.status(daemon.port, tls=web_files.context(files, "other")) is None
        assert web_files.status(daemon.port) is None  # HTTP without TLS
        done = subprocess.run(["curl", "-sS", "--cacert", files.path("ca.pem"), f"https://localhost:{daemon.port}/metrics"],
                              capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        assert done.returncode == 0 and "topdownd_build_info" in done.stdout, done.stderr
        assert daemon.stop() >= 0


def test_each_client_auth_type_takes_the_certificates_that_its_name_says():
    # without a certificate, with one of the authority, with one of another, with one that is not for clients
    takes = {"NoClientCert": (200, 200, 200, 200), "RequestClientCert": (200, 200, 200, 200),
             "RequireAnyClientCert": (None, 200, 200, 200), "VerifyClientCertIfGiven": (200, 200, None, None),
             "RequireAndVerifyClientCert": (None, 200, None, None)}
    for kind, expected in takes.items():
        files = own_files()
        ca = {"client_ca_file": "ca.pem"} if "Verify" in kind else {}
        with web_files.Served(files.tls(client_auth_type=kind, **ca)) as daemon:
            for version in (V12, V13):
                got = tuple(web_files.status(daemon.port, path="/-/healthy",
                                             tls=web_files.context(files, certificate=certificate, highest=version))
                            for certificate in (None, "client", "stranger", "server"))
                assert got == expected, (kind, version, got)
            assert daemon.stop() >= 0


def test_versions_are_those_that_are_allowed():
    for keys, fine, refused in (({}, (V12, V13), (ssl.TLSVersion.TLSv1_1,)), ({"min_version": "TLS13"}, (V13,), (V12,)),
                                ({"max_version": "TLS12"}, (V12,), (V13,)),
                                ({"min_version": "TLS10"}, (ssl.TLSVersion.TLSv1, V12, V13), ())):
        files = own_files()
        with web_files.Served(files.tls(**keys)) as daemon:
            for version in fine + refused:
                got = web_files.status(daemon.port, path="/-/healthy", tls=web_files.context(files, lowest=version, highest=version))
                assert got == (200 if version in fine else None), (keys, version, got)


def test_curves_are_those_that_are_allowed():
    files = own_files()
    with web_files.Served(files.tls(curve_preferences="[X25519]", prefer_server_cipher_suites="false")) as daemon:
        for curve, fine in (("X25519", True), ("P-256", False)):
            done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{daemon.port}", "-curves", curve, "-tls1_3"],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
            assert ("Server Temp Key: X25519" in done.stdout) == fine, done.stdout


def open_files(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def test_garbage_holds_up_nobody_and_leaves_nothing_behind():
    files = own_files()
    with web_files.Served(files.tls()) as daemon:
        tls, rounds = web_files.context(files), 40
        before = web_files.ask(daemon.port, tls=tls).status and open_files(daemon)
        hello = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out := ssl.MemoryBIO(), server_hostname="localhost")
        try:
            hello.do_handshake()
        except ssl.SSLWantReadError:
            hello = out.read()
        silent = []
        for i in range(rounds):
            for bytes_ in (os.urandom(300), b"GET /metrics HTTP/1.1\r\n\r\n", hello[:40 + i], hello + os.urandom(200),
                           b"\x16\x03\x01\xff\xff" + bytes(100)):
                s = socket.create_connection(("127.0.0.1", daemon.port), e2e.TIMEOUT)
                s.sendall(bytes_)
                silent.append(s)
            if i % 10 == 0:
                assert web_files.ask(daemon.port, tls=tls, path="/-/healthy").status == 200
        for s in silent:
            s.close()
        e2e.wait_for(lambda: open_files(daemon) <= before, "their connections to end")
        assert web_files.ask(daemon.port, tls=tls).status == 200
        assert daemon.stop() >= 0
    return f"{len(silent)} connections"


def ask_slowly(port, tls, before, after):
    """A client that stops for so many seconds within its handshake, and between it and its request. Returns its answer, b"" where it was
    reset, and the seconds from the connection to the end of the handshake, and from there to the request, or to the reset before either."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session, moments, answer = tls.wrap_bio(incoming, outgoing, server_hostname="localhost"), [time.monotonic()], b""
    pauses = [before]

    def pump(call, *words):
        while True:
            try:
                done = call(*words)
                connection.sendall(outgoing.read())
                return done
            except ssl.SSLWantReadError:
                connection.sendall(outgoing.read())
                more = connection.recv(1 << 16)
                if not more:
                    raise ConnectionResetError from None
                time.sleep(pauses.pop() if pauses else 0)  # when the server's part of the handshake has come
                incoming.write(more)

    with socket.create_connection(("127.0.0.1", port), e2e.TIMEOUT) as connection:
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            pump(session.do_handshake)
            moments.append(time.monotonic())
            time.sleep(after)
            pump(session.write, b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            moments.append(time.monotonic())
            answer = pump(session.read, 1 << 16)
        if len(moments) < 3:
            moments.append(time.monotonic())
    return answer, [later - earlier for earlier, later in zip(moments, moments[1:])]


def test_a_handshake_has_its_own_time_and_the_request_line_has_another():
    """HTTP_HANDSHAKE_MS_MAX and HTTP_SILENT_MS_MAX of exporters/http/http_connections.h. A client on a busy machine may be late by itself, and
    is then no judge."""
    files = own_files()
    with web_files.Served(files.tls()) as daemon:
        for version in (V12, V13):
            tls, tried = web_files.context(files, highest=version), []
            while not tried or not tried[-1][0]:
                answer, took = ask_slowly(daemon.port, tls, 3, 1)
                tried.append((answer[:15], took))
                late = took[0] > 4.5 or sum(took) - took[0] > 1.8
                assert answer.startswith(b"HTTP/1.1 200") or (late and len(tried) < 5), (version, tried)
        assert daemon.stop() >= 0


def test_who_never_ends_a_handshake_and_who_is_silent_after_it_are_thrown_out():
    files = own_files()
    with web_files.Served(files.tls()) as daemon:
        tls, begun = web_files.context(files), time.monotonic()
        with socket.create_connection(("127.0.0.1", daemon.port), e2e.TIMEOUT) as never, \
                socket.create_connection(("127.0.0.1", daemon.port), e2e.TIMEOUT) as plain, tls.wrap_socket(plain, server_hostname="localhost") as silent:
            with contextlib.suppress(ConnectionError):
                assert silent.recv(1) == b""
            after_handshake = time.monotonic() - begun
            with contextlib.suppress(ConnectionError):
                assert never.recv(1) == b""
            assert 1.9 <= after_handshake and 4.9 <= time.monotonic() - begun  # topdownd's clock has whole milliseconds
        assert daemon.stop() >= 0


class Scraper(threading.Thread):
    """Scrapes all the time over connections of its own, and one that stays."""

    def __init__(self, port, tls):
        super().__init__()
        self.port, self.tls, self.answers, self.wrong, self.ending = port, tls, 0, [], False

    def run(self):
        kept = web_files.connect(self.port, self.tls)
        while not self.ending:
            try:
                kept.request("GET", "/metrics")
                for answer in (e2e.Answer(kept.getresponse()), web_files.ask(self.port, tls=self.tls)):
                    if answer.status != 200 or b"topdownd_build_info" not in answer.body:
                        self.wrong.append(answer.status)
                    self.answers += 1
            except Exception as error:  # pylint: disable=broad-except
                self.wrong.append(repr(error))
            time.sleep(0.01)
        kept.close()


def test_a_certificate_is_renewed_under_load_without_a_scrape_that_fails():
    files = own_files()
    with web_files.Served(files.tls()) as daemon:
        tls = web_files.context(files)
        # written just before the start, so it is read once more
        e2e.wait_for(lambda: "the web configuration was read again and is in force" in daemon.log(), "the first look")
        scraper = Scraper(daemon.port, tls)
        scraper.start()
        try:
            for _ in range(3):
                serial = files.certificate("renewed")
                for kind in ("pem", "key"):  # one after the other, as most clients of authorities do
                    os.rename(files.path(f"renewed.{kind}"), files.path(f"server.{kind}"))
                e2e.wait_for(lambda: web_files.serial_at(daemon.port, tls) == serial, "the new certificate")
        finally:
            scraper.ending = True
            scraper.join(e2e.TIMEOUT)
        assert scraper.answers > 20 and not scraper.wrong, (scraper.answers, scraper.wrong[:5])
        assert successful(daemon.port, tls) == 1
        assert "is not in force" not in daemon.log(), daemon.log()
        assert daemon.log().count("the web configuration was read again and is in force") == 4, daemon.log()
        assert daemon.stop() >= 0
    return f"{scraper.answers} scrapes"


def test_a_certificate_that_is_wrong_changes_nothing_and_is_shown():
    files = own_files()
    with web_files.Served(files.tls()) as daemon:
        tls = web_files.context(files)
        before = web_files.serial_at(daemon.port, tls)
        files.certificate("renewed")
        os.rename(files.path("renewed.key"), files.path("server.key"))
        e2e.wait_for(lambda: successful(daemon.port, tls) == 0, "the failure to show")
        log = daemon.log()
        assert f"{files.path('web.yml')}:3:13: {files.path('server.key')}: this key is not the one of the certificate" in log, log
        assert web_files.serial_at(daemon.port, tls) == before
        os.rename(files.path("renewed.pem"), files.path("server.pem"))
        e2e.wait_for(lambda: successful(daemon.port, tls) == 1, "the repair")
        assert web_files.serial_at(daemon.port, tls) == files.serial
        assert daemon.log().count("this key is not the one") == 1, daemon.log()


def test_a_reload_reads_it_at_once_or_says_what_is_wrong():
    files = own_files()
    with tempfile.TemporaryDirectory() as folder, web_files.Served(files.tls(), "--path.run", folder) as daemon:
        reload = lambda: subprocess.run([BINARY, "reload", "--path.run", folder], capture_output=True, text=True,
                                        timeout=e2e.TIMEOUT, check=False)
        tls = web_files.context(files, highest=V12)
        e2e.wait_for(lambda: web_files.status(daemon.port, path="/-/ready", tls=tls) == 200, "the first round")
        for text, says in (("tls_server_config: {cert_file: absent.pem, key_file: server.key}", "absent.pem: cannot be read: No such"),
                           ("tls_server_cfg: {}", 'unknown key "tls_server_cfg": did you mean "tls_server_config"?'),
                           (web_files.users(), "tls_server_config cannot come or go while topdownd runs: restart it")):
            files.write(text)
            done = reload()
            assert done.returncode != 0 and says in done.stderr, done
            assert web_files.status(daemon.port, tls=tls) == 200
        e2e.wait_for(lambda: successful(daemon.port, tls) == 0, "the failure to show")
        files.tls(min_version="TLS13")
        done = reload()
        assert done.returncode == 0, done
        assert web_files.status(daemon.port, tls=tls) is None
        e2e.wait_for(lambda: successful(daemon.port, web_files.context(files)) == 1, "the success to show")


def cipher_of(port, files, version, ciphers="ALL"):
    """What a client that offers these ciphers gets; None: no connection."""
    tls = web_files.context(files, lowest=version, highest=version)
    tls.set_ciphers(ciphers)
    try:
        with socket.create_connection(("127.0.0.1", port), e2e.TIMEOUT) as plain, \
                tls.wrap_socket(plain, server_hostname="localhost") as wrapped:
            return wrapped.cipher()[0]
    except (ssl.SSLError, ConnectionError):
        return None


def test_cipher_suites_are_those_that_are_named():
    files = own_files()
    strong, weaker = "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-GCM-SHA256"
    with web_files.Served(files.tls(cipher_suites="[TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]")) as daemon:
        assert cipher_of(daemon.port, files, V12) == strong
        assert cipher_of(daemon.port, files, V12, weaker) is None
        assert cipher_of(daemon.port, files, V13) == "TLS_AES_256_GCM_SHA384"
        files.tls(cipher_suites="[]")
        e2e.wait_for(lambda: cipher_of(daemon.port, files, V12, weaker) == weaker, "the library's own suites")
    for suites, says in (("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "would also offer TLS_ECDHE_"),
                         ("TLS_RSA_WITH_RC4_128_SHA", "is not in Go's list of secure suites")):
        done = check("--web.config.file", files.tls(cipher_suites=f"[{suites}]"))
        assert done.returncode == 2 and says in done.stderr, done
    done = check("--web.config.file", files.tls(min_version="TLS13", cipher_suites="[TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]"))
    assert done.returncode == 2 and "has none of these versions, curves or cipher suites" in done.stderr, done


def check(*options):
    return subprocess.run([BINARY, "check-config", "--pmu", "sim", "--config", "/dev/null", "--path.data", ROOT, *options],
                          capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)


def test_check_config_and_the_start_refuse_what_is_wrong_with_a_remedy():
    files = own_files()
    e2e.write_text(files.path("empty.pem"), "")
    openssl_locked = files.path("locked.key")
    web_files.openssl("pkcs8", "-topk8", "-in", files.path("server.key"), "-out", openssl_locked, "-passout", "pass:x")
    for keys, says in (({"cert_file": "empty.pem"}, ":2:14: {0}/empty.pem: this is no certificate in PEM"),
                       ({"key_file": "empty.pem"}, ":3:13: {0}/empty.pem: this is no private key in PEM"),
                       ({"key_file": "client.key"}, ":3:13: {0}/client.key: this key is not the one of the certificate"),
                       ({"key_file": "locked.key"}, ":3:13: {0}/locked.key: the key needs a password"),
                       ({"cert_file": "/dev/zero"}, "/dev/zero: cannot be read: "), ({"cert_file": "."}, ": cannot be read: Is a directory"),
                       ({"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": "empty.pem"},
                        "empty.pem: there is no certificate in PEM in it")):
        web = files.tls(**keys)
        done = check("--web.config.file", web)
        says = web + says.format(files.folder.name) if says.startswith(":2") or says.startswith(":3") else says
        assert done.returncode == 2 and says in done.stderr, (keys, done.stderr)
        status, log = e2e.run_daemon("--pmu", "sim", "--web.config.file", web)
        assert status == 2 and says in log, (keys, log)


def test_an_address_that_others_reach_is_warned_of_unless_it_is_protected():
    warning = "everybody who reaches 0.0.0.0:1 can read what this host does: name a file with TLS or passwords"
    files = own_files()
    assert warning in check("--listen", "0.0.0.0:1").stdout and warning not in check("--listen", "127.0.0.1:1").stdout
    for web in (files.tls(), files.write(web_files.users(), "users.yml")):
        done = check("--listen", "0.0.0.0:1", "--web.config.file", web)
        assert done.returncode == 0 and warning not in done.stdout and f"{web}: no mistakes" in done.stdout, done
    headers = files.write("http_server_config: {headers: {X-Frame-Options: deny}}", "headers.yml")
    assert warning in check("--listen", "0.0.0.0:1", "--web.config.file", headers).stdout


if __name__ == "__main__":
    e2e.run_tests()
