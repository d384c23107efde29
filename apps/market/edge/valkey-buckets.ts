// Buckets that all processes share, in Valkey or Redis: one script reads every bucket of a
// decision and spends from all or none. A bucket is a counter that ends with its window, so that
// nothing is left behind, and time is the server's own: the clocks of several processes differ.
//
// A decision never waits long and never fails. Without an answer in time this process counts in its
// own memory, until a background try succeeds again: then each process allows the full budget.

import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Metrics } from '../ports/metrics.ts';
import { reasonOf, type Valkey } from '../ports/valkey.ts';
import type { Buckets, Rule, Tally } from './budgets.ts';
import type { MemoryBuckets } from './memory-buckets.ts';

/** Far above a round trip (under 1 ms), far below what a client notices. */
const answerLimit = 100;
const retryFirstMs = 200;
const retryMostMs = 5_000;
/** How long a start waits for the first answer. */
const startLimitMs = 2_000;

// A key without an end is none of ours: it is taken over, or it would hold somebody off for ever.
const script = `
local limit, window, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local allowed, answer = 1, {}
for i, key in ipairs(KEYS) do
  local left = redis.call('pttl', key)
  local used = left > 0 and tonumber(redis.call('get', key)) or 0
  if used == 0 then left = window end
  if used + count > limit then allowed = 0 end
  answer[2 * i], answer[2 * i + 1] = used, left
end
answer[1] = allowed
if allowed == 1 then
  for i, key in ipairs(KEYS) do
    if answer[2 * i] == 0 then
      redis.call('set', key, count, 'px', window)
    else
      redis.call('incrby', key, count)
    end
    answer[2 * i] = answer[2 * i] + count
  end
end
return answer`;
const backScript = `
for _, key in ipairs(KEYS) do
  local given = tonumber(ARGV[1])
  if tonumber(redis.call('get', key) or 0) >= given and redis.call('pttl', key) > 0 then
    redis.call('decrby', key, given)
  end
end
return 0`;
const scriptHash = createHash('sha1').update(script).digest('hex');

export type ValkeyBuckets = Buckets & {
  /** The first answer came, or was not to be had in time. */
  readonly started: Promise<void>;
  /** Ends the connection. */
  close(): void;
};

type Needs = {
  readonly client: Valkey;
  /** Counts while Valkey does not answer. */
  readonly alone: MemoryBuckets;
  /** The prefix of every key: several markets may share a server. */
  readonly prefix: string;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'decisionsAlone'>;
  /** Instead of 100. */
  readonly answerLimitMs?: number;
};

export function createValkeyBuckets(needs: Needs): ValkeyBuckets {
  const { client, alone, prefix, metrics, answerLimitMs = answerLimit } = needs;
  const ask = (rule: Pick<Rule, 'limit' | 'windowMs'>, keys: readonly string[], count = 1) =>
    inTime(answerLimitMs, run(client, rule, keys, count));
  // In braces what decides where a cluster keeps them: all buckets of a decision in one place.
  const keysOf = ({ name }: Rule, names: readonly string[]) => {
    const start = `${prefix}${name}:{${names[0]}}`;
    return names.map((each, at) => (at === 0 ? start : `${start}${each}`));
  };
  const link = watch(needs, () => ask({ limit: 1, windowMs: 1 }, [`${prefix}probe`]));
  const decideAlone: Buckets['spend'] = (rule, names, count) => {
    metrics.decisionsAlone.inc();
    return alone.spend(rule, names, count);
  };
  return {
    started: link.started,
    spend: (rule, names, count) => {
      if (!link.isUp()) return decideAlone(rule, names, count);
      return ask(rule, keysOf(rule, names), count).catch((error: unknown) => {
        link.lose(error);
        return decideAlone(rule, names, count);
      });
    },
    giveBack: (rule, names, count = 1) => {
      if (!link.isUp()) return alone.giveBack(rule, names, count);
      const keys = keysOf(rule, names);
      const giving = client.eval(backScript, keys.length, ...keys, count).then(() => {});
      // Not had back is no more than asked once more.
      return inTime(answerLimitMs, giving).catch((error: unknown) => link.lose(error));
    },
    close: link.close,
  };
}

/**
 * Whether Valkey may be asked; while it may not, probes it at growing intervals. `lose`: a question
 * failed, and the process asks no more until a probe succeeds.
 */
function watch({ client, log }: Pick<Needs, 'client' | 'log'>, probe: () => Promise<unknown>) {
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  let state: 'starting' | 'up' | 'down' | 'closed' = 'starting';
  let problem = 'CONNECTING';
  let retryMs = retryFirstMs;
  let retry: NodeJS.Timeout | undefined;

  const goDown = () => {
    state = 'down';
    log.warn({ reason: problem }, 'Valkey does not answer: this process counts budgets alone');
  };
  const goUp = () => {
    if (state === 'up' || state === 'closed') return;
    state = 'up';
    retryMs = retryFirstMs;
    log.info('budgets are shared through Valkey');
    start();
  };
  const note = (error: unknown) => {
    const reason = reasonOf(error);
    // "No connection" comes without a code; why there is none was said before.
    if (reason !== 'Error') problem = reason;
  };
  const lose = (error: unknown) => {
    note(error);
    if (state === 'up') goDown();
    if (state === 'closed' || retry !== undefined) return;
    // A connection that is open and silent would stay so.
    if (error instanceof TooLate && client.status === 'ready') client.disconnect(true);
    retry = setTimeout(attempt, retryMs);
    retry.unref();
    retryMs = Math.min(retryMs * 2, retryMostMs);
  };
  const attempt = () => {
    clearTimeout(retry);
    retry = undefined;
    probe().then(goUp, lose);
  };
  const starting = setTimeout(() => {
    if (state === 'starting') goDown();
    start();
  }, startLimitMs);
  void started.then(() => clearTimeout(starting));
  client.on('error', note);
  client.on('ready', attempt);
  return {
    started,
    isUp: () => state === 'up',
    lose,
    close: () => {
      state = 'closed';
      clearTimeout(retry);
      start();
      client.disconnect();
    },
  };
}

async function run(
  client: Valkey,
  rule: Pick<Rule, 'limit' | 'windowMs'>,
  keys: readonly string[],
  count: number,
): Promise<Tally> {
  const rest = [...keys, rule.limit, rule.windowMs, count];
  const answer = await client.evalsha(scriptHash, keys.length, ...rest).catch((error: Error) => {
    if (!error.message.startsWith('NOSCRIPT')) throw error;
    return client.eval(script, keys.length, ...rest);
  });
  const [allowed, ...numbers] = answer as number[];
  const buckets = keys.map((_, at) => ({ used: numbers[2 * at]!, leftMs: numbers[2 * at + 1]! }));
  return { allowed: allowed === 1, buckets };
}

class TooLate extends Error {
  readonly code = 'TIMEOUT';
}

/** Rejects with TooLate. An answer that arrived while this process was busy is in time. */
function inTime<T>(limitMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new TooLate());
    const timer = setTimeout(() => setImmediate(late), limitMs);
    void work.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
