// Proof that a wallet controls an address: BIP-322 simple signatures, bare or `smp`, of P2WPKH,
// P2SH-P2WPKH, P2TR. Strict: exact witness, SIGHASH_ALL, strict DER, low-S.
// https://github.com/bitcoin/bips/blob/master/bip-0322.mediawiki

import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { base64 } from '@scure/base';
import { OutScript, RawWitness, SigHash, Transaction } from '@scure/btc-signer';
import { hash160, taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
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
  if (hexIn(text) !== null) throw badForm(notIn('base64', text));
  if (text.length > maxSignatureCharacters) throw badForm(`${text.length} characters`);
  let bytes: Uint8Array;
  try {
    bytes = base64.decode(text.startsWith('smp') ? text.slice(3) : text);
  } catch (cause) {
    throw badForm(notIn('base64', text), cause);
  }
  try {
    return RawWitness.decode(bytes);
  } catch (cause) {
    throw badForm('it is not one witness stack', cause);
  }
}

function badForm(why: string, cause?: unknown): ParleyError {
  const simple = 'choose BIP-322 simple in the wallet';
  return bad(`${why}: ${simple}, or trade by the app's own Bitcoin key`, cause);
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

/** BIP 143 script code of a key hash. */
const keyHashScript = (hash: Uint8Array) => OutScript.encode({ type: 'pkh', hash });

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
  const witness = base64.encode(RawWitness.encode(items));
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
  return schnorr.sign(sighash, taprootTweakPrivKey(privateKey), new Uint8Array(32));
}
