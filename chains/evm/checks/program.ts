// The code that really runs for a token: its own and, behind proxies, that of the contracts whose
// code it borrows; and who could put another there.

import { keccak256, stringToHex, toHex } from 'viem/utils';
import type { Rpc } from '../../rpc.ts';
import { zeroAddress } from '../address.ts';
import { codeAt, storageAt } from '../node.ts';
import { addressIn, ask, askWord, callData } from './ask.ts';
import { type Scan, scanCode } from './opcodes.ts';
import { namesIn, upgradeSignals } from './signals.ts';

/** How the code can change. `null`: it cannot. */
export type Change = {
  /** How sure that is: what only may be is looked at again, whatever the rules say. */
  readonly sure: boolean;
  /** Goes on after "its code ". */
  readonly how: string;
  /** Who can do it, where the proxy says so (EIP-1967). */
  readonly admin: string | null;
};

export type Program = {
  /** Selectors of all code that runs. */
  readonly selectors: ReadonlySet<string>;
  /** Those of the contracts behind a proxy that can be replaced. */
  readonly beneath: ReadonlySet<string>;
  readonly change: Change | null;
};

const slotOf = {
  // EIP-1967 takes one from the hash, so that no key of a mapping leads there.
  implementation: minusOne('eip1967.proxy.implementation'),
  beacon: minusOne('eip1967.proxy.beacon'),
  admin: minusOne('eip1967.proxy.admin'),
  proxiable: keccak256(stringToHex('PROXIABLE')),
  zeppelin: keccak256(stringToHex('org.zeppelinos.proxy.implementation')),
  /** Where old proxies keep theirs, as their first variable. */
  first: toHex(0, { size: 32 }),
} as const;

const inWords = {
  implementation: 'is behind a proxy whose implementation can be replaced (EIP-1967)',
  beacon: 'is behind a proxy whose beacon can replace it (EIP-1967)',
  proxiable: 'is behind a proxy whose implementation can be replaced (EIP-1822)',
  zeppelin: 'is behind a proxy whose implementation can be replaced (OpenZeppelin, old form)',
  stored: 'is behind a proxy whose implementation lies in its storage',
} as const;

function minusOne(name: string): string {
  return toHex(BigInt(keccak256(stringToHex(name))) - 1n, { size: 32 });
}

/** Proxies behind proxies, and facets of a diamond, that are looked into. */
const mostHops = 4;
const mostFacets = 12;

const transfers = ['a9059cbb', '23b872dd'] as const;

/** `code` is the token's own. */
export async function programOf(
  rpc: Rpc,
  token: string,
  code: string,
  signal: AbortSignal,
): Promise<Program> {
  const selectors = new Set<string>();
  const take = (scan: Scan) => {
    for (const each of scan.selectors) selectors.add(each);
    return scan;
  };
  let scan = take(scanCode(code));
  for (let hops = 0; scan.only !== null && hops < mostHops; hops += 1) {
    scan = take(scanCode(await codeAt(rpc, scan.only, 'latest', signal)));
  }
  const beneath = new Set<string>();
  if (!scan.delegates) return { selectors, beneath, change: replacing(selectors) };
  const { change, targets } = await changeOf(rpc, token, scan, signal);
  for (const target of targets.slice(0, mostFacets)) {
    for (const each of take(scanCode(await codeAt(rpc, target, 'latest', signal))).selectors) {
      beneath.add(each);
    }
  }
  return { selectors, beneath, change };
}

/** A token that hands its calls on to a successor, as USDT can. */
function replacing(selectors: ReadonlySet<string>): Change | null {
  const names = namesIn(upgradeSignals, selectors).filter((name) => name === 'deprecate()');
  if (names.length === 0) return null;
  return { sure: true, how: `can be replaced by ${names.join(' and ')}`, admin: null };
}

type Found = { readonly change: Change | null; readonly targets: readonly string[] };

async function changeOf(rpc: Rpc, token: string, scan: Scan, signal: AbortSignal): Promise<Found> {
  const kept = async (slot: keyof typeof slotOf) =>
    real(addressIn(BigInt(await storageAt(rpc, token, slotOf[slot], signal))));
  const admin = await kept('admin');
  for (const slot of ['implementation', 'proxiable', 'zeppelin'] as const) {
    const target = await kept(slot);
    if (target === null) continue;
    return { change: { sure: true, how: inWords[slot], admin }, targets: [target] };
  }
  const beacon = await kept('beacon');
  if (beacon !== null) {
    const word = await askWord(rpc, beacon, callData('implementation()'), signal);
    const target = real(addressIn(word));
    const change = { sure: true, how: inWords.beacon, admin: null };
    return { change, targets: target === null ? [] : [target] };
  }
  return unnamed(rpc, token, scan, await kept('first'), signal);
}

/** Delegates by a form of its own. */
async function unnamed(
  rpc: Rpc,
  token: string,
  scan: Scan,
  first: string | null,
  signal: AbortSignal,
): Promise<Found> {
  const facets = facetsIn(await ask(rpc, token, callData('facetAddresses()'), signal));
  if (facets.length > 0) {
    const how = `is a diamond whose ${facets.length} facets can be exchanged (EIP-2535)`;
    return { change: { sure: true, how, admin: null }, targets: facets };
  }
  if (transfers.every((each) => scan.selectors.has(each))) {
    const how = 'can run the code of other contracts as its own (DELEGATECALL)';
    return { change: { sure: false, how, admin: null }, targets: scan.addresses };
  }
  const named = real(addressIn(await askWord(rpc, token, callData('implementation()'), signal)));
  const target = named ?? (await withCode(rpc, first, signal));
  const how =
    target !== null
      ? inWords.stored
      : 'is behind a proxy, and what says where its implementation is could not be found';
  return {
    change: { sure: true, how, admin: null },
    targets: [...(target === null ? [] : [target]), ...scan.addresses],
  };
}

/** What lies first in storage may be anything: an address of code is taken for one. */
async function withCode(
  rpc: Rpc,
  address: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  if (address === null) return null;
  return (await codeAt(rpc, address, 'latest', signal)) === '0x' ? null : address;
}

function real(address: string | null): string | null {
  return address === null || address === zeroAddress ? null : address;
}

/** The addresses in an answer of the form `address[]`. */
function facetsIn(answer: string | null): string[] {
  const words = (answer ?? '').slice(2).match(/.{64}/g) ?? [];
  const [offset, length, ...rest] = words.map((each) => BigInt(`0x${each}`));
  if (offset !== 32n || length !== BigInt(rest.length)) return [];
  const addresses = rest.map(addressIn);
  return addresses.flatMap((each) => (each === null ? [] : [each]));
}
