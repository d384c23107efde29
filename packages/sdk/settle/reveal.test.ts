// The steps before the secret is revealed: reads, trials and writes, for the market that is to send
// the claim, or for a node. On paper chains.

import assert from 'node:assert/strict';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Warning } from '@parley/chains/interface/gas.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { walletIn } from '../chains.ts';
import type { ParleyClient } from '../client.ts';
import type { SettleInput } from '../settle.ts';
import type { SwapRecord } from '../stores/store.ts';
import { withChain } from '../testing/honest.ts';
import {
  alter,
  type PaperScene,
  paperScene,
  run,
  says,
  sent,
  untilMined,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import { locked } from '../waiting.ts';
import { accountKey } from './record.ts';

/** The initiator with `relay`, and what its record was whenever the market was told the secret. */
async function relaying() {
  const scene = await paperScene('taker');
  const { store, client, swapId } = scene.input;
  const noted: (SwapRecord | null)[] = [];
  const relayClaim = async (_: string, leg: string, secret: string) => {
    assert.deepEqual([leg, secret], ['a', scene.secret]);
    noted.push(await store.getSwap(swapId));
    return { relayed: true, txid: '0x00' };
  };
  const input = { relay: true, client: { ...client, relayClaim } as unknown as ParleyClient };
  return { scene, noted, input, store };
}

timed('the secret is noted before the market has it, after both chains agreed', async () => {
  const { scene, noted, input } = await relaying();
  const asked = new Set<string>();
  for (const leg of ['a', 'b'] as const) {
    const agreed = async () => void asked.add(`agree ${leg}`);
    const tried = async (_: unknown, about: string) => void asked.add(`${about} ${leg}`);
    alter(scene, leg, () => ({ mustAgree: agreed, preflight: tried }));
  }
  // The market alone can pay for it.
  const lack = { code: 'fee_poor', verb: 'claim', need: 1n, has: 0n } as const;
  alter(scene, 'a', () => ({
    claimShortage: async () => ({ ...lack, address: '', sentence: 'no gas' }),
  }));
  await run(scene, input, () => noted.length > 0);
  const [first] = noted;
  assert.equal(first?.publicSecret, scene.secret);
  assert.ok(first.relay && first.relay.txid === null);
  for (const each of ['agree a', 'agree b', 'claim a']) assert.ok(asked.has(each), each);
});

type Put = (record: SwapRecord) => Promise<void>;
const putting = ({ input: { store } }: PaperScene, putSwap: Put) => ({
  store: { ...store, putSwap },
});

/** Changes after the poll that found the reveal open; each of them keeps the secret. */
const changes: Record<string, (scene: PaperScene) => Partial<SettleInput> | undefined> = {
  'its time is over once the payout was tried': (scene) => {
    const preflight = async (_: unknown, about: string) => {
      if (about === 'claim') scene.wall = Math.max(scene.wall, scene.timelock('a') - 3_600);
    };
    alter(scene, 'a', () => ({ preflight }));
    return undefined;
  },
  'a reorganisation took the own funding back': (scene) => {
    const { store } = scene.input;
    const getSecret = async (hashlock: string) => {
      scene.chains.b.mined.length = 0;
      return store.getSecret(hashlock);
    };
    return { store: { ...store, getSecret } };
  },
  'the payout would fail': (scene) => {
    scene.chains.a.refusesPayout = new ParleyError('payout_would_fail', 'paused', {});
    return undefined;
  },
  'a person paid twice by hand': (scene) => {
    const { store } = scene.input;
    const payment = { vout: 0, confirmations: 0, spent: null };
    const payments = async ({ terms: { amount } }: WatchedEscrow) => [
      { ...payment, txid: 'first', amount, is: 'funding' } as const,
      { ...payment, txid: 'second', amount: amount / 100n, is: 'too_little' } as const,
    ];
    alter(scene, 'b', () => ({ payments }));
    const getSwap = async (id: string) => {
      const record = await store.getSwap(id);
      return record && { ...record, byHand: true };
    };
    return { store: { ...store, getSwap } };
  },
  'two sources of the own chain disagree': (scene) => {
    const mustAgree = async () => {
      if (scene.chains.a.mined.length === 0) return;
      throw new ParleyError('sources_disagree', 'they differ', {});
    };
    alter(scene, 'b', () => ({ mustAgree }));
    return undefined;
  },
  'keeping it took too long': (scene) => {
    const { store } = scene.input;
    return putting(scene, async (record) => {
      if (record.publicSecret !== null) scene.wall = scene.timelock('a') - 3_600;
      return store.putSwap(record);
    });
  },
  'the store does not keep it': (scene) => {
    const { store } = scene.input;
    return putting(scene, async (record) => {
      if (record.publicSecret !== null) throw new Error('the disk is full');
      return store.putSwap(record);
    });
  },
};
for (const [what, change] of Object.entries(changes)) {
  timed(`neither the market nor a node is told the secret where ${what}`, async () => {
    for (const relay of [true, false]) {
      const { scene, noted, input } = await relaying();
      const own = { ...input, relay };
      await untilMined(scene, 'a', own);
      const more = { store: scene.input.store, ...change(scene) };
      let isKept = false;
      const putSwap = (record: SwapRecord) => {
        isKept ||= record.publicSecret !== null;
        return more.store.putSwap(record);
      };
      scene.stepSeconds = 300;
      const store = { ...more.store, putSwap };
      await run(scene, { ...own, store }, () => scene.wall > scene.timelock('a'));
      assert.deepEqual([noted, sent(scene, 'a', 'claim')], [[], []]);
      assert.equal(isKept, /keep/.test(what), 'no other one is even kept');
    }
  });
}

timed(
  'the secret waits for what its account sends before, so that its balance is true',
  async () => {
    const scene = await paperScene('taker');
    const { key, mined } = scene.chains.a;
    const { address } = walletIn(scene.input.chains, key);
    const before = Promise.withResolvers<void>();
    const sending = locked(accountKey(key, 'evm', address), () => before.promise);
    const running = run(scene);
    try {
      await waitUntil(() => mined.length > 0);
      await sleep(200);
      assert.deepEqual(sent(scene, 'a', 'claim'), []);
    } finally {
      before.resolve();
    }
    await sending;
    assert.equal((await running)?.end, 'received');
  },
);

timed('a claim that the market does not send is sent by the side itself', async () => {
  const { scene, input } = await relaying();
  const relayClaim = () => Promise.reject(new Error('this market has no gas key'));
  const client = { ...input.client, relayClaim } as unknown as ParleyClient;
  await run(scene, { ...input, client }, () => scene.endOf('a') === 'claimed');
  assert.equal(scene.endOf('a'), 'claimed');
  const refused = scene.emitted.find(({ step }) => step === 'market_refused');
  assert.match(refused?.text ?? '', /no gas key; sends the claim alone$/);
});

timed('a lack for the relay of a claim is told before the funding', async () => {
  const { scene, input } = await relaying();
  const lack: Warning = { code: 'fee_poor', verb: 'claim', address: '', sentence: 'no gas' };
  alter(scene, 'a', () => ({ fundsShortage: async () => lack }));
  await untilMined(scene, 'b', input);
  const said = 'funded all the same, to be relayed: no gas; if the market does not send the claim';
  assert.ok(says(scene, `${said} of leg a, nobody can`));
});
/** One node of the chain that pays refuses it, and the other one, asked first, hides it. */
const refusals: Record<string, Partial<ChainAdapter>> = {
  'the payout fails': {
    preflight: async () => {
      throw new ParleyError('payout_would_fail', 'paused', {});
    },
  },
  'the wallet lacks gas': {
    fundsShortage: async (_, address) => {
      const lack = { code: 'fee_poor', verb: 'claim', need: 1n, has: 0n } as const;
      return { ...lack, address, sentence: 'it has none' };
    },
  },
  'it is busy': {
    preflight: async () => {
      throw new ParleyError('chain_unavailable', 'busy', {});
    },
  },
};
for (const [what, refusal] of Object.entries(refusals)) {
  const isTold = what === 'it is busy';
  timed(
    `the secret is ${isTold ? 'told' : 'kept'} where one of two nodes says: ${what}`,
    async () => {
      const scene = await paperScene('taker', { stepSeconds: 300 });
      await untilMined(scene, 'a');
      const { key, source } = scene.chains.a;
      const { adapter } = source;
      const nodes = [adapter, { ...adapter, ...refusal }];
      const { chains } = scene.input;
      const own = withChain(chains, key, { source: { ...source, nodes } });
      const isOver = () => sent(scene, 'a', 'claim').length > 0 || scene.wall > scene.timelock('a');
      await run(scene, { chains: own }, isOver);
      assert.equal(sent(scene, 'a', 'claim').length, isTold ? 1 : 0);
    },
  );
}
