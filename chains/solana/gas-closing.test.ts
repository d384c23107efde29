// An operator's gas key gives a funder what a claim has left, as a refund.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GasSlot } from '../gas/account.ts';
import { parseGasKey } from '../gas/keys.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { createSolanaGasAccount } from './gas-account.ts';
import { solanaGasPolicies } from './gas-policy.ts';
import { accountsAt } from './node.ts';
import { associatedTokenAccount, tokenProgram } from './programs.ts';
import { lyingNode } from './testing/nodes.ts';
import {
  adapterOf,
  claim,
  escrowIn,
  fund,
  HOUR,
  moveTo,
  newWorld,
  refuses,
  SOL,
  seedOf,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

async function lamportsOf({ adapter }: World): Promise<bigint> {
  const { accounts } = await accountsAt(adapter.node, [walletOf('funder')], 'confirmed', soon());
  return BigInt(accounts[0]?.lamports ?? 0);
}

test('what a claim left goes to the funder by a refund of the key, from the timelock on', async (context) => {
  const world = await newWorld(context);
  // The funder has no account of the token any more, and needs none for this.
  const holding = associatedTokenAccount(walletOf('funder'), world.dollar, tokenProgram);
  const url = await lyingNode(context, world.chain.info.rpcUrl, ({ params }, forward) =>
    Array.isArray(params[0]) && params[0][0] === holding
      ? { result: { context: { slot: 1 }, value: [null] } }
      : forward(),
  );
  const adapter = adapterOf(world, [], { rpcUrls: [url] });
  const key = parseGasKey('solana', Buffer.from(seedOf('stranger')).toString('hex'));
  const policy = solanaGasPolicies['solana-dev']!;
  const account = createSolanaGasAccount({ key, adapter, policy });
  const slot: GasSlot = { nonce: null, above: null, mostCost: SOL / 100n, withoutAccount: true };
  const sign = ({ terms }: WatchedEscrow) => account.sign({ verb: 'refund', terms }, slot, soon());
  const costly = { ...policy, leastUnitPrice: 20_000_000n };
  const careful = createSolanaGasAccount({ key, adapter, policy: costly });
  const dear = ({ terms }: WatchedEscrow) => careful.sign({ verb: 'refund', terms }, slot, soon());
  for (const token of [null, world.dollar]) {
    const timelock = world.time.now + 4 * HOUR;
    const escrow = escrowIn(world, { token, amount: 100_000_000n, timelock });
    await fund(world, escrow);
    await claim(world, escrow);
    await refuses(sign(escrow), 'nothing_there', /from \d+ on/);
    const { rentLeft } = await adapter.readEscrow(escrow, soon());
    assert.deepEqual(rentLeft, { lamports: 897_840n, from: timelock });
    await moveTo(world, timelock);
    await refuses(dear(escrow), 'fee_above_limit', /224460 is the limit/);
    const had = await lamportsOf(world);
    const paid = await account.balance(soon());
    const sent = await sign(escrow);
    await adapter.broadcast(sent, soon());
    await world.chain.mine(2);
    assert.deepEqual(sent.touches, [{ escrow: escrow.address, verb: 'refund', secret: null }]);
    assert.equal((await lamportsOf(world)) - had, 897_840n);
    const cost = paid - (await account.balance(soon()));
    assert.ok(cost > 0n && cost <= sent.mostCost, `${cost} of ${sent.mostCost}`);
    await refuses(sign(escrow), 'nothing_there', /has no account/);
    assert.equal((await adapter.readEscrow(escrow, soon())).rentLeft, undefined);
  }
});
