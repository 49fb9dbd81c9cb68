// SPDX-License-Identifier: Apache-2.0
// Elements. What comes from hosts becomes text, never markup: there is no way in here to make elements of a string.

const apply = (node, name, value) => {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === 'function') {
    node.handlers ??= {};
    node.handlers[name.slice(2)] = value;
    node.addEventListener(name.slice(2), dispatch);
  } else if (name === 'style') {
    for (const [property, text] of Object.entries(value)) node.style.setProperty(property, text);
  } else {
    node.setAttribute(name, value === true ? '' : value);
  }
};

// Handlers are looked up when something happens, so that an update replaces them without touching the element.
const dispatch = (event) => event.currentTarget.handlers[event.type]?.(event);

const append = (node, children) => {
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
};

// An element: attributes, on... functions as handlers, style as {property: text}; children are elements or text, in
// lists as deep as you like; null, undefined and false are left out.
export const h = (tag, attributes, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) apply(node, name, value);
  return append(node, children);
};

const SVG = 'http://www.w3.org/2000/svg';
export const svg = (tag, attributes, ...children) => {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) apply(node, name, value);
  return append(node, children);
};

// ---- updates ----

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE && (node.getAttribute('data-key') || node.id)) || '';
const alike = (a, b) => a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

const sameAttributes = (old, fresh) => {
  for (const { name, value } of [...fresh.attributes]) {
    if (name === 'open' || name === 'style') continue; // what people have opened stays open
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) if (name !== 'open' && name !== 'style' && !fresh.hasAttribute(name)) old.removeAttribute(name);
  if (old.nodeName === 'OPTION' && fresh.hasAttribute('selected') && !old.selected) old.selected = true; // the attribute says it of a new list alone
  if (old.style && old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText;
};

const morph = (old, fresh) => {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  sameAttributes(old, fresh);
  for (const name of Object.keys(fresh.handlers ?? {})) if (!old.handlers?.[name]) old.addEventListener(name, dispatch);
  old.handlers = fresh.handlers;
  if (!fresh.hasAttribute('data-keep')) morphChildren(old, [...fresh.childNodes]);
};

const matchOf = (at, node) => {
  if (at && alike(at, node)) return at;
  const key = keyOf(node);
  for (let next = key ? at : null; next; next = next.nextSibling) if (alike(next, node)) return next;
  return null;
};

const morphChildren = (old, fresh) => {
  let at = old.firstChild;
  for (const node of fresh) {
    const match = matchOf(at, node);
    if (match) {
      if (match !== at) old.insertBefore(match, at);
      morph(match, node);
      at = match.nextSibling;
    } else {
      old.insertBefore(node, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
};

// Makes `parent` contain these children. Elements that are there already are changed, not replaced: focus, selection,
// scroll and what is open stay. `data-key` (or an id) tells which element is which in a list that changes; the content
// of an element with `data-keep` is left alone, for charts and controls that look after themselves.
export const render = (parent, ...children) => {
  const focused = document.activeElement;
  morphChildren(parent, [...append(document.createDocumentFragment(), children).childNodes]);
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
};

// ---- pieces that views share ----

// The clipboard takes text only from pages of this host or over TLS; elsewhere, from a field that is selected.
const copyBySelection = (text) => {
  const field = h('textarea', { class: 'offscreen', 'aria-hidden': 'true', tabindex: -1, readonly: true });
  const focused = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    copied = false;
  }
  field.remove();
  focused?.focus({ preventScroll: true });
  return copied;
};

// Returns whether the text is on the clipboard.
export const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
};

const SAID_MS = 2000;
const say = (button, text) => {
  const label = button.firstChild, before = button.dataset.label;
  label.data = text;
  setTimeout(() => { if (label.data === text) label.data = before; }, SAID_MS);
};

// A button that copies; `what` is what a screen reader says is copied.
export const copyButton = (text, what, label = 'Copy') => h('button', {
  type: 'button', class: 'copy', 'data-label': label, 'data-keep': true, 'data-key': `copy ${text}`, 'aria-label': `${label} ${what}`, 'aria-live': 'polite',
  onclick: async (event) => {
    const button = event.currentTarget;
    say(button, await copy(text) ? 'Copied' : 'Select it and press Ctrl+C');
  },
}, label);

// A command or a query to paste, with its button.
export const command = (text, what) => h('div', { class: 'command' }, h('code', { tabindex: 0 }, text), copyButton(text, what));

// A bar of one share, 0 to 1; what it means stands beside it in words.
export const bar = (share, kind = '') => h('span', { class: `bar ${kind}`, 'aria-hidden': 'true' },
  h('span', { style: { width: `${Math.min(Math.max(share ?? 0, 0), 1) * 100}%` } }));

// Parts of one whole: [[class, share]].
export const stack = (parts, label) => h('div', { class: 'stack', role: 'img', 'aria-label': label },
  parts.map(([kind, share]) => h('span', { class: kind, style: { width: `${Math.min(Math.max(share ?? 0, 0), 1) * 100}%` } })));

export const card = (title, attributes, ...children) => h('section', { class: 'card', ...attributes, 'aria-label': title }, h('h2', {}, title), children);

const sorted = new Map(); // by the table's key: the column and its direction

const compare = (a, b) => a === b ? 0 : a === null || a === undefined ? 1 : b === null || b === undefined ? -1 : a < b ? -1 : 1;

// A table that sorts by a click on a heading. A column: {title, of: row => what it sorts by, show: row => what it shows,
// numeric, note}. Rows have a `key`.
export const table = (key, caption, columns, rows) => {
  const order = sorted.get(key) ?? { column: -1, down: false };
  const sortBy = (column) => (event) => {
    sorted.set(key, { column, down: order.column === column ? !order.down : Boolean(columns[column].numeric) });
    const wide = event.currentTarget.closest('.wide');
    render(wide, ...table(key, caption, columns, rows).childNodes);
  };
  const by = columns[order.column]?.of;
  const list = by ? [...rows].sort((a, b) => order.down && by(a) !== null && by(b) !== null ? compare(by(b), by(a)) : compare(by(a), by(b))) : rows;
  const head = columns.map((column, i) => h('th', {
    scope: 'col', class: column.numeric ? 'n' : '', 'aria-sort': order.column === i ? (order.down ? 'descending' : 'ascending') : null,
  }, column.of ? h('button', { type: 'button', class: 'sort', onclick: sortBy(i) }, column.title) : column.title, column.note && h('small', {}, ` ${column.note}`)));
  return h('div', { class: 'wide', role: 'region', tabindex: 0, 'aria-label': caption, 'data-key': key }, h('table', {}, h('caption', { class: 'offscreen' }, caption),
    h('thead', {}, h('tr', {}, head)),
    h('tbody', {}, list.map((row) => h('tr', { 'data-key': row.key }, columns.map((column) => h('td', { class: column.numeric ? 'n' : '' }, column.show(row))))))));
};
