// SPDX-License-Identifier: Apache-2.0
// Level 1 of a socket or a CPU, as parts of all pipeline slots.

import { h, stack } from './dom.js';
import { LEVEL1, known, share } from './format.js';

export const levelOneOf = (metrics, { small = false } = {}) => {
  const parts = LEVEL1.filter(({ metric }) => known(metrics[metric]?.value));
  if (parts.length === 0) return small ? '–' : h('p', { class: 'soft' }, 'Level 1 has no values now.');
  const words = parts.map(({ metric, title }) => `${title} ${share(metrics[metric].value)}`);
  const bar = stack(parts.map(({ kind, metric }) => [kind, metrics[metric].value]), `Pipeline slots: ${words.join(', ')}`);
  return small ? bar : [bar, h('p', { class: 'legend' }, parts.map(({ kind, metric, title }) => h('span', {}, h('i', { class: `key ${kind}` }), `${title} ${share(metrics[metric].value)}`)))];
};

// What the colours of small bars are.
export const levelOneKey = () => h('p', { class: 'legend soft', 'data-key': 'level 1' }, h('span', {}, 'Level 1, of pipeline slots:'), LEVEL1.map(({ kind, title }) => h('span', {}, h('i', { class: `key ${kind}` }), title)));
