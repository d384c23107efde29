// A stranger's gas key on the simulator: its transactions, their payments, and their outcomes.

import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Address } from '@solana/kit';
import type { GasAccount, GasSlot, GasTransaction, GasWork } from '../gas/account.ts';
import { parseGasKey } from '../gas/keys.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { SolanaAdapter } from './adapter.ts';
import { createSolanaGasAccount } from './gas-account.ts';
import { readTransaction } from './message.ts';
import { accountsAt } from './node.ts';
import { decodeInstruction, encodeTerms, solanaDeployment, solanaEscrow } from './plan.ts';
import { type SolanaGasPolicy, solanaGasPolicies } from './policy.ts';
import {
  associatedTokenAccount,
  associatedTokenProgram,
  computeBudgetProgram,
  tokenProgram,
} from './programs.ts';
import { lyingNode } from './testing/nodes.ts';
import {
  adapterOf,
  escrowIn,
  finalize,
  fund,
  HOUR,
  lyingAdapter,
  moveTo,
  newWorld,
  refuses,
  SOL,
  secret,
  seedOf,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

const devGas = solanaGasPolicies['solana-dev'] as SolanaGasPolicy;
const plenty = 10n ** 9n;

type Stranger = {
  readonly adapter: SolanaAdapter;
  readonly account: GasAccount;
  sign(work: GasWork, over?: Partial<GasSlot>): Promise<GasTransaction>;
  send(work: GasWork, over?: Partial<GasSlot>): Promise<GasTransaction>;
  outcome(sent: GasTransaction): ReturnType<GasAccount['outcome']>;
};

/** The key of `stranger`, who has 50 SOL and no part in any swap. */
function stranger(
  world: World,
  adapter: SolanaAdapter = world.adapter,
  name = 'stranger',
  policy = devGas,
): Stranger {
  const key = parseGasKey('solana', Buffer.from(seedOf(name)).toString('hex'));
  const account = createSolanaGasAccount({ key, adapter, policy });
  const sign = (work: GasWork, own: Partial<GasSlot> = {}) =>
    account.sign(work, { nonce: null, above: null, mostCost: plenty, ...own }, soon());
  return {
    adapter,
    account,
    sign,
    send: async (work, own) => {
      const signed = await sign(work, own);
      await adapter.broadcast(signed, soon());
      await world.chain.mine(2);
      return signed;
    },
    outcome: (sent) => account.outcome(sent, soon()),
  };
}

const claimOf = ({ terms }: WatchedEscrow, isPublic = true): GasWork => {
  return { verb: 'claim', terms, secret, isPublic };
};
const refundOf = ({ terms }: WatchedEscrow): GasWork => ({ verb: 'refund', terms });

/** The balance of SOL, or of dollars in the usual token account; 0 where there is none. */
async function held({ adapter, dollar }: World, token: string | null, who: string) {
  const at = token === null ? who : associatedTokenAccount(who, dollar, tokenProgram);
  const { accounts } = await accountsAt(adapter.node, [at], 'confirmed', soon());
  const account = accounts[0] ?? null;
  if (account === null) return 0n;
  if (token === null) return BigInt(account.lamports);
  return new DataView(account.data.buffer, account.data.byteOffset).getBigUint64(64, true);
}

test('a dead transaction is gone once a finalized block is as late, and not before; signed again it lands', async (context) => {
  const world = await newWorld(context);
  const one = stranger(world);
  const escrow = escrowIn(world);
  await fund(world, escrow);
  const sent = await one.sign(claimOf(escrow));
  const { diesAt } = sent;
  assert.ok(diesAt !== null && diesAt > world.time.now && diesAt <= world.time.now + 200);
  await world.chain.mine(160);
  assert.equal(await one.outcome(sent), 'unknown');
  await moveTo(world, diesAt + 1);
  assert.equal(await one.outcome(sent), 'unknown');
  await finalize(world);
  assert.equal(await one.outcome(sent), 'gone');
  await refuses(one.adapter.broadcast(sent, soon()), 'refused_by_node');
  const again = await one.send(claimOf(escrow));
  await finalize(world);
  await moveTo(world, (again.diesAt ?? 0) + 1);
  await finalize(world);
  assert.equal(await one.outcome(again), 'deep');
  // A node that is behind says that it knows nothing: the others are asked too.
  const behind = await lyingNode(context, world.chain.info.rpcUrl, ({ method }, forward) =>
    method === 'getSignatureStatuses'
      ? { result: { context: { slot: 1 }, value: [null] } }
      : forward(),
  );
  const rpcUrls = [behind, world.chain.info.rpcUrl];
  const two = stranger(world, adapterOf(world, [], { rpcUrls }));
  assert.equal(await two.outcome(again), 'deep');
});

test('the price of speed is not for strangers to set by naming the escrow', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world, { token: world.dollar, amount: 100_000_000n });
  await fund(world, escrow);
  const { leastUnitPrice, reserveUnitPrice } = devGas;
  const calm = await stranger(world).account.reserve(claimOf(escrow), soon());
  /**
   * The offer after 150 blocks, as if so many had a transaction that paid far too much and named
   * these.
   */
  const paying = async (named: readonly string[], blocks: number) => {
    const lied = await lyingAdapter(context, world, ({ method, params }, forward) => {
      if (method !== 'getRecentPrioritizationFees') return forward();
      const asked = (params[0] ?? []) as readonly string[];
      const isNamed = named.length === 0 || asked.some((each) => named.includes(each));
      const priceAt = (slot: number) => (isNamed && slot < blocks ? 2 ** 50 : 0);
      const slots = Array.from({ length: 150 }, (_, slot) => slot);
      return { result: slots.map((slot) => ({ slot, prioritizationFee: priceAt(slot) })) };
    });
    const { account, sign } = stranger(world, lied);
    const { offer } = await sign(claimOf(escrow));
    return { offer, reserve: await account.reserve(claimOf(escrow), soon()) };
  };
  const { program } = solanaDeployment;
  assert.deepEqual(await paying([escrow.address, program], 110), {
    offer: leastUnitPrice,
    reserve: calm,
  });
  // An attacker who fills every block's part of the account is outbid, as far as the balance goes.
  assert.deepEqual(await paying([escrow.address, program], 150), {
    offer: reserveUnitPrice,
    reserve: calm,
  });
  assert.deepEqual(await paying([program], 150), { offer: leastUnitPrice, reserve: calm });
  const full = await paying([], 150);
  assert.ok(full.offer > reserveUnitPrice && full.reserve > calm, 'blocks that are full are paid');
});

test('a claim makes a token account that is missing, and a refund makes none', async (context) => {
  const world = await newWorld(context);
  const one = stranger(world);
  const payout = { address: walletOf('a newcomer'), pubkey: null };
  const timelock = world.time.now + HOUR;
  const about = { token: world.dollar, amount: 1_000n, timelock } as const;
  const escrow = escrowIn(world, { ...about, payout });
  const back = escrowIn(world, { ...about, amount: 2_000n });
  for (const each of [escrow, back]) await fund(world, each);
  const makes = ({ raw }: GasTransaction) =>
    readTransaction(raw).instructions.some(({ program }) => program === associatedTokenProgram);
  assert.ok(makes(await one.send(claimOf(escrow))));
  assert.equal(await held(world, world.dollar, payout.address), 1_000n);
  const holding = associatedTokenAccount(walletOf('funder'), world.dollar, tokenProgram);
  const adapter = await lyingAdapter(context, world, ({ params }, forward) =>
    Array.isArray(params[0]) && params[0][0] === holding
      ? { result: { context: { slot: 1 }, value: [null] } }
      : forward(),
  );
  await moveTo(world, timelock);
  const blind = stranger(world, adapter);
  await refuses(blind.sign(refundOf(back)), 'payout_would_fail', /no account of the token/);
  assert.ok(!makes(await one.send(refundOf(back))));
});

test('a funder whose account is no wallet any more does not stop a claim; its rent waits for a refund', async (context) => {
  const world = await newWorld(context);
  const one = stranger(world);
  const escrow = escrowIn(world);
  await fund(world, escrow);
  const funder = walletOf('funder');
  const wallet = { lamports: 50n * SOL, data: new Uint8Array(), executable: false };
  world.chain.put(funder, { ...wallet, owner: tokenProgram as Address });
  const signed = await one.sign(claimOf(escrow, false));
  assert.ok(!readTransaction(signed.raw).keys.includes(funder));
  const had = await held(world, null, walletOf('payee'));
  await one.adapter.broadcast(signed, soon());
  await world.chain.mine(2);
  assert.equal(await held(world, null, walletOf('payee')), had + escrow.terms.amount);
  await refuses(one.sign(claimOf(escrow)), 'nothing_there', /claimed/);
  const { rentLeft } = await one.adapter.readEscrow(escrow, soon());
  assert.deepEqual(rentLeft, { lamports: 2_171_520n, from: null });
});

const chance = (sides: number) => randomInt(sides) === 0;

function anyTerms(own: string, dollar: string): EscrowTerms {
  const some = [own, dollar, solanaDeployment.program, walletOf('payee'), walletOf('funder')];
  const where = () => {
    const wallet = walletOf(randomBytes(4).toString('hex'));
    return { address: chance(3) ? (some[randomInt(some.length)] as string) : wallet, pubkey: null };
  };
  return {
    chain: chance(9) ? 'solana' : 'solana-dev',
    hashlock: chance(9) ? randomBytes(32).toString('hex') : hashlockOf(secret),
    payout: where(),
    refund: where(),
    token: chance(2) ? null : chance(5) ? where().address : dollar,
    amount: BigInt(`0x${randomBytes(1 + randomInt(chance(9) ? 12 : 7)).toString('hex')}`),
    timelock: randomInt(2 ** 40),
  };
}

/** A node that shows every escrow as funded, and says yes to whatever is tried. */
function yesNode(context: TestContext, truth: string, open: Map<string, EscrowTerms>) {
  return lyingNode(context, truth, async ({ method, params }, forward) => {
    if (method === 'simulateTransaction') {
      return { result: { context: { slot: 1 }, value: { err: null, logs: [] } } };
    }
    const [addresses] = params as [string[]];
    const terms = Array.isArray(addresses) ? open.get(addresses[0] ?? '') : undefined;
    if (method !== 'getMultipleAccounts' || terms === undefined) return forward();
    const data = Buffer.alloc(184);
    data[0] = 1;
    data.set(encodeTerms(terms), 8);
    const { program: owner } = solanaDeployment;
    const { result } = (await forward()) as { result: { value: object[] } };
    const account = {
      owner,
      executable: false,
      lamports: 1,
      data: [data.toString('base64'), 'base64'],
    };
    return { result: { context: { slot: 1 }, value: [account, ...result.value.slice(1)] } };
  });
}

test('the key signs nothing but claims and refunds of the escrow program, whatever it is asked', async (context) => {
  const world = await newWorld(context);
  const open = new Map<string, EscrowTerms>();
  const url = await yesNode(context, world.chain.info.rpcUrl, open);
  const one = stranger(world, adapterOf(world, [], { rpcUrls: [url] }));
  const own = one.account.address;
  let signed = 0;
  for (let round = 0; round < 60; round += 1) {
    const terms = anyTerms(own, world.dollar);
    let escrow = '';
    try {
      escrow = solanaEscrow(terms, solanaDeployment).address;
      open.set(escrow, terms);
    } catch {
      // The key must refuse them too.
    }
    const work: GasWork = chance(2)
      ? { verb: 'refund', terms }
      : { verb: 'claim', terms, secret, isPublic: true };
    const made = await Promise.resolve()
      .then(() => one.sign(work))
      .catch((error: unknown) => {
        assert.match(String(error), /ParleyError/);
        return null;
      });
    if (made === null) continue;
    signed += 1;
    const { signers, keys, instructions, lookups } = readTransaction(made.raw);
    assert.deepEqual([signers, keys[0], lookups.length], [1, own, 0]);
    const ours = instructions.filter(({ program }) => program === solanaDeployment.program);
    const [call] = ours.map(({ data, accounts }) =>
      decodeInstruction(
        data,
        accounts.map((at) => keys[at] ?? null),
      ),
    );
    assert.deepEqual([ours.length, call?.verb, call?.escrow], [1, work.verb, escrow]);
    const wallet = (work.verb === 'claim' ? terms.payout : terms.refund).address;
    for (const { program, data, accounts } of instructions) {
      if (program === solanaDeployment.program || program === computeBudgetProgram) continue;
      assert.equal(program, associatedTokenProgram);
      assert.deepEqual([[...data], keys[accounts[2] ?? 99]], [[1], wallet]);
    }
  }
  assert.ok(signed > 8, `${signed} of 60`);
});
