import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { type Answer, hangingNode, within } from '../testing/nodes.ts';
import type { EvmAdapter, EvmAdapterOptions } from './adapter.ts';
import { gasFor, margin } from './fees.ts';
import { evmGasPolicyOf, type GasRules, knownBy, newForks, rulesUntil } from './gas-policy.ts';
import { evmChains } from './policy.ts';
import { startAnvil } from './testing/anvil.ts';
import { newLeg } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const { chain, urlOf, signal, ...world } = await evmWorld();
const day = 86_400;

type Told = {
  readonly head?: object;
  readonly config?: unknown;
};

const asked = new Map<string, number>();

const nodeTelling = ({ head = {}, config: told }: Told): Promise<string> =>
  urlOf(async ({ method, params }, forward) => {
    asked.set(method, (asked.get(method) ?? 0) + 1);
    if (method === 'eth_config' && told !== undefined) {
      const error = { code: -32_601, message: 'the method eth_config does not exist' };
      return told === null ? { error } : { result: told };
    }
    const answer = await forward();
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return answer;
    return { result: { ...((answer as { result: object }).result as object), ...head } } as Answer;
  });

const adapterOf = (rpcUrls: readonly string[], over: Partial<EvmAdapterOptions> = {}): EvmAdapter =>
  world.adapterOf({ rpcUrls, ...over });

async function now(): Promise<number> {
  return Number((await chain.client.getBlock()).timestamp);
}

const rulesOf = async (adapter: EvmAdapter, inSeconds = day) =>
  adapter.gasRules((await now()) + inSeconds, signal());

const config = (current: object = {}, rest: object = {}) => ({
  current: { activationTime: 0, chainId: '0x7a69', forkId: '0x00000000', ...current },
  next: null,
  last: null,
  ...rest,
});

test('nodes of Prague and of Osaka have the same rules, and cost two questions in a while', async () => {
  const url = await nodeTelling({});
  const adapter = adapterOf([url]);
  await adapter.open(signal());
  asked.clear();
  for (let times = 0; times < 3; times += 1) assert.equal(await rulesOf(adapter), 'prague');
  assert.deepEqual([...asked.entries()].sort(), [
    ['eth_config', 1],
    ['eth_getBlockByNumber', 1],
  ]);
  const osaka = await startAnvil({ hardfork: 'osaka' });
  try {
    assert.equal(await rulesOf(adapterOf([osaka.rpcUrl])), 'prague');
  } finally {
    await osaka.stop();
  }
});

test("the nodes' words are asked for anew in five minutes, and stand in a day for silent ones", async () => {
  let clock = 0;
  let isSilent = false;
  const { node } = adapterOf([await nodeTelling({})]);
  const ask: Rpc['ask'] = (...how) =>
    isSilent ? Promise.reject(new Error('silent')) : node.ask(...how);
  const rpc = { ...node, ask };
  const forks = newForks(null, () => clock);
  const watch = { chain: 'evm-dev', chainId: 31_337, rpc, forks, said: new Set<string>() };
  const rules = () => rulesUntil({ ...watch, log: () => {} }, 0, signal());
  const heads = () => asked.get('eth_getBlockByNumber');
  asked.clear();
  for (const [at, times] of [
    [0, 1],
    [299_999, 1],
    [300_000, 2],
  ]) {
    clock = at as number;
    assert.equal(await rules(), 'prague');
    assert.equal(heads(), times, `${at}`);
  }
  isSilent = true;
  clock += 86_400_000;
  assert.equal(await rules(), 'prague');
  clock += 1;
  assert.equal(await rules(), 'either');
});

test('a head of Amsterdam has its rules, whatever else is said', async () => {
  for (const head of [{ blockAccessListHash: `0x${'1d'.repeat(32)}` }, { slotNumber: '0x2a' }]) {
    for (const said of [{ head }, { head, config: config() }, { head, config: null }]) {
      const adapter = adapterOf([await nodeTelling(said)], { nextForkAt: 4_000_000_000 });
      assert.equal(await rulesOf(adapter), 'amsterdam');
    }
  }
});

test('a fork before the end of what is reckoned with counts, one behind it does not', async () => {
  const at = (await now()) + day;
  const next = { next: { activationTime: at, chainId: '0x7a69', forkId: '0x01234567' } };
  const adapter = adapterOf([await nodeTelling({ config: config({}, next) })]);
  assert.equal(await adapter.gasRules(at - 1, signal()), 'prague');
  assert.equal(await adapter.gasRules(at, signal()), 'either');
});

test('an answer in no known shape, of another chain or of a later fork tells nothing', async () => {
  const later = (await now()) - 1;
  const noTime = { next: { activationTime: '0x1' } };
  for (const said of [
    null,
    'prague',
    {},
    { current: null, next: null },
    config({ activationTime: '0' }),
    config({ activationTime: -1 }),
    config({ chainId: '0x1' }),
    config({ activationTime: later }),
    config({}, noTime),
    { current: config().current },
  ]) {
    const told: string[] = [];
    const log = (event: string) => void told.push(event);
    const adapter = adapterOf([await nodeTelling({ config: said })], { log });
    assert.equal(await rulesOf(adapter), 'either', JSON.stringify(said));
    assert.equal(await rulesOf(adapter), 'either');
    assert.deepEqual(told, ['fork_unknown']);
  }
});

test('an operator’s word stands in where no node tells, and delays nothing that one tells', async () => {
  const nextForkAt = (await now()) + day;
  const [silent, sooner] = await Promise.all([
    nodeTelling({ config: null }),
    nodeTelling({ config: config({}, { next: { activationTime: nextForkAt - 100 } }) }),
  ]);
  const adapter = adapterOf([silent], { nextForkAt });
  assert.equal(await adapter.gasRules(nextForkAt - 1, signal()), 'prague');
  assert.equal(await adapter.gasRules(nextForkAt, signal()), 'either');
  const told = adapterOf([sooner], { nextForkAt });
  assert.equal(await told.gasRules(nextForkAt - 101, signal()), 'prague');
  assert.equal(await told.gasRules(nextForkAt - 1, signal()), 'either');
  assert.equal(
    await rulesOf(adapterOf([silent], { nextForkAt: nextForkAt - 2 * day })),
    'amsterdam',
  );
});

test('the most careful of several nodes counts, and one that hangs holds up nobody', async (context) => {
  const forked = { head: { slotNumber: '0x1' } };
  for (const [said, wanted] of [
    [{ config: null }, 'either'],
    [forked, 'amsterdam'],
    [{}, 'prague'],
  ] as const) {
    const both = [await nodeTelling({}), await nodeTelling(said)];
    assert.equal(await rulesOf(adapterOf(both)), wanted);
  }
  const hanging = await within(context, hangingNode());
  const adapter = adapterOf([chain.rpcUrl, hanging], { rpc: { attemptTimeoutMs: 15_000 } });
  await adapter.open(signal());
  const from = performance.now();
  assert.equal(await rulesOf(adapter), 'prague');
  assert.ok(performance.now() - from < 12_000);
});

test('chains of which no node tells the fork are asked for the dearer gas', () => {
  const plain = { time: 1_795_000_000, isAmsterdam: false };
  const told = { ...plain, config: { since: 1_767_747_671, nextAt: null } };
  const rules = (chainId: number, nextForkAt: number | null = null) =>
    knownBy(told, evmGasPolicyOf(chainId).forks, nextForkAt);
  const { ethereum, sepolia, optimism, base, arbitrum } = evmChains;
  const forever = { amsterdam: false, pragueUntil: Number.POSITIVE_INFINITY };
  assert.deepEqual(rules(ethereum.chainId), forever);
  assert.deepEqual(rules(sepolia.chainId), { amsterdam: true, pragueUntil: null });
  for (const { chainId } of [optimism, base, arbitrum, { chainId: 123_456_789 }]) {
    assert.deepEqual(rules(chainId), { amsterdam: false, pragueUntil: null });
    const stated = { amsterdam: false, pragueUntil: 1_799_999_999 };
    assert.deepEqual(rules(chainId, 1_800_000_000), stated);
  }
  // A blob fork of which this program knows nothing may be more than that.
  const later = { ...plain, config: { since: 1_790_000_000, nextAt: null } };
  const { pragueUntil } = knownBy(later, evmGasPolicyOf(ethereum.chainId).forks, null);
  assert.equal(pragueUntil, null);
});

test('a wallet is asked for the gas of the fork that may be active when it claims', async () => {
  const { terms } = await newLeg(chain, {});
  const payer = adapterOf([chain.rpcUrl]).parseAddress(`0x${'d5'.repeat(20)}`);
  const price = await chain.client.getGasPrice();
  const next = (activationTime: number) => config({}, { next: { activationTime } });
  for (const [said, wanted] of [
    [{}, 'prague'],
    [{ config: next(terms.timelock) }, 'either'],
    [{ config: next(terms.timelock + 1) }, 'prague'],
    [{ config: null }, 'either'],
    [{ head: { slotNumber: '0x1' } }, 'amsterdam'],
  ] as const satisfies readonly (readonly [Told, GasRules])[]) {
    const adapter = adapterOf([await nodeTelling(said)]);
    const needs = async (part: Partial<EscrowTerms>, verb: 'claims' | 'fundings') => {
      const owed = { claims: [], fundings: [], [verb]: [{ ...terms, ...part }] };
      const short = await adapter.fundsShortage?.(owed, payer, signal());
      return BigInt(/may take (\d+)/.exec(short?.sentence ?? '')?.[1] ?? 0);
    };
    const gas = (verb: 'claim' | 'fund') => margin * gasFor(31_337, terms, verb, wanted) * price;
    assert.equal(await needs({}, 'claims'), gas('claim'), wanted);
    const fundBefore = terms.timelock;
    assert.equal(await needs({ fundBefore }, 'fundings'), gas('fund') + terms.amount, wanted);
    assert.ok((await adapter.untriedGas?.(terms, signal())) !== undefined);
  }
});
