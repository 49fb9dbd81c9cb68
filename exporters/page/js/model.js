// SPDX-License-Identifier: Apache-2.0
// Answers of the API in the shape that views want: a host is a list of core types, mostly of one.

import { count, known } from './format.js';

export const dataOf = (state, name) => state[name]?.data ?? null;

// The documents of all core types; empty before the first answer.
export const typesOf = (data) => data ? data.core_types ?? [data] : [];

const firstOf = (state, name) => typesOf(dataOf(state, name))[0] ?? null;

const modelsOf = (types) => {
  const sockets = new Set(types.flatMap((type) => type.sockets.map((socket) => socket.socket))).size;
  const names = types.map((type) => type.cpu.model ?? type.cpu.microarchitecture).join(', ');
  return types.length === 1 && sockets > 1 ? `${sockets} × ${names}` : names;
};

// What the header says of a host; null before the first answer.
export const hostOf = (state) => {
  const types = typesOf(dataOf(state, 'status'));
  if (types.length === 0) return null;
  const sum = (field) => types.reduce((all, type) => all + type.sockets.reduce((own, socket) => own + (socket[field] ?? 0), 0), 0);
  const cpus = sum('cpus_measured');
  return {
    name: types[0].hostname, models: modelsOf(types), cpus, cores: sum('cores'), offline: sum('cpus_offline'),
    sockets: new Set(types.flatMap((type) => type.sockets.map((socket) => socket.socket))).size,
    text: `${modelsOf(types)}, ${count(cpus, 'CPU')}`, simulated: types[0].simulated, replay: types[0].replay, version: types[0].version, types,
  };
};

// The length of a snapshot interval, which is how often the page asks.
export const intervalOf = (state) => {
  const seconds = (firstOf(state, 'topdown') ?? firstOf(state, 'snapshot'))?.round?.seconds;
  return Math.min(Math.max(seconds || 2, 1), 10);
};

// When the values were taken, of which age is told and since when is counted.
export const takenOf = (state) => firstOf(state, 'topdown')?.timestamp_seconds ?? null;

const walk = (nodes, found) => {
  for (const node of nodes ?? []) {
    const inner = found(node) ? node : walk(node.children, found);
    if (inner) return inner;
  }
  return null;
};

// A node of the tree by its exported name.
export const nodeOf = (tree, metric) => walk(tree, (node) => node.metric === metric);
// By the vendor's name, as next steps have it.
export const nodeNamed = (tree, name) => walk(tree, (node) => node.name === name);

// The nodes of a verdict's path, root first, as far as the tree has them.
export const pathOf = (bound, tree) => (bound?.path ?? []).map((metric) => nodeOf(tree, metric)).filter(Boolean);

// What a core type's share of busy time is, 0 to 1, from its verdict or its values; null: not measured.
export const busyOf = (topdown, snapshot) => topdown?.bound?.circumstances?.utilization_ratio ?? snapshot?.scopes?.[0]?.metrics?.utilization_ratio?.value ?? null;

// Of several core types: by their numbers of CPUs.
export const busyOfAll = (state) => {
  const sizes = typesOf(dataOf(state, 'status')).map((type) => type.sockets.reduce((sum, socket) => sum + socket.cpus_measured, 0));
  const snapshots = typesOf(dataOf(state, 'snapshot'));
  let busy = 0, cpus = 0;
  typesOf(dataOf(state, 'topdown')).forEach((type, i) => {
    const own = busyOf(type, snapshots[i]);
    if (known(own)) {
      busy += own * (sizes[i] ?? 0);
      cpus += sizes[i] ?? 0;
    }
  });
  return cpus > 0 ? busy / cpus : null;
};
