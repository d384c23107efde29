// The decision that follows from what a chain shows and what was signed: a table.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingSeen } from '@parley/core/facts.ts';
import type { Attempt } from './db/attempts.ts';
import type { Purpose } from './db/jobs.ts';
import { asksGates, bumpAfter, decide, graceOf, hasWaited, type Look } from './decide.ts';
import {
  allowanceOf,
  allowanceOfAsked,
  dayOf,
  type Funds,
  freeNonce,
  gapsIn,
  mostToLand,
} from './spending.ts';

const now = 1_800_000_000;
const seen = (txid: string, confirmations: number, deep = false) => ({ txid, confirmations, deep });
const look = (more: Partial<Look> = {}): Look => ({
  verb: 'claim',
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
  ...more,
});
const facts = (more: Partial<Look['facts']>) => ({ ...look().facts, ...more });
const attempt = (more: Partial<Attempt> = {}): Attempt => ({
  id: 1,
  chain: 'evm-dev',
  jobId: 1,
  purpose: 'secret',
  verb: 'claim',
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

test('a step that would show the secret asks the gates first, and only that', () => {
  const reveals = (given: Partial<Look>) => (decide(look(given)) as { reveals?: boolean }).reveals;
  assert.equal(reveals({ isPublic: false, attempts: [unsent] }), true);
  assert.equal(reveals({ isPublic: false, attempts: [attempt()] }), true);
  assert.equal(reveals({ isPublic: false }), true);
  assert.equal(reveals({ attempts: [unsent] }), false);
  assert.equal(reveals({}), false);
});

test('a job with nothing to do for now gives its nonce up for a relay behind it', () => {
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

test('a long wait may be made to pay more: the newest that no block has', () => {
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
  sums: { reserved: 0n, promised: 0n, spent: 0n, spentBeside: 0n, underWay: 0, ...more },
});
const charged = (
  amount: bigint,
  purpose: Purpose = 'secret',
  signedAt = new Date(now * 1_000),
) => ({
  charged: amount,
  signedAt,
  purpose,
});

const most = (
  of: Funds,
  instead: Parameters<typeof allowanceOf>[2] = null,
  purpose: Purpose = 'secret',
) => Object.values(allowanceOf(of, purpose, instead))[0];

test('one cap, and what is reserved of the balance, bound what may be signed', () => {
  assert.equal(most(funds()), 400n);
  assert.equal(most(funds({ spent: 350n })), 50n);
  assert.equal(most(funds({ spent: 350n, promised: 20n })), 30n);
  assert.equal(most(funds({ spent: 400n })), 'cap');
  assert.equal(most(funds({ spent: 400n }), charged(30n)), 30n);
  assert.equal(most(funds({ reserved: 990n })), 10n);
  assert.equal(most(funds({ reserved: 1_000n })), 'balance');
  assert.equal(most(funds({ underWay: 16 })), 'busy');
  assert.equal(most(funds({ spent: 395n, underWay: 16 }), charged(5n)), 10n);
});

test('a request is taken on where its reserve is at hand and the day has room for it', () => {
  const asked = (of: Funds, reserve: bigint) =>
    Object.values(allowanceOfAsked(of, 'relay', reserve))[0];
  assert.equal(asked(funds({ reserved: 900n }), 100n), 100n);
  assert.equal(asked(funds({ reserved: 901n }), 100n), 'balance');
  assert.equal(asked(funds({ promised: 101n }), 100n), 'cap');
  assert.equal(asked(funds({ promised: 100n }), 100n), 100n);
  assert.equal(asked(funds({ underWay: 8 }), 100n), 'busy');
});

test('half of a day’s cap, and of the places, is for claims of public secrets alone', () => {
  for (const purpose of ['relay', 'refund', 'fund'] as const) {
    const half = funds({ spent: 150n, spentBeside: 150n, promised: 50n });
    assert.equal(most(half, null, purpose), 'cap');
    assert.equal(most(half), 200n);
    assert.equal(most(half, charged(30n, purpose), purpose), 30n);
    assert.equal(most(half, charged(30n), purpose), 'cap', 'a claim’s charge is none of theirs');
    assert.equal(most(funds({ spent: 200n }), null, purpose), 200n, 'claims leave it the rest');
    assert.equal(most(funds({ spent: 390n }), null, purpose), 10n);
    const busy = funds({ underWay: 8 });
    assert.deepEqual([most(busy, null, purpose), most(busy)], ['busy', 400n]);
  }
});

test('a job that must land takes what is kept for it, or would be now, and not all that is free', () => {
  const toLand = (wouldKeep: bigint, more: Partial<Funds['sums']> = {}) =>
    mostToLand(funds(more), null, { kept: 100n, wouldKeep });
  assert.equal(toLand(40n), 100n);
  assert.equal(toLand(300n), 300n, 'fees have risen');
  assert.equal(toLand(300n, { reserved: 800n }), 200n, 'the rest is of others');
  assert.equal(toLand(300n, { reserved: 1_000n }), 0n);
  assert.equal(toLand(10n ** 30n, { spent: 200n }), 200n, 'what the day has left');
  assert.equal(toLand(10n ** 30n, { spent: 500n }), 100n, 'what was kept is its own in any case');
});

test('a charge of a day before raises the cap of this one by nothing', () => {
  const before = charged(100n, 'secret', new Date(dayOf(now * 1_000).getTime() - 1));
  assert.equal(most(funds({ spent: 400n }), before), 'cap');
  assert.equal(most(funds(), before), 400n);
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
