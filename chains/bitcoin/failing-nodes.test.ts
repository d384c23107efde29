// Nodes that hang, vanish or answer nonsense: a code and an end in time, for every call.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import type { ChainAdapter } from '../adapter.ts';
import { type BitcoinSource, bitcoinAdapter } from './adapter.ts';
import { dripServer, fixedServer, silentServer, type TestServer } from './testing/servers.ts';
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

async function withServer(server: TestServer, work: (url: string) => Promise<void>) {
  try {
    await work(server.url);
  } finally {
    await server.close();
  }
}

describe('every call to', () => {
  for (const name of ['a node', 'an Esplora server']) {
    it(`${name} that never answers ends in chain_timeout by its own limit`, async () => {
      await withServer(await silentServer(), async (url) => {
        await everyCall(sources(url, 150)[name]!, 'chain_timeout');
      });
    });

    it(`${name} that never answers ends with the caller's signal`, async () => {
      await withServer(await silentServer(), async (url) => {
        const source = sources(url, 60_000)[name]!;
        await everyCall(source, 'chain_timeout', () => AbortSignal.timeout(100));
        await everyCall(source, 'chain_timeout', () => AbortSignal.abort());
      });
    });

    it(`${name} that starts its answers and never ends them is chain_timeout`, async () => {
      await withServer(await dripServer(), async (url) => {
        await everyCall(sources(url, 150)[name]!, 'chain_timeout');
      });
    });

    it(`${name} that is gone is chain_unavailable`, async () => {
      const server = await silentServer();
      await server.close();
      await everyCall(sources(server.url, 5_000)[name]!, 'chain_unavailable');
    });

    it(`${name} that answers 503, 401 or nonsense is chain_unavailable, and may have what it was given`, async () => {
      const { broadcast, ...reading } = calls;
      for (const [status, body] of [
        [503, 'Work queue depth exceeded'],
        [401, ''],
        [200, '<html>'],
        [200, 'null'],
      ] as const) {
        await withServer(await fixedServer(status, body), async (url) => {
          const source = sources(url, 5_000)[name]!;
          await everyCall(source, 'chain_unavailable', undefined, reading);
          await everyCall(source, 'chain_timeout', undefined, { broadcast: broadcast! });
        });
      }
    });
  }

  it('a node that is warming up is chain_unavailable, in its words', async () => {
    const body = JSON.stringify({ id: 0, error: { code: -28, message: 'Loading block index…' } });
    await withServer(await fixedServer(500, body), async (url) => {
      const adapter = adapterOf({ coreUrl: url });
      await assert.rejects(adapter.heads(AbortSignal.timeout(5_000)), /Loading block index/);
    });
  });

  it('a node of another chain is chain_unavailable, with both names', async () => {
    const result = { chain: 'main', blocks: 1, bestblockhash: '', mediantime: 1 };
    const body = JSON.stringify({ id: 0, result });
    await withServer(await fixedServer(200, body), async (url) => {
      const adapter = adapterOf({ coreUrl: url });
      await assert.rejects(adapter.heads(AbortSignal.timeout(5_000)), /runs main.*regtest/);
    });
  });

  it('a node whose answer is larger than any block is chain_unavailable', async () => {
    await withServer(await fixedServer(200, ' '.repeat(33_000_000)), async (url) => {
      const adapter = adapterOf({ coreUrl: url });
      await assert.rejects(adapter.heads(AbortSignal.timeout(20_000)), /over 32000000 bytes/);
    });
  });
});

describe('a call that waits for another', () => {
  it('gives up with its own signal, and the next one still runs', async () => {
    await withServer(await silentServer(), async (url) => {
      const adapter = adapterOf({ coreUrl: url, timeMs: 2_000 });
      const first = adapter.changes(AbortSignal.timeout(20_000)).catch((error: Error) => error);
      const started = performance.now();
      await assert.rejects(
        adapter.readEscrow(swap.escrow, AbortSignal.timeout(100)),
        (error: ParleyError) => error.code === 'chain_timeout',
      );
      assert.ok(performance.now() - started < 1_500);
      assert.ok((await first) instanceof ParleyError);
      await assert.rejects(
        adapter.readEscrow(swap.escrow, AbortSignal.timeout(300)),
        (error: ParleyError) => error.code === 'chain_timeout',
      );
    });
  });
});
