// SPDX-License-Identifier: Apache-2.0
// What would help how much, and what would be gained: shares of pipeline slots, the largest first.

import { command, h, table } from './dom.js';
import { known } from './format.js';
import { dataOf, typesOf } from './model.js';
import { chip, measureCommand, note, opens, shareBar, value } from './parts.js';

const GROUP = 'Bottlenecks'; // the metric group that every CPU with headings has
const SHOWN = 0.001; // less is 0.0 %

const headingsOf = (type) => {
  const of = type.core_type ? ` of ${type.core_type}` : '', all = type.scopes[0]?.bottlenecks ?? [];
  const rows = all.filter((one) => known(one.value) && one.value >= SHOWN).map((one) => ({ key: one.bottleneck, ...one }));
  const missing = all.filter((one) => !known(one.value)).map((one) => one.title);
  return [rows.length > 0 && table(`bottlenecks${of}`, `Pipeline slots by what helps${of}`, [
    { title: 'What costs them', of: (row) => row.title, show: (row) => [h('b', {}, row.title), row.rest && h('span', { class: 'soft' }, ', the rest')] },
    { title: 'Share', numeric: true, of: (row) => row.value, show: (row) => [shareBar(row), ' ', value(row, 'ratio of pipeline slots', { bare: true })] },
    { title: 'What to do', show: (row) => row.remedy },
  ], rows), missing.length > 0 && [note(`Not measured now${of}: ${missing.join(', ')}. This measures all that the host can:`),
    command(measureCommand([GROUP]), 'the command that measures what all headings are made of')]];
};

// null where no CPU counts pipeline slots.
export const drawBottlenecks = (context) => {
  const types = typesOf(dataOf(context.state, 'topdown')).filter((type) => (type.scopes?.[0]?.bottlenecks ?? []).length > 0);
  return types.length === 0 ? null : [note('The pipeline slots of the host, divided by what a developer can do about them.'), types.map(headingsOf)];
};

const tableOf = (type) => {
  const of = type.core_type ? ` of ${type.core_type}` : '';
  const rows = type.actions.filter((action) => known(action.value)).sort((a, b) => b.value - a.value).map((action) => ({ key: action.action, ...action }));
  const missing = type.actions.filter((action) => !known(action.value)).map((action) => action.title);
  return [rows.length > 0 && table(`opportunities${of}`, `What each action could win at most${of}`, [
    { title: 'Action', of: (row) => row.title, show: (row) => [h('b', {}, row.title), row.experiment && [' ', chip('needs a trial', 'warn')]] },
    { title: 'At most', numeric: true, of: (row) => row.value, show: (row) => [shareBar(row), ' ', value(row, 'ratio of pipeline slots', { bare: true })] },
    { title: 'What to do', show: (row) => [row.means, ' ', row.remedy, opens(`assumes ${row.action}${of}`, 'What this assumes', [h('p', {}, row.assumes), row.experiment && h('p', {}, row.experiment), h('code', {}, row.formula)])] },
  ], rows), missing.length > 0 && [note(`Not measured now${of}: ${missing.join(', ')}. This measures all of them:`), command('topdownd opportunities', 'the command that measures all bounds')]];
};

// null where no CPU counts pipeline slots.
export const drawOpportunities = (context) => {
  const types = typesOf(dataOf(context.state, 'opportunities')).filter((type) => type.actions.length > 0);
  return types.length === 0 ? null : [note('Shares of all pipeline slots, as upper bounds. They overlap: never add them.'), types.map(tableOf)];
};
