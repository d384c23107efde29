// Cosigning: the vectors of BIP 327, sides that lie, and an asking side that crashes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { runs } from '@parley/verify/test/support/runs.ts';
import {
  deterministicSign,
  keyAggregate,
  nonceAggregate,
  nonceGen,
  Session,
} from '@scure/btc-signer/musig2.js';
import fc from 'fast-check';
import type { CosignRequest } from '../interface/cosigning.ts';
import { refuses } from '../testing/refusals.ts';
import { keyTogether } from './escrow-tree.ts';
import { addressesOfPubkey } from './keys.ts';
import { answer, ask, finish, type NonceStore } from './musig.ts';
import { bitcoinNetworks, parseBitcoinAddress } from './networks.ts';
import { buildSpend, escrowBytes, keySequences, paidTo } from './plan.ts';
import { parseTx } from './raw-transaction.ts';
import vectors from './testing/bip327-vectors.json' with { type: 'json' };
import { keyOf, testSwap } from './testing/swaps.ts';

const bytes = (hex: string) => hexToBytes(hex.toLowerCase());
const hexOf = (given: Uint8Array) => bytesToHex(given).toUpperCase();
const pick = (from: readonly string[], at: readonly number[]) =>
  at.map((each) => bytes(from[each] ?? ''));

describe('the vectors of BIP 327', () => {
  it('keys and nonces come together', () => {
    const { key_agg: keys, nonce_agg: nonces, nonce_gen: drawn } = vectors;
    for (const { key_indices: at, expected } of keys.valid_test_cases) {
      assert.equal(hexOf(keyTogether(pick(keys.pubkeys, at))), expected);
    }
    for (const { key_indices: at, tweak_indices, is_xonly } of keys.error_test_cases) {
      const tweaks = pick(keys.tweaks, tweak_indices);
      const given = pick(keys.pubkeys, at);
      assert.throws(() => keyAggregate(given, tweaks, is_xonly));
      if (tweaks.length === 0) assert.throws(() => keyTogether(given));
    }
    for (const { pnonce_indices: at, expected } of nonces.valid_test_cases) {
      assert.equal(hexOf(nonceAggregate(pick(nonces.pnonces, at))), expected);
    }
    for (const { pnonce_indices: at } of nonces.error_test_cases) {
      assert.throws(() => nonceAggregate(pick(nonces.pnonces, at)));
    }
    const some = (hex: string | null) => (hex === null ? undefined : bytes(hex));
    for (const each of drawn.test_cases) {
      const { rand_, sk, pk, aggpk, msg, extra_in } = each;
      const key = some(aggpk);
      const made = nonceGen(bytes(pk), some(sk), key, some(msg), some(extra_in), bytes(rand_));
      assert.equal(hexOf(made.secret), each.expected_secnonce);
      assert.equal(hexOf(made.public), each.expected_pubnonce);
    }
  });

  it('partial signatures are made, with tweaks, and wrong ones are known', () => {
    const { sign_verify: plain, tweak: tweaked } = vectors;
    for (const each of plain.valid_test_cases) {
      const aggregate = bytes(plain.aggnonces[each.aggnonce_index] ?? '');
      const keys = pick(plain.pubkeys, each.key_indices);
      const session = new Session(aggregate, keys, bytes(plain.msgs[each.msg_index] ?? ''));
      const made = session.sign(bytes(plain.secnonces[0] ?? ''), bytes(plain.sk));
      assert.equal(hexOf(made), each.expected);
    }
    for (const each of plain.verify_fail_test_cases) {
      const nonces = pick(plain.pnonces, each.nonce_indices);
      const keys = pick(plain.pubkeys, each.key_indices);
      const message = bytes(plain.msgs[each.msg_index] ?? '');
      const session = new Session(nonceAggregate(nonces), keys, message);
      assert.equal(session.partialSigVerify(bytes(each.sig), nonces, each.signer_index), false);
    }
    for (const each of tweaked.valid_test_cases) {
      const keys = pick(tweaked.pubkeys, each.key_indices);
      const tweaks = pick(tweaked.tweaks, each.tweak_indices);
      const message = bytes(tweaked.msg);
      const session = new Session(bytes(tweaked.aggnonce), keys, message, tweaks, each.is_xonly);
      const made = session.sign(bytes(tweaked.secnonce), bytes(tweaked.sk));
      assert.equal(hexOf(made), each.expected);
    }
  });

  it('the answering side draws its nonce from all that it signs, and signatures come together', () => {
    const { det_sign: fixed, sig_agg: sums } = vectors;
    type Fixed = Pick<
      (typeof fixed.valid_test_cases)[number],
      'rand' | 'aggothernonce' | 'key_indices' | 'tweaks' | 'is_xonly' | 'msg_index'
    >;
    const signed = (each: Fixed) =>
      deterministicSign(
        bytes(fixed.sk),
        bytes(each.aggothernonce),
        pick(fixed.pubkeys, each.key_indices),
        bytes(fixed.msgs[each.msg_index] ?? ''),
        each.tweaks.map(bytes),
        each.is_xonly,
        each.rand === null ? undefined : bytes(each.rand),
      );
    for (const each of fixed.valid_test_cases) {
      const { publicNonce, partialSig } = signed(each);
      assert.deepEqual([hexOf(publicNonce), hexOf(partialSig)], each.expected);
    }
    for (const each of fixed.error_test_cases) assert.throws(() => signed(each));
    const summed = (each: (typeof sums.error_test_cases)[number]) => {
      const keys = pick(sums.pubkeys, each.key_indices);
      const tweaks = pick(sums.tweaks, each.tweak_indices);
      const message = bytes(sums.msg);
      const session = new Session(bytes(each.aggnonce), keys, message, tweaks, each.is_xonly);
      return session.partialSigAgg(pick(sums.psigs, each.psig_indices));
    };
    for (const { expected, ...each } of sums.valid_test_cases) {
      assert.equal(hexOf(summed(each as never)), expected);
    }
    for (const each of sums.error_test_cases) assert.throws(() => summed(each));
  });
});

const network = bitcoinNetworks.regtest;
const swap = testSwap({ timelock: 1_800_000_000, since: 0, form: 'p2tr' });
const { terms } = swap;
const claimer = { terms, network, privateKey: swap.claimer.privateKey };
const funder = { terms, network, privateKey: swap.funder.privateKey };
const outputs = [0, 1].map((vout) => ({ txid: 'ab'.repeat(32), vout, amount: 1_000_000n }));
const paysTo = terms.payout.address;
const claim = { verb: 'claim', outputs, feeSats: 500n, paysTo } as const;

function memory() {
  const kept = new Map<string, readonly string[]>();
  const taken: string[] = [];
  const store: NonceStore = {
    put: async (id, secrets) => {
      await setImmediate();
      kept.set(id, secrets);
    },
    take: async (id) => {
      const secrets = kept.get(id) ?? null;
      kept.delete(id);
      if (secrets !== null) taken.push(...secrets);
      return secrets;
    },
  };
  return { store, kept, taken };
}

let draws = 0;
/** As many different ones as are asked for. */
function random(): Uint8Array {
  draws += 1;
  return sha256(utf8ToBytes(`draw ${draws}`));
}

/** Whether the transaction spends all outputs by the escrow's key. */
function mustSpend(
  raw: string,
  verb: 'claim' | 'refund',
  feeSats: bigint,
  of = terms,
  to = paysTo,
) {
  const built = buildSpend(paidTo(of, network, verb, to), network, verb, outputs, feeSats, 'key');
  const key = escrowBytes(of, network).script.subarray(2);
  for (const [at, { witness }] of parseTx(raw).inputs.entries()) {
    const [signature = new Uint8Array(), ...more] = witness;
    assert.deepEqual([signature.length, more], [64, []]);
    assert.ok(schnorr.verify(signature, hexToBytes(built.sighashHexes[at] ?? ''), key));
  }
}

const places = fc.constantFrom(...Object.values(addressesOfPubkey(swap.claimer.pubkey, network)));

describe('cosigning', () => {
  it('pays whom the asking side names, whatever the keys and their order are', async () => {
    const verbs = fc.constantFrom('claim', 'refund');
    await fc.assert(
      fc.asyncProperty(fc.nat(), verbs, places, async (seed, verb, to) => {
        const one = keyOf(`one ${seed}`);
        const other = keyOf(`other ${seed}`);
        const [paid, payer] = verb === 'claim' ? [one, other] : [other, one];
        const of = {
          ...terms,
          payout: { ...terms.payout, pubkey: one.pubkey },
          refund: { ...terms.refund, pubkey: other.pubkey },
        };
        const { store } = memory();
        const asking = { terms: of, network, privateKey: paid.privateKey };
        const request = await ask(asking, { ...claim, verb, paysTo: to }, store, random);
        const given = answer({ ...asking, privateKey: payer.privateKey }, request);
        const { raw, txid } = await finish(asking, request, given, store);
        mustSpend(raw, verb, 500n, of, to);
        const tx = parseTx(raw);
        assert.equal(tx.txid(), txid);
        const { script } = parseBitcoinAddress(to, network);
        assert.deepEqual(tx.outputs, [{ amount: 1_999_500n, script }]);
        for (const { sequence } of tx.inputs) assert.equal(sequence, keySequences[verb]);
      }),
      { numRuns: runs(8) },
    );
  });

  it('is refused to a key of another side, and of an escrow without a key of both', async () => {
    const { store } = memory();
    const key = refuses('bad_public_key');
    await assert.rejects(ask(funder, claim, store, random), key);
    const request = await ask(claimer, claim, store, random);
    assert.throws(() => answer(claimer, request), key, 'the payee would sign for itself');
    assert.throws(() => answer({ ...funder, privateKey: keyOf('x').privateKey }, request), key);
    const { form: _, ...plain } = terms;
    await assert.rejects(
      ask({ ...claimer, terms: plain }, claim, store, random),
      refuses('bad_field'),
    );
    const many = Array.from({ length: 51 }, (_each, vout) => ({ ...outputs[0], vout }) as never);
    await assert.rejects(
      ask(claimer, { ...claim, outputs: many }, store, random),
      refuses('bad_field'),
    );
  });

  it('takes no answer that is not of this transaction, these keys and these nonces', async () => {
    const { store, kept } = memory();
    const request = await ask(claimer, claim, store, random);
    const given = answer(funder, request);
    const [first = '', second = ''] = given.signatures;
    const changed = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`;
    const dearer = answer(funder, { ...request, feeSats: 501n });
    const other = await ask(claimer, claim, memory().store, random);
    const bad = refuses('bad_signature');
    for (const [why, wrong] of [
      ['a wrong partial signature', { ...given, signatures: [first, changed(second)] }],
      ['one for another input', { ...given, signatures: [second, first] }],
      ['another transaction', dearer],
      ['the keys in another order', hostileAnswer(request, (keys) => keys.reverse())],
      ['a replayed answer to other nonces', answer(funder, other)],
      ['the own nonces', { ...given, nonces: request.nonces }],
      ['infinity', { ...given, nonces: ['00'.repeat(66), given.nonces[1] ?? ''] }],
      ['half infinity', { ...given, nonces: [`${'00'.repeat(33)}${first}02`, first] }],
      ['no points', { ...given, nonces: ['05'.repeat(66), '05'.repeat(66)] }],
      ['one less', { nonces: given.nonces.slice(1), signatures: [second] }],
      ['none', { nonces: [], signatures: [] }],
    ] as const) {
      await assert.rejects(finish(claimer, request, wrong, store), bad, why);
    }
    for (const nonce of ['00'.repeat(66), '05'.repeat(66), '02', '']) {
      assert.throws(() => answer(funder, { ...request, nonces: [nonce, nonce] }), bad);
    }
    assert.equal(kept.size, 1, 'a wrong answer costs no nonce');
    const { raw } = await finish(claimer, request, given, store);
    mustSpend(raw, 'claim', 500n);
  });

  it('is of the request that was stored, not of one that came back changed', async () => {
    const { store, taken } = memory();
    const request = await ask(claimer, claim, store, random);
    const dearer = { ...request, feeSats: 900_000n };
    const gone = refuses('nothing_there');
    const elsewhere = { ...request, paysTo: terms.refund.address };
    for (const changed of [dearer, elsewhere]) {
      await assert.rejects(finish(claimer, changed, answer(funder, changed), store), gone);
    }
    assert.deepEqual(taken, []);
    const swapped = { ...request, nonces: [...request.nonces].reverse() };
    await assert.rejects(finish(claimer, swapped, answer(funder, swapped), store), gone);
  });

  it('never signs twice with a nonce: the first of two right answers counts', async () => {
    const { store, taken } = memory();
    const request = await ask(claimer, claim, store, random);
    const given = answer(funder, request);
    assert.deepEqual(answer(funder, request), given, 'an honest side gives one answer');
    const later = hostileAnswer(request);
    await finish(claimer, request, given, store);
    for (const again of [given, later]) {
      await assert.rejects(finish(claimer, request, again, store), refuses('nothing_there'));
    }
    assert.equal(taken.length, 2);
    const another = await ask(claimer, claim, store, random);
    const both = [given, later].map(() => finish(claimer, another, answer(funder, another), store));
    const ended = await Promise.allSettled(both);
    assert.deepEqual(ended.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  it('ends, and signs once with each nonce, wherever the asking side crashes', async () => {
    const one = { ...claim, outputs: outputs.slice(1) };
    const when = fc.array(fc.constantFrom('before', 'after', 'never'), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(when, fc.array(fc.boolean(), { maxLength: 8 }), async (crashes, lies) => {
        const { store: disk, kept, taken } = memory();
        const crash = class extends Error {};
        const writing = async <T>(write: () => Promise<T>): Promise<T> => {
          const at = crashes.shift();
          if (at === 'before') throw new crash();
          const done = await write();
          if (at === 'after') throw new crash();
          return done;
        };
        const store: NonceStore = {
          put: (id, secrets) => writing(() => disk.put(id, secrets)),
          take: (id) => writing(() => disk.take(id)),
        };
        // Its record of what it asked last; a request leaves only once its nonces are on disk.
        let sent: CosignRequest | null = null;
        for (let tries = 0; tries < 40; tries += 1) {
          try {
            if (sent === null) {
              sent = await ask(claimer, one, store, random);
              assert.ok(kept.size > 0, 'they are on disk before the request leaves');
            }
            const given = lies.shift() ? hostileAnswer(sent) : answer(funder, sent);
            await finish(claimer, sent, given, store);
            assert.equal(new Set(taken).size, taken.length);
            return;
          } catch (error) {
            if (error instanceof crash) continue;
            if (!refuses('nothing_there')(error as never)) throw error;
            // The nonces are gone, and with them the request.
            sent = null;
          }
        }
        assert.fail('it never ends');
      }),
      { numRuns: runs(20) },
    );
  });
});

/** Right, and never the same: by a nonce drawn anew. */
function hostileAnswer(request: CosignRequest, order = (keys: Uint8Array[]): Uint8Array[] => keys) {
  const { verb, feeSats, outputs } = request;
  const built = buildSpend(terms, network, verb, outputs, feeSats, 'key');
  const { taproot } = escrowBytes(terms, network);
  const tagged = schnorr.utils.taggedHash;
  const tweak = tagged('TapTweak', taproot?.internalKey as Uint8Array, taproot?.root as Uint8Array);
  const pubkeys = [swap.claimer, swap.funder].map(({ pubkey }) => pubkey);
  const keys = order(pubkeys.sort().map(bytes));
  const own = secp256k1.getPublicKey(funder.privateKey, true);
  const made = built.sighashHexes.map((hash, at) => {
    const nonce = nonceGen(own, funder.privateKey, undefined, undefined, undefined, random());
    const both = nonceAggregate([bytes(request.nonces[at] ?? ''), nonce.public]);
    const session = new Session(both, keys, hexToBytes(hash), [tweak], [true]);
    return [nonce.public, session.sign(nonce.secret, funder.privateKey)] as const;
  });
  return {
    nonces: made.map(([nonce]) => bytesToHex(nonce)),
    signatures: made.map(([, signature]) => bytesToHex(signature)),
  };
}
