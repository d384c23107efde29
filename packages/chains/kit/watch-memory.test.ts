import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashlockOf } from '@parley/core/hashlock.ts';
import * as evm from '../evm/watch.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import * as solana from '../solana/watch.ts';
import * as tron from '../tron/watch.ts';
import { forget, learn } from './watch.ts';

function fields() {
  const known = new Map();
  const byHashlock = new Map();
  const secrets = new Map<string, string>();
  const owed = new Set<string>();
  const shallow = new Map();
  const unread = new Set();
  const unfinal = new Map();
  return { known, byHashlock, secrets, owed, shallow, unfinal, unread };
}

type Room<W> = {
  remember(watch: W, escrow: WatchedEscrow): unknown;
  forget(watch: W, address: string): void;
};

/** The memory of one family: it touches nothing of its watch beyond `fields`. */
function start<W>(room: Room<W>) {
  const watch = fields();
  const own = watch as unknown as W;
  return {
    watch,
    remember: (escrow: WatchedEscrow) => room.remember(own, escrow),
    forget: (address: string) => room.forget(own, address),
    learn: (secret: string) => learn(watch, secret),
  };
}

const families = {
  evm: () => start<evm.Watch>(evm),
  tron: () => start<tron.Watch>({ ...tron, forget }),
  solana: () => start<solana.Watch>(solana),
};

const secretOf = (at: number) => at.toString(16).padStart(64, '0');
const escrowOf = (at: number, of: number) =>
  ({
    address: `0x${at.toString(16).padStart(40, '0')}`,
    terms: { hashlock: hashlockOf(secretOf(of)) },
  }) as unknown as WatchedEscrow;

for (const [family, begin] of Object.entries(families)) {
  test(`${family}: a secret is kept while any escrow of its hashlock is watched, and no longer`, () => {
    const { watch, remember, forget, learn } = begin();
    const first = escrowOf(1, 1);
    const second = escrowOf(2, 1);
    for (const each of [first, second]) remember(each);
    learn(secretOf(1));
    forget(first.address);
    assert.equal(watch.secrets.get(hashlockOf(secretOf(1))), secretOf(1));
    forget(second.address);
    assert.equal(watch.secrets.size, 0);
    learn(secretOf(1));
    assert.equal(watch.secrets.size, 0, 'nobody watches its hashlock');
  });

  test(`${family}: of a thousand swaps that ended nothing is left`, () => {
    const { watch, remember, forget, learn } = begin();
    for (let at = 1; at <= 1_000; at += 1) {
      remember(escrowOf(at, at));
      learn(secretOf(at));
    }
    assert.equal(watch.secrets.size, 1_000);
    for (let at = 1; at <= 1_000; at += 1) forget(escrowOf(at, at).address);
    const { known, byHashlock, secrets, owed } = watch;
    for (const left of [known, byHashlock, secrets, owed]) {
      assert.equal(left.size, 0);
    }
  });
}
