// Which mints are taken, and what freezing, closing, wrapping and a lying token program can do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address } from '@solana/kit';
import { programFile as linkedProgram } from './link.ts';
import * as instructions from './testing/instructions.ts';
import {
  bytesOf,
  SYSTEM,
  TOKEN,
  TOKEN_2022,
  WRAPPED_SOL,
  withAccount,
  withRole,
  word,
} from './testing/instructions.ts';
import {
  AMOUNT,
  accepted,
  claim,
  createSwap,
  expire,
  fund,
  funded,
  moneyOf,
  refund,
  refused,
  type Swap,
  secret,
  stateOf,
  swapIn,
  verbs,
} from './testing/swaps.ts';
import {
  addressNamed,
  type Extension,
  makeHolding,
  makeMint,
  mintExtensions,
  patch,
  safeExtensions,
  tokensOf,
} from './testing/tokens.ts';
import {
  balanceOf,
  createWorld,
  dataOf,
  give,
  ownWorld,
  person,
  programFile,
  rentOf,
  SOL,
  send,
  setAccount,
  type World,
} from './testing/vm.ts';

const tokenAssets = ['SPL Token', 'Token-2022'] as const;
const FROZEN = Buffer.from([2]);
const THAWED = Buffer.from([1]);
const STATE_AT = 108;

const extension = (type: number, length: number): Extension => ({
  type,
  value: Buffer.alloc(length),
});
const extensionNamed = (name: string): Extension => {
  const { type, length } = mintExtensions[name as keyof typeof mintExtensions];
  return extension(type, length);
};

/** Funds a swap over a mint with these extensions; gives the swap and the error. */
async function fundOver(extensions: readonly Extension[]) {
  const world = await createWorld();
  const mint = makeMint(world, 'a mint with extensions', TOKEN_2022, extensions);
  const swap = await swapIn(world, 'Token-2022', { mint });
  return { swap, error: (await fund(swap)).error };
}

test('the extensions that cannot move or stop tokens are taken, and pay out; others are refused', async () => {
  for (const name of Object.keys(mintExtensions)) {
    const { swap, error } = await fundOver([extensionNamed(name)]);
    const isSafe = safeExtensions.includes(name);
    assert.equal(error, isSafe ? undefined : 'UnsafeMint', name);
    if (!isSafe) continue;
    await accepted(claim(swap));
    assert.equal(moneyOf(swap).destination, AMOUNT);
  }
});

test('an extension that is not known is refused, and so is one behind safe ones', async () => {
  const safe = safeExtensions.map(extensionNamed);
  const known = new Set(safe.map(({ type }) => type));
  const unknown = Array.from({ length: 63 }, (_, at) => at + 1).filter((type) => !known.has(type));
  // 64 + 18: a shift by the type alone would take it for a metadata pointer.
  const high = [64, 64 + 18, 256 + 18, 0x1200, 0xffff];
  assert.equal((await fundOver(safe)).error, undefined);
  for (const type of [...unknown, ...high]) {
    for (const list of [[extension(type, 0)], [...safe, extension(type, 32)]]) {
      assert.equal((await fundOver(list)).error, 'UnsafeMint', `type ${type}`);
    }
  }
});

test('an extension is as long as its two bytes say, and type 0 ends the list', async () => {
  const long = extension(19, 256 + 44);
  const fee = extension(1, 108);
  for (const [list, error] of [
    [[long], undefined],
    [[long, fee], 'UnsafeMint'],
    // As a mint is whose metadata became shorter: Token-2022 itself reads nothing behind it.
    [[long, extension(0, 8)], undefined],
    [[long, extension(0, 0), fee], undefined],
  ] as const) {
    assert.equal((await fundOver(list)).error, error, list.map(({ type }) => type).join());
  }
});

test('a mint that is not there, or not of a token program that is taken, is refused', async () => {
  const world = await ownWorld();
  const blank = (name: string, length: number): Address => {
    setAccount(world, addressNamed(name), TOKEN, Buffer.alloc(length));
    return addressNamed(name);
  };
  for (const [what, mint, asset, error] of [
    ['classic', makeMint(world, 'classic', TOKEN), 'Token-2022', 'WrongTokenProgram'],
    ['new', makeMint(world, 'new', TOKEN_2022), 'SPL Token', 'WrongTokenProgram'],
    ['nothing', addressNamed('no mint'), 'SPL Token', 'WrongMint'],
    ['a wallet', (await person('wallet')).address, 'SPL Token', 'WrongMint'],
    ['a short mint', blank('short', 81), 'SPL Token', 'WrongMint'],
    ['a mint that was never initialised', blank('blank', 82), 'SPL Token', null],
  ] as const) {
    const outcome = await fund(await swapIn(world, asset, { mint }));
    if (error === null) assert.notEqual(outcome.error, undefined, what);
    else assert.equal(outcome.error, error, what);
  }
  const own = addressNamed('a token program of somebody');
  world.svm.addProgramFromFile(own, programFile);
  const swap = await swapIn(world, 'SPL Token', { mint: makeMint(world, 'its mint', own) });
  const escrow = await instructions.escrowOf(swap.terms, own);
  const source = holdingOf({ ...swap, escrow }, swap.funder.address, '', SOL);
  const outcome = send(world, [verbs(escrow, source).fund], [swap.funder]);
  await refused(outcome, 'WrongTokenProgram');
});

/** Sends a claim or refund of the swap to this token account. */
const claimTo = (swap: Swap, options: Parameters<typeof instructions.claim>[2], by = swap.world) =>
  send(by, [instructions.claim(swap.escrow, secret, options)], options?.signs ? [swap.payee] : []);
const holdingOf = ({ world, terms, escrow }: Swap, owner: Address, name: string, amount = 0n) =>
  makeHolding(world, { mint: terms.mint, owner, program: escrow.tokenProgram, name, amount });
const empty = (world: World, account: Address): void =>
  setAccount(world, account, SYSTEM, new Uint8Array(), 0n);

for (const asset of tokenAssets) {
  test(`${asset}: a frozen account stops what touches it, and thawed it goes on`, async () => {
    const swap = await createSwap(asset);
    const { world, source, destination, escrow } = swap;
    const whileFrozen = async (account: Address, verb: (of: Swap) => ReturnType<typeof send>) => {
      patch(world, account, STATE_AT, FROZEN);
      const before = moneyOf(swap);
      assert.notEqual((await verb(swap)).error, undefined);
      assert.deepEqual(moneyOf(swap), before);
      patch(world, account, STATE_AT, THAWED);
    };
    await whileFrozen(source, fund);
    await accepted(fund(swap));
    await whileFrozen(destination, claim);
    await whileFrozen(escrow.vault, claim);
    expire(swap);
    await whileFrozen(source, refund);
    await accepted(refund(swap));
  });

  test(`${asset}: any token account of the receiver will do where it signs, and no other without`, async () => {
    const swap = await funded(asset);
    const { world, terms, funder, destination } = swap;
    empty(world, destination);
    await refused(claim(swap), 'WrongPayout');
    const another = holdingOf(swap, terms.payout, 'another');
    await refused(claimTo(swap, { destination: another }), 'WrongPayout');
    // Nor does the signature of anybody but the receiver.
    const bare = instructions.claim(swap.escrow, secret, { destination: another, refund: false });
    const byFunder = withRole(withAccount(bare, 5, funder.address), 5, 'sign');
    await refused(send(world, [byFunder], [funder]), 'WrongPayout');
    await accepted(claimTo(swap, { destination: another, signs: true }));
    assert.equal(tokensOf(world, another), AMOUNT);
  });

  test(`${asset}: the associated account is known by its bump, mint, owner and token program`, async () => {
    const swap = await funded(asset);
    const { world, escrow, terms, destination } = swap;
    const { bump } = escrow.associated;
    for (const wrong of [0, bump - 1, bump + 1].filter((each) => each !== bump && each < 256)) {
      const data = Buffer.from(swap.claim.data!);
      data[1] = wrong;
      await refused(send(world, [{ ...swap.claim, data }]), 'WrongPayout');
    }
    const owner = terms.payout;
    const program = escrow.tokenProgram;
    const otherProgram = program === TOKEN ? TOKEN_2022 : TOKEN;
    // Each holds the right tokens for the right owner, at an address that is another's.
    for (const [mint, whose, by] of [
      [terms.mint, terms.refund, program],
      [makeMint(world, 'another mint', program), owner, program],
      [terms.mint, owner, otherProgram],
    ] as const) {
      const at = await instructions.associatedOf(whose, mint, by);
      makeHolding(world, { mint: terms.mint, owner, program, at: at.address });
      const attempt = instructions.claim({ ...escrow, associated: at }, secret);
      await refused(send(world, [attempt]), 'WrongPayout');
    }
    // Given away, it is the receiver's no more.
    patch(world, destination, 32, bytesOf(terms.refund));
    await refused(claim(swap), 'WrongPayout');
    patch(world, destination, 32, bytesOf(owner));
    await accepted(claim(swap));
  });

  test(`${asset}: a refund pays the associated account, and another of the funder’s by its signature`, async () => {
    const swap = await funded(asset);
    const { world, escrow, funder, payee, source } = swap;
    const { mint, refund: owner } = swap.terms;
    expire(swap);
    const another = holdingOf(swap, owner, 'another');
    await refused(send(world, [instructions.refund(escrow, another)]), 'WrongRefund');
    // Nor does the signature of anybody but the funder.
    const signed = instructions.refund(escrow, another, { signs: true });
    const byPayee = withRole(withAccount(signed, 1, payee.address), 1, 'writeSign');
    await refused(send(world, [byPayee], [payee]), 'WrongRefund');
    const other = asset === 'SPL Token' ? TOKEN_2022 : TOKEN;
    // Each holds the right tokens for the right owner, at an address that is another's.
    for (const [ofMint, whose, by] of [
      [mint, payee.address, escrow.tokenProgram],
      [makeMint(world, 'another mint', escrow.tokenProgram), owner, escrow.tokenProgram],
      [mint, owner, other],
    ] as const) {
      const { address: at } = await instructions.associatedOf(whose, ofMint, by);
      makeHolding(world, { mint, owner, program: escrow.tokenProgram, at });
      await refused(send(world, [instructions.refund(escrow, at)]), 'WrongRefund');
    }
    // Given away, it is the funder's no more.
    patch(world, source, 32, bytesOf(payee.address));
    await refused(refund(swap), 'WrongRefund');
    empty(world, source);
    await refused(refund(swap), 'WrongRefund');
    await accepted(send(world, [signed], [funder]));
    assert.equal(tokensOf(world, another), AMOUNT);
  });

  test(`${asset}: the funder’s associated account is found under whichever bump it has`, async () => {
    const bumps = new Set<number>();
    for (let at = 0; bumps.size < 4; at += 1) {
      const world = await createWorld();
      const mint = makeMint(world, `a mint ${at}`, asset === 'SPL Token' ? TOKEN : TOKEN_2022);
      const swap = await swapIn(world, asset, { mint });
      const { tokenProgram } = swap.escrow;
      const own = await instructions.associatedOf(swap.terms.refund, mint, tokenProgram);
      if (bumps.has(own.bump)) continue;
      bumps.add(own.bump);
      await accepted(fund(swap));
      expire(swap);
      await accepted(refund(swap));
      assert.equal(stateOf(swap), undefined);
    }
  });

  test(`${asset}: a funder who owns too little, or another's tokens, funds nothing`, async () => {
    const swap = await createSwap(asset, { amount: 10n * SOL + 1n });
    const before = moneyOf(swap);
    assert.notEqual((await fund(swap)).error, undefined);
    const { world, escrow } = swap;
    const theirs = holdingOf(swap, world.sender.address, '', 100n * SOL);
    const attempt = verbs(escrow, theirs).fund;
    assert.notEqual((await send(world, [attempt], [swap.funder])).error, undefined);
    assert.deepEqual(moneyOf(swap), before);
    assert.equal(stateOf(swap), undefined);
  });

  test(`${asset}: a vault that lost tokens is not claimed, and refunds what is left`, async () => {
    for (const left of [AMOUNT - 1n, 0n]) {
      const swap = await funded(asset);
      patch(swap.world, swap.escrow.vault, 64, word(left));
      await refused(claim(swap), 'AmountNotPaid');
      expire(swap);
      const before = moneyOf(swap);
      await accepted(refund(swap));
      assert.equal(moneyOf(swap).source! - before.source!, left);
      assert.equal(stateOf(swap), undefined);
    }
  });

  test(`${asset}: the vault of one program is not opened by the other`, async () => {
    const swap = await funded(asset);
    const { mint, payout: owner } = swap.terms;
    const other = asset === 'SPL Token' ? TOKEN_2022 : TOKEN;
    const associated = await instructions.associatedOf(owner, mint, other);
    makeHolding(swap.world, { mint, owner, program: other, at: associated.address });
    const attempt = instructions.claim({ ...swap.escrow, tokenProgram: other, associated }, secret);
    await refused(send(swap.world, [attempt]), 'WrongTokenProgram');
  });

  test(`${asset}: decimals are read from the mint, and change nothing`, async () => {
    for (const decimals of [0, 6, 9, 255]) {
      const swap = await createSwap(asset);
      patch(swap.world, swap.terms.mint, 44, Buffer.from([decimals]));
      await accepted(fund(swap));
      await accepted(claim(swap));
      assert.equal(moneyOf(swap).destination, AMOUNT);
    }
  });
}

async function wrappedSwap(): Promise<Swap> {
  const world = await createWorld();
  world.svm.withNativeMints();
  const swap = await swapIn(world, 'SPL Token', { mint: WRAPPED_SOL });
  // A wrapped account notes its rent, and holds its tokens as lamports.
  const rent = rentOf(world, 165n);
  for (const [account, amount] of [
    [swap.source, 10n * SOL],
    [swap.destination, 0n],
  ] as const) {
    patch(world, account, 109, Buffer.concat([Buffer.from([1, 0, 0, 0]), word(rent)]));
    give(world, account, amount);
  }
  return swap;
}

test('wrapped SOL is funded, claimed and refunded, dust in lamports and in tokens included', async () => {
  for (const settle of [claim, refund]) {
    const swap = await wrappedSwap();
    const { world, escrow, source, destination } = swap;
    const total = () =>
      [swap.funder.address, source, destination, escrow.escrow, escrow.vault].reduce(
        (sum, each) => sum + balanceOf(world, each),
        0n,
      );
    give(world, escrow.vault, 3n);
    const before = { ...moneyOf(swap), total: total() };
    await accepted(fund(swap));
    // The lamports sent ahead are wrapped with the vault.
    assert.equal(moneyOf(swap).held, AMOUNT + 3n);
    give(world, escrow.vault, 4n);
    if (settle === refund) expire(swap);
    await accepted(settle(swap));
    const after = moneyOf(swap);
    if (settle === claim) assert.equal(after.destination, AMOUNT + 3n);
    else assert.equal(after.source! - before.source!, 3n);
    const kept = settle === claim ? rentOf(world, 1n) : 0n;
    assert.equal(before.funder - after.funder, kept - 4n);
    assert.equal(total(), before.total + 4n);
  }
});

test('a receiver that demands memos is paid once it does not', async () => {
  const swap = await funded('Token-2022');
  const { world, destination } = swap;
  const plain = dataOf(world, destination)!;
  const ACCOUNT_TYPE = 2;
  const MEMO_TRANSFER = 8;
  const IS_REQUIRED = 1;
  const extensions = Buffer.from([ACCOUNT_TYPE, MEMO_TRANSFER, 0, 1, 0, IS_REQUIRED]);
  setAccount(world, destination, TOKEN_2022, Buffer.concat([plain, extensions]));
  assert.match((await claim(swap)).error ?? '', /memo/i);
  patch(world, destination, plain.length + 5, Buffer.from([0]));
  await accepted(claim(swap));
});

/** sBPF for: a call with four accounts adds 2 to the amount of the third; everything succeeds. */
function lyingTokenProgram(): Buffer {
  const room = 88 + 10_240 + 8;
  // Where the third account's amount is, behind an account of 165 bytes and a mint of 82.
  const amountAt = 8 + (room + 168) + (room + 88) + 88 + 64;
  const code: number[] = [];
  const op = (opcode: number, to: number, from: number, offset: number, value: number) => {
    const bytes = Buffer.alloc(8);
    bytes[0] = opcode;
    bytes[1] = to | (from << 4);
    bytes.writeInt16LE(offset, 2);
    bytes.writeInt32LE(value, 4);
    code.push(...bytes);
  };
  op(0xb7, 0, 0, 0, 0); // r0 = 0
  op(0x79, 2, 1, 0, 0); // r2 = the number of accounts
  op(0x55, 2, 0, 4, 4); // unless it is 4, past the next four
  op(0x07, 1, 0, 0, amountAt); // r1 += amountAt
  op(0x79, 3, 1, 0, 0); // r3 = the amount
  op(0x07, 3, 0, 0, 2); // r3 += 2
  op(0x7b, 1, 3, 0, 0); // the amount = r3
  op(0x95, 0, 0, 0, 0); // exit
  return linkedProgram(Buffer.from(code), Buffer.alloc(8));
}

test('a token program that moves more or less than it was asked to funds and claims nothing', async () => {
  const lie = async (amount: bigint) => {
    const world = await ownWorld();
    world.svm.addProgram(TOKEN_2022, lyingTokenProgram());
    return swapIn(world, 'Token-2022', { amount });
  };
  for (const amount of [1n, 3n, SOL]) {
    assert.equal((await fund(await lie(amount))).error, 'AmountNotGained', `${amount}`);
  }
  const swap = await lie(2n);
  await accepted(fund(swap));
  assert.equal(moneyOf(swap).held, 2n);
  for (const held of [3n, 4n]) {
    patch(swap.world, swap.escrow.vault, 64, word(held));
    await refused(claim(swap), 'AmountNotPaid');
  }
  expire(swap);
  // A refund asks for no exactness: the balance leaves as far as it can.
  await accepted(refund(swap));
});
