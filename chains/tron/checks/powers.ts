// Who has power over a token besides its holders: read from the code that runs in its name, from
// the slots of proxies, and from what it says of its owner.

import { type Finding, type PowerRules, powers } from '../../inspection.ts';
import {
  addressIn,
  bytesOf,
  type CodeFacts,
  cloneTarget,
  hasRoles,
  ownerGetters,
  powersOf,
  proxySlots,
  readCode,
  selectorOf,
} from '../../token-code.ts';
import { type Control, isMoot, powerFindings } from '../../token-powers.ts';
import type { Fork } from '../fork/fork.ts';
import { bareAddress } from '../plan.ts';
import { dataOf, type Look, nodeSays, numberOf, otherStorage, shown, view, word } from './ask.ts';

export type PowersSeen = {
  readonly findings: readonly Finding[];
  /** Somebody could have stopped transfers, and could let them go again. */
  readonly mayBeStopped: boolean;
};

/** Nobody has their keys. The first is T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb. */
const nobodies = new Set([
  '0'.repeat(40),
  '0'.repeat(39).concat('1'),
  '0'.repeat(36).concat('dead'),
]);
const transfer = selectorOf('transfer(address,uint256)');
const upgrades = ['upgradeTo(address)', 'upgradeToAndCall(address,bytes)'].map(selectorOf);

export async function checkPowers(look: Look, rules: PowerRules): Promise<PowersSeen> {
  const fork = await look.forks.fork();
  const seen = await codeOf(look, fork);
  const { selectors } = seen.facts;
  const control = await controlOf(look, fork, selectors);
  const some = powersOf(selectors);
  const replaced = await replacement(fork, seen);
  return {
    findings: powerFindings(some, replaced, control, rules),
    mayBeStopped: some.pausable !== undefined && !isMoot(control),
  };
}

/** Where the powers could not be looked at. */
export function unknownPowers(reason: string): PowersSeen {
  const findings = powers.map((check) => ({ check, outcome: 'wait', reason }) as const);
  return { findings, mayBeStopped: false };
}

/** Addresses are 20 bytes in hex. */
type Seen = {
  /** Of all code that runs in the token's name. */
  readonly facts: CodeFacts;
  /** What the slots of proxies hold, by their kind. */
  readonly slots: readonly { readonly kind: string; readonly holds: string; readonly at: string }[];
  /** Code elsewhere that runs in its name although nothing fixes that it does. */
  readonly loose: readonly string[];
};

async function codeOf({ token, forks: { source } }: Look, fork: Fork): Promise<Seen> {
  const here = bareAddress(token).slice(2);
  const slots: { kind: string; holds: string; at: string }[] = [];
  for (const { kind, slot, holds } of proxySlots) {
    const at = addressIn(await source.storage(here, slot));
    if (at !== null) slots.push({ kind, holds, at });
  }
  const named = slots.filter(({ holds }) => holds === 'implementation').map(({ at }) => at);
  const code = bytesOf((await source.code(here)) ?? '');
  const own = readCode(code);
  const clone = cloneTarget(code);
  if (own.delegates) {
    // What a transfer runs is what counts: a proxy of any make shows what it stands for.
    await view(fork, token, dataOf('balanceOf(address)', fork.stranger()));
    await view(fork, token, dataOf('transfer(address,uint256)', fork.stranger(), 0n));
  }
  const elsewhere = new Set([...named, ...fork.delegated, ...(clone === null ? [] : [clone])]);
  elsewhere.delete(here);
  const read = async (address: string) => readCode(bytesOf((await source.code(address)) ?? ''));
  const all = [own];
  for (const address of elsewhere) all.push(await read(address));
  const facts = union(all);
  const loose = [...fork.delegated].filter(
    (each) => each !== here && !named.includes(each) && !facts.addresses.has(each),
  );
  return { facts, slots, loose };
}

function union(all: readonly CodeFacts[]): CodeFacts {
  return {
    selectors: new Set(all.flatMap(({ selectors }) => [...selectors])),
    addresses: new Set(all.flatMap(({ addresses }) => [...addresses])),
    delegates: all.some(({ delegates }) => delegates),
  };
}

async function controlOf(look: Look, fork: Fork, selectors: ReadonlySet<string>): Promise<Control> {
  const roles = hasRoles(selectors);
  const getter = ownerGetters.find((each) => selectors.has(selectorOf(each)));
  if (getter === undefined) return { owner: null, renounced: false, roles };
  const data = dataOf(getter);
  const owner = numberOf(await view(fork, look.token, data));
  if (owner !== (await nodeSays(look, data))) throw otherStorage(look.watch.chain);
  const address = owner === null ? null : word(owner).slice(24);
  const renounced = address !== null && nobodies.has(address);
  return { owner: address === null ? null : shown(address), renounced, roles };
}

/** How its code can be replaced, if not by a function of its own; null: not as far as is seen. */
async function replacement(fork: Fork, { facts, slots, loose }: Seen) {
  const [beacon, admin, implementation] = (['beacon', 'admin', 'implementation'] as const).map(
    (what) => slots.find(({ holds }) => holds === what),
  );
  if (beacon !== undefined && !(await isNobodys(fork, beacon.at))) {
    return `it is a proxy (${beacon.kind}) of what the beacon ${shown(beacon.at)} names`;
  }
  if (admin !== undefined && !(await isNobodys(fork, admin.at))) {
    return `it is a proxy (${admin.kind}), which ${shown(admin.at)} may point elsewhere`;
  }
  if (beacon === undefined && admin === undefined && implementation !== undefined) {
    // One that replaces itself does so by a function, which is told of as such.
    if (upgrades.some((each) => facts.selectors.has(each))) return null;
    const { kind, at } = implementation;
    return `it is a proxy (${kind}) of ${shown(at)}, and who may point it elsewhere is not shown`;
  }
  const [first] = beacon === undefined ? loose : [];
  if (first !== undefined) return `it runs code that it looks up, now that of ${shown(first)}`;
  const isWhole = facts.selectors.has(transfer) || slots.length > 0;
  return facts.delegates && !isWhole ? 'it runs code that is kept elsewhere' : null;
}

/** Whether nobody can use an address: it has no key, or is a contract whose owner has none. */
async function isNobodys(fork: Fork, address: string): Promise<boolean> {
  if (nobodies.has(address)) return true;
  const owner = numberOf(await view(fork, shown(address), dataOf('owner()')));
  return owner !== null && nobodies.has(word(owner).slice(24));
}
