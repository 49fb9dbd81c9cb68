# SPDX-License-Identifier: Apache-2.0
"""What Grafana's dashboards are made of: panels of three kinds, rows, template variables and links, as plain data.

A panel has a title, a description, a unit and queries; its place follows from its width and height, in the order of the list.
All queries go to the data source that the dashboard's variable names, so one file serves import and provisioning.
"""

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS = 24
# Told apart also by the colour-blind, and by the order of the stack.
COLOURS = {"frontend_bound": "#E69F00", "bad_speculation": "#CC79A7", "retiring": "#56B4E9", "backend_bound": "#0072B2"}


def target(number, promql, legend, table):
    shape = {"format": "table", "instant": True, "range": False} if table else {"format": "time_series", "instant": False, "range": True}
    return {"datasource": SOURCE, "editorMode": "code", "expr": promql, "legendFormat": legend, "refId": chr(ord("A") + number), **shape}


def panel(kind, title, description, unit, queries, size, field=None, **more):
    """A panel; `queries` are (PromQL, legend) pairs, `size` is width and height, `field` goes into the defaults of its fields."""
    table = kind == "table" or more.pop("instant", False)
    return {
        "type": kind, "title": title, "description": description, "datasource": SOURCE,
        "gridPos": {"w": size[0], "h": size[1], "x": 0, "y": 0},
        "fieldConfig": {"defaults": {"unit": unit, **(field or {})}, "overrides": more.pop("overrides", [])},
        "targets": [target(i, promql, legend, table) for i, (promql, legend) in enumerate(queries)], **more}


def colours():
    return [{"matcher": {"id": "byName", "options": name},
             "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}]} for name, colour in COLOURS.items()]


def lines(title, description, unit, queries, size=(8, 8), field=None, links=()):
    """Lines over time; the legend is a table with the last value."""
    custom = {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 0, "showPoints": "never", "spanNulls": False}
    return panel("timeseries", title, description, unit, queries, size, {"custom": custom, "links": list(links), **(field or {})},
                 options={"legend": {"displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull"], "showLegend": True},
                          "tooltip": {"mode": "multi", "sort": "desc"}})


def stack(title, description, unit, queries, size=(12, 9), field=None):
    """Parts of a whole over time; level-1 categories have the same colours everywhere."""
    custom = {"drawStyle": "line", "lineWidth": 0, "fillOpacity": 80, "showPoints": "never", "stacking": {"mode": "normal", "group": "A"}}
    return panel("timeseries", title, description, unit, queries, size, {"min": 0, "custom": custom, **(field or {})}, overrides=colours(),
                 options={"legend": {"displayMode": "list", "placement": "bottom", "calcs": [], "showLegend": True},
                          "tooltip": {"mode": "multi", "sort": "none"}})


def number(title, description, unit, queries, size=(4, 4), steps=(), links=()):
    """One large number; `steps` are (from, colour) pairs above a neutral base."""
    thresholds = {"mode": "absolute", "steps": [{"color": "text", "value": None}] + [{"color": c, "value": v} for v, c in steps]}
    return panel("stat", title, description, unit, queries, size, {"thresholds": thresholds, "links": list(links), "noValue": "0"},
                 instant=True, options={"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value",
                                        "graphMode": "none", "textMode": "auto", "justifyMode": "auto", "orientation": "auto"})


def table(title, description, unit, queries, size, hide=(), names=None, units=None, host_links=()):
    """One row for each series. `hide` drops columns, `names` renames them; `host_links` hang on the column of the host."""
    overrides = [{"matcher": {"id": "byName", "options": column}, "properties": [{"id": "unit", "value": u}]}
                 for column, u in (units or {}).items()]
    if host_links:
        overrides.append({"matcher": {"id": "byName", "options": "host"}, "properties": [{"id": "links", "value": list(host_links)}]})
    dropped = ["Time", "__name__", "job", "simulated", *hide]
    organise = {"id": "organize", "options": {"excludeByName": {name: True for name in dropped}, "indexByName": {},
                                              "renameByName": {"instance": "host", **(names or {})}}}
    merge = [{"id": "merge", "options": {}}] if len(queries) > 1 else []
    return panel("table", title, description, unit, queries, size, {"custom": {"align": "auto", "filterable": True}}, overrides=overrides,
                 options={"showHeader": True, "cellHeight": "sm"}, transformations=[*merge, organise])


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": {"w": COLUMNS, "h": 1, "x": 0, "y": 0}}


def variable(name, label, query, description, **more):
    """A template variable that Prometheus fills; `All` matches series without the label too."""
    return {"type": "query", "name": name, "label": label, "description": description, "datasource": SOURCE, "definition": query,
            "query": {"query": query, "refId": f"variable-{name}"}, "refresh": 2, "sort": 1, "hide": 0, "regex": "", "skipUrlSync": False,
            "options": [], "current": {}, "multi": False, "includeAll": False, **more}


def any_of(name, label, query, description):
    return variable(name, label, query, description, multi=True, includeAll=True, allValue=".*",
                    current={"selected": True, "text": ["All"], "value": ["$__all"]})


def data_source():
    return {"type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus", "refresh": 1, "regex": "", "hide": 0,
            "multi": False, "includeAll": False, "options": [], "current": {}, "skipUrlSync": False}


def choice(name, label, description, values):
    options = [{"text": value, "value": value, "selected": i == 0} for i, value in enumerate(values)]
    return {"type": "custom", "name": name, "label": label, "description": description, "query": ",".join(values), "options": options,
            "current": options[0], "hide": 0, "multi": False, "includeAll": False, "skipUrlSync": False}


def link(title, url, same_tab=False):
    return {"title": title, "url": url, "targetBlank": not same_tab}


def dashboard_link(title, url, tooltip, new_tab=False):
    return {"type": "link", "title": title, "url": url, "tooltip": tooltip, "icon": "external link" if new_tab else "dashboard",
            "targetBlank": new_tab, "includeVars": False, "keepTime": not new_tab, "asDropdown": False, "tags": []}


def alerts(selector):
    """Marks on every graph while alerts of topdownd's rules fire."""
    return {"name": "Alerts", "datasource": SOURCE, "enable": True, "hide": False, "iconColor": "orange", "step": "60s",
            "expr": f'ALERTS{{alertname=~"Topdownd.*",alertstate="firing",{selector}}}', "titleFormat": "{{alertname}}",
            "textFormat": "{{instance}} {{reason}}", "tagKeys": "alertname,severity"}


def placed(panels):
    """The panels with ids and places: from left to right, and further down where a line is full."""
    x = y = height = 0
    for i, each in enumerate(panels):
        place = each["gridPos"]
        if x + place["w"] > COLUMNS:
            x, y, height = 0, y + height, 0
        each["id"], place["x"], place["y"] = i + 1, x, y
        x, height = x + place["w"], max(height, place["h"])
    return panels


def dashboard(uid, title, description, variables, links, panels, annotations):
    kinds = sorted({each["type"] for each in panels} - {"row"})
    requires = [{"type": "grafana", "id": "grafana", "name": "Grafana", "version": "10.0.0"},
                {"type": "datasource", "id": "prometheus", "name": "Prometheus", "version": "1.0.0"}]
    requires += [{"type": "panel", "id": kind, "name": kind, "version": ""} for kind in kinds]
    return {
        "__inputs": [], "__requires": requires, "id": None, "uid": uid, "title": title, "description": description, "tags": ["topdownd"],
        "schemaVersion": 38, "version": 1, "editable": True, "graphTooltip": 1, "timezone": "browser", "refresh": "1m", "weekStart": "",
        "time": {"from": "now-3h", "to": "now"}, "timepicker": {}, "fiscalYearStartMonth": 0, "liveNow": False,
        "annotations": {"list": annotations}, "templating": {"list": variables}, "links": links, "panels": placed(panels)}
