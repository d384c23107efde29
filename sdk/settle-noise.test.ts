// What strangers and late nodes put between a customer and the history of an escrow: the money
// arrives all the same, and a settlement that was shown half of a claim does not end.

import assert from 'node:assert/strict';
import test, { after, before, type TestContext } from 'node:test';
import { type Call, lyingNode } from '../chains/solana/testing/nodes.ts';
import { hashlockOf } from '../core/hashlock.ts';
import type { Party } from '../core/trade.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { solanaSource } from './sources.ts';
import { type FourChains, fourChains } from './testing/four-chains.ts';
import type { Scene } from './testing/two-chains.ts';

const limits = { timeout: 60_000 };
let chains: FourChains;

before(async () => {
  chains = await fourChains();
}, limits);
after(async () => {
  await chains?.stop();
}, limits);

type Answer = Record<string, unknown>;
type Lie = (call: Call, forward: () => Promise<Answer>) => Promise<object> | object;

/** One side of a swap whose Solana node says this. */
async function sideOver(context: TestContext, scene: Scene, party: Party, lie: Lie) {
  const input = await sideOf(scene, party);
  const served = (await chains.dev.status()).chains;
  const { chain = '', rpcUrl = '' } = served.find(({ family }) => family === 'solana') ?? {};
  const url = await lyingNode(context, rpcUrl, lie);
  const own = solanaSource({ chain, rpcUrls: [url], now: chains.now });
  return { ...input, sources: new Map([...input.sources, [chain, own]]) };
}

async function sideOf(scene: Scene, party: Party): Promise<SettleInput> {
  const input = scene.input(party);
  if (party === 'taker') await input.store.putSecret(hashlockOf(scene.secret), scene.secret);
  return input;
}

/** Runs until it has said this. */
async function until(input: SettleInput, step: Progress['step']): Promise<void> {
  const stop = new AbortController();
  const stopped = new Error('stopped here');
  const onProgress = (progress: Progress) => {
    if (progress.step === step) stop.abort(stopped);
  };
  await assert.rejects(settle({ ...input, signal: stop.signal, onProgress }), stopped);
}

/** Every transaction with an instruction of five kilobytes that some program called. */
const poison: Lie = async ({ method }, forward) => {
  const answer = await forward();
  const result = answer.result as { meta: object } | null;
  if (method !== 'getTransaction' || result === null) return answer;
  const call = { programIdIndex: 0, accounts: [0], data: '2'.repeat(6_800), stackHeight: 2 };
  const innerInstructions = [{ index: 0, instructions: [call] }];
  return { result: { ...result, meta: { ...result.meta, innerInstructions } } };
};

test(
  'a claim with noise in it gives its secret away: the other leg is not lost',
  limits,
  async (context) => {
    const scene = chains.swap({ a: 'SOL', b: 'TRX' });
    const sides = [await sideOf(scene, 'taker'), await sideOver(context, scene, 'maker', poison)];
    const ends = await Promise.all(sides.map((side) => settle(side)));
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
  },
);

test('noise that names an escrow keeps no funder from its refund', limits, async (context) => {
  const scene = chains.swap({ a: 'TRX', b: 'SOL' });
  const taker = await sideOver(context, scene, 'taker', poison);
  await until(taker, 'seen');
  await chains.move(scene.market.watched('b').terms.timelock - chains.now() + 60);
  const { end } = await settle({ ...taker, client: null });
  assert.equal(end, 'refunded');
});

test(
  'who sees its leg claimed before the claim can be read waits for the secret',
  limits,
  async (context) => {
    const scene = chains.swap({ a: 'SOL', b: 'TRX' });
    let isDeep = false;
    const maker = await sideOver(context, scene, 'maker', async ({ method }, forward) => {
      const answer = await forward();
      const isHeld = method === 'getTransaction' && shows(answer, scene.secret) && !isDeep;
      return isHeld ? { result: null } : answer;
    });
    const onProgress = ({ text }: Progress) => {
      isDeep ||= text === 'claim of leg a is deep';
    };
    const ends = await Promise.all([
      settle(await sideOf(scene, 'taker')),
      settle({ ...maker, onProgress }),
    ]);
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
    assert.ok(isDeep);
  },
);

test(
  'a claim that a node takes eight seconds to give has given its secret away all the same',
  limits,
  async (context) => {
    const scene = chains.swap({ a: 'SOL', b: 'TRX' });
    const maker = await sideOver(context, scene, 'maker', async ({ method }, forward) => {
      const answer = await forward();
      const isSlow = method === 'getTransaction' && shows(answer, scene.secret);
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 7_600));
      return answer;
    });
    const ends = await Promise.all([settle(await sideOf(scene, 'taker')), settle(maker)]);
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
  },
);

function shows({ result }: Answer, secret: string): boolean {
  const { transaction } = (result ?? {}) as { transaction?: readonly string[] };
  const bytes = Buffer.from(transaction?.[0] ?? '', 'base64');
  return bytes.includes(Buffer.from(secret, 'hex'));
}
