// What a simulated Bitcoin keeps of the real one, where a whole market shows it once in thousands
// of seeds: spends of payments that wait, and what comes and goes between two looks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainPolicy } from '../../core/policy.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import { planOf, simAdapter } from './adapter.ts';
import { forget, issue, mine, newChain, submit } from './chain.ts';
import { chanceOf } from './chance.ts';
import { nodeWith } from './facts.ts';
import type { SimTransaction } from './transaction.ts';

const start = 1_900_000_000;
const funder = { address: 'funder', pubkey: `02${'11'.repeat(32)}` };
const terms: EscrowTerms = {
  chain: 'sim-bitcoin',
  hashlock: 'ab'.repeat(32),
  payout: { address: 'receiver', pubkey: `02${'22'.repeat(32)}` },
  refund: funder,
  token: null,
  amount: 5_000n,
  timelock: start - 100_000,
};

function bitcoin() {
  const depth = { confirmations: 2, settleSeconds: 60, outageSeconds: 60 };
  const policy = { normal: depth, high: depth } as unknown as ChainPolicy;
  const chain = newChain({ chain: 'sim-bitcoin', family: 'bitcoin', policy }, start);
  issue(chain, funder.address, 100_000n);
  const { address } = planOf(chain, terms);
  const common = { chain: chain.chain, escrow: address, fee: 3, secret: null };
  const payment: SimTransaction = {
    ...common,
    ...{ verb: 'fund', by: funder.address, coins: ['coin-1'], amount: '5000' },
  };
  const refundOf = (txid: string): SimTransaction => ({
    ...common,
    ...{ verb: 'refund', by: funder.pubkey, coins: [txid], amount: '0' },
  });
  return { chain, address, payment, refundOf };
}

test('no block takes a spend before the payment that it spends', () => {
  const { chain, address, payment, refundOf } = bitcoin();
  const first = submit(chain, { ...payment, coins: ['coin-0'] });
  mine(chain, start + 30, () => true);
  const parent = submit(chain, payment);
  const child = submit(chain, { ...refundOf(parent), coins: [first, parent] });
  mine(chain, start + 60, ({ txid }) => txid === child);
  assert.ok(chain.mempool.has(child));
  mine(chain, start + 120, () => true);
  const held = chain.holdings.get(address) ?? [];
  assert.deepEqual(
    held.map(({ spentBy }) => spentBy?.txid),
    [child, child],
  );
});

test('what a mempool forgets takes with it what spends it', () => {
  const { chain, payment, refundOf } = bitcoin();
  const parent = submit(chain, payment);
  submit(chain, refundOf(parent));
  assert.equal(forget(chain, parent), true);
  assert.equal(chain.mempool.size, 0);
  assert.equal(forget(chain, parent), false);
});

test('what one reader was shown is news once it has gone, whoever read in between', async () => {
  const { chain, address, payment } = bitcoin();
  const node = nodeWith(chain);
  const adapter = simAdapter({
    node,
    chance: chanceOf(1),
    now: () => start * 1_000,
    at: async (_name, call) => call(),
    onSent: () => {},
    count: () => {},
  });
  const escrow = { address, terms, requiredConfirmations: 2, redeemScript: null, since: start };
  const { signal } = new AbortController();
  const changes = async () => (await adapter.changes(signal)).touched;
  adapter.watch([escrow]);
  await changes();
  const txid = submit(chain, payment);
  await adapter.readEscrow(escrow, signal);
  forget(chain, txid);
  await adapter.readEscrow(escrow, signal);
  assert.deepEqual(await changes(), [address]);
  assert.deepEqual(await changes(), []);
});
