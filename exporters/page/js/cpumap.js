// SPDX-License-Identifier: Apache-2.0
// The map of CPUs: a cell for each, threads of a core beside each other, in boxes for socket, NUMA node and last-level
// cache. It is one stop of the keyboard: arrows go from CPU to CPU, Enter opens one.

import { h } from './dom.js';
import { quantity } from './format.js';
import { least, median } from './outliers.js';
import { note, valueText, wordsOf } from './parts.js';

const STEPS = 9; // classes q0 to q8 of the style sheet; an odd number, so that values around the middle share one
const LABELLED = 4; // boxes within another one, up to which each has room for its name
const NAMED = 128, WITH_VALUES = 32; // CPUs, up to which cells have room for their number, and for their value

// What the colours stand for. Values that hardly differ have hardly different colours.
export const scaleOf = (cpus, unit) => {
  const values = cpus.map((one) => one.value).filter((value) => value !== null).sort((a, b) => a - b);
  if (values.length === 0) return null;
  let low = values[0], high = values.at(-1);
  const span = 4 * least(unit, median(values)) || 1;
  if (high - low < span) [low, high] = [(low + high - span) / 2, (low + high + span) / 2];
  if (low < 0 && values[0] >= 0) [low, high] = [0, high - low];
  return { low, high, values, stepOf: (value) => Math.min(Math.floor((value - low) / (high - low) * STEPS), STEPS - 1) };
};

export const nameOf = (one) => `CPU ${one.cpu}`;
const placeOf = (one) => [`core ${one.core}`, `socket ${one.socket}`, one.node !== null && `NUMA node ${one.node}`, one.type].filter(Boolean).join(', ');
export const describe = (one, unit) => `${nameOf(one)}, ${placeOf(one)}: ${valueText(one, unit)}`;

const keyOf = (one) => `${one.type} ${one.cpu}`;

const at = { key: '', told: '' }; // where the keyboard is, and of which CPU the text below the map is

const cellOf = (one, map) => {
  const key = keyOf(one), step = one.value === null ? 'none' : `q${map.scale.stepOf(one.value)}`;
  const few = map.n <= WITH_VALUES && one.value !== null;
  return h('button', {
    type: 'button', class: `cell ${step}${map.odd.has(one) ? ' odd' : ''}`, 'data-key': `cell ${key}`, 'data-cpu': one.cpu,
    'data-value': few && quantity(one.value, map.unit), 'aria-label': describe(one, map.unit), 'aria-pressed': String(map.open === one.cpu), tabindex: at.key === key ? 0 : -1,
    onclick: () => map.choose(one.cpu),
    onfocus: (event) => {
      at.key = key;
      for (const other of event.currentTarget.closest('.cpumap').querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
      event.currentTarget.tabIndex = 0;
      tell(event.currentTarget, key);
    },
    onpointerenter: (event) => tell(event.currentTarget, key),
  }, map.n <= NAMED && h('span', {}, String(one.cpu)));
};

const tell = (cell, key) => {
  at.told = key;
  cell.closest('.map').querySelector('.told').textContent = cell.getAttribute('aria-label');
};

const groupedBy = (list, of) => {
  const groups = new Map();
  for (const one of list) groups.set(of(one), [...(groups.get(of(one)) ?? []), one]);
  return [...groups.entries()];
};

const coresOf = (list, map) => h('div', { class: 'cores' }, groupedBy(list, (one) => one.core).map(([core, threads]) =>
  h('span', { class: 'core', 'data-key': `core ${core}` }, threads.map((one) => cellOf(one, map)))));

// Boxes within boxes, where there are several of a kind: [title, of].
const LEVELS = [
  [(one) => one.type, (type) => type || null], [(one) => one.socket, (socket) => `Socket ${socket}`],
  [(one) => one.node, (node) => node === null ? null : `NUMA node ${node}`], [(one) => one.cache, (cache) => cache === null ? null : `Last-level cache ${cache}`],
];

const boxesOf = (list, map, level = 0) => {
  if (level === LEVELS.length) return coresOf(list, map);
  const [of, title] = LEVELS[level], groups = groupedBy(list, of);
  if (groups.length === 1 && level !== 1) return boxesOf(list, map, level + 1);
  return h('div', { class: `places level${level}${level === 3 && groups.length > LABELLED ? ' many' : ''}` }, groups.map(([key, part]) => h('div', { class: 'place', role: 'group', 'aria-label': title(key), 'data-key': `place ${level} ${key}` },
    title(key) && (level < 3 || groups.length <= LABELLED) && h('div', { class: 'label' }, title(key)), boxesOf(part, map, level + 1))));
};

const legendOf = (map) => h('div', { class: 'scale', role: 'img',
  'aria-label': `Colours from ${quantity(map.scale.low, map.unit)} to ${quantity(map.scale.high, map.unit)} ${wordsOf(map.unit)}` },
h('span', {}, quantity(map.scale.low, map.unit)), Array.from({ length: STEPS }, (_, i) => h('i', { class: `q${i}` })), h('span', {}, quantity(map.scale.high, map.unit)),
h('span', { class: 'soft' }, wordsOf(map.unit)), map.odd.size > 0 && h('span', { class: 'soft' }, h('i', { class: 'odd' }), ' differs from the others'));

const move = (event) => {
  const map = event.currentTarget, cells = [...map.querySelectorAll('.cell')], now = cells.indexOf(document.activeElement);
  if (now < 0) return;
  const box = (cell) => cell.getBoundingClientRect(), middle = (cell) => box(cell).left + box(cell).width / 2;
  const row = (down) => { // the nearest cell of the next row
    const here = box(cells[now]), rows = cells.filter((cell) => down ? box(cell).top >= here.bottom - 1 : box(cell).bottom <= here.top + 1);
    const edge = down ? Math.min(...rows.map((cell) => box(cell).top)) : Math.max(...rows.map((cell) => box(cell).top));
    return rows.filter((cell) => Math.abs(box(cell).top - edge) < 2).sort((a, b) => Math.abs(middle(a) - middle(cells[now])) - Math.abs(middle(b) - middle(cells[now])))[0];
  };
  const to = { ArrowRight: () => cells[now + 1], ArrowLeft: () => cells[now - 1], ArrowDown: () => row(true), ArrowUp: () => row(false), Home: () => cells[0], End: () => cells.at(-1) }[event.key];
  if (!to) return;
  event.preventDefault();
  to()?.focus();
};

// `odd`: a set of CPUs that differ; `open`: the number of the one that is open; choose(cpu) opens one.
export const drawMap = (cpus, { unit, odd, open, choose, title }) => {
  const scale = scaleOf(cpus, unit), map = { unit, odd, open, choose, scale, n: cpus.length };
  if (!scale) return note('No CPU has a value of this metric now.');
  if (!cpus.some((one) => keyOf(one) === at.key)) at.key = keyOf(cpus[0]);
  const told = cpus.find((one) => keyOf(one) === at.told);
  const size = map.n <= WITH_VALUES ? 'large' : map.n <= NAMED ? 'medium' : 'small';
  return h('div', { class: 'map', 'data-key': 'map' }, legendOf(map),
    h('div', { class: `cpumap ${size}`, role: 'group', 'aria-label': `Map of ${map.n} CPUs by ${title}. Arrows go from CPU to CPU, Enter opens one.`, onkeydown: move }, boxesOf(cpus, map)),
    h('p', { class: 'told soft', 'aria-hidden': 'true' }, told ? describe(told, unit) : 'Point at a CPU to read it; choose it to open it.'));
};
