// SPDX-License-Identifier: Apache-2.0
// What the page can do with a script: it keeps itself up to date, copies commands, shows the history of any metric, and
// a map of the CPUs. Without it the page shows the values of the moment it was loaded.
"use strict";
(() => {
  const interval = Number(document.body.dataset.intervalMs) || 2000;
  const byId = (id) => document.getElementById(id);
  const state = byId("state");
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 720, HEIGHT = 160, LABEL = 80; // of a plot's own coordinates; a mark's label takes so much of a small plot
  const LEVEL1 = ["frontend_bound_ratio", "bad_speculation_ratio", "retiring_ratio", "backend_bound_ratio"]; // from the bottom
  let answered = Date.now(), asking = false;

  const say = (text, old = false) => {
    state.textContent = text;
    state.parentElement.classList.toggle("warn", old); // and stays in sight
  };
  const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 19);
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const shape = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const number = (value, digits = 4) => {
    const [factor, prefix] = [[1e12, " T"], [1e9, " G"], [1e6, " M"]].find(([least]) => Math.abs(value) >= least) || [1, ""];
    const rounded = Number((value / factor).toPrecision(digits));
    if (rounded !== 0 && Math.abs(rounded) < 1e-6) return rounded.toFixed(12).replace(/\.?0+$/, ""); // not as 2e-7
    return factor === 1 && Math.abs(value) >= 1000 ? value.toFixed(0) : rounded + prefix;
  };
  const get = async (path) => {
    const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(10000) });
    return answer.json();
  };

  // ---- live ----

  const opened = new Map(); // what somebody has opened or closed stays so; all else is as the server says

  const replaceLive = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const focused = document.activeElement?.closest(".live") ? document.activeElement.id : "";
    for (const part of document.querySelectorAll(".live")) {
      const by = fresh.getElementById(part.id);
      if (!by) continue;
      for (const details of by.querySelectorAll("details")) details.open = opened.get(details.dataset.key) ?? details.open;
      part.replaceChildren(...by.childNodes);
    }
    if (focused) byId(focused)?.focus({ preventScroll: true });
  };

  const refresh = async () => {
    const selected = getSelection();
    if (document.hidden) {
      say("paused while this page is hidden");
      return;
    }
    if (!selected.isCollapsed && selected.anchorNode?.parentElement?.closest(".live")) {
      say(`paused while text is selected, updated ${clock(answered / 1000)} UTC`);
      return;
    }
    if (asking) {
      if (Date.now() - answered > 3 * interval) say(`no answer from topdownd since ${clock(answered / 1000)} UTC: these values are old`, true);
      return;
    }
    asking = true;
    try {
      const answer = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(10000) });
      if (!answer.ok) throw new Error(`${answer.status}`);
      replaceLive(await answer.text());
      answered = Date.now();
      say(`live, updated ${clock(answered / 1000)} UTC`);
      await Promise.all([refreshHistory(), refreshMap(), refreshBoxes()]);
    } catch (error) {
      say(`topdownd does not answer since ${clock(answered / 1000)} UTC (${error.message}): these values are old`, true);
    } finally {
      asking = false;
    }
  };

  // ---- commands ----

  // The clipboard takes text only from pages of this host or over TLS; elsewhere, what is selected can be copied.
  const copyCommand = async (button) => {
    const command = byId(button.id.replace(/^copy-/, "command-"));
    getSelection().selectAllChildren(command);
    let copied = false;
    try {
      copied = document.execCommand("copy");
      if (!copied) await navigator.clipboard.writeText(command.textContent);
      copied = true;
    } catch {
      copied = false;
    }
    if (copied) getSelection().removeAllRanges();
    button.textContent = copied ? "Copied" : "Selected: press Ctrl+C";
  };

  document.addEventListener("click", (event) => {
    const copy = event.target.closest("button.copy"), link = event.target.closest("a[data-metric]"), summary = event.target.closest("summary");
    if (copy) copyCommand(copy);
    if (summary?.closest(".live")) opened.set(summary.parentElement.dataset.key, !summary.parentElement.open);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    showHistory(link.dataset.metric, link.dataset.metric === "level1", link.id);
  });

  // ---- plots ----

  // A plot: what is drawn in WIDTH x HEIGHT, and its axes as text beside it, in its own size.
  const plotOf = (answer, label, top, shapes, marks) => {
    const steps = Math.max(answer.steps, 30), begin = answer.begin_timestamp_seconds;
    const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
    svg.append(...shapes);
    const canvas = element("div", { class: "canvas" }, svg);
    let last = -1, row = 0;
    marks.forEach((mark, i) => {
      const x = xOf(answer, (mark.timestamp_seconds - begin) / answer.step_seconds);
      svg.append(shape("line", { x1: x, x2: x, y1: 0, y2: HEIGHT }));
      row = last >= 0 && x < last + LABEL ? (row + 1) % 6 : 0;
      last = x;
      const side = x + LABEL < WIDTH ? `left:${x / WIDTH * 100}%` : `right:${(1 - x / WIDTH) * 100}%`;
      canvas.append(element("span", { class: "mark", style: `${side};top:${row * 1.6}em` }, String(i + 1)));
    });
    const axis = element("div", { class: "x" }), seconds = answer.step_seconds * steps, length = seconds < 1800 ? "00:00:00".length : "00:00".length;
    for (let part = 0; part <= 4; part++)
      axis.append(element("span", {}, begin === null ? "" : clock(begin + seconds * (part / 4 - 1) + answer.step_seconds * answer.steps).slice(0, length)));
    const scale = element("div", { class: "y" }, element("span", {}, top), element("span", {}, "0"));
    return element("figure", { class: "plot" }, scale, canvas, axis);
  };

  const xOf = (answer, step) => {
    const steps = Math.max(answer.steps, 30);
    return Math.max(steps - answer.steps + step, 0) / steps * WIDTH;
  };

  // A line, broken where nothing was measured.
  const lineOf = (answer, series, top, kind) => {
    let path = "", down = false;
    series.values.forEach((value, step) => {
      if (value !== null) path += `${down ? "L" : "M"}${xOf(answer, step + 0.5).toFixed(1)} ${((1 - value / top) * HEIGHT).toFixed(1)}`;
      down = value !== null;
    });
    if (/^M[^L]*$/.test(path)) path += "h3";
    return shape("path", { d: path, class: `l${kind}` });
  };

  const scopeOf = (series) => series.node !== undefined ? `node ${series.node}` : series.socket !== undefined ? `socket ${series.socket}` : "host";
  const nameOf = (series) => `${series.core_type ? series.core_type + " " : ""}${scopeOf(series)}`;
  const titlesOf = (answer) => [...new Set(answer.series.map((series) => series.title))];
  // Where several metrics are drawn, each line says whose it is.
  const labelOf = (answer, series) => titlesOf(answer).length > 1 ? `${nameOf(series)}, ${series.title.toLowerCase()}` : nameOf(series);
  const newest = (series) => series.values.findLast((value) => value !== null);

  // One plot while its lines can be told apart, else one for each line, all with the same scale.
  const drawLines = (answer, marks) => {
    const known = answer.series.flatMap((series) => series.values).filter((value) => value !== null);
    const top = Math.max(...known, 0) * 1.05 || 1, label = number(top, 3);
    const valueOf = (series) => newest(series) === undefined ? "no values" : `now ${number(newest(series))}`;
    const draw = (list) => {
      const plot = plotOf(answer, `${list.map(nameOf).join(", ")}: ${titlesOf(answer).join(", ")}`, label, list.map((series, i) => lineOf(answer, series, top, i)), marks);
      plot.firstChild.nextSibling.firstChild.classList.add("lines");
      return plot;
    };
    if (answer.series.length <= 4) {
      const legend = element("div", { class: "legend" });
      answer.series.forEach((series, i) => {
        const sample = shape("svg", { viewBox: "0 0 36 6", class: "sample lines" });
        sample.append(shape("path", { d: "M0 3h36", class: `l${i}` }));
        legend.append(element("span", { class: "nb" }, sample, `${labelOf(answer, series)}: ${valueOf(series)}`));
      });
      return [draw(answer.series), legend];
    }
    const several = element("div", { class: "several" });
    for (const series of answer.series) {
      const plot = draw([series]);
      plot.append(element("figcaption", {}, `${labelOf(answer, series)}: ${valueOf(series)}`));
      several.append(plot);
    }
    return [several];
  };

  // Level 1 of the host, or of each core type, as areas that add up to all pipeline slots.
  const drawLevel1 = (answer, marks) => {
    const types = [...new Set(answer.series.map((series) => series.core_type))], made = [];
    for (const type of types) {
      const stack = LEVEL1.map((name) => answer.series.find((series) => series.metric === name && series.core_type === type));
      const shapes = [];
      for (let step = 0; step < answer.steps; step++) {
        let below = 0;
        stack.forEach((series, i) => {
          const value = series?.values[step] ?? 0, x = xOf(answer, step), right = xOf(answer, step + 1);
          const bottom = (1 - below) * HEIGHT, upper = (1 - Math.min(below + Math.max(value, 0), 1)) * HEIGHT;
          if (value > 0) shapes.push(shape("polygon", { class: `f${i}`, points: `${x},${upper} ${right},${upper} ${right},${bottom} ${x},${bottom}` }));
          below = Math.min(below + Math.max(value, 0), 1);
        });
      }
      if (type) made.push(element("h3", {}, type));
      made.push(plotOf(answer, "Shares of pipeline slots over time, as a stacked plot", "100 %", shapes, marks.filter((mark) => mark.core_type === type)));
    }
    const legend = element("div", { class: "legend" }, element("span", { class: "soft" }, "From top to bottom:"));
    LEVEL1.map((name, i) => [answer.series.find((series) => series.metric === name), i]).filter(([series]) => series).reverse().forEach(([series, i]) =>
      legend.append(element("span", { class: "nb" }, element("span", { class: `key c${i}` }), series.title)));
    return [...made, legend];
  };

  const drawMarks = (marks) => {
    const list = element("ol", { class: "marks" });
    for (const mark of marks)
      list.append(element("li", {}, `${clock(mark.timestamp_seconds)} ${mark.core_type ? mark.core_type + ": " : ""}${mark.kind === "verdict" ? "bound by: " : ""}${mark.text}`));
    return list;
  };

  // ---- the history of a metric ----

  const chosen = byId("history");
  const wanted = new URLSearchParams(location.hash.slice(1)); // "#metric=ipc&cpus": what is open is part of the address
  let metric = wanted.get("metric") || "", overDay = wanted.has("day"), opener = "";

  const keepAddress = () => {
    const parts = metric ? [`metric=${encodeURIComponent(metric)}`] : [];
    if (metric && overDay) parts.push("day");
    if (cpus.open) parts.push("cpus");
    if (cpus.open && openCpu !== null) parts.push(`cpu=${openCpu}`);
    if (boxes?.open) parts.push("boxes");
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname);
  };

  const showHistory = (name, day, from) => {
    metric = name;
    overDay = day;
    opener = from;
    keepAddress();
    refreshHistory().then(() => byId("history-day")?.focus({ preventScroll: true })).catch(() => {});
  };

  const closeHistory = () => {
    metric = "";
    keepAddress();
    chosen.replaceChildren();
    byId(opener)?.focus();
  };

  const controlsOf = (title) => {
    const box = element("input", { type: "checkbox", id: "history-day" });
    box.checked = overDay;
    box.addEventListener("change", () => {
      overDay = box.checked;
      keepAddress();
      refreshHistory().catch(() => {});
    });
    const close = element("button", { type: "button", id: "history-close" }, "Close");
    close.addEventListener("click", closeHistory);
    return element("header", {}, element("h2", {}, title), element("label", {}, box, " the last day"), close);
  };

  // Of each socket, and of the host where a large one keeps no history of all sockets. What the kernel counts of NUMA is
  // told of the host and of each node.
  const readHistory = async (name) => {
    const step = overDay ? 300 : 10;
    if (name === "level1") return get(`/api/v1/history?step=${step}`);
    const of = (scope) => get(`/api/v1/history?step=${step}&scope=${scope}&metric=${encodeURIComponent(name)}`);
    const answer = await of("socket");
    if (!answer.error && answer.series.every((series) => newest(series) !== undefined)) return answer;
    const host = await of("host"), parts = answer.error ? await of("node") : answer;
    if (host.error || parts.error) return host.error ? answer : host;
    return host.steps !== parts.steps ? parts : { ...parts, series: [...host.series, ...parts.series] };
  };

  const refreshHistory = async () => {
    if (!metric) return;
    const asked = metric, level1 = metric === "level1", answer = await readHistory(metric);
    if (metric !== asked) return;
    const focused = chosen.contains(document.activeElement) ? document.activeElement.id : "";
    if (answer.error || answer.series.length === 0) {
      chosen.replaceChildren(controlsOf(metric), element("p", {}, answer.error || "Nothing has been measured yet."));
    } else {
      const marks = answer.marks.filter((mark) => mark.timestamp_seconds !== null).slice(-12), first = answer.series[0];
      const titles = titlesOf(answer), title = level1 ? "Pipeline slots" : titles.length > 1 ? titles.join(", ") : `${first.title} (${metric})`;
      chosen.replaceChildren(controlsOf(`${title}, ${overDay ? "last day" : "last hour"}`), ...(level1 ? drawLevel1 : drawLines)(answer, marks),
        element("div", { class: "soft" }, level1 ? "Times are UTC." : `Unit: ${first.unit}. Times are UTC.`), drawMarks(marks));
    }
    if (focused) byId(focused)?.focus({ preventScroll: true });
  };

  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && metric) closeHistory(); });

  // ---- the map of CPUs ----

  const cpus = byId("cpus"), map = byId("map"), metrics = byId("map-metric"), order = byId("map-order"), shown = byId("map-shown");
  let openCpu = wanted.has("cpu") ? Number(wanted.get("cpu")) : null;
  let atCpu = null; // the one that the keyboard is at

  const readCpus = async () => {
    const answer = await get("/api/v1/snapshot?scope=cpu");
    return (answer.core_types || [answer]).flatMap((type) => type.scopes.map((cpu) => ({ ...cpu, type: type.core_type || "" })));
  };

  const fillMetrics = (names) => {
    if ([...metrics.options].map((option) => option.value).join() === names.join()) return;
    const before = metrics.value || "retiring_ratio";
    metrics.replaceChildren(...names.map((name) => element("option", {}, name)));
    metrics.value = names.includes(before) ? before : names[0] || "";
  };

  // An interval that is narrower than the digits shown says nothing more.
  const valueWithMargin = (entry) => {
    if (entry.value === null) return `– ${entry.reason}`;
    if (entry.high === null) return number(entry.value);
    const half = entry.high - entry.value, share = /^(ratio|share) of .*(slots|cycles|stall)/.test(entry.unit);
    if (half > 0 && half >= (share ? 0.5 : Math.abs(entry.value))) return `${number(entry.value)}, too uncertain to tell`;
    if (entry.exact) return `${number(entry.value)} exact`;
    return `${number(entry.value)} ± ${half < 1e-4 * Math.abs(entry.value) ? 0 : number(half, 2)}`;
  };

  const nameCpu = (cpu) => `CPU ${cpu.cpu}, socket ${cpu.socket}${cpu.type ? ", " + cpu.type : ""}`;

  const describe = (cpu, name) => {
    const entry = cpu.metrics[name];
    return `${nameCpu(cpu)}: ${entry ? `${valueWithMargin(entry)} ${entry.value === null ? "" : entry.unit}` : "not measured"}`;
  };

  const showCpu = (cpu) => {
    const table = element("table", { class: "cells" }), bar = element("div", { class: "bar" });
    for (const [name, entry] of Object.entries(cpu.metrics)) {
      const row = table.insertRow();
      row.insertCell().textContent = name;
      row.append(element("td", { class: "n" }, valueWithMargin(entry)), element("td", { class: "unit" }, entry.unit));
    }
    LEVEL1.forEach((name, i) => {
      const value = cpu.metrics[name]?.value;
      if (value > 0) bar.append(element("span", { class: `c${i}`, style: `width:${100 * value}%` }));
    });
    shown.replaceChildren(element("h3", {}, nameCpu(cpu)), ...(bar.firstChild ? [bar] : []), table);
  };

  const sortCpus = (list, valueOf) => {
    const byNumber = (a, b) => a.cpu - b.cpu;
    if (order.value === "value") return list.sort((a, b) => (valueOf(b) ?? -Infinity) - (valueOf(a) ?? -Infinity) || byNumber(a, b));
    return list.sort((a, b) => (order.value === "socket" ? a.socket - b.socket : 0) || byNumber(a, b));
  };

  const cellOf = (cpu, name, share, all) => {
    const button = element("button", { type: "button", "data-cpu": cpu.cpu, "aria-label": describe(cpu, name), tabindex: cpu.cpu === atCpu ? 0 : -1 }, String(cpu.cpu));
    if (share === null) button.classList.add("unknown");
    else button.style.setProperty("--share", `${Math.round(100 * share)}%`);
    button.classList.toggle("open", cpu.cpu === openCpu);
    button.addEventListener("click", () => {
      openCpu = cpu.cpu === openCpu ? null : cpu.cpu;
      keepAddress();
      drawMap(all);
    });
    button.addEventListener("focus", () => {
      map.querySelector("[tabindex='0']")?.setAttribute("tabindex", -1);
      button.tabIndex = 0;
      atCpu = cpu.cpu;
      byId("map-text").textContent = describe(cpu, name);
    });
    return button;
  };

  const drawMap = (all) => {
    const names = [...new Set(all.flatMap((cpu) => Object.keys(cpu.metrics)))];
    fillMetrics(names);
    const name = metrics.value, valueOf = (cpu) => cpu.metrics[name]?.value ?? null;
    const known = all.map(valueOf).filter((value) => value !== null).sort((a, b) => a - b), most = Math.max(known.at(-1) ?? 0, 0) || 1;
    const sorted = sortCpus(all, valueOf), cells = [];
    if (!sorted.some((cpu) => cpu.cpu === atCpu)) atCpu = sorted[0]?.cpu ?? null;
    sorted.forEach((cpu, i) => {
      if (order.value === "socket" && cpu.socket !== sorted[i - 1]?.socket) cells.push(element("h3", {}, `Socket ${cpu.socket}`));
      const value = valueOf(cpu);
      cells.push(cellOf(cpu, name, value === null ? null : Math.max(value, 0) / most, all));
    });
    const focused = map.contains(document.activeElement);
    map.replaceChildren(...cells);
    if (focused) map.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
    byId("map-scale").textContent = known.length ?
      `Empty: 0, full: ${number(most)}. Lowest ${number(known[0])}, median ${number(known[known.length >> 1])}, highest ${number(known.at(-1))}. Choose a CPU to see all of its metrics.` :
      "No CPU has a value.";
    const open = all.find((cpu) => cpu.cpu === openCpu);
    if (open) showCpu(open);
    else shown.replaceChildren();
  };

  const refreshMap = async () => { if (cpus.open) drawMap(await readCpus()); };

  // The map is one stop of the keyboard; within it, arrows go from CPU to CPU.
  map.addEventListener("keydown", (event) => {
    const cells = [...map.querySelectorAll("button")], at = cells.indexOf(document.activeElement);
    const columns = cells.filter((cell) => cell.offsetTop === cells[0].offsetTop).length;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns, ArrowUp: at - columns, Home: 0, End: cells.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    cells[to]?.focus();
  });

  // ---- boxes outside the cores ----

  const boxes = byId("boxes"), boxesShown = byId("boxes-shown"); // null where the host has none

  const TABLE_METRICS = 8; // of a box, in a row; more of them are a column
  const ofTraffic = (entry) => {
    const text = number(entry.bytes_per_second);
    return `${text}${/ [TGM]$/.test(text) ? "" : " "}B/s`;
  };
  // In seconds, how long something takes is hard to read.
  const NANO = /^seconds(?= per (?!second)|$)/;
  const told = (entry) => {
    if (!entry || (entry.value ?? entry.bytes_per_second ?? null) === null) return "–";
    if (entry.bytes_per_second !== undefined) return ofTraffic(entry);
    return number(NANO.test(entry.unit) ? entry.value * 1e9 : entry.value);
  };
  const entriesOf = (box) => [...box.traffic, ...box.metrics.map((entry) => ({ name: entry.metric, ...entry }))];
  const headingOf = ({ name, unit }) => {
    const heading = element("span", {}, name.replaceAll("_", " "));
    if (unit) heading.append(element("small", { class: "soft" }, ` ${unit.replace(NANO, "ns")}`));
    return heading;
  };

  // What is told of each box, as columns: a heading and a text of the box.
  const columnsOf = (kind) => {
    const entries = [...new Map(kind.boxes.flatMap(entriesOf).map((entry) => [entry.name, entry])).values()];
    const shareOf = (box) => {
      const shares = entriesOf(box).map((entry) => entry.share_of_time).filter((share) => share !== null);
      return shares.length === 0 ? "–" : `${number(100 * Math.min(...shares), 3)} %`;
    };
    // A quotient of what did not happen is no error.
    const errorOf = (box) => {
      const missing = entriesOf(box).filter((entry) => entry.reason), all = missing.length === entriesOf(box).length;
      return (all ? missing[0] : box.traffic.find((entry) => entry.reason))?.reason || "";
    };
    const nodes = kind.boxes.some((box) => box.node !== null), many = entries.length > TABLE_METRICS;
    const columns = [["PMU", (box) => box.name ?? `${kind.pmu} ${box.box}`], ["Socket", (box) => box.socket], ...(nodes ? [["Node", (box) => box.node ?? "–"]] : []),
      ["CPU", (box) => box.cpu ?? "–"], ...entries.map((entry) => [headingOf(entry), (box) => told(entriesOf(box).find((each) => each.name === entry.name))]),
      ["Share of time", shareOf], ["Error", errorOf]];
    return { columns, many };
  };

  const tableOf = (kind) => {
    const { columns, many } = columnsOf(kind), table = element("table");
    const cell = (head, numeric, content) => element(head ? "th" : "td", numeric ? { class: "n" } : {}, typeof content === "number" ? String(content) : content);
    const rows = [columns.map(([heading]) => heading), ...kind.boxes.map((box) => columns.map(([, text]) => text(box)))];
    const turned = many ? columns.map((_, i) => rows.map((row) => row[i])) : rows;
    const isNumeric = (row, column) => many ? column > 0 && row < turned.length - 1 : column > 0 && column < columns.length - 1;
    turned.forEach((row, r) => table.append(element("tr", {}, ...row.map((content, c) => cell(r === 0 || (many && c === 0), isNumeric(r, c), content)))));
    return table;
  };

  const showKind = (kind) => [element("h3", {}, `${kind.pmu}: ${kind.boxes.length} ${kind.boxes.length === 1 ? "box" : "boxes"}`),
    ...kind.errors.map((error) => element("p", { class: "warn" }, error.text)),
    element("p", { class: "soft" }, `Events: ${kind.event_names.join(", ")}`),
    element("div", { class: "wide", role: "region", tabindex: 0, "aria-label": `Boxes of the kind ${kind.pmu}` }, tableOf(kind))];

  const refreshBoxes = async () => {
    if (!boxes?.open) return;
    const answer = await get("/api/v1/uncore"), tables = () => [...boxesShown.querySelectorAll(".wide")];
    const before = tables().map((part) => [part.scrollLeft, part === document.activeElement]);
    boxesShown.replaceChildren(...answer.kinds.flatMap(showKind));
    tables().forEach((part, i) => {
      part.scrollLeft = before[i]?.[0] ?? 0;
      if (before[i]?.[1]) part.focus({ preventScroll: true });
    });
  };

  document.documentElement.classList.add("js");
  boxes?.addEventListener("toggle", () => {
    keepAddress();
    refreshBoxes().catch(() => {});
  });
  if (boxes) boxes.open = wanted.has("boxes");
  cpus.addEventListener("toggle", () => {
    keepAddress();
    refreshMap().catch(() => {});
  });
  cpus.open = wanted.has("cpus");
  for (const control of [metrics, order]) control.addEventListener("change", () => refreshMap().catch(() => {}));
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  say(`live, updated ${clock(answered / 1000)} UTC`);
  refreshHistory().catch(() => {});
  setInterval(refresh, interval);
})();
