// The rules of an escrow, for SOL and for both token programs alike: each verb, the clock, the
// secret, replays, strays, and every lamport of rent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as instructions from './testing/instructions.ts';
import {
  addressOf,
  bytesOf,
  encodeTerms,
  PROGRAM,
  refund as refundOf,
  sha256,
  word,
} from './testing/instructions.ts';
import {
  AMOUNT,
  accepted,
  assets,
  type Changes,
  claim,
  createSwap,
  expire,
  fund,
  funded,
  HOUR,
  moneyOf,
  refund,
  refused,
  STATUS,
  type Swap,
  secret,
  stateOf,
  swapIn,
  verbs,
} from './testing/swaps.ts';
import { dust, tokensOf } from './testing/tokens.ts';
import {
  balanceOf,
  createWorld,
  dataOf,
  FEE,
  give,
  NOW,
  ownerOf,
  programFile,
  rentOf,
  SOL,
  send,
  sentBy,
  setAccount,
  setNow,
} from './testing/vm.ts';

const STATE_BYTES = 184n;
const VAULT_BYTES = 165n;
const DAY = 24n * HOUR;

const isSol = ({ asset }: Swap): boolean => asset === 'SOL';
/** What a funder's lamports lose to a funding. */
const lamportsIn = (swap: Swap): bigint =>
  rentOf(swap.world, STATE_BYTES) + (isSol(swap) ? AMOUNT : rentOf(swap.world, VAULT_BYTES));
const tombstone = ({ world }: Swap): bigint => rentOf(world, 1n);
/** What stays at the address. */
const leftBy = (settle: (swap: Swap) => ReturnType<typeof send>, swap: Swap): bigint =>
  settle === claim ? tombstone(swap) : 0n;

for (const asset of assets) {
  test(`${asset}: a funding takes the amount and the rent, and keeps the terms`, async () => {
    const swap = await createSwap(asset);
    const before = moneyOf(swap);
    await accepted(fund(swap));
    const after = moneyOf(swap);
    assert.equal(before.funder - after.funder, lamportsIn(swap));
    assert.equal(after.escrow, rentOf(swap.world, STATE_BYTES) + (isSol(swap) ? AMOUNT : 0n));
    if (!isSol(swap)) {
      assert.equal(before.source! - after.source!, AMOUNT);
      assert.equal(after.held, AMOUNT);
      assert.equal(after.vault, rentOf(swap.world, VAULT_BYTES));
    }
    const vault = isSol(swap) ? Buffer.alloc(32) : bytesOf(swap.escrow.vault);
    const head = Buffer.from([STATUS.open, swap.escrow.bump, 0, 0, 0, 0, 0, 0]);
    assert.deepEqual(
      dataOf(swap.world, swap.escrow.escrow),
      Buffer.concat([head, encodeTerms(swap.terms), vault]),
    );
    assert.equal(ownerOf(swap.world, swap.escrow.escrow), PROGRAM);
  });

  test(`${asset}: a claim pays the amount, and the funder all rent but a tombstone's`, async () => {
    const swap = await createSwap(asset);
    const before = moneyOf(swap);
    await accepted(fund(swap));
    await accepted(claim(swap));
    const after = moneyOf(swap);
    const paid = isSol(swap) ? AMOUNT : 0n;
    assert.equal(before.funder - after.funder, paid + tombstone(swap));
    assert.equal(after.payee - before.payee, paid);
    assert.equal(after.escrow, tombstone(swap));
    assert.equal(after.vault, 0n);
    if (!isSol(swap)) {
      assert.equal(after.destination! - before.destination!, AMOUNT);
      assert.equal(before.source! - after.source!, AMOUNT);
    }
    assert.deepEqual(stateOf(swap), { status: STATUS.claimed, length: 1 });
  });

  test(`${asset}: a refund gives the funder everything, and the account is gone`, async () => {
    const swap = await createSwap(asset);
    const before = moneyOf(swap);
    await accepted(fund(swap));
    expire(swap);
    await accepted(refund(swap));
    const after = moneyOf(swap);
    assert.equal(after.funder, before.funder);
    assert.equal(after.payee, before.payee);
    assert.equal(after.escrow, 0n);
    assert.equal(after.vault, 0n);
    assert.equal(after.source, before.source);
    assert.equal(after.destination, before.destination);
    assert.equal(ownerOf(swap.world, swap.escrow.escrow), undefined);
  });

  test(`${asset}: a claim works until a second before the timelock, a refund from it on`, async () => {
    const claimed = await funded(asset);
    setNow(claimed.world, claimed.terms.timelock - 1n);
    await refused(refund(claimed), 'TooEarly');
    await accepted(claim(claimed));
    const refunded = await funded(asset);
    expire(refunded);
    await refused(claim(refunded), 'TooLate');
    await accepted(refund(refunded));
  });

  test(`${asset}: a timelock is at least 30 minutes and at most 30 days ahead`, async () => {
    const cases: readonly [bigint, string | undefined][] = [
      [-1n, 'TimelockTooNear'],
      [0n, 'TimelockTooNear'],
      [HOUR / 2n - 1n, 'TimelockTooNear'],
      [HOUR / 2n, undefined],
      [30n * DAY, undefined],
      [30n * DAY + 1n, 'TimelockTooFar'],
      [(1n << 63n) - 1n - NOW, 'TimelockTooFar'],
      // As unsigned numbers these would be far ahead.
      [-(1n << 63n) - NOW, 'TimelockTooNear'],
      [-NOW - 1n, 'TimelockTooNear'],
    ];
    for (const [ahead, error] of cases) {
      const swap = await createSwap(asset, { timelock: NOW + ahead });
      assert.equal((await fund(swap)).error, error, `${ahead} seconds ahead`);
    }
  });

  test(`${asset}: only the secret of exactly 32 bytes claims`, async () => {
    const swap = await funded(asset);
    const { claim: right } = swap;
    const head = Buffer.from(right.data!).subarray(0, 8);
    const attempt = (tail: Uint8Array) =>
      send(swap.world, [{ ...right, data: Buffer.concat([head, tail]) }]);
    await refused(attempt(secret.subarray(0, 31)), 'BadInstruction');
    await refused(attempt(Buffer.concat([secret, Buffer.alloc(1)])), 'BadInstruction');
    await refused(attempt(Buffer.alloc(0)), 'BadInstruction');
    await refused(attempt(Buffer.concat([secret, secret])), 'BadInstruction');
    await refused(attempt(Buffer.alloc(32)), 'WrongSecret');
    await refused(attempt(sha256(secret)), 'WrongSecret');
    for (const at of [0, 7, 8, 15, 16, 23, 24, 31]) {
      const wrong = Buffer.from(secret);
      wrong[at]! ^= 1;
      await refused(attempt(wrong), 'WrongSecret');
    }
    await accepted(attempt(secret));
  });

  test(`${asset}: a hashlock over a longer or shorter secret is only refunded`, async () => {
    for (const length of [31, 33, 64]) {
      const long = Buffer.alloc(length, 7);
      const swap = await funded(asset, { hashlock: sha256(long) });
      const data = Buffer.concat([word(1n), long]);
      await refused(send(swap.world, [{ ...swap.claim, data }]), 'BadInstruction');
      expire(swap);
      await accepted(refund(swap));
    }
  });

  test(`${asset}: terms that were claimed are never funded, claimed or refunded again`, async () => {
    const swap = await funded(asset, { timelock: NOW + 2n * HOUR });
    await refused(fund(swap), 'AlreadyFunded');
    await accepted(claim(swap));
    const before = moneyOf(swap);
    await refused(fund(swap), 'AlreadyFunded');
    // More lamports at the address do not help.
    give(swap.world, swap.escrow.escrow, SOL);
    await refused(fund(swap), 'AlreadyFunded');
    for (const again of [claim, refund]) await refused(again(swap), 'NotOpen');
    expire(swap);
    for (const again of [claim, refund]) await refused(again(swap), 'NotOpen');
    assert.deepEqual(moneyOf(swap), { ...before, escrow: before.escrow + SOL });
  });

  test(`${asset}: an account that is gone stands for terms that nobody funds any more`, async () => {
    const swap = await funded(asset, { timelock: NOW + 2n * HOUR });
    expire(swap);
    await accepted(refund(swap));
    const before = moneyOf(swap);
    for (const again of [claim, refund]) await refused(again(swap), 'NotOpen');
    // The clock never goes back. Were it to, by nearly half an hour, they would still be refused.
    for (const ahead of [HOUR, 0n, 1n - HOUR / 2n]) {
      setNow(swap.world, swap.terms.timelock + ahead);
      await refused(fund(swap), 'TimelockTooNear');
    }
    assert.deepEqual(moneyOf(swap), before);
  });

  test(`${asset}: lamports sent ahead hinder no funding, and go to the funder`, async () => {
    const amounts = [1n, 890_880n, 2_039_280n, 5n * SOL];
    for (const ahead of amounts) {
      for (const settle of [claim, refund]) {
        const swap = await createSwap(asset);
        const before = moneyOf(swap);
        give(swap.world, swap.escrow.escrow, ahead);
        if (!isSol(swap)) give(swap.world, swap.escrow.vault, ahead);
        const strays = isSol(swap) ? ahead : 2n * ahead;
        await accepted(fund(swap));
        assert.equal(before.funder - moneyOf(swap).funder, lamportsIn(swap));
        if (settle === refund) expire(swap);
        await accepted(settle(swap));
        const after = moneyOf(swap);
        const paid = settle === claim && isSol(swap) ? AMOUNT : 0n;
        assert.equal(before.funder - after.funder, paid + leftBy(settle, swap) - strays);
        assert.equal(after.escrow, leftBy(settle, swap));
        assert.equal(after.vault, 0n);
      }
    }
  });

  test(`${asset}: lamports sent to an open escrow hinder nothing, and go to the funder`, async () => {
    for (const settle of [claim, refund]) {
      const swap = await createSwap(asset);
      const before = moneyOf(swap);
      await accepted(fund(swap));
      give(swap.world, swap.escrow.escrow, 7n);
      if (!isSol(swap)) give(swap.world, swap.escrow.vault, 8n);
      if (settle === refund) expire(swap);
      await accepted(settle(swap));
      const after = moneyOf(swap);
      const paid = settle === claim && isSol(swap) ? AMOUNT : 0n;
      const strays = isSol(swap) ? 7n : 15n;
      assert.equal(before.funder - after.funder, paid + leftBy(settle, swap) - strays);
      assert.equal(after.escrow, leftBy(settle, swap));
    }
  });

  test(`${asset}: zero terms and a payout that is the funder are refused`, async () => {
    const zero = addressOf(new Uint8Array(32));
    const cases: readonly [Changes, string][] = [
      [{ amount: 0n }, 'ZeroTerm'],
      [{ hashlock: new Uint8Array(32) }, 'ZeroTerm'],
      [{ payout: zero }, 'ZeroTerm'],
    ];
    for (const [changes, error] of cases) {
      await refused(fund(await createSwap(asset, changes)), error);
    }
    const { funder } = await createSwap(asset);
    await refused(fund(await createSwap(asset, { payout: funder.address })), 'PayoutIsRefund');
  });

  test(`${asset}: only the funder of the terms funds, by its signature`, async () => {
    const swap = await createSwap(asset);
    const unsigned = instructions.withRole(swap.fund, 0, 'write');
    await refused(send(swap.world, [unsigned]), 'NotSigned');
    const replaced = instructions.withAccount(swap.fund, 0, swap.payee.address);
    const other = instructions.withRole(replaced, 0, 'writeSign');
    await refused(send(swap.world, [other], [swap.payee]), 'WrongFunder');
    await accepted(fund(swap));
  });

  test(`${asset}: a claim and a refund need no signature but that of whoever sends them`, async () => {
    for (const verb of ['claim', 'refund'] as const) {
      const swap = await funded(asset);
      for (const { role } of swap[verb].accounts ?? []) assert.ok(role < 2, 'nobody signs');
      if (verb === 'refund') expire(swap);
      const before = balanceOf(swap.world, swap.world.sender.address);
      await accepted(send(swap.world, [swap[verb]]));
      assert.equal(before - balanceOf(swap.world, swap.world.sender.address), FEE);
    }
  });

  test(`${asset}: the funder and the payee may send and pay for their transactions`, async () => {
    for (const verb of ['claim', 'refund'] as const) {
      const swap = await createSwap(asset);
      const { world, funder, payee } = swap;
      const before = moneyOf(swap);
      await accepted(send(sentBy(world, funder), [swap.fund]));
      if (verb === 'refund') expire(swap);
      const receiver = verb === 'claim' ? payee : funder;
      await accepted(send(sentBy(world, receiver), [swap[verb]]));
      const after = moneyOf(swap);
      const paid = isSol(swap) && verb === 'claim' ? AMOUNT : 0n;
      const fees = verb === 'claim' ? FEE : 2n * FEE;
      const kept = leftBy(verb === 'claim' ? claim : refund, swap);
      assert.equal(before.funder - after.funder, paid + kept + fees);
      assert.equal(after.payee - before.payee, paid - (verb === 'claim' ? FEE : 0n));
    }
  });

  test(`${asset}: each term changes the address, which takes no other terms`, async () => {
    const swap = await createSwap(asset);
    const seen = new Set([swap.escrow.escrow]);
    const changes: readonly Changes[] = [
      { hashlock: sha256(Buffer.from('another')) },
      { payout: swap.world.sender.address },
      { amount: AMOUNT + 1n },
      { timelock: swap.terms.timelock + 1n },
    ];
    for (const change of changes) {
      const other = await swapIn(swap.world, asset, change);
      assert.ok(!seen.has(other.escrow.escrow));
      seen.add(other.escrow.escrow);
      const mixed = instructions.withAccount(other.fund, 1, swap.escrow.escrow);
      await refused(send(swap.world, [mixed], [swap.funder]), 'WrongEscrow');
    }
  });

  test(`${asset}: a claim without the funder's account pays, and the rent waits`, async () => {
    const swap = await createSwap(asset);
    const before = moneyOf(swap);
    await accepted(fund(swap));
    const bare = instructions.claim(swap.escrow, secret, { refund: false });
    await accepted(send(swap.world, [bare]));
    const between = moneyOf(swap);
    assert.equal(between.payee - before.payee, isSol(swap) ? AMOUNT : 0n);
    assert.equal(between.vault, 0n);
    if (!isSol(swap)) assert.equal(between.destination, AMOUNT);
    assert.deepEqual(stateOf(swap), { status: STATUS.claimed, length: Number(STATE_BYTES) });
    await refused(claim(swap), 'NotOpen');
    await refused(send(swap.world, [bare]), 'NotOpen');
    await refused(fund(swap), 'AlreadyFunded');
    const wrong = instructions.withAccount(refundOf(swap.escrow), 1, swap.payee.address);
    await refused(send(swap.world, [wrong]), 'WrongRefund');
    // Long before the timelock.
    await accepted(send(swap.world, [refundOf(swap.escrow)]));
    const after = moneyOf(swap);
    assert.equal(before.funder - after.funder, tombstone(swap) + (isSol(swap) ? AMOUNT : 0n));
    assert.deepEqual(stateOf(swap), { status: STATUS.claimed, length: 1 });
    await refused(send(swap.world, [refundOf(swap.escrow)]), 'NotOpen');
  });

  test(`${asset}: a funder with an emptied account, or a program in it, stops no claim`, async () => {
    const emptied = await funded(asset);
    setAccount(emptied.world, emptied.funder.address, instructions.SYSTEM, new Uint8Array(), 0n);
    await accepted(claim(emptied));
    const program = await funded(asset);
    program.world.svm.addProgramFromFile(program.funder.address, programFile);
    await accepted(claim(program));
  });

  test(`${asset}: instruction data of any other form is refused`, async () => {
    const swap = await funded(asset);
    const other = await swapIn(swap.world, asset, { amount: 1n });
    const attempt = (base: Swap['fund'], data: Uint8Array) =>
      refused(
        send(swap.world, [{ ...base, data }], base === other.fund ? [swap.funder] : []),
        'BadInstruction',
      );
    const [funding, claiming] = [Buffer.from(other.fund.data!), Buffer.from(swap.claim.data!)];
    for (const length of [0, 1, 7, 8, 9, 151, 153]) {
      const data = Buffer.alloc(length);
      funding.copy(data);
      await attempt(other.fund, data);
    }
    for (const at of [0, 2, 3, 7]) {
      const data = Buffer.from(funding);
      data[at] = 4;
      await attempt(other.fund, data);
    }
    for (const at of [0, 2, 7]) {
      const data = Buffer.from(claiming);
      data[at] = 4;
      await attempt(swap.claim, data);
    }
    expire(swap);
    const closing = Buffer.from(swap.close.data!);
    for (const length of [8, 151, 153]) {
      const data = Buffer.alloc(length);
      closing.copy(data);
      await attempt(swap.close, data);
    }
    for (const at of [0, 2, 7]) {
      const data = Buffer.from(closing);
      data[at] = 4;
      await attempt(swap.close, data);
    }
    for (const data of [
      word(3n),
      word(2n + 256n),
      word(2n + (1n << 56n)),
      Buffer.alloc(0),
      Buffer.from([2]),
    ]) {
      await attempt(swap.refund, data);
    }
    await attempt(swap.refund, Buffer.concat([word(2n), word(0n)]));
    await accepted(refund(swap));
  });
}

test('one set of terms has one address: a lower bump is refused', async () => {
  for (const asset of assets) {
    const swap = await createSwap(asset);
    const hash = sha256(encodeTerms(swap.terms));
    let tried = 0;
    for (let bump = swap.escrow.bump - 1; tried < 3; bump--) {
      const marker = Buffer.from('ProgramDerivedAddress');
      const escrow = addressOf(sha256(hash, Buffer.from([bump]), bytesOf(PROGRAM), marker));
      if (!instructions.isOffCurve(escrow)) continue;
      tried += 1;
      const lower = { ...swap.escrow, escrow, bump };
      const vault = addressOf(
        sha256(bytesOf(escrow), Buffer.from('vault/v1'), bytesOf(lower.tokenProgram)),
      );
      const { fund: attempt } = verbs({ ...lower, vault }, swap.source);
      await refused(send(swap.world, [attempt], [swap.funder]), 'WrongEscrow');
    }
    await refused(
      send(
        swap.world,
        [verbs({ ...swap.escrow, bump: swap.escrow.bump - 1 }, swap.source).fund],
        [swap.funder],
      ),
      'WrongEscrow',
    );
  }
});

test('an amount that overflows with the rent is more than anyone has', async () => {
  const swap = await createSwap('SOL', { amount: (1n << 64n) - 1n });
  const { error } = await fund(swap);
  assert.match(error ?? '', /custom program error: 0x1/);
  assert.equal(stateOf(swap), undefined);
});

test('an amount below the rent of a wallet reaches no wallet that is empty', async () => {
  const empty = addressOf(sha256(Buffer.from('an empty wallet')));
  const swap = await funded('SOL', { amount: 890_879n, payout: empty });
  setAccount(swap.world, empty, instructions.SYSTEM, new Uint8Array(), 0n);
  assert.match((await claim(swap)).error ?? '', /InsufficientFundsForRent/);
  give(swap.world, empty, 1n);
  await accepted(claim(swap));
});

test('token dust in the vault does not hinder settling: it goes where the amount goes', async () => {
  for (const asset of ['SPL Token', 'Token-2022'] as const) {
    for (const settle of [claim, refund]) {
      const swap = await createSwap(asset);
      const before = moneyOf(swap);
      await accepted(fund(swap));
      dust(swap.world, swap.escrow.vault, 5n);
      if (settle === refund) expire(swap);
      await accepted(settle(swap));
      const after = moneyOf(swap);
      assert.equal(tokensOf(swap.world, swap.escrow.vault), undefined);
      if (settle === claim) assert.equal(after.destination, AMOUNT + 5n);
      else assert.equal(after.source! - before.source!, 5n);
    }
  }
});

test('with every feature of the runtime switched on the rules are the same', async () => {
  for (const asset of assets) {
    for (const settle of [claim, refund]) {
      const world = await createWorld('every feature');
      const swap = await swapIn(world, asset);
      give(world, swap.escrow.escrow, settle === claim ? 0n : 1n);
      const before = moneyOf(swap);
      await accepted(fund(swap));
      await refused(fund(swap), 'AlreadyFunded');
      await refused(refund(swap), 'TooEarly');
      if (settle === refund) expire(swap);
      await accepted(settle(swap));
      const after = moneyOf(swap);
      const paid = settle === claim && isSol(swap) ? AMOUNT : 0n;
      assert.equal(before.funder - after.funder, paid + leftBy(settle, swap) - before.escrow);
      assert.equal(after.escrow, leftBy(settle, swap));
      await refused(fund(swap), settle === claim ? 'AlreadyFunded' : 'TimelockTooNear');
    }
  }
});
