// The Taproot form of an escrow on a real node: every spend, its size, and what the node refuses.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { schnorr } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { atOnce } from '@parley/core/steps.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { base64 } from '@scure/base';
import { p2pkh, RawTx, SigHash, Transaction, WIF } from '@scure/btc-signer';
import { refuses } from '../testing/refusals.ts';
import type { Payment } from './escrow-facts.ts';
import { escrowScript } from './escrow-script.ts';
import { leafScript, readLeaf } from './escrow-tree.ts';
import { defaultFeeBounds } from './fees.ts';
import { addressesOfPubkey, signLeaves, signSighashes } from './keys.ts';
import { bitcoinNetworks } from './networks.ts';
import {
  bitcoinEscrow,
  buildSpend,
  destination,
  type EscrowOutput,
  escrowBytes,
  paidTo,
  type Verb,
  vsizeOf,
} from './plan.ts';
import { assemble, readPsbt } from './signed-psbt.ts';
import { checkSignedSpends, finished } from './signed-spends.ts';
import { startRegtest } from './testing/regtest.ts';
import { keyOf, signedTogether, type TestKey, type TestSwap, testSwap } from './testing/swaps.ts';

const network = bitcoinNetworks.regtest;
const node = await startRegtest();
after(() => node.stop());

type Verdict = { allowed: boolean; vsize?: number; 'reject-reason'?: string };

async function verdict(raw: string): Promise<Verdict> {
  const [answered] = await node.rpc<Verdict[]>('testmempoolaccept', [[raw]]);
  assert.ok(answered);
  return answered;
}

async function mustTake(raw: string): Promise<number> {
  const { allowed, vsize = 0, ...why } = await verdict(raw);
  assert.ok(allowed, JSON.stringify(why));
  return vsize;
}

async function mustRefuse(raw: string, words: RegExp, what?: string): Promise<void> {
  const { allowed, 'reject-reason': why = '' } = await verdict(raw);
  assert.ok(!allowed && words.test(why), `${what}: ${why}`);
}

async function paid(terms: EscrowTerms): Promise<EscrowOutput> {
  const { address } = bitcoinEscrow(terms, network);
  const txid = await node.pay(address, terms.amount);
  const raw = RawTx.decode(hexToBytes(await node.rawTransaction(txid)));
  const script = bytesToHex(escrowBytes(terms, network).script);
  const vout = raw.outputs.findIndex((each) => bytesToHex(each.script) === script);
  return { txid, vout, amount: terms.amount };
}

async function funded(timelock = node.now() + 90_000, count = 1) {
  const swap = testSwap({ timelock, since: 0, form: 'p2tr' });
  const outputs: EscrowOutput[] = [];
  for (let left = count; left > 0; left -= 1) outputs.push(await paid(swap.terms));
  await node.mine(1);
  return { swap, outputs };
}

type Funded = Awaited<ReturnType<typeof funded>>;

function byScript({ swap, outputs }: Funded, verb: Verb, key?: TestKey) {
  const { psbtBase64, sighashHexes } = buildSpend(swap.terms, network, verb, outputs, 1_000n);
  const { privateKey } = key ?? (verb === 'claim' ? swap.claimer : swap.funder);
  const signaturesHex = signLeaves(privateKey, sighashHexes);
  const preimage = verb === 'claim' ? { preimageHex: swap.secret } : {};
  return assemble({ psbtBase64, signaturesHex, ...preimage }).raw;
}

async function byKey({ swap, outputs }: Funded, verb: Verb, to?: string): Promise<string> {
  const paysTo = to ?? destination(swap.terms, network, verb).address;
  return (await signedTogether(swap, { verb, outputs, feeSats: 1_000n, paysTo })).raw;
}

/** A spend by a leaf with a witness of the test's own making. */
function withWitness(
  { swap, outputs }: Funded,
  verb: Verb,
  key: TestKey,
  items: Uint8Array[],
  change: { lockTime?: number; sequence?: number } = {},
): string {
  const escrow = escrowBytes(swap.terms, network);
  const { psbtBase64 } = buildSpend(swap.terms, network, verb, outputs, 1_000n);
  const planned = Transaction.fromPSBT(base64.decode(psbtBase64), { allowUnknownInputs: true });
  const unsignedTx = RawTx.decode(planned.unsignedTx);
  const raw = {
    ...unsignedTx,
    lockTime: change.lockTime ?? unsignedTx.lockTime,
    inputs: unsignedTx.inputs.map((each) => ({
      ...each,
      sequence: change.sequence ?? each.sequence,
    })),
  };
  const tx = Transaction.fromRaw(RawTx.encode({ ...raw, segwitFlag: false }), {
    allowUnknownInputs: true,
  });
  const { script, ends } = escrow.branches[verb];
  const amounts = outputs.map(({ amount }) => amount);
  const scripts = outputs.map(() => escrow.script);
  const witnesses = outputs.map((_, at) => {
    const hash = tx.preimageWitnessV1(at, scripts, 0, amounts, undefined, script);
    return [schnorr.sign(hash, key.privateKey), ...items, ...ends];
  });
  return bytesToHex(RawTx.encode({ ...raw, segwitFlag: true, witnesses }));
}

describe('an escrow of Taproot on a real node', () => {
  it('has the address of its descriptor, by which the node itself signs its leaves', async () => {
    const { swap, outputs } = await funded();
    const { terms } = swap;
    const { redeemScript, address } = bitcoinEscrow(terms, network);
    type Info = { descriptor: string };
    const checked = async (text: string) =>
      (await node.rpc<Info>('getdescriptorinfo', [text])).descriptor;
    const told = await checked(redeemScript ?? '');
    assert.deepEqual(await node.rpc('deriveaddresses', [told]), [address]);
    // With a private key in it, the node signs the refund for the funder who has lost all else.
    const wif = WIF(network).encode(swap.funder.privateKey);
    const own = (redeemScript ?? '').replace(swap.funder.pubkey.slice(2), wif);
    const sum = (await node.rpc<{ checksum: string }>('getdescriptorinfo', [own])).checksum;
    const { psbtBase64 } = buildSpend(terms, network, 'refund', outputs, 1_000n);
    const processed = await node.rpc<{ hex?: string; complete: boolean }>('descriptorprocesspsbt', [
      psbtBase64,
      [`${own}#${sum}`],
    ]);
    assert.equal(processed.complete, true);
    await mustRefuse(processed.hex ?? '', /non-final/);
    await node.moveMedianTo(terms.timelock + 1);
    await mustTake(processed.hex ?? '');
  });

  it('takes every spend, and none is larger than it was counted', async () => {
    for (const count of [1, 3]) {
      const given = await funded(node.now() + 5_000, count);
      const { terms } = given.swap;
      const claim = byScript(given, 'claim');
      const early = byScript(given, 'refund');
      const size = (verb: Verb, path: 'script' | 'key') =>
        vsizeOf(terms, network, verb, count, path);
      assert.equal(await mustTake(claim), size('claim', 'script'));
      for (const verb of ['claim', 'refund'] as const) {
        assert.equal(await mustTake(await byKey(given, verb)), size(verb, 'key'));
      }
      await mustRefuse(early, /non-final/);
      await node.moveMedianTo(terms.timelock + 1);
      assert.equal(await mustTake(early), size('refund', 'script'));
      // Bitcoin cannot stop a late claim: the deadlines do.
      await mustTake(claim);
      const places = addressesOfPubkey(given.swap.claimer.pubkey, network);
      const { form: _, ...plain } = terms;
      const legacy = p2pkh(hexToBytes(given.swap.claimer.pubkey), network).address;
      const p2wsh = bitcoinEscrow(plain, network).address;
      for (const [kind, to] of Object.entries({ ...places, p2pkh: legacy, p2wsh })) {
        const on = paidTo(terms, network, 'claim', to);
        const vsize = await mustTake(await byKey(given, 'claim', to));
        assert.equal(vsize, vsizeOf(on, network, 'claim', count, 'key'), kind);
      }
      if (count > 1) continue;
      assert.deepEqual(
        [size('claim', 'script'), size('refund', 'script'), size('claim', 'key')],
        [143, 126, 99],
      );
    }
  });

  it('lets the claimer claim with a secret of 32 bytes, and nobody else', async () => {
    const given = await funded();
    const { swap } = given;
    const secret = hexToBytes(swap.secret);
    const claim = (key: TestKey, items: Uint8Array[]) => withWitness(given, 'claim', key, items);
    await mustTake(claim(swap.claimer, [secret]));
    await mustRefuse(claim(swap.funder, [secret]), /Invalid Schnorr/);
    await mustRefuse(claim(swap.claimer, [new Uint8Array(32)]), /EQUALVERIFY/);
    await mustRefuse(claim(swap.claimer, []), /./);
    for (const length of [31, 33]) {
      const preimage = new Uint8Array(length).fill(9);
      const terms = { ...swap.terms, hashlock: bytesToHex(sha256(preimage)) };
      const outputs = [await paid(terms)];
      await node.mine(1);
      const other = { swap: { ...swap, terms } as TestSwap, outputs };
      const raw = withWitness(other, 'claim', swap.claimer, [preimage]);
      await mustRefuse(raw, /EQUALVERIFY/, `${length} bytes`);
    }
  });

  it('lets the funder refund only with the lock time, the sequence and the median time', async () => {
    const given = await funded(node.now() + 5_000);
    const { swap } = given;
    const refund = (key: TestKey, change = {}) => withWitness(given, 'refund', key, [], change);
    await mustRefuse(refund(swap.funder), /non-final/);
    await node.moveMedianTo(swap.terms.timelock + 1);
    await mustTake(refund(swap.funder));
    await mustRefuse(refund(swap.claimer), /Invalid Schnorr/);
    await mustRefuse(refund(swap.funder, { lockTime: swap.terms.timelock - 1 }), /Locktime/);
    await mustRefuse(refund(swap.funder, { sequence: 0xffff_ffff }), /Locktime/);
  });

  it('is claimed by a key of either parity', async () => {
    // Both keys of an x: the leaf has no parity, so the other one signs as well.
    const given = await funded();
    const { swap } = given;
    const flipped = swap.claimer.pubkey.startsWith('02') ? '03' : '02';
    const pubkey = flipped + swap.claimer.pubkey.slice(2);
    const terms = { ...swap.terms, payout: { ...swap.terms.payout, pubkey } };
    const outputs = [await paid(terms)];
    await node.mine(1);
    const other = { swap: { ...swap, terms }, outputs };
    await mustTake(byScript(other, 'claim'));
    // MuSig2 wants the whole key: such a side signs by its leaf alone.
    await assert.rejects(byKey(other, 'claim'), refuses('bad_public_key'));
  });
});

describe('the PSBT of a leaf', () => {
  const swap = testSwap({ timelock: 1_800_000_000, since: 0, form: 'p2tr' });
  const outputs = [0, 1].map((vout) => ({ txid: 'ab'.repeat(32), vout, amount: 1_000_000n }));
  const built = (verb: Verb, of = swap.terms) => buildSpend(of, network, verb, outputs, 1_000n);

  it('is signed by a wallet that knows Taproot, and comes to the same transaction', () => {
    for (const [verb, key] of [
      ['claim', swap.claimer],
      ['refund', swap.funder],
    ] as const) {
      const { psbtBase64, sighashHexes } = built(verb);
      const read = readPsbt(psbtBase64);
      assert.deepEqual(
        read.inputs.map(({ sighash }) => bytesToHex(sighash)),
        sighashHexes,
      );
      const tx = Transaction.fromPSBT(base64.decode(psbtBase64), { allowUnknownInputs: true });
      tx.sign(key.privateKey, undefined, new Uint8Array(32));
      const preimage = verb === 'claim' ? { preimageHex: swap.secret } : {};
      const inside = { psbtBase64: base64.encode(tx.toPSBT()), signaturesHex: [], ...preimage };
      const signaturesHex = signLeaves(key.privateKey, sighashHexes);
      assert.deepEqual(assemble(inside), assemble({ psbtBase64, signaturesHex, ...preimage }));
    }
  });

  it('takes no signature of ECDSA, of another key or leaf, and no other secret', () => {
    const { psbtBase64, sighashHexes } = built('claim');
    const claim = signLeaves(swap.claimer.privateKey, sighashHexes);
    const preimageHex = swap.secret;
    const bad = refuses('bad_transaction');
    for (const signed of [
      { signaturesHex: signSighashes(swap.claimer.privateKey, sighashHexes), preimageHex },
      { signaturesHex: signLeaves(swap.funder.privateKey, sighashHexes), preimageHex },
      { signaturesHex: claim.map((each) => `${each}01`), preimageHex },
      { signaturesHex: [...claim].reverse(), preimageHex },
      { signaturesHex: claim, preimageHex: '11'.repeat(32) },
      { signaturesHex: claim },
      { signaturesHex: [], preimageHex },
    ]) {
      assert.throws(() => assemble({ psbtBase64, ...signed }), bad);
    }
    const refund = built('refund');
    const signaturesHex = signLeaves(swap.funder.privateKey, refund.sighashHexes);
    assert.throws(() => assemble({ ...refund, signaturesHex, preimageHex }), bad);
  });

  it('is refused where its leaf, its tree or its output is of something else', () => {
    const bad = refuses('bad_transaction');
    const other = testSwap({ timelock: 1_800_000_000, since: 0, form: 'p2tr' });
    const { psbtBase64 } = built('claim');
    const hex = bytesToHex(base64.decode(psbtBase64));
    const hexOf = ({ terms }: TestSwap) => {
      const { script, branches } = escrowBytes(terms, network);
      const [leaf, control] = branches.claim.ends.map(bytesToHex);
      return { script: bytesToHex(script), leaf: leaf ?? '', control: control ?? '' };
    };
    const own = hexOf(swap);
    const changed = (from: string, to: string) => {
      assert.ok(hex.includes(from) && from.length === to.length);
      return base64.encode(hexToBytes(hex.replace(from, to)));
    };
    const anybody = `51${'61'.repeat(own.leaf.length / 2 - 1)}`;
    const withType = Transaction.fromPSBT(base64.decode(psbtBase64), { allowUnknownInputs: true });
    withType.updateInput(0, { sighashType: SigHash.ALL }, true);
    for (const [why, text] of [
      ['another output', changed(own.script, hexOf(other).script)],
      ['the leaf of another escrow', changed(own.leaf, hexOf(other).leaf)],
      ['a leaf that anybody could spend', changed(own.leaf, anybody)],
      ['another version of a leaf', changed(`${own.leaf}c0`, `${own.leaf}c2`)],
      ['another tree', changed(own.control, hexOf(other).control)],
      [
        'another parity',
        changed(own.control, (own.control.startsWith('c0') ? 'c1' : 'c0') + own.control.slice(2)),
      ],
      ['another sighash type', base64.encode(withType.toPSBT())],
      ['no leaf', buildSpend(swap.terms, network, 'claim', outputs, 1_000n, 'key').psbtBase64],
    ] as const) {
      assert.throws(() => readPsbt(text), bad, why);
    }
  });

  for (const verb of ['claim', 'refund'] as const) {
    it(`makes the ${verb}s that are left with a market, byte for byte`, () => {
      const estimate = { fast: 4, medium: 3, slow: 2, least: 1, at: 0 };
      const spent = { ...outputs[0], height: 100, coinbase: false, spend: null } as Payment;
      const history = { payments: [spent], tip: 200 };
      const { terms, secret } = swap;
      const known = { requiredConfirmations: 3, estimate, known: [], bounds: defaultFeeBounds };
      const check = (raws: string[]) =>
        atOnce(checkSignedSpends(raws, { verb, terms, network, history, ...known }));
      const key = verb === 'claim' ? swap.claimer : swap.funder;
      const signed = (fee: bigint) => {
        const { psbtBase64, sighashHexes } = buildSpend(terms, network, verb, [spent], fee);
        return { psbtBase64, signaturesHex: signLeaves(key.privateKey, sighashHexes) };
      };
      const fees = [200n, 1_500n];
      const ladder = fees.map((fee) => assemble(signed(fee), verb).raw);
      assert.deepEqual(
        check(ladder).map(({ feeSats }) => feeSats),
        fees,
      );
      const whole = verb === 'claim' ? { preimageHex: secret } : {};
      assert.deepEqual(
        ladder.map((raw) => finished(terms, raw, { verb, secret })),
        fees.map((fee) => assemble({ ...signed(fee), ...whole }).raw),
      );
      const [low = '', high = ''] = ladder;
      const lied = `${high.slice(0, -60)}${'00'.repeat(10)}${high.slice(-40)}`;
      assert.throws(() => check([low, lied]), refuses('bad_transaction'));
    });
  }

  it('reads its own leaves and nothing close', () => {
    const key = keyOf('a').pubkey.slice(2);
    const leaves = [
      { verb: 'claim', key, hashlock: '5e'.repeat(32) },
      { verb: 'refund', key, timelock: 1_800_000_000 },
      { verb: 'refund', key, timelock: 2 ** 32 - 1 },
    ] as const;
    for (const leaf of leaves) {
      const script = leafScript(leaf);
      assert.deepEqual(readLeaf(script), leaf);
      for (let bit = 0; bit < script.length * 8; bit += 1) {
        const changed = Uint8Array.from(script);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const read = readLeaf(changed);
        if (read !== null) assert.deepEqual(leafScript(read), changed);
      }
      assert.equal(readLeaf(script.slice(0, -1)), null);
    }
    const { claimer, funder, terms } = swap;
    const values = { claimer: claimer.pubkey, funder: funder.pubkey, hashlock: terms.hashlock };
    assert.equal(readLeaf(escrowScript({ ...values, timelock: terms.timelock })), null);
  });
});
