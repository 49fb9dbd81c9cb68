// SPDX-License-Identifier: Apache-2.0
// Values as text: each number with its unit, in the digits that a measurement of one round is worth.

const PREFIXES = [[1e15, ' P'], [1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k']];
const PREFIXED = 1e4; // less is easier to read as it is
export const NONE = '–';
export const known = (value) => value !== null && value !== undefined;

const plain = (value, digits) => {
  const rounded = Number(value.toPrecision(digits));
  if (rounded !== 0 && Math.abs(rounded) < 1e-6) return rounded.toFixed(12).replace(/\.?0+$/, ''); // not as 2e-7
  return Math.abs(value) >= 1000 ? value.toFixed(0) : String(rounded);
};

// 4.567 G: a prefix for what is 10,000 or more, and the space that a unit needs after it.
export const number = (value, digits = 4) => {
  if (!known(value)) return NONE;
  const [factor, prefix] = (Math.abs(value) >= PREFIXED && PREFIXES.find(([least]) => Math.abs(value) >= least)) || [1, ''];
  return plain(value / factor, digits) + prefix;
};

export const share = (value, digits = 1) => {
  if (!known(value)) return NONE;
  const percent = value * 100;
  return `${percent !== 0 && Math.abs(percent) < 0.05 ? percent.toPrecision(1) : percent.toFixed(digits)} %`;
};

// Units as the API says them: how they are shown. A share is of something, which `unitOf` tells.
const UNITS = [
  [/^(ratio|share)\b/, (value) => share(value), (unit) => unit.replace(/^(ratio|share)( of )?/, '').replace(/^/, '% of ').replace(/ of $/, '')],
  [/^hertz$/, (value) => `${number(value)}Hz`.replace(/^([\d.]+)Hz$/, '$1 Hz'), () => 'Hz'],
  [/^bytes per second$|^bytes a second$/, (value) => bytes(value, '/s'), () => 'bytes/s'],
  [/^bytes$/, (value) => bytes(value), () => 'bytes'],
  [/^seconds$/, (value) => seconds(value), () => 's'],
];

export const bytes = (value, per = '') => {
  if (!known(value)) return NONE;
  const text = number(value, 4);
  return `${text}${/ [PTGMk]$/.test(text) ? '' : ' '}B${per}`;
};

// A time of physics: 80 ns, 3.2 ms.
export const seconds = (value) => {
  if (!known(value)) return NONE;
  const [factor, unit] = [[1, 's'], [1e-3, 'ms'], [1e-6, 'us']].find(([least]) => Math.abs(value) >= least) ?? [1e-9, 'ns'];
  return value === 0 ? '0 s' : `${plain(value / factor, 3)} ${unit}`;
};

// A value of a metric, with the unit that the API gives for it.
export const quantity = (value, unit) => {
  if (!known(value)) return NONE;
  const row = UNITS.find(([pattern]) => pattern.test(unit));
  return row ? row[1](value) : number(value);
};

// What stands beside the number: '% of pipeline slots', 'per 1000 instructions'.
export const unitOf = (unit) => UNITS.find(([pattern]) => pattern.test(unit))?.[2](unit) ?? unit;

const DIGITS_SHOWN = 1e-4; // of a value; an interval that is narrower than that says nothing more

// Half the width of a 95 % interval: '± 0.6', in points for a share; words where it tells nothing. The upper half: the
// lower one may be cut at 0.
export const margin = (entry, unit) => {
  if (!known(entry?.high) || !known(entry?.value)) return '';
  const half = entry.high - entry.value, isShare = /^(ratio|share)\b/.test(unit), { domain } = entry;
  const tells = (domain ?? (isShare ? 'share' : 'other')) !== 'other' ? half < 0.5 : half < Math.abs(entry.value) || half === 0;
  if (!tells) return 'too uncertain to tell';
  if (entry.exact) return 'exact';
  const shown = half < DIGITS_SHOWN * Math.abs(entry.value) ? 0 : half;
  if (isShare) return `± ${number(shown * 100, 2)}`;
  return `± ${quantity(Number(shown.toPrecision(2)), unit)}`;
};

// ---- times, all UTC as in logs and in Prometheus ----

const two = (value) => String(value).padStart(2, '0');
export const clock = (timestamp, withSeconds = false) => {
  if (!known(timestamp)) return NONE;
  const date = new Date(timestamp * 1000);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${withSeconds ? `:${two(date.getUTCSeconds())}` : ''}`;
};

const DAY = 86400;
// With the date where it is not that of `now`.
export const moment = (timestamp, now = Date.now() / 1000) => {
  if (!known(timestamp)) return NONE;
  const date = new Date(timestamp * 1000).toISOString().slice(0, 10);
  return Math.floor(timestamp / DAY) === Math.floor(now / DAY) ? `${clock(timestamp)} UTC` : `${date} ${clock(timestamp)} UTC`;
};

export const duration = (length) => {
  const s = Math.max(Math.round(length), 0);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < DAY) return `${Math.floor(s / 3600)} h ${two(Math.floor(s % 3600 / 60))} min`;
  return `${Math.floor(s / DAY)} ${s < 2 * DAY ? 'day' : 'days'} ${Math.floor(s % DAY / 3600)} h`;
};

// A title of words that begin small.
export const capital = (text) => text ? text[0].toUpperCase() + text.slice(1) : text;

export const count = (n, one, many = `${one}s`) => `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;

// ---- names ----

// Level 1 on every vendor: the category, the metric of its share, the field's name and what it means in plain words.
export const LEVEL1 = [
  { category: 'backend_bound', metric: 'backend_bound_ratio', title: 'Back-end bound', plain: 'Waits for data or units', kind: 'be' },
  { category: 'retiring', metric: 'retiring_ratio', title: 'Retiring', plain: 'Useful work', kind: 're' },
  { category: 'frontend_bound', metric: 'frontend_bound_ratio', title: 'Front-end bound', plain: 'Waits for code', kind: 'fe' },
  { category: 'bad_speculation', metric: 'bad_speculation_ratio', title: 'Bad speculation', plain: 'Wrong guesses', kind: 'bs' },
];
