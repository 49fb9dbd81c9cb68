// SPDX-License-Identifier: Apache-2.0
// Host: whether all is well and what helps where it is not, what the host is, its PMUs, and the configuration in force.

import { command, copyButton, h, table } from '../dom.js';
import { bytes, capital, count, duration, known, moment, number, quantity } from '../format.js';
import { dataOf, typesOf } from '../model.js';
import { WATCHDOG, chip, facts, note, opens, renderSections, whole } from '../parts.js';

const firstOf = (context) => typesOf(dataOf(context.state, 'status'))[0] ?? null;

// ---- health ----

// What is wrong, with the remedy; a list that is empty where all is well.
const conditionsOf = (context) => typesOf(dataOf(context.state, 'status')).flatMap((status) => {
  const of = status.core_type ? `${status.core_type}: ` : '';
  return [
    ...status.pmu_errors.map((error) => ({ title: `${of}${error.pmu}: ${error.reason.replace(/_/g, ' ')}`, text: error.text })),
    status.config.last_reload_successful === 0 && { title: 'The configuration could not be loaded', text: 'The one before it is still in force. The log says why; topdownd check-config finds all mistakes.', run: 'topdownd check-config' },
    status.recording?.reason && { title: 'The recording cannot be written', text: status.recording.reason },
    status.textfile?.reason && { title: 'The text file cannot be written', text: status.textfile.reason },
    ...status.attention.map((one) => ({ title: `${of}${one.metric}: ${number(one.rate)} a second, normal is at most ${number(one.threshold)}`, text: one.advice })),
    ...status.events_not_live.slice(0, 3).map((one) => ({ title: `${of}${one.event} yields nothing`, text: one.text })),
  ].filter(Boolean);
}).concat((dataOf(context.state, 'uncore')?.kinds ?? []).flatMap((kind) => kind.errors.map((error) => ({ title: `${kind.pmu}: ${error.reason.replace(/_/g, ' ')}`, text: error.text }))));

const drawHealth = (context) => {
  const health = firstOf(context)?.health, conditions = conditionsOf(context);
  return [
    health && h('p', { class: 'health' }, health.ready ? chip('ready', 'ok') : chip('not ready', 'hot'), ' ', h('span', { class: 'said' }, health.text ? health.text.trim().replace(/\n/g, ' ') :
      'topdownd counts what it is configured to count.')),
    health?.remedy && h('p', {}, capital(health.remedy)),
    conditions.length === 0 ? health?.ready && h('p', {}, 'No condition needs somebody.') : h('ul', { class: 'conditions' }, conditions.map((one) =>
      h('li', { 'data-key': one.title }, h('b', {}, one.title), h('p', {}, capital(one.text)), one.run && command(one.run, 'the command that finds the mistake')))),
    (!health?.ready || conditions.length > 0) && [h('div', { class: 'label' }, 'Check all of it on the host:'), command('topdownd doctor', 'the command that checks the host')]];
};

// ---- the host ----

const FACTS = {
  smt: 'SMT', threads_per_core: 'Threads of a core', sockets: 'Sockets', numa_nodes: 'NUMA nodes', numa_balancing: 'NUMA balancing', transparent_hugepages: 'Transparent huge pages',
  reserved_hugepages_bytes: 'Reserved huge pages', frequency_governor: 'Frequency governor', frequency_driver: 'Frequency driver', frequency_minimum_hertz: 'Lowest frequency', frequency_maximum_hertz: 'Highest frequency',
  frequency_boost: 'Boost', virtual_machine: 'Virtual machine', prefetchers: 'Hardware prefetchers', microcode: 'Microcode', kernel: 'Kernel', clock_source: 'Clock source', isolated_cpus: 'Isolated CPUs',
};

const shownFact = (key, one) => !known(one) ? null : /_bytes$/.test(key) ? bytes(one) : /_hertz$/.test(key) ? quantity(one, 'hertz') : String(one);

const drawPlatform = (context) => {
  const status = firstOf(context);
  if (!status) return note('Nothing has been read yet.');
  const all = Object.entries(status.platform ?? {}), there = all.filter(([, fact]) => known(fact.value) || fact.by_cpus.length > 0), reasons = new Map();
  for (const [key, fact] of all) if (!known(fact.value) && fact.by_cpus.length === 0) reasons.set(fact.reason, [...(reasons.get(fact.reason) ?? []), FACTS[key] ?? key]);
  return [facts([['Name', status.hostname, ' ', copyButton(status.hostname, 'the name of the host')],
    ...typesOf(dataOf(context.state, 'status')).map((type) => [type.core_type ? `CPU, ${type.core_type}` : 'CPU', `${type.sockets.length > 1 ? `${type.sockets.length} × ` : ''}${type.cpu.model ?? type.cpu.microarchitecture}`,
      type.cpu.vendor && `, ${type.cpu.vendor}`, h('span', { class: 'soft' }, ` measured with the spec ${type.cpu.spec}`)]),
    ...typesOf(dataOf(context.state, 'status')).map((type) => [type.core_type ? `CPUs, ${type.core_type}` : 'CPUs', `${count(sum(type, 'cpus_measured'), 'CPU')} measured on ${count(sum(type, 'cores'), 'core')}`,
      sum(type, 'cpus_offline') > 0 && `, ${sum(type, 'cpus_offline')} offline`, sum(type, 'cpus_excluded') > 0 && `, ${sum(type, 'cpus_excluded')} excluded`, sum(type, 'cpus_isolated') > 0 && `, ${sum(type, 'cpus_isolated')} isolated`]),
    known(status.cpu.maximum_frequency_hz) && ['Maximum frequency', quantity(status.cpu.maximum_frequency_hz, 'hertz')],
    ...there.map(([key, fact]) => [FACTS[key] ?? key, known(fact.value) ? shownFact(key, fact.value) : h('ul', { class: 'plain' }, fact.by_cpus.map((one) => h('li', {}, `${shownFact(key, one.value)}: `, h('span', { class: 'soft' }, `${count(one.n_cpus, 'CPU')}, ${one.cpus}`))))])]),
  [...reasons].map(([reason, names]) => note(`Not known: ${names.join(', ')}. ${capital(reason ?? '')}.`))];
};

const sum = (type, field) => type.sockets.reduce((all, socket) => all + (socket[field] ?? 0), 0);

// ---- PMUs ----


const drawPmus = (context) => {
  const plans = typesOf(dataOf(context.state, 'plan')), rows = typesOf(dataOf(context.state, 'status')).map((type, i) => ({ key: `core ${type.core_type ?? ''}`, name: type.core_type ?? 'cores', pmu: type.pmu.name,
    up: type.pmu.up, counters: known(type.pmu.counters_total) ? `${number(type.pmu.counters_usable)} of ${number(type.pmu.counters_total)} counters of a CPU` : 'events need no counters', spec: type.cpu.spec,
    groups: plans[i]?.event_groups.length ?? null, of: type })).concat((dataOf(context.state, 'uncore')?.kinds ?? []).map((kind) => ({ key: `kind ${kind.pmu}`, name: kind.pmu, pmu: kind.pmu, up: kind.up,
    counters: count(kind.boxes.length, 'box', 'boxes'), spec: kind.spec ?? 'uncore.pmus of the configuration', groups: plans[0]?.uncore.find((one) => one.pmu === kind.pmu)?.event_groups.length ?? null })));
  if (rows.length === 0) return note('Nothing has been read yet.');
  const first = firstOf(context);
  return [table('pmus', 'PMUs of this host', [
    { title: 'What', of: (row) => row.name, show: (row) => h('b', {}, row.name) }, { title: 'Kernel\'s PMU', of: (row) => row.pmu, show: (row) => row.pmu },
    { title: 'State', of: (row) => row.up, show: (row) => row.up === 1 ? chip('counts', 'ok') : row.up === 0 ? chip('does not count', 'hot') : chip('not asked') },
    { title: 'Counters', show: (row) => row.counters }, { title: 'Spec', of: (row) => row.spec, show: (row) => row.spec }, { title: 'Event groups', numeric: true, of: (row) => row.groups, show: (row) => known(row.groups) ? String(row.groups) : '–' },
  ], rows), known(first?.pmu.nmi_watchdog) && note(`NMI watchdog: ${WATCHDOG[first.pmu.nmi_watchdog] ?? first.pmu.nmi_watchdog}.`)];
};

// ---- configuration and daemon ----

const drawConfiguration = (context) => {
  const status = firstOf(context), catalogs = typesOf(dataOf(context.state, 'catalog')), plan = typesOf(dataOf(context.state, 'plan'))[0];
  if (!status) return note('Nothing has been read yet.');
  const whole = (catalog) => catalog.groups.filter((group) => group.metrics.length > 0 && group.metrics.every((metric) => catalog.byName.get(metric)?.selected)).map((group) => group.name);
  const selected = catalogs.map((catalog) => ({ type: catalog.core_type, names: whole({ groups: catalog.groups, byName: new Map(catalog.metrics.map((metric) => [metric.metric, metric])) }) }));
  return [facts([['Profile', status.config.profile], ['Hash', h('code', {}, status.config.hash), ' ', copyButton(status.config.hash, 'the hash of the configuration')],
    ['Loaded', moment(status.config.last_reload_success_timestamp_seconds)], ['Schedule', status.schedule.mode, plan && h('span', { class: 'soft' }, `, slots of ${quantity(plan.slot_seconds, 'seconds')}`)],
    ...selected.map(({ type, names }) => [type ? `Metric groups measured whole, ${type}` : 'Metric groups measured whole', names.join(', ') || 'none'])]),
  note('What this configuration measures here, and why:'), command('topdownd explain', 'the command that shows the configuration')];
};

const drawDaemon = (context) => {
  const status = firstOf(context);
  if (!status) return note('Nothing has been read yet.');
  const lived = known(status.process.start_timestamp_seconds) && known(status.snapshot.timestamp_seconds) ? status.snapshot.timestamp_seconds - status.process.start_timestamp_seconds : null;
  const about = `topdownd ${status.version}${status.revision ? ` (${status.revision})` : ''}`;
  return [facts([['Version', about, ' ', copyButton(about, 'the version')],
    known(status.process.start_timestamp_seconds) && ['Started', moment(status.process.start_timestamp_seconds), lived > 0 && h('span', { class: 'soft' }, `, ${duration(lived)} ago`)],
    ['Data', status.replay ? `a replay${status.simulated ? ' of a simulated host' : ''}${status.recorded_version ? `, recorded by topdownd ${status.recorded_version}` : ''}` : status.simulated ? 'simulated: every number comes from a scenario' : 'measured on this host'],
    status.recording && ['Recording', status.recording.file, h('span', { class: 'soft' }, `, ${bytes(status.recording.bytes_total)} written, ${count(status.recording.rounds_lost_total ?? 0, 'round')} lost`)],
    status.textfile && ['Text file', status.textfile.folder], ['Last snapshot', `${whole(status.snapshot.sequence)}, ${moment(status.snapshot.timestamp_seconds)}`]]),
  h('div', { class: 'label' }, 'For a report of a problem, without secrets:'), command('sudo topdownd doctor --bundle topdownd-bundle.tar.gz', 'the command that writes a bundle')];
};

const PAGES = [
  ['metrics', 'for Prometheus, by socket'], ['metrics/cpu', 'for Prometheus, by CPU'], ['api/v1/topdown', 'what the host is bound by, and the tree'], ['api/v1/snapshot', 'the last values'],
  ['api/v1/cpus', 'one metric of all CPUs'], ['api/v1/opportunities', 'what each action could win at most'], ['api/v1/history', 'the last hour or day'], ['api/v1/uncore', 'memory controllers, caches, links'], ['api/v1/memory', 'NUMA nodes and resctrl'],
  ['api/v1/plan', 'event groups and their schedule'], ['api/v1/catalog', 'all metrics of this CPU'], ['api/v1/status', 'the daemon and its host'], ['-/ready', 'whether it counts what it should'],
];

const drawPages = () => opens('all pages', `${PAGES.length} pages for programs`, table('pages', 'Pages for programs', [
  { title: 'Address', show: (row) => h('a', { href: row.key }, `/${row.key}`) }, { title: 'What it has', show: (row) => row.text },
  { title: 'Ask for it', show: (row) => copyButton(`curl -s '${new URL(row.key, location.href).href}'`, `the command that asks for ${row.key}`, 'Copy curl') }], PAGES.map(([key, text]) => ({ key, text }))));

const SECTIONS = [
  { id: 'health', title: 'Health', draw: drawHealth },
  { id: 'platform', title: 'This host', draw: drawPlatform },
  { id: 'pmus', title: 'PMUs', draw: drawPmus },
  { id: 'configuration', title: 'Configuration in force', draw: drawConfiguration },
  { id: 'daemon', title: 'The daemon', draw: drawDaemon },
  { id: 'pages', title: 'For programs', draw: drawPages },
];

let root = null;

export default {
  id: 'host',
  title: 'Host',
  needs: () => ['status', 'plan', 'catalog', 'uncore'],
  mount(element) { root = element; },
  update(context) { renderSections(root, 'Host: health, platform and configuration', SECTIONS, context); },
};
