// Where known proxies keep what they stand for and who may replace it, on EVM-like chains. Pure.

import { utf8ToBytes } from '@noble/hashes/utils.js';
import { keccak256 } from 'viem/utils';
import { contractIn } from './words.ts';

/** `less` is 1 by EIP-1967, so that no key of a mapping leads there. */
function slotNamed(name: string, less: bigint): string {
  const hash = BigInt(keccak256(utf8ToBytes(name))) - less;
  return hash.toString(16).padStart(64, '0');
}

export type ProxySlot = {
  readonly kind: string;
  /** 32 bytes in hex without 0x. */
  readonly slot: string;
  readonly holds: 'implementation' | 'beacon' | 'admin';
};

const oldForm = 'OpenZeppelin, old form';

/** A beacon says by `implementation()` what runs. */
export const proxySlots: readonly ProxySlot[] = [
  {
    kind: 'EIP-1967',
    slot: slotNamed('eip1967.proxy.implementation', 1n),
    holds: 'implementation',
  },
  { kind: 'EIP-1967', slot: slotNamed('eip1967.proxy.beacon', 1n), holds: 'beacon' },
  { kind: 'EIP-1967', slot: slotNamed('eip1967.proxy.admin', 1n), holds: 'admin' },
  {
    kind: oldForm,
    slot: slotNamed('org.zeppelinos.proxy.implementation', 0n),
    holds: 'implementation',
  },
  { kind: oldForm, slot: slotNamed('org.zeppelinos.proxy.admin', 0n), holds: 'admin' },
  { kind: 'EIP-1822', slot: slotNamed('PROXIABLE', 0n), holds: 'implementation' },
];

/** Addresses have 0x. */
type ProxyForm = {
  /** In brackets behind "a proxy". */
  readonly kind: string;
  readonly implementations: readonly string[];
  readonly beacon: string | null;
  /**
   * The only address that may replace the implementation, as far as the slots say; null: they do
   * not.
   */
  readonly admin: string | null;
};

/** `read` answers the word in a slot, in hex. null: the slots are all empty. */
export async function proxyAt(read: (slot: string) => Promise<string>): Promise<ProxyForm | null> {
  const held: { kind: string; holds: ProxySlot['holds']; at: string }[] = [];
  for (const { kind, slot, holds } of proxySlots) {
    const at = contractIn(BigInt(`0x${(await read(slot)).replace(/^0x/, '')}`));
    if (at !== null) held.push({ kind, holds, at });
  }
  if (held.length === 0) return null;
  const kinds = [...new Set(held.map(({ kind }) => kind))];
  const [beacon = null] = held.filter(({ holds }) => holds === 'beacon').map(({ at }) => at);
  const [admin = null] = held.filter(({ holds }) => holds === 'admin').map(({ at }) => at);
  return {
    kind: kinds.join(', '),
    implementations: held.filter(({ holds }) => holds === 'implementation').map(({ at }) => at),
    beacon,
    // The admin of one form says nothing of who may replace what another keeps.
    admin: kinds.length === 1 && beacon === null ? admin : null,
  };
}
