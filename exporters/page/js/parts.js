// SPDX-License-Identifier: Apache-2.0
// What the views of a host's parts show alike: sections, values with their intervals, bars with thresholds, and what
// Prometheus calls a metric.

import { card, command, h, render } from './dom.js';
import { NONE, capital, known, margin, quantity, unitOf } from './format.js';
import { dataOf, typesOf } from './model.js';

export const hostnameOf = (context) => typesOf(dataOf(context.state, 'status'))[0]?.hostname ?? '';

// The arguments of a route, '#where?metric=ipc&cpu=7', and the way back.
export const argumentsOf = (route) => new URLSearchParams(route?.params ?? '');
export const hashOf = (id, values) => {
  const text = new URLSearchParams(Object.entries(values).filter(([, value]) => known(value) && value !== '')).toString();
  return `#${id}${text ? `?${text}` : ''}`;
};

// A view is a list of sections: {id, title, draw(context)}. `draw` returns what is in it, or null where the host has
// nothing of it.
export const renderSections = (root, title, sections, context) => render(root, h('h1', { class: 'offscreen', 'data-key': 'title' }, title), sections.map((section) => {
  const drawn = section.draw(context);
  return drawn === null ? null : card(section.title, { id: `${section.id}-section`, 'data-key': `${section.id}-section` }, drawn);
}));

export const note = (...children) => h('p', { class: 'soft' }, children);
export const chip = (text, kind = '') => h('span', { class: `chip ${kind}` }, text);
// A whole number, with commas.
export const whole = (n) => known(n) ? Math.round(n).toLocaleString('en-US') : NONE;
export const percent = (share, digits = 1) => known(share) ? `${(100 * share).toFixed(digits)} %` : NONE;

// What the kernel's NMI watchdog does with a counter.
export const WATCHDOG = { holds_a_counter: 'on: it holds a counter of every CPU. Without it (kernel.nmi_watchdog=0) there is one more', holds_none: 'on, and takes no counter', off: 'off' };

// A part that opens, and stays as somebody left it.
export const opens = (key, summary, children, { open = false, kind = '' } = {}) =>
  h('details', { class: kind, 'data-key': key, open }, h('summary', { 'data-key': `${key} summary` }, summary), children);

// Names and values: [name, ...what is shown].
export const facts = (rows) => h('dl', { class: 'facts' }, rows.filter(Boolean).map(([name, ...shown]) =>
  h('div', { 'data-key': name }, h('dt', {}, name), h('dd', {}, shown))));

// ---- values ----

// What stands behind the number: 'of pipeline slots', 'instructions per cycle'; nothing where the number says it (GB/s).
export const wordsOf = (unit) => {
  if (/^(hertz|Hz|seconds|bytes|bytes (per|a) second)$/.test(unit)) return '';
  return unit === 'MPKI' ? 'misses per 1,000 instructions' : unitOf(unit).replace(/^%( of)?$/, '').replace(/^% /, '');
};

export const valueText = (entry, unit = entry?.unit) => known(entry?.value) ?
  [quantity(entry.value, unit), margin(entry, unit), wordsOf(unit)].filter(Boolean).join(' ') : `${NONE} ${entry?.reason ?? 'not measured'}`;

// A number, its interval and its unit, each in its own weight; without a value, why. `bare`: the unit is said elsewhere.
export const value = (entry, unit = entry?.unit, { bare = false } = {}) => {
  if (!known(entry?.value)) return h('span', { class: 'value soft' }, `${NONE} ${entry?.reason ?? 'not measured'}`);
  const interval = margin(entry, unit), words = bare ? '' : wordsOf(unit);
  return h('span', { class: 'value' }, h('b', {}, quantity(entry.value, unit)), interval && [' ', h('span', { class: 'pm' }, interval)],
    words && [' ', h('span', { class: 'unit' }, words)]);
};

// By how much two values differ: '+12.3 points', '−0.4 instructions per cycle'.
export const differenceText = (by, unit) => {
  const sign = by < 0 ? '−' : '+';
  const points = Math.abs(by * 100);
  return isShare(unit) ? `${sign}${points >= 1 ? points.toFixed(1) : Number(points.toPrecision(1))} points` : [`${sign}${quantity(Number(Math.abs(by).toPrecision(2)), unit)}`, wordsOf(unit)].filter(Boolean).join(' ');
};

export const isShare = (unit) => /^(ratio|share)( of|$)/.test(unit ?? '');

const cut = (share) => `${(100 * Math.min(Math.max(share ?? 0, 0), 1)).toFixed(2)}%`;

// A bar of one share with its interval and threshold; the number stands beside it in words.
export const shareBar = (entry, threshold, kind = '') => h('span', { class: `bar share ${kind}`, 'aria-hidden': 'true' },
  h('span', { style: { width: cut(entry.value) } }),
  known(entry.low) && known(entry.high) && h('i', { class: 'between', style: { left: cut(entry.low), width: cut(entry.high - entry.low) } }),
  known(threshold) && h('i', { class: 'limit', style: { left: cut(threshold) } }));

// ---- metrics ----

// What the catalog knows of each metric, by its exported name.
export const meaningsOf = (catalog) => new Map(typesOf(catalog).flatMap((type) => [...type.metrics, ...(type.uncore ?? []).flatMap((kind) => kind.metrics)])
  .map((meaning) => [meaning.metric, meaning]));

export const titleOf = (meanings, metric) => capital(meanings.get(metric)?.title || metric);

// The metric of the whole host in Prometheus: sums first, ratios last, as docs/metrics.md says.
export const queryOf = (meaning, hostname) => {
  const host = hostname && hostname !== 'unknown' ? `instance=~"${hostname.replace(/[.]/g, '[.]')}(:[0-9]+)?"` : '';
  const labels = (more) => [host, more].filter(Boolean).length ? `{${[host, more].filter(Boolean).join(', ')}}` : '';
  const rate = (name, more) => `sum(rate(${name}${labels(more)}[5m]))`;
  if (meaning.category && meaning.category !== 'smt_contention')
    return `${rate('topdownd_pipeline_slots_total', `category="${meaning.category}"`)}\n  / ${rate('topdownd_pipeline_slots_total')}`;
  if (known(meaning.k)) {
    const of = `metric="${meaning.metric}"`;
    return `${meaning.k === 1 ? '' : `${meaning.k} * `}${rate('topdownd_metric_numerator_total', of)}\n  / ${rate('topdownd_metric_denominator_total', of)}`;
  }
  return `topdownd_${meaning.metric}${labels()}`;
};

export const prometheus = (meaning, hostname) => opens(`prometheus ${meaning.metric}`, 'In Prometheus', [
  h('div', { class: 'label' }, 'Name, one value for each socket'), command(`topdownd_${meaning.metric}`, `the name of ${meaning.title} in Prometheus`),
  h('div', { class: 'label' }, 'Query for this host'), command(queryOf(meaning, hostname), `the query for ${meaning.title}`)], { kind: 'quiet' });

export const measureCommand = (groups) => `topdownd measure --groups ${groups.join(',')}`;
