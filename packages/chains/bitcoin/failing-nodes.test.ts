// Servers that hang, vanish or answer nonsense: a code and an end in time, for every call. For Core
// nodes: verify/test/adapters/sources.ts.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainAdapter } from '../adapter.ts';
import { hangingNode, nodeOf, type Reply, within } from '../testing/nodes.ts';
import { type BitcoinSource, bitcoinAdapter } from './adapter.ts';
import { testSwap } from './testing/swaps.ts';

const swap = testSwap({ timelock: 1_800_000_000, since: 1_790_000_000 });
const input = { escrow: swap.escrow, feeRateSatPerVbyte: null, isPublic: false };
/** One input, one output. */
const raw = `0200000001${'22'.repeat(36)}00ffffffff01${'00'.repeat(9)}00000000`;
const transaction = { txid: '11'.repeat(32), raw, touches: [] };

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

const esplora = (esploraUrl: string, timeMs: number): BitcoinSource => ({ esploraUrl, timeMs });

const patient = () => AbortSignal.timeout(60_000);

async function everyCall(
  source: BitcoinSource,
  code: string,
  signal: () => AbortSignal = patient,
  some = calls,
): Promise<void> {
  for (const [name, call] of Object.entries(some)) {
    const until = signal();
    const error = await call(adapterOf(source), until).then(
      () => null,
      (cause: unknown) => cause,
    );
    assert.ok(error instanceof ParleyError, `${name}: ${String(error)}`);
    assert.equal(error.code, code, `${name}: ${error.message}`);
    if (signal === patient) assert.equal(until.aborted, false, `${name} has no limit of its own`);
  }
}

describe('every call', () => {
  it('to a server that never answers ends by its own limit, and with the signal', async (context) => {
    const url = await within(context, hangingNode());
    await everyCall(esplora(url, 150), 'chain_timeout');
    await everyCall(esplora(url, 60_000), 'chain_timeout', () => AbortSignal.timeout(100));
    await everyCall(esplora(url, 60_000), 'chain_timeout', () => AbortSignal.abort());
  });

  const answeredOnce = async (context: TestContext, first: Reply, yes: string) => {
    let posts = 0;
    const answer = async (_: string, { method }: IncomingMessage): Promise<Reply> => {
      if (method !== 'POST') return { status: 404, text: '' };
      posts += 1;
      return posts === 1 ? first : { text: yes };
    };
    return within(context, nodeOf(answer));
  };

  for (const [what, status, text] of [
    ['403 and a page of a shield', 403, '<html>Just a moment...</html>'],
    ['429', 429, 'Too Many Requests'],
    ['400 and a page', 400, '<html>Bad Request</html>'],
    [
      'a node that starts',
      400,
      'sendrawtransaction RPC error: {"code":-28,"message":"Loading block"}',
    ],
  ] as const) {
    it(`an Esplora that answers ${what} is offered the same again`, async (context) => {
      const url = await answeredOnce(context, { status, text }, transaction.txid);
      const adapter = adapterOf(esplora(url, 5_000));
      assert.equal(await adapter.broadcast(transaction, patient()), transaction.txid);
    });
  }

  for (const said of [
    ': {"code":-27,"message":"already in utxo set"}',
    ': {"code":-27}',
    ' -27: Transaction outputs already in utxo set',
  ]) {
    it(`an Esplora whose node has it in a block has it: "${said}"`, async (context) => {
      const answer = { status: 400, text: `sendrawtransaction RPC error${said}` };
      const url = await answeredOnce(context, answer, '');
      const sent = adapterOf(esplora(url, 5_000)).broadcast(transaction, patient());
      assert.equal(await sent, transaction.txid);
    });
  }

  it('an Esplora’s own refusal is one', async (context) => {
    const said = 'sendrawtransaction RPC error: {"code":-26,"message":"min relay fee not met"}';
    const url = await answeredOnce(context, { status: 400, text: said }, '');
    const sent = adapterOf(esplora(url, 5_000)).broadcast(transaction, patient());
    await assert.rejects(sent, { code: 'refused_by_node', message: /min relay fee not met/ });
  });
});

describe('a call that waits for another', () => {
  it('gives up with its own signal, and the next one still runs', async (context) => {
    const coreUrl = await within(context, hangingNode());
    const adapter = adapterOf({ coreUrl, timeMs: 60_000 });
    const caller = new AbortController();
    let isOver = false;
    const first = adapter
      .changes(caller.signal)
      .catch((error: Error) => error)
      .finally(() => {
        isOver = true;
      });
    const read = (ms: number) => adapter.readEscrow(swap.escrow, AbortSignal.timeout(ms));
    await assert.rejects(read(100), { code: 'chain_timeout' });
    assert.equal(isOver, false, 'it did not wait for the other');
    caller.abort();
    assert.ok((await first) instanceof ParleyError);
    await assert.rejects(read(300), { code: 'chain_timeout' });
  });
});
