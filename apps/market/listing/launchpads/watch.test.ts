// From a launch on a real chain to a listed asset: on anvil, with a database of its own. The
// findings about the token are made up here; the following, storing and counting is not.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { type EvmAdapterOptions, evmAdapter } from '@parley/chains/evm/adapter.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { startAnvil, type TestChain } from '@parley/chains/evm/testing/anvil.ts';
import { deployLaunchpad, type Launching } from '@parley/chains/evm/testing/launches.ts';
import { found, passed } from '@parley/tokens/inspection.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import { type TestMarket, testMarket } from '@parley/verify/test/support/trading.ts';
import type { Tx } from '../../db/database.ts';
import type { Deps } from '../../ports/deps.ts';
import type { LaunchpadSettings } from '../../settings/launchpads.ts';
import { openingForMs } from '../bounds.ts';
import { createRechecks } from '../rechecks.ts';
import { leaseMs } from './bounds.ts';
import { createLaunchpads, type Launchpads } from './watch.ts';

const { policy } = evmChains['evm-dev'];
const depth = policy.normal.confirmations;
let chain: TestChain;
let market: TestMarket;
before(async () => {
  chain = await startAnvil();
  market = await testMarket();
});
after(async () => {
  await market.close();
  await chain.stop();
});

const stopping: Launchpads[] = [];
after(() => Promise.all(stopping.map((each) => each.stop())));

const deepen = () => chain.client.mine({ blocks: depth });
const nameOf = (pad: Launching, prefix = 'pad') =>
  `${prefix}-${pad.factory.slice(2, 10)}`.toLowerCase();

function adapterOf(over: Partial<EvmAdapterOptions> = {}): ChainAdapter {
  const rpcUrls = [chain.rpcUrl];
  const rpc = { rounds: 1 };
  const real = evmAdapter({ chain: 'evm-dev', chainId: 31_337, rpcUrls, policy, rpc, ...over });
  const inspect: ChainAdapter['inspect'] = async (address) => {
    const client = chain.client;
    const symbol = (await client.readContract({
      address: address as `0x${string}`,
      abi: [
        {
          type: 'function',
          name: 'symbol',
          inputs: [],
          outputs: [{ type: 'string' }],
          stateMutability: 'view',
        },
      ],
      functionName: 'symbol',
    })) as string;
    const isBad = symbol.startsWith('BAD');
    const findings = [isBad ? found('transfer', 'reject', 'it takes a fee') : passed('transfer')];
    return { address, symbol, name: symbol, decimals: 18, findings };
  };
  return { ...real, inspect };
}

type Made = { readonly deps: Deps; readonly launchpads: Launchpads; readonly logged: string[] };

/** A process that follows these launchpads. */
function processOf(launchpads: readonly LaunchpadSettings[], over: Partial<Deps> = {}): Made {
  const logged: string[] = [];
  const note = (_: object, message: string) => logged.push(message);
  const log = { ...market.deps.log, info: () => {}, warn: note, error: note } as never;
  const adapters = new Map<string, ChainAdapter>([
    ['evm-dev', adapterOf()],
    ['bitcoin', stubAdapter('bitcoin', 'bitcoin')],
  ]);
  const settings = { ...market.deps.settings, launchpads, followIntervalMs: 50 };
  const deps: Deps = { ...market.deps, adapters, log, ...over, settings };
  const made = { deps, launchpads: createLaunchpads(deps), logged };
  stopping.push(made.launchpads);
  return made;
}

const settingsOf = (pad: Launching, over: Partial<LaunchpadSettings> = {}): LaunchpadSettings => ({
  name: nameOf(pad),
  chain: 'evm-dev',
  source: pad.source,
  mostAnHour: 200,
  ...over,
});

/** Looks until there is no more to read; the clock moves on, as several seconds would pass. */
async function readAll({ launchpads }: Made, name: string): Promise<void> {
  for (let looks = 0; looks < 50; looks += 1) {
    market.deps.advance(2_000);
    const outcome = await launchpads.look(name);
    assert.notEqual(outcome, 'failed');
    if (outcome !== 'more') return;
  }
  throw new Error('no end');
}

/** A launchpad that one process has read so far. */
async function opened(over: Partial<LaunchpadSettings> = {}, more: Partial<Deps> = {}) {
  const pad = await deployLaunchpad(chain);
  const name = nameOf(pad);
  const own = processOf([settingsOf(pad, over)], more);
  const read = async () => {
    await deepen();
    await readAll(own, name);
  };
  await read();
  /** Launched, and in a block that stays. */
  const launched = async (...names: string[]) => {
    const tokens = await pad.launch(...names);
    await deepen();
    return [...tokens];
  };
  return { pad, name, own, read, launched };
}

type Row = { readonly address: string; readonly source: string; readonly status: string };
async function candidatesOf(name: string): Promise<Row[]> {
  return market.sql(
    'select address, source, status from candidates where source = $1 order by address',
    `launchpad:${name}`,
  );
}
const addresses = async (name: string) => (await candidatesOf(name)).map(({ address }) => address);
const sorted = (list: readonly string[]) => [...list].sort();

async function counted({ deps }: Made, launchpad: string): Promise<Record<string, number>> {
  const { values } = await deps.metrics.launches.get();
  const own = values.filter(({ labels }) => labels.launchpad === launchpad);
  return Object.fromEntries(own.map(({ labels, value }) => [String(labels.outcome), value]));
}

test('a good token that a launchpad launched is listed with its source, unverified; a bad one is not', async () => {
  const pad = await deployLaunchpad(chain);
  const own = processOf([settingsOf(pad)]);
  const name = nameOf(pad);
  await pad.launch('BEFORE');
  await deepen();
  await readAll(own, name);
  assert.deepEqual(await addresses(name), [], 'it begins at the head');
  const [good = '', bad = ''] = await pad.launch('GOOD', 'BAD');
  await deepen();
  await readAll(own, name);
  assert.deepEqual(await addresses(name), sorted([good, bad]));
  const rechecks = createRechecks(own.deps);
  while ((await rechecks.pass()) > 0);
  const reader = await market.trader();
  const [asset] = (await reader.get(`/v1/assets?address=${good}`)).body.assets;
  assert.deepEqual(
    [asset.source, asset.verified, asset.enabled, asset.symbol],
    [`launchpad:${name}`, false, true, 'GOOD'],
  );
  assert.deepEqual((await reader.get(`/v1/assets?address=${bad}`)).body.assets, []);
  market.deps.advance(openingForMs);
  while ((await rechecks.pass()) > 0);
  await rechecks.stop();
  assert.deepEqual(await candidatesOf(name), [
    { address: bad, source: `launchpad:${name}`, status: 'rejected' },
  ]);
});

test('a process that dies between reading and storing loses nothing and doubles nothing', async () => {
  const { pad, name, launched } = await opened();
  const tokens = await launched('ONE', 'TWO');
  for (const dies of ['before', 'between', 'after'] as const) {
    market.deps.advance(leaseMs);
    // It is gone for good: it gives nothing back either.
    const dead = new Set(['launchpads_postpone']);
    const through = (tx: Tx): Tx => ({
      rows: async (statement) => {
        if (dead.has(statement.name)) throw new Error('dead');
        if (dies === 'between' && statement.name === 'candidates_add') dead.add(statement.name);
        return tx.rows(statement);
      },
    });
    const db = {
      ...market.db,
      ...through(market.db),
      transaction: async <T>(work: (tx: Tx) => Promise<T>) =>
        market.db.transaction(async (tx) => {
          if (dies === 'before') throw new Error('dead');
          const result = await work(through(tx));
          if (dies === 'after') throw new Error('dead');
          return result;
        }),
    };
    const dying = processOf([settingsOf(pad)], { db: db as Deps['db'] });
    await assert.rejects(dying.launchpads.look(name), /dead/);
    assert.deepEqual(await addresses(name), []);
    const other = processOf([settingsOf(pad)]);
    assert.equal(await other.launchpads.look(name), 'idle', 'it is in hand');
  }
  market.deps.advance(leaseMs);
  const next = processOf([settingsOf(pad)]);
  await readAll(next, name);
  assert.deepEqual(await addresses(name), sorted(tokens));
  tokens.push(...(await launched('THREE')));
  await readAll(next, name);
  assert.deepEqual(await addresses(name), sorted(tokens));
  assert.deepEqual(await counted(next, name), { taken: 3, known: 0, skipped: 0, left_out: 0 });
});

test('so many of a flood are taken an hour; the rest is counted, said once and left out', async () => {
  const { pad, name, own, read } = await opened({ mostAnHour: 3 });
  const flood = await pad.launch('A', 'B', 'C', 'D', 'E');
  await read();
  assert.deepEqual(await addresses(name), sorted(flood.slice(0, 3)));
  await pad.launch('F');
  await read();
  const before = { taken: 3, known: 0, skipped: 0, left_out: 3 };
  assert.deepEqual([await counted(own, name), own.logged.length], [before, 1]);
  market.deps.advance(3_600_000);
  const later = await pad.launch('G');
  await read();
  assert.deepEqual(await addresses(name), sorted([...flood.slice(0, 3), ...later]));
});

test('a launch without a contract is skipped, and a token that is known already is left as it is', async () => {
  const pad = await deployLaunchpad(chain);
  const names = [nameOf(pad), nameOf(pad, 'copy')] as const;
  const own = processOf(names.map((name) => settingsOf(pad, { name })));
  const read = async () => {
    await deepen();
    for (const name of names) await readAll(own, name);
  };
  await read();
  await pad.say(0n);
  await pad.say(0xdeadn);
  const [token = ''] = await pad.launch('ONCE');
  await read();
  for (const [at, wanted] of [[token], []].entries()) {
    const name = names[at] ?? '';
    assert.deepEqual(await addresses(name), wanted);
    const [taken, known] = at === 0 ? [1, 0] : [0, 1];
    assert.deepEqual(await counted(own, name), { taken, known, skipped: 2, left_out: 0 });
  }
});
