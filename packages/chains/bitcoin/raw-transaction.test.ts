import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bytesToHex } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { RawTx, Transaction } from '@scure/btc-signer';
import fc from 'fast-check';
import { parseTx } from './raw-transaction.ts';

const refuses = (error: unknown) =>
  error instanceof ParleyError && error.code === 'bad_transaction';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const data = fc.uint8Array({ maxLength: 300 });
const transactions = fc
  .record({
    inputs: fc.array(
      fc.record({
        txid: bytes(32),
        index: fc.nat(),
        finalScriptSig: data,
        sequence: fc.integer({ min: 0, max: 0xffff_ffff }),
        witness: fc.array(data, { maxLength: 5 }),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    outputs: fc.array(fc.record({ amount: fc.bigInt(0n, 2n ** 51n), script: data }), {
      minLength: 1,
      maxLength: 5,
    }),
    lockTime: fc.integer({ min: 0, max: 0xffff_ffff }),
    segwit: fc.boolean(),
  })
  .map(({ inputs, outputs, lockTime, segwit }) => {
    const witnesses = inputs.map(({ witness }) => witness);
    const hasWitness = segwit && witnesses.some((items) => items.length > 0);
    return {
      inputs,
      outputs,
      hasWitness,
      raw: RawTx.encode({
        version: 2,
        segwitFlag: hasWitness,
        inputs,
        outputs,
        witnesses: hasWitness ? witnesses : undefined,
        lockTime,
      }),
    };
  });

describe('parseTx', () => {
  it('reads what an independent encoder wrote, and gives the same id', () => {
    fc.assert(
      fc.property(transactions, ({ inputs, outputs, hasWitness, raw }) => {
        const tx = parseTx(bytesToHex(raw));
        const opts = { allowUnknownInputs: true, allowUnknownOutputs: true };
        const other = Transaction.fromRaw(raw, { ...opts, disableScriptCheck: true });
        assert.equal(tx.txid(), other.id);
        assert.deepEqual(
          tx.outputs.map(({ amount, script }) => [amount, bytesToHex(script)]),
          outputs.map(({ amount, script }) => [amount, bytesToHex(script)]),
        );
        assert.deepEqual(
          tx.inputs.map((input) => [
            input.outpoint(),
            input.witness.map((item) => bytesToHex(item)),
          ]),
          inputs.map(({ txid, index, witness }) => [
            `${bytesToHex(txid)}:${index}`,
            hasWitness ? witness.map((item) => bytesToHex(item)) : [],
          ]),
        );
      }),
    );
  });

  it('refuses every truncation and every trailing byte', () => {
    fc.assert(
      fc.property(transactions, fc.nat(), ({ raw }, at) => {
        assert.throws(() => parseTx(bytesToHex(raw.slice(0, at % raw.length))), refuses);
        assert.throws(() => parseTx(`${bytesToHex(raw)}00`), refuses);
      }),
    );
  });
});
