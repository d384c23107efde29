// A claim that the market sends because the wallet cannot pay for it, on paper chains.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { claimCall, evmDeployment } from '@parley/chains/evm/plan.ts';
import type { Shortage } from '@parley/chains/interface/gas.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError } from '../errors.ts';
import type { Failure, Progress, SettleInput } from '../settle.ts';
import { walletOn } from '../testing/paper-chains.ts';
import {
  alter,
  type PaperScene,
  paperScene,
  recordOf,
  run,
  says,
  sent,
  untilMined,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import { leadSeconds } from './relaying.ts';

type Does = {
  /** The wallet's balance of the coin that pays for the claim. */
  has?: bigint;
  /** The market's own word on whether it sends. */
  says?: 'yes' | 'no' | 'nothing' | 'silent';
  sends?: boolean | 'lies';
};

const need = 1_000n;

/** The node's answer to a transaction that its sender cannot pay for. */
const insufficient = async (): Promise<never> => {
  throw new ParleyError('refused_by_node', 'insufficient funds for gas * price + value', {});
};

/** The initiator, whose wallet on the chain that pays it has this much. */
async function without({ has = 0n, says: said = 'yes', sends = true }: Does = {}) {
  const scene = await paperScene('taker');
  const { a } = scene.chains;
  const short = (address: string): Shortage | null =>
    has >= need
      ? null
      : { code: 'fee_poor', verb: 'claim', address, need, has, sentence: `has ${has} wei` };
  let looks = 0;
  alter(scene, 'a', () => ({
    claimShortage: async (_: unknown, payer: string) => {
      looks += 1;
      return short(payer);
    },
    fundsShortage: async (_: unknown, payer: string) => short(payer),
    ...(has === 0n && { broadcast: insufficient }),
  }));
  const keeper = walletOn(a, `0x${randomBytes(32).toString('hex')}`, 'others');
  const never = new AbortController().signal;
  const told: number[] = [];
  const relayClaim = async (_: string, __: string, secret: string) => {
    told.push(scene.wall);
    if (sends === 'lies') return { relayed: true, txid: `0x${randomBytes(32).toString('hex')}` };
    if (!sends) {
      const message = `this account has had 50 relays today, and ${secret}`;
      throw new ParleyApiError({ status: 409, code: 'relay_unavailable', message });
    }
    const call = claimCall(scene.watched.a.terms, evmDeployment(a.chainId), secret);
    const { raw, txid } = await keeper.sign(a.chainId, call, never);
    await a.others.adapter.broadcast(await a.others.adapter.readSigned(raw, never), never);
    return { relayed: true, txid };
  };
  const status = async () => {
    if (said === 'silent') {
      throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'gone' });
    }
    const more = said === 'nothing' ? {} : { sendsClaims: said === 'yes' };
    return { chains: [{ chain: a.key, ...more }] };
  };
  const market = scene.input.client as ParleyClient;
  const broadcast = async (chain: string, raw: string) =>
    has === 0n && chain === a.key ? insufficient() : market.broadcast(chain, raw);
  const client = { ...market, relayClaim, status, broadcast } as unknown as ParleyClient;
  const failures: Failure[] = [];
  const input: Partial<SettleInput> = {
    relay: 'without_gas',
    client,
    onShown: (shown) => void failures.push(...shown.failures),
  };
  return { scene, input, told, failures, looks: () => looks };
}

const ownClaims = (scene: PaperScene) =>
  scene.emitted.filter(({ step, text }) => step === 'claimed' && text.startsWith('sends'));

timed('a wallet without a coin is paid by the market’s claim, and signs none', async () => {
  const { scene, input, told } = await without();
  await untilMined(scene, 'a', input);
  // As long as it may take.
  assert.equal((await run(scene, { ...input, replaceAfterMs: 60_000 }))?.end, 'received');
  assert.deepEqual([told.length, ownClaims(scene).length], [1, 0]);
  assert.equal((await recordOf(scene)).claim, null);
  assert.ok(says(scene, 'funded all the same, to be relayed: has 0 wei'));
});

for (const said of ['no', 'silent'] as const) {
  timed(
    `no leg is funded where nobody could claim: of itself the market says: ${said}`,
    async () => {
      const { scene, input, told, failures } = await without({ says: said });
      await run(scene, input, () => failures.length > 0);
      assert.deepEqual([sent(scene, 'b', 'fund'), told], [[], []]);
      const [first] = failures;
      assert.deepEqual([first?.leg, first?.code], ['a', 'claim_unpayable']);
      assert.match(first?.sentence ?? '', /^has 0 wei/);
    },
  );
}

timed('a secret that would be refused for its time is not told', async () => {
  const { scene, input, told, failures } = await without();
  await run(scene, input, () => scene.chains.a.mined.length > 0);
  const { revealBy } = (await recordOf(scene)).swap.deadlines;
  scene.stepSeconds = 1;
  scene.wall = revealBy - leadSeconds + 1;
  await run(scene, input, () => scene.wall > revealBy);
  assert.deepEqual(told, []);
  assert.equal((await recordOf(scene)).publicSecret, null);
  const late = /s are left to show the secret, and the market wants up to 300$/;
  assert.ok(failures.some(({ sentence }) => late.test(sentence)));
});

timed(
  'a claim that the market refuses is asked for again, and what is missing is said',
  async () => {
    const refusing = await without({ sends: false });
    const { scene } = refusing;
    const says = ({ leg, code }: Failure) => leg === 'a' && code === 'claim_unpayable';
    await run(scene, refusing.input, () => refusing.failures.some(says));
    const record = await recordOf(scene);
    assert.equal(record.publicSecret, scene.secret);
    assert.equal(record.relay?.refused, 'this account has had 50 relays today, and …');
    // The node may be wrong about the gas: the public secret is tried all the same.
    assert.deepEqual([refusing.told.length, ownClaims(scene).length], [1, 1]);
    // Half a minute later.
    const relay = { askedAtMs: Date.now() - 31_000, txid: null };
    await scene.input.store.putSwap({ ...record, relay });
    const client = { ...refusing.input.client } as ParleyClient;
    const again = Promise.withResolvers<void>();
    const relayClaim = async () => again.resolve() as never;
    const input = { ...refusing.input, client: { ...client, relayClaim } };
    let isAsked = false;
    void again.promise.then(() => {
      isAsked = true;
    });
    await run(scene, input, () => isAsked);
    assert.ok(isAsked);
  },
);

timed('a refused claim goes by the wallet where it has something', async () => {
  const { scene, input, told } = await without({ has: need - 1n, sends: false });
  assert.equal((await run(scene, input))?.end, 'received');
  assert.deepEqual([told.length, ownClaims(scene).length], [1, 1]);
});

timed('a market that names one transaction after the other is waited for once', async () => {
  const { scene, input, told, failures, looks } = await without({ sends: 'lies' });
  const patient = { ...input, replaceAfterMs: 120_000 };
  await untilMined(scene, 'a', input);
  await run(scene, patient, () => says(scene, 'the market sends the claim of leg a'));
  const before = looks();
  const isWaiting = ({ step, text }: Progress) =>
    step === 'waiting' && text === 'the market sends the claim';
  await run(scene, patient, () => scene.emitted.some(isWaiting));
  assert.equal(looks(), before, 'nobody asks what the wallet lacks meanwhile');
  const record = await recordOf(scene);
  assert.equal(record.relay?.txid?.length, 66);
  const relay = { ...record.relay, askedAtMs: Date.now() - 31_000 };
  await scene.input.store.putSwap({ ...record, relay });
  const missing = () => failures.filter(({ code }) => code === 'claim_unpayable').length;
  // The shortage is emitted at each poll, and the market is asked again in half a minute.
  await run(scene, patient, () => missing() > 2);
  assert.ok(missing() > 2);
  assert.equal(told.length, 2);
});
