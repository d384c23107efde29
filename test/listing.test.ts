// Listing tokens over HTTP, with tokens on real dev chains: anvil, TRON's simulator, litesvm. Every
// answer of POST /v1/assets, and what a maker on the feed sees of a token that fails and recovers.

import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Address } from '@solana/kit';
import { evmAdapter } from '../chains/evm/adapter.ts';
import { evmChains } from '../chains/evm/policy.ts';
import { type TestChain as Anvil, startAnvil } from '../chains/evm/testing/anvil.ts';
import { handsOn, proxyArgs, slot1967 } from '../chains/evm/testing/tokens.ts';
import { newWorld, type World, walletOf } from '../chains/solana/testing/world.ts';
import { tronAdapter } from '../chains/tron/adapter.ts';
import { tronDevPolicy } from '../chains/tron/policy.ts';
import { newcomer, startTron, type TestChain as TronChain } from '../chains/tron/testing/chain.ts';
import { deployToken } from '../chains/tron/testing/tokens.ts';
import type { Frame } from '../server/edge/testing/feed-client.ts';
import { type FeedMarket, feedMarket } from '../server/edge/testing/feed-market.ts';
import { createRechecks, type Rechecks } from '../server/listing/rechecks.ts';
import { defaultListingRules } from '../server/settings/listing.ts';
import { type MintOptions, makeMint } from '../simulators/solana/testing/mints.ts';
import { stubAdapter } from './support/adapter.ts';
import type { Trader } from './support/trading.ts';

const limits = { timeout: 240_000 };
const undo: (() => unknown)[] = [];
const context = { after: (step: () => unknown) => undo.unshift(step) } as unknown as TestContext;
let anvil: Anvil;
let tron: TronChain;
let solana: World;
let market: FeedMarket;
let rechecks: Rechecks;
let taker: Trader;
const evm = handsOn(() => anvil);

before(async () => {
  [anvil, tron, solana] = await Promise.all([startAnvil(), startTron(), newWorld(context)]);
  undo.push(
    () => anvil.stop(),
    () => tron.stop(),
  );
  // Whoever may pause a token is let through: what is seen is whether it does.
  const powers = { ...defaultListingRules.powers, pausable: 'pass' as const };
  const listingRules = { ...defaultListingRules, powers };
  // A slow machine is to be told apart from a look that takes long.
  const settings = { chainTimeoutMs: 60_000, listingRules };
  market = await feedMarket(settings, {}, [
    stubAdapter('bitcoin', 'bitcoin'),
    evmAdapter({
      chain: 'evm-dev',
      chainId: anvil.chainId,
      rpcUrls: [anvil.rpcUrl],
      policy: evmChains['evm-dev'].policy,
    }),
    tronAdapter({
      chain: 'tron-dev',
      deployment: tron.deployment,
      sources: [{ url: tron.url }],
      policy: tronDevPolicy,
    }),
    solana.adapter,
  ]);
  undo.unshift(() => market.close());
  rechecks = createRechecks(market.deps);
  undo.unshift(() => rechecks.stop());
  taker = await market.trader();
}, limits);
after(async () => {
  for (const step of undo) await step();
}, limits);

const GOOD = { name: 'Good Token', symbol: 'GOOD' };
const mint =
  (name: string, options: Partial<MintOptions> = {}) =>
  () =>
    makeMint(solana.chain, {
      name,
      metadata: GOOD,
      holder: walletOf('funder') as Address,
      ...options,
    });
const onTron = (name: Parameters<typeof deployToken>[1]) => () => deployToken(tron, name);

type Row = readonly [
  chain: 'evm-dev' | 'tron-dev' | 'solana-dev',
  promise: string,
  token: () => Promise<string> | string,
  status: number,
  answer: RegExp,
];

const rows: readonly Row[] = [
  ['evm-dev', 'a good token is listed', () => evm.put('Plain'), 201, /^listed PLAIN 18/],
  ['evm-dev', 'a fee is rejected', () => evm.put('Fee'), 422, /^rejected transfer: .*3\.00 %/],
  [
    'evm-dev',
    'a honeypot that cannot be sold is rejected',
    () => evm.put('Honeypot'),
    422,
    /^rejected transfer: .*FAILED/,
  ],
  [
    'evm-dev',
    'one that somebody can freeze holders of waits',
    () => evm.put('Blacklisting'),
    202,
    /^pending blacklist: /,
  ],
  [
    'evm-dev',
    'one whose code can be replaced is rejected',
    () => evm.behind('Proxy', proxyArgs(slot1967, walletHex)),
    422,
    /^rejected upgradeable: /,
  ],
  ['evm-dev', 'a plain account is no token', () => walletHex, 400, /no token/],
  ['evm-dev', 'a contract that is no token is none', () => evm.put('NotAToken'), 400, /no token/],
  ['tron-dev', 'a good token is listed', onTron('Good'), 201, /^listed GOOD 6/],
  [
    'tron-dev',
    'one that answers false, as the dollar there, is listed',
    onTron('AnswersFalseButMoves'),
    201,
    /^listed /,
  ],
  ['tron-dev', 'a fee is rejected', onTron('TakesOnePercent'), 422, /^rejected transfer: /],
  [
    'tron-dev',
    'a honeypot that cannot be sold is rejected',
    onTron('Honeypot'),
    422,
    /^rejected transfer: .*Bought is bought/,
  ],
  [
    'tron-dev',
    'one that somebody can make more of waits',
    onTron('CanMint'),
    202,
    /^pending mintable: /,
  ],
  ['tron-dev', 'an account that was never used is no token', newcomer, 400, /no token/],
  ['solana-dev', 'a safe Token-2022 mint is listed', mint('good'), 201, /^listed GOOD /],
  [
    'solana-dev',
    'a Token-2022 mint with a hook is rejected',
    mint('hook', { extensions: ['transferHook'] }),
    422,
    /^rejected extensions: .*hook/i,
  ],
  [
    'solana-dev',
    'one that somebody can make more of waits',
    mint('more', { isMintable: true }),
    202,
    /^pending mintable: /,
  ],
  [
    'solana-dev',
    'one that calls itself as a curated one is rejected',
    mint('like', { metadata: { name: 'Bridged', symbol: 'U\u0405D.e' } }),
    422,
    /^rejected symbol: .*USD/,
  ],
  ['solana-dev', 'a wallet is no token', () => walletOf('payee'), 400, /no token/],
];
const walletHex = '0x00000000000000000000000000000000000000e0';

for (const [chain, promise, token, status, answer] of rows) {
  test(`${chain}: ${promise}`, limits, async () => {
    const address = await token();
    const reply = await taker.post('/v1/assets', { chain, address });
    const { asset, reasons = [], error = '' } = reply.body;
    const told =
      asset === undefined
        ? `${reply.body.status ?? ''} ${reasons.join('; ') || error}`
        : `${reply.body.status} ${asset.symbol} ${asset.decimals}`;
    assert.equal(reply.status, status, JSON.stringify(reply.body));
    assert.match(told, answer);
    if (status === 201) {
      assert.deepEqual([asset.verified, asset.source, asset.enabled], [false, 'api', true]);
      const again = await taker.post('/v1/assets', { chain, address });
      assert.deepEqual([again.status, again.body.asset], [200, asset]);
    }
  });
}

const day = 86_400_000;
const about = (id: string, kind: string) => (frame: Frame) =>
  frame.type === 'rfq' && frame.kind === kind && frame.rfq.id === id;

test(
  'a maker sees the orders of a token that stops leave, and come back when it goes on',
  limits,
  async () => {
    const address = await evm.put('Pausable');
    const { status, body } = await taker.post('/v1/assets', { chain: 'evm-dev', address });
    assert.equal(status, 201, JSON.stringify(body));
    const maker = await market.maker(await market.trader());
    const fields = { quoteAssetId: body.asset.id, ttlSeconds: 604_800 };
    const lasts = await market.rfq(taker, fields);
    const ends = await market.rfq(taker, { ...fields, ttlSeconds: 3_600 });
    await maker.frame(about(ends.id, 'created'));

    await evm.tell('Pausable', address, 'pause');
    market.deps.advance(day);
    await rechecks.pass();
    await maker.frame(about(lasts.id, 'cancelled'));
    const closed = await taker.get(`/v1/assets?address=${address}`);
    assert.equal(closed.body.assets[0].enabled, false);
    const asked = await taker.post('/v1/assets', { chain: 'evm-dev', address });
    assert.deepEqual([asked.status, asked.body.status], [202, 'closed']);
    assert.match(asked.body.reasons.join(), /pausable: .*paused/);
    assert.deepEqual((await taker.get(`/v1/rfqs/${lasts.id}`)).body.status, 'open');
    const quoter = await market.trader();
    const quoted = await quoter.post(`/v1/rfqs/${lasts.id}/quotes`, { quoteAmount: '5' });
    assert.deepEqual([quoted.status, quoted.code], [409, 'asset_closed']);

    await evm.tell('Pausable', address, 'unpause');
    market.deps.advance(day);
    await rechecks.pass();
    await maker.frame(() => maker.frames.filter(about(lasts.id, 'created')).length === 2);
    const [first, again] = maker.frames.filter(about(lasts.id, 'created'));
    assert.deepEqual(again?.rfq, first?.rfq);
    const frames = maker.frames.filter(({ type, rfq }) => type === 'rfq' && rfq.id === ends.id);
    assert.deepEqual(
      frames.map(({ kind }) => kind),
      ['created'],
      'it had ended before its token closed, and stays away',
    );
    const book = await taker.get(`/v1/rfqs?quoteAssetId=${body.asset.id}`);
    assert.deepEqual(
      book.body.rfqs.map(({ id }: { id: string }) => id),
      [lasts.id],
    );
    maker.close();
  },
);

test('a token that turns a fee on is delisted, and says so to whoever asks', limits, async () => {
  const address = await evm.put('Pausable');
  const asked = () => taker.post('/v1/assets', { chain: 'evm-dev', address });
  assert.equal((await asked()).status, 201);
  // Its owner could not do this: another contract stands at its address now.
  const fee = await evm.put('Fee');
  const code = await anvil.client.getCode({ address: fee as `0x${string}` });
  await anvil.client.setCode({
    address: address as `0x${string}`,
    bytecode: code as `0x${string}`,
  });
  market.deps.advance(day);
  await rechecks.pass();
  assert.equal((await asked()).body.status, 'closed');
  market.deps.advance(day);
  await rechecks.pass();
  const { status, code: refusal, body } = await asked();
  assert.deepEqual([status, refusal, body.status], [422, 'asset_delisted', 'delisted']);
});
