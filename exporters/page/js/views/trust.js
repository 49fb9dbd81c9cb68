// SPDX-License-Identifier: Apache-2.0
// Trust: how much of the time the numbers stand for, how wide their intervals are, who else used the counters, how the
// schedule shares its time, and what measuring costs.

import { command, h, stack, table } from '../dom.js';
import { bytes, count, duration, known, moment, number, quantity, share } from '../format.js';
import { dataOf, typesOf } from '../model.js';
import { WATCHDOG, chip, facts, hashOf, meaningsOf, note, opens, percent, renderSections, shareBar, titleOf, value, whole } from '../parts.js';

// Why time is not covered, and what helps.
const UNCOVERED = {
  starved: ['Others held the counters', 'See who: topdownd doctor. Leave some to others with reserve, or hand all over with topdownd yield.'],
  failed: ['The kernel refused or the counts were wrong', 'The log and topdownd doctor name the event group and the reason.'],
  offline: ['CPUs were offline', 'Nothing to do: they ran nothing.'],
  stalled: ['Events did not count', 'The events are listed below.'],
  not_plannable: ['It was not clear how to measure here', 'Passes when the counters have been probed.'],
  yielded: ['The counters were handed over on request', 'topdownd yield --end takes them back before the time is over.'],
  gap: ['topdownd did not run, or the host slept', 'Totals stand still for that time; nothing is invented.'],
};

const ofType = (type) => type.core_type ? ` of ${type.core_type}` : '';
const heading = (type) => type.core_type && h('h3', { 'data-key': `head ${type.core_type}` }, type.core_type);
const each = (context, name, draw) => {
  const data = dataOf(context.state, name);
  return data ? typesOf(data).map((type, i) => [heading(type), draw(type, i)]) : note('Nothing has been read yet.');
};
const meaningsAt = (context, i) => meaningsOf(typesOf(dataOf(context.state, 'catalog'))[i]);

const drawCoverage = (context) => each(context, 'snapshot', (type) => {
  const host = type.scopes[0], covered = host.covered_cpu_seconds, missing = Object.entries(host.uncovered_cpu_seconds).filter(([, seconds]) => seconds > 0);
  const all = (covered ?? 0) + missing.reduce((sum, [, seconds]) => sum + seconds, 0);
  if (!known(covered) || all === 0) return note('Nothing has been counted yet.');
  return [h('p', {}, h('b', {}, percent(covered / all, covered < all ? 2 : 0)), ` of the CPU time since topdownd started is in its totals: ${duration(covered)}${covered < all ? ` of ${duration(all)}` : ''} of all CPUs together.`),
    shareBar({ value: covered / all }, null, 'path'),
    missing.length > 0 && table(`uncovered ${type.core_type ?? ''}`, `CPU time that is not in the totals${ofType(type)}`, [
      { title: 'Not in them', of: (row) => row.title, show: (row) => row.title }, { title: 'CPU time', numeric: true, of: (row) => row.seconds, show: (row) => duration(row.seconds) },
      { title: 'Share', numeric: true, of: (row) => row.seconds, show: (row) => percent(row.seconds / all, 2) }, { title: 'What to do', show: (row) => row.remedy },
    ], missing.map(([reason, seconds]) => ({ key: reason, seconds, title: UNCOVERED[reason]?.[0] ?? reason, remedy: UNCOVERED[reason]?.[1] ?? '' }))),
    known(host.guest_cpu_seconds) && note(`KVM guests had ${duration(host.guest_cpu_seconds)} of it. Events leave out what guests do.`)];
});

const QUALITIES = { good: 'good', fair: 'fair', poor: 'poor', none: 'without an interval' };

const drawIntervals = (context) => each(context, 'snapshot', (type, i) => {
  const meanings = meaningsAt(context, i), entries = Object.entries(type.scopes[0].metrics).map(([name, entry]) => ({ key: name, title: titleOf(meanings, name), entry }));
  const of = (quality) => entries.filter(({ entry }) => known(entry.value) && !entry.exact && entry.quality === quality);
  const exact = entries.filter(({ entry }) => known(entry.value) && entry.exact), missing = entries.filter(({ entry }) => !known(entry.value));
  const doubtful = [...of('poor'), ...of('none'), ...of('fair')];
  return [h('p', { class: 'chips' }, exact.length > 0 && chip(`${exact.length} exact`, 'ok'), Object.keys(QUALITIES).filter((quality) => of(quality).length > 0).map((quality) =>
    chip(`${of(quality).length} ${QUALITIES[quality]}`, quality === 'good' ? 'ok' : quality === 'poor' ? 'hot' : '')), missing.length > 0 && chip(`${missing.length} without a value`)),
  note('Good: half of the 95 % interval is at most 1 point of a share, or 5 % of any other value. Fair: 3 points, or 20 %. Poor: more, or so few rounds and windows that nobody knows.'),
  doubtful.length === 0 ? null : table(`doubtful ${type.core_type ?? ''}`, `Values with wide intervals${ofType(type)}`, [
    { title: 'Metric', of: (row) => row.title, show: (row) => h('a', { href: hashOf('time', { metric: row.key }) }, row.title) },
    { title: 'Value', note: '± half of its 95 % interval', numeric: true, show: (row) => value(row.entry) }, { title: 'Quality', of: (row) => row.entry.quality, show: (row) => QUALITIES[row.entry.quality] ?? row.entry.quality },
    { title: 'Why', show: (row) => row.entry.interval_reason ?? row.entry.quality_reason ?? `${count(row.entry.windows ?? 0, 'window')}, counted ${percent(row.entry.share_of_time, 0)} of the time` },
  ], doubtful),
  missing.length > 0 && opens(`missing ${type.core_type ?? ''}`, `${count(missing.length, 'metric')} without a value`, table(`missing ${type.core_type ?? ''}`, `Metrics without a value${ofType(type)}`, [
    { title: 'Metric', of: (row) => row.title, show: (row) => row.title }, { title: 'Why', show: (row) => row.entry.reason }], missing))];
});

// ---- the schedule ----

const groupsOf = (plan) => [...plan.event_groups].sort((a, b) => b.share_of_time - a.share_of_time);

const drawSchedule = (context) => each(context, 'plan', (plan, i) => {
  const meanings = meaningsAt(context, i), rotating = groupsOf(plan).filter((group) => !group.always_on), idle = plan.round_seconds > 0 ? plan.idle_seconds / plan.round_seconds : 0;
  const slots = rotating.reduce((sum, group) => sum + group.slots, 0);
  return [
    rotating.length === 0 ? h('p', {}, 'Nothing rotates: all events are counted all the time.') : h('p', {}, 'A round takes ', h('b', {}, duration1(plan.round_seconds)), `: ${count(slots, 'slot')} of ${duration1(plan.slot_seconds)} in which ${count(rotating.length, 'event group')} take turns, and `,
      `${duration1(plan.idle_seconds)} in which topdownd holds no counter. The schedule is ${plan.mode}.`),
    rotating.length > 0 && stack([...rotating.map((group, n) => [`g${n % 6}`, group.share_of_time]), ['idle', idle]],
      `Share of a round: ${rotating.map((group) => `${group.name} ${share(group.share_of_time, 0)}`).join(', ')}, idle ${share(idle, 0)}`),
    table(`event groups ${plan.core_type ?? ''}`, `Event groups${ofType(plan)}`, [
      { title: 'Event group', of: (row) => row.name, show: (row) => [row.n >= 0 && h('i', { class: `key g${row.n % 6}` }), h('b', {}, row.name), row.composite && h('span', { class: 'soft' }, ' one part of several'), row.fetched && h('span', { class: 'soft' }, ' while the verdict asks for it')] },
      { title: 'Share of time', numeric: true, of: (row) => row.share_of_time, show: (row) => row.always_on ? 'all' : [share(row.share_of_time), row.share_of_time !== row.baseline_share_of_time && Math.abs(row.share_of_time - row.baseline_share_of_time) > 0.005 &&
        h('div', { class: 'soft' }, `else ${share(row.baseline_share_of_time)}`)] },
      { title: 'Slots a round', numeric: true, of: (row) => row.slots, show: (row) => row.always_on ? '–' : String(row.slots) },
      { title: 'What it carries', show: (row) => opens(`group ${row.name}`, `${count(row.metrics.length, 'metric')}, ${count(row.events.length, 'event')}`, [
        row.metrics.length > 0 && h('p', {}, row.metrics.map((metric) => titleOf(meanings, metric)).join(', ')), h('p', { class: 'soft' }, row.events.map((event) => `${event.name} (${event.code})`).join(', '))], { kind: 'quiet' }) },
    ], groupsOf(plan).map((group) => ({ key: group.name, n: rotating.indexOf(group), ...group }))),
    plan.adaptive && adaptiveOf(plan)];
});

const duration1 = (seconds) => seconds < 10 ? quantity(seconds, 'seconds') : duration(seconds);

const adaptiveOf = (plan) => {
  const raised = plan.adaptive.groups.filter((group) => group.raised);
  return [h('p', {}, raised.length > 0 ? `More of the round than usual: ${raised.map((group) => `${group.group} (${share(group.share_of_time, 0)} instead of ${share(group.baseline_share_of_time, 0)})`).join(', ')}.` : 'No metric group is raised now.'),
    plan.adaptive.decisions.length > 0 && opens(`decisions ${plan.core_type ?? ''}`, 'The last decisions', h('ol', {}, plan.adaptive.decisions.map((one) => h('li', {}, `${moment(one.timestamp_seconds)}: ${one.reason}`))))];
};

// ---- others ----

const drawOthers = (context) => each(context, 'status', (status, i) => {
  const plan = typesOf(dataOf(context.state, 'plan'))[i], groups = status.event_groups ?? [];
  const counters = known(status.pmu.counters_total) ? `${number(status.pmu.counters_usable)} of ${number(status.pmu.counters_total)}` : null;
  const held = status.pmu.counters_total - status.pmu.counters_usable;
  return [
    facts([counters && ['Counters of a CPU that topdownd can get', counters, held > 0 && h('span', {}, ' ', chip(`${number(held)} held by others`, 'warn'))],
      plan && ['Left to others (reserve)', String(plan.reserved_counters)], known(status.pmu.nmi_watchdog) && ['NMI watchdog', WATCHDOG[status.pmu.nmi_watchdog] ?? status.pmu.nmi_watchdog],
      ['KVM guests', status.pmu.guests_excluded ? 'left out: events do not count them' : 'counted with the host, where there are any']]),
    groups.length > 0 && table(`windows ${status.core_type ?? ''}`, `Windows of each event group${ofType(status)} since topdownd started`, [
      { title: 'Event group', of: (row) => row.name, show: (row) => row.name },
      { title: 'Windows', numeric: true, of: (row) => row.all, show: (row) => whole(row.all) },
      { title: 'Complete', numeric: true, of: (row) => row.windows.complete / row.all, show: (row) => row.all > 0 ? percent(row.windows.complete / row.all) : '–' },
      { title: 'Shared', numeric: true, of: (row) => row.windows.contended, show: (row) => whole(row.windows.contended) }, { title: 'Starved', numeric: true, of: (row) => row.windows.starved, show: (row) => whole(row.windows.starved) },
      { title: 'Failed', numeric: true, of: (row) => row.windows.failed, show: (row) => whole(row.windows.failed) },
      { title: 'On the counters', numeric: true, of: (row) => row.running_seconds / row.enabled_seconds, show: (row) => row.enabled_seconds > 0 ? percent(row.running_seconds / row.enabled_seconds) : '–' },
    ], groups.map((group) => ({ key: group.name, all: Object.values(group.windows).reduce((sum, n) => sum + (n ?? 0), 0), ...group }))),
    note('Shared: the kernel let others count in between, and counts are scaled. Starved: topdownd never got the counters. On the counters: of the time in which the events were enabled.'),
    h('div', { class: 'label' }, 'Hand all counters over, to run perf for example:'), command('topdownd yield --for 10m', 'the command that hands all counters over')];
});


const drawDead = (context) => {
  const rows = typesOf(dataOf(context.state, 'status')).flatMap((type) => type.events_not_live.map((one) => ({ key: `${type.core_type} ${one.event}`, type: type.core_type, ...one })));
  return rows.length === 0 ? null : table('events not live', 'Events that yield nothing', [
    { title: 'Event', of: (row) => row.event, show: (row) => h('code', {}, row.event) }, { title: 'State', of: (row) => row.state, show: (row) => row.state }, { title: 'Why', show: (row) => row.text }], rows);
};

// ---- cost ----

const drawCost = (context) => {
  const status = typesOf(dataOf(context.state, 'status'))[0];
  if (!status) return note('Nothing has been read yet.');
  const { process, cost } = status, now = status.snapshot.timestamp_seconds, lived = known(process.start_timestamp_seconds) && known(now) ? Math.max(now - process.start_timestamp_seconds, 1) : null;
  const perSecond = (total) => known(total) && lived ? total / lived : null;
  const rate = (total) => perSecond(total) >= 100 ? whole(perSecond(total)) : number(perSecond(total), 2);
  const budget = cost?.budget_used_ratio;
  return [
    known(budget) && h('div', {}, h('p', {}, h('b', {}, percent(budget, 0)), ' of the budget for measuring (budget in topdownd.yaml) was used in the last whole period.'), shareBar({ value: budget }, 1, budget > 0.9 ? 'path' : '')),
    facts([
      known(process.cpu_seconds_total) && ['CPU time of the daemon', `${percent(perSecond(process.cpu_seconds_total), 2)} of one CPU, ${duration1(process.cpu_seconds_total)} since it started`],
      known(process.collection_seconds_total) && ['of which for event groups', percent(perSecond(process.collection_seconds_total), 2)],
      cost && known(cost.interrupts_total) && ['Interrupts of other CPUs', `${rate(cost.interrupts_total)} a second on the whole host, ${percent(perSecond(cost.interrupt_seconds_total), 3)} of one CPU`],
      cost && known(cost.calls_total) && ['Calls to the kernel about counters', `${rate(cost.calls_total)} a second`],
      cost && known(cost.rotations_total) && cost.rotations_total > 0 && ['Wake-ups to rotate', `${rate(cost.rotations_total)} a second, ${quantity(cost.rotation_seconds_total / cost.rotations_total, 'seconds')} each`],
      known(process.resident_bytes) && ['Memory', `${bytes(process.resident_bytes)} resident`, known(status.pmu.kernel_memory_bytes) && `, ${bytes(status.pmu.kernel_memory_bytes)} in the kernel for its events`],
      known(process.open_fds) && ['Open files', `${whole(process.open_fds)} of ${whole(process.max_fds)}`],
    ])];
};

const drawLeft = (context) => {
  const rows = typesOf(dataOf(context.state, 'status')).flatMap((type) => type.sockets.map((socket) => ({ key: `${type.core_type} ${socket.socket}`, type: type.core_type, ...socket })));
  if (!rows.some((row) => row.cpus_offline > 0 || row.cpus_excluded > 0 || row.cpus_isolated > 0)) return null;
  return table('left out', 'CPUs that are not measured', [
    { title: 'Socket', of: (row) => row.socket, show: (row) => `${row.socket}${row.type ? `, ${row.type}` : ''}` }, { title: 'Measured', numeric: true, of: (row) => row.cpus_measured, show: (row) => String(row.cpus_measured) },
    { title: 'Offline', numeric: true, of: (row) => row.cpus_offline, show: (row) => number(row.cpus_offline) }, { title: 'Excluded by cpus', numeric: true, of: (row) => row.cpus_excluded, show: (row) => String(row.cpus_excluded) },
    { title: 'Isolated', numeric: true, of: (row) => row.cpus_isolated, show: (row) => String(row.cpus_isolated) }], rows);
};

const SECTIONS = [
  { id: 'coverage', title: 'How much of the time is counted', draw: drawCoverage },
  { id: 'intervals', title: 'How certain the values are', draw: drawIntervals },
  { id: 'schedule', title: 'How the counters are shared', draw: drawSchedule },
  { id: 'others', title: 'Other users of the counters', draw: drawOthers },
  { id: 'dead', title: 'Events that yield nothing', draw: drawDead },
  { id: 'left', title: 'CPUs that are left out', draw: drawLeft },
  { id: 'cost', title: 'What measuring costs', draw: drawCost },
];

let root = null;

export default {
  id: 'trust',
  title: 'Trust',
  needs: () => ['snapshot', 'plan', 'status', 'catalog'],
  mount(element) { root = element; },
  update(context) { renderSections(root, 'Trust: how far the numbers can be trusted', SECTIONS, context); },
};
