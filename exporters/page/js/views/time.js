// SPDX-License-Identifier: Apache-2.0
// What metrics were: any of the host, its sockets or its NUMA nodes, one below the other with one cursor, from a minute to a day. All that
// somebody chose stands in the address: "#time?metric=level1,ipc&scope=socket&span=900", or "&from=...&to=..." for a time that has passed.

import { charts, isLevel1, kindText, level1Plot, markList, stepSeries, when } from '../chart.js';
import { command, copyButton, h, render } from '../dom.js';
import { capital, clock, quantity, unitOf } from '../format.js';
import { dataOf, typesOf } from '../model.js';
import { hostnameOf, queryOf } from '../parts.js';

const LEVEL1 = 'level1'; // the categories together, as areas
const SPANS = [[60, '1 minute'], [300, '5 minutes'], [900, '15 minutes'], [3600, '1 hour'], [21600, '6 hours'], [86400, '1 day']];
const FINE = 3600; // seconds that the short steps reach back
const SHORT = 2 * FINE; // a window up to this one shows them
const METRICS_MAX = 6;
const SECONDS_MAX = 8.64e12; // that a Date can be of
const SCOPES = [['host', 'Whole host'], ['socket', 'Each socket'], ['node', 'Each NUMA node']];

// ---- the address ----

function chosen(route) {
  const { params } = route, scope = SCOPES.some(([name]) => name === params.get('scope')) ? params.get('scope') : 'host';
  const metrics = [...new Set((params.get('metric') ?? (scope === 'node' ? '' : LEVEL1)).split(',').filter(Boolean))].slice(0, METRICS_MAX);
  const number = (name) => (params.has(name) && Math.abs(Number(params.get(name))) <= SECONDS_MAX ? Number(params.get(name)) : null);
  const from = number('from'), to = number('to'), span = Math.min(Math.max(number('span') ?? FINE, 60), 86400);
  return { scope, metrics, span, from: from !== null && to !== null && to > from ? from : null, to };
}

export function addressOf({ scope, metrics, span, from, to }) {
  const params = new URLSearchParams();
  params.set('metric', metrics.join(','));
  if (scope !== 'host') params.set('scope', scope);
  if (from === null) params.set('span', String(Math.round(span)));
  else {
    params.set('from', String(Math.round(from)));
    params.set('to', String(Math.round(to)));
  }
  return `#time?${params.toString().replace(/%2C/g, ',')}`;
}

// ---- what is asked of the API ----

// The level-1 categories are what the API tells where no metric is named; so they are asked for by themselves.
function queries({ scope, metrics }, step) {
  const others = metrics.filter((metric) => metric !== LEVEL1), all = [];
  if (metrics.includes(LEVEL1) && scope !== 'node') all.push(`history?scope=${scope}&step=${step}`);
  if (others.length || scope === 'node') all.push(`history?scope=${scope}&step=${step}${others.length ? `&metric=${others.map(encodeURIComponent).join(',')}` : ''}`);
  return all;
}

const isShort = ({ from, to, span }) => (from === null ? span : to - from) <= SHORT;
const needed = (choice) => [...queries(choice, 300), ...(isShort(choice) ? queries(choice, 10) : [])];

// ---- series of both steps, one after the other ----

const keyOf = (one) => [one.metric, one.core_type ?? '', one.pmu ?? '', one.socket ?? '', one.node ?? ''].join(' ');

function nameOf(one, several) {
  const parts = [one.socket !== undefined ? `Socket ${one.socket}` : one.node !== undefined ? `Node ${one.node}` : '', several || one.core_type ? one.core_type ?? '' : ''].filter(Boolean);
  return parts.join(', ') || 'Host';
}

// Long steps up to where the short ones begin, then these.
function joined(long, short) {
  if (!short || short.times.length === 0) return long;
  if (!long) return short;
  const n = long.times.filter((at) => at + long.half <= short.times[0] - short.half + 1).length, take = (name) => long[name] && short[name] && [...long[name].slice(0, n), ...short[name]];
  return { ...short, times: take('times'), values: take('values'), low: take('low'), high: take('high') };
}

// [{one: as the API says it, series: as chart.js wants it}] of all answers of one step length; null where none has come.
function seriesOf(context, names) {
  const answers = names.map((name) => context.state[name]?.data).filter(Boolean);
  return answers.length ? answers.flatMap((data) => data.series.map((one) => ({ one, data, series: stepSeries(data, one, '') }))) : null;
}

function allSeries(context, choice) {
  const long = seriesOf(context, queries(choice, 300)) ?? [], short = isShort(choice) ? seriesOf(context, queries(choice, 10)) ?? [] : [];
  const byKey = new Map(short.map((entry) => [keyOf(entry.one), entry]));
  const all = long.map((entry) => ({ one: entry.one, series: joined(entry.series, byKey.get(keyOf(entry.one))?.series) }));
  const known = new Set(long.map((entry) => keyOf(entry.one)));
  return [...all, ...short.filter((entry) => !known.has(keyOf(entry.one)))];
}

// ---- plots ----


function level1Plots(all) {
  const groups = new Map();
  for (const { one, series } of all.filter((entry) => isLevel1(entry.one.metric) || entry.one.metric.startsWith('smt_'))) {
    const name = nameOf(one, false);
    groups.set(name, [...groups.get(name) ?? [], { ...series, label: one.title }]);
  }
  return [...groups].map(([name, series]) => level1Plot(`level1 ${name}`, name === 'Host' ? 'Level 1' : `Level 1 · ${name}`, series));
}

function metricPlots(all, metric) {
  const entries = all.filter(({ one }) => one.metric === metric), byUnit = new Map();
  for (const entry of entries) byUnit.set(entry.one.unit, [...byUnit.get(entry.one.unit) ?? [], entry]);
  return [...byUnit].map(([unit, own]) => ({
    id: `${metric} ${unit}`, title: capital(own[0].one.title), unit: unitOf(unit), kind: 'lines', format: (value) => quantity(value, unit),
    series: own.map(({ one, series }) => ({ ...series, label: nameOf(one, own.length > 1) })), metric, one: own[0].one,
  }));
}

function plotsOf(all, choice) {
  const metrics = choice.metrics.length ? choice.metrics : [...new Set(all.map(({ one }) => one.metric))].slice(0, METRICS_MAX);
  return metrics.flatMap((metric) => (metric === LEVEL1 ? level1Plots(all) : metricPlots(all, metric)));
}

// ---- the window ----

function windowOf(all, choice) {
  const times = all.flatMap(({ series }) => (series.times.length ? [series.times[0] - series.half, series.times[series.times.length - 1] + series.half] : []));
  const end = times.length ? Math.max(...times) : Date.now() / 1000, begin = Math.min(times.length ? Math.min(...times) : end - 60, end - 60);
  const to = choice.from === null ? end : Math.min(choice.to, end), from = choice.from === null ? Math.max(end - choice.span, begin) : Math.max(choice.from, begin);
  return to - from >= 10 ? { from, to, begin, end } : { from: Math.max(end - FINE, begin), to: end, begin, end, empty: true };
}

// ---- what can be copied ----

const csvText = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

// What is shown, a line for each step: times first, then value, low and high of each series.
export function csvOf(plots, from, to) {
  const columns = plots.flatMap((plot) => plot.series.map((series) => ({ series, name: `${plot.metric ?? series.name}${series.label === 'Host' || plot.kind === 'areas' ? '' : ` ${series.label}`}` })));
  const times = [...new Set(columns.flatMap(({ series }) => series.times))].filter((at) => at >= from && at <= to).sort((a, b) => a - b);
  const at = columns.map(({ series }) => new Map(series.times.map((time, i) => [time, i])));
  const lines = times.map((time) => [new Date(time * 1000).toISOString(), ...columns.flatMap(({ series }, c) => {
    const i = at[c].get(time);
    return [series.values, series.low, series.high].map((list) => (i === undefined ? '' : list?.[i] ?? ''));
  })].join(','));
  return [['time', ...columns.flatMap(({ name }) => [name, `${name} low`, `${name} high`])].map(csvText).join(','), ...lines, ''].join('\n');
}

function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// ---- the view ----

class View {
  constructor(root, context) {
    this.context = context;
    this.controls = h('div', { class: 'card controls' });
    this.notes = h('div', { hidden: true });
    const plots = h('div', {});
    this.frame = h('section', { class: 'card', 'aria-label': 'Plots' }, h('h2', { class: 'offscreen' }, 'Plots'), plots);
    this.happened = h('section', { class: 'card', 'aria-label': 'What happened' });
    this.copies = h('section', { class: 'card', 'aria-label': 'Take it along' });
    root.append(h('h1', { class: 'offscreen' }, 'Time'), this.controls, this.notes, this.frame, this.happened, this.copies);
    this.charts = charts(plots, { label: 'Plots over time. Arrows move the cursor, plus and minus zoom, 0 shows all.', selector: true,
      onZoom: (from, to, live) => this.context.route.id === 'time' && this.go(live ? { from: null, to: null, span: to - from } : { from, to }) });
  }

  go(changes) { this.context.go(addressOf({ ...this.choice, ...changes })); }

  update(context) {
    this.context = context;
    this.choice = chosen(context.route);
    const all = allSeries(context, this.choice), plots = plotsOf(all, this.choice), window = windowOf(all, this.choice);
    const answers = needed(this.choice).map((name) => context.state[name]), marks = new Map();
    for (const answer of answers) for (const mark of answer?.data ? markList(answer.data) : []) marks.set(`${mark.at.toFixed(1)} ${mark.kind} ${mark.text}`, mark);
    this.marks = [...marks.values()].sort((a, b) => a.at - b.at);
    this.plots = plots;
    this.window = window;
    const version = `${addressOf(this.choice)} ${answers.map((answer) => answer?.at ?? 0).join(' ')}`;
    if (plots.length) this.charts.set({ plots, marks: this.marks, ...window, version, step: isShort(this.choice) ? 10 : 300 });
    this.frame.hidden = plots.length === 0;
    render(this.controls, this.controlsNow());
    const notes = this.notesNow(answers).filter(Boolean);
    this.notes.hidden = notes.length === 0;
    render(this.notes, notes);
    const happened = this.marksNow();
    this.happened.hidden = happened.length === 0;
    render(this.happened, happened);
    render(this.copies, this.copiesNow());
  }

  // ---- controls ----

  metricNames() {
    const types = typesOf(dataOf(this.context.state, 'snapshot?scope=socket')), memory = dataOf(this.context.state, 'memory');
    return new Set([...types.flatMap((type) => [...type.scopes ?? [], ...type.uncore ?? []]).flatMap((scope) => Object.keys(scope.metrics ?? {})),
      ...Object.entries(memory?.values ?? {}).flatMap(([name, value]) => (value === null ? [] : [name]))]);
  }

  titles() {
    const titles = new Map();
    for (const type of typesOf(dataOf(this.context.state, 'catalog')))
      for (const metric of [...type.metrics ?? [], ...(type.uncore ?? []).flatMap((kind) => kind.metrics ?? [])]) titles.set(metric.metric, metric);
    return titles;
  }

  titleOf(metric) {
    if (metric === LEVEL1) return 'Level 1';
    const own = this.plots.find((plot) => plot.metric === metric);
    return own?.title ?? capital(this.titles().get(metric)?.title ?? metric);
  }

  controlsNow() {
    const { scope, metrics, span, from } = this.choice, titles = this.titles(), names = [...this.metricNames()].filter((name) => !metrics.includes(name));
    const options = names.map((name) => [capital(titles.get(name)?.title ?? name), name]).sort((a, b) => a[0].localeCompare(b[0]));
    if (!metrics.includes(LEVEL1)) options.unshift(['Level 1', LEVEL1]);
    const add = h('select', { id: 'time-add', disabled: metrics.length >= METRICS_MAX, onchange: (event) => this.add(event.target) }, h('option', { value: '' }, metrics.length >= METRICS_MAX ? 'Six are the most' : 'Choose a metric'),
      options.map(([title, name]) => h('option', { value: name }, title)));
    const scopes = h('select', { id: 'time-scope', onchange: (event) => this.go({ scope: event.target.value, metrics: event.target.value === 'node' ? [] : metrics.length ? metrics : [LEVEL1] }) },
      SCOPES.map(([name, title]) => h('option', { value: name, selected: name === scope }, title)));
    return [
      h('div', { class: 'line' }, metrics.map((metric) => h('span', { class: 'metric', 'data-key': `metric ${metric}` }, this.titleOf(metric),
        h('button', { type: 'button', class: 'plain', 'aria-label': `Remove ${this.titleOf(metric)}`, onclick: () => this.go({ metrics: metrics.filter((other) => other !== metric) }) }, '×'))),
      scope === 'node' ? null : h('span', { class: 'pair' }, h('label', { for: 'time-add' }, 'Add'), add), h('span', { class: 'pair' }, h('label', { for: 'time-scope' }, 'Of'), scopes)),
      h('div', { class: 'line', role: 'group', 'aria-label': 'Length of time' },
        SPANS.map(([seconds, title]) => h('button', { type: 'button', 'aria-pressed': String(from === null && Math.abs(span - seconds) < 1), onclick: () => this.go({ from: null, to: null, span: seconds }) }, title)),
        h('button', { type: 'button', 'aria-label': 'Zoom in', onclick: () => this.charts.scale(0.5) }, '+'), h('button', { type: 'button', 'aria-label': 'Zoom out', onclick: () => this.charts.scale(2) }, '−'),
        h('button', { type: 'button', onclick: () => this.move(-1) }, 'Earlier'), h('button', { type: 'button', disabled: from === null, onclick: () => this.move(1) }, 'Later'),
        h('button', { type: 'button', disabled: from === null, onclick: () => this.go({ from: null, to: null, span: Math.max(this.window.to - this.window.from, 60) }) }, 'Follow')),
    ];
  }

  add(select) {
    if (select.value) this.go({ metrics: [...this.choice.metrics, select.value] });
    select.value = '';
  }

  move(by) {
    const { from, to } = this.window, half = (to - from) / 2 * by;
    this.charts.zoom(from + half, to + half);
  }

  // ---- what stands around the plots ----

  notesNow(answers) {
    const refused = answers.find((answer) => answer?.error?.kind === 'refused')?.error.text;
    let text = refused ?? '';
    try { text = JSON.parse(text).error; } catch { /* a text as it is */ }
    return [refused ? h('p', { class: 'warn' }, text) : null,
      !refused && this.plots.length === 0 ? h('p', { class: 'soft' }, answers.some((answer) => answer?.data) ? 'Nothing of this is kept yet. A step shows when its first round has ended.' : 'Loading…') : null,
      this.window.empty && this.choice.from !== null ? h('p', { class: 'warn' }, `Nothing is kept of ${when(this.choice.from)} to ${when(this.choice.to)}: the history reaches back a day. These are the newest values.`) : null];
  }

  marksNow() {
    const { from, to } = this.window, seen = this.marks.filter((mark) => mark.at >= from && mark.at <= to);
    if (seen.length === 0) return [];
    return [h('h2', {}, 'What happened'), h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Marks, newest first' }, h('table', {},
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'When'), h('th', { scope: 'col' }, 'What'), h('th', { scope: 'col' }, 'Details'))),
      h('tbody', {}, [...seen].reverse().map((mark) => h('tr', {}, h('td', {}, h('button', { type: 'button', class: 'plain', onclick: () => this.charts.show(mark.at, true) }, clock(mark.at, true))),
        h('td', {}, kindText(mark.kind)), h('td', {}, mark.text))))))];
  }

  copiesNow() {
    const { from, to } = this.window, titles = this.titles(), link = location.href.split('#')[0] + addressOf({ ...this.choice, from, to });
    const names = this.choice.metrics.flatMap((metric) => (metric === LEVEL1 ? this.plots.find((plot) => plot.kind === 'areas')?.series.map((series) => [series.name, series.label]) ?? [] : [[metric, this.titleOf(metric)]]));
    return [h('h2', {}, 'Take it along'),
      h('p', { class: 'line' }, copyButton(link, 'the address of what is shown', 'Copy link'),
        h('button', { type: 'button', disabled: this.plots.length === 0, onclick: () => save(`topdownd-${Math.round(from)}.csv`, csvOf(this.plots, from, to), 'text/csv') }, 'Save as CSV'),
        queries(this.choice, isShort(this.choice) ? 10 : 300).map((query) => h('a', { href: `api/v1/${query}&from=${Math.floor(from)}` }, query.includes('metric=') ? 'Metrics as JSON' : 'Level 1 as JSON'))),
      h('details', {}, h('summary', {}, 'Names and queries in Prometheus'), names.map(([name, title]) => h('div', { 'data-key': `query ${name}` }, h('h3', {}, title),
        h('p', {}, h('code', {}, `topdownd_${name}`), ' ', copyButton(`topdownd_${name}`, `the name of ${title}`)), command(queryOf({ metric: name, ...titles.get(name), ...this.totalsOf(name) }, hostnameOf(this.context)), `the query of ${title}`))))];
  }

  totalsOf(name) {
    for (const type of typesOf(dataOf(this.context.state, 'snapshot?scope=socket'))) {
      const entry = type.scopes?.[0]?.metrics?.[name];
      if (entry) return { k: entry.k, category: isLevel1(name) ? name.replace(/_ratio$/, '') : undefined };
    }
    return {};
  }
}

let view = null;

export default {
  id: 'time',
  title: 'Time',
  needs(route) { return ['snapshot?scope=socket', 'memory', 'catalog', ...needed(chosen(route))]; },
  mount(root, context) { view = new View(root, context); },
  update(context) { view.update(context); },
  unmount() {
    view?.charts.destroy();
    view = null;
  },
};

