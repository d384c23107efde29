import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { RawTx, Transaction } from '@scure/btc-signer';
import fc from 'fast-check';
import { parseBlock, parseTx } from './raw-transaction.ts';

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

describe('parseBlock', () => {
  it('reads the genesis block', () => {
    // Bitcoin Core, src/kernel/chainparams.cpp.
    const block = parseBlock(
      hexToBytes(
        '01000000' +
          '00'.repeat(32) +
          '3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c' +
          '0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04' +
          'ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e20627' +
          '2696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000' +
          '434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35' +
          '504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000',
      ),
    );
    assert.equal(block.hash, '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f');
    assert.equal(block.time, 1_231_006_505);
    const [coinbase] = block.transactions;
    assert.equal(
      coinbase?.txid(),
      '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
    );
    assert.deepEqual([coinbase?.coinbase, coinbase?.outputs[0]?.amount], [true, 5_000_000_000n]);
  });
});
