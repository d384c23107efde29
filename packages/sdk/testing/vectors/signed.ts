// Tests only: vectors of signed transactions. Signatures are deterministic (RFC 6979, RFC 8032).

import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { addressesOfPubkey, signSighashes } from '@parley/chains/bitcoin/keys.ts';
import { buildSpend } from '@parley/chains/bitcoin/plan.ts';
import { assemble } from '@parley/chains/bitcoin/signed-psbt.ts';
import type {
  EvmMaterial,
  SolanaMaterial,
  TronMaterial,
} from '@parley/chains/interface/material.ts';
import { readTransaction } from '@parley/chains/solana/message.ts';
import { solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import { readTronSigned, signTronTransaction } from '@parley/chains/tron/broadcast.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { base58, base64 } from '@scure/base';
import { keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { bitcoinView, keys, secret } from '../honest.ts';
import { built, outputs, someone, termsOn } from '../materials.ts';
import { faultOf } from './simple.ts';

const to = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const fees = { maxFeePerGas: 30_000_000_000n, maxPriorityFeePerGas: 1_500_000_000n };

async function onEvm() {
  const privateKey = `0x${'01'.repeat(32)}` as const;
  const account = privateKeyToAccount(privateKey);
  const call = (built('evm', termsOn('evm', true), { verb: 'refund' }) as EvmMaterial).txs[0];
  const wanted = [
    { to, data: call?.data, value: 0n, nonce: 0, gas: 21_000n, chainId: 31_337, ...fees },
    { to, data: '0x', value: 2n ** 70n, nonce: 128, gas: 500_000n, chainId: 1, ...fees },
    { to, data: '0x7f', value: 127n, nonce: 2 ** 32, gas: 60_000n, chainId: 42_161, ...fees },
    // A wallet may offer no tip.
    {
      to,
      data: `0x${'ab'.repeat(300)}`,
      value: 0n,
      nonce: 1,
      gas: 1n,
      chainId: 5,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 0n,
    },
  ];
  const all = wanted.map(async (transaction) => {
    const raw = await account.signTransaction({ type: 'eip1559', ...transaction } as never);
    return { transaction, raw, txid: keccak256(raw) };
  });
  return { privateKey, address: account.address, signed: await Promise.all(all) };
}

function onTron() {
  const key = someone(2);
  const { transactions } = built('tron', termsOn('tron', true), { verb: 'fund' }) as TronMaterial;
  const signed = transactions.map((each) => {
    const { signature } = signTronTransaction(key, each);
    const { txID, raw_data_hex } = each;
    const read = readTronSigned({ txID, raw_data_hex, signature });
    return { txID, raw_data_hex, signature, hex: read.raw };
  });
  return { privateKey: bytesToHex(key), address: tronAddressOfKey(key), signed };
}

function onSolana() {
  const seed = someone(2);
  const { transaction } = built('solana', termsOn('solana', true), {
    verb: 'fund',
  }) as SolanaMaterial;
  const { message } = readTransaction(transaction);
  const signature = ed25519.sign(message, seed);
  const bytes = Uint8Array.of(1, ...signature, ...message);
  return {
    seed: bytesToHex(seed),
    address: solanaAddressOfSeed(seed),
    transaction,
    signed: base64.encode(bytes),
    txid: base58.encode(signature),
  };
}

function onBitcoin() {
  const terms = termsOn('bitcoin', false);
  const { network } = bitcoinView;
  const many = [...outputs, { txid: 'ab'.repeat(32), vout: 0, amount: 70_000n }];
  const of = (verb: 'claim' | 'refund', of: EscrowTerms, coins = outputs, feeSats = 400n) => {
    const { psbtBase64, sighashHexes, vsize, paysSats } = buildSpend(
      of,
      network,
      verb,
      coins,
      feeSats,
    );
    const privateKey = keys[verb === 'claim' ? 'maker' : 'taker'];
    const signaturesHex = signSighashes(hexToBytes(privateKey), sighashHexes);
    const preimageHex = verb === 'claim' ? secret : null;
    const { raw, txid } = assemble({
      psbtBase64,
      signaturesHex,
      ...(preimageHex === null ? {} : { preimageHex }),
    });
    return {
      verb,
      terms: of,
      network: network.name,
      outputs: coins,
      feeSats,
      psbtBase64,
      sighashHexes,
      vsize,
      paysSats,
      privateKey,
      preimageHex,
      signaturesHex,
      raw,
      txid,
    };
  };
  const kinds = addressesOfPubkey(terms.payout.pubkey ?? '', network);
  const paid = Object.values(kinds).map((address) => {
    return of('claim', { ...terms, payout: { ...terms.payout, address } });
  });
  const spends = [...paid, of('refund', terms), of('refund', terms, many, 900n)];
  const [claim] = spends as [(typeof spends)[number]];
  const { psbtBase64, signaturesHex } = claim;
  const other = signSighashes(hexToBytes(keys.taker), claim.sighashHexes);
  const high = [...signaturesHex].map((hex) => {
    const { r, s } = secp256k1.Signature.fromHex(hex);
    return new secp256k1.Signature(r, secp256k1.Point.CURVE().n - s).toHex('compact');
  });
  const faults: [string, Parameters<typeof assemble>[0]][] = [
    ['a signature of another key', { psbtBase64, signaturesHex: other, preimageHex: secret }],
    [
      'a signature less',
      { psbtBase64, signaturesHex: [...signaturesHex, ''], preimageHex: secret },
    ],
    ['another preimage', { psbtBase64, signaturesHex, preimageHex: '00'.repeat(32) }],
    ['a claim as a refund', { psbtBase64, signaturesHex }],
    ['no signature', { psbtBase64, signaturesHex: ['00'.repeat(64)], preimageHex: secret }],
  ];
  return {
    spends,
    /** Made low-S, as nodes want it. */
    high: {
      signaturesHex: high,
      ...assemble({ psbtBase64, signaturesHex: high, preimageHex: secret }),
    },
    refused: faults.map(([why, signed]) => {
      return { why, signed, ...faultOf(why, () => assemble(signed)) };
    }),
  };
}

export async function signedVectors() {
  return { evm: await onEvm(), tron: onTron(), solana: onSolana(), bitcoin: onBitcoin() };
}
