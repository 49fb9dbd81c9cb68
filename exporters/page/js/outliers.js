// SPDX-License-Identifier: Apache-2.0
// Which CPUs differ from the others, and by how much. CPUs that do another thing together are one finding, not a
// hundred; what lies within its interval of the others is none.
//
// A CPU here: {cpu, socket, type, value, low, high, weight}. `weight` is its share of what the host's value is made of
// (pipeline slots, cycles ...), so that an idle CPU with odd values moves little.

import { isShare } from './parts.js';

const FEW = 3; // CPUs: fewer have no "others"
const TWO_GROUPS = 0.9; // share of the variance between both: 0.64 for a normal, 0.75 for a uniform distribution
const FAR = 6; // standard deviations, estimated from the median's deviation
const SIGMA = 1.4826;
const GROUPS_MAX = 4;

export const median = (sorted) => sorted.length === 0 ? null : (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
const ascending = (numbers) => [...numbers].sort((a, b) => a - b);
const middleOf = (list) => median(ascending(list.map((one) => one.value)));

// Less than this is no difference that anybody would look for.
export const least = (unit, middle) => isShare(unit) ? 0.02 : 0.1 * Math.abs(middle);

const halfOf = (list) => median(ascending(list.filter((one) => one.high !== null).map((one) => (one.high - one.low) / 2))) ?? 0;

// The cut of sorted values that leaves the most of their variance between both sides: {at, share}.
const cutOf = (sorted) => {
  const n = sorted.length, sum = sorted.reduce((a, b) => a + b, 0), mean = sum / n;
  const total = sorted.reduce((a, b) => a + (b - mean) ** 2, 0);
  let best = { at: 0, share: 0 }, below = 0;
  for (let i = 1; i < n && total > 0; i++) {
    below += sorted[i - 1];
    const between = i * (below / i - mean) ** 2 + (n - i) * ((sum - below) / (n - i) - mean) ** 2;
    if (between / total > best.share) best = { at: i, share: between / total };
  }
  return best;
};

// The smaller of two groups that do different things; null: they are one.
const splitOf = (list, unit) => {
  const sorted = [...list].sort((a, b) => a.value - b.value), cut = cutOf(sorted.map((one) => one.value));
  if (cut.share < TWO_GROUPS) return null;
  const sides = [sorted.slice(0, cut.at), sorted.slice(cut.at)].sort((a, b) => a.length - b.length);
  const apart = Math.abs(middleOf(sides[0]) - middleOf(sides[1]));
  return apart >= least(unit, middleOf(list)) && apart > 4 * halfOf(list) ? { odd: sides[0], rest: sides[1] } : null;
};

const singlesOf = (list, unit) => {
  const middle = middleOf(list), spread = SIGMA * median(ascending(list.map((one) => Math.abs(one.value - middle))));
  return list.filter((one) => Math.abs(one.value - middle) > Math.max(FAR * spread, least(unit, middle)) &&
    (one.high === null || middle < one.low || middle > one.high));
};

// CPUs that differ alike are one finding: neighbours by value that nobody would tell apart.
const alike = (list, unit) => {
  const groups = [];
  for (const one of [...list].sort((a, b) => a.value - b.value)) {
    const last = groups.at(-1);
    if (last && one.value - last.at(-1).value < least(unit, one.value)) last.push(one);
    else groups.push([one]);
  }
  return groups;
};

const findingOf = (cpus, middle) => {
  const value = middleOf(cpus), weight = cpus.reduce((sum, one) => sum + one.weight, 0);
  return { cpus, value, by: value - middle, moves: weight * (value - middle), low: Math.min(...cpus.map((one) => one.value)), high: Math.max(...cpus.map((one) => one.value)) };
};

// {middle, findings, n}: the largest contribution first; `middle` is the median of the CPUs that do not differ.
export const outliersOf = (all, unit) => {
  let rest = all.filter((one) => one.value !== null);
  const n = rest.length, groups = [];
  for (let split; rest.length >= FEW && groups.length < GROUPS_MAX && (split = splitOf(rest, unit)); rest = split.rest) groups.push(split.odd);
  const singles = rest.length >= FEW ? singlesOf(rest, unit) : [];
  const others = rest.filter((one) => !singles.includes(one)), middle = others.length === 0 ? null : middleOf(others);
  const findings = [...groups, ...alike(singles, unit)].map((cpus) => findingOf(cpus, middle));
  return { middle, n, rest: others.length, findings: findings.sort((a, b) => Math.abs(b.moves) - Math.abs(a.moves)) };
};

// '0-3,8', as the kernel writes lists of CPUs.
export const listOf = (numbers) => {
  const sorted = ascending(numbers), parts = [];
  for (let i = 0, j; i < sorted.length; i = j) {
    for (j = i + 1; j < sorted.length && sorted[j] === sorted[j - 1] + 1; j++);
    parts.push(j - i > 1 ? `${sorted[i]}-${sorted[j - 1]}` : String(sorted[i]));
  }
  return parts.join(',');
};
