// The outcome of bytes that several sources are offered, whatever each of them does with them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { NotNow, TurnedAway } from './exchange.ts';
import { offersTo, onceHeard } from './offers.ts';
import { exchangeWith } from './transport-node.ts';

const never = new AbortController().signal;
const txid = '0x01';

type Way = (signal: AbortSignal, times: number) => Promise<void>;

const takes: Way = async () => {};
const fails = (failure: unknown) => async () => {
  throw failure;
};
const refuses = (words: string) =>
  fails(new ParleyError('refused_by_node', `the node refused it: ${words}`, { rpcCode: -32_000 }));
const hangs: Way = (signal) =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
const isLate = fails(new DOMException('no answer in 8000 ms', 'TimeoutError'));
const isReset = fails(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
/** The port has no listener. */
const nowhere = { url: 'http://127.0.0.1:1/', method: 'GET', headers: {} } as const;
const isGone: Way = async (signal) => {
  await exchangeWith(nowhere, { timeMs: 8_000, bytes: 1 }, signal);
};
const turnsAway = fails(new TurnedAway(401, 'no such key'));

const isBehind = fails(new NotNow('', new ParleyError('refused_by_node', 'no such block', {})));

/** Offers it to sources that act so, and tells how often each was asked. */
function offering(ways: readonly Way[], signal = never) {
  const times = ways.map(() => 0);
  const offers = offersTo({ chain: 'evm-dev', sources: ways.length });
  const give = async (at: number, until: AbortSignal) => {
    times[at] = (times[at] ?? 0) + 1;
    await ways[at]?.(until, times[at]);
  };
  const done = offers.toAll({ name: 'it', txid, give }, signal);
  done.catch(() => {});
  return { done, times, offers };
}

test('it is offered to every source, and is taken where one takes it', async () => {
  for (const other of [refuses('nonce too low'), isLate, isReset, isGone, turnsAway]) {
    const { done, times } = offering([other, takes, other]);
    assert.equal(await done, 1);
    assert.ok(times.every((each) => each > 0));
    assert.equal(await offering([takes, other]).done, 0);
  }
});

test('it is refused only where every source that can have it refuses it, with all their words', async () => {
  const low = refuses('nonce too low');
  const poor = refuses('insufficient funds');
  const words = 'the node refused it: nonce too low; the node refused it: insufficient funds';
  const both = { code: 'refused_by_node', message: words, facts: { rpcCode: -32_000 } };
  await assert.rejects(offering([low, poor, low]).done, both);
  const one = { code: 'refused_by_node', message: 'the node refused it: nonce too low' };
  // No connection was made, or a gateway let nothing through.
  for (const out of [isGone, turnsAway]) {
    await assert.rejects(offering([low, out]).done, one);
    await assert.rejects(offering([out, low]).done, one);
  }
});

test('a transaction that one refused is not offered anew to one that was not reached', async () => {
  const { done, times } = offering([refuses('too low'), isGone, isGone]);
  await assert.rejects(done, { code: 'refused_by_node' });
  assert.deepEqual(times, [1, 1, 1]);
  const alone = offering([isGone, isGone]);
  await assert.rejects(alone.done, { code: 'chain_unavailable' });
  assert.deepEqual(alone.times, [2, 2]);
});

const isBusy = fails(new NotNow('txpool is full'));
const isLimited = fails(new TurnedAway(429, 'too many requests'));
const untilThird =
  (first: Way): Way =>
  (signal, times) =>
    times < 3 ? first(signal, times) : takes(signal, times);

test('one that is busy, or over a limit, is offered it again until it takes it', async () => {
  for (const first of [isBusy, isLimited]) {
    const { done, times } = offering([untilThird(first)]);
    assert.equal(await done, 0);
    assert.deepEqual(times, [3]);
  }
});

test('one that stays busy may have it, and one that stays over a limit has not', async () => {
  const busy = offering([isBusy]);
  const limited = offering([isLimited]);
  await assert.rejects(busy.done, { code: 'chain_timeout', message: /full., and one may have it/ });
  await assert.rejects(limited.done, { code: 'chain_unavailable', message: /too many requests$/ });
  assert.deepEqual([busy.times, limited.times], [[5], [5]]);
  await assert.rejects(offering([refuses('too low'), isBusy]).done, { code: 'chain_timeout' });
});

test("a lagging machine's refusal counts where it lasts, and not before", async () => {
  const { done, times } = offering([untilThird(isBehind)]);
  assert.equal(await done, 0);
  assert.deepEqual(times, [3]);
  const lasting = offering([isBehind]);
  await assert.rejects(lasting.done, { code: 'refused_by_node', message: 'no such block' });
  assert.deepEqual(lasting.times, [5]);
});

test('where one of them may have it nobody says that none has', async () => {
  const late = { code: 'chain_timeout', message: /one may have it; the node refused it: too low/ };
  for (const silent of [isLate, isReset, fails(new Error('HTTP 502 and no JSON'))]) {
    await assert.rejects(offering([silent, refuses('too low')]).done, late);
    await assert.rejects(offering([refuses('too low'), silent]).done, late);
  }
  // It was there before it was gone.
  const lateThenGone: Way = (_, times) => (times === 1 ? isLate() : isGone(never, times));
  await assert.rejects(offering([refuses('too low'), lateThenGone]).done, late);
  await assert.rejects(offering([isLate, isGone]).done, { code: 'chain_timeout' });
  // No source is overdue, and one was cut off in the middle.
  const cutOff = { code: 'chain_timeout', message: /now .ECONNRESET., and one may have it$/ };
  await assert.rejects(offering([isReset, isGone]).done, cutOff);
  await assert.rejects(offering([isGone, isGone]).done, { code: 'chain_unavailable' });
  await assert.rejects(offering([turnsAway, isGone]).done, {
    code: 'chain_unavailable',
    message: 'the evm-dev node does not serve it now: HTTP 401: no such key',
  });
});

test("a source's refusal is none where it may have been given it before", async () => {
  const late = { code: 'chain_timeout', message: /one may have it; the node refused it: too low$/ };
  for (const before of [isReset, isLate, fails(new Error('HTTP 502 and no JSON'))]) {
    const thenRefuses: Way = (_, times) => (times === 1 ? before() : refuses('too low')());
    const { done, times } = offering([thenRefuses]);
    await assert.rejects(done, late);
    assert.deepEqual(times, [2]);
    await assert.rejects(offering([thenRefuses, refuses('too low')]).done, late);
  }
  const goneBefore: Way = (_, times) => (times === 1 ? isGone(never, 1) : refuses('too low')());
  await assert.rejects(offering([goneBefore]).done, { code: 'refused_by_node' });
});

test('a source that has heard it and is gone when it is asked for it may have it', async () => {
  const heard: Way = (signal) => onceHeard(isGone(signal, 1));
  const behindGateway: Way = () => onceHeard(turnsAway());
  for (const way of [heard, behindGateway]) {
    await assert.rejects(offering([way]).done, { code: 'chain_timeout' });
    await assert.rejects(offering([way, refuses('too low')]).done, {
      code: 'chain_timeout',
      message: /one may have it; the node refused it: too low$/,
    });
  }
});

test('one that was not reached is tried again, one that refused is not', async () => {
  const second: Way = (_, times) => (times === 1 ? isReset() : takes(never, 1));
  const { done, times } = offering([second, refuses('too low')]);
  assert.equal(await done, 0);
  assert.deepEqual(times, [2, 1]);
});

test('beside a refusal one that hangs is waited for a while, and goes on after it', async () => {
  const signals: AbortSignal[] = [];
  const noted: Way = (signal, times) => {
    signals.push(signal);
    return hangs(signal, times);
  };
  const { done, offers } = offering([noted, refuses('too low')]);
  const asked = performance.now();
  await assert.rejects(done, { code: 'chain_timeout' });
  const took = performance.now() - asked;
  assert.ok(took > 3_500, `${took} ms`);
  assert.deepEqual([signals.length, signals[0]?.aborted], [1, false]);
  offers.close();
  assert.equal(signals[0]?.aborted, true);
});

test('a caller that waits no longer is answered at once, and nothing goes on for him', async () => {
  const caller = new AbortController();
  const { done, times } = offering([hangs, refuses('too low')], caller.signal);
  setTimeout(() => caller.abort(new DOMException('enough', 'TimeoutError')), 50);
  await assert.rejects(done, { code: 'chain_timeout' });
  assert.deepEqual(times, [1, 1]);
  const gone = offering([takes, hangs], AbortSignal.abort());
  await assert.rejects(gone.done, { code: 'chain_timeout' });
  assert.deepEqual(gone.times, [0, 0]);
});
