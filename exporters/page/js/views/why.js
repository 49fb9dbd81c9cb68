// SPDX-License-Identifier: Apache-2.0
// Why: the tree behind the answer, with every node's share and certainty, what is not measured and how to measure it,
// and all metrics.

import { command, h, render, table } from '../dom.js';
import { capital, known, quantity } from '../format.js';
import { dataOf, typesOf } from '../model.js';
import { drawBottlenecks, drawOpportunities } from '../opportunities.js';
import { chip, hashOf, hostnameOf, isShare, meaningsOf, measureCommand, note, opens, prometheus, renderSections, shareBar, titleOf, value } from '../parts.js';

const ADDS_UP = {
  'pipeline slots': 'Shares of pipeline slots add up to the node above.',
  'clock cycles': 'Shares of cycles overlap and do not add up.',
  'stall cycles': 'A share of those stall cycles that the unit names.',
};

// The limit of a formula that begins by comparing the node itself with a number, in the scale of the export.
const limitOf = (node, meaning) => {
  const found = /^(\S+) > ([0-9.]+)(?: &|$)/.exec(node.threshold || '');
  return found && found[1] === node.name ? Number(found[2]) * (meaning?.export_scale ?? 1) : null;
};

const judged = (node) => {
  if (!known(node.value) || !known(node.exceeded)) return null;
  if (node.exceeded_certain === false) return chip(node.exceeded ? 'probably high' : 'maybe high', 'warn');
  return node.exceeded ? chip(node.exceeded_certain ? 'high, certain' : 'high', 'hot') : null;
};

const nextOf = (node) => {
  const names = (measured) => (node.next_groups ?? []).filter((group) => group.measured === measured).map((group) => group.name);
  const missing = names(false), there = names(true);
  return [
    there.length > 0 && h('p', {}, h('b', {}, 'More about it, measured already: '), there.join(', '), '. See the metrics below.'),
    missing.length > 0 && h('div', {}, h('div', { class: 'label' }, `Says more, and is not measured: ${missing.join(', ')}. Measure it for ten seconds:`),
      command(measureCommand(missing), `the command that measures more about ${node.title}`)),
    node.sample_command && h('div', {}, h('div', { class: 'label' }, 'Find the code:'), command(node.sample_command, `the command that finds the code of ${node.title}`)),
  ];
};

const trustOf = (node) => [
  known(node.low) && known(node.high) && !node.exact ? `With 95 % certainty between ${quantity(node.low, node.unit)} and ${quantity(node.high, node.unit)}` : null,
  node.interval_reason ? `No interval: ${node.interval_reason}` : null,
  node.quality_reason ? `Uncertain: ${node.quality_reason}` : null,
  known(node.windows) ? `${node.windows.toLocaleString('en-US')} windows, counted ${(100 * node.share_of_time).toFixed(0)} % of the time` : null,
  node.composite ? 'its parts come from adjacent windows' : null,
].filter(Boolean).join('; ');

const aboutOf = (node, of) => {
  const meaning = of.meanings.get(node.metric);
  return h('div', { class: 'about' },
    node.meaning && h('p', {}, node.meaning),
    note(trustOf(node), trustOf(node) && '. ', ADDS_UP[node.domain] ?? ''),
    node.threshold && note('High where ', h('code', {}, node.threshold), '.'),
    node.definition && note(`What counts on this CPU: ${node.definition}.`),
    nextOf(node),
    h('p', {}, h('a', { href: hashOf('time', { metric: node.metric }), 'data-key': 'time' }, 'Over time'), ' · ',
      h('a', { href: hashOf('where', { metric: node.metric }), 'data-key': 'where' }, 'By CPU')),
    meaning && prometheus(meaning, of.hostname));
};

// What the methodology has below a node and nobody measures.
const unmeasuredOf = (parent, of) => {
  const list = [...of.meanings.values()].filter((meaning) => meaning.parent === parent && !of.shown.has(meaning.metric));
  if (list.length === 0) return null;
  const groups = [...new Set(list.map((meaning) => meaning.groups[0]).filter(Boolean))], titles = list.map((meaning) => capital(meaning.title));
  return h('li', { 'data-key': `not ${parent}` }, opens(`not ${of.type} ${parent}`, h('span', { class: 'row off' },
    h('span', { class: 'name' }, `Not measured: ${titles.slice(0, 3).join(', ')}${titles.length > 3 ? ` and ${titles.length - 3} more` : ''}`)),
  h('div', { class: 'about' },
    h('ul', { class: 'plain' }, list.map((meaning) => h('li', {}, h('b', {}, capital(meaning.title)), meaning.meaning && `: ${meaning.meaning}`,
      meaning.reason && !/^not selected/.test(meaning.reason) && h('span', { class: 'soft' }, ` (${meaning.reason})`)))),
    groups.length > 0 && [h('div', { class: 'label' }, 'Measure it for ten seconds:'), command(measureCommand(groups), `the command that measures ${titles.join(', ')}`)])));
};

const nodeOf = (node, of) => {
  const onPath = of.path.includes(node.metric), meaning = of.meanings.get(node.metric);
  of.shown.add(node.metric);
  const below = node.children.map((child) => nodeOf(child, of));
  const rest = unmeasuredOf(node.metric, of);
  return h('li', { 'data-key': node.metric },
    opens(`${of.type} ${node.metric}`, h('span', { class: 'row' },
      h('span', { class: onPath ? 'name path' : 'name' }, capital(node.title)),
      isShare(node.unit) && known(node.value) ? shareBar(node, limitOf(node, meaning), onPath ? 'path' : '') : h('span', { class: 'bar none' }),
      value(node), judged(node) ?? h('span', {})), aboutOf(node, of), { open: node.metric === of.path.at(-1) }),
    (below.length > 0 || rest) && h('ul', {}, below, rest));
};

const drawTree = (context) => {
  const topdown = dataOf(context.state, 'topdown'), catalog = dataOf(context.state, 'catalog');
  if (!topdown) return note('Nothing has been read yet.');
  return typesOf(topdown).map((type, i) => {
    const of = { meanings: meaningsOf(typesOf(catalog)[i]), hostname: hostnameOf(context), shown: new Set(), path: type.bound?.path ?? [], type: type.core_type ?? '' };
    const tree = type.scopes[0]?.tree ?? [];
    return [type.core_type && h('h3', { 'data-key': `head ${of.type}` }, type.core_type),
      h('p', { class: 'answer', 'data-key': `answer ${of.type}` }, type.bound ? type.bound.text : `Not known: ${type.bound_reason}.`),
      tree.length > 0 ? h('ul', { class: 'whole', 'data-key': `tree ${of.type}` }, tree.map((node) => nodeOf(node, of))) : note('No node of the tree is measured.')];
  }).concat(drawLegend());
};

const drawLegend = () => h('p', { class: 'legend soft', 'data-key': 'legend' },
  h('span', {}, shareBar({ value: 0.6 }, null, 'path'), 'leads to the answer'), h('span', {}, shareBar({ value: 0.6 }), 'others'),
  h('span', {}, shareBar({ value: 0, low: 0.25, high: 0.75 }), '95 % interval'), h('span', {}, shareBar({ value: 0 }, 0.5), 'threshold'));

// ---- all metrics ----

let wanted = ''; // what somebody searches for

const matches = (meaning, name) => `${name} ${meaning?.title} ${meaning?.help} ${meaning?.groups}`.toLowerCase().includes(wanted.toLowerCase());

const aboutMetric = (name, title, meaning, hostname) => opens(`about ${name}`, title, h('div', { class: 'about' }, [
  meaning?.help && h('p', {}, meaning.help), meaning?.meaning && meaning.meaning !== meaning.help && h('p', {}, meaning.meaning),
  meaning?.definition && note(`What counts on this CPU: ${meaning.definition}.`),
  meaning?.formula && note('Formula: ', h('code', {}, meaning.formula)),
  h('p', {}, h('a', { href: hashOf('time', { metric: name }) }, 'Over time'), ' · ', h('a', { href: hashOf('where', { metric: name }) }, 'By CPU')),
  meaning && prometheus(meaning, hostname)]));

const metricsOf = (context) => {
  const snapshot = dataOf(context.state, 'snapshot'), catalog = dataOf(context.state, 'catalog'), hostname = hostnameOf(context);
  return typesOf(snapshot).map((type, i) => {
    const meanings = meaningsOf(typesOf(catalog)[i]), unit = (row) => row.entry.unit;
    const rows = Object.entries(type.scopes[0].metrics).filter(([name]) => matches(meanings.get(name), name))
      .map(([name, entry]) => ({ key: name, name, entry, title: titleOf(meanings, name), meaning: meanings.get(name) }));
    const caption = `Values of all metrics${type.core_type ? ` of ${type.core_type}` : ''}`;
    return [type.core_type && h('h3', { 'data-key': `head ${type.core_type}` }, type.core_type),
      rows.length === 0 ? note(`No metric has "${wanted}" in its name, description or group.`) : table(`metrics ${type.core_type ?? ''}`, caption, [
        { title: 'Metric', of: (row) => row.title, show: (row) => aboutMetric(row.name, row.title, row.meaning, hostname) },
        { title: 'Value', note: '± half of its 95 % interval', numeric: true, of: (row) => row.entry.value, show: (row) => value(row.entry, unit(row)) },
        { title: 'Quality', of: (row) => row.entry.quality, show: (row) => known(row.entry.value) ? [row.entry.exact ? 'exact' : row.entry.quality, row.entry.quality_reason && h('div', { class: 'soft' }, row.entry.quality_reason)] : '' },
      ], rows)];
  });
};

const drawMetrics = (context) => {
  if (!dataOf(context.state, 'snapshot')) return note('Nothing has been read yet.');
  const search = h('input', { type: 'search', id: 'why-search', autocomplete: 'off', value: wanted || null,
    oninput: (event) => {
      wanted = event.currentTarget.value;
      render(document.getElementById('why-metrics'), metricsOf(context));
    } });
  return [h('p', { class: 'search' }, h('label', { for: 'why-search' }, 'Search '), search), h('div', { id: 'why-metrics' }, metricsOf(context))];
};

const drawUnplanned = (context) => {
  const rows = typesOf(dataOf(context.state, 'plan')).flatMap((type, i) => type.not_plannable.map((one) => ({ key: `${i} ${one.metric}`,
    title: titleOf(meaningsOf(typesOf(dataOf(context.state, 'catalog'))[i]), one.metric), reason: one.reason })));
  return rows.length === 0 ? null : table('not plannable', 'Metrics that this host cannot measure now', [
    { title: 'Metric', of: (row) => row.title, show: (row) => row.title }, { title: 'Why', show: (row) => row.reason }], rows);
};

const drawGroups = (context) => {
  const parts = typesOf(dataOf(context.state, 'catalog')).map((type) => {
    const selected = new Set(type.metrics.filter((metric) => metric.selected).map((metric) => metric.metric)), of = type.core_type ? ` of ${type.core_type}` : '';
    const rows = type.groups.filter((group) => !group.metrics.every((metric) => selected.has(metric))).map((group) => ({ key: group.name, ...group }));
    return rows.length > 0 && opens(`groups${of}`, `${rows.length} of ${type.groups.length} metric groups${of}`, table(`groups${of}`, `Metric groups${of} that are not measured`, [
      { title: 'Group', of: (row) => row.name, show: (row) => row.name }, { title: 'What it tells', show: (row) => row.title || row.help },
      { title: 'Measure it for ten seconds', show: (row) => command(measureCommand([row.name]), `the command that measures ${row.name}`) }], rows));
  }).filter(Boolean);
  return parts.length === 0 ? null : [note('Not measured all the time. A group in groups of topdownd.yaml is.'), parts];
};

const SECTIONS = [
  { id: 'tree', title: 'The tree behind the answer', draw: drawTree },
  { id: 'bottlenecks', title: 'What would help how much', draw: drawBottlenecks },
  { id: 'opportunities', title: 'What would be gained', draw: drawOpportunities },
  { id: 'metrics', title: 'All metrics', draw: drawMetrics },
  { id: 'unplanned', title: 'What this host cannot measure', draw: drawUnplanned },
  { id: 'groups', title: 'What else can be measured', draw: drawGroups },
];

let root = null;

export default {
  id: 'why',
  title: 'Why',
  needs: () => ['topdown', 'snapshot', 'catalog', 'plan', 'status', 'opportunities'],
  mount(element) { root = element; },
  update(context) { renderSections(root, 'Why: the tree, and all metrics', SECTIONS, context); },
};
