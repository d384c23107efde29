// How old a snapshot of the chains may be when something is signed by it, and when it is sent.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { inspect } from 'node:util';
import { ParleyError } from '@parley/core/errors.ts';
import { found } from '@parley/verify/test/support/secrets.ts';
import { base58 } from '@scure/base';
import type { PartyChain } from '../chains.ts';
import { memoryStore } from '../stores/memory.ts';
import { keptRecord, swapId, withChain } from '../testing/honest.ts';
import { paperScene, run } from '../testing/paper-scene.ts';
import { contextOf } from './context.ts';
import { unquoted } from './market.ts';
import { legOf } from './record.ts';
import {
  freshMs,
  fundingGate,
  mostSnapshots,
  signAndKeep,
  signedFreshMs,
  unsignedSpend,
} from './sign.ts';

const record = keptRecord('maker');
const leg = legOf(record, 'a');

/** The acts, in order, where a lock comes so late or a signature takes so long. */
async function stepsOf(took: {
  lockMs?: number;
  signMs?: number;
  family?: 'bitcoin' | 'tron' | 'solana';
}): Promise<string> {
  const steps: string[] = [];
  let atMs = 0;
  const wallet = {
    family: took.family ?? 'evm',
    address: `0x${'ab'.repeat(20)}`,
    forget: () => {},
  };
  const lock = async () => {
    atMs += took.lockMs ?? 0;
    return { release: async () => {} };
  };
  const context = contextOf({
    swapId,
    client: null,
    store: { ...memoryStore(), lock },
    chains: { [leg.chain]: { wallet } as unknown as PartyChain },
  });
  await context.store.putSwap(record);
  const gate = async () => {
    steps.push('poll');
    return async () => void steps.push('again');
  };
  await signAndKeep(
    context,
    leg,
    {
      gate,
      sign: async () => {
        steps.push('sign');
        atMs += took.signMs ?? 0;
        return { txid: '0x', raw: '0x' };
      },
      keeps: (funding) => {
        steps.push('keep');
        return { funding };
      },
      isUrgent: false,
    },
    () => atMs,
  );
  return steps.join(' ');
}

const polls = Array.from({ length: mostSnapshots }, () => 'poll').join(' ');
// A kept transaction is stamped with that moment: it is on its way from then on.
for (const [what, took, steps] of [
  ['a lock comes in time', { lockMs: freshMs }, 'poll sign again keep'],
  ['it comes later', { lockMs: freshMs + 1 }, `${polls} sign again keep`],
  ['a signature takes its time', { signMs: signedFreshMs }, 'poll sign again keep'],
  ['it takes longer', { signMs: signedFreshMs + 1 }, 'poll sign poll keep'],
  ['Bitcoin shares no nonce', { family: 'bitcoin', signMs: 1 }, 'sign poll keep'],
  ['TRON shares no nonce', { family: 'tron', signMs: 1 }, 'sign poll keep'],
  ['Solana shares no nonce', { family: 'solana', signMs: 1 }, 'sign poll keep'],
] as const) {
  test(`both chains are polled as often as it takes where ${what}`, async () => {
    assert.equal(await stepsOf(took), steps);
  });
}

test("the chains' state after a signature keeps a late funding from being sent", async () => {
  const scene = await paperScene('taker');
  await run(scene, {}, () => scene.emitted.some(({ step }) => step === 'verified'));
  const context = contextOf({ ...scene.input, chainTimeoutMs: 5_000 });
  await context.store.getSwap(scene.input.swapId);
  const { initiatorFundBy } = context.record.swap.deadlines;
  scene.stepSeconds = 0;
  for (const [late, code] of [
    [0, null],
    [1, 'too_late_to_fund'],
  ] as const) {
    scene.wall = initiatorFundBy + late;
    const gated = fundingGate(context);
    await (code === null ? gated : assert.rejects(gated, { code }));
  }
});

test('a claim that one node may have built in vain is built by another one the next time', async () => {
  const scene = await paperScene('maker');
  await run(scene, {}, () => scene.emitted.some(({ step }) => step === 'verified'));
  const { key, source } = scene.chains.b;
  const asked: string[] = [];
  const by = (name: string) => ({
    ...source.adapter,
    buildClaim: async (...about: Parameters<typeof source.adapter.buildClaim>) => {
      asked.push(name);
      return source.adapter.buildClaim(...about);
    },
  });
  const own = { source: { ...source, adapter: by('all'), nodes: [by('first'), by('second')] } };
  const chains = withChain(scene.input.chains, key, own);
  const context = contextOf({ ...scene.input, chains, chainTimeoutMs: 5_000 });
  await context.store.getSwap(scene.input.swapId);
  const { secret } = scene;
  await context.keep({ publicSecret: secret });
  for (let times = 0; times < 5; times += 1) {
    await unsignedSpend(context, legOf(context.record, 'b'), { verb: 'claim', secret });
  }
  assert.deepEqual(asked, ['all', 'second', 'all', 'first', 'all']);
});

test("a wallet's failure while the secret is kept quotes nothing that it was given", async () => {
  const secret = randomBytes(32);
  const hex = secret.toString('hex');
  for (const quoted of [
    hex,
    `{"data":"0x00${hex.toUpperCase()}00"}`,
    Buffer.concat([Buffer.from('x'), secret]).toString('base64'),
    base58.encode(secret),
    JSON.stringify([...secret]),
    inspect(secret, { breakLength: 40 }),
    inspect(new Uint8Array(secret)),
    ...[4, 16, 32].map((each) => hex.replace(new RegExp(`.{${each}}`, 'g'), '$& ')),
    JSON.stringify(hex.match(/../g)),
  ]) {
    const failing = async () => {
      throw Object.assign(new TypeError(`device 7 is locked: ${quoted}`), { quoted });
    };
    const emitted = await unquoted(failing).catch((error: unknown) => inspect(error));
    assert.match(String(emitted), /device 7 is locked: /);
    const parts = hex.match(/.{8}/g) ?? [];
    const shown = parts.filter((each) => String(emitted).toLowerCase().includes(each));
    assert.deepEqual(shown, [], quoted);
    assert.deepEqual(found(String(emitted), new Map([['secret', hex]])), [], quoted);
  }
  const raw = Buffer.from('00'.repeat(8).concat('61'.repeat(24)), 'hex').toString('latin1');
  const emitted = await unquoted(() => Promise.reject(new Error(`locked: ${raw}`))).catch(String);
  assert.ok(!String(emitted).includes('aaa'), String(emitted));
  const ours = new ParleyError('chain_timeout', hex);
  await assert.rejects(
    unquoted(() => Promise.reject(ours)),
    ours,
  );
});
