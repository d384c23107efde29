import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { type Hex, recoverTypedDataAddress, parseSignature as viemSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { decodeFunctionData, hexToBigInt } from 'viem/utils';
import { digestOf, separatorOf, signerOf, typedDataToSign } from '../escrows/typed-data.ts';
import type { FundAlternative, TokenDomain } from '../interface/material.ts';
import { contractEscrow, evmDeployment, evmEscrow, standingAllowance } from './plan.ts';
import {
  authorizationAlternative,
  checkDomain,
  noAbilities,
  permitAlternative,
  type SigningView,
  signedCall,
  typedDataProblems,
} from './ways.ts';

const account = privateKeyToAccount(`0x${'4c'.repeat(32)}`);
const token = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const deployment = evmDeployment(1);
const domain: TokenDomain = {
  name: 'USD Coin',
  version: '2',
  chainId: '1',
  verifyingContract: token,
};
const separator = '0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335';
const abilities = { permit: domain, authorization: domain };
const values = { nonce: 7n, value: 1_000n, deadline: 1_799_000_000 };
const view: SigningView = {
  separator,
  nonce: 7n,
  allowance: 'exact',
  latestDeadline: 1_799_000_000,
};

function terms(over: Partial<EscrowTerms> = {}): EscrowTerms {
  return {
    chain: 'ethereum',
    hashlock: '11'.repeat(32),
    payout: { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', pubkey: null },
    refund: { address: account.address, pubkey: null },
    token,
    amount: 1_000n,
    timelock: 1_800_000_000,
    fundBefore: 1_799_990_000,
    lane: { number: '5a'.repeat(12), counter: 3 },
    ...over,
  };
}

const permit = (over = {}) => permitAlternative(terms(over), deployment, abilities, values)!;
const authorization = (over = {}) => authorizationAlternative(terms(over), deployment, abilities)!;
const bad = (error: unknown) => error instanceof ParleyError && error.code === 'bad_signature';

test("a domain hashes to the separator of the token itself: USDC's on Ethereum", () => {
  assert.equal(separatorOf(domain), separator);
  assert.deepEqual(checkDomain(domain, terms(), deployment, separator), []);
  for (const lie of [
    { ...domain, name: 'USD Coin ' },
    { ...domain, version: '1' },
    { name: domain.name, chainId: '1', verifyingContract: token },
    { ...domain, salt: `0x${'0'.repeat(63)}1` },
  ]) {
    assert.notDeepEqual(checkDomain(lie, terms(), deployment, separator), [], JSON.stringify(lie));
  }
});

test('a domain of another chain or token is refused, whatever the token says of itself', () => {
  const { chainId, ...chainless } = domain;
  for (const lie of [
    { ...domain, chainId: '2' },
    { ...domain, verifyingContract: deployment.contract },
    chainless,
    { ...chainless, salt: `0x${'0'.repeat(63)}2` },
    { ...domain, more: 'x' },
  ]) {
    const problems = checkDomain(lie, terms(), deployment, separatorOf(lie));
    assert.notDeepEqual(problems, [], JSON.stringify(lie));
  }
  // As tokens of Polygon's bridge name their chain.
  const bridged = { ...chainless, salt: `0x${'0'.repeat(63)}1` };
  assert.deepEqual(checkDomain(bridged, terms(), deployment, separatorOf(bridged)), []);
});

test('the signed text and its signer are as viem has them, for permits and authorizations', async () => {
  for (const { typedData } of [permit(), authorization()]) {
    assert.ok(typedData !== null);
    const toSign = typedDataToSign(JSON.parse(JSON.stringify(typedData)));
    const signature = await account.signTypedData(toSign);
    assert.equal(await recoverTypedDataAddress({ ...toSign, signature }), account.address);
    assert.equal(signerOf(typedData, signature), account.address);
    const other = { ...typedData, message: { ...typedData.message, value: '1001' } };
    assert.notEqual(digestOf(other), digestOf(typedData));
    assert.notEqual(signerOf(other, signature), account.address);
  }
});

test('an authorization binds the escrow: its nonce is the id, and it ends with the fund-by', () => {
  const { typedData } = authorization();
  assert.deepEqual(typedData?.message, {
    from: account.address,
    to: deployment.contract,
    value: '1000',
    validAfter: '0',
    validBefore: '1799990000',
    nonce: `0x${evmEscrow(terms(), deployment).address.split(':')[1]}`,
  });
  const nonces = [
    terms(),
    terms({ payout: { address: deployment.contract.replace('0x', '0X'), pubkey: null } }),
  ];
  assert.throws(() => nonces.map((each) => authorizationAlternative(each, deployment, abilities)));
  const digests = [
    {},
    { payout: terms().refund },
    { hashlock: '12'.repeat(32) },
    { amount: 1_001n },
    { timelock: 1_800_000_001 },
    { lane: { number: '5a'.repeat(12), counter: 4 } },
  ].map((over) => digestOf(authorization(over).typedData!));
  assert.equal(new Set(digests).size, digests.length);
});

test('a permit allows the amount or everything, under the nonce and until the deadline', () => {
  assert.deepEqual(permit().typedData.message, {
    owner: account.address,
    spender: deployment.contract,
    value: '1000',
    nonce: '7',
    deadline: '1799000000',
  });
  assert.equal(permit().from, account.address);
  const standing = { ...values, value: standingAllowance };
  const all = permitAlternative(terms(), deployment, abilities, standing)!;
  assert.equal(all.typedData.message.value, `${2n ** 256n - 1n}`);
  const wants = { ...view, allowance: 'standing' as const };
  assert.deepEqual(typedDataProblems(all, terms(), deployment, wants), []);
  assert.notDeepEqual(typedDataProblems(all, terms(), deployment, view), []);
  assert.notDeepEqual(typedDataProblems(permit(), terms(), deployment, wants), []);
});

test('the calldata before a signature, and then v, r and s, is the call of the contract', () => {
  const word = fc.bigInt({ min: 1n, max: 2n ** 255n }).map((n) => n.toString(16).padStart(64, '0'));
  const { terms: told, lane, counter } = contractEscrow(terms());
  const own = [told, lane, counter];
  const lowered = (each: unknown) =>
    JSON.stringify(each, (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    ).toLowerCase();
  fc.assert(
    fc.property(word, word, fc.constantFrom(0, 1, 27, 28), (r, s, v) => {
      const signature = `0x${r}${s}${v.toString(16).padStart(2, '0')}`;
      const tail = [{ v: v < 27 ? v + 27 : v, r: `0x${r}`, s: `0x${s}` }];
      const byPermit = signedCall(permit().call, signature);
      const byAuthorization = signedCall(authorization().call!, signature);
      const calls = [byPermit, byAuthorization].map(({ to, data, value }) => {
        assert.deepEqual([to, value], [deployment.contract, '0x0']);
        const { functionName, args = [] } = decodeFunctionData({
          abi: escrowsAbi,
          data: data as Hex,
        });
        return [functionName, lowered(args)];
      });
      assert.deepEqual(calls, [
        ['fundWithPermit', lowered([...own, values.value, BigInt(values.deadline), ...tail])],
        ['fundWithAuthorization', lowered([...own, ...tail])],
      ]);
    }),
    { numRuns: runs(30) },
  );
});

test('a text that is no signature of a key is refused', async () => {
  const { typedData, call } = permit();
  const good = await account.signTypedData(typedDataToSign(typedData));
  const { r, s, yParity } = viemSignature(good);
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const highS = (order - hexToBigInt(s)).toString(16).padStart(64, '0');
  const flipped = `${r}${highS}${yParity === 0 ? '1c' : '1b'}`;
  assert.throws(() => signerOf(typedData, flipped), bad, 'a high s, which tokens refuse');
  assert.throws(() => signerOf(typedData, `0x${'00'.repeat(64)}1b`), bad);
  for (const text of [
    '',
    '0x',
    good.slice(2),
    good.slice(0, -2),
    `${good}00`,
    `${good.slice(0, -2)}1d`,
  ]) {
    assert.throws(() => signedCall(call, text), bad, text);
    assert.throws(() => signerOf(typedData, text), bad, text);
  }
});

test('the native coin and a token without the ability have no such way', () => {
  const native = terms({ token: null });
  assert.equal(permitAlternative(native, deployment, abilities, values), null);
  assert.equal(authorizationAlternative(native, deployment, abilities), null);
  assert.equal(permitAlternative(terms(), deployment, noAbilities, values), null);
  assert.equal(authorizationAlternative(terms(), deployment, noAbilities), null);
});

/** Every leaf of it altered, one after the other. */
function altered(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    const parts = value.flatMap((each, at) =>
      altered(each).map((lie) => value.map((old, other) => (at === other ? lie : old))),
    );
    return [...parts, [...value, value[0]], value.slice(1)];
  }
  if (typeof value !== 'object' || value === null) {
    return [`${value}1`, '0', null].filter((lie) => lie !== value);
  }
  const parts = Object.entries(value).flatMap(([name, each]) =>
    name === 'relay' ? [] : altered(each).map((lie) => ({ ...value, [name]: lie })),
  );
  return [...parts, { ...value, more: '1' }];
}

test('no text to sign, nor its call, can be altered unnoticed', () => {
  for (const honest of [permit(), authorization()]) {
    const problems = (each: FundAlternative) => typedDataProblems(each, terms(), deployment, view);
    assert.deepEqual(problems(honest), []);
    const lies = altered(honest) as FundAlternative[];
    assert.ok(lies.length > 60, `${lies.length}`);
    for (const lie of lies) assert.notDeepEqual(problems(lie), [], JSON.stringify(lie));
  }
  const later = { ...values, deadline: values.deadline + 1 };
  const late = permitAlternative(terms(), deployment, abilities, later)!;
  assert.notDeepEqual(typedDataProblems(late, terms(), deployment, view), []);
  const sooner = { ...values, deadline: values.deadline - 1 };
  const early = permitAlternative(terms(), deployment, abilities, sooner)!;
  assert.deepEqual(typedDataProblems(early, terms(), deployment, view), []);
  const unasked = { ...authorization(), typedData: null, call: null };
  assert.deepEqual(typedDataProblems(unasked, terms(), deployment, view), []);
});
