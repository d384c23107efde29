// An approval that a node does not show for a look: the wait of the funding behind it goes on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import type { AccountWallet } from '../../wallets/wallet.ts';
import type { Context } from '../context.ts';
import type { SetLeg } from '../record.ts';
import { type AccountFamily, accountHand } from './account.ts';

const chain = 'evm-dev';
const leg = { chain, family: 'evm', leg: 'a' } as SetLeg;
const approved: Kept = { raw: '0x01', txid: 'approval', keptAtMs: 1 };
const funding: Kept = { raw: '0x02', txid: 'funding', keptAtMs: 1 };
/** When the funding began to wait. */
const since = 5;

/** The answers of a node about the approval, one for each time that it is asked. */
function scene(answers: readonly boolean[]) {
  const left = [...answers];
  const state = (txid: string) =>
    txid === approved.txid && (left.shift() ?? true) ? 'succeeded' : 'waiting';
  const adapter = { readSigned: () => ({}), broadcast: () => '' };
  const context = {
    client: null,
    record: { approval: null, approved, funding } as unknown as SwapRecord,
    keep: async (change: Partial<SwapRecord>) => {
      Object.assign(context.record, change);
    },
    chains: { [chain]: { source: { view: { chain }, adapter } } },
    sentAtMs: new Map<string, number>(),
    waitsSinceMs: new Map([[funding.txid, since]]),
    replaceAfterMs: () => 60_000,
    limit: () => AbortSignal.timeout(60_000),
    emit: () => {},
    waits: () => {},
  };
  const wallet = {
    family: 'evm',
    address: '0x',
    outcome: async ({ txid }: Kept) => ({ state: state(txid) }),
  } as unknown as AccountWallet;
  const family = {
    push: async () => {},
    isGivenAway: async () => false,
  } as unknown as AccountFamily;
  const hand = accountHand(context as unknown as Context, leg, wallet, family);
  return {
    look: async () => {
      context.sentAtMs.clear();
      assert.equal(await hand.tendFunding(), 'tended');
      return context.waitsSinceMs.get(funding.txid) ?? 0;
    },
    keptAtMs: () => context.record.funding?.keptAtMs,
  };
}

test('a node that misses the approval in single looks does not make the funding wait anew', async () => {
  // Missed, and there again when asked in the same look.
  const flapping = scene([false, true, true, false, true, true]);
  assert.deepEqual([await flapping.look(), await flapping.look()], [since, since]);
  // Missed for all of a look, and there in the next one.
  const missing = scene([false, false, true, true, false, false, true, true]);
  for (let looks = 4; looks > 0; looks -= 1) assert.equal(await missing.look(), since);
  assert.equal(missing.keptAtMs(), funding.keptAtMs);
});

test('an approval that stays away for two looks makes the funding wait anew', async () => {
  const { look } = scene([false, false, false]);
  assert.equal(await look(), since);
  assert.ok((await look()) > since);
});
