// The Taproot form of an escrow (BIP 341): the key of both parties together (BIP 327), which spends
// by their consent, over a leaf for each of them, which needs nobody's:
//
//   claim:  SIZE 32 EQUALVERIFY SHA256 <hashlock> EQUALVERIFY <claimer> CHECKSIG
//   refund: <timelock> CHECKLOCKTIMEVERIFY VERIFY <funder> CHECKSIG
//
// Both are miniscript, so one descriptor holds the whole: Bitcoin Core gives its address from it, and
// signs its leaves. Keys in leaves are x-only. Pure.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { Hashlock } from '@parley/core/hashlock.ts';
import { remembered } from '@parley/core/remembered.ts';
import { type Contract, digestHead } from '@parley/core/rules.ts';
import { p2tr, Script, ScriptNum, TaprootControlBlock } from '@scure/btc-signer';
import { sortKeys } from '@scure/btc-signer/musig2.js';
import { tapLeafHash } from '@scure/btc-signer/payment.js';
import {
  compareBytes,
  equalBytes,
  tagSchnorr,
  taprootTweakPubkey,
} from '@scure/btc-signer/utils.js';
import { type EscrowScript, escrowScript, lockTimeOf } from './escrow-script.ts';
import { type BitcoinNetwork, bitcoinNetworks } from './networks.ts';

/** `key`: x-only, 64 hex. */
export type Leaf =
  | { readonly verb: 'claim'; readonly key: string; readonly hashlock: Hashlock }
  | { readonly verb: 'refund'; readonly key: string; readonly timelock: number };

export function leafScript(leaf: Leaf): Uint8Array {
  const lock =
    leaf.verb === 'claim'
      ? ([
          'SIZE',
          Uint8Array.of(32),
          'EQUALVERIFY',
          'SHA256',
          hexToBytes(leaf.hashlock),
          'EQUALVERIFY',
        ] as const)
      : ([lockTimeOf(leaf.timelock), 'CHECKLOCKTIMEVERIFY', 'VERIFY'] as const);
  return Script.encode([...lock, hexToBytes(leaf.key), 'CHECKSIG']);
}

/** Reads a leaf of an escrow; null for any other script, however close. */
export function readLeaf(script: Uint8Array): Leaf | null {
  if (script.length > 128) return null;
  try {
    const ops = Script.decode(script);
    const pushed = (at: number) => {
      const data = ops.at(at);
      return data instanceof Uint8Array ? data : new Uint8Array();
    };
    const key = bytesToHex(pushed(-2));
    const leaf: Leaf =
      ops[0] === 'SIZE'
        ? { verb: 'claim', key, hashlock: bytesToHex(pushed(4)) }
        : { verb: 'refund', key, timelock: Number(ScriptNum().decode(pushed(0))) };
    return key.length === 64 && equalBytes(leafScript(leaf), script) ? leaf : null;
  } catch {
    // Malformed, or a lock time out of range: this code has not written it.
    return null;
  }
}

const treeOf = remembered((text) => {
  const [values, network] = JSON.parse(text) as [EscrowScript, BitcoinNetwork];
  const { hashlock, timelock } = values;
  const claimer = values.claimer.slice(2);
  const funder = values.funder.slice(2);
  const scripts = {
    claim: leafScript({ verb: 'claim', key: claimer, hashlock }),
    refund: leafScript({ verb: 'refund', key: funder, timelock }),
  };
  // Sorted, as BIP 390 has them in a descriptor `musig()`.
  const keys = sortKeys([hexToBytes(values.claimer), hexToBytes(values.funder)]);
  const internalKey = keyTogether(keys);
  const leaves = [{ script: scripts.claim }, { script: scripts.refund }];
  const tree = p2tr(internalKey, leaves, network, true);
  const leafOf = (script: Uint8Array): LeafOfTree => {
    const isOf = ([, leaf]: readonly [unknown, Uint8Array]) =>
      equalBytes(leaf.slice(0, -1), script);
    const [block] = tree.tapLeafScript?.find(isOf) ?? [];
    if (block === undefined) throw new Error('a tree has its leaves');
    return { script, control: TaprootControlBlock.encode(block) };
  };
  const claim = `and_v(v:sha256(${hashlock}),pk(${claimer}))`;
  const refund = `and_v(v:after(${timelock}),pk(${funder}))`;
  return {
    address: tree.address,
    /** The output's. */
    script: tree.script,
    keys,
    internalKey,
    root: tree.tapMerkleRoot,
    leaves: { claim: leafOf(scripts.claim), refund: leafOf(scripts.refund) },
    descriptor: `tr(${bytesToHex(internalKey)},{${claim},${refund}})`,
  };
});

/**
 * KeyAgg (BIP 327), x-only. The keys are public, so it needs no constant time: the library's own
 * `keyAggregate` takes four times as long, and each process asks for each escrow.
 */
export function keyTogether(keys: readonly Uint8Array[]): Uint8Array {
  const { Point } = secp256k1;
  const list = tagSchnorr('KeyAgg list', ...keys);
  const second = keys.find((key) => !equalBytes(key, keys[0] ?? key));
  const sum = keys.reduce((before, key) => {
    const point = Point.fromBytes(key);
    if (second !== undefined && equalBytes(key, second)) return before.add(point);
    const factor = BigInt(`0x${bytesToHex(tagSchnorr('KeyAgg coefficient', list, key))}`);
    return before.add(point.multiplyUnsafe(Point.Fn.create(factor)));
  }, Point.ZERO);
  return sum.toBytes().subarray(1);
}

type LeafOfTree = { readonly script: Uint8Array; readonly control: Uint8Array };

/** Keys compressed, 66 hex. Throws `bad_field` on a timelock that is not a time. */
export function escrowTree(values: EscrowScript, network: BitcoinNetwork) {
  return treeOf(JSON.stringify([values, network]));
}

export const leafVersion = 0xc0;
/** In a tree of two leaves: the version of a leaf with a parity, an internal key, a hash. */
export const controlBytes = 65;

/** The output script that a leaf and its control block belong to: null where they fit none. */
export function scriptOfLeaf(leaf: Uint8Array, control: Uint8Array): Uint8Array | null {
  if (control.length !== controlBytes) return null;
  return outputOf(`${bytesToHex(leaf)} ${bytesToHex(control)}`);
}

/** Each spend of a schedule has the same leaf. */
const outputOf = remembered((text) => {
  const [leaf, control] = text.split(' ').map(hexToBytes) as [Uint8Array, Uint8Array];
  try {
    const { version, internalKey, merklePath } = TaprootControlBlock.decode(control);
    const root = merklePath.reduce(
      (hash, other) => tagSchnorr('TapBranch', ...[hash, other].sort(compareBytes)),
      tapLeafHash(leaf),
    );
    const [key, parity] = taprootTweakPubkey(internalKey, root);
    return version === leafVersion + parity ? Uint8Array.of(0x51, 32, ...key) : null;
  } catch {
    // No control block, or a key off the curve.
    return null;
  }
});

const sample: EscrowScript = {
  hashlock: '11'.repeat(32),
  claimer: `02${'22'.repeat(32)}`,
  funder: `03${'33'.repeat(32)}`,
  timelock: 1_800_000_000,
};

export const bitcoinContract: Contract = {
  address: null,
  /** It covers both forms. A getter, since the first key of two parties takes a while. */
  get version() {
    const { script } = escrowTree(sample, bitcoinNetworks.mainnet);
    return digestHead(bytesToHex(sha256(concatBytes(escrowScript(sample), script))));
  },
};
