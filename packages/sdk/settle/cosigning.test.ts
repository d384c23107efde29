// Spends that both sides sign, as one side drives them: which request it answers, when it asks, and
// that no nonce signs twice, wherever its process ends. By two drivers on real chains:
// together.test.ts.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { bitcoinEscrow } from '@parley/chains/bitcoin/plan.ts';
import type { Party } from '@parley/core/trade.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import type { ParleyClient } from '../client.ts';
import type { Cosign } from '../generated.ts';
import { memoryStore } from '../stores/memory.ts';
import type { SwapRecord } from '../stores/store.ts';
import { bitcoinView, evmView, keptRecord, keys, now, swapId } from '../testing/honest.ts';
import type { Exchanges } from '../testing/paper-market.ts';
import { bitcoinWallet } from '../wallets/bitcoin.ts';
import { contextOf, type SettleInput } from './context.ts';
import { claimsTogether, tendTogether } from './cosigning.ts';
import { legWith, type Seen, seenOf } from './record.ts';
import { funded, known, refundAt, type Shown, shows } from './testing/machine.ts';

type Verb = 'claim' | 'refund';

const { network } = bitcoinView;
const walletOf = (party: Party) =>
  bitcoinWallet({ privateKey: keys[party], network: network.name });
const spend = { outputs: [{ txid: 'ab'.repeat(32), vout: 0, amount: 1_000_000n }], feeSats: 400n };
const paysTo = bitcoinWallet({ privateKey: '07'.repeat(32), network: network.name }).address;
const release = { askedAt: now, at: null, signature: null };

/** The record of the honest swap, its leg b of Taproot. */
function recordOf(party: Party, kept: Partial<SwapRecord>): SwapRecord {
  const record = keptRecord(party, kept);
  const { b } = record.swap.legs;
  assert.ok(b.escrow);
  const { payout, refund, ...rest } = b.escrow.terms;
  const form = 'p2tr';
  const terms = {
    ...rest,
    form,
    payout: { ...payout, form },
    refund: { ...refund, form },
  } as const;
  const escrow = { ...b.escrow, ...bitcoinEscrow(terms, network), terms };
  return {
    ...record,
    swap: { ...record.swap, legs: { ...record.swap.legs, b: { ...b, escrow } } },
  };
}

const { escrow } = recordOf('taker', {}).swap.legs.b;
const terms = escrow?.terms ?? assert.fail();

/** A request as the market shows it. */
async function exchangeOf(verb: Verb) {
  const party = verb === 'claim' ? 'maker' : 'taker';
  const forgets = { put: async () => {}, take: async () => null };
  const asked = await walletOf(party).cosigns?.ask(terms, { verb, paysTo, ...spend }, forgets);
  assert.ok(asked && escrow);
  const outputs = asked.outputs.map((each) => ({ ...each, amount: each.amount.toString() }));
  const nonces = [...asked.nonces];
  const { address } = escrow;
  const about = { verb, escrow: address, outputs, feeSats: '400', paysTo, nonces };
  return { id: '1', at: '', ...about, answer: null };
}

type Scene = {
  readonly kept: Partial<SwapRecord>;
  readonly said: Partial<Exchanges>;
  readonly more?: Partial<SettleInput>;
};

/** A driver's memory of that record, in front of a market that says so, and a chain that plans. */
async function sceneOf(party: Party, { kept, said, more = {} }: Scene) {
  const bodies: Cosign[] = [];
  const client = {
    cosign: async (_: string, __: string, body: Cosign) => {
      bodies.push(body);
      const { request } = body;
      const asked = request && { [request.verb]: { ...request, id: 'own', at: '', answer: null } };
      return { exchange: { claim: null, refund: null, ...said, ...asked } };
    },
  } as unknown as ParleyClient;
  const adapter: Partial<ChainAdapter> = {
    planTogether: async (_, verb) => ({ verb, paysTo, ...spend }),
  };
  const source = { view: bitcoinView, adapter: adapter as ChainAdapter };
  const context = contextOf({
    swapId,
    client,
    store: memoryStore(),
    chains: {
      'bitcoin-regtest': { source, wallet: walletOf(party) },
      'evm-dev': { source: { view: evmView, adapter: {} as ChainAdapter } },
    },
    marketPollMs: 0,
    now: () => now,
    ...more,
  });
  await context.store.putSwap(recordOf(party, kept));
  return { context, bodies };
}

function seenBy(record: SwapRecord, a: Shown, b: Shown, clock: number, doubt?: string): Seen {
  const leg = (name: 'a' | 'b', shown: Shown) => ({
    leg: legWith(record, name, shows[shown]),
    clock,
  });
  const seen = seenOf(record, { a: leg('a', a), b: leg('b', b) }, clock);
  return doubt === undefined ? seen : { ...seen, doubt };
}

/** The funder of leg b sends an answer, a request, or nothing. */
async function tends(
  a: Shown,
  b: Shown,
  kept: Partial<SwapRecord>,
  how: {
    readonly said?: Partial<Exchanges>;
    readonly clock?: number;
    readonly doubt?: string;
    readonly isLetGo?: boolean;
    readonly more?: Partial<SettleInput>;
  } = {},
): Promise<string> {
  const { said = {}, clock = now, doubt, isLetGo = false, more = {} } = how;
  const { context, bodies } = await sceneOf('taker', { kept, said, more });
  if (isLetGo) context.heard.release = release;
  await tendTogether(context, seenBy(context.record, a, b, clock, doubt));
  const sent = bodies.flatMap((body) => Object.keys(body));
  return sent.join();
}

test('a funder signs a claim once its own claim is in a block, and not before', async () => {
  const claim = await exchangeOf('claim');
  const said = { claim };
  assert.equal(await tends('claimMined', 'final', known, { said }), 'answer');
  assert.equal(await tends('claimed', 'final', known, { said }), 'answer');
  assert.equal(await tends('claimPooled', 'final', known, { said }), '');
  assert.equal(await tends('final', 'final', known, { said }), '');
  assert.equal(await tends('final', 'final', funded, { said }), '');
  assert.equal(await tends('claimMined', 'final', known, { said, doubt: 'they differ' }), '');
  assert.equal(await tends('claimMined', 'claimPooled', known, { said }), '');
  const clock = refundAt.b + 1;
  assert.equal(await tends('claimMined', 'final', known, { said, clock }), '');
  const other = { claim: { ...claim, escrow: 'bcrt1other' } };
  assert.equal(await tends('claimMined', 'final', known, { said: other }), '');
  const answered = { claim: { ...claim, answer: { nonces: [], signatures: [], at: '' } } };
  assert.equal(await tends('claimMined', 'final', known, { said: answered }), '');
  // A request of a refund is no claim, whatever the market calls it.
  const refund = await exchangeOf('refund');
  assert.equal(await tends('claimMined', 'final', known, { said: { refund } }), '');
});

test('a funder asks for a refund that the other side gave up, and not once the secret is out', async () => {
  const isLetGo = true;
  assert.equal(await tends('none', 'final', funded, { isLetGo }), 'request');
  assert.equal(await tends('refunded', 'final', funded, { isLetGo }), 'request');
  assert.equal(await tends('none', 'final', funded), '');
  assert.equal(await tends('none', 'none', funded, { isLetGo }), '');
  assert.equal(await tends('none', 'pooled', funded, { isLetGo }), '');
  assert.equal(await tends('none', 'final', known, { isLetGo }), '');
  const sent = { txid: 'own', raw: '00' };
  assert.equal(await tends('none', 'final', { ...funded, claim: sent }, { isLetGo }), '');
  assert.equal(await tends('none', 'final', funded, { isLetGo, clock: refundAt.b + 1 }), '');
  const { putNonces: _, ...store } = memoryStore();
  assert.equal(await tends('none', 'final', funded, { isLetGo, more: { store } }), '');
});

test('a claim waits for the other side while there is time, and never again in that run', async () => {
  const at = (clock: number) => ({
    leg: legWith(recordOf('maker', known), 'b', shows.final),
    clock,
  });
  const claims = async (clock: number, more: Partial<SettleInput> = {}, kept = known) => {
    const { context, bodies } = await sceneOf('maker', { kept, said: {}, more });
    const said = [
      await claimsTogether(context, at(clock)),
      await claimsTogether(context, at(clock)),
    ];
    return [...said, bodies.filter(({ request }) => request).length];
  };
  // The market forgets the request at once.
  assert.deepEqual(await claims(now), [true, false, 1]);
  const { high, reactSeconds } = bitcoinView.policy;
  const needs = high.outageSeconds + high.settleSeconds + reactSeconds + 60;
  assert.deepEqual(await claims(refundAt.b - needs), [false, false, 0]);
  assert.deepEqual(await claims(refundAt.b - needs - 1), [true, false, 1]);
  assert.deepEqual(await claims(now, { cosignWaitMs: 0 }), [false, false, 0]);
  assert.deepEqual(await claims(now, { client: null }), [false, false, 0]);
  // A former run has waited.
  const before = { ...known, claimAskedAtMs: Date.now() - 20_000 };
  assert.deepEqual(await claims(now, {}, before), [false, false, 0]);
});

class Crash extends Error {}

/** A funder whose process ends anywhere, as `falls` says, in front of one market and one chain. */
async function refundThroughCrashes(falls: (where: string) => boolean) {
  const taken: string[] = [];
  const sent = new Set<string>();
  const kept = memoryStore();
  let refund: Exchanges['refund'] = null;
  let ids = 0;
  let stop = new AbortController();
  const risky = async <T>(where: string, work: () => Promise<T>): Promise<T> => {
    const end = (when: string) => {
      if (!falls(`${when} ${where}`)) return;
      const crash = new Crash(`${when} ${where}`);
      stop.abort(crash);
      throw crash;
    };
    end('before');
    const done = await work();
    end('after');
    return done;
  };
  const store: typeof kept = {
    ...kept,
    putSwap: (record) => risky('keeping', () => kept.putSwap(record)),
    putNonces: (id, nonces) => risky('putting', () => kept.putNonces(id, nonces)),
    takeNonces: (id) =>
      risky('taking', async () => {
        const nonces = await kept.takeNonces(id);
        taken.push(...(nonces?.secrets ?? []));
        return nonces;
      }),
  };
  const cosign = async ({ request }: Cosign) => {
    if (request !== undefined) {
      ids += 1;
      const outputs = [...request.outputs];
      const nonces = [...request.nonces];
      refund = { ...request, outputs, nonces, id: `${ids}`, at: '', answer: null };
    }
    return { exchange: { claim: null, refund } };
  };
  const client = {
    cosign: (_: string, __: string, body: Cosign) => risky('asking', () => cosign(body)),
    broadcast: async () => {},
  } as unknown as ParleyClient;
  /** The other side signs whatever is asked. */
  const answer = async () => {
    if (refund === null) return;
    const outputs = refund.outputs.map((each) => ({ ...each, amount: BigInt(each.amount) }));
    const request = { ...refund, outputs, feeSats: BigInt(refund.feeSats) };
    const signed = await walletOf('maker').cosigns?.answer(terms, request);
    if (signed === undefined) return;
    const nonces = [...signed.nonces];
    refund = { ...refund, answer: { nonces, signatures: [...signed.signatures], at: '' } };
  };
  const adapter = {
    planTogether: async (_: unknown, verb: Verb) => ({ verb, paysTo, ...spend }),
    readSigned: async (raw: string) => ({ raw, txid: 'own', touches: [] }),
    broadcast: ({ raw }: { raw: string }) => risky('sending', async () => void sent.add(raw)),
  } as unknown as ChainAdapter;
  const began = () => {
    stop = new AbortController();
    const source = { view: bitcoinView, adapter };
    const chains = {
      'bitcoin-regtest': { source, wallet: walletOf('taker') },
      'evm-dev': { source: { view: evmView, adapter: {} as ChainAdapter } },
    };
    const { signal } = stop;
    return contextOf({ swapId, client, store, chains, marketPollMs: 0, now: () => now, signal });
  };
  await kept.putSwap(recordOf('taker', funded));
  let context = began();
  let crashes = 0;
  for (let passes = 0; passes < 60 && sent.size === 0; passes += 1) {
    try {
      await context.store.getSwap(swapId);
      context.heard.release = release;
      await tendTogether(context, seenBy(context.record, 'none', 'final', now));
      if (passes % 2 === 0) await answer();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      crashes += 1;
      context = began();
    }
  }
  return { taken, sent, crashes };
}

test('a process that ends anywhere signs with no nonce twice, and gets its coins back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), async (draws) => {
      const left = [...draws];
      const { taken, sent } = await refundThroughCrashes(() => left.shift() ?? false);
      assert.equal(new Set(taken).size, taken.length, 'a nonce left the store twice');
      assert.equal(sent.size, 1);
    }),
    { numRuns: runs(20) },
  );
});

test('an end at each single step is taken up by the next process', async () => {
  const steps = ['asking', 'putting', 'taking', 'keeping', 'sending'];
  for (const where of steps.flatMap((step) => [`before ${step}`, `after ${step}`])) {
    let isDue = true;
    const { taken, sent, crashes } = await refundThroughCrashes((at) => {
      if (!isDue || at !== where) return false;
      isDue = false;
      return true;
    });
    assert.deepEqual([crashes, sent.size], [1, 1], where);
    assert.equal(new Set(taken).size, taken.length, where);
  }
});
