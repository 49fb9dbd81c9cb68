// SPDX-License-Identifier: Apache-2.0
// Plots over time: areas that add up, or lines with bands for their intervals, one below the other with one time axis, one cursor, and the
// marks of what happened in a lane of their own above. The only module that knows the library, dygraphs, which the build takes from Debian's
// package: what it has no need for here (legend, titles, annotations: they write markup and inline styles) is left out.

import { h } from './dom.js';
import { LEVEL1, clock, share } from './format.js';

const LIBRARY = new URL('./dygraph.js', import.meta.url).href; // whatever path a proxy puts before it
const AXIS = 58; // pixels for the numbers beside a plot, so that all plots begin at the same place
const HEIGHT = { areas: 190, lines: 150 }, LOW = 130; // below that there is room for three labels
const SELECTOR = 34; // pixels, of the overview below the last plot
const ROWS = 2; // of labels in the lane of marks
const LABEL_FONT = '12px system-ui, "Segoe UI", Roboto, sans-serif'; // as in page.css
const LEAST = 60; // seconds that one can zoom to
const TABLE_ROWS = 120;

// As in page.css, which a canvas cannot take them from while it is printed.
const COLORS = {
  light: { ink: '#16202c', soft: '#56626f', line: '#dfe4ea', areas: { be: '#1f5fae', re: '#8c98a5', fe: '#e08a00', bs: '#8e4fa8', other: '#5c6b1f' },
    lines: ['#1f5fae', '#b86400', '#8e4fa8', '#5c6b1f', '#a8324a', '#2b7f86', '#56626f', '#7a5a2b'] },
  dark: { ink: '#e8edf3', soft: '#9aa8b7', line: '#2a3542', areas: { be: '#5d9cf0', re: '#76828f', fe: '#f0a33a', bs: '#b983d0', other: '#aab85c' },
    lines: ['#7db2ff', '#f0a33a', '#c795e4', '#aab85c', '#f07f93', '#6cc4cb', '#9aa8b7', '#d0aa78'] },
};
// How the areas lie on one another, lowest first: what is lost to the largest cause, what is useful, and the rest.
const kindOf = (metric) => LEVEL1.find((part) => part.metric === metric)?.kind ?? 'other';
const orderOf = (metric) => { const at = LEVEL1.findIndex((part) => part.metric === metric); return at < 0 ? LEVEL1.length : at; };

const dark = window.matchMedia('(prefers-color-scheme: dark)');
let printing = false;
const colors = () => (dark.matches && !printing ? COLORS.dark : COLORS.light);

let loading = null;
function library() {
  loading = loading || new Promise((resolve, reject) => {
    document.head.append(h('script', { src: LIBRARY, onload: () => {
      const { Dygraph } = window;
      Dygraph.PLUGINS = [Dygraph.Plugins.Axes, Dygraph.Plugins.RangeSelector, Dygraph.Plugins.Grid];
      resolve(Dygraph);
    }, onerror: () => { loading = null; reject(new Error('the chart library cannot be loaded')); } }));
  });
  return loading;
}

// ---- words ----

const isNumber = Number.isFinite;
const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10); // UTC, as the hours
export const when = (seconds) => `${dayOf(seconds * 1000) === dayOf(Date.now()) ? '' : `${dayOf(seconds * 1000)} `}${clock(seconds, true)} UTC`;

// ---- marks: labels beside one another, never on one another ----

// What a mark is called in the lane, where a word has to do.
const KINDS = { start: 'topdownd began', reload: 'reload', plan: 'other plan', adapt: 'schedule', yield: 'counters handed over', resume: 'counters back', cpus: 'CPUs', gap: 'not measured',
  clock: 'clock set', verdict: 'bound by', deploy: 'deploy', user: 'mark' };
const WEIGHT = { user: 0, verdict: 1, reload: 2, gap: 3, cpus: 4, yield: 5, start: 6 };
const weight = (mark) => WEIGHT[mark.kind] ?? 9;
export const kindText = (kind) => KINDS[kind] || kind;
const labelText = (mark) => (mark.kind === 'user' ? mark.text : mark.kind === 'verdict' ? mark.text : kindText(mark.kind));

// Marks that lie so close that no label fits between them are one place: [{at, x, marks}], each with the weightiest mark first.
function places(marks, x) {
  const all = [];
  for (const mark of marks) {
    const at = x(mark.at), last = all[all.length - 1];
    if (last && at - last.x < 12) last.marks.push(mark);
    else all.push({ at: mark.at, x: at, marks: [mark] });
  }
  for (const place of all) place.marks.sort((a, b) => weight(a) - weight(b));
  return all;
}

const pen = document.createElement('canvas').getContext('2d');
function widthOf(text, bold) {
  pen.font = `${bold ? '600 ' : ''}${LABEL_FONT}`;
  return Math.ceil(pen.measureText(text).width);
}

// Gives each place a row and a label that fits there, or a point without a label: {row, left, text}.
function arrange(all, left, right) {
  const free = Array(ROWS).fill(left); // up to where each row is taken
  for (const place of all) {
    const more = place.marks.length > 1 ? ` +${place.marks.length - 1}` : '', text = labelText(place.marks[0]).slice(0, 28) + more;
    const width = widthOf(text, place.marks[0].kind === 'user') + 16, start = Math.min(place.x, right - width);
    const row = free.findIndex((end) => start >= end);
    Object.assign(place, row < 0 || start < left ? { row: -1, text: '' } : { row, left: start, text, width });
    if (place.row >= 0) free[place.row] = start + width + 6;
  }
  return all;
}

// ---- a set of plots ----

// data: {plots, marks, from, to, begin, end}: times in seconds; from and to are the window, begin and end what is kept.
// A plot: {id, title, unit, kind: 'areas' or 'lines', percent, series, format(value), interval(low, high)}.
// A series: {label, name, times, values, low, high}; low and high may be missing.
class Charts {
  constructor(element, options) {
    this.element = element;
    this.options = options;
    this.plots = new Map(); // id: {dygraph, ...}
    this.cursor = null; // seconds
    this.at = h('p', { class: 'chart-at' });
    this.lane = h('div', { class: 'chart-lane' });
    this.body = h('div', { class: 'chart-body' });
    this.said = h('p', { class: 'offscreen', 'aria-live': 'polite' });
    this.root = h('div', { class: 'chart', tabindex: '0', role: 'group', 'aria-label': options.label || 'Plots over time' }, this.at, this.lane, this.body, this.said);
    element.replaceChildren(this.root);
    this.listen();
  }

  listen() {
    this.root.addEventListener('keydown', (event) => this.key(event));
    this.body.addEventListener('pointermove', (event) => this.point(event));
    this.body.addEventListener('pointerleave', () => { if (!this.drag) this.show(null); });
    this.body.addEventListener('pointerdown', (event) => this.press(event));
    this.body.addEventListener('pointerup', (event) => this.release(event));
    this.body.addEventListener('pointercancel', () => { this.drag = null; this.shade(); });
    this.body.addEventListener('dblclick', () => this.zoom(this.data.begin, this.data.end));
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.root);
    this.redraw = () => { if (this.data) this.set({ ...this.data }, true); };
    this.printed = [() => { printing = true; this.redraw(); }, () => { printing = false; this.redraw(); }];
    dark.addEventListener('change', this.redraw);
    window.addEventListener('beforeprint', this.printed[0]);
    window.addEventListener('afterprint', this.printed[1]);
  }

  destroy() {
    clearTimeout(this.moving); // else somebody who goes to another view is taken back here
    this.observer.disconnect();
    dark.removeEventListener('change', this.redraw);
    window.removeEventListener('beforeprint', this.printed[0]);
    window.removeEventListener('afterprint', this.printed[1]);
    for (const plot of this.plots.values()) plot.dygraph.destroy();
    this.plots.clear();
    this.gone = true;
  }

  // `again`: in other colours. Data of the same version and window are drawn already.
  async set(data, again) {
    const same = this.data && data.version !== undefined && ['version', 'from', 'to', 'begin', 'end'].every((name) => data[name] === this.data[name]);
    if (same && !again) return;
    this.data = data;
    let Dygraph;
    try {
      Dygraph = await library();
    } catch (error) {
      this.at.textContent = `${error.message}; the values are in the table below.`;
      return;
    }
    if (this.gone || data !== this.data) return;
    for (const [id, plot] of this.plots)
      if (!data.plots.some((other) => other.id === id)) {
        plot.dygraph.destroy();
        plot.root.remove();
        this.plots.delete(id);
      }
    data.plots.forEach((plot, i) => this.draw(Dygraph, plot, i === data.plots.length - 1, i));
    this.lay();
    this.show(this.cursor);
    Object.assign(this.root.dataset, { from: data.from.toFixed(1), to: data.to.toFixed(1), drawn: Number(this.root.dataset.drawn || 0) + 1 });
  }

  // A plot's rows as the library wants them: each value with the ends of its band.
  rows(plot) {
    const bands = plot.kind === 'lines', times = plot.series[0]?.times || [], last = plot.series.length;
    return times.map((time, i) => {
      const row = [time * 1000];
      for (let s = 0; s < last; s++) {
        const one = plot.series[bands ? s : last - 1 - s], value = one.values[i] ?? NaN; // the library stacks the last one lowest
        row.push(bands ? [one.low?.[i] ?? value, value, one.high?.[i] ?? value] : value);
      }
      return row;
    });
  }

  range(plot) {
    if (plot.kind === 'areas') return [0, 1.001]; // sums that are 1 but for their last bits are not cut off
    let top = 0, bottom = 0;
    for (const one of plot.series)
      one.values.forEach((value, i) => {
        const time = one.times[i];
        if (!isNumber(value) || time < this.data.from || time > this.data.to) return;
        top = Math.max(top, one.high?.[i] ?? value, value);
        bottom = Math.min(bottom, value);
      });
    return [bottom, top > bottom ? top + (top - bottom) * 0.08 : bottom + 1];
  }

  settings(Dygraph, plot, last) {
    const { ink, soft, line, areas, lines } = colors(), series = plot.kind === 'areas' ? [...plot.series].reverse() : plot.series;
    return {
      labelsUTC: true, labels: ['time', ...series.map((one, i) => `${i} ${one.label}`)],
      colors: series.map((one, i) => (plot.kind === 'areas' ? areas[kindOf(one.name)] : lines[i % lines.length])),
      customBars: plot.kind === 'lines', stackedGraph: plot.kind === 'areas', stackedGraphNaNFill: 'none', fillAlpha: plot.kind === 'areas' ? 0.88 : 0.2,
      strokeWidth: plot.kind === 'areas' ? 0 : 1.6, drawGapEdgePoints: plot.kind === 'lines', pointSize: 1.6, connectSeparatedPoints: false, showLabelsOnHighlight: false, highlightCircleSize: 0,
      interactionModel: {}, valueRange: this.range(plot), dateWindow: [this.data.from * 1000, this.data.to * 1000], axisLineColor: line, gridLineColor: line, gridLineWidth: 0.6, rightGap: 12,
      drawGrid: true, animatedZooms: false, xRangePad: 0, showRangeSelector: last && this.options.selector === true, rangeSelectorHeight: SELECTOR, rangeSelectorPlotStrokeColor: soft,
      rangeSelectorPlotFillColor: line, rangeSelectorPlotFillGradientColor: line, rangeSelectorForegroundStrokeColor: ink, rangeSelectorBackgroundStrokeColor: line, rangeSelectorAlpha: dark.matches && !printing ? 0.16 : 0.7,
      axes: {
        x: { ticker: Dygraph.dateTicker, axisLabelWidth: 64, pixelsPerLabel: 76, axisLabelFontSize: 12, axisTickSize: 6, drawGrid: false, axisTickSize: 6,
          axisLabelFormatter: (value) => clock(value / 1000, this.data.to - this.data.from <= 300) },
        y: { ...(plot.kind === 'areas' && { ticker: () => (this.options.height < LOW ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((v) => ({ v, label: plot.axis(v) })) }), axisLabelWidth: AXIS - 8, axisLabelFontSize: 12, pixelsPerLabel: 34, axisLabelFormatter: (value) => (plot.axis || plot.format)(value).replace(/[<>&]/g, '') },
      },
      drawCallback: (dygraph, first) => this.drawn(dygraph, plot.id, first),
    };
  }

  draw(Dygraph, plot, last, i) {
    let own = this.plots.get(plot.id);
    const key = `${plot.kind} ${plot.series.map((one) => one.label).join('|')} ${last}`, settings = this.settings(Dygraph, plot, last);
    if (own && own.key !== key) {
      own.dygraph.destroy();
      own.root.remove();
      own = null;
    }
    if (!own) own = this.make(plot, key, last, i);
    own.plot = plot;
    own.title.textContent = plot.title;
    own.unit.textContent = plot.unit;
    own.canvas.style.height = `${(this.options.height ?? HEIGHT[plot.kind]) + (settings.showRangeSelector ? SELECTOR + 4 : 0)}px`;
    const rows = this.rows(plot);
    this.quiet = true;
    if (own.dygraph) own.dygraph.updateOptions({ ...settings, file: rows });
    else own.dygraph = new Dygraph(own.canvas, rows, settings);
    this.quiet = false;
    own.swatches.forEach((swatch, s) => { swatch.style.backgroundColor = settings.colors[plot.kind === 'areas' ? plot.series.length - 1 - s : s]; });
    this.plots.set(plot.id, own);
    this.describe(own);
  }

  make(plot, key, last, i) {
    const own = { key, values: [], swatches: [], title: h('h3', {}), unit: h('span', { class: 'soft' }), canvas: h('div', { class: 'chart-canvas', 'aria-hidden': 'true' }),
      line: h('div', { class: 'chart-cursor', hidden: '' }), shade: h('div', { class: 'chart-shade', hidden: '' }), table: h('div', { class: 'wide', role: 'region', tabindex: 0, 'aria-label': `Values of ${plot.title}` }) };
    const legend = plot.series.map((one, s) => {
      own.swatches[s] = h('span', { class: 'chart-key' });
      own.values[s] = h('span', { class: 'chart-value' });
      return h('li', {}, own.swatches[s], h('span', { class: 'chart-name' }, one.label, one.term && h('span', { class: 'soft term' }, ` ${one.term}`)), own.values[s]);
    });
    if (plot.kind === 'areas') legend.reverse(); // as the areas lie on one another
    own.details = h('details', { class: 'chart-table', ontoggle: () => this.fill(own) }, h('summary', {}, 'Values as a table'), own.table);
    own.root = h('section', { class: `chart-plot chart-${plot.kind}`, 'data-plot': plot.id }, h('div', { class: 'chart-head' }, own.title, own.unit), h('ul', { class: 'chart-legend' }, ...legend),
      h('div', { class: 'chart-frame' }, own.canvas, own.shade, own.line), this.options.table === false ? null : own.details);
    this.body.insertBefore(own.root, this.body.children[i] || null);
    return own;
  }

  // The library has drawn: lines through the plot at its marks, and where the overview's handles moved, the same window everywhere.
  drawn(dygraph, id, first) {
    const area = dygraph.getArea(), context = dygraph.hidden_ctx_ || dygraph.canvas_ctx_;
    context.save();
    context.setLineDash([3, 3]);
    context.strokeStyle = colors().ink;
    context.globalAlpha = 0.55;
    context.lineWidth = 1;
    for (const mark of this.data.marks) {
      const x = Math.round(dygraph.toDomXCoord(mark.at * 1000)) + 0.5;
      if (x < area.x || x > area.x + area.w) continue;
      context.beginPath();
      context.moveTo(x, area.y);
      context.lineTo(x, area.y + area.h);
      context.stroke();
    }
    context.restore();
    if (first || this.quiet || !this.plots.get(id)) return;
    const [from, to] = dygraph.xAxisRange().map((x) => x / 1000);
    if (Math.abs(from - this.data.from) < 0.5 && Math.abs(to - this.data.to) < 0.5) return; // nobody has moved it
    clearTimeout(this.moving);
    this.moving = setTimeout(() => this.zoom(from, to), 120);
  }

  resize() {
    if (this.width === this.root.clientWidth) return;
    this.width = this.root.clientWidth;
    this.quiet = true;
    for (const plot of this.plots.values()) plot.dygraph.resize();
    this.quiet = false;
    if (this.data) this.lay();
  }

  // ---- the lane of marks ----

  first() { return this.plots.values().next().value?.dygraph; }

  lay() {
    const dygraph = this.first(), { marks, from, to } = this.data;
    if (!dygraph) return;
    const area = dygraph.getArea(), seen = marks.filter((mark) => mark.at >= from && mark.at <= to);
    const all = arrange(places(seen, (at) => dygraph.toDomXCoord(at * 1000)), area.x, area.x + area.w);
    this.lane.replaceChildren(...all.flatMap((place) => {
      const words = place.marks.map((mark) => `${when(mark.at)} ${kindText(mark.kind)}: ${mark.text}`).join('\n');
      const point = h('span', { class: 'chart-mark-point' });
      point.style.left = `${place.x}px`;
      if (place.row < 0) {
        point.title = words;
        return [point];
      }
      const label = h('span', { class: 'chart-mark', title: words, 'data-kind': place.marks[0].kind }, place.text);
      Object.assign(label.style, { left: `${place.left}px`, top: `${place.row * 20}px`, width: `${place.width}px` });
      return [point, label];
    }));
    this.lane.hidden = all.length === 0;
    this.lane.style.height = `${(Math.max(0, ...all.map((place) => place.row + 1)) || 0) * 20 + 8}px`;
  }

  // ---- the cursor ----

  time(event) {
    const dygraph = this.first(), box = this.plots.values().next().value.canvas.getBoundingClientRect();
    return dygraph ? dygraph.toDataXCoord(event.clientX - box.left) / 1000 : null;
  }

  inside(event) { return event.target.closest?.('.chart-canvas') && !event.target.closest('.dygraph-rangesel-fgcanvas, .dygraph-rangesel-zoomhandle') && this.first(); }

  point(event) {
    if (!this.inside(event) && !this.drag) return;
    const at = this.time(event);
    if (this.drag) this.shade(this.drag.at, at);
    this.show(Math.min(Math.max(at, this.data.from), this.data.to));
  }

  press(event) {
    if (!this.inside(event) || event.button !== 0) return;
    this.show(this.time(event));
    if (event.pointerType === 'touch') return; // a finger scrolls, and sets the cursor
    this.drag = { at: this.time(event), x: event.clientX };
    this.body.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.root.focus({ preventScroll: true });
  }

  release(event) {
    const drag = this.drag;
    this.drag = null;
    this.shade();
    if (!drag || Math.abs(event.clientX - drag.x) < 6) return;
    const ends = [drag.at, this.time(event)].sort((a, b) => a - b);
    this.zoom(ends[0], ends[1]);
  }

  shade(from, to) {
    for (const { dygraph, shade } of this.plots.values()) {
      shade.hidden = from === undefined;
      if (shade.hidden) continue;
      const area = dygraph.getArea(), clamp = (x) => Math.min(Math.max(x, area.x), area.x + area.w);
      const ends = [from, to].map((at) => clamp(dygraph.toDomXCoord(at * 1000))).sort((a, b) => a - b);
      Object.assign(shade.style, { left: `${ends[0]}px`, width: `${ends[1] - ends[0]}px`, top: `${area.y}px`, height: `${area.h}px` });
    }
  }

  // The step of a series that a moment lies in; -1: none.
  static step(series, at) {
    const { times, half } = series;
    let best = -1;
    for (let i = 0; i < times.length; i++) if (best < 0 || Math.abs(times[i] - at) < Math.abs(times[best] - at)) best = i;
    return best >= 0 && Math.abs(times[best] - at) <= (half || 5) + 1e-6 ? best : -1;
  }

  static newest(series) {
    for (let i = series.values.length - 1; i >= 0; i--) if (isNumber(series.values[i])) return i;
    return -1;
  }

  // Where one line has room for all.
  briefly(plot, series, i) {
    const value = i >= 0 ? series.values[i] : null, half = isNumber(series.high?.[i]) ? series.high[i] - value : 0;
    return isNumber(value) ? plot.format(value) + (half > 0 ? ` ± ${plot.format(half).replace(/ %$/, '')}` : '') : '–';
  }

  words(plot, series, i) {
    const value = i >= 0 ? series.values[i] : null, low = series.low?.[i], high = series.high?.[i];
    if (!isNumber(value)) return 'not measured';
    return plot.format(value) + (isNumber(low) && isNumber(high) && high > low ? ` (${plot.format(low)} to ${plot.format(high)})` : '');
  }

  // Null: the newest values.
  show(at, aloud) {
    this.cursor = at;
    const spoken = [];
    let time = null;
    for (const own of this.plots.values()) {
      const { plot, dygraph, line } = own, area = dygraph.getArea();
      plot.series.forEach((series, s) => {
        const i = at === null ? Charts.newest(series) : Charts.step(series, at);
        if (i >= 0) time = Math.max(time ?? 0, series.times[i]);
        own.values[s].textContent = this.options.brief ? this.briefly(plot, series, i) : this.words(plot, series, i);
        spoken.push(`${series.label}: ${this.words(plot, series, i)}`);
      });
      line.hidden = at === null;
      if (at !== null) Object.assign(line.style, { left: `${dygraph.toDomXCoord(at * 1000)}px`, top: `${area.y}px`, height: `${area.h}px` });
    }
    const near = at === null ? [] : this.data.marks.filter((mark) => Math.abs(mark.at - at) <= Math.max(5, (this.data.to - this.data.from) / 120));
    const happened = near.map((mark) => `${kindText(mark.kind)}: ${mark.text}`).join('; ');
    this.at.textContent = at === null ? (time === null ? 'Nothing has been measured in this time.' : `Newest values, ${when(time)}`) : `At ${when(at)}${happened ? ` · ${happened}` : ''}`;
    if (aloud) this.said.textContent = `${this.at.textContent}. ${spoken.join('. ')}`;
  }

  // ---- keys and zoom ----

  key(event) {
    if (event.target !== this.root || event.ctrlKey || event.metaKey || event.altKey || !this.data) return;
    const { from, to, begin, end } = this.data, span = to - from, by = Math.max(this.data.step || 10, span / 60), at = this.cursor ?? to;
    const move = (seconds) => this.show(Math.min(Math.max(at + seconds, from), to), true);
    const keys = {
      ArrowLeft: () => (event.shiftKey ? this.zoom(from - span / 2, to - span / 2) : move(-by)), ArrowRight: () => (event.shiftKey ? this.zoom(from + span / 2, to + span / 2) : move(by)),
      Home: () => this.show(from, true), End: () => this.show(to, true), '+': () => this.scale(0.5), '=': () => this.scale(0.5), '-': () => this.scale(2), 0: () => this.zoom(begin, end), Escape: () => this.show(null, true), m: () => this.next(1), M: () => this.next(-1),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  // To the next mark in the window, or the one before.
  next(by) {
    const { marks, from, to } = this.data, at = this.cursor ?? (by > 0 ? from - 1 : to), seen = marks.filter((mark) => mark.at >= from && mark.at <= to && (mark.at - at) * by > 0.5);
    if (seen.length) this.show(seen[by > 0 ? 0 : seen.length - 1].at, true);
  }

  // Around the cursor, where there is one.
  scale(by) {
    const { from, to } = this.data, at = this.cursor ?? (to >= this.data.end - 1 ? to : (from + to) / 2);
    this.zoom(at - (at - from) * by, at + (to - at) * by);
  }

  zoom(from, to) {
    const { begin, end } = this.data, span = Math.min(Math.max(to - from, LEAST), end - begin), middle = (from + to) / 2;
    from = Math.min(Math.max(to - from < LEAST ? middle - span / 2 : from, begin), end - span);
    this.options.onZoom?.(from, from + span, from + span >= end - 1);
  }

  // ---- for those who do not see it ----

  describe(own) {
    const words = own.plot.series.map((series) => {
      const i = Charts.newest(series), seen = series.values.filter((value, n) => isNumber(value) && series.times[n] >= this.data.from && series.times[n] <= this.data.to);
      return i < 0 ? `${series.label}: not measured` : `${series.label}: ${this.words(own.plot, series, i)}, from ${own.plot.format(Math.min(...seen))} to ${own.plot.format(Math.max(...seen))} in this time`;
    });
    own.root.setAttribute('aria-label', `${own.plot.title}. ${words.join('. ')}`);
    this.fill(own);
  }

  fill(own) {
    if (!own.details.open) return;
    const { plot } = own, { from, to } = this.data, times = (plot.series[0]?.times || []).map((at, i) => [at, i]).filter(([at]) => at >= from && at <= to);
    const every = Math.max(1, Math.ceil(times.length / TABLE_ROWS));
    own.table.replaceChildren(h('table', {}, h('caption', {}, `${plot.title}, ${plot.unit}${every > 1 ? `: each ${every}th step` : ''}`),
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'time'), ...plot.series.map((one) => h('th', { scope: 'col' }, one.label)))),
      h('tbody', {}, ...times.filter((_, n) => n % every === 0).map(([at, i]) => h('tr', {}, h('th', { scope: 'row' }, when(at)), ...plot.series.map((one) => h('td', {}, this.words(plot, one, i))))))));
  }
}

export const charts = (element, options) => new Charts(element, options);

// ---- level 1 of an answer of /api/v1/history, for other views ----

// The moments in which an answer's steps lie.
export function stepTimes(data) {
  return Array.from({ length: data.begin_timestamp_seconds === null ? 0 : data.steps }, (_, i) => data.begin_timestamp_seconds + (i + 0.5) * data.step_seconds);
}
export const markList = (data) => (data.marks || []).filter((mark) => isNumber(mark.timestamp_seconds)).map((mark) => ({ at: mark.timestamp_seconds, kind: mark.kind, text: mark.core_type ? `${mark.core_type}: ${mark.text}` : mark.text }));
export const stepSeries = (data, one, label) => ({ label, name: one.metric, times: stepTimes(data), values: one.values, low: one.low, high: one.high, half: data.step_seconds / 2 });

// A plot of the categories of one scope and core type, each with its values: lowest area first.
export function level1Plot(id, title, series) {
  const sorted = [...series].sort((a, b) => orderOf(a.name) - orderOf(b.name)).map((one) => {
    const part = LEVEL1.find(({ metric }) => metric === one.name);
    return part ? { ...one, label: part.plain, term: part.title.toLowerCase() } : one;
  });
  return { id, title, unit: '% of pipeline slots', kind: 'areas', format: (value) => share(value), axis: (value) => `${Math.round(100 * value)} %`, series: sorted };
}
export const isLevel1 = (metric) => LEVEL1.some((part) => part.metric === metric);

const shown = new WeakMap();
// Level 1 of the host over the time that an answer of /api/v1/history covers, with its marks, or others. Call it again with each answer. Who
// zooms goes to the view of time. Options are those of charts().
export function timeline(element, data, marks, options = {}) {
  let own = shown.get(element);
  if (!own || !element.contains(own.root)) {
    own?.destroy();
    own = charts(element, { label: 'Level 1 over time. Arrows move the cursor, m goes to the next mark.', table: false, brief: true,
      onZoom: (from, to) => { location.hash = `#time?metric=level1&from=${Math.round(from)}&to=${Math.round(to)}`; }, ...options });
    shown.set(element, own);
  }
  const times = stepTimes(data), half = data.step_seconds / 2, types = [...new Set(data.series.map((one) => one.core_type))];
  const end = times.length ? times[times.length - 1] + half : Date.now() / 1000, begin = times.length ? Math.min(times[0] - half, end - LEAST) : end - LEAST;
  own.set({ plots: types.map((type) => level1Plot(`level1 ${type ?? ''}`, type ? `Level 1 of ${type}` : 'Level 1', data.series.filter((one) => one.core_type === type).map((one) => stepSeries(data, one, one.title)))),
    marks: marks || markList(data), from: begin, to: end, begin, end, step: data.step_seconds });
  return own;
}
