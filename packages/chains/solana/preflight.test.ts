// The findings before any money moves: hostile mints, receivers that cannot receive.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import {
  type Extension,
  holdingBytes,
  mintBytes,
} from '@parley/contracts/solana/testing/tokens.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Address } from '@solana/kit';
import { exchangedIn } from '../testing/nodes.ts';
import { vaultAddress } from './plan.ts';
import {
  associatedTokenAccount,
  type TokenProgram,
  token2022Program,
  tokenProgram,
} from './programs.ts';
import {
  claim,
  escrowIn,
  fund,
  HOUR,
  lyingAdapter,
  newWorld,
  refuses,
  SOL,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

const programFile = new URL('../../../contracts/solana/parley_escrow.so', import.meta.url);
const AMOUNT = 5_000_000n;
const extension = (type: number, ...value: readonly number[]): Extension => ({
  type,
  value: Uint8Array.from(value),
});

function putMint(world: World, program: TokenProgram, extensions: readonly Extension[] = []) {
  const of = walletOf(`mint ${program} ${extensions.map(({ type }) => type).join()}`);
  put(world, of, program, mintBytes(extensions));
  return of;
}

function put({ chain }: World, of: string, owner: string, data: Uint8Array): void {
  chain.put(of, { lamports: SOL, owner: owner as Address, data, executable: false });
}

function putProgram({ chain }: World, of: string): void {
  const data = new Uint8Array(readFileSync(programFile));
  const owner = 'BPFLoader2111111111111111111111111111111111' as Address;
  chain.put(of, { lamports: SOL, owner, data, executable: true });
}

type Changes = {
  owner?: string;
  frozen?: boolean;
  extensions?: readonly Extension[];
  amount?: bigint;
};

/** The associated account of a wallet, as it may have become. */
function putHolding(
  world: World,
  wallet: string,
  mint: string,
  program: TokenProgram,
  { owner = wallet, frozen = false, extensions = [], amount = 10n * AMOUNT }: Changes = {},
): void {
  const held = { mint: mint as Address, owner: owner as Address, frozen, amount };
  const at = associatedTokenAccount(wallet, mint, program);
  put(world, at, program, holdingBytes(held, extensions));
}

const tokenEscrow = (world: World, token: string) => escrowIn(world, { token, amount: AMOUNT });

test('an empty wallet cannot receive less than an account’s rent, but all from there on', async (context) => {
  const world = await newWorld(context);
  const payout = { address: walletOf('nobody yet'), pubkey: null };
  const least = 890_880n;
  const words = /holds nothing yet takes at least 890880/;
  const short = escrowIn(world, { payout, amount: least - 1n });
  await refuses(world.adapter.preflight(short.terms, 'payout', soon()), 'payout_would_fail', words);
  const enough = escrowIn(world, { payout, amount: least });
  await world.adapter.preflight(enough.terms, 'payout', soon());
});

test('SOL: a wallet that could not take its money back is found too, and a program on either side', async (context) => {
  const world = await newWorld(context);
  const least = 890_880n;
  const refund = { address: walletOf('nobody yet'), pubkey: null };
  const back = /to the refund address \w+ would fail: an account that holds nothing yet/;
  for (const about of ['payout', 'funding'] as const) {
    const short = escrowIn(world, { refund, amount: least - 1n });
    await refuses(world.adapter.preflight(short.terms, about, soon()), 'payout_would_fail', back);
    const enough = escrowIn(world, { refund, amount: least });
    await world.adapter.preflight(enough.terms, about, soon());
  }
  const code = { address: walletOf('a program'), pubkey: null };
  putProgram(world, code.address);
  for (const [changed, which] of [
    [{ payout: code }, 'payout'],
    [{ refund: code }, 'refund'],
  ] as const) {
    const { terms } = escrowIn(world, changed);
    const words = new RegExp(`to the ${which} address \\w+ would fail: it is a program`);
    await refuses(world.adapter.preflight(terms, 'payout', soon()), 'payout_would_fail', words);
  }
});

test('a receiver’s account that is frozen, given away or picky stops both sides before funding', async (context) => {
  const world = await newWorld(context);
  const mint = putMint(world, token2022Program);
  const { terms } = tokenEscrow(world, mint);
  for (const name of ['payee', 'funder']) {
    for (const [changes, words] of [
      [{ frozen: true }, /frozen/],
      [{ owner: walletOf('stranger') }, /belongs to/],
      [{ extensions: [extension(8, 1)] }, /memo/],
    ] as [Changes, RegExp][]) {
      for (const each of ['payee', 'funder']) {
        putHolding(world, walletOf(each), mint, token2022Program, each === name ? changes : {});
      }
      await refuses(world.adapter.preflight(terms, 'payout', soon()), 'payout_would_fail', words);
    }
  }
});

test('a funder who forbids programs to move its tokens is refused by that name', async (context) => {
  const world = await newWorld(context);
  const mint = putMint(world, token2022Program);
  const extensions = [extension(11, 1)];
  putHolding(world, walletOf('funder'), mint, token2022Program, { extensions });
  const { terms } = tokenEscrow(world, mint);
  const words = /CPI guard/;
  await refuses(world.adapter.preflight(terms, 'funding', soon()), 'funding_would_fail', words);
});

test('once a leg is funded, nothing that its funder does to its own accounts stops a reveal', async (context) => {
  const world = await newWorld(context);
  const { adapter } = world;
  const tokens = tokenEscrow(world, world.dollar);
  await fund(world, tokens);
  const theirs: Changes = { owner: walletOf('stranger'), extensions: [extension(11, 1)] };
  putHolding(world, walletOf('funder'), world.dollar, tokenProgram, theirs);
  await refuses(adapter.preflight(tokens.terms, 'payout', soon()), 'payout_would_fail');
  await adapter.preflight(tokens.terms, 'claim', soon());
  await claim(world, tokens);
  assert.notEqual((await adapter.readEscrow(tokens, soon())).claimed, null);
});

test('a payout that cannot take tokens, or a frozen vault, still stops a reveal', async (context) => {
  const world = await newWorld(context);
  const { adapter } = world;
  const escrow = tokenEscrow(world, world.dollar);
  await fund(world, escrow);
  const payee = walletOf('payee');
  putHolding(world, payee, world.dollar, tokenProgram, { frozen: true });
  const reveal = () => adapter.preflight(escrow.terms, 'claim', soon());
  await refuses(reveal(), 'payout_would_fail', /payout address \w+ would fail: .* frozen/);
  putHolding(world, payee, world.dollar, tokenProgram);
  await reveal();
  const vault = vaultAddress(escrow.address, tokenProgram);
  const account = await accountOf(world, vault);
  account.data[108] = 2;
  put(world, vault, tokenProgram, account.data);
  await refuses(reveal(), 'payout_would_fail', /the vault \w+: it is frozen/);
});

/** Over a node on which others pay so much for speed. */
async function bidUp(context: TestContext, world: World, prioritizationFee: number) {
  const lied = await lyingAdapter(context, world, ({ method }, forward) =>
    method === 'getRecentPrioritizationFees'
      ? { result: [{ slot: 1, prioritizationFee }] }
      : forward(),
  );
  return lied;
}

const empty = (name: string) => ({ address: walletOf(name), pubkey: null });

test('a party that cannot pay for its claim or its funding is named, with what it needs; one that can is not', async (context) => {
  const world = await newWorld(context);
  const { adapter } = world;
  for (const { terms } of [escrowIn(world), tokenEscrow(world, world.dollar)]) {
    const [deposit, ...more] = (await adapter.warnings?.(terms, soon())) ?? [];
    assert.deepEqual([deposit?.code, more], ['deposit', []]);
    const [locked, back] = terms.token === null ? [2_171_520, 1_273_680] : [4_210_800, 3_312_960];
    assert.match(
      deposit?.sentence ?? '',
      new RegExp(`deposits ${locked} lamports .* ${back} with its claim and 897840 more once`),
    );
  }
  const changed = { payout: empty('nobody yet'), refund: empty('nobody else') };
  const poor = escrowIn(world, { ...changed, token: world.dollar, amount: AMOUNT });
  const [, claiming, funding, ...more] = (await adapter.warnings?.(poor.terms, soon())) ?? [];
  assert.deepEqual(more, []);
  const { address } = changed.payout;
  assert.deepEqual(
    [claiming?.code, claiming?.verb, claiming?.address],
    ['fee_poor', 'claim', address],
  );
  // A signature, the wallet's own rent, that of a token account, and a little.
  const need = 5_000 + 890_880 + 2_039_280 + 100_000;
  assert.match(
    claiming?.sentence ?? '',
    new RegExp(`has 0 lamports .* ${need} .*anybody else may`),
  );
  assert.deepEqual([funding?.code, funding?.verb], ['fee_poor', 'fund']);
});

test('all that warnings, costs or an amount ask leaves in one exchange, of an open escrow too', async (context) => {
  const world = await newWorld(context);
  const { adapter } = world;
  await adapter.open(soon());
  const amount = await exchangedIn(() => adapter.checkAmount(null, 10n * SOL, soon()));
  assert.equal(amount.length, 1);
  for (const escrow of [escrowIn(world), tokenEscrow(world, world.dollar)]) {
    const { terms } = escrow;
    const warnings = async () =>
      (await exchangedIn(async () => adapter.warnings?.(terms, soon()))).length;
    assert.equal(await warnings(), 1);
    await fund(world, escrow);
    assert.equal(await warnings(), 1);
    const costs = await exchangedIn(async () => adapter.costs?.(terms.token, soon()));
    assert.equal(costs.length, 1);
  }
});

test('the trials leave with what is read, and count where it is as they were made for', async (context) => {
  const world = await newWorld(context);
  const { adapter } = world;
  await adapter.open(soon());
  const exchanges = async (terms: EscrowTerms) =>
    (await exchangedIn(() => adapter.preflight(terms, 'funding', soon()))).length;
  const { terms: inSol } = escrowIn(world);
  assert.equal(await exchanges(inSol), 1);
  const { terms } = tokenEscrow(world, world.dollar);
  assert.equal(await exchanges(terms), 1);
  // By the wall's time a trial would have no time left.
  world.time.now -= 2 * HOUR;
  assert.deepEqual([await exchanges(inSol), await exchanges(terms)], [2, 2]);
  world.time.now += 2 * HOUR;
  put(world, world.dollar, token2022Program, mintBytes([]));
  putHolding(world, terms.refund.address, world.dollar, token2022Program);
  assert.equal(await exchanges(terms), 1, 'whichever program its mint is of');
});

test('the sender of a claim is asked for its cost to the lamport, whoever it is', async (context) => {
  const world = await newWorld(context);
  const { adapter, chain } = world;
  const { terms } = escrowIn(world, { payout: empty('a poor wallet') });
  const lacks = async (payer: string) =>
    (await adapter.claimShortage?.(terms, payer, soon()))?.code;
  const give = async (amount: bigint) => {
    await chain.give({ address: terms.payout.address, token: null, amount });
    await chain.mine(2);
  };
  assert.equal(await lacks(terms.payout.address), 'fee_poor');
  assert.equal(await lacks(walletOf('stranger')), undefined);
  await give(895_879n);
  assert.equal(await lacks(terms.payout.address), 'fee_poor');
  await give(1n);
  assert.equal(await lacks(terms.payout.address), undefined);
});

test('an amount whose claim costs over a quarter of it is neither quoted nor funded', async (context) => {
  const world = await newWorld(context);
  // 60 lamports a unit: 1 800 000 for speed, and a signature.
  const adapter = await bidUp(context, world, 60_000_000);
  const least = 4n * 1_805_000n;
  await adapter.checkAmount(null, least, soon());
  await refuses(adapter.checkAmount(null, least - 1n, soon()), 'amount_too_small', /1805000 now/);
  const { terms } = escrowIn(world, { amount: least - 1n });
  const words = /claim costs 1805000 lamports now/;
  await refuses(adapter.preflight(terms, 'funding', soon()), 'funding_would_fail', words);
  // It must not be able to stop a reveal.
  await adapter.preflight(terms, 'claim', soon());
});

async function accountOf({ chain }: World, of: string) {
  const { value } = await chain.rpc
    .getAccountInfo(of as Address, { encoding: 'base64', commitment: 'processed' })
    .send();
  return { data: Uint8Array.from(Buffer.from(value?.data[0] ?? '', 'base64')) };
}
