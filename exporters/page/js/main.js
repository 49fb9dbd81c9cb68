// SPDX-License-Identifier: Apache-2.0
// The frame: which view is shown, the header, what is wrong, and when data are asked for. A view is a module and a row
// in VIEWS; it says what it needs, and never fetches.

import { createApi } from './api.js';
import { copy, h, render } from './dom.js';
import { capital, clock, duration } from './format.js';
import { dataOf, hostOf, intervalOf, takenOf, typesOf } from './model.js';

const VIEWS = {
  now: { title: 'Now', load: () => import('./views/now.js') },
  time: { title: 'Time', load: () => import('./views/time.js') },
  where: { title: 'Where', load: () => import('./views/where.js') },
  why: { title: 'Why', load: () => import('./views/why.js') },
  trust: { title: 'Trust', load: () => import('./views/trust.js') },
  host: { title: 'Host', load: () => import('./views/host.js') },
};
const FIRST = 'now';
const ALWAYS = ['status', 'topdown']; // of the header

const byId = (id) => document.getElementById(id);
const main = byId('main'), api = createApi();

// ---- where we are ----

// '#time?metric=ipc' of the address; addresses of earlier versions lead to the same things.
const parse = (hash) => {
  const [, id, query] = /^#?([^?]*)\??(.*)$/.exec(hash), old = new URLSearchParams(hash.slice(1));
  if (!VIEWS[id] && old.has('metric') && VIEWS.time) return { id: 'time', params: new URLSearchParams({ metric: old.get('metric') }) };
  if (!VIEWS[id] && (old.has('cpus') || old.has('boxes')) && VIEWS.where) return { id: 'where', params: new URLSearchParams() };
  return VIEWS[id] ? { id, params: new URLSearchParams(query) } : { id: FIRST, params: new URLSearchParams() };
};

let route = parse(location.hash), view = null, mounted = '', timer = 0;
const context = {
  state: api.state,
  get route() { return route; },
  go: (hash) => { location.hash = hash; },
  copy,
  has: (id) => Object.hasOwn(VIEWS, id), // whether there is such a view to lead to
  refresh: () => refresh(),
};

// A page in which text is being selected asks for nothing, lest the text changes; neither does one that nobody sees.
const selecting = () => {
  const selection = getSelection();
  return !selection.isCollapsed && main.contains(selection.anchorNode);
};

// ---- header ----

const troubleText = (trouble, since) => {
  const old = since ? `: the values below are of ${clock(since, true)} UTC` : '';
  switch (trouble.kind) {
    case 'password': return 'topdownd asks for a name and a password: reload this page to enter them.';
    case 'busy': return `topdownd answers too many at once (${trouble.status}) and is asked again${old}.`;
    default: return `topdownd does not answer (${trouble.text})${old}. This page goes on asking.`;
  }
};

// Values that stay as they are though topdownd answers: it makes no snapshots any more. A replay may have ended.
const STALE_INTERVALS = 3, STALE_MS = 2000; // as the daemon judges
let newest = { taken: null, at: 0 };
const isStale = () => {
  const taken = takenOf(api.state), now = performance.now();
  if (taken !== newest.taken) newest = { taken, at: now };
  return taken !== null && !hostOf(api.state)?.replay && now - newest.at > STALE_INTERVALS * intervalOf(api.state) * 1000 + STALE_MS;
};

const liveText = () => {
  if (document.hidden) return ['paused', 'paused while hidden'];
  if (selecting()) return ['paused', 'paused while text is selected'];
  if (api.trouble(ALWAYS)) return ['old', 'no answer'];
  if (isStale()) return ['old', 'nothing new'];
  const host = hostOf(api.state), taken = takenOf(api.state);
  if (!host) return ['', 'asking'];
  if (host.replay) return ['live', `a replay, at ${clock(taken, true)} UTC`];
  return ['live', `live, every ${duration(intervalOf(api.state))}`];
};

const tab = ([id, { title }]) => h('a', { href: `#${id}`, 'aria-current': route.id === id ? 'page' : null, 'data-key': id }, title);

const renderHeader = () => {
  const host = hostOf(api.state), [kind, text] = liveText();
  render(byId('header'), h('div', { class: 'who' }, h('a', { class: 'brand', href: `#${FIRST}` }, 'topdownd'), h('b', { id: 'host' }, host?.name ?? ''),
    h('span', { class: 'soft', id: 'models' }, host?.text ?? ''), h('span', { class: `live ${kind}`, id: 'state' }, text)),
  h('nav', { 'aria-label': 'Views' }, Object.entries(VIEWS).map(tab)));
  const last = byId('host').textContent;
  document.title = last ? `${last}: topdownd` : 'topdownd';
};

// ---- what is wrong ----

const alert = (key, title, text) => h('p', { class: 'alert', 'data-key': key }, title && h('b', {}, title, ' '), text);

// What the daemon says of itself. A core type's are named only where there are several.
const alertsOf = (status) => {
  const type = status.core_type ? `${status.core_type}: ` : '';
  return [
    status.health?.ready === false && alert(`${type}health`, `${type}Not ready:`, `${status.health.text?.trim() ?? status.health.reason} ${capital(status.health.remedy ?? '')}`),
    status.config?.last_reload_successful === 0 && alert(`${type}config`, `${type}The configuration`, 'could not be loaded, and the one before it is still in force. The log says why; topdownd check-config finds all mistakes.'),
    status.recording?.reason && alert(`${type}recording`, `${type}The recording`, `${status.recording.file} cannot be written: ${status.recording.reason}`),
    status.textfile?.reason && alert(`${type}textfile`, `${type}The text file`, `in ${status.textfile.folder} cannot be written: ${status.textfile.reason}`),
    ...(status.attention ?? []).map((each) => alert(each.metric, `${type}${each.metric}`, `${Math.round(each.rate)} a second on this host, more than ${each.threshold} needs a cause. ${each.advice}`)),
  ];
};

const renderAlerts = () => {
  const state = api.state, trouble = api.trouble(ALWAYS), host = hostOf(state);
  const at = Math.max(0, ...ALWAYS.map((name) => state[name]?.at ?? 0));
  render(byId('alerts'),
    trouble && h('p', { class: 'alert', 'data-key': 'trouble', id: 'trouble' }, troubleText(trouble, at && at / 1000), trouble.kind === 'password' &&
      h('button', { type: 'button', onclick: () => location.reload() }, 'Reload')),
    !trouble && isStale() && alert('stale', 'Nothing new:', `topdownd answers, but has made no snapshot since ${clock(takenOf(state), true)} UTC. Its log says why.`),
    host?.simulated && alert('simulated', 'Simulated data.', ['No hardware is measured: every number here comes from a scenario', h('span', { class: 'more' }, ', and every series carries simulated="true"'), '.']),
    host?.replay && alert('replay', 'A replay.', ['This was measured at another time', h('span', { class: 'more' }, ': every series carries replay="true"'), '.']),
    typesOf(dataOf(state, 'status')).map(alertsOf));
};

// ---- views ----

// Whether the view of the route is there: not where its module cannot be loaded, or somebody has gone on meanwhile.
const show = async () => {
  if (mounted === route.id) return true;
  let module;
  try {
    module = (await VIEWS[route.id].load()).default;
  } catch {
    return false; // topdownd does not answer: what it says is asked for all the same, and the module again
  }
  if (module.id === route.id && module.id !== mounted) {
    view?.unmount?.();
    main.replaceChildren();
    main.dataset.view = mounted = module.id;
    view = module;
    view.mount(main, context);
  }
  return mounted === route.id;
};

const draw = () => {
  renderHeader();
  renderAlerts();
  if (mounted === route.id) view.update(context);
};

const refresh = async (force = false) => {
  clearTimeout(timer);
  if (document.hidden) {
    renderHeader();
    return;
  }
  try {
    const there = await show();
    if (selecting()) {
      renderHeader();
    } else {
      await api.refresh([...ALWAYS, ...(there ? view.needs(route, api.state) : [])], force);
      draw();
    }
  } finally {
    clearTimeout(timer);
    timer = setTimeout(refresh, intervalOf(api.state) * 1000);
  }
};

addEventListener('hashchange', () => {
  const before = route.id;
  route = parse(location.hash);
  if (selecting()) getSelection().removeAllRanges(); // who goes on wants to see it
  refresh().then(() => { if (before !== route.id) main.focus({ preventScroll: true }); });
});
document.addEventListener('visibilitychange', () => refresh());
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});

renderHeader();
refresh();
