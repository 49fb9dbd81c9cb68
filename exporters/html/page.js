// SPDX-License-Identifier: Apache-2.0
// What the page can do with a script: it keeps itself up to date, shows the history of any metric, and a map of the CPUs.
// Without it the page shows the values of the moment it was loaded.
"use strict";
(() => {
  const interval = Number(document.body.dataset.intervalMs) || 2000;
  const state = document.getElementById("state");
  const live = document.getElementById("live");
  const SVG = "http://www.w3.org/2000/svg";
  let answered = Date.now(), asking = false;

  const say = (text) => { state.textContent = text; };
  const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 19) + " UTC";
  const element = (name, text) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // ---- live ----

  const keyOf = (details) => details.dataset.key || details.querySelector("summary").textContent;

  const replaceLive = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
    if (!fresh) return;
    const open = new Set([...live.querySelectorAll("details[open]")].map(keyOf));
    const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
    live.replaceChildren(...fresh.childNodes);
    for (const details of live.querySelectorAll("details")) details.open = open.has(keyOf(details));
    offerHistories();
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  };

  const refresh = async () => {
    const selected = getSelection();
    if (document.hidden) {
      say("paused while this page is hidden");
      return;
    }
    if (!selected.isCollapsed && live.contains(selected.anchorNode)) {
      say(`paused while text is selected, updated ${clock(answered / 1000)}`);
      return;
    }
    if (asking) {
      if (Date.now() - answered > 3 * interval) say(`no answer from topdownd since ${clock(answered / 1000)}: these values are old`);
      return;
    }
    asking = true;
    try {
      const answer = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(10000) });
      if (!answer.ok) throw new Error(`${answer.status}`);
      replaceLive(await answer.text());
      answered = Date.now();
      say(`live, updated ${clock(answered / 1000)}`);
      await Promise.all([refreshHistory(), refreshMap()]);
    } catch (error) {
      say(`topdownd does not answer since ${clock(answered / 1000)} (${error.message}): these values are old`);
    } finally {
      asking = false;
    }
  };

  const get = async (path) => {
    const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(10000) });
    return answer.json();
  };

  // ---- the history of a metric ----

  const chosen = document.getElementById("history");
  const wanted = new URLSearchParams(location.hash.slice(1)); // "#metric=ipc&cpus": what is open is part of the address
  let metric = wanted.get("metric") || "";

  const keepAddress = () => {
    const parts = metric ? [`metric=${encodeURIComponent(metric)}`] : [];
    if (map.closest("details").open) parts.push("cpus");
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname);
  };

  const offerHistories = () => {
    const times = {}; // a host with several core types has a metric several times
    for (const cell of live.querySelectorAll("[data-metric]")) {
      const button = element("button", cell.textContent), name = cell.dataset.metric;
      times[name] = (times[name] || 0) + 1;
      button.id = times[name] > 1 ? `h-${name}-${times[name]}` : `h-${name}`;
      button.title = "show its history";
      button.addEventListener("click", () => {
        metric = cell.dataset.metric;
        keepAddress();
        refreshHistory(true).catch(() => {});
      });
      cell.replaceChildren(button);
    }
  };

  // A line for each series, broken where nothing was measured.
  const drawLines = (answer) => {
    const width = 720, height = 140, known = answer.series.flatMap((series) => series.values).filter((value) => value !== null);
    const top = Math.max(...known, 0) * 1.05 || 1, n = Math.max(answer.steps, 30);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height + 18}`);
    svg.setAttribute("class", "plot lines");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `History of ${metric}`);
    const add = (name, attributes, text) => {
      const made = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      if (text !== undefined) made.textContent = text;
      svg.append(made);
    };
    const x = (step) => ((n - answer.steps + step) / n * width).toFixed(1);
    answer.series.forEach((series, i) => {
      let path = "", down = false;
      series.values.forEach((value, step) => {
        if (value !== null) path += `${down ? "L" : "M"}${x(step + 0.5)} ${((1 - value / top) * height).toFixed(1)}`;
        down = value !== null;
      });
      if (/^M[^L]*$/.test(path)) path += "h3";
      if (path) add("path", { d: path, class: `l${i % 4}` });
    });
    add("text", { x: 2, y: 11 }, top.toPrecision(3));
    add("text", { x: 2, y: height - 3 }, "0");
    for (let part = 0; part <= 4 && answer.begin_timestamp_seconds !== null; part++) {
      const at = answer.begin_timestamp_seconds + answer.step_seconds * (part / 4 * n - (n - answer.steps));
      add("text", { x: part * width / 4, y: height + 14, "text-anchor": ["start", "middle", "middle", "middle", "end"][part] }, clock(at).slice(0, 5));
    }
    return svg;
  };

  const refreshHistory = async (scroll) => {
    if (!metric) return;
    const step = document.getElementById("h-day")?.checked ? 300 : 10;
    const answer = await get(`/api/v1/history?scope=socket&step=${step}&metric=${encodeURIComponent(metric)}`);
    if (answer.error) {
      chosen.replaceChildren(element("h2", metric), element("p", answer.error));
      return;
    }
    const first = answer.series[0];
    const heading = element("h2", `${first.title} (${metric}), ${step === 10 ? "last hour" : "last day"}`);
    const day = element("label", " the last day");
    const box = element("input");
    box.type = "checkbox";
    box.id = "h-day";
    box.checked = step === 300;
    box.addEventListener("change", () => refreshHistory().catch(() => {}));
    day.prepend(box);
    const key = element("p", `${first.unit}: `);
    answer.series.forEach((series, i) => {
      const item = element("span", `${series.core_type ? series.core_type + " " : ""}socket ${series.socket} `);
      item.className = `nb t${i % 4}`;
      key.append(item);
    });
    const focused = document.activeElement?.id === "h-day";
    chosen.replaceChildren(heading, drawLines(answer), key, day);
    if (focused) box.focus();
    if (scroll) chosen.scrollIntoView({ block: "nearest" });
  };

  // ---- the map of CPUs ----

  const map = document.getElementById("map");
  const metrics = document.getElementById("map-metric");
  const order = document.getElementById("map-order");
  const shown = document.getElementById("map-shown");

  const readCpus = async () => {
    const document_ = await get("/api/v1/snapshot?scope=cpu");
    return (document_.core_types || [document_]).flatMap((type) => type.scopes.map((cpu) => ({ ...cpu, type: type.core_type || "" })));
  };

  const fillMetrics = (cpus) => {
    const names = new Set(cpus.flatMap((cpu) => Object.keys(cpu.metrics)));
    if ([...metrics.options].map((option) => option.value).join() === [...names].join()) return;
    const before = metrics.value || "retiring_ratio";
    metrics.replaceChildren(...[...names].map((name) => element("option", name)));
    metrics.value = names.has(before) ? before : metrics.options[0]?.value || "";
  };

  const describe = (cpu, name) => {
    const entry = cpu.metrics[name];
    const value = entry?.value ?? null;
    const margin = entry && entry.high !== null && value !== null ? ` ± ${(entry.high - value).toPrecision(2)}` : "";
    return `CPU ${cpu.cpu}, socket ${cpu.socket}${cpu.type ? ", " + cpu.type : ""}: ` +
      (value === null ? entry?.reason || "not measured" : `${value.toPrecision(4)}${margin} ${entry.unit}`);
  };

  const showCpu = (cpu) => {
    const table = element("table");
    for (const [name, entry] of Object.entries(cpu.metrics)) {
      const row = table.insertRow();
      row.insertCell().textContent = name;
      row.insertCell().textContent = entry.value === null ? `– ${entry.reason}` : entry.value.toPrecision(4);
      row.insertCell().textContent = entry.unit;
    }
    shown.replaceChildren(element("h3", `CPU ${cpu.cpu}, socket ${cpu.socket}`), table);
  };

  const refreshMap = async () => {
    if (!map.closest("details").open) return;
    const cpus = await readCpus();
    fillMetrics(cpus);
    const name = metrics.value, valueOf = (cpu) => cpu.metrics[name]?.value ?? null;
    const known = cpus.map(valueOf).filter((value) => value !== null);
    const most = Math.max(...known, 0) || 1;
    if (order.value === "value") cpus.sort((a, b) => (valueOf(b) ?? -1) - (valueOf(a) ?? -1));
    else cpus.sort((a, b) => (order.value === "socket" ? a.socket - b.socket : 0) || a.cpu - b.cpu);
    const focused = map.contains(document.activeElement) ? document.activeElement.dataset.cpu : undefined;
    map.replaceChildren(...cpus.map((cpu) => {
      const value = valueOf(cpu), button = element("button", String(cpu.cpu));
      button.dataset.cpu = cpu.cpu;
      button.title = describe(cpu, name);
      button.setAttribute("aria-label", describe(cpu, name));
      if (value === null) button.className = "unknown";
      else button.style.setProperty("--share", `${Math.round(100 * Math.max(value, 0) / most)}%`);
      button.addEventListener("click", () => { document.getElementById("map-text").textContent = describe(cpu, name); showCpu(cpu); });
      button.addEventListener("focus", () => { document.getElementById("map-text").textContent = describe(cpu, name); });
      return button;
    }));
    if (focused !== undefined) map.querySelector(`[data-cpu="${focused}"]`)?.focus();
    document.getElementById("map-scale").textContent = known.length ? `empty: 0, full: ${most.toPrecision(3)}` : "no CPU has a value";
  };

  document.querySelectorAll(".script").forEach((part) => { part.hidden = false; });
  map.closest("details").addEventListener("toggle", () => {
    keepAddress();
    refreshMap().catch(() => {});
  });
  map.closest("details").open = wanted.has("cpus");
  for (const control of [metrics, order]) control.addEventListener("change", () => refreshMap().catch(() => {}));
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  offerHistories();
  say(`live, updated ${clock(answered / 1000)}`);
  refreshHistory().catch(() => {});
  setInterval(refresh, interval);
})();
