// SPDX-License-Identifier: Apache-2.0
// The first screen: what this host is bound by, how busy it is, since when, where, and what next. Sections are functions
// of the state, in the order of SECTIONS.

import { bar, card, command, copyButton, h, render, stack } from '../dom.js';
import { LEVEL1, bytes, capital, clock, count, duration, known, margin, moment, number, quantity, share, unitOf } from '../format.js';
import { busyOf, busyOfAll, dataOf, hostOf, nodeNamed, nodeOf, pathOf, takenOf, typesOf } from '../model.js';

const WHERE_ROWS = 4, NEXT_VALUES = 3, GROUPS_NAMED = 4, VALUES_SHOWN = 6;
const HOUR = 'history?from=-3600';

const treeOf = (type) => type?.scopes?.[0]?.tree ?? [];
const shareOf = (node) => `${quantity(node.value, node.unit)} ${unitOf(node.unit).replace(/^% /, '')}`;
const kindOf = (metric) => LEVEL1.find((part) => part.metric === metric)?.kind ?? '';

// ---- what to do first ----

// A PMU of the cores; kinds outside the cores are named on Host.
const ofCores = (error) => /^(cpu|arm|core|software)/.test(error.pmu);

// A host that cannot count says first what to do about it.
const blind = (context) => {
  const errors = typesOf(dataOf(context.state, 'status')).flatMap((type) => type.pmu_errors).filter(ofCores);
  return errors.length > 0 && card('What to do first', { class: 'card first', id: 'blind' },
    errors.map((error) => h('p', { 'data-key': error.pmu }, h('b', {}, `PMU ${error.pmu}: `), capital(error.text), '.')),
    h('p', {}, 'What keeps this host from being measured, each with its remedy:'), command('topdownd doctor', 'the command'));
};

// ---- what this host is bound by ----

// The verdict's text after the sentence with the path, which the headline says.
const adviceOf = (bound, path) => {
  const first = path[0] && bound.text.startsWith(`${path[0].title}, `) ? bound.text.indexOf('. ') : -1;
  return first >= 0 ? bound.text.slice(first + 2) : bound.text;
};


// Where sockets differ, a mean over them describes none: the CPUs that stand out, or else each socket by name.
const SOCKETS_NAMED = 4;
const worstOf = (bound) => bound.circumstances?.outliers?.[0];
const differing = (type, sockets) => {
  const worst = worstOf(type.bound), named = sockets.map((scope) => [scope, pathOf(scope.bound, scope.tree).at(-1)]).filter(([, node]) => node);
  if (worst) return { title: `${nodeOf(treeOf(type), worst.metric)?.title ?? worst.metric} on ${worst.text}`, small: `${share(worst.share)} of ${worst.n_cpus > 1 && worst.unit !== 'socket' ? 'their' : 'its'} pipeline slots` };
  if (named.length === 0 || named.length > SOCKETS_NAMED) return { title: 'The sockets differ', small: '' };
  return { title: capital(named.map(([scope, node]) => `socket ${scope.socket}: ${node.title} ${share(node.value, 0)}`).join(', ')), small: '' };
};

// The text without its first sentence, where that says what the headline does.
const REST = /^(; t(he rest is fine))?\. /;
const withoutWorst = (bound) => {
  const said = worstOf(bound)?.sentence;
  return said && bound.text.startsWith(said) ? bound.text.slice(said.length).replace(REST, (_, rest, words) => rest ? `T${words}. ` : '') : bound.text;
};

const headlineOf = (type, busy, sockets) => {
  const bound = type.bound, path = pathOf(bound, treeOf(type)), last = path.at(-1);
  if (!bound) return { title: 'Not known', small: '', text: type.bound_reason ? `${capital(type.bound_reason)}.` : '' };
  if (bound.circumstances?.idle) return { title: 'Idle', small: known(busy) ? `${share(busy)} busy` : '', text: `Nothing is worth fixing here now. Of what little runs: ${bound.text}` };
  if (bound.sockets_differ || bound.circumstances?.rest_is_fine) return { ...differing(type, sockets), text: withoutWorst(bound) };
  if (bound.computes_well) return { title: 'Computes well', small: last ? `${last.title}, ${shareOf(last)}` : '', text: adviceOf(bound, path), node: last };
  if (!bound.exceeded) return { title: 'Nothing stands out', small: last ? `largest: ${last.title}, ${share(last.value)}` : '', text: bound.text, node: last };
  return { title: last?.title ?? 'Not known', small: last ? shareOf(last) : '', text: adviceOf(bound, path), node: last, crumbs: path.slice(0, -1) };
};

const chip = (kind, ...text) => h('span', { class: `chip ${kind}` }, text);

const sinceChip = (bound, taken) => {
  const since = bound?.since_timestamp_seconds;
  if (!known(since) || !known(taken)) return null;
  const gap = bound.unwatched_seconds;
  return chip('since', `for ${bound.since_at_least ? 'at least ' : ''}${duration(taken - since)}, since ${moment(since, taken)}`, gap >= 1 && `; nothing is known of ${duration(gap)} of it`);
};

const certaintyChip = (bound, node) => {
  if (!node) return null;
  if (bound.not_told_apart_from) return chip('hot', `cannot be told apart from ${bound.not_told_apart_from.replaceAll('_', ' ').replace(/ ratio$/, '')}`);
  if (node.exact) return chip('ok', 'counted all the time');
  if (!known(node.low) || !known(node.high)) return chip('', 'certainty not known yet');
  const range = `${share(node.low)} to ${share(node.high)}`;
  return node.exceeded_certain || node.quality === 'good' ? chip('ok', `certain: ${range}`) : chip('hot', `uncertain: ${range}`);
};

const busyChip = (bound, busy) => {
  const most = bound?.circumstances?.utilization_ratio_of_busiest_cpu;
  return known(busy) && chip('', `${share(busy, 0)} busy`, known(most) && most > 2 * busy && most > 0.5 && `, the busiest CPU ${share(most, 0)}`);
};

const slowChip = (bound) => {
  const about = bound?.circumstances;
  return about?.slow && chip('hot', `slow clock: ${number(about.frequency_hertz)}Hz`);
};

const chips = (context, type, head, busy) => h('div', { class: 'chips' }, sinceChip(type.bound, takenOf(context.state)), busyChip(type.bound, busy), slowChip(type.bound),
  type.bound && certaintyChip(type.bound, head.node));

const level1Of = (type) => LEVEL1.map((part) => ({ ...part, entry: nodeOf(treeOf(type), part.metric) })).filter((part) => known(part.entry?.value));

const level1Legend = (parts) => h('dl', { class: 'legend' }, parts.map((part) => h('div', { 'data-key': part.metric },
  h('dt', { class: `key ${part.kind}` }, part.plain, h('span', { class: 'soft term' }, ` ${part.title.toLowerCase()}`)),
  h('dd', {}, share(part.entry.value), h('span', { class: 'soft pm' }, ` ${margin(part.entry, 'ratio')}`)))));

const level1 = (type) => {
  const parts = level1Of(type);
  return parts.length > 0 && h('div', { class: 'level1' },
    stack(parts.map((part) => [part.kind, part.entry.value]), `Pipeline slots: ${parts.map((part) => `${part.plain} ${share(part.entry.value)}`).join(', ')}`), level1Legend(parts));
};

// Where there are no pipeline slots: what is measured instead.
const otherValues = (snapshot) => {
  const metrics = Object.entries(snapshot?.scopes?.[0]?.metrics ?? {}).filter(([, entry]) => known(entry.value)).slice(0, VALUES_SHOWN);
  return metrics.length > 0 && h('dl', { class: 'legend plainly' }, metrics.map(([name, entry]) => h('div', { 'data-key': name },
    h('dt', {}, capital(name.replaceAll('_', ' ').replace(/ (ratio|per second)$/, ''))), h('dd', {}, quantity(entry.value, entry.unit), h('span', { class: 'soft small' }, ` ${unitOf(entry.unit)}`)))));
};

const crumbs = (head) => head.crumbs?.length > 0 && h('p', { class: 'soft crumbs' }, head.crumbs.map((node) => `${node.title} ${share(node.value)} › `));

const oneVerdict = (context, type, snapshot) => {
  const busy = busyOf(type, snapshot), head = headlineOf(type, busy, typesOf(dataOf(context.state, 'topdown?scope=socket'))[0]?.scopes ?? []);
  return h('section', { class: 'card hero', 'aria-label': 'Verdict', id: 'verdicts' },
    h('div', { class: 'said' }, h('h2', {}, 'What this host is bound by'), crumbs(head),
      h('h1', { id: 'verdict', class: 'verdict' }, head.title, head.small && h('small', {}, ` ${head.small}`)),
      h('p', { class: 'why', id: 'text' }, head.text), chips(context, type, head, busy)),
    level1(type) || otherValues(snapshot));
};

// Of a core type among several; what holds for all of them is said once, above.
const typeVerdict = (context, type, snapshot, head, alike) => h('div', { class: 'hero type', 'data-key': type.core_type },
  h('div', { class: 'said' }, crumbs(head), h('h2', { class: 'title' }, `${type.core_type}: ${head.title}`, head.small && h('small', { class: 'soft' }, ` ${head.small}`)),
    !alike && h('p', { class: 'why' }, head.text), chips(context, type, head, busyOf(type, snapshot))),
  level1(type) || otherValues(snapshot));

const verdicts = (context) => {
  const types = typesOf(dataOf(context.state, 'topdown')), snapshots = typesOf(dataOf(context.state, 'snapshot')), all = dataOf(context.state, 'topdown').bound_text;
  if (!all) return oneVerdict(context, types[0], snapshots[0]);
  const heads = types.map((type, i) => headlineOf(type, busyOf(type, snapshots[i]), typesOf(dataOf(context.state, 'topdown?scope=socket'))[i]?.scopes ?? [])), alike = heads.every((head) => head.text === heads[0].text), busy = busyOfAll(context.state);
  return h('section', { class: 'card several', 'aria-label': 'Verdict', id: 'verdicts' },
    h('div', { class: 'said', 'data-key': 'all' }, h('h2', {}, 'What this host is bound by'), h('h1', { class: 'verdict', id: 'verdict' }, all),
      alike && h('p', { class: 'why', id: 'text' }, heads[0].text), h('div', { class: 'chips' }, known(busy) && chip('', `${share(busy, 0)} busy`))),
    types.map((type, i) => typeVerdict(context, type, snapshots[i], heads[i], alike)));
};

// ---- the last hour ----

// Drawn by chart.js into an element that updates leave alone.
const hour = (context) => {
  const history = dataOf(context.state, HOUR);
  return history?.series.length > 0 && history.steps > 0 && history.begin_timestamp_seconds !== null && h('section', { class: 'card', id: 'hour', 'aria-label': 'The last hour' },
    h('div', { class: 'headed' }, h('h2', {}, 'The last hour'), h('p', { class: 'soft small' }, 'Drag to zoom. ', h('a', { href: '#time' }, 'Any other metric, up to a day'))),
    h('div', { id: 'timeline', 'data-keep': true }));
};

const CHART_HEIGHT = { desk: 116, phone: 76, several: 64 };
let drawn = null; // the chart
const drawHour = async (context) => {
  const { timeline } = await import('../chart.js'), element = document.getElementById('timeline'), history = dataOf(context.state, HOUR);
  const narrow = matchMedia('(max-width: 900px)').matches, types = typesOf(dataOf(context.state, 'topdown')).length;
  if (!element || !(history?.steps > 0)) return;
  const own = timeline(element, history, undefined, { height: CHART_HEIGHT[types > 1 ? 'several' : narrow ? 'phone' : 'desk'] });
  if (drawn !== own) drawn?.destroy();
  drawn = own;
};

// ---- where ----

const memoryText = (memory) => memory && (known(memory.peak_bytes_per_second) ?
  `Memory moves ${bytes(memory.bytes_per_second, '/s')} of ${bytes(memory.peak_bytes_per_second, '/s')}` : `Memory moves ${bytes(memory.bytes_per_second, '/s')}`);

const typed = (type, text) => type.core_type ? `${type.core_type}, ${text}` : capital(text);

// CPUs that do much worse than most: a few of a thousand are seen at once.
const outliersOf = (type) => (type.bound?.circumstances?.outliers ?? []).map((one) => {
  const node = nodeOf(treeOf(type), one.last_metric) ?? nodeOf(treeOf(type), one.metric);
  return { key: `${type.core_type ?? ''} ${one.text}`, name: typed(type, one.text), title: node?.title ?? one.metric, value: one.last_share ?? one.share, kind: kindOf(one.metric),
    about: `${count(one.n_cpus, 'CPU')}; most others have ${share(one.usual_share)} there`, order: one.lost_cpus };
});

// What is above its threshold first, then the largest.
const orderOf = (bound, node) => (bound?.exceeded ? 1 : 0) + (node?.value ?? -1);
// Places that are alike stay in the order of their numbers, so that noise does not move them.
const ALIKE = 0.03;
const worstFirst = (places) => {
  const orders = places.map((place) => place.order);
  return Math.max(...orders) - Math.min(...orders) < ALIKE ? places : [...places].sort((a, b) => b.order - a.order);
};

const socketsOf = (type) => (type.scopes ?? []).map((scope) => {
  const path = pathOf(scope.bound, scope.tree), last = path.at(-1);
  return { key: `${type.core_type ?? ''} socket ${scope.socket}`, name: typed(type, `socket ${scope.socket}`), title: last?.title ?? scope.bound_reason ?? 'not known', value: last?.value ?? null,
    kind: kindOf(path[0]?.metric), about: memoryText(scope.bound?.memory), order: orderOf(scope.bound, last) };
});

const placeRow = (place) => h('li', { 'data-key': place.key },
  h('span', {}, h('b', {}, place.name), h('span', { class: 'soft' }, ` ${place.title}`)), bar(place.value, place.kind), h('span', { class: 'n' }, share(place.value)),
  place.about && h('span', { class: 'soft small below' }, place.about));

const where = (context) => {
  const types = typesOf(dataOf(context.state, 'topdown'));
  if (!types.some((type) => type.bound)) return null;
  const list = [...worstFirst(types.flatMap(outliersOf)), ...worstFirst(typesOf(dataOf(context.state, 'topdown?scope=socket')).flatMap(socketsOf))];
  return list.length > 0 && card('Where', { id: 'where' }, h('ol', { class: 'rows' }, list.slice(0, WHERE_ROWS).map(placeRow)),
    h('p', { class: 'soft small' }, list.length > WHERE_ROWS && `And ${count(list.length - WHERE_ROWS, 'other')}. `, context.has('where') && h('a', { href: '#where' }, 'All CPUs, sockets and boxes')));
};

// ---- why ----

const treeRow = (node, depth, on) => h('div', { class: `node d${depth} ${on ? 'on' : 'soft'}`, 'data-key': node.metric, role: 'listitem' },
  h('span', {}, node.title), bar(node.value, kindOf(node.metric)), h('span', { class: 'n' }, share(node.value)));

// The path, and beside each of its nodes the others of its level that are a share of the same.
const treeRows = (nodes, path, depth) => [...nodes].filter((node) => known(node.value) && /^ratio/.test(node.unit)).sort((a, b) => b.value - a.value).flatMap((node) => {
  const on = path.includes(node.metric);
  return [treeRow(node, depth, on), ...(on ? treeRows(node.children, path, depth + 1) : [])];
});

const why = (context) => {
  const type = typesOf(dataOf(context.state, 'topdown'))[0], path = type?.bound?.path ?? [];
  const roots = treeOf(type).filter((node) => path.includes(node.metric) || LEVEL1.some((part) => part.metric === node.metric));
  const rows = treeRows(roots, path, 0);
  return rows.length > 0 && card(type.core_type ? `Why, on ${type.core_type}` : 'Why', { id: 'why' }, h('div', { class: 'tree', role: 'list', 'aria-label': 'Nodes, largest first' }, rows),
    h('p', { class: 'soft small' }, context.has('why') && h('a', { href: '#why' }, 'The whole tree, with thresholds')));
};

// ---- what next ----

// What is measured and says more: nodes that the methodology names next, then those below the verdict.
const measuredNext = (type) => {
  const tree = treeOf(type), cause = nodeOf(tree, type.bound.cause?.metric), named = (type.bound.next ?? []).filter((step) => step.kind === 'metric').map((step) => nodeNamed(tree, step.name));
  const below = pathOf(type.bound, tree).at(-1)?.children ?? [], seen = new Set();
  const list = [...named, ...below].sort((a, b) => (b?.value ?? 0) - (a?.value ?? 0));
  return [cause, ...list].filter((node) => node && known(node.value) && !seen.has(node.metric) && seen.add(node.metric));
};

const measuredStep = (node) => h('li', { 'data-key': node.metric }, h('b', {}, node.title), ` ${quantity(node.value, node.unit)} `,
  h('span', { class: 'soft small' }, `${unitOf(node.unit).replace(/^% /, '')} ${margin(node, node.unit)}`));

const nextSteps = (type, replay) => {
  const groups = (type.bound.next_groups ?? []).filter((group) => !group.measured).map((group) => group.name), named = groups.slice(0, GROUPS_NAMED).join(', ');
  return [
    measuredNext(type).slice(0, NEXT_VALUES).map(measuredStep),
    type.bound.sample_command && !type.bound.computes_well && h('li', { 'data-key': 'sample' }, 'Which code is it?', command(type.bound.sample_command, 'the command')),
    named && !replay && !type.bound.computes_well && h('li', { 'data-key': 'groups' }, 'Not measured, and says more: ', h('b', {}, named), groups.length > GROUPS_NAMED && ` and ${groups.length - GROUPS_NAMED} more`, '. Add it to ', h('code', {}, 'groups'),
      ' in topdownd.yaml, then ', h('code', {}, 'topdownd reload'), '. ', copyButton(groups.join(', '), 'the names of the groups', 'Copy names')),
  ];
};

const next = (context) => {
  const types = typesOf(dataOf(context.state, 'topdown')).filter((type) => type.bound), replay = hostOf(context.state)?.replay;
  const lists = new Map(); // of core types with the same steps there is one
  for (const type of types) {
    const steps = h('ol', { class: 'steps' }, nextSteps(type, replay)), same = lists.get(steps.textContent);
    if (same) same.names.push(type.core_type);
    else lists.set(steps.textContent, { names: [type.core_type], steps });
  }
  return types.length > 0 && card('What next', { id: 'next' },
    [...lists.values()].map(({ names, steps }) => [lists.size > 1 && h('h3', { 'data-key': `name ${names[0]}` }, names.join(', ')), steps]));
};

// ---- the view ----

const SECTIONS = [blind, verdicts, hour, (context) => h('div', { class: 'three', 'data-key': 'three' }, where(context), why(context), next(context))];

const waiting = (context) => card('What this host is bound by', { id: 'waiting' },
  h('p', {}, context.state.topdown?.error ? 'There is nothing to show until topdownd answers.' : 'Asking topdownd ...'));

export default {
  id: 'now',
  title: 'Now',
  needs: () => ['topdown', 'snapshot', 'topdown?scope=socket', 'status', HOUR],
  mount(root) { this.root = root; },
  update(context) {
    const taken = takenOf(context.state);
    render(this.root, dataOf(context.state, 'topdown') ? SECTIONS.map((section) => section(context)) : waiting(context),
      taken && h('p', { class: 'soft small taken', 'data-key': 'taken' }, `Values of ${clock(taken, true)} UTC.`));
    if (dataOf(context.state, 'topdown')) requestAnimationFrame(() => drawHour(context));
  },
  unmount() { // it listens to the window, which would keep it for good
    drawn?.destroy();
    drawn = null;
  },
};
