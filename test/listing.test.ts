// Listing tokens over HTTP, with tokens on real dev chains: anvil, TRON's simulator, litesvm. Each
// answer of POST /v1/assets by each family; what becomes of a token later is in server/listing.

import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Address } from '@solana/kit';
import { evmAdapter } from '../chains/evm/adapter.ts';
import { evmChains } from '../chains/evm/policy.ts';
import { type TestChain as Anvil, startAnvil } from '../chains/evm/testing/anvil.ts';
import { handsOn } from '../chains/evm/testing/tokens.ts';
import { newWorld, type World, walletOf } from '../chains/solana/testing/world.ts';
import { tronAdapter } from '../chains/tron/adapter.ts';
import { tronDevPolicy } from '../chains/tron/policy.ts';
import { newcomer, startTron, type TestChain as TronChain } from '../chains/tron/testing/chain.ts';
import { deployToken } from '../chains/tron/testing/tokens.ts';
import { type MintOptions, makeMint } from '../simulators/solana/testing/mints.ts';
import { stubAdapter } from './support/adapter.ts';
import { type TestMarket, type Trader, testMarket } from './support/trading.ts';

const limits = { timeout: 240_000 };
const undo: (() => unknown)[] = [];
const context = { after: (step: () => unknown) => undo.unshift(step) } as unknown as TestContext;
let anvil: Anvil;
let tron: TronChain;
let solana: World;
let market: TestMarket;
let taker: Trader;
const evm = handsOn(() => anvil);

before(async () => {
  [anvil, tron, solana] = await Promise.all([startAnvil(), startTron(), newWorld(context)]);
  undo.push(
    () => anvil.stop(),
    () => tron.stop(),
  );
  // A slow machine is to be told apart from a look that takes long.
  const settings = { chainTimeoutMs: 60_000 };
  const adapters = [
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
  ];
  market = await testMarket({ settings, adapters });
  undo.unshift(() => market.close());
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
  ['evm-dev', 'a contract that is no token is none', () => evm.put('NotAToken'), 400, /no token/],
  [
    'tron-dev',
    'one that answers false, as the dollar there, is listed',
    onTron('AnswersFalse'),
    201,
    /^listed /,
  ],
  [
    'tron-dev',
    'a honeypot that cannot be sold is rejected',
    onTron('Kept'),
    422,
    /^rejected transfer: .*Bought is bought/,
  ],
  [
    'tron-dev',
    'one that somebody can make more of waits',
    onTron('Mintable'),
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
    'one that calls itself as a curated one is rejected',
    mint('like', { metadata: { name: 'Bridged', symbol: 'U\u0405D.e' } }),
    422,
    /^rejected symbol: .*USD/,
  ],
  ['solana-dev', 'a wallet is no token', () => walletOf('payee'), 400, /no token/],
];

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
