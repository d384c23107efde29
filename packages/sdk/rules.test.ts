import assert from 'node:assert/strict';
import test from 'node:test';
import { evmContract, evmDeployment } from '@parley/chains/evm/plan.ts';
import { solanaDeployment } from '@parley/chains/solana/plan.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import { formulaVersion } from '@parley/core/deadlines.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import { contractId, policyDigest } from '@parley/core/rules.ts';
import { contractOf, differencesOf, mustHaveRules, ownRules } from './rules.ts';
import { bitcoinView, evmView, pinnedTo } from './testing/honest.ts';
import type { ChainView } from './trade.ts';
import type { MarketRules } from './types.ts';

const tron: ChainView = {
  family: 'tron',
  chain: 'tron',
  deployment: { chainId: 1, contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  policy: tronDevPolicy,
};
const solana: ChainView = {
  family: 'solana',
  chain: 'solana',
  deployment: solanaDeployment,
  policy: solanaChains.solana.policy,
};
const views = [bitcoinView, evmView, tron, solana];
const all = pinnedTo(...views);

/** As an honest market with the same views has it. */
function market(): MarketRules {
  const chains = views.map((view) => {
    const { chain, family, policy } = view;
    const contract = contractOf(view);
    const id = contractId(contract);
    return {
      chain,
      family,
      contract: { id, ...contract, shards: [...(contract.shards ?? [])] },
      policy: structuredClone(policy),
      policyDigest: policyDigest(policy),
    };
  });
  const limits = {
    windowSeconds: 60,
    requests: 300,
    requestsOfSettledSwap: 30,
    mostRequests: 3_000,
    settledDays: 30,
  };
  return { formula: formulaVersion, limits, chains };
}

test('contracts that the customer does not name, or names more of, are other rules', () => {
  const one = shardOf(1).address;
  const two = shardOf(2).address;
  const legs = (shards: readonly string[]) => ({
    a: { view: { ...evmView, deployment: evmDeployment(evmView.chainId, { shards }) } },
    b: { view: bitcoinView },
  });
  mustHaveRules(ownRules(legs([two, one])), legs([one, two]));
  for (const [market, customer] of [
    [[one], []],
    [[], [one]],
    [[one, two], [one]],
  ] as const) {
    assert.throws(() => mustHaveRules(ownRules(legs(market)), legs(customer)), {
      name: 'RulesError',
      field: 'rules.contract.a (evm-dev)',
    });
  }
});

test('both lists of contracts that differ are named', () => {
  const shards = [shardOf(1).address, shardOf(2).address];
  const deployment = evmDeployment(evmView.chainId, { shards });
  const said = market();
  const own = { ...all, ...pinnedTo({ ...evmView, deployment }) };
  const [, lists, ...more] = differencesOf(said, own);
  assert.deepEqual(
    [lists, more],
    [{ field: 'evm-dev.contract.shards', expected: shards.toSorted().join(' '), got: 'none' }, []],
  );
});

test("a market's rules are compared number by number, and the number named", () => {
  assert.deepEqual(differencesOf(market(), all), []);
  const moved: [path: string, ...value: [string, string]][] = [];
  for (const [name, value] of Object.entries(solana.policy)) {
    const inside = typeof value === 'object' && value !== null ? Object.keys(value) : [null];
    for (const key of inside) {
      const said = market();
      const { policy } = said.chains.find(({ chain }) => chain === 'solana')!;
      const part = (key === null ? policy : policy[name as 'normal']) as Record<string, number>;
      part[key ?? name] = 123_456;
      const path = ['solana.policy', name, ...(key === null ? [] : [key])].join('.');
      const was = key === null ? value : (value as Record<string, number>)[key];
      const only = [{ field: path, expected: String(was), got: '123456' }];
      assert.deepEqual(differencesOf(said, all), only);
      moved.push([path, String(was), '123456']);
    }
  }
  assert.equal(moved.length, 13);
});

test('another formula, another contract and a chain that is not served are named too', () => {
  const said = market();
  said.formula = formulaVersion + 1;
  said.chains = said.chains.filter(({ chain }) => chain !== 'tron');
  const evm = said.chains.find(({ chain }) => chain === evmView.chain)!;
  evm.contract.id = 'elsewhere';
  // A chain without an own view is not compared.
  said.chains.push({ ...evm, chain: 'other', policy: {} as ChainPolicy });
  assert.deepEqual(differencesOf(said, all), [
    { field: 'formula', expected: `${formulaVersion}`, got: `${formulaVersion + 1}` },
    {
      field: 'evm-dev.contract',
      expected: contractId(evmContract(evmView.deployment)),
      got: 'elsewhere',
    },
    { field: 'tron', expected: 'served', got: 'not served' },
  ]);
});
