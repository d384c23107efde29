import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { formulaVersion } from './deadlines.ts';
import type { ChainPolicy } from './policy.ts';
import {
  contractId,
  digestHead,
  policyDigest,
  policyFields,
  type Rules,
  rulesDifferences,
  rulesOf,
  sameRules,
} from './rules.ts';
import { policies } from './testing.ts';

const { ethereum } = policies;

// Written by hand: an implementer who computes a digest in another language starts from this text.
const asText =
  '{"detectSeconds":60,"driftSeconds":0,"floorSeconds":14400,' +
  '"high":{"confirmations":64,"outageSeconds":3600,"settleSeconds":1800},' +
  '"lateClaimSeconds":300,' +
  '"normal":{"confirmations":12,"outageSeconds":3600,"settleSeconds":600},' +
  '"reactSeconds":1800,"signSeconds":600,"windowSeconds":0}';

test('the digest of a policy is that of its JSON, keys in order', () => {
  assert.equal(JSON.stringify(policyFields(ethereum)), asText);
  const whole = createHash('sha256').update(asText).digest('hex');
  assert.equal(policyDigest(ethereum), whole.slice(0, 16));
});

test('every number of a policy moves its digest, and nothing else does', () => {
  const digest = policyDigest(ethereum);
  const others = new Set([digest]);
  let numbers = 0;
  for (const [name, value] of Object.entries(ethereum)) {
    const inside = typeof value === 'object' ? Object.keys(value) : [null];
    for (const key of inside) {
      const moved = key === null ? Number(value) + 1 : { ...Object(value), [key]: 7 };
      others.add(policyDigest({ ...ethereum, [name]: moved } as ChainPolicy));
      numbers += 1;
    }
  }
  assert.equal(numbers, 13);
  assert.equal(others.size, 1 + numbers);
  assert.notEqual(policyDigest({ ...ethereum, windowSeconds: null }), digest);
  const { floorSeconds, ...rest } = ethereum;
  const further = { note: 'mine', ...rest, floorSeconds };
  assert.equal(policyDigest(further), digest);
});

test('a contract is named by its address and the head of a digest; a script by that alone', () => {
  assert.equal(digestHead(`0x${'0123456789abcdef'.repeat(4)}`), '0123456789abcdef');
  assert.equal(digestHead('fedcba98765432100000'), 'fedcba9876543210');
  assert.equal(contractId({ address: '0xAb', version: '12' }), '0xAb:12');
  assert.equal(contractId({ address: null, version: '12' }), '12');
});

const own: Rules = rulesOf({
  a: { contract: 'A:1', policies: 'pa' },
  b: { contract: 'B:1', policies: 'pb' },
});

test('the rules of two legs: the formula in force, and what each chain has', () => {
  assert.deepEqual(own, {
    formula: formulaVersion,
    contract: { a: 'A:1', b: 'B:1' },
    policies: { a: 'pa', b: 'pb' },
  });
});

test('each part that differs is named with both values, whatever is said', () => {
  assert.deepEqual(rulesDifferences(own, structuredClone(own)), []);
  const swapped = { formula: 2, contract: { a: 'A:1', b: 'B:2' }, policies: { a: 'x', b: 'pb' } };
  assert.deepEqual(rulesDifferences(own, swapped), [
    { field: 'rules.formula', expected: `${formulaVersion}`, got: '2' },
    { field: 'rules.contract.b', expected: 'B:1', got: 'B:2' },
    { field: 'rules.policies.a', expected: 'pa', got: 'x' },
  ]);
  for (const said of [null, undefined, 'rules', 7, [], { contract: null, policies: 'p' }]) {
    const found = rulesDifferences(own, said);
    assert.equal(found.length, 5, JSON.stringify(said));
    assert.ok(found.every(({ got }) => got === 'nothing'));
  }
  const long = { ...own, contract: { ...own.contract, a: 'x'.repeat(1_000) } };
  assert.equal(rulesDifferences(own, long)[0]?.got.length, 200);
  // A number as text is another thing.
  assert.equal(rulesDifferences(own, { ...own, formula: '1' }).length, 1);
});

test('rules that nobody knows are not the same as any', () => {
  assert.ok(sameRules(own, structuredClone(own)));
  assert.ok(!sameRules(own, { ...own, formula: formulaVersion + 1 }));
  assert.ok(!sameRules(own, null) && !sameRules(null, own) && !sameRules(null, null));
});
