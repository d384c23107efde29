// Tokens on the dev chain of each family, from POST /v1/assets or a launch to what the market says
// of them: anvil, TRON's simulator, litesvm. The findings of each check are tested in chains.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { evmAdapter } from '@parley/chains/evm/adapter.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { startAnvil } from '@parley/chains/evm/testing/anvil.ts';
import { deployLaunchpad } from '@parley/chains/evm/testing/launches.ts';
import { handsOn } from '@parley/chains/evm/testing/tokens.ts';
import { token2022Program } from '@parley/chains/solana/programs.ts';
import { mintsOf } from '@parley/chains/solana/testing/launches.ts';
import { adapterOf, finalize, newWorld, walletOf } from '@parley/chains/solana/testing/world.ts';
import { tronAdapter } from '@parley/chains/tron/adapter.ts';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import { newcomer, startTron } from '@parley/chains/tron/testing/chain.ts';
import { deployLaunchpad as deployOnTron } from '@parley/chains/tron/testing/launches.ts';
import { deployToken } from '@parley/chains/tron/testing/tokens.ts';
import { type MintOptions, makeMint } from '@parley/dev/simulators/solana/testing/mints.ts';
import type { LaunchSource } from '@parley/tokens/launches.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import { testMarket } from '@parley/verify/test/support/trading.ts';
import type { Address } from '@solana/kit';
import { createLaunchpads } from './launchpads/watch.ts';
import { createRechecks } from './rechecks.ts';

type Row = readonly [
  promise: string,
  token: () => Promise<string> | string,
  status: number,
  answer: RegExp,
];
type Scene = {
  readonly adapter: ChainAdapter;
  readonly source: LaunchSource;
  launch(name: string): Promise<string>;
  /** The events in the newest block stay. */
  deepen(): Promise<void>;
  readonly rows: readonly Row[];
};

async function onEvm(context: TestContext): Promise<Scene> {
  const chain = await startAnvil();
  context.after(() => chain.stop());
  const { policy } = evmChains['evm-dev'];
  const rpcUrls = [chain.rpcUrl];
  const pad = await deployLaunchpad(chain);
  const hands = handsOn(() => chain);
  return {
    adapter: evmAdapter({ chain: 'evm-dev', chainId: 31_337, rpcUrls, policy }),
    source: pad.source,
    launch: async (name) => (await pad.launch(name))[0] as string,
    deepen: () => chain.client.mine({ blocks: policy.normal.confirmations }),
    rows: [
      ['a good token is listed', () => hands.put('Plain'), 201, /^listed PLAIN 18/],
      [
        'one that takes a fee is rejected',
        () => hands.put('Fee'),
        422,
        /^rejected transfer: .*970/,
      ],
      ['one that cannot be passed on waits', () => hands.put('Honeypot'), 202, /^pending .*FAILED/],
      ['one with a blacklist waits', () => hands.put('Blacklisting'), 202, /^pending blacklist: /],
      ['a contract that is no token is none', () => hands.put('NotAToken'), 400, /no token/],
    ],
  };
}

async function onTron(context: TestContext): Promise<Scene> {
  const chain = await startTron();
  context.after(() => chain.stop());
  const pad = await deployOnTron(chain);
  const { deployment, url } = chain;
  const policy = tronDevPolicy;
  const put = (name: Parameters<typeof deployToken>[1]) => () => deployToken(chain, name);
  return {
    adapter: tronAdapter({ chain: 'tron-dev', deployment, sources: [{ url }], policy }),
    source: pad.source,
    launch: async (name) => (await pad.launch(name))[0] as string,
    deepen: () => chain.solidify(),
    rows: [
      ['one that answers false, as the dollar, is listed', put('AnswersFalse'), 201, /^listed /],
      ['one that takes a fee is rejected', put('Fee'), 422, /^rejected transfer: .*970/],
      ['one that can be minted waits', put('Mintable'), 202, /^pending mintable: /],
      ['an account that was never used is no token', newcomer, 400, /no token/],
    ],
  };
}

async function onSolana(context: TestContext): Promise<Scene> {
  const world = await newWorld(context);
  const holder = walletOf('funder') as Address;
  const good = { name: 'Good Token', symbol: 'GOOD' };
  const mint = (name: string, more: Partial<MintOptions> = {}) => {
    return () => makeMint(world.chain, { name, holder, metadata: good, ...more });
  };
  const like = { name: 'Bridged', symbol: 'U\u0405D.e' };
  return {
    adapter: adapterOf(world),
    source: mintsOf(token2022Program),
    launch: (name) => makeMint(world.chain, { name, holder, metadata: { name, symbol: name } }),
    deepen: () => finalize(world),
    rows: [
      ['a safe Token-2022 mint is listed', mint('good'), 201, /^listed GOOD /],
      [
        'a Token-2022 mint with a hook is rejected',
        mint('hook', { extensions: ['transferHook'] }),
        422,
        /^rejected extensions: .*hook/i,
      ],
      [
        'one that calls itself as a curated one is rejected',
        mint('like', { metadata: like }),
        422,
        /^rejected symbol: .*USD/,
      ],
      ['a wallet is no token', () => walletOf('payee'), 400, /no token/],
    ],
  };
}

for (const [family, begin] of Object.entries({ evm: onEvm, tron: onTron, solana: onSolana })) {
  test(`${family}: what a launchpad launches is listed once; what is asked for is answered`, async (context) => {
    const { adapter, source, launch, deepen, rows } = await begin(context);
    // A slow machine is to be told apart from a look that takes long.
    const settings = { chainTimeoutMs: 60_000 };
    const stubs = [stubAdapter('bitcoin', 'bitcoin'), stubAdapter('evm-dev', 'evm')];
    const market = await testMarket({ settings, adapters: [...stubs, adapter] });
    context.after(() => market.close());
    const { chain } = adapter;
    const launchpads = [{ name: 'rocket', chain, source, mostAnHour: 200 }];
    const deps = {
      ...market.deps,
      adapters: new Map([[chain, adapter]]),
      settings: { ...market.deps.settings, launchpads },
    };
    /** By a process of its own, as after a restart. */
    const read = async () => {
      const process = createLaunchpads(deps);
      market.deps.advance(10_000);
      assert.equal(await process.look('rocket'), 'done');
      await process.stop();
    };
    await deepen();
    await read();
    const tokens: string[] = [];
    for (const name of ['ONE', 'TWO']) {
      tokens.push(await launch(name));
      await deepen();
      await read();
    }
    const rechecks = createRechecks(deps);
    while ((await rechecks.pass()) > 0);
    await rechecks.stop();
    const trader = await market.trader();
    const { assets } = (await trader.get(`/v1/assets?chain=${chain}&limit=100`)).body;
    const own = assets.filter((each: { source: string }) => each.source === 'launchpad:rocket');
    assert.deepEqual(await market.sql('select address, reasons from candidates'), []);
    assert.deepEqual(own.map((each: { address: string }) => each.address).sort(), tokens.sort());
    assert.ok(own.every((each: { verified: boolean }) => !each.verified));
    for (const [promise, token, status, answer] of rows) {
      await context.test(promise, async () => {
        const address = await token();
        const reply = await trader.post('/v1/assets', { chain, address });
        const { asset, reasons = [], error = '' } = reply.body;
        const told = asset ? `${asset.symbol} ${asset.decimals}` : reasons.join('; ') || error;
        assert.equal(reply.status, status, JSON.stringify(reply.body));
        assert.match(`${reply.body.status ?? ''} ${told}`, answer);
        if (status !== 201) return;
        assert.deepEqual([asset.verified, asset.source, asset.enabled], [false, 'api', true]);
        const again = await trader.post('/v1/assets', { chain, address });
        assert.deepEqual([again.status, again.body.asset], [200, asset]);
      });
    }
  });
}
