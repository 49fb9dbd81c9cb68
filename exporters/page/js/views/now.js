// SPDX-License-Identifier: Apache-2.0
// The first screen: what this host is bound by, how busy it is, since when, where, and what next. Sections are functions
// of the state, in the order of SECTIONS.

import { bar, card, command, copyButton, h, render, stack } from '../dom.js';
import { LEVEL1, bytes, clock, count, duration, known, margin, moment, quantity, share, unitOf } from '../format.js';
import { busyOf, busyOfAll, dataOf, hostOf, nodeNamed, nodeOf, pathOf, takenOf, typesOf } from '../model.js';

const IDLE = 0.05; // below this share of busy time nothing is worth fixing
const WHERE_ROWS = 5, NEXT_VALUES = 3;

const treeOf = (type) => type?.scopes?.[0]?.tree ?? [];

// ---- what this host is bound by ----

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// The verdict's text after the sentence with the path, which the headline says.
const adviceOf = (bound, path) => {
  const first = path[0] && bound.text.startsWith(`${path[0].title}, `) ? bound.text.indexOf('. ') : -1;
  return first >= 0 ? bound.text.slice(first + 2) : bound.text;
};

const headlineOf = (type, busy) => {
  const bound = type?.bound, path = pathOf(bound, treeOf(type)), last = path.at(-1);
  const idle = known(busy) && busy < IDLE;
  if (!bound) return { title: 'Not known', small: '', text: type?.bound_reason ? `${capital(type.bound_reason)}.` : '' };
  if (idle) return { title: 'Idle', small: `${share(busy)} busy`, text: `Nothing is worth fixing here now. What little runs: ${bound.text}` };
  if (bound.sockets_differ) return { title: 'The sockets differ', small: '', text: bound.text };
  if (!bound.exceeded) return { title: 'Nothing stands out', small: last ? `largest: ${last.title}, ${share(last.value)}` : '', text: bound.text, node: last };
  const small = last ? `${share(last.value)} ${unitOf(last.unit).replace(/^% /, '')}` : '';
  return { title: last?.title ?? 'Not known', small, text: adviceOf(bound, path), node: last, crumbs: path.slice(0, -1) };
};

const chip = (kind, ...text) => h('span', { class: `chip ${kind}` }, text);

const sinceChip = (bound, taken) => {
  const since = bound?.since_timestamp_seconds;
  if (!known(since) || !known(taken)) return null;
  const least = bound.since_at_least ? 'at least ' : '', gap = bound.unwatched_seconds;
  return chip('since', `for ${least}${duration(taken - since)}, since ${moment(since, taken)}`, gap >= 1 && `; nothing is known of ${duration(gap)} of it`);
};

const certaintyChip = (node) => {
  if (!node || !known(node.low) || !known(node.high)) return node?.interval_reason ? chip('', 'certainty not known yet') : null;
  const range = `${share(node.low)} to ${share(node.high)}`;
  if (node.exact) return chip('ok', 'counted all the time');
  return node.exceeded_certain || node.quality === 'good' ? chip('ok', `certain: ${range}`) : chip('hot', `uncertain: ${range}`);
};

const countedChip = (node) => node && known(node.share_of_time) && !node.exact && chip('', `counted ${share(node.share_of_time, 0)} of the time`);

const level1Of = (type, snapshot) => LEVEL1.map((part) => {
  const node = nodeOf(treeOf(type), part.metric), entry = snapshot?.scopes?.[0]?.metrics?.[part.metric] ?? node;
  return { ...part, entry };
}).filter((part) => known(part.entry?.value));

const level1Bar = (parts) => stack(parts.map((part) => [part.kind, part.entry.value]), `Pipeline slots: ${parts.map((part) => `${part.title} ${share(part.entry.value)}`).join(', ')}`);

const level1Legend = (parts) => h('dl', { class: 'legend' }, parts.map((part) => h('div', { 'data-key': part.metric },
  h('dt', { class: `key ${part.kind}` }, part.plain, h('span', { class: 'soft term' }, ` ${part.title.toLowerCase()}`)),
  h('dd', {}, share(part.entry.value), h('span', { class: 'soft pm' }, ` ${margin(part.entry, 'ratio')}`)))));

const level1 = (type, snapshot) => {
  const parts = level1Of(type, snapshot);
  return parts.length > 0 && h('div', { class: 'level1' }, level1Bar(parts), level1Legend(parts));
};

// Where there are no pipeline slots: what is measured instead.
const otherValues = (snapshot) => {
  const metrics = Object.entries(snapshot?.scopes?.[0]?.metrics ?? {}).filter(([, entry]) => known(entry.value)).slice(0, 6);
  return metrics.length > 0 && h('dl', { class: 'legend' }, metrics.map(([name, entry]) => h('div', { 'data-key': name }, h('dt', {}, capital(name.replaceAll('_', ' ').replace(/ (ratio|per second)$/, ''))),
    h('dd', {}, quantity(entry.value, entry.unit), h('span', { class: 'soft pm' }, ` ${unitOf(entry.unit)}`)))));
};

const oneVerdict = (context, type, snapshot) => {
  const busy = busyOf(snapshot?.scopes?.[0]), head = headlineOf(type, busy), taken = takenOf(context.state);
  return h('div', { class: 'hero' },
    h('div', { class: 'said' },
      h('h2', {}, type.core_type ? `What ${type.core_type} is bound by` : 'What this host is bound by'),
      head.crumbs?.length > 0 && h('p', { class: 'soft crumbs' }, head.crumbs.map((node) => `${node.title} ${share(node.value)} › `)),
      h(type.core_type ? 'h3' : 'h1', { id: type.core_type ? null : 'verdict', class: 'verdict' }, head.title, head.small && h('small', {}, ` ${head.small}`)),
      h('p', { class: 'why', id: type.core_type ? null : 'text' }, head.text),
      h('div', { class: 'chips' }, sinceChip(type.bound, taken), !type.core_type && known(busy) && chip(busy < IDLE ? 'ok' : '', `${share(busy, 0)} busy`),
        certaintyChip(head.node), countedChip(head.node))),
    level1(type, snapshot) || otherValues(snapshot));
};

const pmuErrors = (context) => typesOf(dataOf(context.state, 'status')).flatMap((type) => type.pmu_errors)
  .filter((error) => /^(cpu|armv|software)/.test(error.pmu) || error.pmu.startsWith('cpu'));

// A host that cannot count says first what to do about it.
const blind = (context) => {
  const errors = pmuErrors(context);
  return errors.length > 0 && card('What to do first', { class: 'card first', id: 'blind' },
    errors.map((error) => h('div', { 'data-key': error.pmu }, h('p', {}, h('b', {}, `PMU ${error.pmu}: `), capital(error.text), '.'))),
    h('p', {}, 'All that keeps this host from being measured, with what to do:'), command('topdownd doctor', 'the command'));
};

const verdicts = (context) => {
  const types = typesOf(dataOf(context.state, 'topdown')), snapshots = typesOf(dataOf(context.state, 'snapshot'));
  const all = dataOf(context.state, 'topdown').bound_text, busy = busyOfAll(context.state);
  return h('section', { class: 'card', 'aria-label': 'Verdict', id: 'verdicts' },
    all && h('div', { class: 'said' }, h('h2', {}, 'What this host is bound by'), h('h1', { class: 'verdict', id: 'verdict' }, all),
      h('div', { class: 'chips' }, known(busy) && chip('', `${share(busy, 0)} busy`))),
    types.map((type, i) => oneVerdict(context, type, snapshots[i])));
};

// ---- where ----

const memoryText = (memory) => memory && (known(memory.peak_bytes_per_second) ?
  `memory moves ${bytes(memory.bytes_per_second, '/s')} of ${bytes(memory.peak_bytes_per_second, '/s')}` : `memory moves ${bytes(memory.bytes_per_second, '/s')}`);

const placeOf = (type, scope) => {
  const tree = scope.tree, path = pathOf(scope.bound, tree), root = path[0], last = path.at(-1);
  return {
    key: `${type.core_type ?? ''} ${scope.socket}`, name: `${type.core_type ? `${type.core_type}, ` : ''}socket ${scope.socket}`, root, last, bound: scope.bound,
    value: last?.value ?? null, memory: memoryText(scope.bound?.memory), reason: scope.bound_reason,
  };
};

const placeRow = (place) => h('li', { 'data-key': place.key },
  h('div', {}, h('b', {}, capital(place.name)), h('span', { class: 'soft' }, ` ${place.last ? place.last.title : place.reason ?? 'not known'}`),
    place.memory && h('div', { class: 'soft small' }, capital(place.memory))),
  bar(place.value, LEVEL1.find((part) => part.metric === place.root?.metric)?.kind ?? ''), h('span', { class: 'n' }, share(place.value)));

const where = (context) => {
  const types = typesOf(dataOf(context.state, 'topdown?scope=socket'));
  const places = types.flatMap((type) => type.scopes.map((scope) => placeOf(type, scope))).filter((place) => place.bound || place.reason);
  const order = (place) => place.bound?.exceeded ? 1 + (place.value ?? 0) : place.value ?? -1;
  const list = places.sort((a, b) => order(b) - order(a));
  return list.length > 0 && card('Where', { id: 'where' }, h('ol', { class: 'rows' }, list.slice(0, WHERE_ROWS).map(placeRow)),
    list.length > WHERE_ROWS && h('p', { class: 'soft small' }, `and ${count(list.length - WHERE_ROWS, 'other socket')}`));
};

// ---- why ----

const treeRow = (node, depth, on) => h('div', { class: `node d${depth} ${on ? 'on' : 'soft'}`, 'data-key': node.metric, role: 'listitem' },
  h('span', {}, node.title), bar(node.value, LEVEL1.find((part) => part.metric === node.metric)?.kind ?? ''), h('span', { class: 'n' }, share(node.value)));

// The path, and beside each of its nodes the others of its level that are a share of the same.
const treeRows = (nodes, path, depth) => [...nodes].filter((node) => known(node.value) && /^ratio/.test(node.unit)).sort((a, b) => b.value - a.value).flatMap((node) => {
  const on = path.includes(node.metric);
  return [treeRow(node, depth, on), ...(on ? treeRows(node.children, path, depth + 1) : [])];
});

const why = (context) => {
  const type = typesOf(dataOf(context.state, 'topdown'))[0], path = type?.bound?.path ?? [];
  const roots = treeOf(type).filter((node) => path.includes(node.metric) || LEVEL1.some((part) => part.metric === node.metric));
  const rows = treeRows(roots, path, 0);
  return rows.length > 0 && card(type.core_type ? `Why, on ${type.core_type}` : 'Why', { id: 'why' }, h('div', { class: 'tree', role: 'list' }, rows));
};

// ---- what next ----

// What is measured and says more: nodes that the methodology names next, then those below the verdict.
const measuredNext = (type) => {
  const tree = treeOf(type), named = (type.bound.next ?? []).filter((step) => step.kind === 'metric').map((step) => nodeNamed(tree, step.name));
  const below = pathOf(type.bound, tree).at(-1)?.children ?? [], seen = new Set();
  return [...named, ...below].filter((node) => node && known(node.value) && !seen.has(node.metric) && seen.add(node.metric)).sort((a, b) => b.value - a.value);
};

const nextSteps = (type, replay) => {
  const values = measuredNext(type).slice(0, NEXT_VALUES), groups = (type.bound.next_groups ?? []).filter((group) => !group.measured).slice(0, 4);
  const names = groups.map((group) => group.name).join(', ');
  return [
    values.map((node) => h('li', { 'data-key': node.metric }, h('b', {}, node.title), ` ${quantity(node.value, node.unit)} `, h('span', { class: 'soft' }, `${unitOf(node.unit).replace(/^% /, '')} ${margin(node, node.unit)}`))),
    type.bound.sample_command && h('li', { 'data-key': 'sample' }, 'Find the code:', command(type.bound.sample_command, 'the command')),
    names && !replay && h('li', { 'data-key': 'groups' }, 'Not measured yet, and says more: ', h('b', {}, names), '. Add it to ', h('code', {}, 'groups'), ' in topdownd.yaml, then ',
      h('code', {}, 'topdownd reload'), ' ', copyButton(names, 'the names of the groups', 'Copy names')),
  ];
};

const next = (context) => {
  const types = typesOf(dataOf(context.state, 'topdown')).filter((type) => type.bound), replay = hostOf(context.state)?.replay;
  return types.length > 0 && card('What next', { id: 'next' }, types.map((type) => [type.core_type && h('h3', {}, type.core_type), h('ol', { class: 'steps', 'data-key': type.core_type ?? 'host' }, nextSteps(type, replay))]));
};

// ---- the view ----

const SECTIONS = [blind, verdicts, (context) => h('div', { class: 'three', 'data-key': 'three' }, where(context), why(context), next(context))];

const waiting = (context) => {
  const error = context.state.topdown?.error;
  return card('What this host is bound by', {}, h('p', { id: 'waiting' }, error ? 'There is nothing to show until topdownd answers.' : 'Asking topdownd ...'));
};

export default {
  id: 'now',
  title: 'Now',
  needs: () => ['topdown', 'snapshot', 'topdown?scope=socket', 'status'],
  mount(root) { this.root = root; },
  update(context) {
    const taken = takenOf(context.state);
    render(this.root, dataOf(context.state, 'topdown') ? SECTIONS.map((section) => section(context)) : waiting(context),
      taken && h('p', { class: 'soft small taken', 'data-key': 'taken' }, `Values of ${clock(taken, true)} UTC.`));
  },
};
