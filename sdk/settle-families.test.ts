// Swaps between dev chains of all four families: honest ones, ones that crash at every step, with
// the market gone, refunded, and with transactions that no block takes. What can be shown on paper
// is shown there (settle/*.test.ts).

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '../chains/adapter.ts';
import type { Material, TronMaterial } from '../chains/interface/material.ts';
import type { WatchedEscrow } from '../chains/interface/reading.ts';
import { readTransaction } from '../chains/solana/message.ts';
import { solanaDeployment, solanaTransaction } from '../chains/solana/plan.ts';
import { ParleyError } from '../core/errors.ts';
import { legStatus } from '../core/facts.ts';
import { hashlockOf } from '../core/hashlock.ts';
import type { LegName } from '../core/trade.ts';
import type { ParleyClient } from './client.ts';
import type { ChainSource } from './settle/context.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { type Crashing, throughCrashes } from './testing/crashing.ts';
import { onChains } from './testing/evm-account.ts';
import { amountOf, type Coin, type FourChains, type Scene } from './testing/four-chains.ts';
import {
  evmKey,
  isFunded,
  sideOf,
  until,
  withAdapter,
  withLeg,
  withNewWallet,
} from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import type { TronWallet } from './wallets/wallet.ts';

const signal = () => AbortSignal.timeout(15_000);
const parties = ['taker', 'maker'] as const;
const received = ['received', 'received'];
let chains: FourChains;

onChains(async (on) => {
  chains = on.chains;
});

const sidesOf = (scene: Scene) => Promise.all(parties.map((party) => sideOf(scene, party)));
const ends = async (...sides: readonly SettleInput[]) =>
  (await Promise.all(sides.map((side) => settle(side)))).map(({ end }) => end);

/** Both sides have funded, and are stopped. */
async function bothFunded(coins?: Record<LegName, Coin>) {
  const scene = chains.swap(coins);
  const [taker, maker] = (await sidesOf(scene)) as [SettleInput, SettleInput];
  await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
  return { scene, taker, maker };
}

/** The taker's coin first. */
const pairs: readonly [Coin, Coin][] = [
  ['BTC', 'EVM dollar'],
  ['SOL', 'TRON dollar'],
  ['TRX', 'SPL dollar'],
  ['TRON dollar', 'ETH'],
];
for (const [b, a] of pairs) {
  timed(`${b} for ${a}: both are paid, and the market is never told the secret`, async () => {
    const scene = chains.swap({ a, b });
    const outcomes = await Promise.all((await sidesOf(scene)).map((side) => settle(side)));
    assert.deepEqual(
      outcomes.map(({ end }) => end),
      received,
    );
    assert.ok(outcomes[0]?.txids.a.claim && outcomes[0]?.txids.b.claim);
    assert.deepEqual(
      scene.market.calls.filter((call) => / (claim|refund) /.test(call)),
      [],
    );
  });
}

const crashed: [Record<LegName, Coin>, readonly string[]][] = [
  [{ a: 'EVM dollar', b: 'BTC' }, ['terms', 'funding']],
  [{ a: 'SPL dollar', b: 'TRX' }, ['terms', 'funding']],
  [{ a: 'SOL', b: 'TRON dollar' }, ['terms', 'approval', 'funding']],
];
for (const [coins, steps] of crashed) {
  const { a, b } = coins;
  timed(`${b} for ${a}: a crash at each step is resumed, and nothing is paid twice`, async () => {
    const scene = chains.swap(coins);
    const had = await chains.balance('taker', b);
    const crashes = parties.map((): Crashing => ({ at: [], stop: new AbortController() }));
    const runs = parties.map(async (party, index) =>
      throughCrashes(await sideOf(scene, party), crashes[index] as Crashing),
    );
    assert.deepEqual(
      (await Promise.all(runs)).map(({ end }) => end),
      received,
    );
    const [own] = crashes;
    for (const kind of [
      ...steps.flatMap((step) => [`before ${step}`, `after ${step}`]),
      'after sending',
    ]) {
      assert.ok(own?.at.includes(kind), `never crashed ${kind}: ${own?.at.join(', ')}`);
    }
    for (const { at } of crashes) {
      for (const when of ['before', 'after']) {
        assert.ok(
          at.some((kind) => kind.startsWith(when) && kind.includes('claim')),
          at.join(),
        );
      }
    }
    const paid = had - (await chains.balance('taker', b)) - amountOf(b);
    assert.ok(paid >= 0n && paid < 30_000_000n, `${paid} was paid beside the amount`);
  });
}

timed('with the market killed after funding, both sides claim alone', async () => {
  const had = await chains.balance('taker', 'SPL dollar');
  const { scene, taker, maker } = await bothFunded({ a: 'SPL dollar', b: 'BTC' });
  scene.market.die();
  assert.deepEqual(await ends({ ...taker, client: null }, maker), received);
  assert.equal((await chains.balance('taker', 'SPL dollar')) - had, amountOf('SPL dollar'));
});

/** A network that loses what is sent until it is let through. */
function losing(input: SettleInput, lost: { isOpen: boolean; count: number }): SettleInput {
  const { client, sources } = input;
  const lose = <T>(answer: T) => {
    lost.count += 1;
    return answer;
  };
  const altered = [...sources.keys()].reduce(
    (side, chain) =>
      withAdapter(side, chain, ({ broadcast }) => ({
        broadcast: async (read, limit) => (lost.isOpen ? broadcast(read, limit) : lose(read.txid)),
      })),
    input,
  );
  const broadcast = async (...args: Parameters<ParleyClient['broadcast']>) =>
    lost.isOpen ? client?.broadcast(...args) : lose({ txid: 'lost' });
  return { ...altered, client: { ...client, broadcast } as ParleyClient };
}

for (const [b, passes] of [
  ['SOL', () => chains.dev.mine('solana-dev', 320)],
  ['TRX', () => chains.move(700)],
] as const) {
  timed(`a ${b} funding that no block ever took is made anew once it has died`, async () => {
    const scene = chains.swap({ a: b === 'SOL' ? 'TRX' : 'SOL', b });
    const had = await chains.balance('taker', b);
    const lost = { isOpen: false, count: 0 };
    const sent: string[] = [];
    const onProgress = ({ step, txid }: Progress) => {
      if (step !== 'funded' || txid === null || sent.push(txid) > 1) return;
      // Its network is back only when it is dead.
      void passes().then(() => {
        lost.isOpen = true;
      });
    };
    const taker = losing(await sideOf(scene, 'taker', { onProgress }), lost);
    assert.deepEqual(await ends(taker, await sideOf(scene, 'maker')), received);
    assert.equal(sent.length, 2);
    assert.ok(lost.count > 0);
    const record = await taker.store.getSwap(taker.swapId);
    assert.deepEqual(record?.funding?.former, [sent[0]]);
    const paid = had - (await chains.balance('taker', b)) - amountOf(b);
    assert.ok(paid >= 0n && paid < 30_000_000n, `${paid} beside the amount`);
  });
}

timed('a funding that died after the time to fund is forgotten: nothing has moved', async () => {
  const scene = chains.swap({ a: 'SOL', b: 'TRX' });
  const had = await chains.balance('taker', 'TRX');
  const { deadlines } = await scene.market.client('taker').swap('');
  const steps: string[] = [];
  const moved = Promise.withResolvers<void>();
  const onProgress = ({ step }: Progress) => {
    steps.push(step);
    if (step !== 'funded') return;
    chains.move(deadlines.initiatorFundBy - chains.now() + 700).then(moved.resolve, moved.reject);
  };
  const taker = losing(await sideOf(scene, 'taker', { onProgress }), { isOpen: false, count: 0 });
  assert.deepEqual(await ends(taker), ['nothing']);
  await moved.promise;
  assert.ok(steps.includes('cancelled'));
  assert.equal(await chains.balance('taker', 'TRX'), had);
});

timed(
  'a Bitcoin claim that no block takes is replaced, also with the other chain silent',
  async () => {
    const { scene, taker, maker } = await bothFunded();
    const { chain } = scene.market.watched('b').terms;
    const claims: string[] = [];
    const replaced = Promise.withResolvers<void>();
    let isSilent = false;
    const onProgress = ({ step, leg, txid }: Progress) => {
      // The short leg is claimed: the long one's claim is made now, and finds no block.
      if (step !== 'claimed' || leg !== 'b' || txid === null) return;
      isSilent = true;
      if (claims.push(txid) >= 2) replaced.resolve();
    };
    const own = withAdapter(
      { ...maker, onProgress, replaceAfterMs: 1_000 },
      evmKey,
      ({ heads }) => ({
        heads: async (limit) => {
          if (isSilent) throw new ParleyError('chain_unavailable', 'no EVM node', {});
          return heads(limit);
        },
      }),
    );
    await chains.dev.mining(chain, false);
    const running = Promise.all([settle(taker), settle(own)]);
    running.catch(replaced.reject);
    try {
      await replaced.promise;
    } finally {
      isSilent = false;
      await chains.dev.mining(chain, true);
    }
    const [, end] = await running;
    assert.equal(end.end, 'received');
    assert.notEqual(end.txids.b.claim, claims[0]);
  },
);

timed('rent that a claim without the funder’s account left comes back to the funder', async () => {
  const scene = chains.swap({ a: 'SOL', b: 'TRX' });
  const taker = withLeg(await sideOf(scene, 'taker'), scene, 'a', ({ buildClaim }) => ({
    buildClaim: async (input, secret, limit) => {
      const built = await buildClaim(input, secret, limit);
      const { blockhash } = readTransaction(built.sign === 'solana-tx' ? built.transaction : '');
      const circumstances = { tokenProgram: null, blockhash, unitPrice: 0n };
      const wanted = { verb: 'claim', secret, withoutRefund: true } as const;
      const { terms } = input.escrow;
      const transaction = solanaTransaction(terms, solanaDeployment, wanted, circumstances);
      return { ...built, transaction } as Material;
    },
  }));
  const told: Progress[] = [];
  const onProgress = (progress: Progress) => void told.push(progress);
  const maker = await sideOf(scene, 'maker', { onProgress });
  assert.deepEqual(await ends(taker, maker), received);
  assert.ok(told.some(({ step, leg }) => step === 'refunded' && leg === 'a'));
  const escrow = scene.market.watched('a');
  const { adapter } = maker.sources.get(escrow.terms.chain) as ChainSource;
  const input = { escrow, feeRateSatPerVbyte: null, isPublic: false };
  const isLeft = () =>
    adapter.buildRefund(input, signal()).then(
      () => true,
      () => false,
    );
  for (let tries = 0; tries < 100 && (await isLeft()); tries += 1) await sleep(100);
  assert.equal(await isLeft(), false);
});

timed('two wallet objects of one key that can pay for one claim: one shows no secret', async () => {
  await withNewWallet(chains, 'tron', 'taker', async ({ chain, wallet, again }) => {
    const { address } = wallet;
    const { dev } = chains;
    await dev.faucet({ chain, address, amount: 1_000_000n });
    const scenes = [1, 2].map(() => chains.swap({ a: 'TRX', b: 'SOL' })) as [Scene, Scene];
    const fund = async (scene: Scene) => {
      // It could pay for both while they were funded.
      const rich = { fundsShortage: async () => null };
      const side = withLeg(await sideOf(scene, 'taker'), scene, 'a', () => rich);
      const taker = { ...side, wallets: new Map([...side.wallets, [chain, again()]]) };
      const maker = await sideOf(scene, 'maker');
      await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
      return { taker, maker };
    };
    const both = await Promise.all(scenes.map(fund));
    const { adapter } = (both[0] as { taker: SettleInput }).taker.sources.get(chain) as ChainSource;
    const { terms } = scenes[0].market.watched('a');
    const short = await adapter.claimShortage?.(terms, address, signal());
    assert.ok(short);
    await dev.faucet({ chain, address, amount: (short.need * 11n) / 10n - short.has });
    const stop = new AbortController();
    const dry = Promise.withResolvers<void>();
    const told: string[] = [];
    const onProgress = ({ step, text }: Progress) => {
      told.push(step);
      if (/to send its own claim may take/.test(text)) dry.resolve();
    };
    const running = both.map(({ taker }) => settle({ ...taker, signal: stop.signal, onProgress }));
    try {
      await dry.promise;
      assert.equal(told.filter((step) => step === 'claimed').length, 1);
      await dev.faucet({ chain, address });
      const others = both.map(({ maker }) => settle(maker));
      assert.ok(
        (await Promise.all([...running, ...others])).every(({ end }) => end === 'received'),
      );
    } finally {
      stop.abort();
      await Promise.allSettled(running);
    }
  });
});

/** Signs and sends, and waits until the escrow shows it. */
async function done(
  adapter: ChainAdapter,
  wallet: TronWallet,
  escrow: WatchedEscrow,
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

timed('a funder whose lane was used meanwhile funds the escrow that its leg moved to', async () => {
  const scene = chains.swap({ a: 'SOL', b: 'TRX' });
  const { market } = scene;
  const other = randomBytes(32).toString('hex');
  const [taker, maker] = (await sidesOf(scene)) as [SettleInput, SettleInput];
  const first = market.watched('b');
  const { chain, lane } = first.terms;
  const { adapter } = taker.sources.get(chain) as ChainSource;
  // Of another swap, past this market.
  const terms = { ...first.terms, hashlock: hashlockOf(other), amount: 1_000_000n };
  const escrow = { ...first, terms, address: adapter.plan(terms).address };
  const input = { escrow, feeRateSatPerVbyte: null, isPublic: true };
  const [payer, payee] = [taker, maker].map(({ wallets }) => wallets.get(chain) as TronWallet);
  assert.ok(payer && payee);
  await done(adapter, payer, escrow, adapter.buildFund(input, signal()), 'funded');
  await done(adapter, payee, escrow, adapter.buildClaim(input, other, signal()), 'claimed');
  assert.deepEqual(await ends(taker, maker), received);
  assert.deepEqual(market.watched('b').terms.lane, { ...lane, counter: 2 });
  const kept = await taker.store.getSwap(taker.swapId);
  assert.equal(kept?.swap.legs.b.escrow?.address, market.watched('b').address);
});

// Last: it moves the clocks of the chains.
timed('with the market killed and nobody claiming, all refund alone, through crashes', async () => {
  const [had, sats] = [
    await chains.balance('taker', 'SPL dollar'),
    await chains.balance('taker', 'BTC'),
  ];
  const swaps = [
    await bothFunded({ a: 'TRON dollar', b: 'SPL dollar' }),
    await bothFunded({ a: 'EVM dollar', b: 'BTC' }),
  ];
  for (const { scene } of swaps) scene.market.die();
  await chains.move(27 * 3_600);
  const runs = swaps.flatMap(({ taker, maker }) =>
    [taker, maker].map(async (side) => {
      const crashing: Crashing = { at: [], stop: new AbortController() };
      const { end, status } = await throughCrashes({ ...side, client: null }, crashing);
      for (const kind of ['before funding+refund', 'after funding+refund']) {
        assert.ok(crashing.at.includes(kind), `never crashed ${kind}: ${crashing.at.join()}`);
      }
      return `${end} ${status}`;
    }),
  );
  assert.deepEqual(
    await Promise.all(runs),
    Array.from(runs, () => 'refunded refunded'),
  );
  assert.equal(await chains.balance('taker', 'SPL dollar'), had);
  const paid = sats - (await chains.balance('taker', 'BTC'));
  assert.ok(paid >= 0n && paid < 10_000n, `the refund cost ${paid} sats`);
});
