// SPDX-License-Identifier: Apache-2.0
// What the daemon says. A resource is named as it is asked for: 'topdown', 'snapshot?scope=socket', 'history?metric=ipc'.
// state[name] = {data, error, at}: the newest data stays while a request fails.

// Relative, so that a reverse proxy may put all of it below a path; a name and a password in the address are not asked with.
const ROOT = new URL('../', import.meta.url);
ROOT.username = ROOT.password = '';
const TIMEOUT_MS = 10000;
// Seconds for which an answer is new enough: what is asked for often and changes seldom.
const KEPT = [[/^catalog/, 300], [/^plan/, 10], [/^history.*step=300/, 60], [/^history/, 5], [/scope=cpu|^cpus/, 2]];

const urlOf = (name) => new URL(`api/v1/${name}`, ROOT);
const keptOf = (name) => KEPT.find(([pattern]) => pattern.test(name))?.[1] ?? 0;

// Why there is no answer: kind is gone (no answer at all), password, busy (try again), missing (no such page in this
// version) or refused (a wrong question).
const failure = (status, text) => {
  const kind = status === 401 ? 'password' : status === 429 || status === 503 ? 'busy' : status === 404 ? 'missing' : 'refused';
  return { kind, status, text };
};

const read = async (name) => {
  const answer = await fetch(urlOf(name), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw failure(answer.status, (await answer.text()).trim());
  return answer.json();
};

export const createApi = () => {
  const state = {}, running = new Map();
  let started = null;

  const load = async (name, force) => {
    const before = state[name], now = Date.now();
    if (!force && before?.data && !before.error && now - before.at < keptOf(name) * 1000) return;
    try {
      state[name] = { data: await read(name), error: null, at: Date.now() };
    } catch (error) {
      const told = error.kind ? error : { kind: 'gone', status: 0, text: error.name === 'TimeoutError' ? 'no answer in 10 s' : 'no connection' };
      state[name] = { data: before?.data ?? null, error: told, at: before?.at ?? 0 };
    }
  };

  // One request at a time for a name, however many ask.
  const once = (name, force) => {
    if (!running.has(name)) running.set(name, load(name, force).finally(() => running.delete(name)));
    return running.get(name);
  };

  // Another process may be another version with another configuration: nothing that was kept is of it.
  const noticeRestart = () => {
    const status = state.status?.data, own = (status?.core_types?.[0] ?? status)?.process?.start_timestamp_seconds ?? null;
    if (started !== null && own !== null && own !== started) for (const name of Object.keys(state)) if (keptOf(name) > 0) state[name].at = 0;
    started = own ?? started;
  };

  return {
    state,
    async refresh(names, force = false) {
      await Promise.all([...new Set(names)].map((name) => once(name, force)));
      noticeRestart();
    },
    // The first of these that says why nothing comes; null: all are answered.
    trouble(names) {
      return names.map((name) => state[name]?.error).find((error) => error && error.kind !== 'missing' && error.kind !== 'refused') ?? null;
    },
  };
};
