// A token's own name: in its own Token-2022 metadata, else in Metaplex's account for it. An
// authority that may change it later has no power over what an escrow holds, and is no objection.

import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type Finding, found, mostNameLength, passed } from '@parley/tokens/inspection.ts';
import { cleanText, hiddenIn, hiddenSentence } from '@parley/tokens/text.ts';
import { solanaAddressBytes, solanaAddressOf } from '../address.ts';
import type { Account } from '../node.ts';
import { metadataProgram, programAddress, systemProgram } from '../programs.ts';
import type { Mint } from './mint.ts';

const pointerType = 18;
const metadataType = 19;
const keyBytes = 32;
/** Metaplex: the kind of the account, before the update authority. */
const metaplexKind = 4;
/** More bytes than these of a text are not looked at. */
const mostTextBytes = 4 * mostNameLength;

export type Named = {
  readonly symbol: string;
  readonly name: string;
  /** The first character of its symbol that nobody sees, where it has one. */
  readonly hidden?: string;
};

/** Where Metaplex's program keeps a mint's name. */
export function metadataAddress(mint: string): string {
  const seeds = [
    utf8ToBytes('metadata'),
    solanaAddressBytes(metadataProgram),
    solanaAddressBytes(mint),
  ];
  return programAddress(seeds, metadataProgram).address;
}

/** Symbol and name, cleaned and cut; why there are none, else. `kept`: the account there. */
export function readNames(mint: Mint, kept: Account | null): Named | string {
  const pointer = mint.extensions.find(({ type }) => type === pointerType)?.value;
  const to =
    pointer?.length === 2 * keyBytes ? solanaAddressOf(pointer.subarray(keyBytes)) : systemProgram;
  const own = mint.extensions.find(({ type }) => type === metadataType)?.value;
  if (own !== undefined && (to === mint.address || to === systemProgram)) {
    return readTexts(own, 0, mint);
  }
  if (to !== systemProgram && to !== metadataAddress(mint.address)) {
    return `its metadata are said to be at ${to}, where they are not read`;
  }
  if (kept === null || kept.owner !== metadataProgram) {
    return 'it has no metadata, neither of Token-2022 nor of Metaplex';
  }
  if (kept.data[0] !== metaplexKind) return 'its metadata are malformed';
  return readTexts(kept.data, 1, mint);
}

/** An update authority, the mint, then name and symbol, each behind its length. */
function readTexts(data: Uint8Array, from: number, { address }: Mint): Named | string {
  const mintAt = from + keyBytes;
  const nameAt = mintAt + keyBytes;
  if (data.length < nameAt) return 'its metadata are malformed';
  if (solanaAddressOf(data.subarray(mintAt, nameAt)) !== address) {
    return 'its metadata are those of another token';
  }
  const name = readText(data, nameAt);
  const symbol = name === null ? null : readText(data, name.end);
  if (name === null || symbol === null) return 'its metadata are malformed';
  if (symbol.text === '') return 'its metadata give no symbol';
  const named = { symbol: symbol.text, name: name.text };
  return symbol.hidden === null ? named : { ...named, hidden: symbol.hidden };
}

function readText(data: Uint8Array, at: number) {
  if (at + 4 > data.length) return null;
  const length = new DataView(data.buffer, data.byteOffset).getUint32(at, true);
  const end = at + 4 + length;
  if (end > data.length) return null;
  const bytes = data.subarray(at + 4, Math.min(end, at + 4 + mostTextBytes));
  // Metaplex pads with zeros.
  const raw = new TextDecoder().decode(bytes.filter((byte) => byte !== 0));
  return { text: cleanText(raw), hidden: hiddenIn(raw), end };
}

/** Without a symbol nothing can be listed; one may be added. */
export function checkName(named: Named | string): Finding {
  if (typeof named === 'string') return found('name', 'wait', named);
  const { hidden } = named;
  return hidden === undefined ? passed('name') : found('name', 'reject', hiddenSentence(hidden));
}
