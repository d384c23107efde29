// A block that was asked for by its hash. A cache or a proxy may serve another one, so its bytes are
// proved before they are read. The hash proves the header, its Merkle root the transactions, and the
// commitment of the coinbase their witnesses (BIP 141).

import { concatBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { sha256Twice } from '#bytes';
import { nextTurn } from '../nodes/turn.ts';
import { unavailable } from './http.ts';
import { idHex, list, type ReadTx, reader, readTx, type Tx, take } from './raw-transaction.ts';

const headerBytes = 80;
const hashBytes = 32;
/** OP_RETURN, a push of 36 bytes, and the mark of a commitment to witnesses (BIP 141). */
const commitmentMark = [0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed];

export type Block = {
  readonly hash: string;
  readonly previous: string;
  /** In bytes. */
  readonly size: number;
  /** Throws `chain_unavailable` where they are not those of the header. */
  transactions(): Promise<readonly Tx[]>;
};

/** Throws `chain_unavailable`, naming `source`, where the bytes are those of another block. */
export function blockOf(source: string, hash: string, bytes: Uint8Array): Block {
  const header = bytes.subarray(0, headerBytes);
  mustBeAsked(source, hash, idHex(sha256Twice(header)));
  let isProved = false;
  return {
    hash,
    previous: idHex(header.subarray(4, 36)),
    size: bytes.length,
    // A full block takes some 20 milliseconds to read and 30 to prove: turns for others.
    transactions: async () => {
      await nextTurn();
      const all = transactionsIn(source, hash, bytes);
      await nextTurn();
      if (isProved) return all;
      const wrong = (await wrongTransactions(header, all)) ?? wrongWitnesses(all);
      if (wrong !== null) throw unavailable(source, `its block ${hash} ${wrong}`);
      isProved = true;
      await nextTurn();
      return all;
    },
  };
}

/** Throws `chain_unavailable` where a source names the hash of another block. */
export function mustBeAsked(source: string, asked: string, given: string): void {
  if (given === asked) return;
  throw unavailable(source, `asked for block ${asked}, it gave block ${given}`);
}

function transactionsIn(source: string, hash: string, bytes: Uint8Array): readonly ReadTx[] {
  const from = reader(bytes);
  try {
    take(from, headerBytes);
    return list(from, () => readTx(from));
  } catch (cause) {
    const why = cause instanceof ParleyError ? cause.message : 'it ends too early';
    throw unavailable(source, `its block ${hash} cannot be read: ${why}`, cause);
  }
}

async function wrongTransactions(header: Uint8Array, all: readonly ReadTx[]) {
  // Two hashes of the tree may pass for a transaction of 64 bytes, but not for a coinbase.
  if (all[0]?.coinbase !== true) return 'begins with no coinbase';
  const root = merkleRoot(all.map((tx) => tx.hash()));
  await nextTurn();
  if (root === null) return 'repeats transactions';
  const named = idHex(header.subarray(36, 68));
  const found = idHex(root);
  if (found === named) return null;
  return `has the Merkle root ${named}, and its transactions have ${found}`;
}

/** A secret proves itself, but a claim with another witness would pass unseen or for a refund. */
function wrongWitnesses(all: readonly ReadTx[]): string | null {
  const [coinbase, ...others] = all;
  const isCommitment = ({ script }: { readonly script: Uint8Array }) =>
    script.length >= 38 && commitmentMark.every((byte, at) => script[at] === byte);
  const script = coinbase?.outputs.findLast(isCommitment)?.script;
  if (script === undefined) return all.some((tx) => tx.isSegwit) ? 'has unproved witnesses' : null;
  const root = merkleRoot([new Uint8Array(hashBytes), ...others.map((tx) => tx.witnessHash())]);
  const [reserved] = coinbase?.inputs[0]?.witness ?? [];
  const named = idHex(script.subarray(6, 38));
  if (root !== null && reserved !== undefined) {
    const found = idHex(sha256Twice(concatBytes(root, reserved)));
    if (found === named) return null;
  }
  return `does not have the witnesses of its commitment ${named}`;
}

/**
 * null where two equal hashes stand side by side: transactions that are there twice may give the
 * root of a list that has them once (CVE-2012-2459).
 */
function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array | null {
  const level = new Uint8Array(hashBytes * (leaves.length + 1));
  for (const [at, leaf] of leaves.entries()) level.set(leaf, hashBytes * at);
  for (let count = leaves.length; count > 1; count = Math.ceil(count / 2)) {
    // An odd last one is paired with itself.
    level.copyWithin(hashBytes * count, hashBytes * (count - 1), hashBytes * count);
    for (let at = 0; at < count; at += 2) {
      const pair = level.subarray(hashBytes * at, hashBytes * (at + 2));
      const right = pair.subarray(hashBytes);
      if (at + 1 < count && right.every((byte, place) => byte === pair[place])) return null;
      level.set(sha256Twice(pair), (hashBytes * at) / 2);
    }
  }
  return level.subarray(0, hashBytes);
}
