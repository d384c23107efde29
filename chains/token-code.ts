// What a token's code and answers tell of it on any EVM-like chain: the functions that it has, the
// powers that they give somebody, whether it can be replaced, and the texts that it says. Pure:
// the code and the answers come from whoever read them, bounded there.

import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { keccak256, toFunctionSelector } from 'viem/utils';
import { mostNameLength, type Power } from './inspection.ts';

const push1 = 0x60;
const push4 = 0x63;
const push32 = 0x7f;
const callcode = 0xf2;
const delegatecall = 0xf4;

export type CodeFacts = {
  /** Every constant of four bytes: a dispatcher compares with the selectors that it knows. */
  readonly selectors: ReadonlySet<string>;
  /** Whether it can run code that is elsewhere in its own name. */
  readonly delegates: boolean;
  /** Every constant of twenty bytes, in hex without 0x: the addresses that are written into it. */
  readonly addresses: ReadonlySet<string>;
};

/** Walks the operations from the first one on, as the machine reads them: constants are no code. */
export function readCode(code: Uint8Array): CodeFacts {
  const selectors = new Set<string>();
  const addresses = new Set<string>();
  let delegates = false;
  for (let at = 0; at < code.length; at += 1) {
    const operation = code[at] as number;
    if (operation === delegatecall || operation === callcode) delegates = true;
    if (operation < push1 || operation > push32) continue;
    const size = operation - push1 + 1;
    const constant = bytesToHex(code.subarray(at + 1, at + 1 + size));
    if (operation === push4) selectors.add(constant);
    if (size === 20) addresses.add(constant);
    at += size;
  }
  return { selectors, delegates, addresses };
}

/** Four bytes in hex without 0x, of such as `transfer(address,uint256)`. */
export function selectorOf(signature: string): string {
  return toFunctionSelector(`function ${signature}`).slice(2);
}

/** Functions by which somebody has a power; names as they are known from tokens in use. */
const powerful: Readonly<Record<Power, readonly string[]>> = {
  pausable: [
    'pause()',
    'unpause()',
    'pause(bool)',
    'setPaused(bool)',
    'setPause(bool)',
    'pauseTransfers()',
    'stop()',
    'freezeTransfers()',
    'enableTrading()',
    'openTrading()',
    'setTradingEnabled(bool)',
    'setTradingStatus(bool)',
    'setTransfersEnabled(bool)',
    'enableTransfers(bool)',
    'disableTransfers(bool)',
  ],
  blacklist: [
    'addBlackList(address)',
    'removeBlackList(address)',
    'destroyBlackFunds(address)',
    'addBlacklist(address)',
    'removeBlacklist(address)',
    'addToBlacklist(address)',
    'addToBlackList(address)',
    'removeFromBlacklist(address)',
    'blacklist(address)',
    'blacklist(address,bool)',
    'unBlacklist(address)',
    'blacklistAddress(address)',
    'blacklistAddress(address,bool)',
    'blackList(address)',
    'setBlacklist(address,bool)',
    'setBlackList(address,bool)',
    'setBlacklisted(address,bool)',
    'blockAccount(address)',
    'blockUser(address)',
    'addBot(address)',
    'addBots(address[])',
    'setBots(address[])',
    'blockBots(address[])',
    'setBot(address,bool)',
    'denylist(address)',
    'ban(address)',
    'freeze(address)',
    'freezeAccount(address)',
    'freezeAccount(address,bool)',
    'freezeAddress(address)',
    'lockAccount(address)',
    'wipeFrozenAddress(address)',
  ],
  mintable: [
    'mint(address,uint256)',
    'mint(uint256)',
    'mint(address)',
    'mint(address,uint256,bytes)',
    'mintTo(address,uint256)',
    'mintTokens(address,uint256)',
    'mintToken(address,uint256)',
    'issue(uint256)',
    'issue(address,uint256)',
    'issueTokens(address,uint256)',
    'increaseSupply(uint256)',
    'configureMinter(address,uint256)',
    'addMinter(address)',
    'setMinter(address)',
  ],
  upgradeable: [
    'upgradeTo(address)',
    'upgradeToAndCall(address,bytes)',
    'upgradeTo(string,address)',
    'upgradeToAndCall(string,address,bytes)',
    'setImplementation(address)',
    'updateImplementation(address)',
    'setTarget(address)',
    'deprecate(address)',
    'diamondCut((address,uint8,bytes4[])[],address,bytes)',
  ],
};

/** By which some account besides an owner may have a power, or make itself one that has. */
const roles: readonly string[] = [
  'hasRole(bytes32,address)',
  'grantRole(bytes32,address)',
  'setAuthority(address)',
  'authority()',
  'rely(address)',
  'wards(address)',
  'addMinter(address)',
  'isMinter(address)',
  'configureMinter(address,uint256)',
  'setMinter(address)',
  'addPauser(address)',
  'isPauser(address)',
  'updatePauser(address)',
  'updateBlacklister(address)',
  'updateMasterMinter(address)',
  'transferOperator(address)',
  'operator()',
  'admin()',
  'governance()',
  'governor()',
];

/** How a token may name its owner; the first that it has is asked. */
export const ownerGetters: readonly string[] = ['owner()', 'getOwner()', '_owner()'];

const powersBySelector = new Map<string, { readonly power: Power; readonly signature: string }>(
  (Object.entries(powerful) as [Power, readonly string[]][]).flatMap(([power, signatures]) =>
    signatures.map((signature) => [selectorOf(signature), { power, signature }] as const),
  ),
);
const roleSelectors = roles.map(selectorOf);

export type Powers = Readonly<Partial<Record<Power, readonly string[]>>>;

/** The powers that functions give, each with the signatures of those that do. */
export function powersOf(selectors: ReadonlySet<string>): Powers {
  const seen: Partial<Record<Power, string[]>> = {};
  for (const [selector, { power, signature }] of powersBySelector) {
    if (!selectors.has(selector)) continue;
    const so = seen[power] ?? [];
    so.push(signature);
    seen[power] = so;
  }
  return seen;
}

/** Whether powers may be with accounts that are no owner: then an owner of nobody says little. */
export function hasRoles(selectors: ReadonlySet<string>): boolean {
  return roleSelectors.some((each) => selectors.has(each));
}

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

/** Where a proxy keeps what it stands for. A beacon says by `implementation()` where it points. */
export const proxySlots: readonly ProxySlot[] = [
  {
    kind: 'EIP-1967',
    slot: slotNamed('eip1967.proxy.implementation', 1n),
    holds: 'implementation',
  },
  { kind: 'EIP-1967', slot: slotNamed('eip1967.proxy.beacon', 1n), holds: 'beacon' },
  { kind: 'EIP-1967', slot: slotNamed('eip1967.proxy.admin', 1n), holds: 'admin' },
  {
    kind: 'OpenZeppelin 2',
    slot: slotNamed('org.zeppelinos.proxy.implementation', 0n),
    holds: 'implementation',
  },
  { kind: 'OpenZeppelin 2', slot: slotNamed('org.zeppelinos.proxy.admin', 0n), holds: 'admin' },
  { kind: 'EIP-1822', slot: slotNamed('PROXIABLE', 0n), holds: 'implementation' },
];

/** Bytes before and behind the address of proxies whose target is written into their code. */
const clones: readonly (readonly [before: string, behind: string])[] = [
  ['363d3d373d3d3d363d73', '5af43d82803e903d91602b57fd5bf3'], // EIP-1167
  ['3d3d3d3d363d3d37363d73', '5af43d3d93803e602a57fd5bf3'], // as solady makes them
  ['365f5f375f5f365f73', '5af43d5f5f3e5f3d91602a57fd5bf3'], // the same with PUSH0
];

/** What a clone stands for, 20 bytes in hex: for ever, so that code is the token's code. */
export function cloneTarget(code: Uint8Array): string | null {
  if (code.length > 64) return null;
  const hex = bytesToHex(code);
  for (const [before, behind] of clones) {
    const end = before.length + 40;
    if (hex.startsWith(before) && hex.startsWith(behind, end)) return hex.slice(before.length, end);
  }
  return null;
}

/** The address in a word, 20 bytes in hex; null where the word is zero or holds something else. */
export function addressIn(word: string): string | null {
  const hex = word.replace(/^0x/, '').toLowerCase();
  if (!/^0{24}[0-9a-f]{40}$/.test(hex) || /^0+$/.test(hex)) return null;
  return hex.slice(24);
}

/** Bytes of a text that are looked at: what is kept of it is far shorter. */
const mostTextBytes = 4 * mostNameLength;

/** A stranger's text as it may be shown: nothing invisible in it, trimmed, and cut. */
export function cleanText(text: string, most: number = mostNameLength): string {
  const visible = text
    .slice(0, 8 * most)
    .replace(/[\s\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '')
    .trim();
  return [...visible].slice(0, most).join('').trim();
}

/**
 * What symbol() or name() answered: an ABI string, or 32 bytes that end in zeros as the first
 * tokens answer. null where it is neither. However long it says it is, little is looked at.
 */
export function decodeText(answer: Uint8Array): string | null {
  if (answer.length === 32) {
    const end = answer.indexOf(0);
    return utf8(answer.subarray(0, end === -1 ? 32 : end));
  }
  if (answer.length < 64) return null;
  const word = (at: number) => BigInt(`0x${bytesToHex(answer.subarray(at, at + 32))}`);
  const start = word(0);
  if (start > BigInt(answer.length - 32)) return null;
  const length = word(Number(start));
  const from = Number(start) + 32;
  if (length > BigInt(answer.length - from)) return null;
  const kept = Math.min(Number(length), mostTextBytes);
  return utf8(answer.subarray(from, from + kept));
}

function utf8(bytes: Uint8Array): string {
  // A character that the cut went through, or bytes that are no text, show as nothing.
  return cleanText(new TextDecoder().decode(bytes).replaceAll('\u{fffd}', ''));
}

/** A number of 32 bytes or more; null where the answer is shorter. */
export function decodeNumber(answer: Uint8Array): bigint | null {
  return answer.length < 32 ? null : BigInt(`0x${bytesToHex(answer.subarray(0, 32))}`);
}

/** More decimals than this leave a number of 256 bits no room for whole units. */
export const mostDecimals = 36;

export function bytesOf(hex: string): Uint8Array {
  return hexToBytes(hex.replace(/^0x/, ''));
}
