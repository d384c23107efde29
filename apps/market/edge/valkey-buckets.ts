// Buckets that all processes share, in Valkey or Redis: one script reads every bucket of a
// decision and spends from all or none. A bucket is a counter that ends with its window, so that
// nothing is left behind, and time is the server's own: the clocks of several processes differ.
//
// A decision never waits long and never fails. Without an answer in time this process counts in its
// own memory, and asks again a second later: meanwhile each process allows the full budget.

import { createHash } from 'node:crypto';
import { within } from '@parley/host/within.ts';
import type { Logger } from 'pino';
import type { Metrics } from '../ports/metrics.ts';
import { reasonOf, type Valkey } from '../ports/valkey.ts';
import type { Buckets, Rule, Soon, Tally } from './budgets.ts';
import type { MemoryBuckets } from './memory-buckets.ts';

/** Far above a round trip (under 1 ms), far below what a client notices. */
const answerLimit = 100;
const retryMs = 1_000;
/** How long a start waits for a connection. */
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
  /** There is a connection, or none in time. */
  readonly started: Promise<void>;
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
  const { client, alone, prefix, log, metrics, answerLimitMs = answerLimit } = needs;
  let isShared: boolean | null = null;
  let askAgainAt = 0;
  let problem = 'CONNECTING';
  const note = (error: unknown) => {
    const reason = reasonOf(error);
    // "No connection" comes without a code; why there is none was said before.
    if (reason !== 'Error') problem = reason;
  };
  const went = (shared: boolean) => {
    if (shared === isShared) return;
    isShared = shared;
    if (shared) log.info('budgets are shared through Valkey');
    else log.warn({ reason: problem }, 'Valkey does not answer: this process counts budgets alone');
  };
  const lose = (error: unknown) => {
    note(error);
    askAgainAt = performance.now() + retryMs;
    went(false);
    // A connection that is open and silent would stay so.
    if (error instanceof TooLate && client.status === 'ready') client.disconnect(true);
  };
  client.on('error', note);
  client.on('ready', () => {
    askAgainAt = 0;
  });
  const connected = new Promise<void>((resolve) => {
    client.once('ready', resolve);
    client.once('error', () => resolve());
  });
  /** Valkey's answer, or that of this process: while Valkey is away it is asked once a second. */
  const ask = <T>(question: () => Promise<T>, otherwise: () => Soon<T>): Soon<T> => {
    const now = performance.now();
    if (now < askAgainAt) return otherwise();
    if (isShared === false) askAgainAt = now + retryMs;
    return inTime(answerLimitMs, question()).then(
      (answer) => {
        askAgainAt = 0;
        went(true);
        return answer;
      },
      (error: unknown) => {
        lose(error);
        return otherwise();
      },
    );
  };
  // In braces what decides where a cluster keeps them: all buckets of a decision in one place.
  const keysOf = ({ name }: Rule, names: readonly string[]) => {
    const start = `${prefix}${name}:{${names[0]}}`;
    return names.map((each, at) => (at === 0 ? start : `${start}${each}`));
  };
  return {
    started: within(startLimitMs, connected, undefined),
    spend: (rule, names, count = 1) =>
      ask(
        () => run(client, rule, keysOf(rule, names), count),
        () => {
          metrics.decisionsAlone.inc();
          return alone.spend(rule, names, count);
        },
      ),
    giveBack: (rule, names, count = 1) => {
      const keys = keysOf(rule, names);
      return ask(
        () => client.eval(backScript, keys.length, ...keys, count).then(() => {}),
        () => alone.giveBack(rule, names, count),
      );
    },
  };
}

async function run(
  client: Valkey,
  rule: Rule,
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
