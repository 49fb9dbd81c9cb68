# SPDX-License-Identifier: Apache-2.0
"""Grafana's dashboards as the tests see them: their files, panels and queries, with the variables filled in as Grafana fills them."""

import glob
import json
import os
import re

import e2e

_, ROOT = e2e.arguments()
FOLDER = os.path.join(ROOT, "packaging/grafana")
OWN = {"datasource", "scheme", "role", "model", "host", "core_type"}  # variables of the dashboards
GRAFANAS = {"__rate_interval", "__value.text", "__url_time_range"}
VARIABLE = re.compile(r"\$\{([\w.]+)\}|\$(\w+)")


def load():
    """{file name: dashboard}."""
    return {os.path.basename(path): json.loads(e2e.read_text(path)) for path in sorted(glob.glob(os.path.join(FOLDER, "*.json")))}


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def queries(dashboard):
    """(title, PromQL) of each query of each panel, and of the marks on graphs."""
    return ([(panel["title"], target["expr"]) for panel in panels(dashboard) for target in panel["targets"]]
            + [(marks["name"], marks["expr"]) for marks in dashboard["annotations"]["list"]])


def variable_names(text):
    return {braced or plain for braced, plain in VARIABLE.findall(text)}


def fill(text, values):
    """A query with its variables filled in; those with several values are .* while all are chosen. label_replace's $1 stays."""
    values = {"__rate_interval": "1m", "role": ".*", "model": ".*", "host": ".*", "core_type": ".*"} | values
    return VARIABLE.sub(lambda m: m.group(0) if (m.group(2) or "").isdigit() else values[m.group(1) or m.group(2)], text)
