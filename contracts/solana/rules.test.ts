// The rules of an escrow, for SOL and for both token programs alike: each verb, the clock, the
// secret, replays, strays, what a claim leaves, and every lamport of rent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address, Instruction } from '@solana/kit';
import * as instructions from './testing/instructions.ts';
import {
  addressOf,
  bytesOf,
  encodeTerms,
  PROGRAM,
  SYSTEM,
  sha256,
  withAccount,
  withRole,
  word,
} from './testing/instructions.ts';
import { createScene, step } from './testing/scene.ts';
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
  pay,
  refund,
  refused,
  release,
  type Swap,
  secret,
  stateOf,
  swapIn,
  verbs,
} from './testing/swaps.ts';
import {
  balanceOf,
  dataOf,
  FEE,
  give,
  NOW,
  ownerOf,
  ownWorld,
  programFile,
  rentOf,
  SOL,
  send,
  sentBy,
  setAccount,
  setNow,
} from './testing/vm.ts';

const DAY = 24n * HOUR;
const TWO_HOURS: Changes = { timelock: NOW + 2n * HOUR };

/** The model of testing/scene.ts proves after each step who has what. */
const lives: readonly (readonly [promise: string, ...scripts: readonly string[]])[] = [
  [
    'a claim works until a second before the timelock, and pays the receiver',
    'fund refund:TooEarly @-1 refund:TooEarly claim',
    'fund @0 claim:TooLate',
  ],
  [
    'a refund works from the timelock on, and leaves nothing',
    'fund @-1 refund:TooEarly @0 refund claim:NotOpen refund:NotOpen close:Empty',
    'fund @1000 claim:TooLate refund',
  ],
  [
    'the rest of a claim goes to the funder from the timelock on, and not before',
    'fund claim close:TooEarly @-1800 close:TooEarly @-1 close:TooEarly @0 close close:Empty',
  ],
  [
    'the rest of a claim is neither refunded nor claimed',
    'fund claim refund:NotOpen claim:NotOpen @0 refund:NotOpen claim:NotOpen bare:NotOpen',
  ],
  [
    'a claim without the funder’s account pays, and the rent waits for a refund at any time',
    'fund bare claim:NotOpen bare:NotOpen fund:AlreadyFunded refund refund:NotOpen',
    'fund bare @-1 refund @0 close',
    'fund bare @0 refund close:Empty',
    'fund bare @-1 close:TooEarly @0 close',
  ],
  [
    'a release refunds before the timelock, leaves a mark until then, and comes once',
    'fund release release:NotOpen refund:NotOpen claim:NotOpen bare:NotOpen',
    'fund @-1 release close:TooEarly @0 release:NotOpen close close:Empty',
    'fund @0 release release:NotOpen close:Empty',
    'fund escrow+7 vault+8 dust+5 release escrow+9 @0 close',
    'release:NotOpen fund claim release:NotOpen',
    'fund bare release:NotOpen refund release:NotOpen',
    'fund bare @0 release:NotOpen refund',
  ],
  [
    'terms that were released are never funded again, before the timelock or after',
    'fund release fund:AlreadyFunded @-1800 fund:AlreadyFunded @-1799 fund:TimelockTooNear',
    'fund release escrow+1000000000 fund:AlreadyFunded @0 fund:TimelockTooNear close',
  ],
  [
    'an open escrow is never closed, before the timelock or after',
    'fund close:TooEarly @0 close:StillOpen refund',
  ],
  [
    'terms that were claimed are never funded again, more lamports at the address or not',
    'fund fund:AlreadyFunded claim fund:AlreadyFunded escrow+1000000000 fund:AlreadyFunded',
  ],
  [
    'an account that is gone stands for terms that nobody funds any more, the clock back or not',
    'fund @0 refund @3600 fund:TimelockTooNear @0 fund:TimelockTooNear @-1799 fund:TimelockTooNear',
  ],
  [
    'lamports sent ahead hinder no funding, and go to the funder',
    ...['1', '890880', '2039280', '5000000000'].flatMap((ahead) => [
      `escrow+${ahead} vault+${ahead} fund claim`,
      `escrow+${ahead} vault+${ahead} fund @0 refund`,
    ]),
  ],
  [
    'lamports and token dust sent to an open escrow hinder nothing',
    'fund escrow+7 vault+8 dust+5 claim',
    'fund escrow+7 vault+8 dust+5 bare refund',
    'fund escrow+7 vault+8 dust+5 @0 refund',
  ],
  [
    'lamports sent to what a claim left go to the funder with it',
    'fund claim escrow+1 @0 close',
    'fund bare escrow+1000000000 @0 close',
  ],
  [
    'a payment to an address that nobody funds goes to the funder of its terms',
    'escrow+7000000000 @-1 close:TooEarly @0 close',
    'fund @0 refund escrow+7000000000 @-1 close:TooEarly @0 close',
  ],
];

for (const asset of assets) {
  for (const [promise, ...scripts] of lives) {
    test(`${asset}: ${promise}`, async () => {
      for (const script of scripts) {
        const scene = await createScene(asset, [TWO_HOURS]);
        for (const each of script.split(' ')) await step(scene, each);
      }
    });
  }

  test(`${asset}: with every feature of the runtime switched on the rules are the same`, async () => {
    for (const script of [
      'fund fund:AlreadyFunded refund:TooEarly claim fund:AlreadyFunded @0 close',
      'escrow+1 fund @0 refund fund:TimelockTooNear',
    ]) {
      const scene = await createScene(asset, [TWO_HOURS], 'every feature');
      for (const each of script.split(' ')) await step(scene, each);
    }
  });

  test(`${asset}: a timelock is at least 30 minutes and at most 30 days ahead`, async () => {
    const cases: readonly (readonly [bigint, string?])[] = [
      [-1n, 'TimelockTooNear'],
      [0n, 'TimelockTooNear'],
      [HOUR / 2n - 1n, 'TimelockTooNear'],
      [HOUR / 2n],
      [30n * DAY],
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

  test(`${asset}: zero terms and a payout that is the funder are refused`, async () => {
    const { funder } = await createSwap(asset);
    for (const [changes, error] of [
      [{ amount: 0n }, 'ZeroTerm'],
      [{ hashlock: new Uint8Array(32) }, 'ZeroTerm'],
      [{ payout: addressOf(new Uint8Array(32)) }, 'ZeroTerm'],
      [{ payout: funder.address }, 'PayoutIsRefund'],
    ] as const) {
      await refused(fund(await createSwap(asset, changes)), error);
    }
  });

  test(`${asset}: only the secret of exactly 32 bytes claims`, async () => {
    const swap = await funded(asset);
    const attempt = (tail: Uint8Array) =>
      send(swap.world, [{ ...swap.claim, data: Buffer.concat([headOf(swap.claim), tail]) }]);
    const flipped = (at: number) => secret.map((byte, index) => (index === at ? byte ^ 1 : byte));
    for (const [tail, error] of [
      [secret.subarray(0, 31), 'BadInstruction'],
      [Buffer.concat([secret, Buffer.alloc(1)]), 'BadInstruction'],
      [Buffer.alloc(0), 'BadInstruction'],
      [Buffer.concat([secret, secret]), 'BadInstruction'],
      [Buffer.alloc(32), 'WrongSecret'],
      [sha256(secret), 'WrongSecret'],
      ...[0, 7, 8, 15, 16, 23, 24, 31].map((at) => [flipped(at), 'WrongSecret'] as const),
    ] as const) {
      await refused(attempt(tail), error);
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

  test(`${asset}: only the funder of the terms funds, by its signature`, async () => {
    const swap = await createSwap(asset);
    await refused(send(swap.world, [withRole(swap.fund, 0, 'write')]), 'NotSigned');
    const other = withRole(withAccount(swap.fund, 0, swap.payee.address), 0, 'writeSign');
    await refused(send(swap.world, [other], [swap.payee]), 'WrongFunder');
    await accepted(fund(swap));
  });

  test(`${asset}: only the payout of the terms releases, by its signature`, async () => {
    const swap = await funded(asset);
    const { world, funder, payee } = swap;
    const last = swap.release.accounts!.length - 1;
    await refused(send(world, [withRole(swap.release, last, 'read')]), 'NotSigned');
    const by = (address: Address) =>
      withRole(withAccount(swap.release, last, address), last, 'sign');
    await refused(send(world, [by(world.sender.address)]), 'WrongPayout');
    await refused(send(world, [by(funder.address)], [funder]), 'BadAccounts');
    // The payout's signature makes a claim and a refund no other than they are.
    const unconsented = { ...swap.release, data: word(2n) };
    await refused(send(world, [unconsented], [payee]), 'TooEarly');
    await accepted(release(swap));
  });

  test(`${asset}: a claim, refund and closing need no signature but their sender’s`, async () => {
    for (const list of [['claim', 'close'], ['refund']] as const) {
      const swap = await funded(asset);
      const before = balanceOf(swap.world, swap.world.sender.address);
      for (const verb of list) {
        for (const { role } of swap[verb].accounts ?? []) assert.ok(role < 2, 'nobody signs');
        if (verb !== 'claim') expire(swap);
        await accepted(send(swap.world, [swap[verb]]));
      }
      const spent = before - balanceOf(swap.world, swap.world.sender.address);
      assert.equal(spent, FEE * BigInt(list.length), 'and who sends gains nothing');
    }
  });

  test(`${asset}: the funder and the payee may send and pay for their transactions`, async () => {
    for (const verb of ['claim', 'refund', 'release'] as const) {
      const swap = await createSwap(asset);
      const { world, funder, payee } = swap;
      const before = moneyOf(swap);
      await accepted(send(sentBy(world, funder), [swap.fund]));
      if (verb === 'refund') expire(swap);
      await accepted(send(sentBy(world, verb === 'refund' ? funder : payee), [swap[verb]]));
      const after = moneyOf(swap);
      const paid = asset === 'SOL' && verb === 'claim' ? AMOUNT : 0n;
      const [fees, kept] = verb === 'refund' ? [2n * FEE, 0n] : [FEE, rentOf(world, 1n)];
      assert.equal(before.funder - after.funder, paid + kept + fees);
      assert.equal(after.payee - before.payee, paid - (verb === 'refund' ? 0n : FEE));
      assert.equal(after.source, verb === 'claim' ? after.source : before.source);
    }
  });

  test(`${asset}: each term and a bump make the address, for a funding and a closing`, async () => {
    const swap = await createSwap(asset);
    const { world, terms, escrow, source } = swap;
    const seen = new Set([escrow.escrow]);
    for (const change of [
      { hashlock: sha256(Buffer.from('another')) },
      { payout: world.sender.address },
      { amount: AMOUNT + 1n },
      { timelock: terms.timelock + 1n },
    ]) {
      const other = await swapIn(world, asset, change);
      assert.ok(!seen.has(other.escrow.escrow));
      seen.add(other.escrow.escrow);
      const mixed = withAccount(other.fund, 1, escrow.escrow);
      await refused(send(world, [mixed], [swap.funder]), 'WrongEscrow');
    }
    for (const lower of await lowerAddresses(swap)) {
      const attempt = verbs(lower, source).fund;
      await refused(send(world, [attempt], [swap.funder]), 'WrongEscrow');
    }
    await accepted(fund(swap));
    await accepted(claim(swap));
    setNow(world, terms.timelock + 10n);
    for (const change of [
      { hashlock: sha256(Buffer.from('another')) },
      { payout: world.sender.address },
      { mint: addressOf(sha256(Buffer.from('another mint'))) },
      { amount: AMOUNT + 1n },
      { timelock: terms.timelock - 1n },
      { refund: world.sender.address },
    ]) {
      const attempt = instructions.close({ ...escrow, terms: { ...terms, ...change } });
      await refused(send(world, [attempt]), 'WrongEscrow');
    }
    const lower = instructions.close({ ...escrow, bump: escrow.bump - 1 });
    await refused(send(world, [lower]), 'WrongEscrow');
    await accepted(close(swap));
  });

  test(`${asset}: a funder with an emptied account, or a program in it, stops no claim`, async () => {
    const emptied = await funded(asset);
    setAccount(emptied.world, emptied.funder.address, SYSTEM, new Uint8Array(), 0n);
    await accepted(claim(emptied));
    const program = await swapIn(await ownWorld(), asset);
    await accepted(fund(program));
    program.world.svm.addProgramFromFile(program.funder.address, programFile);
    await accepted(claim(program));
  });

  test(`${asset}: instruction data of any other form is refused`, async () => {
    const swap = await funded(asset);
    const other = await swapIn(swap.world, asset, { amount: 1n });
    const cut = (base: Instruction, length: number) => {
      const data = Buffer.alloc(length);
      Buffer.from(base.data!).copy(data);
      return { ...base, data };
    };
    const headed = (base: Instruction, at: number, byte = 4) => {
      const data = Buffer.from(base.data!);
      data[at] = byte;
      return { ...base, data };
    };
    const early = [
      ...[0, 1, 7, 8, 9, 151, 153].map((length) => cut(other.fund, length)),
      ...[0, 2, 3, 7].map((at) => headed(other.fund, at)),
      ...[0, 2, 7].map((at) => headed(swap.claim, at)),
    ];
    const late = [
      ...[8, 151, 153].map((length) => cut(swap.close, length)),
      ...[0, 2, 7].map((at) => headed(swap.close, at)),
      ...[0, 1, 16].map((length) => cut(swap.refund, length)),
      ...[0, 1, 16].map((length) => cut(swap.release, length)),
      ...[swap.refund, swap.release].map((each) => headed(each, 0, 3)),
      headed(swap.release, 0, 5),
      headed(swap.release, 1, 1),
      ...[1, 7].map((at) => headed(swap.refund, at, 1)),
    ];
    for (const each of early) {
      const signers = each.accounts === other.fund.accounts ? [swap.funder] : [];
      await refused(send(swap.world, [each], signers), 'BadInstruction');
    }
    expire(swap);
    for (const each of late) {
      const signers = each.accounts === swap.release.accounts ? [swap.payee] : [];
      await refused(send(swap.world, [each], signers), 'BadInstruction');
    }
    await accepted(refund(swap));
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
      assert.equal(ownerOf(world, escrow.escrow), undefined);
    }
  });
}

const headOf = ({ data }: Instruction): Uint8Array => data!.subarray(0, 8);

const addressWith = ({ terms }: Swap, bump: number): Address => {
  const marker = Buffer.from('ProgramDerivedAddress');
  const hash = sha256(encodeTerms(terms));
  return addressOf(sha256(hash, Buffer.from([bump]), bytesOf(PROGRAM), marker));
};

/** Three escrows of the terms at lower bumps, with their vaults; the right one with another. */
async function lowerAddresses(swap: Swap): Promise<readonly instructions.Escrow[]> {
  const found: instructions.Escrow[] = [{ ...swap.escrow, bump: swap.escrow.bump - 1 }];
  for (let bump = swap.escrow.bump - 1; found.length < 4; bump--) {
    const escrow = addressWith(swap, bump);
    if (!instructions.isOffCurve(escrow)) continue;
    const seeds = [bytesOf(escrow), Buffer.from('vault/v1'), bytesOf(swap.escrow.tokenProgram)];
    found.push({ ...swap.escrow, escrow, bump, vault: addressOf(sha256(...seeds)) });
  }
  return found;
}

test('a payment to another address of the terms goes to the funder, off the curve only', async () => {
  const swap = await createSwap('SOL');
  const { world, terms } = swap;
  expire(swap);
  const seen = { off: 0, on: 0 };
  for (let bump = 255; bump > 0 && (seen.off < 3 || seen.on < 3); bump--) {
    const escrow = addressWith(swap, bump);
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

test('an amount that overflows with the rent is more than anyone has', async () => {
  const swap = await createSwap('SOL', { amount: (1n << 64n) - 1n });
  const { error } = await fund(swap);
  assert.match(error ?? '', /custom program error: 0x1/);
  assert.equal(stateOf(swap), undefined);
});

test('an amount below the rent of a wallet reaches no wallet that is empty', async () => {
  const empty = addressOf(sha256(Buffer.from('an empty wallet')));
  const swap = await funded('SOL', { amount: 890_879n, payout: empty });
  setAccount(swap.world, empty, SYSTEM, new Uint8Array(), 0n);
  assert.match((await claim(swap)).error ?? '', /InsufficientFundsForRent/);
  give(swap.world, empty, 1n);
  await accepted(claim(swap));
});
