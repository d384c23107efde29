// From a launch on each family's chain to an asset of the market, by the checks of that family.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Address } from '@solana/kit';
import type { ChainAdapter } from '../../../chains/adapter.ts';
import { evmAdapter } from '../../../chains/evm/adapter.ts';
import { evmChains } from '../../../chains/evm/policy.ts';
import { startAnvil } from '../../../chains/evm/testing/anvil.ts';
import { deployLaunchpad } from '../../../chains/evm/testing/launches.ts';
import { token2022Program } from '../../../chains/solana/programs.ts';
import { mintsOf } from '../../../chains/solana/testing/launches.ts';
import { adapterOf, finalize, newWorld, walletOf } from '../../../chains/solana/testing/world.ts';
import type { LaunchSource } from '../../../chains/tokens/launches.ts';
import { tronAdapter } from '../../../chains/tron/adapter.ts';
import { tronDevPolicy } from '../../../chains/tron/policy.ts';
import { startTron } from '../../../chains/tron/testing/chain.ts';
import { deployLaunchpad as deployOnTron } from '../../../chains/tron/testing/launches.ts';
import { makeMint } from '../../../simulators/solana/testing/mints.ts';
import { testMarket } from '../../../test/support/trading.ts';
import { createRechecks } from '../rechecks.ts';
import { createLaunchpads } from './watch.ts';

type Scene = {
  readonly adapter: ChainAdapter;
  readonly source: LaunchSource;
  launch(name: string): Promise<string>;
  /** What is in the newest block stays. */
  deepen(): Promise<void>;
};

async function onEvm(context: TestContext): Promise<Scene> {
  const chain = await startAnvil();
  context.after(() => chain.stop());
  const { policy } = evmChains['evm-dev'];
  const rpcUrls = [chain.rpcUrl];
  const pad = await deployLaunchpad(chain);
  return {
    adapter: evmAdapter({ chain: 'evm-dev', chainId: 31_337, rpcUrls, policy }),
    source: pad.source,
    launch: async (name) => (await pad.launch(name))[0] as string,
    deepen: () => chain.client.mine({ blocks: policy.normal.confirmations }),
  };
}

async function onTron(context: TestContext): Promise<Scene> {
  const chain = await startTron();
  context.after(() => chain.stop());
  const pad = await deployOnTron(chain);
  const { deployment, url } = chain;
  const policy = tronDevPolicy;
  return {
    adapter: tronAdapter({ chain: 'tron-dev', deployment, sources: [{ url }], policy }),
    source: pad.source,
    launch: async (name) => (await pad.launch(name))[0] as string,
    deepen: () => chain.solidify(),
  };
}

async function onSolana(context: TestContext): Promise<Scene> {
  const world = await newWorld(context);
  const holder = walletOf('funder') as Address;
  return {
    adapter: adapterOf(world),
    source: mintsOf(token2022Program),
    launch: (name) => makeMint(world.chain, { name, holder, metadata: { name, symbol: name } }),
    deepen: () => finalize(world),
  };
}

for (const [family, begin] of Object.entries({ evm: onEvm, tron: onTron, solana: onSolana })) {
  test(`${family}: what a launchpad launches is listed as its own, once, through a restart`, async (context) => {
    const { adapter, source, launch, deepen } = await begin(context);
    const market = await testMarket();
    context.after(() => market.close());
    const { chain } = adapter;
    const launchpads = [{ name: 'rocket', chain, source, mostAnHour: 200 }];
    const settings = { ...market.deps.settings, launchpads };
    const deps = { ...market.deps, adapters: new Map([[chain, adapter]]), settings };
    const read = async () => {
      const process = createLaunchpads(deps);
      market.deps.advance(10_000);
      assert.equal(await process.look('rocket'), 'done');
      await process.stop();
    };
    await deepen();
    await read();
    const tokens = [await launch('ONE')];
    await deepen();
    await read();
    tokens.push(await launch('TWO'));
    await deepen();
    await read();
    const rechecks = createRechecks(deps);
    while ((await rechecks.pass()) > 0);
    await rechecks.stop();
    const reader = await market.trader();
    const { assets } = (await reader.get(`/v1/assets?chain=${chain}&limit=100`)).body;
    const own = assets.filter((each: { source: string }) => each.source === 'launchpad:rocket');
    const waiting = await market.db.rows<{ address: string; reasons: unknown }>({
      name: 'test_waiting',
      text: 'select address, reasons from candidates',
      values: [],
    });
    assert.deepEqual(waiting, []);
    assert.deepEqual(own.map((each: { address: string }) => each.address).sort(), tokens.sort());
    assert.deepEqual(
      [...new Set(own.map((each: { verified: boolean }) => each.verified))],
      [false],
    );
  });
}
