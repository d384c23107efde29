// The code that really runs for a token, and who could put another there.

import { type Scan, scanCode } from './code.ts';
import { judgeOwner, type Owner } from './owner.ts';
import { proxyAt } from './proxy-slots.ts';
import { type Reads, wordAt } from './reads.ts';
import { addressIn, contractIn, dataOf, word } from './words.ts';

/** How the code can change. `null`: it cannot. */
export type Change = {
  /** How sure that is: a possible power is looked at again, whatever the rules say. */
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
  /** Whether some contract has more code than was read. */
  readonly isCut: boolean;
};

/** Where old proxies keep their implementation, as their first variable. */
const firstSlot = word(0n);

/** Proxies behind proxies, and facets of a diamond, that are looked into. */
const mostHops = 4;
const mostFacets = 12;

/** Twice what Ethereum takes; to read as much takes up to 50 ms, in which nothing else is done. */
export const mostCodeBytes = 65_536;

const transfers = ['a9059cbb', '23b872dd'] as const;

export async function programOf(reads: Reads, token: string, code: string): Promise<Program> {
  const selectors = new Set<string>();
  let destroys = false;
  let isCut = false;
  const take = (whole: string): Scan => {
    const read = whole.slice(0, 2 + 2 * mostCodeBytes);
    const scan = scanCode(read);
    isCut ||= read.length < whole.length;
    destroys ||= scan.destroys;
    for (const each of scan.selectors) selectors.add(each);
    return scan;
  };
  let scan = take(code);
  for (let hops = 0; scan.only !== null && hops < mostHops; hops += 1) {
    scan = take(await reads.code(scan.only));
  }
  const beneath = new Set<string>();
  if (!scan.delegates) return { selectors, beneath, change: null, destroys, isCut };
  const { change, targets } = await changeOf(reads, token, scan);
  for (const target of targets.slice(0, mostFacets)) {
    for (const each of take(await reads.code(target)).selectors) beneath.add(each);
  }
  return { selectors, beneath, change, destroys, isCut };
}

type Found = { readonly change: Change | null; readonly targets: readonly string[] };

async function changeOf(reads: Reads, token: string, scan: Scan): Promise<Found> {
  const kept = (slot: string) => reads.storage(token, slot);
  const proxy = await proxyAt(kept);
  const { kind, implementations = [], beacon = null, admin = null } = proxy ?? {};
  if (beacon === null && implementations.length === 0) {
    const first = contractIn(BigInt(await kept(firstSlot)));
    const { change, targets } = await unnamed(reads, token, scan, first);
    // A contract with an admin is a proxy, of whatever form.
    return { change: { ...change, sure: change.sure || proxy !== null }, targets };
  }
  if (beacon === null) {
    const how = `is behind a proxy whose implementation can be replaced (${kind})`;
    return { change: { sure: true, how, admin }, targets: implementations };
  }
  const named = contractIn(await wordAt(reads, beacon, dataOf('implementation()')));
  const targets = named === null ? implementations : [named, ...implementations];
  const how = `is behind a proxy whose beacon can replace it (${kind})`;
  return { change: { sure: true, how, admin }, targets };
}

/** Delegates by a form of its own. */
async function unnamed(
  reads: Reads,
  token: string,
  scan: Scan,
  first: string | null,
): Promise<Found & { readonly change: Change }> {
  const facets = facetsIn(await reads.view(token, dataOf('facetAddresses()')));
  if (facets.length > 0) {
    const how = `is a diamond whose ${facets.length} facets can be exchanged (EIP-2535)`;
    return { change: { sure: true, how, admin: null }, targets: facets };
  }
  if (transfers.every((each) => scan.selectors.has(each))) {
    const how = 'can run the code of other contracts as its own (DELEGATECALL)';
    return { change: { sure: false, how, admin: null }, targets: scan.addresses };
  }
  const named = contractIn(await wordAt(reads, token, dataOf('implementation()')));
  const target = named ?? (await withCode(reads, first));
  const how =
    target !== null
      ? 'is behind a proxy whose implementation lies in its storage'
      : 'is behind a proxy, and what says where its implementation is could not be found';
  return {
    change: { sure: true, how, admin: null },
    targets: [...(target === null ? [] : [target]), ...scan.addresses],
  };
}

/** The first word in storage may be anything: an address of code is taken for one. */
async function withCode(reads: Reads, address: string | null) {
  if (address === null) return null;
  return (await reads.code(address)) === '0x' ? null : address;
}

function facetsIn(answer: string | null): string[] {
  const words = (answer ?? '').slice(2).match(/.{64}/g) ?? [];
  const [offset, length, ...rest] = words.map((each) => BigInt(`0x${each}`));
  if (offset !== 32n || length !== BigInt(rest.length)) return [];
  const addresses = rest.map(addressIn);
  return addresses.flatMap((each) => (each === null ? [] : [each]));
}

/** How a token names its owner, and who may become one. */
const ownerGetters = ['owner()', 'getOwner()', '_owner()'] as const;
const heirGetter = 'pendingOwner()';

export async function ownerOf(
  reads: Reads,
  token: string,
  { selectors, change }: Program,
): Promise<Owner> {
  const ask = async (name: string) => addressIn(await wordAt(reads, token, dataOf(name)));
  const named: string[] = [];
  for (const getter of ownerGetters) {
    const owner = await ask(getter);
    if (owner !== null) named.push(owner);
  }
  const heir = await ask(heirGetter);
  return judgeOwner({ named, heir, selectors, changes: change !== null }, reads.shown);
}
