import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import fc from 'fast-check';
import { utils } from 'tronweb';
import type { TronMaterial } from '../interface/material.ts';
import { refuses } from '../testing/refusals.ts';
import { parseTronAddress, tronAddressOf } from './address.ts';
import {
  claimCall,
  fundCalls,
  materialProblems,
  referenceTo,
  refundCall,
  type TronCall,
  type TronDeployment,
  tronEscrow,
  tronTransaction,
} from './plan.ts';

const address = (byte: number) => tronAddressOf(new Uint8Array(20).fill(byte));
const deployment: TronDeployment = { chainId: 728_126_428, contract: address(0xe5) };
const secret = '5e'.repeat(32);
const payout = address(1);
const refund = address(2);
const token = address(3);
const nowMs = 1_800_000_000_000;

const trx: EscrowTerms = {
  chain: 'tron-dev',
  hashlock: hashlockOf(secret),
  payout: { address: payout, pubkey: null },
  refund: { address: refund, pubkey: null },
  token: null,
  amount: 12_345_678n,
  timelock: 1_800_086_400,
  fundBefore: 1_800_003_600,
  lane: { number: '5a'.repeat(12), counter: 7 },
};
const trc20: EscrowTerms = { ...trx, token };

const envelope = {
  ...referenceTo({ number: 66_987_627, hash: '0000000003fe266bf6b6d392f654dc2e'.padEnd(64, '0') }),
  expiration: nowMs + 600_000,
  timestamp: nowMs,
  feeLimitSun: 3_000_000n,
};

test('more sun than JSON carries is no amount, and of a token it is', () => {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  tronEscrow({ ...trx, amount: most }, deployment);
  tronEscrow({ ...trc20, amount: most + 1n }, deployment);
  const more = { ...trx, amount: most + 1n };
  assert.throws(() => tronEscrow(more, deployment), refuses('bad_amount'));
  assert.throws(() => fundCalls(more, deployment, 0n), refuses('bad_amount'));
});

// smart-contract/triggersmartcontract.md of tronprotocol/documentation-en, a capture of Nile
const captured = {
  txID: '8c621a0dc9bd4d405b20d0a43143955b9f546f98bbfde1aec295a65b0f925629',
  raw_data_hex:
    '0a0228c32208ce6d34028278856940f89cf1c0dd335aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541dd791d6b49e190062d650e6a23c575510d35f2f9121541eca9bc828a3005b9a3b909f2cc5c2a54794de05f2244a9059cbb000000000000000000000000088a2bfcb1c7271029fd69a66859d5556089588400000000000000000000000000000000000000000000000000000000000000647089d0edc0dd33900180c2d72f',
};

const word = (hex: string) => hex.padStart(64, '0');

test('a transaction of the same call is byte for byte what a real node made', () => {
  const made = tronTransaction(
    {
      from: parseTronAddress('41dd791d6b49e190062d650e6a23c575510d35f2f9'),
      to: parseTronAddress('41eca9bc828a3005b9a3b909f2cc5c2a54794de05f'),
      data: `a9059cbb${word('088a2bfcb1c7271029fd69a66859d55560895884')}${word('64')}`,
      value: 0n,
    },
    {
      refBlockBytes: '28c3',
      refBlockHash: 'ce6d340282788569',
      expiration: 1_777_447_227_000,
      timestamp: 1_777_447_168_009,
      feeLimitSun: 100_000_000n,
    },
  );
  assert.equal(made.raw_data_hex, captured.raw_data_hex);
  assert.equal(made.txID, captured.txID);
});

test('tronweb makes the same bytes of the JSON, for any call, and signs it', () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const hex = (length: number) => bytes(length).map((each) => Buffer.from(each).toString('hex'));
  const calls = fc.record({
    from: bytes(20).map(tronAddressOf),
    to: bytes(20).map(tronAddressOf),
    data: fc.integer({ min: 4, max: 300 }).chain(hex),
    value: fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) }),
  });
  const envelopes = fc.record({
    refBlockBytes: hex(2),
    refBlockHash: hex(8),
    expiration: fc.integer({ min: 1, max: 2 ** 45 }),
    timestamp: fc.integer({ min: 1, max: 2 ** 45 }),
    feeLimitSun: fc.bigInt({ min: 1n, max: 15_000_000_000n }),
  });
  fc.assert(
    fc.property(calls, envelopes, (each: TronCall, around) => {
      const made = tronTransaction(each, around);
      const theirs = utils.transaction.txJsonToPb(made);
      assert.equal(utils.transaction.txPbToRawDataHex(theirs).toLowerCase(), made.raw_data_hex);
      assert.equal(utils.transaction.txPbToTxID(theirs).replace(/^0x/, ''), made.txID);
    }),
    { numRuns: 200 },
  );
});

const bounds = { nowMs, mostFeeLimitSun: 100_000_000n };

function materialOf(terms: EscrowTerms, calls: readonly TronCall[]): TronMaterial {
  return {
    chain: terms.chain,
    family: 'tron',
    sign: 'tron-txid',
    from: calls[0]?.from ?? '',
    transactions: calls.map((each) => tronTransaction(each, envelope)),
    escrow: tronEscrow(terms, deployment).address,
  };
}

test('material of each verb is without problems', () => {
  for (const terms of [trx, trc20]) {
    for (const allowance of [0n, 1n, terms.amount]) {
      const material = materialOf(terms, fundCalls(terms, deployment, allowance));
      assert.deepEqual(materialProblems(material, { verb: 'fund' }, terms, deployment, bounds), []);
    }
    const claim = materialOf(terms, [claimCall(terms, deployment, secret)]);
    const wanted = { verb: 'claim', secret } as const;
    assert.deepEqual(materialProblems(claim, wanted, terms, deployment, bounds), []);
    const other = { ...wanted, from: address(9) };
    const byOther = materialOf(terms, [claimCall(terms, deployment, secret, other.from)]);
    assert.deepEqual(materialProblems(byOther, other, terms, deployment, bounds), []);
    assert.notDeepEqual(materialProblems(byOther, wanted, terms, deployment, bounds), []);
    const back = materialOf(terms, [refundCall(terms, deployment)]);
    assert.deepEqual(materialProblems(back, { verb: 'refund' }, terms, deployment, bounds), []);
  }
});

type Path = readonly (string | number)[];

function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return inner.flatMap(([key, each]) => leaves(each, [...path, key]));
}

function changed<T>(value: T, path: Path, change: (leaf: unknown) => unknown): T {
  const copy = structuredClone(value);
  let at = copy as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  const last = path.at(-1) as string | number;
  at[last] = change(at[last]);
  return copy;
}

test('no field of material can be changed, added or left out unnoticed', () => {
  const material = materialOf(trc20, fundCalls(trc20, deployment, 1n));
  const problems = (each: TronMaterial) =>
    materialProblems(each, { verb: 'fund' }, trc20, deployment, bounds);
  const paths = leaves(material);
  assert.ok(paths.length > 35, String(paths.length));
  for (const path of paths) {
    const other = (leaf: unknown) => {
      if (typeof leaf === 'number') return leaf + 1;
      return typeof leaf === 'boolean' ? !leaf : `${String(leaf).slice(0, -1)}~`;
    };
    assert.notDeepEqual(problems(changed(material, path, other)), [], path.join('.'));
    const gone = changed(material, path, () => undefined);
    assert.notDeepEqual(problems(gone), [], `without ${path.join('.')}`);
  }
  const more: Path[] = [[], ['raw_data'], ['raw_data', 'contract', 0]];
  for (const inside of more) {
    for (const field of ['data', 'Permission_id', 'signature']) {
      const path = ['transactions', 0, ...inside, field];
      assert.notDeepEqual(problems(changed(material, path, () => 1)), [], path.join('.'));
    }
  }
  for (const transaction of [null, {}, 1]) {
    assert.notDeepEqual(problems(changed(material, ['transactions', 1], () => transaction)), []);
  }
  const [first] = material.transactions;
  assert.ok(first);
  const twice = { ...material, transactions: [...material.transactions, first] };
  assert.notDeepEqual(problems(twice), []);
});

test('fee limits and expirations beyond the bounds are refused, at them they are not', () => {
  const call = refundCall(trx, deployment);
  const problems = (over: Partial<typeof envelope>) => {
    const one = tronTransaction(call, { ...envelope, ...over });
    const material = { ...materialOf(trx, [call]), transactions: [one] };
    return materialProblems(material, { verb: 'refund' }, trx, deployment, bounds);
  };
  assert.deepEqual(problems({ feeLimitSun: 100_000_000n }), []);
  assert.match(problems({ feeLimitSun: 100_000_001n }).join(), /fee_limit is 100000001 sun/);
  assert.match(problems({ feeLimitSun: 0n }).join(), /fee_limit/);
  assert.deepEqual(problems({ expiration: nowMs + 86_400_000 }), []);
  assert.match(problems({ expiration: nowMs + 86_400_001 }).join(), /more than 1440 minutes ahead/);
});
