#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes topdownd-fleet.json and topdownd-host.json beside it, the dashboards that Grafana imports."""

import json
import os

import fleet_dashboard
import host_dashboard


def texts():
    """{file name: content}."""
    return {f"{module.UID}.json": json.dumps(module.dashboard(), indent=2, ensure_ascii=False) + "\n"
            for module in (fleet_dashboard, host_dashboard)}


if __name__ == "__main__":
    for name, content in texts().items():
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "w", encoding="utf-8") as file:
            file.write(content)
