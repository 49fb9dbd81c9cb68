# SPDX-License-Identifier: Apache-2.0
"""What the tests of TLS and passwords share: certificates made by openssl, web configurations, and clients."""

import base64
import http.client
import os
import re
import socket
import ssl
import subprocess
import tempfile

import e2e

# of the password "secret", at the least cost and at the usual one
HASHES = {4: "$2y$04$9hWVWUlMW.dwRhwsmpp9uukXx7aOXVfO8ENR/B0F3m27LpB8fYnrC",
          10: "$2y$10$oKUwESTllhRuR5a7yveDgu71i0OSCCHg3WEnzp4qW/r7zktXaDm5i"}


def openssl(*words):
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Files:
    """A folder with certificates and web configurations."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.serial = 1

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def authority(self, name="ca"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.path(f"{name}.key"),
                "-out", self.path(f"{name}.pem"), "-subj", f"/CN={name}", "-days", "2")

    def certificate(self, name, usage="serverAuth", authority="ca", days=2):
        """Makes NAME.pem and NAME.key; returns the serial number."""
        self.serial += 1
        e2e.write_text(self.path(f"{name}.ext"), f"subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage={usage}\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.path(f"{name}.key"),
                "-out", self.path(f"{name}.csr"), "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", self.path(f"{name}.csr"), "-CA", self.path(f"{authority}.pem"), "-CAkey",
                self.path(f"{authority}.key"), "-set_serial", str(self.serial), "-out", self.path(f"{name}.pem"), "-days", str(days),
                "-extfile", self.path(f"{name}.ext"))
        return self.serial

    def write(self, text, name="web.yml"):
        """A web configuration, put in the place of the one before as a whole."""
        e2e.write_text(self.path(name + ".new"), text)
        os.rename(self.path(name + ".new"), self.path(name))
        return self.path(name)

    def tls(self, **more):
        """A web configuration with the certificate "server"."""
        keys = {"cert_file": "server.pem", "key_file": "server.key"} | more
        return self.write("tls_server_config:\n" + "".join(f"  {key}: {value}\n" for key, value in keys.items()))


def users(cost=4, **hashes):
    return "basic_auth_users:\n" + "".join(f"  {name}: {value}\n" for name, value in ({"alice": HASHES[cost]} | hashes).items())


class Served(e2e.Daemon):
    """A simulated host that serves as the web configuration says."""

    def __init__(self, web, *options, pmu="sim", **settings):
        super().__init__("--pmu", pmu, "--web.config.file", web, *options, **settings)

    def find_port(self):
        found = re.search(r"look at https?://127\.0\.0\.1:(\d+)/", self.log())
        assert found or not self.ended(), f"ended with status {self.process.returncode}; it said:\n{self.log()}"
        return int(found.group(1)) if found else None


def context(files, authority="ca", certificate=None, lowest=None, highest=None):
    """How a client speaks TLS."""
    made = ssl.create_default_context(cafile=files.path(f"{authority}.pem"))
    made.set_ciphers("DEFAULT:@SECLEVEL=0")
    made.minimum_version = lowest or ssl.TLSVersion.TLSv1
    if highest:
        made.maximum_version = highest
    if certificate:
        made.load_cert_chain(files.path(f"{certificate}.pem"), files.path(f"{certificate}.key"))
    return made


def basic(name, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def connect(port, tls=None, timeout=e2e.TIMEOUT, source=None):
    """Not connected yet; from the address `source`, one of the loopback's."""
    come = {"timeout": timeout, "source_address": (source, 0) if source else None}
    if tls:
        return http.client.HTTPSConnection("127.0.0.1", port, context=tls, **come)
    return http.client.HTTPConnection("127.0.0.1", port, **come)


def ask(port, path="/metrics", tls=None, headers=None, source=None):
    connection = connect(port, tls, source=source)
    try:
        connection.request("GET", path, headers=headers or {})
        return e2e.Answer(connection.getresponse())
    finally:
        connection.close()


def status(port, **how):
    """Of an answer; None where there is none, because TLS has failed or the connection was closed."""
    try:
        return ask(port, **how).status
    except (ssl.SSLError, ConnectionError, http.client.BadStatusLine):
        return None


def serial_at(port, tls):
    """The serial number of the server's certificate."""
    with socket.create_connection(("127.0.0.1", port), e2e.TIMEOUT) as plain, \
            tls.wrap_socket(plain, server_hostname="localhost") as wrapped:
        return int(wrapped.getpeercert()["serialNumber"], 16)
