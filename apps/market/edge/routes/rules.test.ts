// Rules over HTTP: the published rules, the rules in threads and swaps, and the effect of changed
// policies on acceptances and existing swaps.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { formulaVersion } from '@parley/core/deadlines.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import { contractId, policyDigest, policyFields } from '@parley/core/rules.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import { refused } from '../testing/edge.ts';
import { negotiating, secretLock } from '../testing/negotiating.ts';

const bitcoin = stubAdapter('bitcoin', 'bitcoin');
const evm = stubAdapter('evm-dev', 'evm');
const market = await negotiating({ adapters: [bitcoin, evm] });
const { taker, maker } = market;
const adapters = market.deps.adapters as Map<string, ChainAdapter>;

/** The rules of a swap between dollars (leg a) and bitcoin (leg b). */
const rulesNow = () => {
  const of = (chain: string) => adapters.get(chain)!;
  const a = of('evm-dev');
  const b = of('bitcoin');
  return {
    formula: formulaVersion,
    contract: { a: contractId(a.contract), b: contractId(b.contract) },
    policies: { a: policyDigest(a.policy), b: policyDigest(b.policy) },
  };
};

/** As after a restart with other numbers; `evm` as it was where none are named. */
function configure(policy: Partial<ChainPolicy> = {}): void {
  adapters.set('evm-dev', { ...evm, policy: { ...evm.policy, ...policy } });
}

async function negotiation(): Promise<string> {
  const { threadId } = await market.negotiation();
  assert.deepEqual((await read(`/v1/threads/${threadId}`)).rules, rulesNow());
  return threadId;
}
const { accept } = market;
const lock = () => ({ hashlock: secretLock() });
const read = async (path: string) => (await maker.get(path)).body;

test('a market publishes its formula, and of each chain contract, policy and digest', async () => {
  assert.equal((await market.app.inject('/v1/rules')).statusCode, 401);
  const { status, body } = await (await market.trader({ scopes: ['read'] })).get('/v1/rules');
  assert.equal(status, 200);
  // The limits of an account are tested in grown-limits.test.ts.
  const { limits: _, ...rules } = body;
  assert.deepEqual(rules, {
    formula: formulaVersion,
    chains: [bitcoin, evm].map(({ chain, family, contract, policy }) => ({
      chain,
      family,
      contract: { id: contractId(contract), ...contract, shards: [] },
      policy: policyFields(policy),
      policyDigest: policyDigest(policy),
    })),
  });
});

test('a thread says what an acceptance would mean, its swap what it began with, for good', async (t) => {
  t.after(() => configure());
  const id = await negotiation();
  const began = rulesNow();
  await accept(taker, id, lock());
  const { body } = await accept(maker, id);
  const { swap } = body;
  assert.deepEqual([body.thread.rules, swap.rules], [began, began]);
  configure({ floorSeconds: 5 * 3_600, reactSeconds: 60, driftSeconds: 30 });
  assert.notDeepEqual(rulesNow(), began);
  assert.deepEqual(await read(`/v1/swaps/${swap.id}`), swap);
  assert.deepEqual((await read(`/v1/swaps?limit=1`)).swaps[0], swap);
  const thread = await read(`/v1/threads/${id}`);
  assert.deepEqual(thread, body.thread);
  // Another thread of the same market has the rules of today.
  assert.deepEqual((await read(`/v1/threads/${await negotiation()}`)).rules, rulesNow());
  // The same words again are answered, whatever they say of rules.
  const again = await accept(maker, id, { rules: rulesNow() });
  assert.deepEqual([again.status, again.body.swap], [200, swap]);
});

test('a party that says under which rules it accepts, accepts under no others', async () => {
  const id = await negotiation();
  const rules = rulesNow();
  const others: [string, object][] = [
    ['rules.formula', { ...rules, formula: formulaVersion + 1 }],
    ...(['a', 'b'] as const).flatMap((leg): [string, object][] => [
      [`rules.contract.${leg}`, { ...rules, contract: { ...rules.contract, [leg]: 'elsewhere' } }],
      [`rules.policies.${leg}`, { ...rules, policies: { ...rules.policies, [leg]: 'x' } }],
    ]),
  ];
  for (const [field, named] of others) {
    const words = new RegExp(`^${field} is .* here, not (2|elsewhere|x);`);
    refused(await accept(taker, id, { ...lock(), rules: named }), '409 rules_differ', words);
    assert.equal((await read(`/v1/threads/${id}`)).takerAccepted, false);
  }
  // A price that has moved is said first.
  const moved = await accept(taker, id, { ...lock(), quoteAmount: '1', rules: others[0]?.[1] });
  assert.equal(moved.code, 'terms_moved');
  for (const bad of [7, {}, { ...rules, formula: '1' }, { ...rules, more: 1 }]) {
    refused(await accept(taker, id, { ...lock(), rules: bad }), '400 bad_field');
  }
  const words = { ...lock(), rules };
  assert.equal((await accept(taker, id, words)).body.thread.takerAccepted, true);
  assert.equal((await accept(maker, id, { rules })).body.thread.status, 'agreed');
});
