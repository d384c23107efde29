// The dearest bytes that are known: transactions as anybody may make them up, and bodies.

import { ed25519 } from '@noble/curves/ed25519.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { feeAt } from '@parley/chains/bitcoin/fees.ts';
import { signSighashes } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { buildSpend, type EscrowOutput, vsizeOf } from '@parley/chains/bitcoin/plan.ts';
import { signTronTransaction } from '@parley/chains/tron/broadcast.ts';
import { tronTransaction } from '@parley/chains/tron/plan.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { base64 } from '@scure/base';
import type { Hex, PrivateKeyAccount } from 'viem';

const { regtest } = bitcoinNetworks;
const filled = (byte: number) => new Uint8Array(32).fill(byte);

/** A refund of so many payments that were never made, signed. */
export function madeUpPsbt(terms: EscrowTerms, key: Uint8Array, inputs: number, entries = 0) {
  const outputs: EscrowOutput[] = Array.from({ length: inputs }, (_, vout) => ({
    txid: 'ab'.repeat(32),
    vout,
    amount: 1_000_000n,
  }));
  const fee = feeAt(vsizeOf(terms, regtest, 'refund', inputs), 2);
  const { psbtBase64, sighashHexes } = buildSpend(terms, regtest, 'refund', outputs, fee);
  const signaturesHex = signSighashes(key, sighashHexes);
  const bytes = base64.decode(psbtBase64);
  // The map of the first input begins behind the transaction, whose length is a byte or three.
  const [first = 0, low = 0, high = 0] = bytes.subarray(7);
  const start = first < 253 ? 8 + first + 1 : 10 + low + 256 * high + 1;
  const more = Array.from({ length: entries }, (_, at) =>
    concatBytes(
      Uint8Array.of(34, 6, 2),
      filled(at >> 8).subarray(1),
      Uint8Array.of(at, 4, 0, 0, 0, 0),
    ),
  );
  const made = concatBytes(bytes.subarray(0, start), ...more, bytes.subarray(start));
  return { psbtBase64: base64.encode(made), signaturesHex };
}

/** As many payments to P2WSH scripts as fit a body. */
export function manyPayments(): string {
  const count = 740;
  const outputs = Array.from({ length: count }, (_, at) => {
    const hash = at.toString(16).padStart(64, '0');
    return `e803000000000000220020${hash}`;
  });
  const size = `fd${(count % 256).toString(16).padStart(2, '0')}0${count >> 8}`;
  return `0200000001${'11'.repeat(32)}0000000000fdffffff${size}${outputs.join('')}00000000`;
}

/** A witness of nothing but items. */
export function manyItems(): string {
  const count = 30_000;
  const size = `fd${(count % 256).toString(16)}${(count >> 8).toString(16)}`;
  const input = `01${'11'.repeat(32)}0000000000fdffffff`;
  return `020000000001${input}01e80300000000000000${size}${'00'.repeat(count)}00000000`;
}

export function manyAddresses(
  account: PrivateKeyAccount,
  chainId: number,
  length: number,
): Promise<Hex> {
  const accessList = Array.from({ length }, (_, at) => ({
    address: `0x${at.toString(16).padStart(40, '0')}` as Hex,
    storageKeys: [],
  }));
  const fees = { gas: 60_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
  const call = { chainId, nonce: 0, to: account.address, accessList };
  return account.signTransaction({ type: 'eip1559', ...call, ...fees });
}

/** As much calldata as fits, and five signatures. */
export function longTron(key: Uint8Array, from: string) {
  const call = { from, to: from, data: '11'.repeat(31_000), value: 0n };
  const { raw_data_hex, txID } = tronTransaction(call, {
    refBlockBytes: '00ff',
    refBlockHash: '0123456789abcdef',
    expiration: Date.now() + 600_000,
    timestamp: Date.now(),
    feeLimitSun: 30_000_000n,
  });
  const [signature = ''] = signTronTransaction(key, { txID }).signature;
  return { raw_data_hex, txID, signature: Array.from({ length: 5 }, () => signature) };
}

/** Twelve signers, the most that a packet has room for. */
export function manySigners(): string {
  const seeds = Array.from({ length: 12 }, (_, at) => filled(at + 1));
  const keys = seeds.map((seed) => ed25519.getPublicKey(seed));
  const message = concatBytes(Uint8Array.of(12, 0, 0, 12), ...keys, filled(7), Uint8Array.of(0));
  const signatures = seeds.map((seed) => ed25519.sign(message, seed));
  return base64.encode(concatBytes(Uint8Array.of(12), ...signatures, message));
}

/** Bodies for every route: as many names, and as many lists, as fit, and as many as are parsed. */
export const anyBody = {
  'a body of 990 long names': Object.fromEntries(
    Array.from({ length: 990 }, (_, at) => [`${at}`.padEnd(60, 'k'), 0]),
  ),
  'a body of 6 000 names': Object.fromEntries(
    Array.from({ length: 6_000 }, (_, at) => [`k${at}`, 0]),
  ),
  'a body of 20 000 lists': { lists: Array.from({ length: 20_000 }, () => []) },
} as const;
