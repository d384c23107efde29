import assert from 'node:assert/strict';
import test from 'node:test';
import { evmDeployment } from '@parley/chains/evm/plan.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import { mustHaveRules, ownRules } from './rules.ts';
import { bitcoinView, evmView } from './testing/honest.ts';

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
