import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { type Escrow, escrowId, legOf } from '@parley/contracts/escrows/ids.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms, Lane } from '@parley/core/terms.ts';
import { codePoint } from '@parley/verify/test/support/code-points.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import {
  type Abi,
  type AbiFunction,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  toFunctionSelector,
} from 'viem';
import {
  callsIn,
  claimData,
  type DecodedCall,
  escrowOfTerms,
  fundData,
  fundedIn,
  fundManyData,
  inBatches,
  type Place,
  refundData,
  settleManyData,
} from './calls.ts';

const abi = escrowsAbi as Abi;
const place: Place = { chainId: 728_126_428, contract: `0x${'e5'.repeat(20)}` };

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((some): Hex => {
    return `0x${Buffer.from(some).toString('hex')}`;
  });
const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
const abiOf = (name: string) =>
  abi.find((each) => each.type === 'function' && each.name === name) as AbiFunction;
const nameOf = (data: string) => decodeFunctionData({ abi, data: `0x${data}` }).functionName;
const escrows = (timeBits = 256, amountBits = 256): fc.Arbitrary<Escrow> =>
  fc.record({
    terms: fc.record({
      hashlock: bytes(32),
      payout: bytes(20),
      refund: bytes(20),
      token: bytes(20),
      amount: uint(amountBits),
      timelock: uint(timeBits),
      fundBefore: uint(timeBits),
    }),
    lane: uint(96),
    counter: fc.integer({ min: 1, max: 2 ** 30 - 1 }),
  });
const opened = (timeBits = 256, amountBits = 256) =>
  fc.tuple(escrows(timeBits, amountBits), bytes(32)).map(([escrow, secret]) => {
    const hashlock: Hex = `0x${hashlockOf(secret.slice(2))}`;
    return { escrow: { ...escrow, terms: { ...escrow.terms, hashlock } }, secret };
  });

/** Such as a leg of a batch has room for. */
const batched = () => opened(40, 144);

const idOf = (escrow: Escrow) => escrowId(place.chainId, place.contract, escrow);
const encoded = (functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi, functionName, args }).slice(2);
const shown = (calls: readonly DecodedCall[]) =>
  calls.map(({ verb, id, secret }) => [verb, id, secret]);

function waysOf({ terms, lane, counter }: Escrow, secret: Hex): [string, DecodedCall['verb']][] {
  const own = [terms, lane, counter];
  const signature = { v: 27, r: secret, s: terms.hashlock };
  const consent = { v: 28, r: terms.hashlock, s: secret };
  const permitted = [...own, terms.amount, terms.timelock];
  return [
    [encoded('fund', own), 'fund'],
    [encoded('fundInLane', [...own, consent]), 'fund'],
    [encoded('fundWithPermit', [...permitted, signature]), 'fund'],
    [encoded('fundInLaneWithPermit', [...permitted, consent, signature]), 'fund'],
    [encoded('fundWithAuthorization', [...own, signature]), 'fund'],
    [encoded('fundInLaneWithAuthorization', [...own, consent, signature]), 'fund'],
    [encoded('claim', [...own, secret]), 'claim'],
    [encoded('refund', own), 'refund'],
    [encoded('refundPart', [...own, 7n]), 'refund'],
    [encoded('refundEarly', [...own, `${secret}${terms.hashlock.slice(2)}1b`]), 'refund'],
  ];
}

test('every call of one escrow is read back to its id, wherever it stands', () => {
  const around = fc.uint8Array({ maxLength: 70 }).map((some) => Buffer.from(some).toString('hex'));
  fc.assert(
    fc.property(opened(), around, around, ({ escrow, secret }, before, behind) => {
      for (const [data, verb] of waysOf(escrow, secret)) {
        const shownSecret = verb === 'claim' ? secret.slice(2) : null;
        const calls = callsIn(before + data + behind, place);
        assert.deepEqual(shown(calls), [[verb, idOf(escrow), shownSecret]]);
        assert.deepEqual(calls[0]?.escrow, escrow);
        const early = toFunctionSelector(abiOf('refundEarly')).slice(2);
        assert.equal(calls[0]?.isReleased, data.startsWith(early) ? true : undefined);
        const isAuthorized = /Authorization$/.test(nameOf(data));
        const signature = `${secret}${escrow.terms.hashlock.slice(2)}1b`;
        assert.equal(calls[0]?.authorization, isAuthorized ? signature : undefined);
        const funded = verb === 'fund' ? [idOf(escrow)] : [];
        assert.deepEqual(fundedIn(before + data + behind, place), funded);
      }
    }),
    { numRuns: runs(100) },
  );
});

test('a batch is read back to its escrows in their order, a claim with its secret', () => {
  const batch = fc.array(batched(), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(batch, (some) => {
      const all = some.map(({ escrow }) => escrow);
      const claims = some.map(({ escrow, secret }) => ({ escrow, lock: secret }));
      const refunds = all.map((escrow) => ({ escrow, lock: escrow.terms.hashlock }));
      const read = (data: Hex) => callsIn(data.slice(2), place);
      assert.deepEqual(
        shown(read(settleManyData('claim', claims))),
        claims.map(({ escrow, lock }) => ['claim', idOf(escrow), lock.slice(2)]),
      );
      for (const [verb, data] of [
        ['fund', fundManyData(all)],
        ['refund', settleManyData('refund', refunds)],
      ] as const) {
        const back = read(data);
        assert.deepEqual(
          shown(back),
          all.map((escrow) => [verb, idOf(escrow), null]),
        );
        assert.deepEqual(
          back.map(({ escrow }) => escrow),
          all,
        );
      }
    }),
    { numRuns: runs(100) },
  );
});

test('the adapters write what viem writes', () => {
  const own: EscrowTerms = {
    chain: 'tron-dev',
    hashlock: 'ab'.repeat(32),
    payout: { address: '01', pubkey: null },
    refund: { address: '02', pubkey: null },
    token: '03',
    amount: 5n,
    timelock: 1_800_086_400,
    fundBefore: 1_800_003_600,
    lane: { number: '5d1fa3c27be6049800000001', counter: 9 },
  };
  const bare = (address: string): Hex => `0x${address.repeat(20)}`;
  const escrow = escrowOfTerms(own, bare);
  assert.deepEqual(escrow, {
    terms: {
      hashlock: `0x${'ab'.repeat(32)}`,
      payout: bare('01'),
      refund: bare('02'),
      token: bare('03'),
      amount: 5n,
      timelock: 1_800_086_400n,
      fundBefore: 1_800_003_600n,
    },
    lane: 0x5d1fa3c27be6049800000001n,
    counter: 9,
  });
  assert.equal(escrowOfTerms({ ...own, token: null }, bare).terms.token, `0x${'00'.repeat(20)}`);
  const secret = 'cd'.repeat(32);
  const ways = waysOf(escrow, `0x${secret}`).map(([data]) => `0x${data}`);
  assert.equal(fundData(escrow), ways[0]);
  assert.equal(claimData(escrow, secret), ways[6]);
  assert.equal(refundData(escrow), ways[7]);
  for (const part of ['lane', 'fundBefore'] as const) {
    const { [part]: _, ...less } = own;
    assert.throws(() => escrowOfTerms(less, bare), /name no lane/);
  }
});

const groupOf = (escrow: Escrow, secret: Hex) => {
  const { token, payout: to } = escrow.terms;
  return { token, to, legs: [legOf(escrow, 'claim', secret)] };
};

const wordLength = 64;
function dirtied(data: string, word: number, width: number): string {
  const at = 8 + (word + 1) * wordLength - width - 1;
  const digit = (Number.parseInt(data[at] ?? '', 16) | 1).toString(16);
  return data.slice(0, at) + digit + data.slice(at + 1);
}

test('a word with more than it holds makes it no call, as the contract sees it', () => {
  const narrow = [
    [1, 40],
    [2, 40],
    [3, 40],
    [7, 24],
    [8, 8],
  ] as const;
  fc.assert(
    fc.property(batched(), fc.constantFrom(...narrow), ({ escrow, secret }, [word, width]) => {
      for (const [data] of waysOf(escrow, secret)) {
        assert.deepEqual(callsIn(dirtied(data, word, width), place), []);
      }
      // Token and receiver of a batch's group; the other group is read all the same.
      const data = encoded('claimMany', [[groupOf(escrow, secret), groupOf(escrow, secret)], 1n]);
      assert.equal(callsIn(data, place).length, 2);
      for (const field of [0, 1]) {
        assert.equal(callsIn(dirtied(data, 5 + field, 40), place).length, 1);
      }
      // A funding of many: the second one's words.
      const fundings = [escrow, escrow].map(({ terms, lane, counter }) => ({
        terms,
        lane,
        counter,
      }));
      const many = encoded('fundMany', [fundings]);
      assert.equal(callsIn(dirtied(many, 2 + 9 + word, width), place).length, 1);
    }),
    { numRuns: runs(50) },
  );
});

test('a cut off call, or anything at all behind a selector, is read without a throw', () => {
  const names = ['fund', 'fundMany', 'claim', 'refundEarly', 'claimMany', 'refundMany'];
  const selectors = names.map((name) => toFunctionSelector(abiOf(name)).slice(2));
  const digits = fc.array(fc.constantFrom(...'0123456789abcdef'), { maxLength: 900 });
  const hex = digits.map((each) => each.join(''));
  const garbage = fc.tuple(hex, fc.constantFrom(...selectors), hex).map((parts) => parts.join(''));
  const text = fc.oneof(garbage, hex, fc.string({ unit: codePoint, maxLength: 400 }));
  fc.assert(
    fc.property(text, (some) => {
      callsIn(some, place);
      fundedIn(some, place);
    }),
    { numRuns: runs(300) },
  );
  fc.assert(
    fc.property(batched(), fc.nat(), ({ escrow, secret }, cut) => {
      for (const [data] of waysOf(escrow, secret)) {
        const needed = 8 + (data.startsWith(selectors[2] ?? '') ? 10 : 9) * wordLength;
        assert.deepEqual(callsIn(data.slice(0, cut % needed), place), []);
        // A letter that is no digit of hex is none in a word either.
        const at = 8 + (cut % (needed - 8));
        assert.deepEqual(callsIn(`${data.slice(0, at)}g${data.slice(at + 1)}`, place), []);
      }
      // Two legs of one group, behind nine words.
      const group = groupOf(escrow, secret);
      const two = { ...group, legs: [...group.legs, ...group.legs] };
      const data = encoded('claimMany', [[two], 1n]);
      const whole = Math.floor(((cut % data.length) - 8 - 8 * wordLength) / (3 * wordLength));
      assert.equal(callsIn(data.slice(0, cut % data.length), place).length, Math.max(0, whole));
    }),
    { numRuns: runs(100) },
  );
});

test('those of one payment stand side by side, and no batch is longer than it may be', () => {
  const items = ['a', 'b', 'a', 'c', 'b', 'a'].map((payment, at) => ({ payment, at }));
  const batches = inBatches(items, ({ payment }) => payment, 4);
  assert.deepEqual(
    batches.map((batch) => batch.map(({ payment, at }) => `${payment}${at}`)),
    [
      ['a0', 'a2', 'a5', 'b1'],
      ['b4', 'c3'],
    ],
  );
  assert.deepEqual(
    inBatches([], () => ''),
    [],
  );
  for (const none of [0, -1, Number.NaN]) {
    assert.throws(() => inBatches(items, ({ payment }) => payment, none), RangeError);
  }
});

test('terms that can never be funded are no escrow', () => {
  const own: EscrowTerms = {
    chain: 'tron-dev',
    hashlock: 'ab'.repeat(32),
    payout: { address: '01', pubkey: null },
    refund: { address: '02', pubkey: null },
    token: null,
    amount: 5n,
    timelock: 1_800_086_400,
    fundBefore: 1_800_003_600,
    lane: { number: 'f'.repeat(24), counter: 9 },
  };
  const of = (over: Partial<EscrowTerms>) => () =>
    escrowOfTerms({ ...own, ...over }, (address): Hex => `0x${address.repeat(20)}`);
  const inLane = (over: object) => of({ lane: { ...(own.lane as Lane), ...over } });
  const last = 1_800_003_600 + 30 * 86_400;
  for (const fine of [
    of({ amount: 2n ** 256n - 1n }),
    of({ timelock: last - 1 }),
    inLane({ counter: 2 ** 30 - 1 }),
  ]) {
    fine();
  }
  for (const amount of [0n, -1n, 2n ** 256n]) {
    assert.throws(of({ amount }), { code: 'bad_amount', message: /amount .* must be 1 to/ });
  }
  for (const [wrong, field] of [
    ...[0, -1, 1.5, 2 ** 30, Number.NaN].map((counter) => [inLane({ counter }), 'lane.counter']),
    ...['', 'f'.repeat(25), 'F'.repeat(24)].map((number) => [inLane({ number }), 'lane.number']),
    ...[0, -1, 1.5, 2 ** 53].map((fundBefore) => [of({ fundBefore }), 'fundBefore']),
    ...[0, 1.5, Number.NaN, 2 ** 53, last].map((timelock) => [of({ timelock }), 'timelock']),
  ] as [() => unknown, string][]) {
    assert.throws(wrong, { code: 'bad_field', message: new RegExp(`^${field} of terms`) });
  }
});
