// Proof that a wallet controls an address: BIP-322 simple signatures, bare or `smp`, of P2WPKH,
// P2SH-P2WPKH, P2TR. Strict: exact witness, SIGHASH_ALL, strict DER, low-S. A refusal names the
// other forms that wallets make.
// https://github.com/bitcoin/bips/blob/master/bip-0322.mediawiki

import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { base64 } from '@scure/base';
import { SigHash, Transaction } from '@scure/btc-signer';
import { bareSignature, hexIn, notIn } from '../kit/signature-text.ts';
import { addressesOfPubkey } from './keys.ts';
import { type BitcoinAddress, type BitcoinNetwork, parseBitcoinAddress } from './networks.ts';

export type BitcoinProof = {
  readonly address: string;
  readonly message: string;
  readonly signature: string;
  readonly network: BitcoinNetwork;
};

/** Longest signature here: a DER signature and a key, 108 bytes. */
const maxSignatureCharacters = 200;
const maxMessageBytes = 10_000;

/** The key in the witness, null of P2TR. `bad_signature`, `bad_address`, `wrong_network`. */
export function verifyBitcoinProof(proof: BitcoinProof): { readonly pubkey: string | null } {
  const address = parseBitcoinAddress(proof.address, proof.network);
  if (address.kind === 'p2pkh' || address.kind === 'p2wsh') {
    const kind = address.kind.toUpperCase();
    throw bad(`a ${kind} address cannot prove itself here: use P2WPKH, P2SH-P2WPKH or P2TR`);
  }
  const witness = readWitness(proof.signature);
  const toSign = toSignTransaction(proof.message, address.script);
  if (address.kind !== 'p2tr') return { pubkey: verifyKeyHash(address, witness, toSign) };
  verifyKeyPath(address, witness, toSign);
  return { pubkey: null };
}

function bad(reason: string, cause?: unknown): ParleyError {
  const options = cause === undefined ? {} : { cause };
  return new ParleyError('bad_signature', `BIP-322 signature refused: ${reason}`, {}, options);
}

/** A witness stack, consensus encoded: a count, then each item with its length. */
function readWitness(signature: string): Uint8Array[] {
  const text = bareSignature(signature);
  const bytes = readBase64(text.startsWith('smp') ? text.slice(3) : text);
  if (text.length > maxSignatureCharacters) throw bad(`${text.length} characters`);
  const items: Uint8Array[] = [];
  let at = 1;
  // Lengths here are below 253, so each is one byte.
  for (let left = bytes[0] ?? 0; left > 0; left -= 1) {
    const length = bytes[at] ?? 255;
    if (length > bytes.length - at - 1) throw bad('its witness stack is cut short');
    items.push(bytes.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  if (items.length === 0 || at !== bytes.length) throw bad('it is not one witness stack');
  return items;
}

function readBase64(text: string): Uint8Array {
  const [prefix = ''] = /^(?:ful|pof)|^-----BEGIN/.exec(text) ?? [];
  if (prefix !== '') throw badForm(prefixes[prefix as keyof typeof prefixes]);
  const hex = hexIn(text);
  let bytes: Uint8Array;
  try {
    bytes = hex === null ? base64.decode(text) : hexToBytes(hex);
  } catch (cause) {
    throw bad(notIn('base64', text), cause);
  }
  const form = formOf(bytes);
  if (form !== null) throw badForm(form);
  if (hex !== null) throw bad(notIn('base64', text));
  return bytes;
}

const prefixes = {
  ful: 'BIP-322 in full form',
  pof: 'a BIP-322 proof of funds',
  '-----BEGIN': 'a signed message with its text around it',
} as const;

/** BIP-137: four headers of each kind from 27 on. */
const headerKinds = ['P2PKH, uncompressed', 'P2PKH', 'P2SH-P2WPKH', 'P2WPKH'] as const;

/** The forms that wallets make beside BIP-322 simple; null: it may be a witness stack. */
function formOf(bytes: Uint8Array): string | null {
  const [first = 0] = bytes;
  const kind = bytes.length === 65 && headerKinds[Math.floor((first - 27) / 4)];
  if (kind) return `a signmessage (BIP-137) signature, header ${first} for ${kind}`;
  // The version of a transaction; a stack whose first items are empty proves nothing either.
  const isVersion = /^0[0-2]000000/.test(bytesToHex(bytes.subarray(0, 4)));
  if (bytes.length > 60 && isVersion) return 'BIP-322 in full form';
  if (bytesToHex(bytes.subarray(0, 5)) === '70736274ff') return 'a PSBT';
  if (bytes.length === 64 || first === 0x30) return 'a bare signature without its witness';
  return null;
}

function badForm(form: string): ParleyError {
  const simple = 'choose BIP-322 simple in the wallet';
  return bad(`it is ${form}: ${simple}, or trade by the app's own Bitcoin key`);
}

const messageTag = sha256(utf8ToBytes('BIP0322-signed-message'));

/** BIP 340 tagged hash of the message. */
export function bip322MessageHash(message: string): Uint8Array {
  const bytes = utf8ToBytes(message);
  if (bytes.length > maxMessageBytes) throw bad(`the message has ${bytes.length} bytes`);
  return sha256(concatBytes(messageTag, messageTag, bytes));
}

/** The two virtual transactions; `id` of each is the BIP's test value. */
export function toSpendTransaction(message: string, script: Uint8Array): Transaction {
  const tx = new Transaction({ version: 0, allowUnknownVersion: true });
  tx.addOutput({ script, amount: 0n });
  tx.addInput({
    txid: new Uint8Array(32),
    index: 0xffff_ffff,
    sequence: 0,
    finalScriptSig: concatBytes(Uint8Array.of(0, 32), bip322MessageHash(message)),
  });
  return tx;
}

export function toSignTransaction(message: string, script: Uint8Array): Transaction {
  const tx = new Transaction({
    version: 0,
    allowUnknownVersion: true,
    allowUnknownOutputs: true,
    allowUnknownInputs: true,
  });
  tx.addInput({
    txid: toSpendTransaction(message, script).id,
    index: 0,
    sequence: 0,
    witnessUtxo: { script, amount: 0n },
  });
  tx.addOutput({ script: Uint8Array.of(0x6a), amount: 0n });
  return tx;
}

function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes));
}

/** BIP 143 script code of a key hash: DUP HASH160 <hash> EQUALVERIFY CHECKSIG. */
function keyHashScript(hash: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0x76, 0xa9, 20), hash, Uint8Array.of(0x88, 0xac));
}

function verifyKeyHash(address: BitcoinAddress, witness: Uint8Array[], tx: Transaction): string {
  const [signature, key, ...more] = witness;
  if (signature === undefined || key === undefined || more.length > 0) {
    throw bad(`its witness has ${witness.length} items, not a signature and a key`);
  }
  if (key.length !== 33 || (key[0] !== 2 && key[0] !== 3)) throw bad('its key is not compressed');
  const hash = hash160(key);
  const program = concatBytes(Uint8Array.of(0, 20), hash);
  const payload = address.kind === 'p2sh' ? hash160(program) : hash;
  if (bytesToHex(payload) !== address.payload) {
    throw bad(
      address.kind === 'p2sh'
        ? `its key ${bytesToHex(key)} is not that of ${address.address} (P2SH-P2WPKH)`
        : `its key ${bytesToHex(key)} is not that of ${address.address}`,
    );
  }
  const sighash = tx.preimageWitnessV0(0, keyHashScript(hash), SigHash.ALL, 0n);
  if (!ecdsaHolds(signature, sighash, key)) throw bad('it is by another key or of another message');
  return bytesToHex(key);
}

function ecdsaHolds(signature: Uint8Array, sighash: Uint8Array, key: Uint8Array): boolean {
  if (signature.at(-1) !== SigHash.ALL) throw bad('its signature is not SIGHASH_ALL');
  const der = signature.subarray(0, -1);
  try {
    const parsed = secp256k1.Signature.fromBytes(der, 'der');
    // Strict DER has one encoding, so it must come back byte for byte.
    if (bytesToHex(parsed.toBytes('der')) !== bytesToHex(der)) throw bad('its DER is not strict');
    if (parsed.hasHighS()) throw bad('its signature has a high S');
    return secp256k1.verify(parsed.toBytes('compact'), sighash, key, { prehash: false });
  } catch (cause) {
    if (cause instanceof ParleyError) throw cause;
    throw bad('its signature is not DER, or its key not a point', cause);
  }
}

function verifyKeyPath(address: BitcoinAddress, witness: Uint8Array[], tx: Transaction): void {
  const [signature, ...more] = witness;
  if (signature === undefined || more.length > 0) {
    throw bad(`its witness has ${witness.length} items; a P2TR key path has one`);
  }
  // 64 bytes are SIGHASH_DEFAULT, which signs what SIGHASH_ALL signs (BIP 341).
  const type = signature.length === 64 ? SigHash.DEFAULT : SigHash.ALL;
  if (signature.length !== 64 && !(signature.length === 65 && signature[64] === SigHash.ALL)) {
    throw bad('its signature is neither 64 bytes nor 65 with SIGHASH_ALL');
  }
  const sighash = tx.preimageWitnessV1(0, [address.script], type, [0n]);
  const key = hexToBytes(address.payload);
  let holds = false;
  try {
    holds = schnorr.verify(signature.subarray(0, 64), sighash, key);
  } catch (cause) {
    throw bad(`${address.address} holds no point of the curve`, cause);
  }
  if (!holds) throw bad('it is by another key or of another message');
}

export type ProofKind = 'p2wpkh' | 'p2shP2wpkh' | 'p2tr';

/** Signs with a key at hand, as a wallet would (tests, demos, bots). Deterministic. */
export function signBip322(request: {
  readonly privateKey: Uint8Array;
  readonly kind: ProofKind;
  readonly message: string;
  readonly network: BitcoinNetwork;
  /** Whether to write the `smp` prefix of the finished BIP. */
  readonly prefixed?: boolean;
}): { readonly address: string; readonly pubkey: string; readonly signature: string } {
  const { privateKey, kind, message, network } = request;
  const key = secp256k1.getPublicKey(privateKey, true);
  const pubkey = bytesToHex(key);
  const { address, script } = parseBitcoinAddress(
    addressesOfPubkey(pubkey, network)[kind],
    network,
  );
  const tx = toSignTransaction(message, script);
  const items =
    kind === 'p2tr' ? [signKeyPath(privateKey, tx, script)] : [signHash(privateKey, tx), key];
  const parts = items.flatMap((item) => [Uint8Array.of(item.length), item]);
  const witness = base64.encode(concatBytes(Uint8Array.of(items.length), ...parts));
  return { address, pubkey, signature: request.prefixed ? `smp${witness}` : witness };
}

function signHash(privateKey: Uint8Array, tx: Transaction): Uint8Array {
  const code = keyHashScript(hash160(secp256k1.getPublicKey(privateKey, true)));
  const sighash = tx.preimageWitnessV0(0, code, SigHash.ALL, 0n);
  const der = secp256k1.sign(sighash, privateKey, { prehash: false, lowS: true, format: 'der' });
  return concatBytes(der, Uint8Array.of(SigHash.ALL));
}

function signKeyPath(privateKey: Uint8Array, tx: Transaction, script: Uint8Array): Uint8Array {
  const sighash = tx.preimageWitnessV1(0, [script], SigHash.DEFAULT, [0n]);
  return schnorr.sign(sighash, tweaked(privateKey), new Uint8Array(32));
}

/** BIP 341 key tweak without a script tree. */
function tweaked(privateKey: Uint8Array): Uint8Array {
  const { Fn } = secp256k1.Point;
  const key = secp256k1.getPublicKey(privateKey, true);
  const scalar = Fn.fromBytes(privateKey);
  const even = key[0] === 2 ? scalar : Fn.neg(scalar);
  const tweak = schnorr.utils.taggedHash('TapTweak', key.subarray(1));
  return Fn.toBytes(Fn.add(even, Fn.create(BigInt(`0x${bytesToHex(tweak)}`))));
}
