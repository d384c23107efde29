// Nodes that hang, vanish or answer nonsense: a code and an end in time, for every call.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import type { ChainAdapter } from '../adapter.ts';
import { fixedNode, hangingNode, nodeOf, within } from '../testing/nodes.ts';
import { type BitcoinSource, bitcoinAdapter } from './adapter.ts';
import { testSwap } from './testing/swaps.ts';

const swap = testSwap({ timelock: 1_800_000_000, since: 1_790_000_000 });
const input = { escrow: swap.escrow, feeRateSatPerVbyte: null, isPublic: false };
const transaction = { txid: '11'.repeat(32), raw: '00', touches: [] };
const password = 'hunter2';

const calls: Record<string, (adapter: ChainAdapter, signal: AbortSignal) => Promise<unknown>> = {
  heads: (adapter, signal) => adapter.heads(signal),
  changes: (adapter, signal) => adapter.changes(signal),
  readEscrow: (adapter, signal) => adapter.readEscrow(swap.escrow, signal),
  buildClaim: (adapter, signal) => adapter.buildClaim(input, swap.secret, signal),
  buildRefund: (adapter, signal) => adapter.buildRefund(input, signal),
  broadcast: (adapter, signal) => adapter.broadcast(transaction, signal),
  checkAmount: (adapter, signal) => adapter.checkAmount(null, 1_000_000n, signal),
  preflight: (adapter, signal) => adapter.preflight(swap.terms, 'payout', signal),
};

function adapterOf(source: BitcoinSource): ChainAdapter {
  return bitcoinAdapter({ chain: 'bitcoin', network: 'regtest', source, now: () => 1_790_000_000 });
}

const sources = (url: string, timeMs: number): Record<string, BitcoinSource> => ({
  'a node': { coreUrl: url.replace('://', `://user:${password}@`), timeMs },
  'an Esplora server': { esploraUrl: url, timeMs },
});

async function everyCall(
  source: BitcoinSource,
  code: string,
  signal: () => AbortSignal = () => AbortSignal.timeout(20_000),
  some = calls,
): Promise<void> {
  for (const [name, call] of Object.entries(some)) {
    const started = performance.now();
    const error = await call(adapterOf(source), signal()).then(
      () => null,
      (cause: unknown) => cause,
    );
    assert.ok(error instanceof ParleyError, `${name}: ${String(error)}`);
    assert.equal(error.code, code, `${name}: ${error.message}`);
    assert.ok(!error.message.includes(password), 'no credentials in a message');
    assert.ok(performance.now() - started < 10_000, `${name} took too long`);
  }
}

describe('every call to', () => {
  for (const name of ['a node', 'an Esplora server']) {
    it(`${name} that never answers ends in chain_timeout by its own limit`, async (context) => {
      const url = await within(context, hangingNode());
      await everyCall(sources(url, 150)[name]!, 'chain_timeout');
    });

    it(`${name} that never answers ends with the caller's signal`, async (context) => {
      const source = sources(await within(context, hangingNode()), 60_000)[name]!;
      await everyCall(source, 'chain_timeout', () => AbortSignal.timeout(100));
      await everyCall(source, 'chain_timeout', () => AbortSignal.abort());
    });

    it(`${name} that starts its answers and never ends them is chain_timeout`, async (context) => {
      const url = await within(
        context,
        nodeOf(async () => ({ text: '{', isCut: true })),
      );
      await everyCall(sources(url, 150)[name]!, 'chain_timeout');
    });

    it(`${name} that is gone is chain_unavailable`, async () => {
      const { url, stop } = await hangingNode();
      await stop();
      await everyCall(sources(url, 5_000)[name]!, 'chain_unavailable');
    });

    it(`${name} that answers 503, 401 or nonsense is chain_unavailable, and may have what it was given`, async (context) => {
      const { broadcast, ...reading } = calls;
      for (const [status, body] of [
        [503, 'Work queue depth exceeded'],
        [401, ''],
        [200, '<html>'],
        [200, 'null'],
      ] as const) {
        const source = sources(await within(context, fixedNode(body, status)), 5_000)[name]!;
        await everyCall(source, 'chain_unavailable', undefined, reading);
        await everyCall(source, 'chain_timeout', undefined, { broadcast: broadcast! });
      }
    });
  }

  const result = { chain: 'main', blocks: 1, bestblockhash: '', mediantime: 1 };
  const warming = { code: -28, message: 'Loading block index…' };
  for (const [what, status, body, words] of [
    ['is warming up', 500, JSON.stringify({ id: 0, error: warming }), /Loading block index/],
    ['is of another chain', 200, JSON.stringify({ id: 0, result }), /runs main.*regtest/],
    ['answers with more than any block', 200, ' '.repeat(33_000_000), /over 32000000 bytes/],
  ] as const) {
    it(`a node that ${what} is chain_unavailable, in words`, async (context) => {
      const adapter = adapterOf({ coreUrl: await within(context, fixedNode(body, status)) });
      await assert.rejects(adapter.heads(AbortSignal.timeout(20_000)), (error: ParleyError) => {
        assert.match(error.message, words);
        return error.code === 'chain_unavailable';
      });
    });
  }
});

describe('a call that waits for another', () => {
  it('gives up with its own signal, and the next one still runs', async (context) => {
    const coreUrl = await within(context, hangingNode());
    const adapter = adapterOf({ coreUrl, timeMs: 2_000 });
    const first = adapter.changes(AbortSignal.timeout(20_000)).catch((error: Error) => error);
    const started = performance.now();
    const read = (ms: number) => adapter.readEscrow(swap.escrow, AbortSignal.timeout(ms));
    await assert.rejects(read(100), { code: 'chain_timeout' });
    assert.ok(performance.now() - started < 1_500);
    assert.ok((await first) instanceof ParleyError);
    await assert.rejects(read(300), { code: 'chain_timeout' });
  });
});
