// A funder that used its lane elsewhere: its leg moves to another escrow, and it funds that one.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '../chains/adapter.ts';
import type { Material, TronMaterial } from '../chains/interface/material.ts';
import type { WatchedEscrow } from '../chains/interface/reading.ts';
import { legStatus } from '../core/facts.ts';
import { hashlockOf } from '../core/hashlock.ts';
import { settle } from './settle.ts';
import { type FourChains, fourChains } from './testing/four-chains.ts';
import { sideOf } from './testing/poor.ts';
import type { TronWallet } from './wallets/wallet.ts';

const limits = { timeout: 90_000 };
const signal = () => AbortSignal.timeout(15_000);
let chains: FourChains;

before(async () => {
  chains = await fourChains();
}, limits);
after(async () => {
  await chains?.stop();
}, limits);

/** Signs and sends, and waits until the escrow shows it. */
async function done(
  { adapter, wallet, escrow }: { adapter: ChainAdapter; wallet: TronWallet; escrow: WatchedEscrow },
  built: Promise<Material>,
  status: string,
): Promise<void> {
  for (const transaction of ((await built) as TronMaterial).transactions) {
    const { raw } = await wallet.sign(transaction, signal());
    await adapter.broadcast(await adapter.readSigned(raw, signal()), signal());
  }
  for (let tries = 0; tries < 100; tries += 1) {
    if (legStatus(await adapter.readEscrow(escrow, signal())) === status) return;
    await sleep(100);
  }
  assert.fail(`${escrow.address} is not ${status}`);
}

test(
  'a funder whose lane was used meanwhile funds the escrow that its leg moved to',
  limits,
  async () => {
    const scene = chains.swap({ a: 'SOL', b: 'TRX' });
    const { market } = scene;
    const other = randomBytes(32).toString('hex');
    const [taker, maker] = [await sideOf(scene, 'taker'), await sideOf(scene, 'maker')];
    const first = market.watched('b');
    const { chain, payout, lane } = first.terms;
    const source = taker.sources.get(chain);
    const wallet = taker.wallets.get(chain) as TronWallet;
    assert.ok(source && lane);
    const { adapter } = source;
    // Of another swap, past this market.
    const terms = { ...first.terms, hashlock: hashlockOf(other), amount: 1_000_000n };
    const escrow = { ...first, terms, address: adapter.plan(terms).address };
    const input = { escrow, feeRateSatPerVbyte: null, isPublic: true };
    const of = { adapter, wallet, escrow };
    await done(of, adapter.buildFund(input, signal()), 'funded');
    const payer = maker.wallets.get(chain) as TronWallet;
    assert.equal(payer.address, payout.address);
    await done({ ...of, wallet: payer }, adapter.buildClaim(input, other, signal()), 'claimed');
    const told: string[] = [];
    const onProgress = ({ step, text }: { step: string; text: string }) =>
      told.push(`${step}: ${text}`);
    const ends = await Promise.all([settle({ ...taker, onProgress }), settle(maker)]);
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
    assert.deepEqual(market.watched('b').terms.lane, { ...lane, counter: 2 });
    const kept = await taker.store.getSwap(taker.swapId);
    assert.equal(kept?.swap.legs.b.escrow?.address, market.watched('b').address);
    assert.ok(told.includes('market_refused: leg b moved to another escrow'), told.join('\n'));
    assert.ok(told.includes('verified: a leg moved to another escrow: checked again'));
  },
);
