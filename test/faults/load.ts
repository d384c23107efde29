// Customers that go on asking while something fails: reads, and requests for quotes under
// Idempotency-Keys, each sent again until it is answered for good.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Customer } from '../support/customers.ts';
import type { Stage } from '../support/stage.ts';

export type Load = {
  /** Answers so far, by status; 0 = the connection ended. */
  readonly counts: ReadonlyMap<number, number>;
  /** Ends it; every request for a quote is there once. */
  stop(): Promise<void>;
};

/** Twenty requests a second or so: what is asked matters, and that somebody always asks. */
const pauseMs = 200;
const limitMs = 40_000;

export function startLoad(stage: Stage, who: Customer, workers = 4): Load {
  const counts = new Map<number, number>();
  const state = { stopped: false };
  const made = new Set<string>();
  const headers = { authorization: `Bearer ${who.key}`, 'content-type': 'application/json' };
  const ask = async (
    path: string,
    more: RequestInit,
  ): Promise<{ status: number; text: string }> => {
    try {
      const signal = AbortSignal.timeout(limitMs);
      const reply = await fetch(stage.url + path, { ...more, signal });
      const text = await reply.text();
      counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1);
      if (reply.status >= 500) mustBeClear(reply, text);
      return { status: reply.status, text };
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      counts.set(0, (counts.get(0) ?? 0) + 1);
      return { status: 0, text: String(error) };
    }
  };
  const body = JSON.stringify({
    direction: 'sell_base',
    baseAssetId: who.assets.ETH.id,
    baseAmount: '1000000000000000',
    quoteAssetId: who.assets.SOL.id,
    ttlSeconds: 600,
  });
  const worker = async () => {
    while (!state.stopped) {
      const once = { 'idempotency-key': crypto.randomUUID() };
      await ask('/v1/me', { headers });
      for (;;) {
        const sent = { method: 'POST', headers: { ...headers, ...once }, body };
        const { status, text } = await ask('/v1/rfqs', sent);
        if (status === 201) {
          made.add((JSON.parse(text) as { rfq: { id: string } }).rfq.id);
          break;
        }
        assert.ok([0, 409, 502, 503, 504].includes(status), `${status} ${text}`);
        await sleep(pauseMs);
      }
      await sleep(pauseMs);
    }
  };
  const running = Promise.all(Array.from({ length: workers }, worker));
  running.catch(() => {});
  return {
    counts,
    stop: async () => {
      state.stopped = true;
      await running;
      await allOnce(who, made);
    },
  };
}

function mustBeClear(reply: Response, text: string): void {
  const code = reply.headers.get('x-parley-error');
  assert.equal(reply.status, 503, `${reply.status} ${code} ${text}`);
  assert.ok(code === 'unavailable' || code === 'shutting_down', `${code} ${text}`);
  assert.notEqual(reply.headers.get('retry-after'), null);
}

/** In the book: each that was answered, and no other. */
async function allOnce(who: Customer, made: ReadonlySet<string>): Promise<void> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const { rfqs, nextCursor } = await who.client.rfqs({
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
      baseAssetId: who.assets.ETH.id,
    });
    found.push(...rfqs.filter(({ creatorId }) => creatorId === who.userId).map(({ id }) => id));
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  assert.deepEqual(found.sort(), [...made].sort(), 'every request is there once');
  for (const id of made) await who.client.cancelRfq(id);
}
