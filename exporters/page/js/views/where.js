// SPDX-License-Identifier: Apache-2.0
// Where: which sockets and CPUs differ, a map of all CPUs by any metric, one CPU, and what memory and boxes move.

import { copyButton, h, table } from '../dom.js';
import { bytes, capital, count, known, quantity, unitOf } from '../format.js';
import { drawMap, describe, nameOf } from '../cpumap.js';
import { least, listOf, outliersOf } from '../outliers.js';
import { dataOf, typesOf } from '../model.js';
import { argumentsOf, chip, differenceText, facts, hashOf, hostnameOf, meaningsOf, note, opens, percent, prometheus, renderSections, shareBar, titleOf, value,
  wordsOf } from '../parts.js';
import { drawByNode } from '../bynode.js';
import { levelOneKey, levelOneOf } from '../levelone.js';

const ROWS = 8; // findings that are shown at once

const wanted = { metric: '', cpu: null, table: false };
const readRoute = (route) => {
  const given = argumentsOf(route);
  wanted.metric = given.get('metric') ?? '';
  wanted.cpu = /^\d+$/.test(given.get('cpu') ?? '') ? Number(given.get('cpu')) : null;
};

const query = () => wanted.metric ? `cpus?metric=${encodeURIComponent(wanted.metric)}` : 'cpus';
const cpuQuery = () => `snapshot?scope=cpu&cpu=${wanted.cpu}`;

// ---- the CPUs of the answer ----

const weightsOf = (type) => { // of what has no parts, all CPUs have the same
  const parts = type.denominator_total, sum = parts?.reduce((all, one) => all + (one ?? 0), 0);
  return sum > 0 ? parts.map((one) => (one ?? 0) / sum) : type.cpus.map(() => 1 / type.cpus.length);
};

const cpusOf = (data) => typesOf(data).flatMap((type) => {
  const weights = weightsOf(type);
  return type.cpus.map((cpu, i) => ({
    cpu, socket: type.sockets[i], core: type.cores[i], node: type.nodes[i], cache: type.caches[i], type: type.core_type ?? '', weight: weights[i],
    value: type.values[i], low: type.low[i], high: type.high[i], reason: type.values[i] === null ? 'no value now' : null,
  }));
});

// Everything that several sections need, worked out once an update.
let now = null;
const lookAt = (context) => {
  const data = dataOf(context.state, query()), first = typesOf(data)[0];
  const cpus = cpusOf(data), metric = first?.metric ?? wanted.metric, unit = first?.unit ?? '';
  const meanings = meaningsOf(dataOf(context.state, 'catalog'));
  const types = [...new Set(cpus.map((one) => one.type))].map((type) => ({ type, ...outliersOf(cpus.filter((one) => one.type === type), unit) }));
  now = { data, cpus, metric, unit, meanings, title: titleOf(meanings, metric), types, error: context.state[query()]?.error ?? null };
};

const go = (context, changes) => context.go(hashOf('where', { metric: wanted.metric || null, cpu: wanted.cpu, ...changes }));

const chooser = (context) => {
  const names = [...new Set(typesOf(dataOf(context.state, 'snapshot')).flatMap((type) => Object.keys(type.scopes[0].metrics)))];
  return h('p', { class: 'search' }, h('label', { for: 'where-metric' }, 'Metric '), h('select', { id: 'where-metric', onchange: (event) => go(context, { metric: event.currentTarget.value }) },
    names.map((name) => h('option', { value: name, selected: name === now.metric }, titleOf(now.meanings, name)))), ' ', h('span', { class: 'soft' }, unitOf(now.unit)));
};

// ---- what differs ----

const socketFindings = (context) => typesOf(dataOf(context.state, 'snapshot?scope=socket')).flatMap((type) => {
  const host = typesOf(dataOf(context.state, 'snapshot')).find((one) => one.core_type === type.core_type)?.scopes[0].metrics[now.metric];
  if (!known(host?.value) || type.scopes.length < 2) return [];
  return type.scopes.map((scope) => ({ scope, entry: scope.metrics[now.metric], cpus: now.cpus.filter((one) => one.socket === scope.socket && one.type === (type.core_type ?? '')) }))
    .filter(({ entry }) => known(entry?.value) && Math.abs(entry.value - host.value) >= least(now.unit, host.value) && (!known(entry.high) || host.value < entry.low || host.value > entry.high))
    .map(({ scope, entry, cpus }) => ({ key: `socket ${scope.socket} ${type.core_type}`, who: `Socket ${scope.socket}`, list: type.core_type ?? `${count(cpus.length, 'CPU')}`, entry,
      by: entry.value - host.value, from: `the host's ${quantity(host.value, now.unit)}`, moves: (entry.value - host.value) * cpus.reduce((sum, one) => sum + one.weight, 0), cpu: null }));
});

const cpuFindings = () => now.types.flatMap((type) => type.findings.map((finding) => {
  const one = finding.cpus.length === 1, list = listOf(finding.cpus.map((cpu) => cpu.cpu)), ends = [quantity(finding.low, now.unit), quantity(finding.high, now.unit)];
  return { key: `cpus ${type.type} ${list}`, who: one ? nameOf(finding.cpus[0]) : count(finding.cpus.length, 'CPU'), list: one ? `socket ${finding.cpus[0].socket}` : list,
    entry: one ? finding.cpus[0] : { value: finding.value, unit: now.unit }, range: ends[0] === ends[1] ? null : ends.join(' to '),
    by: finding.by, moves: finding.moves, from: `${quantity(type.middle, now.unit)}, the median of ${count(type.rest, 'other')}`, cpu: one ? finding.cpus[0].cpu : null };
}));

const none = (type) => type.n < 2 ? (type.n === 1 ? 'There is one CPU: nothing to compare it with.' : 'No CPU has a value of this metric now.') :
  `${type.type ? `${type.type}: n` : 'N'}o CPU differs: all ${type.n.toLocaleString('en-US')} are near ${quantity(type.middle, now.unit)} ${wordsOf(now.unit)}.`;

const drawOutliers = (context) => {
  const rows = [...socketFindings(context), ...cpuFindings()].sort((a, b) => Math.abs(b.moves) - Math.abs(a.moves));
  const quiet = now.types.filter((type) => type.findings.length === 0).map((type) => note(none(type)));
  const columns = [
    { title: 'What', show: (row) => [h('b', {}, row.cpu === null ? row.who : h('a', { href: hashOf('where', { metric: now.metric, cpu: row.cpu }) }, row.who)), h('div', { class: 'soft list' }, row.list)] },
    { title: 'Value', numeric: true, of: (row) => row.entry.value, show: (row) => [value(row.entry, now.unit, { bare: true }), row.range && h('div', { class: 'soft' }, row.range)] },
    { title: 'Differs by', numeric: true, of: (row) => Math.abs(row.by), show: (row) => [h('b', {}, differenceText(row.by, now.unit)), h('div', { class: 'soft' }, `from ${row.from}`)] },
    { title: 'Moves the host by', numeric: true, of: (row) => Math.abs(row.moves), show: (row) => differenceText(row.moves, now.unit) },
  ];
  const shown = (list, key) => table(`outliers ${key}`, `What differs, by ${now.title}`, columns, list);
  return [chooser(context), now.error && !now.data ? note(now.error.text) : null,
    rows.length > 0 && shown(rows.slice(0, ROWS), 'first'), rows.length > ROWS && opens('more outliers', `${rows.length - ROWS} more`, shown(rows.slice(ROWS), 'more')), now.data && quiet];
};

// ---- the map, and the CPU that is open ----

const odd = () => new Set(now.types.flatMap((type) => type.findings.filter((finding) => finding.cpus.length <= now.cpus.length / 4).flatMap((finding) => finding.cpus)));

const drawTable = () => table('cpus', `All CPUs by ${now.title}`, [
  { title: 'CPU', numeric: true, of: (row) => row.cpu, show: (row) => h('a', { href: hashOf('where', { metric: now.metric, cpu: row.cpu }) }, String(row.cpu)) },
  { title: 'Core', numeric: true, of: (row) => row.core, show: (row) => String(row.core) }, { title: 'Socket', numeric: true, of: (row) => row.socket, show: (row) => String(row.socket) },
  ...(now.cpus.some((one) => one.node !== null) ? [{ title: 'NUMA node', numeric: true, of: (row) => row.node, show: (row) => known(row.node) ? String(row.node) : '–' }] : []),
  ...(now.types.length > 1 ? [{ title: 'Core type', of: (row) => row.type, show: (row) => row.type }] : []),
  { title: now.title, numeric: true, of: (row) => row.value, show: (row) => value(row, now.unit) },
], now.cpus.map((one) => ({ key: `${one.type} ${one.cpu}`, ...one })));

const drawCpus = (context) => {
  if (!now.data) return note('Nothing has been read yet.');
  return [drawMap(now.cpus, { unit: now.unit, odd: odd(), open: wanted.cpu, title: now.title, choose: (cpu) => go(context, { metric: now.metric, cpu: cpu === wanted.cpu ? null : cpu }) }),
    h('details', { 'data-key': 'cpus as a table', ontoggle: (event) => {
      if (wanted.table === event.currentTarget.open) return;
      wanted.table = event.currentTarget.open;
      update(context);
    } }, h('summary', { 'data-key': 'cpus as a table summary' }, `The same as a table of ${count(now.cpus.length, 'CPU')}`), wanted.table && drawTable())];
};

const drawCpu = (context) => {
  if (wanted.cpu === null) return null;
  const one = now.cpus.find((cpu) => cpu.cpu === wanted.cpu), scope = typesOf(dataOf(context.state, cpuQuery())).flatMap((type) => type.scopes)[0];
  if (!one || !scope) return now.data && !one ? note(`CPU ${wanted.cpu} is not measured. `, h('a', { href: hashOf('where', { metric: now.metric }) }, 'All CPUs')) : note('Nothing has been read yet.');
  const siblings = now.cpus.filter((cpu) => cpu.core === one.core && cpu.type === one.type && cpu !== one);
  const rows = Object.entries(scope.metrics).map(([name, entry]) => ({ key: name, name, entry, title: titleOf(now.meanings, name) }));
  return [h('p', {}, h('b', {}, nameOf(one)), ` ${describe(one, now.unit).slice(nameOf(one).length + 1)}`),
    facts([['Sibling threads', siblings.length > 0 ? siblings.map((cpu, i) => [i > 0 ? ', ' : '', h('a', { href: hashOf('where', { metric: now.metric, cpu: cpu.cpu }) }, nameOf(cpu))]) : 'none']]),
    levelOneOf(scope.metrics),
    h('p', { class: 'buttons' }, copyButton(location.href, 'a link to this CPU', 'Copy link'), ' ', h('a', { href: hashOf('where', { metric: now.metric }), class: 'button' }, 'Close')),
    table('cpu', `All values of CPU ${one.cpu}`, [{ title: 'Metric', of: (row) => row.title, show: (row) => row.title },
      { title: 'Value', note: '± half of its 95 % interval', numeric: true, of: (row) => row.entry.value, show: (row) => value(row.entry) }], rows)];
};

// ---- sockets ----

const boundOf = (scope, meanings) => {
  if (!scope?.bound) return scope?.bound_reason ?? '–';
  const last = scope.bound.path.at(-1);
  return scope.bound.exceeded === false ? `nothing stands out; most: ${titleOf(meanings, last)}` : titleOf(meanings, last);
};

const bandwidthOf = (context, socket) => {
  for (const kind of dataOf(context.state, 'uncore')?.kinds ?? []) {
    const mine = kind.sockets.find((one) => one.socket === socket), moved = mine?.traffic.filter((one) => /^memory_/.test(one.name) && known(one.bytes_per_second));
    if (moved?.length > 0) return { moved: moved.reduce((sum, one) => sum + one.bytes_per_second, 0), peak: mine.peak_bytes_per_second };
  }
  return null;
};

const drawSockets = (context) => {
  const rows = typesOf(dataOf(context.state, 'snapshot?scope=socket')).flatMap((type, i) => type.scopes.map((scope) => ({
    key: `${i} ${scope.socket}`, socket: scope.socket, type: type.core_type, entry: scope.metrics[now.metric], metrics: scope.metrics, memory: bandwidthOf(context, scope.socket),
    bound: boundOf(typesOf(dataOf(context.state, 'topdown?scope=socket'))[i]?.scopes.find((one) => one.socket === scope.socket), now.meanings),
    facts: typesOf(dataOf(context.state, 'status'))[i]?.sockets.find((one) => one.socket === scope.socket) })));
  if (rows.length === 0) return note('Nothing has been read yet.');
  return [table('sockets', 'Sockets side by side', [
    { title: 'Socket', of: (row) => row.socket, show: (row) => `${row.socket}${row.type ? `, ${row.type}` : ''}` },
    { title: 'Bound by', of: (row) => row.bound, show: (row) => row.bound },
    { title: 'Level 1', show: (row) => levelOneOf(row.metrics, { small: true }) },
    { title: now.title, numeric: true, of: (row) => row.entry?.value ?? null, show: (row) => value(row.entry, now.unit) },
    ...(rows.some((row) => row.memory) ? [{ title: 'Memory moves', numeric: true, of: (row) => row.memory?.moved ?? null, show: (row) => row.memory ?
      [bytes(row.memory.moved, '/s'), known(row.memory.peak) && h('div', { class: 'soft' }, `${percent(row.memory.moved / row.memory.peak, 0)} of ${bytes(row.memory.peak, '/s')}`)] : '–' }] : []),
    { title: 'CPUs', numeric: true, of: (row) => row.facts?.cpus_measured ?? null, show: (row) => row.facts ? [`${row.facts.cpus_measured} on ${row.facts.cores} cores`,
      row.facts.cpus_offline > 0 && h('div', {}, chip(`${row.facts.cpus_offline} offline`, 'warn'))] : '–' },
  ], rows), levelOneKey()];
};

// ---- memory and boxes ----

const PASSED = {
  memory_read: 'Memory, read', memory_write: 'Memory, written', memory_all: 'Memory, both ways', hbm_read: 'HBM, read', hbm_write: 'HBM, written',
  persistent_read: 'Persistent memory, read', persistent_write: 'Persistent memory, written', cxl_read: 'CXL memory, read', cxl_write: 'CXL memory, written',
  llc_miss_local: 'Last-level cache misses, local', llc_miss_remote: 'Last-level cache misses, remote', interconnect_in: 'Links between sockets, in',
  interconnect_out: 'Links between sockets, out', io_in: 'Devices, in', io_out: 'Devices, out',
};
const passed = (name) => PASSED[name] ?? capital(name.replace(/_/g, ' '));

const trafficRows = (kind) => kind.sockets.flatMap((socket) => socket.traffic.map((one) => ({ key: `${socket.socket} ${one.name}`, socket: socket.socket, title: passed(one.name), entry: { value: one.bytes_per_second,
  unit: 'bytes per second', reason: one.reason }, peak: /^memory_/.test(one.name) ? socket.peak_bytes_per_second : null, share_of_time: one.share_of_time }))
  .concat(socket.metrics.map((one) => ({ key: `${socket.socket} ${one.metric}`, socket: socket.socket, title: titleOf(now.meanings, one.metric), entry: one, peak: null, share_of_time: one.share_of_time }))));

const boxTable = (kind) => {
  const names = [...new Set(kind.boxes.flatMap((box) => box.traffic.map((one) => one.name)))], metrics = [...new Set(kind.boxes.flatMap((box) => box.metrics.map((one) => one.metric)))];
  const most = Math.max(...kind.boxes.flatMap((box) => box.traffic.map((one) => one.bytes_per_second ?? 0)), 1);
  return table(`boxes ${kind.pmu}`, `Boxes of ${kind.pmu}`, [
    { title: 'Box', of: (row) => row.box, show: (row) => row.name ?? String(row.box) }, { title: 'Socket', numeric: true, of: (row) => row.socket, show: (row) => String(row.socket) },
    ...(kind.boxes.some((box) => known(box.node)) ? [{ title: 'NUMA node', numeric: true, of: (row) => row.node, show: (row) => known(row.node) ? String(row.node) : '–' }] : []),
    ...names.map((name) => ({ title: passed(name), numeric: true, of: (row) => row.traffic.find((one) => one.name === name)?.bytes_per_second ?? null,
      show: (row) => { const one = row.traffic.find((each) => each.name === name); return known(one?.bytes_per_second) ? [bytes(one.bytes_per_second, '/s'), shareBar({ value: one.bytes_per_second / most })] : one?.reason ?? '–'; } })),
    ...metrics.map((name) => ({ title: titleOf(now.meanings, name), numeric: true, of: (row) => row.metrics.find((one) => one.metric === name)?.value ?? null,
      show: (row) => value(row.metrics.find((one) => one.metric === name)) })),
  ], kind.boxes.map((box) => ({ key: String(box.box), ...box })));
};

const drawBoxes = (context) => {
  const kinds = dataOf(context.state, 'uncore')?.kinds ?? [];
  if (kinds.length === 0) return null;
  return kinds.map((kind) => [
    h('h3', { 'data-key': `head ${kind.pmu}` }, kind.pmu, ' ', kind.up === 0 && chip('does not count', 'warn')), kind.errors.map((error) => note(error.text)),
    trafficRows(kind).length > 0 && table(`traffic ${kind.pmu}`, `What passes through ${kind.pmu}, by socket`, [
      { title: 'What', of: (row) => row.title, show: (row) => row.title }, { title: 'Socket', numeric: true, of: (row) => row.socket, show: (row) => String(row.socket) },
      { title: 'Now', numeric: true, of: (row) => row.entry.value, show: (row) => value(row.entry) },
      { title: 'Of the peak', numeric: true, of: (row) => row.peak && row.entry.value / row.peak, show: (row) => known(row.peak) && known(row.entry.value) ?
        [`${percent(row.entry.value / row.peak, 0)} of ${bytes(row.peak, '/s')}`, shareBar({ value: row.entry.value / row.peak })] : '' },
    ], trafficRows(kind)),
    kind.sockets.filter((socket) => socket.boxes_left_out > 0).map((socket) => note(`Of socket ${socket.socket}, ${count(socket.boxes_left_out, 'box', 'boxes')} are left out by uncore.boxes: these are not all bytes.`)),
    kind.boxes.length > 0 && opens(`boxes ${kind.pmu}`, `Each of ${count(kind.boxes.length, 'box', 'boxes')}`, boxTable(kind))]);
};

const KINDS = { cpus: 'with CPUs', cxl: 'CXL memory', persistent: 'persistent memory', special: 'kept apart by the firmware', without_cpus: 'without CPUs' };

// Columns that some hosts know nothing of: [title, of a node, as text].
const NODE_COLUMNS = [
  ['Tier', (row) => row.tier, String], ['Wanted on other nodes', (row) => row.values.numa_missed_allocation_ratio, (one) => percent(one)],
  ['Rated to read', (row) => row.access.read_bytes_per_second, (one) => bytes(one, '/s')], ['Rated latency of a read', (row) => row.access.read_seconds, (one) => quantity(one, 'seconds')],
];

// What resctrl counts, beside what the memory controllers say of the same bytes.
const drawResctrl = ({ state, text, sockets, domains }) => [
  sockets.length > 0 && table('resctrl', 'Memory bandwidth by resctrl', [
    { title: 'Socket', numeric: true, of: (row) => row.socket, show: (row) => String(row.socket) },
    { title: 'Between caches and memory', numeric: true, of: (row) => row.bytes_per_second, show: (row) => bytes(row.bytes_per_second, '/s') },
    { title: 'Of other nodes', numeric: true, of: (row) => row.values.resctrl_remote_ratio, show: (row) => percent(row.values.resctrl_remote_ratio) },
    { title: 'Memory controllers', numeric: true, of: (row) => row.controllers_bytes_per_second, show: (row) => bytes(row.controllers_bytes_per_second, '/s') },
  ], sockets.map((socket) => ({ key: String(socket.socket), ...socket }))),
  domains.filter((one) => one.gap).map((one) => note(`Not known of cache ${one.domain} since the last reading: ${one.gap.replace(/_/g, ' ')}.`)),
  text && (state !== 'counting' || sockets.length === 0) && note(capital(text), '.'),
];

const drawMemory = (context) => {
  const memory = dataOf(context.state, 'memory');
  if (!memory) return note('Nothing has been read yet.');
  const told = Object.entries(memory.values).filter(([, one]) => known(one));
  if (memory.nodes.length === 0 && told.length === 0 && (memory.simulated || memory.replay)) return null; // nobody can help it
  return [memory.reason && note(`NUMA nodes are not known: ${memory.reason}.`), memory.problem && note(memory.problem),
    told.length > 0 && facts(told.map(([name, one]) => [capital(name.replace(/_(ratio|bytes_per_second|per_second)$/, '').replace(/_/g, ' ')), /_ratio$/.test(name) ? percent(one) : /bytes/.test(name) ? bytes(one, '/s') : `${quantity(one, '')} per second`])),
    memory.nodes.length > 0 && table('nodes', 'NUMA nodes and their memory', [
      { title: 'Node', numeric: true, of: (row) => row.node, show: (row) => String(row.node) }, { title: 'Kind', show: (row) => KINDS[row.kind] ?? row.kind },
      { title: 'Socket', numeric: true, of: (row) => row.socket, show: (row) => known(row.socket) ? String(row.socket) : '–' },
      { title: 'Memory', numeric: true, of: (row) => row.bytes, show: (row) => bytes(row.bytes) }, { title: 'Free', numeric: true, of: (row) => row.free_bytes, show: (row) => bytes(row.free_bytes) },
      { title: 'Allocated for other nodes', numeric: true, of: (row) => row.values.numa_remote_allocation_ratio, show: (row) => percent(row.values.numa_remote_allocation_ratio) },
      ...NODE_COLUMNS.filter(([, of]) => memory.nodes.some((node) => known(of(node)))).map(([title, of, text]) => ({ title, numeric: true, of, show: (row) => known(of(row)) ? text(of(row)) : '–' })),
    ], memory.nodes.map((node) => ({ key: String(node.node), ...node }))),
    drawResctrl(memory.resctrl)];
};

const drawNames = (context) => {
  const meaning = now.meanings.get(now.metric);
  return meaning ? [h('p', {}, meaning.help), prometheus(meaning, hostnameOf(context)), h('p', {}, h('a', { href: hashOf('time', { metric: now.metric }) }, 'Over time'), ' · ', h('a', { href: '#why' }, 'The tree'))] : null;
};

// Services get a row here, first.
const SECTIONS = [
  { id: 'outliers', title: 'What differs', draw: drawOutliers },
  { id: 'map', title: 'All CPUs', draw: drawCpus },
  { id: 'cpu', title: 'The chosen CPU', draw: drawCpu },
  { id: 'sockets', title: 'Sockets', draw: drawSockets },
  { id: 'by-node', title: 'NUMA nodes side by side', draw: () => now.data && drawByNode(typesOf(now.data), now.title) },
  { id: 'boxes', title: 'Outside the cores', draw: drawBoxes },
  { id: 'memory', title: 'Memory of NUMA nodes', draw: drawMemory },
  { id: 'names', title: 'This metric', draw: drawNames },
];

let root = null;
const update = (context) => {
  readRoute(context.route);
  lookAt(context);
  renderSections(root, 'Where: sockets, CPUs and what is outside the cores', SECTIONS, context);
};

export default {
  id: 'where',
  title: 'Where',
  needs(route) {
    readRoute(route);
    return [query(), ...(wanted.cpu === null ? [] : [cpuQuery()]), 'snapshot', 'snapshot?scope=socket', 'topdown?scope=socket', 'catalog', 'uncore', 'memory', 'status'];
  },
  mount(element) { root = element; },
  update,
};
