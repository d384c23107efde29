import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { ParleyError } from '@parley/core/errors.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import { base64 } from '@scure/base';
import { Transaction } from '@scure/btc-signer';
import fc from 'fast-check';
import { refuses } from '../testing/refusals.ts';
import { escrowScript, findSecret, readEscrowScript } from './escrow-script.ts';
import { defaultFeeBounds } from './fees.ts';
import { signSighashes } from './keys.ts';
import { bitcoinNetworks } from './networks.ts';
import { bitcoinEscrow, buildSpend, escrowBytes, type Verb, vsizeOf } from './plan.ts';
import { parseTx } from './raw-transaction.ts';
import { assemble, assembling, checkSpend, readPsbt, type SpendToCheck } from './signed-psbt.ts';
import { keyOf, testSwap } from './testing/swaps.ts';

const network = bitcoinNetworks.regtest;
const timelock = 1_800_000_000;
const swap = testSwap({ timelock, since: 0 });
const { terms } = swap;
const txid = 'ab'.repeat(32);
/** Refused as a bad transaction, in words like these. */
const isBad =
  (words = /./) =>
  (error: ParleyError) =>
    refuses('bad_transaction')(error) && words.test(error.message);
const psbtOf = (text: string) =>
  Transaction.fromPSBT(base64.decode(text), { allowUnknownInputs: true });
const output = { txid, vout: 1, amount: 1_000_000n };

describe('the escrow script', () => {
  it('comes back from its bytes for every value, and from nothing else', () => {
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
    // Five-byte numbers from 2038 on: the sign bit needs a byte of its own.
    const time = fc.integer({ min: 500_000_000, max: 0xffff_ffff });
    fc.assert(
      fc.property(hash, time, fc.nat(), (hashlock, lock, at) => {
        const values = {
          hashlock: bytesToHex(hashlock),
          claimer: swap.claimer.pubkey,
          funder: swap.funder.pubkey,
          timelock: lock,
        };
        const script = escrowScript(values);
        assert.deepEqual(readEscrowScript(script), values);
        const changed = Uint8Array.from(script);
        changed[at % script.length] = (changed[at % script.length] ?? 0) ^ 1;
        const read = readEscrowScript(changed);
        if (read !== null) assert.equal(bytesToHex(escrowScript(read)), bytesToHex(changed));
        assert.equal(readEscrowScript(script.slice(0, -1)), null);
      }),
    );
  });

  it('refuses a timelock that script would read as a block height, or not at all', () => {
    for (const bad of [0, 499_999_999, 2 ** 32, 1.5, Number.NaN, -1]) {
      assert.throws(
        () => bitcoinEscrow({ ...terms, timelock: bad }, network),
        refuses('bad_field'),
      );
    }
  });
});

describe('findSecret', () => {
  const secret = hexToBytes(swap.secret);
  const filler = new Uint8Array(32).fill(5);
  const pushed = Uint8Array.from([32, ...secret]);

  it('finds it wherever it is pushed, whatever surrounds it', () => {
    for (const items of [
      [secret],
      [filler, new Uint8Array(), secret, filler],
      [filler, Uint8Array.from([0x51, ...pushed, 0x87])],
      [Uint8Array.from([0x4c, 32, ...secret])],
      [Uint8Array.from([0x4d, 32, 0, ...secret])],
      [Uint8Array.from([0x4e, 32, 0, 0, 0, ...secret])],
    ]) {
      assert.equal(findSecret(items, terms.hashlock), swap.secret);
    }
  });

  it('is not misled by other items or malformed scripts', () => {
    for (const items of [
      [],
      [filler],
      [secret.slice(1)],
      [Uint8Array.from([0x4c, 33, ...secret])],
    ]) {
      assert.equal(findSecret(items, terms.hashlock), null);
    }
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (items) => {
        assert.equal(findSecret(items, terms.hashlock), null);
        assert.equal(findSecret([...items, secret], terms.hashlock), swap.secret);
      }),
    );
  });
});

const keyFor = (verb: Verb) => (verb === 'claim' ? swap.claimer : swap.funder);

function signedSpend(verb: Verb, outputs = [output], fee = 500n) {
  const built = buildSpend(terms, network, verb, outputs, fee);
  const signaturesHex = signSighashes(keyFor(verb).privateKey, built.sighashHexes);
  const preimage = verb === 'claim' ? { preimageHex: swap.secret } : {};
  return { built, signed: { psbtBase64: built.psbtBase64, signaturesHex, ...preimage } };
}

describe('a claim and a refund', () => {
  it('pay all but the fee to the address of the terms, with sequence and lock time', () => {
    for (const verb of ['claim', 'refund'] as const) {
      const { built } = signedSpend(verb);
      const psbt = readPsbt(built.psbtBase64);
      const to = verb === 'claim' ? terms.payout.address : terms.refund.address;
      const tx = psbtOf(built.psbtBase64);
      assert.equal(tx.getOutputAddress(0, network), to);
      assert.equal(tx.getOutput(0).amount, 999_500n);
      assert.equal(tx.lockTime, verb === 'claim' ? 0 : timelock);
      assert.equal(psbt.inputs[0]?.sequence, 0xffff_fffd);
      assert.deepEqual(
        psbt.inputs.map(({ sighash }) => bytesToHex(sighash)),
        built.sighashHexes,
      );
    }
  });

  it('are never larger than the virtual size that their fee was computed for', () => {
    for (const verb of ['claim', 'refund'] as const) {
      for (let count = 1; count <= 12; count += 1) {
        const outputs = Array.from({ length: count }, (_, vout) => ({ ...output, vout }));
        const { built, signed } = signedSpend(verb, outputs);
        const { raw } = assemble(signed);
        const real = Transaction.fromRaw(hexToBytes(raw), { allowUnknownInputs: true }).vsize;
        assert.ok(real <= built.vsize && real >= built.vsize - count, `${real} of ${built.vsize}`);
      }
    }
  });

  it('leave nothing below dust', () => {
    buildSpend(terms, network, 'refund', [{ ...output, amount: 794n }], 500n);
    for (const amount of [793n, 500n, 1n]) {
      assert.throws(
        () => buildSpend(terms, network, 'refund', [{ ...output, amount }], 500n),
        refuses('nothing_there'),
      );
    }
    assert.throws(() => buildSpend(terms, network, 'claim', [], 500n), refuses('nothing_there'));
  });
});

/** With so many paths of keys that lie on no curve in its first input's map. */
function withEntries(given: ReturnType<typeof signedSpend>['signed'], count: number) {
  const bytes = base64.decode(given.psbtBase64);
  // Magic, then the only entry of the global map, a transaction of less than 253 bytes.
  const start = 5 + 2 + 1 + (bytes[7] ?? 0) + 1;
  const entries = Array.from({ length: count }, (_, at) =>
    Uint8Array.of(34, 6, 2, ...new Uint8Array(31), at, 4, 0, 0, 0, 0),
  );
  const made = [bytes.subarray(0, start), ...entries, bytes.subarray(start)];
  return { ...given, psbtBase64: base64.encode(concatBytes(...made)) };
}

describe('assemble', () => {
  it('takes compact and DER signatures, with or without the flag, high S or low', () => {
    const { built, signed } = signedSpend('claim');
    const [compact = ''] = signed.signaturesHex;
    const low = secp256k1.Signature.fromHex(compact, 'compact');
    const high = new secp256k1.Signature(low.r, secp256k1.Point.CURVE().n - low.s);
    const forms = [low, high].flatMap((each) => [
      each.toHex('compact'),
      each.toHex('der'),
      `${each.toHex('der')}01`,
      each.toHex('compact').toUpperCase(),
    ]);
    const made = forms.map((form) => assemble({ ...signed, signaturesHex: [form] }));
    assert.equal(new Set(made.map(({ raw }) => raw)).size, 1, 'one transaction, whatever the form');
    const tx = psbtOf(built.psbtBase64);
    assert.equal(made[0]?.txid, tx.id, 'the id is that of the unsigned transaction');
    const witness = parseTx(made[0]?.raw ?? '').inputs[0]?.witness ?? [];
    assert.deepEqual(witness.map(bytesToHex), [
      `${low.toHex('der')}01`,
      swap.secret,
      '01',
      bitcoinEscrow(terms, network).redeemScript,
    ]);
  });

  it('takes the signatures that a wallet put into the PSBT', () => {
    const { built, signed } = signedSpend('refund');
    const tx = psbtOf(built.psbtBase64);
    tx.signIdx(swap.funder.privateKey, 0);
    const inside = { psbtBase64: base64.encode(tx.toPSBT()), signaturesHex: [] };
    assert.equal(assemble(inside).txid, assemble(signed).txid);
    assert.throws(
      () => assemble({ ...inside, preimageHex: swap.secret }),
      refuses('bad_transaction'),
      'the funder cannot claim',
    );
    assert.throws(
      () => assemble({ psbtBase64: built.psbtBase64, signaturesHex: [] }),
      refuses('bad_transaction'),
    );
  });

  it('refuses a refund that its own script would refuse', () => {
    const { psbtBase64 } = buildSpend(terms, network, 'refund', [output], 500n);
    const final = psbtOf(psbtBase64);
    final.updateInput(0, { sequence: 0xffff_ffff });
    const early = psbtOf(buildSpend(terms, network, 'claim', [output], 500n).psbtBase64);
    for (const tx of [final, early]) {
      const changed = base64.encode(tx.toPSBT());
      const hexes = readPsbt(changed).inputs.map(({ sighash }) => bytesToHex(sighash));
      const signaturesHex = signSighashes(swap.funder.privateKey, hexes);
      assert.throws(() => assemble({ psbtBase64: changed, signaturesHex }), isBad(/nLockTime/));
    }
  });

  it('refuses a wrong signature and names the input', () => {
    const outputs = [output, { ...output, vout: 2 }];
    const { signed } = signedSpend('claim', outputs);
    const [first = '', second = ''] = signed.signaturesHex;
    const swapped = { ...signed, signaturesHex: [second, first] };
    const other = signSighashes(keyOf('stranger').privateKey, ['00'.repeat(32)]);
    for (const [signaturesHex, input] of [
      [[second, first], 0],
      [[first, first], 1],
      [[first, ...other], 1],
      [[first, ''], 1],
      [[first, 'zz'], 1],
      [[first, `${second}00`], 1],
      [[first, `${'00'.repeat(64)}`], 1],
    ] as const) {
      assert.throws(
        () => assemble({ ...swapped, signaturesHex }),
        (error: ParleyError) =>
          refuses('bad_transaction')(error) && error.message.includes(`input ${input}`),
        signaturesHex.join(),
      );
    }
    const { preimageHex: _, ...without } = signed;
    const many = { ...signed, signaturesHex: [first] };
    for (const bad of [without, many, { ...signed, preimageHex: '11'.repeat(32) }]) {
      assert.throws(() => assemble(bad), refuses('bad_transaction'));
    }
    assert.throws(() => assemble({ ...signed, preimageHex: '11'.repeat(31) }), refuses('bad_hex'));
  });

  it('refuses what no builder makes before any signature is verified, and steps over what it needs not', () => {
    const outputs = Array.from({ length: 51 }, (_, vout) => ({ ...output, vout }));
    const signedOf = (some: typeof outputs) => signedSpend('refund', some).signed;
    const other = testSwap({ timelock, since: 0 });
    const mixed = psbtOf(signedOf([output]).psbtBase64);
    const { script, branches } = escrowBytes(other.terms, network);
    const witnessScript = branches.claim.script;
    const witnessUtxo = { script, amount: 9_000n };
    mixed.addInput({ txid, index: 7, sequence: 0xffff_fffd, witnessUtxo, witnessScript });
    for (const [given, words] of [
      [signedOf(outputs), /51 inputs, more than the 50/],
      [signedOf([output, output]), /repeats/],
      [withEntries(signedOf([output]), 17), /more than 16 entries of input 0/],
      [{ psbtBase64: base64.encode(mixed.toPSBT()), signaturesHex: [] }, /another escrow/],
    ] as const) {
      const steps = assembling(given);
      assert.throws(() => steps.next(), isBad(words));
    }
    const steps = [...assembling(signedOf(outputs.slice(1)))];
    assert.equal(steps.length, 50, 'a rest for each signature');
    const plain = signedOf([output]);
    assert.deepEqual(assemble(withEntries(plain, 10)), assemble(plain), 'keys that are no points');
  });

  it('refuses anything that is not a PSBT of escrows', () => {
    const stranger = new Transaction();
    stranger.addInput({
      txid,
      index: 0,
      witnessUtxo: { script: hexToBytes(`0014${'11'.repeat(20)}`), amount: 1_000n },
    });
    stranger.addOutputAddress(terms.payout.address, 900n, network);
    for (const psbtBase64 of [
      '',
      'hello',
      base64.encode(new Uint8Array(100)),
      base64.encode(stranger.toPSBT()),
      'A'.repeat(1_000_000),
    ]) {
      assert.throws(() => assemble({ psbtBase64, signaturesHex: [] }), refuses('bad_transaction'));
    }
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (where, flip) => {
        const { signed } = signedSpend('claim');
        const bytes = base64.decode(signed.psbtBase64);
        const at = where % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        try {
          const { raw } = assemble({ ...signed, psbtBase64: base64.encode(bytes) });
          // Only bytes that sign nothing may have changed: the transaction is the same.
          assert.equal(raw, assemble(signed).raw);
        } catch (error) {
          assert.ok(refuses('bad_transaction')(error), String(error));
        }
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('checkSpend', () => {
  const check = (verb: Verb, change: Partial<SpendToCheck> = {}, fee = 500n) => {
    const { psbtBase64, sighashHexes } = buildSpend(terms, network, verb, [output], fee);
    const bounds = defaultFeeBounds;
    const outputs = [output];
    checkSpend({ psbtBase64, sighashHexes, verb, terms, network, bounds, outputs, ...change });
  };

  it('accepts what the terms give, with or without a source of its own', () => {
    for (const verb of ['claim', 'refund'] as const) {
      check(verb);
      check(verb, { outputs: null });
    }
  });

  it('refuses every field that differs from the terms', () => {
    const other = keyOf('x').pubkey;
    const payout = testSwap({ timelock, since: 0 }).terms.payout.address;
    for (const [verb, change] of [
      ['claim', { terms: { ...terms, hashlock: '11'.repeat(32) } }],
      ['claim', { terms: { ...terms, payout: { ...terms.payout, pubkey: other } } }],
      ['claim', { terms: { ...terms, payout: { ...terms.payout, address: payout } } }],
      ['claim', { terms: { ...terms, amount: terms.amount + 1n } }],
      ['claim', { terms: { ...terms, timelock: timelock + 1 } }],
      ['claim', { verb: 'refund' }],
      ['refund', { verb: 'claim' }],
      ['refund', { terms: { ...terms, refund: { ...terms.refund, address: payout } } }],
      ['refund', { terms: { ...terms, refund: { ...terms.refund, pubkey: other } } }],
      ['claim', { outputs: [] }],
      ['claim', { outputs: [{ ...output, amount: output.amount + 1n }] }],
      ['claim', { outputs: [{ ...output, vout: 0 }] }],
      ['claim', { sighashHexes: ['00'.repeat(32)] }],
      ['claim', { sighashHexes: [] }],
    ] as const satisfies [Verb, Partial<SpendToCheck>][]) {
      assert.throws(
        () => check(verb, change),
        refuses('bad_transaction'),
        JSON.stringify(change, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
      );
    }
  });

  it('refuses a fee outside its bounds, at both ends', () => {
    const vsize = BigInt(vsizeOf(terms, network, 'claim', 1));
    check('claim', {}, vsize);
    assert.throws(() => check('claim', {}, vsize - 1n), refuses('bad_transaction'));
    const most = vsize * 500n;
    check('claim', {}, most);
    assert.throws(() => check('claim', {}, most + 1n), refuses('bad_transaction'));
  });

  it('refuses further outputs, another sequence or lock time', () => {
    const { psbtBase64 } = buildSpend(terms, network, 'refund', [output], 500n);
    const change = (edit: (tx: Transaction) => void) => {
      const tx = psbtOf(psbtBase64);
      edit(tx);
      const changed = base64.encode(tx.toPSBT());
      const sighashHexes = readPsbt(changed).inputs.map(({ sighash }) => bytesToHex(sighash));
      check('refund', { psbtBase64: changed, sighashHexes });
    };
    change(() => {});
    assert.throws(
      () => change((tx) => tx.updateInput(0, { sequence: 0xffff_ffff })),
      refuses('bad_transaction'),
    );
    assert.throws(
      () =>
        change(
          (tx) =>
            tx.updateOutput(0, { amount: 999_000n }) ??
            tx.addOutputAddress(terms.payout.address, 600n, network),
        ),
      refuses('bad_transaction'),
    );
  });
});
