// What the identity provider remembers, in memory: sign-ins that are under way, codes and tokens.
// It outlives a rotation of keys, and ends with the process.

import type { Adapter, AdapterPayload } from 'oidc-provider';

/** Of everything together; a sign-in takes six. Past it the oldest are forgotten. */
export const mostEntries = 2_000;

type Entry = { payload: AdapterPayload; readonly expiresAtMs: number };

/** For the `adapter` of an oidc-provider. */
export function providerStore(nowMs: () => number = Date.now): (model: string) => Adapter {
  const entries = new Map<string, Entry>();
  const find = (key: string): AdapterPayload | undefined => {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAtMs > nowMs()) return entry?.payload;
    entries.delete(key);
    return undefined;
  };
  const findBy = (model: string, field: 'uid' | 'userCode', value: string) => {
    const found = [...entries].find(
      ([key, { payload }]) => key.startsWith(`${model}:`) && payload[field] === value,
    );
    return found === undefined ? undefined : find(found[0]);
  };
  return (model) => ({
    upsert: async (id, payload, expiresInSeconds) => {
      const key = `${model}:${id}`;
      entries.delete(key); // what was written last is the newest
      const lifeMs = (expiresInSeconds ?? Number.POSITIVE_INFINITY) * 1_000;
      entries.set(key, { payload, expiresAtMs: nowMs() + lifeMs });
      for (const [oldest] of entries) {
        if (entries.size <= mostEntries) break;
        entries.delete(oldest);
      }
    },
    find: async (id) => find(`${model}:${id}`),
    findByUid: async (uid) => findBy(model, 'uid', uid),
    findByUserCode: async (userCode) => findBy(model, 'userCode', userCode),
    consume: async (id) => {
      const payload = find(`${model}:${id}`);
      if (payload !== undefined) payload.consumed = Math.floor(nowMs() / 1_000);
    },
    destroy: async (id) => {
      entries.delete(`${model}:${id}`);
    },
    revokeByGrantId: async (grantId) => {
      for (const [key, { payload }] of entries) {
        if (key.startsWith(`${model}:`) && payload.grantId === grantId) entries.delete(key);
      }
    },
  });
}
