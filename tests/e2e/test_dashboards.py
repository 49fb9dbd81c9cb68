# SPDX-License-Identifier: Apache-2.0
"""Grafana's dashboards in their structure: what an import needs, and what every panel has. test_fleet.py runs their queries."""

import glob
import importlib
import itertools
import os
import re
import sys

import grafana
import e2e

_, ROOT = e2e.arguments()
LOADED = grafana.load()
FLEET, HOST = "topdownd-fleet", "topdownd-host"
COLUMNS = 24
PROMQL_WORD = re.compile(r"[a-zA-Z_][\w:]*")


def by_uid(uid):
    return next(dashboard for dashboard in LOADED.values() if dashboard["uid"] == uid)


def every_panel():
    return [(name, panel) for name, dashboard in LOADED.items() for panel in grafana.panels(dashboard)]


def test_the_files_are_what_their_program_writes():
    sys.path.insert(0, grafana.FOLDER)
    sys.dont_write_bytecode = True
    written = importlib.import_module("dashboards").texts()
    assert {name: e2e.read_text(os.path.join(grafana.FOLDER, name)) for name in LOADED} == written, "run dashboards.py"


def test_grafana_10_and_later_can_import_them():
    assert sorted(LOADED) == [f"{FLEET}.json", f"{HOST}.json"]
    for name, dashboard in LOADED.items():
        assert name == dashboard["uid"] + ".json" and dashboard["id"] is None
        assert 38 <= dashboard["schemaVersion"] <= 41, "Grafana 10 to 11"
        assert dashboard["title"] and dashboard["description"].endswith(".") and "topdownd" in dashboard["tags"]
        source = dashboard["templating"]["list"][0]
        assert source["type"] == "datasource" and source["query"] == "prometheus" and dashboard["__inputs"] == []
        kinds = {panel["type"] for panel in grafana.panels(dashboard)}
        assert {each["id"] for each in dashboard["__requires"] if each["type"] == "panel"} == kinds
        assert kinds <= {"timeseries", "stat", "table"}, "panels that every Grafana has"
    titles = [dashboard["title"] for dashboard in LOADED.values()]
    assert len(set(titles)) == len(titles)


def test_every_panel_says_what_it_shows_and_in_which_unit():
    for name, panel in every_panel():
        about = (name, panel["title"])
        assert panel["title"] and panel["description"].endswith("."), about
        assert panel["fieldConfig"]["defaults"]["unit"] in ("none", "short", "s", "percentunit", "hertz", "ops", "Bps"), about
        references = [target["refId"] for target in panel["targets"]]
        assert references and len(set(references)) == len(references), about
        for each in (panel, *panel["targets"]):
            assert each["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, about
        shares = "ratio5m" in panel["targets"][0]["expr"] and "mpki" not in panel["targets"][0]["expr"]
        if shares and not re.search(r"ipc|frequency", panel["targets"][0]["expr"]):
            assert panel["fieldConfig"]["defaults"]["unit"] == "percentunit", about
    return f"{len(every_panel())} panels"


def test_panels_have_ids_and_places_of_their_own():
    for name, dashboard in LOADED.items():
        ids = [panel["id"] for panel in dashboard["panels"]]
        assert len(set(ids)) == len(ids), name
        places = [panel["gridPos"] for panel in dashboard["panels"]]
        for a in places:
            assert a["x"] >= 0 and a["x"] + a["w"] <= COLUMNS and a["w"] > 0 and a["h"] > 0, (name, a)
        for a, b in itertools.combinations(places, 2):
            apart = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"] or a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
            assert apart, (name, a, b)


def test_variables_are_there_are_explained_and_are_used():
    for name, dashboard in LOADED.items():
        variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
        assert variables.keys() >= {"role", "model", "host"}
        for variable in variables.values():
            assert variable["label"] and (variable["type"] == "datasource" or variable["description"].endswith(".")), variable
        texts = [promql for _, promql in grafana.queries(dashboard)]
        texts += [variable["query"]["query"] for variable in variables.values() if variable["type"] == "query"]
        texts += [link["url"] for link in links(dashboard)]
        used = set.union(*map(grafana.variable_names, texts))
        used = {each for each in used if not each.isdigit()} - grafana.GRAFANAS
        assert used == variables.keys(), (name, used ^ variables.keys())


def links(dashboard):
    """All links of a dashboard: its own, and those of panels' fields."""
    found = list(dashboard["links"])
    for panel in grafana.panels(dashboard):
        found += panel["fieldConfig"]["defaults"].get("links", [])
        for override in panel["fieldConfig"]["overrides"]:
            found += [link for each in override["properties"] if each["id"] == "links" for link in each["value"]]
    return found


def test_links_lead_to_the_host_to_its_page_and_back():
    urls = {uid: [link["url"] for link in links(by_uid(uid))] for uid in (FLEET, HOST)}
    assert any(f"/d/{HOST}?" in url and "var-host=${__value.text}" in url for url in urls[FLEET])
    assert any(url == "${scheme}://${__value.text}/" for url in urls[FLEET])
    assert any(url == "${scheme}://${host}/" for url in urls[HOST]) and any(f"/d/{FLEET}?" in url for url in urls[HOST])
    for url in itertools.chain(*urls.values()):
        if url.startswith("/d/"):
            uid, arguments = re.fullmatch(r"/d/([\w-]+)\?(.*)", url).groups()
            known = {variable["name"] for variable in by_uid(uid)["templating"]["list"]}
            assert set(re.findall(r"var-(\w+)=", arguments)) <= known, url


def test_queries_name_documented_and_recorded_series_only():
    documented = e2e.read_text(os.path.join(ROOT, "docs/metrics.md"))
    rules = glob.glob(os.path.join(ROOT, "packaging/prometheus/topdownd.*.yml"))
    recorded = {name for path in rules for name in re.findall(r"record: (\S+)", e2e.read_text(path))}
    asked = set()
    for _, promql in itertools.chain(*(grafana.queries(dashboard) for dashboard in LOADED.values())):
        names = {word for word in PROMQL_WORD.findall(re.sub(r'"[^"]*"', "", promql)) if "topdownd_" in word or ":" in word}
        asked |= names
        for name in names:
            assert name in recorded if ":" in name else f"`{name}`" in documented, f"nobody documents or records {name}"
    return f"{len(asked)} names, {sum(':' in name for name in asked)} of them recorded"


if __name__ == "__main__":
    e2e.run_tests()
