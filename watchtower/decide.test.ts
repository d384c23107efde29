// What follows from what a chain shows and what was signed: a table.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingSeen } from '../core/facts.ts';
import type { Attempt } from './db/attempts.ts';
import { asksGates, bumpAfter, decide, graceOf, hasWaited, type Look } from './decide.ts';
import {
  allowanceOf,
  allowanceOfRelay,
  dayOf,
  type Funds,
  freeNonce,
  gapsIn,
  mostToFund,
  mostToLand,
  relayShort,
} from './spending.ts';

const now = 1_800_000_000;
const seen = (txid: string, confirmations: number, deep = false) => ({ txid, confirmations, deep });
const look = (more: Partial<Look> = {}): Look => ({
  verb: 'claim',
  closes: false,
  facts: { ...nothingSeen, funded: seen('f', 9, true), balance: 10n, empty: false },
  amount: 10n,
  timelock: now + 7_200,
  clock: now,
  wall: now,
  driftSeconds: 60,
  createdAt: now,
  isPublic: true,
  revealBy: now + 3_600,
  barred: false,
  hurried: false,
  yields: false,
  outbid: true,
  attempts: [],
  riders: [],
  ...more,
});
const facts = (more: Partial<Look['facts']>) => ({ ...look().facts, ...more });
const attempt = (more: Partial<Attempt> = {}): Attempt => ({
  id: 1,
  chain: 'evm-dev',
  jobId: 1,
  purpose: 'secret',
  verb: 'claim',
  legs: 1,
  txid: 'own',
  nonce: 3,
  sealed: Buffer.alloc(1),
  sealedVersion: 1,
  offer: 1n,
  mostCost: 1n,
  charged: 1n,
  diesAt: null,
  signedAt: new Date(now * 1_000),
  sentAt: new Date(now * 1_000),
  shownAt: null,
  outcome: 'unknown',
  ...more,
});
const unsent = attempt({ sentAt: null });
const gone = attempt({ outcome: 'gone' });
const old = attempt({ signedAt: new Date((now - 3_000) * 1_000) });
const dying = attempt({ nonce: null });
const left = {
  verb: 'refund',
  closes: true,
  facts: facts({ claimed: seen('p', 9, true), balance: 0n, empty: true }),
} as const;

const shallow = facts({ claimed: seen('p', 1) });
const over = facts({ claimed: seen('p', 9, true) });
const past = { clock: now + 7_200, wall: now + 7_140 };
const late = { isPublic: false, wall: now + 3_601 };
const empty = { ...unsent, verb: 'void' } as const;

for (const [what, given, wanted] of [
  ['signs when nothing was', {}, 'sign'],
  ['waits for a funding', { facts: nothingSeen }, 'wait'],
  ['and for the whole amount of it', { facts: facts({ balance: 9n }) }, 'wait'],
  [
    'but not where it was claimed',
    { facts: facts({ balance: 0n, claimed: seen('own', 0) }), attempts: [attempt()] },
    'send',
  ],
  ['waits for a claim of the party', { facts: shallow }, 'wait'],
  ['ends when the party’s claim is deep', { facts: over }, 'end'],
  ['gives up past the timelock', past, 'end'],
  ['takes the nonce of what was sent then', { ...past, attempts: [attempt()] }, 'void'],
  ['and not by the clock of one node', { ...past, wall: now + 7_139 }, 'sign'],
  [
    'which does not keep from sending again what was sent',
    { clock: now + 7_200, attempts: [attempt()] },
    'send',
  ],
  ['tries until the timelock', { clock: now + 7_199 }, 'sign'],
  ['refunds from the timelock on', { verb: 'refund', clock: now + 7_200 }, 'sign'],
  ['refunds nothing before it', { verb: 'refund', clock: now + 7_199 }, 'wait'],
  ['gives back from then on what a claim left', { ...left, clock: now + 7_200 }, 'sign'],
  ['and not before', { ...left, clock: now + 7_199 }, 'wait'],
  [
    'and has once it is deep',
    { ...left, attempts: [attempt({ verb: 'refund', outcome: 'deep' })] },
    'end',
  ],
  ['sends again what nodes forgot', { attempts: [attempt()] }, 'send'],
  ['waits for what nodes have', { attempts: [attempt({ outcome: 'pending' })] }, 'wait'],
  ['waits for depth', { attempts: [attempt({ outcome: 'mined' })] }, 'wait'],
  ['pays more for what waited long', { attempts: [old] }, 'sign'],
  ['leaves as it is what more would not help', { attempts: [old], outbid: false }, 'send'],
  [
    'and gives it to all nodes again where one has had it for long',
    { attempts: [{ ...old, outcome: 'pending' }], outbid: false },
    'send',
  ],
  ['and not for what dies by itself', { attempts: [{ ...old, nonce: null }] }, 'send'],
  ['signs anew what is dead', { attempts: [gone] }, 'sign'],
  ['takes the nonce of what is of no use', { facts: over, attempts: [attempt()] }, 'void'],
  [
    'sends what is to take it, and has not left',
    { facts: over, attempts: [attempt(), empty] },
    'send',
  ],
  ['gives that up where nothing has left', { facts: over, attempts: [unsent, empty] }, 'give up'],
  ['lets it die where there is no nonce', { facts: over, attempts: [dying] }, 'wait'],
  ['reveals what never left in time', { isPublic: false, attempts: [unsent] }, 'send'],
  ['and gives it up afterwards', { ...late, attempts: [unsent] }, 'give up'],
  ['takes the nonce of what nodes refused until then', { ...late, attempts: [attempt()] }, 'void'],
  ['and waits where it dies by itself', { ...late, attempts: [dying] }, 'wait'],
  ['sends what was shown, late or not', { attempts: [attempt()], revealBy: now - 1 }, 'send'],
  ['and signs it anew where it died', { attempts: [gone], revealBy: now - 1 }, 'sign'],
  ['rests after a failure', { attempts: [attempt({ outcome: 'failed' })] }, 'wait'],
  [
    'and gives up after five',
    { attempts: Array.from({ length: 5 }, () => attempt({ outcome: 'failed' })) },
    'end',
  ],
] as const satisfies readonly (readonly [string, Partial<Look>, string])[]) {
  test(`the keeper ${what}`, () => {
    assert.equal(decide(look(given)).do, wanted);
  });
}

test('what would show the secret asks the gates first, and only that', () => {
  const reveals = (given: Partial<Look>) => (decide(look(given)) as { reveals?: boolean }).reveals;
  assert.equal(reveals({ isPublic: false, attempts: [unsent] }), true);
  assert.equal(reveals({ isPublic: false, attempts: [attempt()] }), true);
  assert.equal(reveals({ isPublic: false }), true);
  assert.equal(reveals({ attempts: [unsent] }), false);
  assert.equal(reveals({}), false);
});

test('what has nothing to do for now gives its nonce up for a relay behind it', () => {
  const aged = { facts: shallow, yields: true, attempts: [old] };
  const next = (more: Partial<Look>) => decide(look({ ...aged, ...more })).do;
  assert.equal(next({}), 'void');
  assert.equal(next({ yields: false }), 'wait');
  assert.equal(next({ attempts: [attempt()] }), 'wait', 'a moment is left to it');
  assert.equal(next({ attempts: [] }), 'wait');
});

test('graces shrink and fees rise as the timelock nears', () => {
  const graces = { claimSeconds: 300, refundSeconds: 3_600 };
  assert.equal(graceOf('claim', graces, now + 7_200, now), 300);
  assert.equal(graceOf('claim', graces, now + 800, now), 100);
  assert.equal(graceOf('claim', graces, now - 1, now), 0);
  assert.equal(graceOf('refund', graces, now - 1, now), 3_600);
  assert.equal(bumpAfter(look()), 450);
  assert.equal(bumpAfter(look({ timelock: now + 160 })), 20);
  assert.equal(bumpAfter(look({ hurried: true })), 20);
});

test('what waited long may be made to pay more: the newest that no block has', () => {
  const waited = (attempts: readonly Attempt[]) => hasWaited(look({ attempts }))?.id ?? null;
  const at = (id: number, more: Partial<Attempt> = {}) => ({ ...old, id, ...more });
  assert.equal(waited([at(1), at(2), at(3, { outcome: 'gone' })]), 2);
  assert.equal(waited([at(1, { outcome: 'mined' })]), null);
  assert.equal(waited([at(1, { nonce: null })]), null);
  assert.equal(waited([at(1, { sentAt: null })]), null);
  assert.equal(waited([at(1), attempt({ id: 2 })]), null, 'it has not waited yet');
});

const funds = (more: Partial<Funds['sums']> = {}): Funds => ({
  balance: 1_000n,
  dailyCap: 400n,
  since: dayOf(now * 1_000),
  sums: {
    reserved: 0n,
    relayReserved: 0n,
    spent: 0n,
    spentOn: 0n,
    spentOnRefunds: 0n,
    underWay: 0,
    refundsUnderWay: 0,
    relaysUnderWay: 0,
    fundingsUnderWay: 0,
    ...more,
  },
});
const charged = (amount: bigint, signedAt = new Date(now * 1_000)) => ({
  charged: amount,
  signedAt,
  purpose: 'secret' as const,
});

const most = (
  of: Funds,
  instead: Parameters<typeof allowanceOf>[1] = null,
  purpose: Parameters<typeof allowanceOf>[2] = 'secret',
) => Object.values(allowanceOf(of, instead, purpose))[0];

test('the cap, one account’s share of it, and what is reserved bound what may be signed', () => {
  assert.equal(most(funds()), 100n);
  assert.equal(most(funds({ spent: 350n })), 50n);
  assert.equal(most(funds({ spent: 400n })), 'cap');
  assert.equal(most(funds({ spent: 400n }), charged(30n)), 30n);
  assert.equal(most(funds({ spent: 100n, spentOn: 100n })), 'share');
  assert.equal(most(funds({ reserved: 990n })), 10n);
  assert.equal(most(funds({ reserved: 1_000n })), 'balance');
  assert.equal(most(funds({ underWay: 8 })), 'busy');
  assert.equal(most(funds({ underWay: 8 }), charged(5n)), 105n);
  assert.deepEqual(allowanceOfRelay(funds({ reserved: 900n }), 100n), { most: 100n });
  assert.deepEqual(allowanceOfRelay(funds({ reserved: 901n }), 100n), { short: 'balance' });
});

test('half of what refunds may take is none of what brings back the rest of claims', () => {
  const after = funds({ spentOnRefunds: 70n });
  assert.equal(most(after, null, 'close'), 30n);
  assert.equal(most(after, null, 'refund'), 100n);
  const busy = funds({ underWay: 2, refundsUnderWay: 2 });
  assert.equal(most(busy, null, 'close'), 'busy');
  assert.equal(most(busy, null, 'refund'), 100n);
});

test('what must land takes what is kept for it, or would be now, and not all that is free', () => {
  const toLand = (wouldKeep: bigint, { cap = 4_000n, reserved = 0n } = {}) =>
    mostToLand(funds({ reserved }), { cap }, { kept: 100n, wouldKeep });
  assert.equal(toLand(40n), 100n);
  assert.equal(toLand(300n), 300n, 'fees have risen');
  assert.equal(toLand(300n, { reserved: 800n }), 200n, 'the rest is of others');
  assert.equal(toLand(300n, { reserved: 1_000n }), 0n);
  assert.equal(toLand(10n ** 30n, { cap: 1_600n }), 400n, 'a quarter of what relays may take');
  assert.equal(toLand(10n ** 30n, { cap: 0n }), 100n, 'what was kept is theirs whatever the cap');
});

test('what was charged on a day before raises neither the cap of this one nor a share', () => {
  const before = charged(100n, new Date(dayOf(now * 1_000).getTime() - 1));
  assert.equal(most(funds({ spent: 400n }), before), 'cap');
  assert.equal(most(funds({ spent: 100n, spentOn: 100n }), before), 'share');
  assert.equal(most(funds(), before), 100n);
});

test('what a relay was charged raises neither the cap of the keeper’s own nor a share', () => {
  const relayed = { ...charged(100n), purpose: 'relay' as const };
  assert.equal(most(funds({ spent: 400n }), relayed), 'cap');
  assert.equal(most(funds(), relayed), 100n);
});

test('half of a day’s cap is for claims alone', () => {
  const half = funds({ spent: 200n, spentOnRefunds: 200n });
  assert.equal(most(half, null, 'refund'), 'cap');
  assert.equal(most(half), 100n);
  assert.equal(most(half, charged(30n), 'refund'), 30n);
  const claims = funds({ spent: 200n });
  assert.equal(most(claims, null, 'refund'), 100n, 'they leave it the rest');
  assert.equal(most(funds({ spent: 390n }), null, 'refund'), 10n);
});

test('half of the places of the keeper’s own is for claims alone', () => {
  const half = funds({ underWay: 4, refundsUnderWay: 4 });
  assert.equal(most(half, null, 'refund'), 'busy');
  assert.equal(most(half, charged(5n), 'refund'), 105n);
  assert.equal(most(half), 100n);
});

const relays = { cap: 400n, perAccount: 3, tokenAccounts: 4 };
const none = { own: 0, ownTaken: 0n, taken: 0n, ownMade: 0, made: 0 };

for (const [what, sums, wanted, short] of [
  ['the number of one account', { own: 3 }, {}, { what: 'number', limit: 3n, used: 3n }],
  ['its share', { ownTaken: 91n }, {}, { what: 'share', limit: 100n, used: 91n }],
  ['what all may take', { taken: 391n }, {}, { what: 'cap', limit: 400n, used: 391n }],
  [
    'token accounts for one',
    { ownMade: 1 },
    { makesAccount: true },
    { what: 'accounts', limit: 1n, used: 1n },
  ],
  [
    'token accounts for all',
    { made: 4 },
    { makesAccount: true },
    { what: 'all accounts', limit: 4n, used: 4n },
  ],
  ['nothing where no token account is made', { ownMade: 9, made: 9 }, {}, null],
  ['nothing up to the last unit', { own: 2, ownTaken: 90n, taken: 390n }, {}, null],
] as const) {
  test(`relays of a day: ${what} bounds them`, () => {
    const asked = { reserve: 10n, makesAccount: false, ...wanted };
    assert.deepEqual(relayShort(relays, { ...none, ...sums }, asked), short);
  });
}

test('neither relays nor the keeper’s own take the places of the other', () => {
  assert.equal(most(funds({ relaysUnderWay: 8 })), 100n);
  assert.equal(most(funds({ underWay: 8 })), 'busy');
  assert.deepEqual(allowanceOfRelay(funds({ underWay: 8 }), 1n), { most: 1_000n });
  assert.deepEqual(allowanceOfRelay(funds({ relaysUnderWay: 8 }), 1n), { short: 'busy' });
});

test('nonces: the lowest free one, and the gaps that others wait behind', () => {
  assert.equal(freeNonce(5, []), 5);
  assert.equal(freeNonce(5, [5, 6, 8]), 7);
  assert.equal(freeNonce(5, [3, null]), 5);
  assert.deepEqual(gapsIn(5, [5, 6, 8, 10], 8), [7, 9]);
  assert.deepEqual(gapsIn(5, [], 8), []);
  assert.deepEqual(gapsIn(5, [3, 4], 8), []);
  assert.deepEqual(gapsIn(5, [2_000_000_000], 3), [5, 6, 7], 'however far it is');
  assert.equal(dayOf(Date.UTC(2026, 10, 21, 23, 59)).toISOString(), '2026-11-21T00:00:00.000Z');
});

test('what a batch costs is above no account’s share but for the rounding of its parts', () => {
  for (let seed = 1; seed < 400; seed += 1) {
    const parts = Array.from({ length: 1 + (seed % 4) }, (_, at) => ({
      spentOn: BigInt((seed * (at + 3) * 7) % 101),
      legs: 1 + ((seed * (at + 1)) % 5),
    }));
    const allowance = allowanceOf({ ...funds(), balance: 10n ** 6n }, null, 'secret', parts);
    if (!('most' in allowance)) {
      assert.ok(parts.some(({ spentOn }) => spentOn >= 100n));
      continue;
    }
    const all = BigInt(parts.reduce((sum, { legs }) => sum + legs, 0));
    const each = (allowance.most + all - 1n) / all;
    for (const { spentOn, legs } of parts) {
      assert.ok(spentOn + BigInt(legs) * each <= 100n + BigInt(legs), `${seed}`);
    }
    assert.ok(each * all >= allowance.most, 'the parts are the whole at least');
  }
});

test('a funding ends once it is funded at depth, a gate refuses it or its time is over', () => {
  const none = { funded: null, balance: 0n };
  const fund = (more: Partial<Look> = {}) =>
    decide(look({ verb: 'fund', facts: facts(none), ...more }));
  assert.deepEqual(fund(), { do: 'sign', instead: null, reveals: false });
  assert.deepEqual(fund({ facts: facts({}) }), { do: 'end', as: 'done' });
  const dropped = { do: 'end', as: 'dropped' };
  assert.deepEqual(fund({ barred: true }), dropped);
  assert.deepEqual(fund({ clock: now + 7_200 }), dropped);
  assert.equal(fund({ facts: facts({ ...none, funded: seen('by another', 1) }) }).do, 'wait');
  const failed = attempt({ verb: 'fund', outcome: 'failed' });
  assert.deepEqual(fund({ attempts: [failed] }), dropped, 'one failure is enough');
  const sent = attempt({ verb: 'fund', outcome: 'unknown', sentAt: new Date(now * 1_000) });
  assert.deepEqual(fund({ barred: true, attempts: [sent] }), { do: 'void', attempt: sent });
  const unsent = { ...sent, sentAt: null };
  assert.deepEqual(fund({ barred: true, attempts: [unsent] }), { do: 'give up', attempt: unsent });
});

test('a funding whose gates cannot be asked keeps its nonce from nothing behind it', () => {
  const none = { funded: null, balance: 0n };
  const wanted = { verb: 'fund', facts: facts(none), barred: null } as const;
  const fund = (more: Partial<Look> = {}) => decide(look({ ...wanted, ...more }));
  assert.equal(fund().do, 'wait', 'nothing is signed');
  const unsent = attempt({ verb: 'fund', sentAt: null });
  assert.deepEqual(fund({ attempts: [unsent] }), { do: 'give up', attempt: unsent });
  const sent = { ...old, verb: 'fund' } as const;
  assert.deepEqual(fund({ attempts: [sent] }), { do: 'void', attempt: sent });
  assert.equal(fund({ attempts: [attempt({ verb: 'fund' })] }).do, 'wait', 'not within 20 s');
  const empty = attempt({ verb: 'void', sentAt: null });
  assert.deepEqual(fund({ attempts: [sent, empty] }), {
    do: 'send',
    attempt: empty,
    reveals: false,
  });
  const ask = (more: Partial<Look>) => asksGates(look({ ...wanted, barred: false, ...more }));
  assert.ok(ask({}) && ask({ attempts: [sent] }));
  // Over, late, in a block, or somebody else's: no gate matters.
  assert.ok(!ask({ facts: facts({}) }) && !ask({ clock: now + 7_200 }));
  assert.ok(!ask({ attempts: [{ ...sent, outcome: 'mined' }] }));
  assert.ok(!ask({ facts: facts({ ...none, funded: seen('by another', 1) }) }));
});

test('a funding that is made to pay more leaves claims their part, and keeps its bounds', () => {
  const own = funds({ reserved: 0n, spent: 300n });
  const bounds = { cap: 400n };
  const sums = { ownTaken: 10n, taken: 10n };
  const of = { kept: 10n, wouldKeep: 90n, sums, counted: 10n };
  const toFund = (more: Partial<Funds>, over: Partial<typeof of> = {}) =>
    mostToFund({ ...own, ...more }, bounds, { ...of, ...over });
  // The cap of 400 has 100 left: of 1 000 as much as is wanted, of 130 the rest, of 100 nothing.
  assert.equal(toFund({ balance: 1_000n }), 90n);
  assert.equal(toFund({ balance: 130n }), 30n);
  assert.equal(toFund({ balance: 100n }), 0n);
  assert.equal(toFund({ balance: 100n }, { kept: 50n }), 0n, 'nor what was kept before');
  const rich = { balance: 1_000n };
  assert.equal(toFund(rich, { sums: { ownTaken: 70n, taken: 70n } }), 40n, 'its account’s quarter');
  assert.equal(toFund(rich, { sums: { ownTaken: 10n, taken: 380n } }), 30n, 'the cap of all');
  assert.equal(toFund(rich, { sums: { ownTaken: 120n, taken: 120n } }), 0n);
});

test('a batch is raised by the least timelock in it, and not voided while a rider is open', () => {
  const batch = attempt({ id: 7, legs: 2 });
  const rider = { attemptId: 7, alone: false, timelock: now + 3_200 };
  assert.equal(bumpAfter(look({ riders: [rider] })), 200);
  const passed = { clock: now + 7_200, riders: [{ ...rider, timelock: now + 8_800 }] };
  assert.equal(bumpAfter(look(passed)), 100);
  assert.equal(bumpAfter(look({ ...passed, riders: [rider] })), 20);
  const claimed = { facts: over, riders: [rider] };
  const lost = { clock: now + 7_200, wall: now + 7_200, riders: [rider] };
  const later = { facts: shallow, riders: [rider] };
  const waited = { ...old, id: 7 };
  for (const more of [claimed, lost, later]) {
    assert.deepEqual(decide(look({ ...more, attempts: [batch], outbid: false })), {
      do: 'send',
      attempt: batch,
      reveals: false,
    });
    assert.deepEqual(decide(look({ ...more, attempts: [waited] })), {
      do: 'sign',
      instead: waited,
      reveals: false,
      ridersOnly: true,
    });
    // Nobody is in it any more, by a later one or by having failed together.
    for (const riders of [[], [{ ...rider, attemptId: 6 }], [{ ...rider, alone: true }]]) {
      assert.notEqual(decide(look({ ...more, riders, attempts: [batch] })).do, 'send');
    }
  }
  assert.equal(decide(look({ riders: [rider], attempts: [waited] })).do, 'sign');
});
