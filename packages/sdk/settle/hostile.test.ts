// A side's behaviour when signing takes long, a token stops paying, its wallet or node fails, or
// the market lies and keeps its input: on paper chains, with one thing altered at a time.

import assert from 'node:assert/strict';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { nothingSeen } from '@parley/core/facts.ts';
import type { LegName } from '@parley/core/trade.ts';
import { walletIn } from '../chains.ts';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError } from '../errors.ts';
import type { SettleInput } from '../settle.ts';
import type { SwapRecord } from '../stores/store.ts';
import { withChain } from '../testing/honest.ts';
import {
  aboutToReveal,
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
import type { EvmWallet } from '../wallets/wallet.ts';

const never = () => new Promise<never>(() => {});
/** An act between the signature of this leg's transaction and its use. */
function onSigned(scene: PaperScene, leg: LegName, then: () => unknown): Partial<SettleInput> {
  const { key } = scene.chains[leg];
  const wallet = walletIn(scene.input.chains, key) as EvmWallet;
  const sign: EvmWallet['sign'] = async (...about) => {
    const signed = await wallet.sign(...about);
    await then();
    return signed;
  };
  return { chains: withChain(scene.input.chains, key, { wallet: { ...wallet, sign } }) };
}

const deadlinesOf = async (scene: PaperScene) => (await recordOf(scene)).swap.deadlines;
const dry = { code: 'fee_poor', sentence: 'it ran dry' };

timed('a funding whose signature took until after the deadline is not sent', async () => {
  const scene = await paperScene('taker');
  const slow = onSigned(scene, 'b', async () => {
    scene.wall = (await deadlinesOf(scene)).initiatorFundBy + 5;
  });
  assert.equal((await run(scene, slow))?.end, 'nothing');
  assert.deepEqual(sent(scene, 'b', 'fund'), []);
  assert.ok(!scene.market.calls.includes('taker broadcast'));
});

for (const party of ['maker', 'taker'] as const) {
  timed(
    `the ${party} sends no funding that another device gave up while it was signed`,
    async () => {
      const scene = await paperScene(party);
      scene.isShared = true;
      const { gives, gets, input } = scene;
      const client = input.client as ParleyClient;
      const gaveUp = onSigned(scene, gives, () => client.release(input.swapId, gets));
      const broadcast = () => refused(409, 'given_up');
      const own = { ...gaveUp, client: { ...client, broadcast } as unknown as ParleyClient };
      let steps = 0;
      const isEnough = () => says(scene, 'given up on another device') && ++steps > 10;
      await run(scene, own, isEnough);
      assert.deepEqual(sent(scene, gives, 'fund'), []);
      const { funding, givenUp } = await recordOf(scene);
      assert.ok(funding !== null && givenUp?.told === 'wish');
    },
  );
}

const meanwhile: Record<string, (scene: PaperScene, record: SwapRecord) => unknown> = {
  'its time has passed': (scene, { swap }) => {
    scene.wall = swap.deadlines.revealBy + 5;
  },
  'the token was paused': ({ chains }) => {
    chains.a.refusesPayout = new ParleyError('payout_would_fail', 'the token is paused', {});
  },
  'the other funding was taken back': ({ chains }) => chains.a.mined.splice(0),
  'it cannot be paid for any more': (scene) =>
    alter(scene, 'a', () => ({ fundsShortage: async () => dry })),
};
for (const [what, happens] of Object.entries(meanwhile)) {
  timed(`a claim is not sent where, while it was signed, ${what}`, async () => {
    const scene = await aboutToReveal();
    const record = await recordOf(scene);
    scene.stepSeconds = 300;
    const slow = onSigned(scene, 'a', () => happens(scene, record));
    await run(scene, slow, () => scene.wall > scene.timelock('a'));
    const { claim, publicSecret } = await recordOf(scene);
    assert.deepEqual([claim, publicSecret, sent(scene, 'a', 'claim')], [null, null, []]);
  });
}

/** The customer's adapter of a leg, whose trials fail where they are about this. */
function preflight(scene: PaperScene, leg: LegName, fails: (about: string) => boolean): void {
  alter(scene, leg, (was) => ({
    preflight: async (...about: Parameters<ChainAdapter['preflight']>) => {
      if (fails(about[1])) throw new ParleyError('payout_would_fail', 'it would not pay', {});
      return was.preflight(...about);
    },
  }));
}

timed('no leg is funded while either would not pay, or its sources differ', async () => {
  for (const [leg, failing] of [
    ['a', 'payout'],
    ['b', 'payout'],
    ['b', 'funding'],
    ['a', 'differ'],
    ['b', 'differ'],
  ] as const) {
    const scene = await paperScene('taker', { stepSeconds: 600 });
    const mustAgree = async () => {
      throw new ParleyError('sources_disagree', 'the sources differ', {});
    };
    if (failing === 'differ') alter(scene, leg, () => ({ mustAgree }));
    else preflight(scene, leg, (about) => about === failing);
    await run(scene);
    assert.deepEqual(sent(scene, 'b', 'fund'), [], `${failing} of ${leg}`);
    assert.ok(says(scene, failing === 'differ' ? 'the sources differ' : 'it would not pay'));
  }
});

timed(
  'a side never funds without the secret, nor where another swap has the hashlock',
  async () => {
    for (const held of [null, '77'.repeat(32)]) {
      const scene = await paperScene('taker');
      const store = { ...scene.input.store, getSecret: async () => held };
      await assert.rejects(run(scene, { store }), { code: 'secret_lost' });
      assert.ok(!scene.market.calls.includes('taker fund b'));
    }
    const scene = await paperScene('taker');
    await run(scene, {}, () => says(scene, 'follow from your own trade'));
    const record = await recordOf(scene);
    await scene.input.store.putSwap({ ...record, swap: { ...record.swap, id: 'another' } });
    await assert.rejects(run(scene), { code: 'hashlock_used' });
    assert.deepEqual(sent(scene, 'b', 'fund'), []);
  },
);

const refused = (status: number, code: string) =>
  Promise.reject(new ParleyApiError({ status, code, message: code }));
const keepings: Record<string, () => Promise<unknown>> = {
  'says that it was sent': async () => ({ txid: '00' }),
  refuses: () => refused(409, 'too_late'),
  'never answers': never,
};
for (const [what, keep] of Object.entries(keepings)) {
  timed(`a market that gets the claim and ${what} does not have the secret alone`, async () => {
    const scene = await aboutToReveal();
    const { client } = scene.input;
    const noted: boolean[] = [];
    const broadcast = async () => {
      noted.push((await recordOf(scene)).publicSecret === scene.secret);
      // The secret is shown no more from here on, but this one was sent.
      scene.wall = Math.max(scene.wall, (await deadlinesOf(scene)).revealBy + 60);
      return keep();
    };
    let lost = 0;
    alter(scene, 'a', (was) => ({
      broadcast: async (...about: Parameters<typeof was.broadcast>) => {
        lost += 1;
        return lost === 1 && keep !== never ? about[0].txid : was.broadcast(...about);
      },
    }));
    const own = { client: { ...client, broadcast } as unknown as ParleyClient };
    await run(scene, own, () => scene.endOf('a') !== null);
    assert.equal(scene.endOf('a'), 'claimed');
    assert.ok(noted.length > 0 && !noted.includes(false), 'handed out and not noted');
  });
}

timed('a wallet that fails, and a market that closes the key, do not end the watch', async () => {
  const scene = await paperScene('maker');
  await untilMined(scene, 'a');
  let fails = 3;
  const locked = onSigned(scene, 'b', () => {
    fails -= 1;
    if (fails >= 0) throw new Error('the wallet is locked');
  });
  const closed = () => refused(401, 'key_invalid');
  const client = { swap: closed, broadcast: closed } as unknown as ParleyClient;
  assert.equal((await run(scene, { ...locked, client }))?.end, 'received');
  assert.equal(fails, -1);
});

timed('a node that lags behind and shows no funding yet does not make it fund again', async () => {
  const scene = await paperScene('taker');
  await untilMined(scene, 'b');
  let blind = 10;
  alter(scene, 'b', ({ look }) => ({
    look: async (...about: Parameters<typeof look>) => {
      const found = await look(...about);
      blind -= 1;
      return blind < 0 ? found : { ...found, facts: [nothingSeen] };
    },
  }));
  assert.equal((await run(scene))?.end, 'received');
  assert.ok(blind < 0);
  assert.equal(sent(scene, 'b', 'fund').length, 1);
});

timed('a listener that throws each time ends no settlement', async () => {
  let calls = 0;
  const onProgress = () => {
    calls += 1;
    throw new Error('the pipe is closed');
  };
  assert.equal((await run(await paperScene('taker'), { onProgress }))?.end, 'received');
  assert.ok(calls > 3);
});

timed('what the short leg’s funder does to its own account stops no reveal', async () => {
  const scene = await aboutToReveal();
  preflight(scene, 'a', (about) => about !== 'claim');
  assert.equal((await run(scene))?.end, 'received');
});
