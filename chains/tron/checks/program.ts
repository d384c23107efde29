// The code that really runs in a token's name, and who could put another there.

import { type Scan, scanCode } from '../../tokens/code.ts';
import {
  askOwner,
  isDead,
  keeperIn,
  mostTried,
  mostWordsRead,
  type Owner,
} from '../../tokens/owner.ts';
import { mostNames, namesIn, upgradeSignals } from '../../tokens/powers.ts';
import { type ProxyForm, proxyAt } from '../../tokens/proxy-slots.ts';
import { addressIn, dataOf, selectorOf, word } from '../../tokens/words.ts';
import type { Fork } from '../fork/fork.ts';
import { bareAddress } from '../plan.ts';
import { type Look, nodeSays, numberOf, otherStorage, shown, view } from './ask.ts';

export type Program = {
  readonly selectors: ReadonlySet<string>;
  readonly change: Change | null;
};

export type Change = {
  /** How sure that is: what only may be is looked at again, whatever the rules say. */
  readonly sure: boolean;
  readonly how: string;
};

/** Clones of clones that are looked into. */
const mostHops = 4;
const transfer = selectorOf('transfer(address,uint256)');

export async function programOf(look: Look, fork: Fork): Promise<Program> {
  const { source } = look.forks;
  const here = bareAddress(look.token).toLowerCase();
  const scanAt = async (address: string) =>
    scanCode(`0x${(await source.code(address.slice(2))) ?? ''}`);
  const scans = new Map<string, Scan>([[here, await scanAt(here)]]);
  let last = scans.get(here);
  for (let hops = 0; typeof last?.only === 'string' && hops < mostHops; hops += 1) {
    const { only }: Scan = last;
    last = await scanAt(only);
    scans.set(only, last);
  }
  if (last?.delegates !== true) return { selectors: selectorsOf(scans), change: null };
  const proxy = await proxyAt((slot) => source.storage(here.slice(2), slot));
  // What a transfer runs is what counts: a proxy of any make shows what it stands for.
  await view(fork, look.token, dataOf('balanceOf(address)', fork.stranger()));
  await view(fork, look.token, dataOf('transfer(address,uint256)', fork.stranger(), 0n));
  const run = [...fork.delegated].map((each) => `0x${each}`);
  const beneath = new Map<string, Scan>();
  for (const address of [...(proxy?.implementations ?? []), ...run]) {
    if (!scans.has(address)) beneath.set(address, await scanAt(address));
  }
  const all = new Map([...scans, ...beneath]);
  // A constant of some code that runs cannot be pointed elsewhere.
  const known = new Set([
    ...[...scans.keys(), ...(proxy?.implementations ?? [])],
    ...[...all.values()].flatMap(({ addresses }) => addresses),
  ]);
  const selectors = selectorsOf(all);
  const seen = { selectors, beneath: selectorsOf(beneath), proxy };
  const loose = run.filter((each) => !known.has(each));
  return { selectors, change: await changeOf(look, fork, { ...seen, loose }) };
}

function selectorsOf(scans: ReadonlyMap<string, Scan>): ReadonlySet<string> {
  return new Set([...scans.values()].flatMap(({ selectors }) => [...selectors]));
}

type Seen = {
  readonly selectors: ReadonlySet<string>;
  readonly beneath: ReadonlySet<string>;
  readonly proxy: ProxyForm | null;
  /** Code elsewhere that runs in its name although nothing fixes that it does. */
  readonly loose: readonly string[];
};

async function changeOf(look: Look, fork: Fork, seen: Seen): Promise<Change | null> {
  const { selectors, proxy, loose } = seen;
  const how = proxy === null ? null : await replacement(look, fork, seen, proxy);
  if (how !== null) return { sure: true, how: `is behind a proxy (${proxy?.kind})${how}` };
  const [first] = loose;
  if (first !== undefined) {
    const that = `runs other code that it looks up, now that of ${shown(first)}`;
    return { sure: true, how: that };
  }
  if (proxy !== null) return null;
  if (!selectors.has(transfer)) {
    return { sure: true, how: 'is kept elsewhere, and where could not be found' };
  }
  return { sure: false, how: 'can run the code of other contracts as its own (DELEGATECALL)' };
}

/** How what a proxy stands for can be replaced; null: nobody is left who could. */
async function replacement(look: Look, fork: Fork, { beneath }: Seen, proxy: ProxyForm) {
  const { beacon, admin } = proxy;
  if (beacon !== null) return `: what the beacon ${shown(beacon)} names runs`;
  if (admin !== null && !(await isNobodys(look, fork, admin))) {
    return `: ${shown(admin)} may put other code there`;
  }
  // The code itself may upgrade (UUPS): who may ask it to is not looked into.
  const names = namesIn(upgradeSignals, beneath).slice(0, mostNames);
  if (admin !== null && names.length === 0) return null;
  return ` whose code can be replaced${names.length > 0 ? `, by ${names.join(', ')}` : ''}`;
}

type Ruled = {
  readonly selectors: ReadonlySet<string>;
  readonly changes: boolean;
};

export async function controlOf(
  look: Look,
  fork: Fork,
  { selectors, changes }: Ruled,
): Promise<Owner> {
  const ask = async (getter: string) => {
    const data = dataOf(getter);
    const answer = numberOf(await view(fork, look.token, data));
    if (answer === null && !selectors.has(selectorOf(getter))) return null;
    if (answer !== (await nodeSays(look, data))) throw otherStorage(look.watch.chain);
    return addressIn(answer);
  };
  return askOwner(ask, { selectors, changes }, shown);
}

/** Whether nobody can use an address: it has no key, or is a contract that nobody rules. */
export async function isNobodys(look: Look, fork: Fork, address: string): Promise<boolean> {
  if (isDead(address)) return true;
  const code = await look.forks.source.code(address.slice(2));
  if (code === undefined) return false;
  const { selectors, delegates } = scanCode(`0x${code}`);
  const ruled = { selectors, changes: delegates };
  return (await controlOf({ ...look, token: shown(address) }, fork, ruled)).gone;
}

/** Storage that a refused function reads may name an owner whom owner() does not. */
export async function hiddenKeeper(
  fork: Fork,
  token: string,
  selectors: readonly string[],
): Promise<string | null> {
  for (const selector of selectors.slice(0, mostTried)) {
    const data = selector + [fork.stranger(), 1n, 1n].map(word).join('');
    const { words } = await fork.traced({ from: shown(fork.stranger()), to: token, data });
    for (const read of words.slice(0, mostWordsRead)) {
      const keeper = keeperIn(await fork.state.read(read));
      if (keeper !== null) return shown(keeper);
    }
  }
  return null;
}
