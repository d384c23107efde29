// A Taproot escrow spent by the keys of both sides together (MuSig2, BIP 327): a claim once the secret
// is public, or a refund that the payee releases. It needs no leaf, no secret and no timelock. It pays
// whom the asking side names, so the chain tells the one from the other by a number that both sign
// (keySequences).
//
// The side that is paid asks, and the other one answers. Whether it may is a rule of its caller: an
// answer gives the coins away. It keeps nothing, since its nonces follow from its key and all that
// it signs (DeterministicSign). The asking side draws nonces. Signed twice with one of them, its key
// would be known: they are on disk before the request leaves, and taken from there before they sign.

import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { atOnce, type Steps } from '@parley/core/steps.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { deterministicSign, nonceAggregate, nonceGen, Session } from '@scure/btc-signer/musig2.js';
import { tagSchnorr } from '@scure/btc-signer/utils.js';
import type { CosignAnswer, CosignRequest, SpendTogether } from '../interface/cosigning.ts';
import type { BitcoinNetwork } from './networks.ts';
import { buildSpend, escrowBytes, paidTo, taprootOf, unsigned } from './plan.ts';
import type { Assembled } from './signed-psbt.ts';
import { mostInputs } from './spending.ts';
import { finished } from './unsigned.ts';

/** Where the asking side keeps secret nonces. */
export type NonceStore = {
  /** Ends once they are on disk. */
  readonly put: (id: string, secrets: readonly string[]) => Promise<void>;
  /** Ends once they are on disk no more. One of two callers gets them, the other null. */
  readonly take: (id: string) => Promise<readonly string[] | null>;
};

type Place = { readonly terms: EscrowTerms; readonly network: BitcoinNetwork };

/** A side with its key. */
export type Cosigner = Place & { readonly privateKey: Uint8Array };

type Cosigning = {
  /** By BIP 341, one for each output. */
  readonly hashes: readonly Uint8Array[];
  readonly keys: Uint8Array[];
  /** From the internal key to that of the output. */
  readonly tweak: Uint8Array;
  /** The output's, x-only. */
  readonly key: Uint8Array;
};

function cosigning(
  { terms, network }: Place,
  { verb, outputs, feeSats, paysTo }: SpendTogether,
): Cosigning {
  if (outputs.length > mostInputs) {
    throw new ParleyError('bad_field', `${outputs.length} outputs are more than ${mostInputs}`);
  }
  const paid = paidTo(terms, network, verb, paysTo);
  const built = buildSpend(paid, network, verb, outputs, feeSats, 'key');
  const escrow = escrowBytes(terms, network);
  const { keys, internalKey, root } = taprootOf(escrow);
  return {
    hashes: built.sighashHexes.map((hash) => hexToBytes(hash)),
    keys,
    tweak: tagSchnorr('TapTweak', internalKey, root),
    key: escrow.script.subarray(2),
  };
}

/** Throws `bad_public_key` unless the key is that side's. */
function mustBe({ terms, privateKey }: Cosigner, side: 'payout' | 'refund'): Uint8Array {
  const key = secp256k1.getPublicKey(privateKey, true);
  const { pubkey } = terms[side];
  if (pubkey?.toLowerCase() === bytesToHex(key)) return key;
  const sentence = `the key ${bytesToHex(key)} is not the ${side} key ${pubkey} of the escrow`;
  throw new ParleyError('bad_public_key', sentence, { side });
}

const asks = { claim: 'payout', refund: 'refund' } as const;
const answers = { claim: 'refund', refund: 'payout' } as const;

function idOf(hashes: readonly Uint8Array[], nonces: readonly string[]): string {
  return bytesToHex(sha256(concatBytes(...hashes, ...nonces.map((each) => hexToBytes(each)))));
}

/**
 * `random`: 32 bytes from a source of the system. Throws `nothing_there`, `bad_public_key`,
 * `bad_address`, `wrong_network`.
 */
export async function ask(
  own: Cosigner,
  spend: SpendTogether,
  store: NonceStore,
  random: () => Uint8Array,
): Promise<CosignRequest> {
  const key = mustBe(own, asks[spend.verb]);
  const { hashes, key: together } = cosigning(own, spend);
  const drawn = hashes.map((hash) =>
    nonceGen(key, own.privateKey, together, hash, undefined, random()),
  );
  const nonces = drawn.map((each) => bytesToHex(each.public));
  const secrets = drawn.map(({ secret }) => bytesToHex(secret));
  await store.put(idOf(hashes, nonces), secrets);
  const { verb, outputs, feeSats, paysTo } = spend;
  return { verb, outputs, feeSats, paysTo, nonces };
}

/** The same answer to the same request. Throws `bad_signature` on nonces that are none. */
export function answer(own: Cosigner, request: CosignRequest): CosignAnswer {
  mustBe(own, answers[request.verb]);
  const { hashes, keys, tweak } = cosigning(own, request);
  mustHave('nonces', request.nonces, hashes.length, nonceBytes);
  const signed = hashes.map((hash, at) =>
    reading(at, () => {
      const nonce = hexToBytes(request.nonces[at] ?? '');
      return deterministicSign(own.privateKey, nonce, keys, hash, [tweak], [true]);
    }),
  );
  return {
    nonces: signed.map(({ publicNonce }) => bytesToHex(publicNonce)),
    signatures: signed.map(({ partialSig }) => bytesToHex(partialSig)),
  };
}

const nonceBytes = 66;
const signatureBytes = 32;

function refused(sentence: string, cause?: unknown): ParleyError {
  const options = cause === undefined ? {} : { cause };
  return new ParleyError('bad_signature', `cosigning refused: ${sentence}`, {}, options);
}

function mustHave(name: string, given: readonly string[], count: number, bytes: number): void {
  const form = new RegExp(`^[0-9a-f]{${2 * bytes}}$`);
  if (given.length === count && given.every((each) => form.test(each))) return;
  throw refused(`it needs ${count} ${name} of ${bytes} bytes in hex; it has ${given.length}`);
}

/** A nonce may be no point, or infinity. */
function reading<T>(at: number, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw refused(`input ${at}: a nonce of it is none of BIP 327`, cause);
  }
}

/** Throws `bad_signature` on nonces that are none. */
export function* checkingRequest(place: Place, request: CosignRequest): Steps<void> {
  const { hashes } = cosigning(place, request);
  mustHave('nonces', request.nonces, hashes.length, nonceBytes);
  for (const [at, nonce] of request.nonces.entries()) {
    reading(at, () => nonceAggregate([hexToBytes(nonce)]));
    yield;
  }
}

/** Throws `bad_signature` unless the answer is of this request. It needs no secret. */
export function* checkingAnswer(
  place: Place,
  request: CosignRequest,
  given: CosignAnswer,
): Steps<{ readonly sessions: readonly Session[]; readonly isFirst: boolean }> {
  const { hashes, keys, tweak } = cosigning(place, request);
  mustHave('nonces', request.nonces, hashes.length, nonceBytes);
  mustHave('nonces', given.nonces, hashes.length, nonceBytes);
  mustHave('partial signatures', given.signatures, hashes.length, signatureBytes);
  const { pubkey } = place.terms[asks[request.verb]];
  const isFirst = bytesToHex(keys[0] ?? tweak) === pubkey?.toLowerCase();
  const sessions: Session[] = [];
  for (const [at, hash] of hashes.entries()) {
    const both = [request.nonces[at] ?? '', given.nonces[at] ?? ''].map((each) => hexToBytes(each));
    if (!isFirst) both.reverse();
    const session = reading(at, () => {
      return new Session(nonceAggregate(both), keys, hash, [tweak], [true]);
    });
    const theirs = hexToBytes(given.signatures[at] ?? '');
    if (!session.partialSigVerify(theirs, both, isFirst ? 1 : 0)) {
      throw refused(
        `input ${at}: the partial signature is not of this transaction and these nonces`,
      );
    }
    sessions.push(session);
    yield;
  }
  return { sessions, isFirst };
}

/**
 * The transaction, ready to be sent. Throws `bad_signature` while the answer is wrong, with the
 * nonces kept for a right one. Nonces that are gone are `nothing_there`: ask anew.
 */
export async function finish(
  own: Cosigner,
  request: CosignRequest,
  given: CosignAnswer,
  store: NonceStore,
): Promise<Assembled> {
  const { verb, outputs, feeSats, paysTo, nonces } = request;
  mustBe(own, asks[verb]);
  const { hashes, key: together } = cosigning(own, request);
  const { sessions, isFirst } = atOnce(checkingAnswer(own, request, given));
  const id = idOf(hashes, nonces);
  const secrets = await store.take(id);
  if (secrets === null) {
    throw new ParleyError('nothing_there', `the nonces of cosigning ${id} are used or unknown`);
  }
  const witnesses = sessions.map((session, at) => {
    const mine = session.sign(hexToBytes(secrets[at] ?? ''), own.privateKey);
    const both = [mine, hexToBytes(given.signatures[at] ?? '')];
    const signature = session.partialSigAgg(isFirst ? both : both.reverse());
    if (schnorr.verify(signature, hashes[at] ?? together, together)) return [signature];
    throw refused(`input ${at}: the signatures do not come to one of the escrow's key`);
  });
  const paid = paidTo(own.terms, own.network, verb, paysTo);
  const { tx } = unsigned(paid, own.network, verb, outputs, feeSats, 'key');
  return finished(tx, witnesses);
}
