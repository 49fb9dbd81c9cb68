// SPDX-License-Identifier: Apache-2.0
// Any metric by NUMA node: the formula over the summed counts of the node's CPUs, never a mean of their values.

import { h, table } from './dom.js';
import { count, duration, quantity } from './format.js';
import { differenceText, note, value } from './parts.js';

const NOTHING = 1e-3; // of the value: less is not shown as a difference

// The totals of the newest two answers of a metric: what it was in between is the quotient of the differences.
const answers = { metric: '', newest: null, before: null };

const remember = (types) => {
  const [{ metric, timestamp_seconds: at }] = types;
  if (answers.metric !== metric) Object.assign(answers, { metric, newest: null, before: null });
  if (answers.newest?.at === at) return;
  answers.before = answers.newest;
  answers.newest = { at, types };
};

// [{node, cpus, entry}] of each node; the totals since the start as long as there is one answer.
const nodesOf = (types) => {
  const nodes = new Map();
  types.forEach((type, t) => type.cpus.forEach((_, i) => {
    const node = type.nodes[i], earlier = answers.before?.types[t];
    if (node === null || !type.numerator_total) return;
    const sum = nodes.get(node) ?? { a: 0, b: 0, n: 0, k: type.k, unit: type.unit };
    const grown = (key) => (type[key][i] ?? 0) - (earlier?.cpus.length === type.cpus.length ? earlier[key][i] ?? 0 : 0);
    nodes.set(node, { ...sum, a: sum.a + grown('numerator_total'), b: sum.b + grown('denominator_total'), n: sum.n + 1 });
  }));
  return [...nodes.entries()].sort(([a], [b]) => a - b);
};

const entryOf = (sum) => ({ value: sum.b > 0 ? sum.k * sum.a / sum.b : null, unit: sum.unit, reason: 'nothing was counted there' });

// null: the host has one node, or nobody says which CPU is of which.
export const drawByNode = (types, title) => {
  const known = new Set(types.flatMap((type) => type.nodes).filter((node) => node !== null));
  if (known.size < 2) return null;
  remember(types);
  const nodes = nodesOf(types), all = nodes.reduce((sum, [, one]) => ({ ...one, a: sum.a + one.a, b: sum.b + one.b }), { a: 0, b: 0 });
  if (nodes.length === 0) return note(`${title} is no quotient of counts, so it has no value by node. The map shows the nodes' CPUs.`);
  const host = entryOf(all);
  return [table('by node', `${title} by NUMA node`, [
    { title: 'NUMA node', numeric: true, of: (row) => row.node, show: (row) => h('b', {}, String(row.node)) },
    { title, numeric: true, of: (row) => row.entry.value, show: (row) => value(row.entry) },
    { title: 'Differs from all', numeric: true, of: (row) => row.by, show: (row) => row.by === null ? '–' : Math.abs(row.by) < NOTHING * Math.abs(host.value) ? 'nothing' : differenceText(row.by, row.entry.unit) },
    { title: 'CPUs', numeric: true, of: (row) => row.n, show: (row) => count(row.n, 'CPU') },
  ], nodes.map(([node, sum]) => {
    const entry = entryOf(sum);
    return { key: String(node), node, entry, n: sum.n, by: entry.value === null || host.value === null ? null : entry.value - host.value };
  })), note(`${answers.before ? `Over the last ${duration(answers.newest.at - answers.before.at)}` : 'Since topdownd started'}, from summed counts; all nodes together ${quantity(host.value, host.unit)}.`)];
};
