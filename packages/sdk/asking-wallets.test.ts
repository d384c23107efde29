// Wallets of a person on a real anvil and bitcoind: one that sends what it signs, and whose answer
// may be lost. The market is a stand-in that answers by the pure code.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { createPublicClient, type Hex, http, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { WalletError } from './errors.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { withChain } from './testing/honest.ts';
import {
  evmKey,
  hastySide,
  isFunded,
  onChains,
  recordOf,
  running,
  unscheduled,
  until,
} from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import { asking } from './wallets/asking.ts';
import { type EvmSendRequest, evmSender } from './wallets/evm-sender.ts';

const chainId = 31_337;
const on = onChains();

/** The end of a prompt: `sends` without an answer is a page that was closed in between. */
type Does = 'sends' | 'sends, silent' | 'silent' | 'declines' | 'sends another';

/** A wallet of a person with ether, as eth_sendTransaction has it. */
async function sending(withinMs = 400) {
  const owner = privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`);
  const { rpcUrl } = on.chains.place.evm;
  const node = createPublicClient({ transport: http(rpcUrl) });
  const asks = asking(withinMs);
  const prompts: EvmSendRequest[] = [];
  const sent: string[] = [];
  const send = async (request: EvmSendRequest, nonce?: number): Promise<Hex> => {
    const raw = await owner.signTransaction({
      type: 'eip1559',
      chainId,
      to: request.to as Hex,
      data: request.data as Hex,
      nonce:
        nonce ?? (await node.getTransactionCount({ address: owner.address, blockTag: 'pending' })),
      value: BigInt(request.value),
      gas: BigInt(request.gas),
      maxFeePerGas: 50_000_000_000n,
      maxPriorityFeePerGas: 1n,
    });
    await on.anvil.call('eth_sendRawTransaction', [raw]);
    sent.push(keccak256(raw));
    return keccak256(raw);
  };
  const person = { does: 'sends' as Does };
  const silent = () =>
    sleep(withinMs).then(() => Promise.reject(new WalletError('silent', 'no answer')));
  const account = {
    address: owner.address,
    asks,
    signMessage: (message: string) => owner.signMessage({ message }),
    ready: async () => {},
    sendTransaction: async (request: EvmSendRequest): Promise<unknown> => {
      prompts.push(request);
      switch (person.does) {
        case 'sends':
          return send(request);
        case 'sends, silent':
          await send(request);
          return silent();
        case 'silent':
          return silent();
        case 'declines':
          throw new WalletError('declined', 'no');
        case 'sends another':
          return send({ ...request, to: owner.address, data: '0x', value: '0x1' });
      }
    },
    signTypedData: async () => assert.fail('of ether'),
  };
  const wallet = evmSender({ rpcUrl, chainId, account });
  await on.chains.dev.faucet({ chain: evmKey, address: owner.address });
  return { wallet, asks, person, prompts, sent, send };
}

/** A maker who gives ether by such a wallet, and its taker. */
async function making(more: Partial<SettleInput> = {}) {
  const own = await sending();
  const scene = on.chains.swap({ a: 'ETH', b: 'BTC' }, { maker: own.wallet });
  const emitted: Progress[] = [];
  const onProgress = (each: Progress) => void emitted.push(each);
  const maker = await hastySide(scene, 'maker', { ...unscheduled, onProgress, ...more });
  const taker = await hastySide(scene, 'taker', unscheduled);
  const want = () => own.asks.want({ swapId: maker.swapId, verb: 'fund' });
  return { ...own, scene, maker, taker, emitted, want };
}

const isAsking = ({ step }: Progress) => step === 'asking';
const isRefused = ({ step }: Progress) => step === 'wallet_refused';

timed(
  "a person is asked only when wanting it, and the wallet's transaction is kept with its bytes",
  async () => {
    const { maker, taker, prompts, want, sent, asks } = await making();
    await until(taker, isFunded);
    await until(maker, isAsking);
    assert.deepEqual(prompts, []);
    want();
    await until(maker, isFunded);
    const { funding, asked } = await recordOf(maker);
    assert.deepEqual(
      [funding?.txid, keccak256(funding?.raw as Hex), asked],
      [sent[0], sent[0], null],
    );
    assert.equal(prompts.length, 1);
    const [shown] = asks.shown({ swapId: maker.swapId, verb: 'fund' });
    assert.deepEqual(
      [shown?.what, shown?.amount],
      ['fund', BigInt((prompts as EvmSendRequest[])[0]?.value ?? 0)],
    );
  },
);

timed(
  'no is no answer of a chain: the leg is as before, and is asked for when wanted again',
  async () => {
    const { maker, taker, prompts, want, person } = await making();
    await until(taker, isFunded);
    person.does = 'declines';
    want();
    await until(maker, isRefused);
    assert.equal((await recordOf(maker)).asked, null);
    await until(maker, isAsking);
    assert.equal(prompts.length, 1);
    person.does = 'sends';
    want();
    await until(maker, isFunded);
    assert.equal(prompts.length, 2);
  },
);

timed('a request is kept before the wallet asks, and its leg moves no more', async () => {
  const { maker, taker, want, person, scene } = await making();
  await until(taker, isFunded);
  person.does = 'silent';
  want();
  const puts: unknown[] = [];
  const store = {
    ...maker.store,
    putSwap: async (record: Parameters<typeof maker.store.putSwap>[0]) => {
      puts.push(record.asked ?? null);
      await maker.store.putSwap(record);
    },
  };
  await until({ ...maker, store }, isRefused);
  const { asked } = await recordOf(maker);
  assert.equal(asked?.escrow, scene.market.watched('a').address);
  assert.ok(puts.some((each) => each !== null));
  const { address } = scene.market.watched('a');
  await until(maker, isAsking);
  assert.equal((await recordOf(maker)).swap.legs.a.escrow?.address, address);
});

timed(
  'a funding whose answer was lost is found by its escrow, and never asked for again',
  async () => {
    const { maker, taker, want, person, prompts, sent, wallet } = await making();
    await until(taker, isFunded);
    person.does = 'sends, silent';
    want();
    await until(maker, isRefused);
    const { asked } = await recordOf(maker);
    assert.deepEqual([asked?.txid, sent.length], [null, 1]);
    want();
    const ends = await Promise.all([settle(maker), settle(taker)]);
    assert.deepEqual(
      ends.map(({ end, txids }) => [end, txids.a.fund]),
      [
        ['received', sent[0]],
        ['received', sent[0]],
      ],
    );
    assert.deepEqual([prompts.length, await on.anvil.countOf(wallet.address)], [1, 1]);
  },
);

timed(
  "the wallet's transaction is held against what it was asked for, then and later",
  async () => {
    const { maker, taker, want, person, sent } = await making();
    await until(taker, isFunded);
    person.does = 'sends another';
    want();
    const { text, txid } = await until(maker, isRefused);
    assert.match(text, /not what it was asked for: it calls 0x.* with 1 wei/);
    assert.equal(txid, sent[0]);
    await until(maker, isAsking);
    const { funding, asked } = await recordOf(maker);
    assert.deepEqual([funding, asked?.txid], [null, txid]);
  },
);

timed('a secret counts as public before a person’s wallet sees it', async () => {
  const own = await sending();
  const scene = on.chains.swap({ a: 'ETH', b: 'BTC' });
  const maker = await hastySide(scene, 'maker', unscheduled);
  const input = await hastySide(scene, 'taker', unscheduled);
  const taker = { ...input, chains: withChain(input.chains, evmKey, { wallet: own.wallet }) };
  const others = running(maker);
  const side = running(taker);
  await side.next('asking');
  assert.equal((await recordOf(taker)).publicSecret, null);
  assert.deepEqual(own.prompts, []);
  own.person.does = 'declines';
  own.asks.want({ swapId: taker.swapId, verb: 'claim' });
  await side.next('wallet_refused');
  const record = await recordOf(taker);
  assert.deepEqual([record.publicSecret, record.claim], [scene.secret, null]);
  own.person.does = 'sends';
  own.asks.want({ swapId: taker.swapId, verb: 'claim' });
  assert.deepEqual([(await side.end).end, (await others.end).end], ['received', 'received']);
  assert.equal(own.prompts.length, 2);
});
