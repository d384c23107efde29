// The rent may rise between a funding and its claim: the material, the trials and the words at that
// time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdingBytes, mintBytes } from '@parley/contracts/solana/testing/tokens.ts';
import type { Address } from '@solana/kit';
import { parseGasKey } from '../gas/keys.ts';
import type { SolanaMaterial } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { missingRent } from './fees.ts';
import { createSolanaGasAccount } from './gas-account.ts';
import { readTransaction } from './message.ts';
import { lamportsOf } from './node.ts';
import { addedRent, materialProblems, solanaDeployment } from './plan.ts';
import { type SolanaGasPolicy, solanaGasPolicies } from './policy.ts';
import { associatedTokenAccount, systemProgram, tokenProgram, wrappedSol } from './programs.ts';
import {
  built,
  escrowIn,
  finalize,
  fund,
  newWorld,
  refuses,
  SOL,
  secret,
  seedOf,
  sent,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

const devGas = solanaGasPolicies['solana-dev'] as SolanaGasPolicy;
const LOW = 696n;
const HIGHEST = 6_960n;
/** More than the deposit of any funding so far is for. */
const HIGHER = 69_600n;
const DEPOSIT = 2_171_520n;
const leftBy = { whole: 129n * HIGHER, bare: 312n * HIGHER } as const;

const lamports = ({ adapter }: World, of: string) => lamportsOf(adapter.node, of, soon());

async function fundedAt(world: World, price: bigint, token: string | null) {
  world.chain.setRent(price);
  const escrow = escrowIn(world, token === null ? {} : { token, amount: 5_000_000n });
  await fund(world, escrow);
  await finalize(world);
  return escrow;
}

const hasClaimed = async ({ adapter }: World, escrow: WatchedEscrow) =>
  (await adapter.readEscrow(escrow, soon())).claimed !== null;

const claimOf = async ({ adapter }: World, escrow: WatchedEscrow) =>
  (await adapter.buildClaim(built(escrow), secret, soon())) as SolanaMaterial;

const addedBy = (transaction: string) => addedRent(readTransaction(transaction));

function gasAccount({ adapter }: World) {
  const key = parseGasKey('solana', Buffer.from(seedOf('stranger')).toString('hex'));
  return createSolanaGasAccount({ key, adapter, policy: devGas });
}

for (const what of ['SOL', 'tokens'] as const) {
  const tokenOf = (world: World) => (what === 'SOL' ? null : world.dollar);

  test(`${what}: beyond any rent so far the claimer adds what is missing, and the SDK agrees`, async (context) => {
    const world = await newWorld(context);
    const escrow = await fundedAt(world, LOW, tokenOf(world));
    world.chain.setRent(HIGHER);
    await world.adapter.preflight(escrow.terms, 'claim', soon());
    const material = await claimOf(world, escrow);
    assert.equal(addedBy(material.transaction), leftBy.whole - DEPOSIT);
    const wanted = { verb: 'claim', secret } as const;
    assert.deepEqual(materialProblems(material, wanted, escrow.terms, solanaDeployment), []);
    await sent(world, material, 'payee');
    await world.chain.mine(2);
    assert.ok(await hasClaimed(world, escrow));
    assert.ok((await lamports(world, escrow.address)) >= leftBy.whole);
  });

  test(`${what}: so does a key that claims for others, within what it was told, the secret seen or not`, async (context) => {
    for (const isPublic of [false, true]) {
      const world = await newWorld(context);
      const escrow = await fundedAt(world, LOW, tokenOf(world));
      world.chain.setRent(HIGHER);
      const account = gasAccount(world);
      const work = { verb: 'claim', terms: escrow.terms, secret, isPublic } as const;
      const mostCost = await account.quote(work, soon());
      const slot = { nonce: null, above: null };
      const before = await lamports(world, walletOf('stranger'));
      await refuses(
        account.sign(work, { ...slot, mostCost: leftBy.bare - DEPOSIT }, soon()),
        'fee_above_limit',
      );
      const signed = await account.sign(work, { ...slot, mostCost }, soon());
      assert.equal(addedBy(signed.raw), leftBy.whole - DEPOSIT);
      await world.adapter.broadcast(signed, soon());
      await world.chain.mine(2);
      assert.ok(await hasClaimed(world, escrow));
      const paid = before - (await lamports(world, walletOf('stranger')));
      assert.ok(paid >= leftBy.whole - DEPOSIT && paid <= signed.mostCost);
    }
  });

  test(`${what}: a claim that leaves the funder’s account out adds what the whole account lacks`, async (context) => {
    const world = await newWorld(context);
    const escrow = await fundedAt(world, LOW, tokenOf(world));
    world.chain.setRent(HIGHER);
    const account = { lamports: 50n * SOL, owner: tokenProgram as Address, executable: false };
    const data = new Uint8Array(0);
    world.chain.put(walletOf('funder'), { ...account, data });
    const material = await claimOf(world, escrow);
    assert.equal(addedBy(material.transaction), leftBy.bare - DEPOSIT);
    await sent(world, material, 'payee');
    await world.chain.mine(2);
    assert.ok(await hasClaimed(world, escrow));
  });
}

test('a receiver below its own rent is found before the secret is shown', async (context) => {
  const world = await newWorld(context);
  world.chain.setRent(LOW);
  const amount = 900_000n;
  const sol = escrowIn(world, { amount });
  await fund(world, sol);
  const put = (of: string, owner: string, has: bigint, data: Uint8Array = new Uint8Array()) => {
    const account = { lamports: has, owner: owner as Address, data, executable: false };
    world.chain.put(of, account);
  };
  world.chain.setRent(HIGHER);
  const least = 128n * HIGHER;
  put(walletOf('payee'), systemProgram, least - amount - 1n);
  const words = new RegExp(`holds ${least - amount - 1n} lamports takes at least ${amount + 1n}`);
  const trying = () => world.adapter.preflight(sol.terms, 'claim', soon());
  await refuses(trying(), 'payout_would_fail', words);
  put(walletOf('payee'), systemProgram, least - amount);
  await trying();
  // Wrapped SOL is lamports of the account that takes it.
  const { terms } = escrowIn(world, { token: wrappedSol, amount });
  put(wrappedSol, tokenProgram, SOL, mintBytes());
  const owner = walletOf('payee') as Address;
  const data = holdingBytes({ mint: wrappedSol as Address, owner });
  const at = associatedTokenAccount(owner, wrappedSol, tokenProgram);
  put(at, tokenProgram, 293n * HIGHER - amount - 1n, data);
  const wrapped = () => world.adapter.preflight(terms, 'claim', soon());
  await refuses(wrapped(), 'payout_would_fail', /takes at least 900001/);
  put(at, tokenProgram, 293n * HIGHER - amount, data);
  await wrapped();
});

test('a node that tells a rent beyond any need, or an escrow of less than any has, costs nobody', async (context) => {
  const world = await newWorld(context);
  const escrow = await fundedAt(world, LOW, null);
  const asked = { ...world.adapter, rpc: world.adapter.node };
  const missing = (has: bigint, withoutRefund = false) =>
    missingRent(asked, escrow.terms, { lamports: has, withoutRefund }, soon());
  world.chain.setRent(HIGHEST);
  assert.equal(await missing(1n), 0n);
  world.chain.setRent(71_000n);
  assert.equal(await missing(1n, true), 312n * 71_000n - DEPOSIT);
  world.chain.setRent(72_000n);
  const words = /20292480 more than the escrow has, and no claim adds over 20000000/;
  await refuses(missing(1n, true), 'payout_would_fail', words);
  assert.equal(await missing(escrow.terms.amount + 312n * 72_000n, true), 0n);
});
