// Requests whose answers are counted: done, told to come again, or lost.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Customer } from '../support/customers.ts';

const answerMs = 60_000;
/** With `Retry-After`: of the market, and of a proxy for it (docs/proxy.md). */
const comeAgain = [429, 502, 503, 504];
/** Of a request that is to come again. */
const mostTries = 120;
const longestWaitS = 5;
const unnamedWaitS = 0.5;

export type Counts = {
  answered: number;
  /** One of `comeAgain` with `Retry-After`. */
  toldToRetry: number;
  /** What else came in place of a 2xx, by method, status and words. */
  readonly lost: Map<string, number>;
};

export const noCounts = (): Counts => ({ answered: 0, toldToRetry: 0, lost: new Map() });

export const lostOf = ({ lost }: Counts) => [...lost.values()].reduce((all, one) => all + one, 0);

/** With a body it is a POST under that Idempotency-Key. */
export type Asked = { readonly path: string; readonly key?: string; readonly body?: unknown };

type Reply = {
  readonly status: number;
  /** Seconds of `Retry-After`. */
  readonly wait: number | null;
  readonly body: unknown;
  readonly says: string;
};

export type Ask = (who: Pick<Customer, 'key'>, asked: Asked) => Promise<unknown>;

/**
 * Sends until a 2xx comes, and gives its body. Null: it was lost. `isPatient`: what is lost is sent
 * again too, as a client does whose server went away.
 */
export function createAsk(url: string, counts: Counts, isPatient: boolean): Ask {
  return async (who, asked) => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const reply = await once(url, who.key, asked).catch(unanswered);
      if (reply.status >= 200 && reply.status < 300) {
        counts.answered += 1;
        return reply.body;
      }
      const { status, wait, says } = reply;
      const isTold = comeAgain.includes(status) && wait !== null;
      if (isTold) counts.toldToRetry += 1;
      else {
        const method = asked.body === undefined ? 'GET' : 'POST';
        const what = `${method} ${status} ${says}`.slice(0, 200);
        counts.lost.set(what, (counts.lost.get(what) ?? 0) + 1);
        if (!isPatient) return null;
      }
      await sleep(Math.min(wait ?? unnamedWaitS, longestWaitS) * 1_000);
    }
    throw new Error(`${asked.path} was not answered in ${mostTries} tries`);
  };
}

function unanswered(error: unknown): Reply {
  const { cause, message } = error as { cause?: { code?: string }; message?: string };
  return { status: 0, wait: null, body: null, says: cause?.code ?? message ?? '' };
}

async function once(url: string, bearer: string, { path, key, body }: Asked): Promise<Reply> {
  const sent =
    body === undefined
      ? {}
      : {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json', 'idempotency-key': key ?? '' },
        };
  const reply = await fetch(url + path, {
    ...sent,
    headers: { authorization: `Bearer ${bearer}`, ...sent.headers },
    signal: AbortSignal.timeout(answerMs),
  });
  const text = await reply.text();
  const { status } = reply;
  const wait = reply.headers.get('retry-after');
  const isWell = status >= 200 && status < 300;
  return {
    status,
    wait: wait === null ? null : Number(wait),
    body: isWell ? JSON.parse(text) : null,
    says: isWell ? '' : (reply.headers.get('x-parley-error') ?? text.slice(0, 100)),
  };
}
