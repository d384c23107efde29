// What a claim leaves, and what is sent to an address by mistake, goes to the funder from the
// timelock on, and nothing else does: so no lamport is locked for ever.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountRole, type Address, type Instruction } from '@solana/kit';
import * as instructions from './testing/instructions.ts';
import {
  addressOf,
  bytesOf,
  encodeTerms,
  PROGRAM,
  SYSTEM,
  sha256,
  word,
} from './testing/instructions.ts';
import {
  AMOUNT,
  accepted,
  assets,
  type Changes,
  claim,
  close,
  createSwap,
  expire,
  fund,
  funded,
  HOUR,
  moneyOf,
  refund,
  refused,
  type Swap,
  secret,
  stateOf,
  swapIn,
} from './testing/swaps.ts';
import {
  balanceOf,
  createWorld,
  dataOf,
  FEE,
  give,
  NOW,
  ownerOf,
  rentOf,
  SOL,
  send,
  setAccount,
  setNow,
} from './testing/vm.ts';

const half = HOUR / 2n;

function isGone({ world, escrow }: Swap): void {
  assert.equal(balanceOf(world, escrow.escrow), 0n);
  assert.equal(ownerOf(world, escrow.escrow), undefined);
}

/** Lamports of the sender, by the system program. */
function pay({ world }: Swap, to: Address, lamports: bigint): Instruction {
  const number = Buffer.from([2, 0, 0, 0]);
  return {
    programAddress: SYSTEM,
    accounts: [
      { address: world.sender.address, role: AccountRole.WRITABLE_SIGNER },
      { address: to, role: AccountRole.WRITABLE },
    ],
    data: Buffer.concat([number, word(lamports)]),
  };
}

for (const asset of assets) {
  test(`${asset}: what a claim left goes to the funder from the timelock on, and not before`, async () => {
    const swap = await createSwap(asset);
    const { world, terms } = swap;
    const before = moneyOf(swap);
    await accepted(fund(swap));
    await accepted(claim(swap));
    for (const at of [NOW, terms.timelock - half, terms.timelock - 1n]) {
      setNow(world, at);
      await refused(close(swap), 'TooEarly');
    }
    expire(swap);
    const sender = balanceOf(world, world.sender.address);
    await accepted(close(swap));
    isGone(swap);
    const paid = asset === 'SOL' ? AMOUNT : 0n;
    assert.equal(before.funder - moneyOf(swap).funder, paid);
    // Nobody signs but who sends it, and that one gains nothing.
    assert.equal(sender - balanceOf(world, world.sender.address), FEE);
    await refused(close(swap), 'Empty');
  });

  test(`${asset}: lamports sent to what a claim left go to the funder with it`, async () => {
    for (const more of [1n, SOL]) {
      const swap = await createSwap(asset);
      const before = moneyOf(swap);
      await accepted(fund(swap));
      await accepted(claim(swap));
      give(swap.world, swap.escrow.escrow, more);
      expire(swap);
      await accepted(close(swap));
      isGone(swap);
      const paid = asset === 'SOL' ? AMOUNT : 0n;
      assert.equal(before.funder - moneyOf(swap).funder, paid - more);
    }
  });

  test(`${asset}: a claim that left the funder's account out is closed whole`, async () => {
    const swap = await createSwap(asset);
    const before = moneyOf(swap);
    await accepted(fund(swap));
    await accepted(send(swap.world, [instructions.claim(swap.escrow, secret, { refund: false })]));
    setNow(swap.world, swap.terms.timelock - 1n);
    await refused(close(swap), 'TooEarly');
    expire(swap);
    await accepted(close(swap));
    isGone(swap);
    const paid = asset === 'SOL' ? AMOUNT : 0n;
    assert.equal(before.funder - moneyOf(swap).funder, paid);
  });

  test(`${asset}: what a claim left is refunded whole from the timelock on`, async () => {
    const swap = await createSwap(asset);
    const before = moneyOf(swap);
    await accepted(fund(swap));
    await accepted(send(swap.world, [instructions.claim(swap.escrow, secret, { refund: false })]));
    for (const [ahead, left] of [
      [-1n, rentOf(swap.world, 1n)],
      [0n, 0n],
    ] as const) {
      const { world, escrow } = swap;
      const account = dataOf(world, escrow.escrow)!;
      const lamports = balanceOf(world, escrow.escrow);
      setNow(world, swap.terms.timelock + ahead);
      const wrong = instructions.withAccount(instructions.refund(escrow), 1, swap.payee.address);
      await refused(send(world, [wrong]), 'WrongRefund');
      await accepted(send(world, [instructions.refund(escrow)]));
      assert.equal(balanceOf(world, escrow.escrow), left);
      const paid = asset === 'SOL' ? AMOUNT : 0n;
      assert.equal(before.funder - moneyOf(swap).funder, paid + left);
      // And once more, as it was.
      if (left === 0n) continue;
      setAccount(world, escrow.escrow, PROGRAM, account, lamports);
      setAccount(
        world,
        swap.funder.address,
        SYSTEM,
        new Uint8Array(),
        before.funder - paid - lamports,
      );
    }
  });

  test(`${asset}: what is open is never closed, before the timelock or after`, async () => {
    const swap = await funded(asset);
    const before = moneyOf(swap);
    await refused(close(swap), 'TooEarly');
    expire(swap);
    await refused(close(swap), 'StillOpen');
    assert.deepEqual(moneyOf(swap), before);
    assert.equal(stateOf(swap)?.status, 1);
    await accepted(refund(swap));
    isGone(swap);
  });

  test(`${asset}: what a claim left is neither refunded nor claimed, and a refund leaves nothing`, async () => {
    const claimed = await funded(asset);
    await accepted(claim(claimed));
    for (const at of [NOW, claimed.terms.timelock]) {
      setNow(claimed.world, at);
      const short = instructions.refund(claimed.escrow);
      for (const each of [claimed.refund, short, claimed.claim]) {
        await refused(send(claimed.world, [each]), 'NotOpen');
      }
    }
    const refunded = await funded(asset);
    expire(refunded);
    await accepted(refund(refunded));
    isGone(refunded);
    for (const each of [refunded.refund, instructions.refund(refunded.escrow), refunded.claim]) {
      await refused(send(refunded.world, [each]), 'NotOpen');
    }
    await refused(close(refunded), 'Empty');
  });

  test(`${asset}: what is sent to an address that nobody funds goes to the funder of its terms`, async () => {
    for (const isRefunded of [false, true]) {
      const swap = await createSwap(asset);
      const { world, escrow, terms } = swap;
      if (isRefunded) {
        await accepted(fund(swap));
        expire(swap);
        await accepted(refund(swap));
      }
      give(world, escrow.escrow, 7n * SOL);
      const before = moneyOf(swap);
      setNow(world, terms.timelock - 1n);
      await refused(close(swap), 'TooEarly');
      expire(swap);
      await accepted(close(swap));
      isGone(swap);
      assert.equal(moneyOf(swap).funder - before.funder, 7n * SOL);
    }
  });

  test(`${asset}: the terms, and a bump of them, make the address that is closed`, async () => {
    const swap = await funded(asset);
    await accepted(claim(swap));
    const { world, terms, escrow } = swap;
    setNow(world, terms.timelock + 10n);
    const others: readonly Changes[] = [
      { hashlock: sha256(Buffer.from('another')) },
      { payout: world.sender.address },
      { mint: addressOf(sha256(Buffer.from('another mint'))) },
      { amount: AMOUNT + 1n },
      { timelock: terms.timelock - 1n },
      { refund: world.sender.address },
    ];
    for (const other of others) {
      const attempt = instructions.close({ ...escrow, terms: { ...terms, ...other } });
      await refused(send(world, [attempt]), 'WrongEscrow');
    }
    const lower = instructions.close({ ...escrow, bump: escrow.bump - 1 });
    await refused(send(world, [lower]), 'WrongEscrow');
    await accepted(close(swap));
  });

  test(`${asset}: an account that is gone is brought back by nobody, nor in the same transaction`, async () => {
    for (const settle of ['refund', 'close'] as const) {
      const swap = await funded(asset);
      const { world, escrow } = swap;
      if (settle === 'close') await accepted(claim(swap));
      expire(swap);
      const before = moneyOf(swap);
      // Lamports that come before the transaction ends keep an account, whatever is in it.
      const revive = pay(swap, escrow.escrow, rentOf(world, 184n));
      for (const again of [swap.refund, swap.claim]) {
        await refused(send(world, [swap[settle], revive, again]), 'NotOpen');
      }
      assert.deepEqual(moneyOf(swap), before);
      await accepted(send(world, [swap[settle], revive]));
      assert.equal(ownerOf(world, escrow.escrow), SYSTEM);
      assert.deepEqual(dataOf(world, escrow.escrow), Buffer.alloc(0));
      await refused(fund(swap), 'TimelockTooNear');
      await refused(refund(swap), 'NotOpen');
      await accepted(close(swap));
      isGone(swap);
    }
  });

  test(`${asset}: every feature of the runtime on, accounts are closed all the same`, async () => {
    for (const settle of [refund, close]) {
      const world = await createWorld('every feature');
      const swap = await swapIn(world, asset);
      await accepted(fund(swap));
      if (settle === close) await accepted(claim(swap));
      expire(swap);
      await accepted(settle(swap));
      isGone(swap);
    }
  });
}

test('what is sent to another address of the terms goes to the funder too, off the curve only', async () => {
  const swap = await createSwap('SOL');
  const { world, terms } = swap;
  const hash = sha256(encodeTerms(terms));
  const marker = Buffer.from('ProgramDerivedAddress');
  expire(swap);
  const seen = { off: 0, on: 0 };
  for (let bump = 255; bump > 0 && (seen.off < 3 || seen.on < 3); bump--) {
    const escrow = addressOf(sha256(hash, Buffer.from([bump]), bytesOf(PROGRAM), marker));
    give(world, escrow, SOL);
    const isOff = instructions.isOffCurve(escrow);
    seen[isOff ? 'off' : 'on'] += 1;
    const before = balanceOf(world, terms.refund);
    const { error } = await send(world, [instructions.close({ ...swap.escrow, escrow, bump })]);
    // A key may sign for an address on the curve: the runtime lets no program do so.
    assert.equal(error === undefined, isOff, error);
    assert.equal(balanceOf(world, terms.refund) - before, isOff ? SOL : 0n);
  }
});
