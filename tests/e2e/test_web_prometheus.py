# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus and topdownd are protected by one web configuration file, and Prometheus scrapes with what it asks for."""

import json
import os
import urllib.parse

import e2e
import web_files

PROMETHEUS = "/usr/bin/prometheus"
BINARY, ROOT = e2e.arguments()
INTERVAL_SECONDS = 4
GOOD = web_files.basic("alice", "secret")


def job(name, port, ca="ca.pem", certificate="client", password="secret"):
    key = f", cert_file: {certificate}.pem, key_file: {certificate}.key" if certificate else ""
    return (f"  - job_name: {name}\n    scheme: https\n    tls_config: {{ca_file: {ca}{key}}}\n"
            f"    basic_auth: {{username: alice, password: {password}}}\n    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n")


def start_prometheus(files, web, jobs):
    port = e2e.free_port()
    config = e2e.write_text(files.path("prometheus.yml"),
                            f"global: {{scrape_interval: {INTERVAL_SECONDS}s, scrape_timeout: {INTERVAL_SECONDS}s}}\n"
                            "scrape_configs:\n" + "".join(jobs))
    return port, e2e.Program([PROMETHEUS, f"--config.file={config}", f"--storage.tsdb.path={files.path('data')}",
                              f"--web.listen-address=127.0.0.1:{port}", f"--web.config.file={web}", "--log.level=warn"])


def test_prometheus_scrapes_what_one_file_protects_and_only_with_what_it_asks_for():
    if not os.access(PROMETHEUS, os.X_OK):
        raise e2e.Skip("prometheus is not installed (Debian package prometheus)")
    files = web_files.Files()
    files.authority()
    files.authority("other")
    files.certificate("server")
    files.certificate("client", "clientAuth")
    files.certificate("stranger", "clientAuth", "other")
    web = files.write("tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n  client_ca_file: ca.pem\n"
                      "  client_auth_type: RequireAndVerifyClientCert\n  min_version: TLS12\n"
                      "http_server_config:\n  headers: {X-Frame-Options: deny}\n" + web_files.users(10))
    tls = web_files.context(files, certificate="client")
    with web_files.Served(web) as daemon:
        port, program = start_prometheus(files, web, [
            job("right", daemon.port), job("wrong_password", daemon.port, password="guess"),
            job("no_certificate", daemon.port, certificate=None), job("stranger", daemon.port, certificate="stranger"),
            job("wrong_authority", daemon.port, ca="other.pem")])
        with program:
            def query(promql):
                with_query = "/api/v1/query?" + urllib.parse.urlencode({"query": promql})
                answer = json.loads(web_files.ask(port, with_query, tls=tls, headers=GOOD).body)
                return {r["metric"]["job"]: float(r["value"][1]) for r in answer["data"]["result"]}
            e2e.wait_for(lambda: status_of(port, tls) == 200 or program.ended(), "Prometheus to be ready")
            assert not program.ended(), program.log()
            e2e.wait_for(lambda: min(query("count_over_time(up[1m])").values(), default=0) >= 3 and
                         len(query("up")) == 5, "some scrapes of all jobs")
            assert query("max_over_time(up[1m])") == {"right": 1, "wrong_password": 0, "no_certificate": 0, "stranger": 0,
                                                      "wrong_authority": 0}
            slowest = query("max_over_time(scrape_duration_seconds[1m])")["right"]
            assert query("min_over_time(up[1m])")["right"] == 1 or slowest >= INTERVAL_SECONDS, "only a busy host may be too late"
            assert query("topdownd_build_info") == {"right": 1}
            # both answer a client in the same way
            for target in (daemon.port, port):
                for headers, expected in ((GOOD, 200), ({}, 401), (web_files.basic("alice", "x"), 401)):
                    answer = web_files.ask(target, "/-/healthy", tls=tls, headers=headers)
                    assert answer.status == expected and answer.headers["X-Frame-Options"] == "deny", (target, headers)
                assert web_files.status(target, tls=web_files.context(files)) is None
        assert daemon.stop() >= 0
    return f"slowest scrape {slowest:.3f} s"


def status_of(port, tls):
    try:
        return web_files.status(port, path="/-/ready", tls=tls, headers=GOOD)
    except OSError:
        return None


if __name__ == "__main__":
    e2e.run_tests()
