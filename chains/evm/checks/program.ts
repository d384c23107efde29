// The code that really runs for a token, and who could put another there.

import { getAddress } from 'viem/utils';
import { type Rpc, RpcError } from '../../nodes/rpc.ts';
import { type Scan, scanCode } from '../../tokens/code.ts';
import { askOwner, keeperIn, mostTried, mostWordsRead, type Owner } from '../../tokens/owner.ts';
import { proxyAt } from '../../tokens/proxy-slots.ts';
import { addressIn, contractIn, word } from '../../tokens/words.ts';
import { codeAt, storageAt } from '../node.ts';
import { ask, askWord, callData } from './ask.ts';
import { freshAddress } from './steps.ts';

/** How the code can change. `null`: it cannot. */
export type Change = {
  /** How sure that is: what only may be is looked at again, whatever the rules say. */
  readonly sure: boolean;
  readonly how: string;
  readonly admin: string | null;
};

export type Program = {
  readonly selectors: ReadonlySet<string>;
  /** Those of the contracts behind a proxy that can be replaced. */
  readonly beneath: ReadonlySet<string>;
  readonly change: Change | null;
  /** Some of the code could end the token, or what runs for it. */
  readonly destroys: boolean;
};

/** Where old proxies keep their implementation, as their first variable. */
const firstSlot = word(0n);

/** Proxies behind proxies, and facets of a diamond, that are looked into. */
const mostHops = 4;
const mostFacets = 12;

const transfers = ['a9059cbb', '23b872dd'] as const;

export async function programOf(
  rpc: Rpc,
  token: string,
  code: string,
  signal: AbortSignal,
): Promise<Program> {
  const selectors = new Set<string>();
  let destroys = false;
  const take = (scan: Scan) => {
    destroys ||= scan.destroys;
    for (const each of scan.selectors) selectors.add(each);
    return scan;
  };
  let scan = take(scanCode(code));
  for (let hops = 0; scan.only !== null && hops < mostHops; hops += 1) {
    scan = take(scanCode(await codeAt(rpc, scan.only, 'latest', signal)));
  }
  const beneath = new Set<string>();
  if (!scan.delegates) return { selectors, beneath, change: null, destroys };
  const { change, targets } = await changeOf(rpc, token, scan, signal);
  for (const target of targets.slice(0, mostFacets)) {
    for (const each of take(scanCode(await codeAt(rpc, target, 'latest', signal))).selectors) {
      beneath.add(each);
    }
  }
  return { selectors, beneath, change, destroys };
}

type Found = { readonly change: Change | null; readonly targets: readonly string[] };

async function changeOf(rpc: Rpc, token: string, scan: Scan, signal: AbortSignal): Promise<Found> {
  const kept = (slot: string) => storageAt(rpc, token, `0x${slot}`, signal);
  const proxy = await proxyAt(kept);
  const { kind, implementations = [], beacon = null, admin = null } = proxy ?? {};
  if (beacon === null && implementations.length === 0) {
    const first = contractIn(BigInt(await kept(firstSlot)));
    const { change, targets } = await unnamed(rpc, token, scan, first, signal);
    // Who has an admin is a proxy, of whatever form.
    return { change: { ...change, sure: change.sure || proxy !== null }, targets };
  }
  if (beacon === null) {
    const how = `is behind a proxy whose implementation can be replaced (${kind})`;
    return { change: { sure: true, how, admin }, targets: implementations };
  }
  const named = contractIn(await askWord(rpc, beacon, callData('implementation()'), signal));
  const targets = named === null ? implementations : [named, ...implementations];
  const how = `is behind a proxy whose beacon can replace it (${kind})`;
  return { change: { sure: true, how, admin }, targets };
}

/** Delegates by a form of its own. */
async function unnamed(
  rpc: Rpc,
  token: string,
  scan: Scan,
  first: string | null,
  signal: AbortSignal,
): Promise<Found & { readonly change: Change }> {
  const facets = facetsIn(await ask(rpc, token, callData('facetAddresses()'), signal));
  if (facets.length > 0) {
    const how = `is a diamond whose ${facets.length} facets can be exchanged (EIP-2535)`;
    return { change: { sure: true, how, admin: null }, targets: facets };
  }
  if (transfers.every((each) => scan.selectors.has(each))) {
    const how = 'can run the code of other contracts as its own (DELEGATECALL)';
    return { change: { sure: false, how, admin: null }, targets: scan.addresses };
  }
  const named = contractIn(await askWord(rpc, token, callData('implementation()'), signal));
  const target = named ?? (await withCode(rpc, first, signal));
  const how =
    target !== null
      ? 'is behind a proxy whose implementation lies in its storage'
      : 'is behind a proxy, and what says where its implementation is could not be found';
  return {
    change: { sure: true, how, admin: null },
    targets: [...(target === null ? [] : [target]), ...scan.addresses],
  };
}

/** What lies first in storage may be anything: an address of code is taken for one. */
async function withCode(rpc: Rpc, address: string | null, signal: AbortSignal) {
  if (address === null) return null;
  return (await codeAt(rpc, address, 'latest', signal)) === '0x' ? null : address;
}

function facetsIn(answer: string | null): string[] {
  const words = (answer ?? '').slice(2).match(/.{64}/g) ?? [];
  const [offset, length, ...rest] = words.map((each) => BigInt(`0x${each}`));
  if (offset !== 32n || length !== BigInt(rest.length)) return [];
  const addresses = rest.map(addressIn);
  return addresses.flatMap((each) => (each === null ? [] : [each]));
}

export async function ownerOf(
  rpc: Rpc,
  token: string,
  { selectors, change }: Program,
  signal: AbortSignal,
): Promise<Owner> {
  const ask = async (name: string) => addressIn(await askWord(rpc, token, callData(name), signal));
  return askOwner(ask, { selectors, changes: change !== null }, getAddress);
}

/** Without a bound a node could run for long, and anew for each word that it finds. */
const triedGas = '0x7a120';

/** An address in the storage that a refused call reads is an owner whom `owner()` does not name. */
export async function hiddenKeeper(
  rpc: Rpc,
  token: string,
  selectors: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const from = freshAddress();
  const gas = triedGas;
  const words = [freshAddress(), 1n, 1n].map(word).join('');
  for (const selector of selectors.slice(0, mostTried)) {
    const data = swallowing(token, selector + words);
    for (const { address, key } of await storageRead(rpc, { from, data, gas }, signal)) {
      const keeper = keeperIn(BigInt(await storageAt(rpc, address, key, signal)));
      if (keeper !== null) return getAddress(keeper);
    }
  }
  return null;
}

/** Some nodes list no storage for a call that reverts: this code makes the call and ends well. */
function swallowing(to: string, data: string): string {
  const size = (data.length / 2).toString(16).padStart(2, '0');
  // CODECOPY of what follows, CALL with it, STOP: 41 bytes.
  const call = `6000600060${size}6000600073${to.slice(2).toLowerCase()}5af1`;
  return `0x60${size}6029600039${call}00${data}`;
}

async function storageRead(rpc: Rpc, call: Readonly<Record<string, string>>, signal: AbortSignal) {
  try {
    const answer = await rpc.call('eth_createAccessList', [call, 'latest'], signal);
    const list = (answer as { accessList?: { address: string; storageKeys: string[] }[] })
      .accessList;
    return (list ?? [])
      .flatMap(({ address, storageKeys }) => storageKeys.map((key) => ({ address, key })))
      .slice(0, mostWordsRead);
  } catch (error) {
    if (error instanceof RpcError || error instanceof TypeError) return [];
    throw error;
  }
}
