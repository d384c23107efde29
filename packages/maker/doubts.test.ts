// A node fails while a swap of the maker waits: metrics and log say so until it is over,
// and no address of a node is in them. On paper chains.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Look } from '@parley/chains/interface/reading.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Doubt, DoubtCode } from '@parley/sdk/evidence/judge.ts';
import type { LegSeen } from '@parley/sdk/settle/record.ts';
import { keptRecord, withChain } from '@parley/sdk/testing/honest.ts';
import { paperScene } from '@parley/sdk/testing/paper-scene.ts';
import { timed } from '@parley/sdk/testing/timed.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { createDoubts } from './doubts.ts';
import { openLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import type { SettlingInput } from './settling.ts';
import { dealOf, settlingOf } from './testing/stage.ts';

/** The maker settles a swap. One of two nodes of the long leg's chain stands still while it is told
 * to. */
async function settling() {
  const scene = await paperScene('maker', { stepSeconds: 120 });
  const { swapId, trade, store, client } = scene.input;
  assert.ok(trade);
  const { threadId } = trade;
  await store.putTrade(trade);
  const of = { stands: false };
  let last: Look | null = null;
  const { key, source } = scene.chains.b;
  const { adapter } = source;
  const look: ChainAdapter['look'] = async (...about) => {
    if (!of.stands || last === null) last = await adapter.look(...about);
    return last;
  };
  const nodes = [{ ...adapter, look }, adapter];
  const chains = withChain(scene.input.chains, key, { source: { ...source, nodes } });
  const deal = dealOf(threadId, swapId, scene.wall);
  const { begin, promises, metrics, lines, end } = settlingOf(deal, {
    store,
    client,
    chains: chains as SettlingInput['chains'],
    now: () => scene.wall * 1_000,
  });
  begin(deal);
  const until = <T>(is: () => T | Promise<T>) =>
    waitUntil(async () => {
      await scene.input.now?.();
      return is();
    });
  return {
    of,
    until,
    /** How many swaps met it last; null: it never doubted one. */
    metric: async (code: string) => {
      const of = `parley_maker_doubted{chain="${key}",code="${code}"} `;
      const lines = (await metrics.registry.metrics()).split('\n');
      return lines.find((line) => line.startsWith(of))?.slice(of.length) ?? null;
    },
    said: (event: string) => lines.filter((line) => line.includes(`"event":"${event}"`)),
    isOver: () => promises.open.size === 0,
    end,
  };
}

timed("a swap's trouble is no news once it has ended", async () => {
  const { of, until, metric, said, isOver, end } = await settling();
  of.stands = true;
  await until(async () => (await metric('node_behind')) === '1');
  await until(() => said('doubted').length > 0);
  await until(isOver);
  assert.equal(await metric('node_behind'), '0');
  assert.doesNotMatch(said('doubted').join(), /:\/\//);
  assert.match(said('doubt_over').at(-1) ?? '', /"code":"node_behind"/);
  await end();
});

/** One swap, whose leg a is shown with these codes, seconds after the look before. */
function looks() {
  const at = { ms: 0 };
  const out = new PassThrough();
  const metrics = createMetrics();
  const doubts = createDoubts({ log: openLog(out, () => 0), metrics, now: () => at.ms });
  const { swap } = keptRecord('maker');
  /** `isGone`: no node of leg a's chain answers. */
  const look = (seconds: number, codes: readonly DoubtCode[], isGone = false) => {
    at.ms += seconds * 1_000;
    const said: readonly Doubt[] = codes.map((code) => ({ code, sentence: `it is ${code}` }));
    const leg = (doubts: readonly Doubt[]) =>
      ({ evidence: { agreed: true, doubts } }) as unknown as LegSeen;
    const legs = new Map<LegName, LegSeen>([['b', leg([])]]);
    if (!isGone) legs.set('a', leg(said));
    doubts.shown('s', { swap, legs, failures: [] });
    return lines();
  };
  const lines = () => {
    const lines = String(out.read() ?? '').split('\n');
    const told = lines.filter(Boolean).map((line) => JSON.parse(line));
    return told.map(({ event, code, chain }) => {
      const leg = chain === swap.legs.a.chain ? 'a' : 'b';
      return `${event} ${code} ${leg}`;
    });
  };
  const gauge = async (code: DoubtCode) => {
    const { values } = await metrics.doubted.get();
    return values.filter(({ labels }) => labels.code === code).map(({ value }) => value);
  };
  const read = (seconds: number, error: unknown) => {
    at.ms += seconds * 1_000;
    doubts.read('coin', swap.legs.a.chain, error);
    return lines();
  };
  return { look, read, gauge };
}

test('a doubt is not over when the chain falls silent, in a look or a reading', async () => {
  const { look, read, gauge } = looks();
  look(0, ['chain_stands']);
  assert.deepEqual(look(5, ['chain_stands']), ['doubted chain_stands a']);
  assert.deepEqual(look(1, [], true), []);
  assert.deepEqual(await gauge('chain_stands'), [1]);
  assert.deepEqual(look(1, []), ['doubt_over chain_stands a']);
  const differ = new ParleyError('sources_disagree', 'they differ', {});
  read(0, differ);
  assert.deepEqual(read(5, differ), ['doubted nodes_disagree a']);
  assert.deepEqual(read(1, new ParleyError('chain_timeout', 'no answer', {})), []);
  assert.deepEqual(read(1, null), ['doubt_over nodes_disagree a']);
});

test('a doubt that is over within five seconds is counted, and in no line of the log', async () => {
  const { look, gauge } = looks();
  assert.deepEqual(look(0, ['nodes_disagree']), []);
  assert.deepEqual(await gauge('nodes_disagree'), [1]);
  assert.deepEqual(look(4, []), []);
  assert.deepEqual(await gauge('nodes_disagree'), [0]);
  assert.deepEqual(look(1, ['nodes_disagree']), []);
  assert.deepEqual(look(4, ['nodes_disagree']), []);
  assert.deepEqual(look(1, ['nodes_disagree']), ['doubted nodes_disagree a']);
});
