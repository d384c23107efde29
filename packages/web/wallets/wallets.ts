// The wallets of the browser, and linking one of them. The code of a family is loaded with its
// first link.

import type { Family } from '@parley/core/families.ts';
import type { BitcoinNetworkName } from '@parley/sdk/wallets/proofs.ts';
import { getWallets } from '@wallet-standard/app';
import { createStore } from 'mipd';
import { failed, fieldOf, iconOf, isOfSolana, nameOf } from './asked.ts';
import type { BrowserWallets, FoundWallet, Link } from './types.ts';

/** More than these are no wallets of a person. */
const mostWallets = 40;
/** Wallets of Bitcoin have no event for being there: they are looked for this often, this long. */
const lookEveryMs = 500;
const lookForMs = 5_000;

type Known = { readonly found: FoundWallet; readonly provider: unknown };

type Said = {
  readonly family: Family;
  /** The wallet's name for machines. */
  readonly key: unknown;
  readonly name: unknown;
  readonly icon: unknown;
  readonly provider: unknown;
};

/** One for a page. `bitcoin`: the network of the market. */
export function browserWallets(bitcoin: BitcoinNetworkName): BrowserWallets {
  const tron = tronProviders();
  const evm = createStore();
  const known = () =>
    knownOf([...saidOfEvm(evm), ...tron.said(), ...saidOfSolana(), ...saidOfBitcoin()]);
  return {
    listen: (onChange) => {
      let last = '';
      const look = () => {
        const found = known().map((each) => each.found);
        const now = found.map(({ id }) => id).join('\n');
        if (now === last && last !== '') return;
        last = now;
        onChange(found);
      };
      const stops = [evm.subscribe(look), tron.subscribe(look), onStandard(look), lookAgain(look)];
      look();
      return () => {
        for (const stop of stops) stop();
      };
    },
    connect: async (id, wanted) => {
      const chosen = known().find((each) => each.found.id === id);
      if (chosen === undefined) throw failed('failed', 'this wallet is not in the page any more');
      return linked(chosen, { bitcoin }, wanted);
    },
  };
}

async function linked(
  { found, provider }: Known,
  place: { readonly bitcoin: BitcoinNetworkName },
  wanted: string | undefined,
): Promise<Link> {
  switch (found.family) {
    case 'evm':
      return (await import('./evm.ts')).linkEvm(provider, found, place, wanted);
    case 'tron':
      return (await import('./tron.ts')).linkTron(provider, found, place);
    case 'solana':
      return (await import('./solana.ts')).linkSolana(provider as never, found, place, wanted);
    case 'bitcoin':
      return (await import('./bitcoin.ts')).linkBitcoin(provider, found, place);
  }
}

/** Each with an id of its own, whatever they say; the first of two with one name keeps it. */
function knownOf(all: readonly Said[]): Known[] {
  const ids = new Set<string>();
  return all.slice(0, mostWallets).map(({ family, key, name, icon, provider }) => {
    const own = `${family}:${nameOf(key)}`;
    let id = own;
    for (let count = 2; ids.has(id); count += 1) id = `${own} ${count}`;
    ids.add(id);
    return { provider, found: { id, family, name: nameOf(name), icon: iconOf(icon) } };
  });
}

function saidOfEvm(store: ReturnType<typeof createStore>): Said[] {
  const announced = store.getProviders().map(({ info, provider }): Said => {
    const [key, name, icon] = ['rdns', 'name', 'icon'].map((field) => fieldOf(info, field));
    return { family: 'evm', key, name, icon, provider };
  });
  const provider = fieldOf(globalThis, 'ethereum');
  if (announced.length > 0 || fieldOf(provider, 'request') === undefined) return announced;
  // Browsers of wallets on phones may announce nothing.
  return [{ family: 'evm', key: 'injected', name: 'Browser wallet', icon: null, provider }];
}

/** TIP-6963: as EIP-6963, by other events. */
function tronProviders() {
  const announced = new Map<unknown, Said>();
  const listeners = new Set<() => void>();
  globalThis.addEventListener('TIP6963:announceProvider', (event) => {
    const { detail } = event as CustomEvent<unknown>;
    const info = fieldOf(detail, 'info');
    const provider = fieldOf(detail, 'provider');
    if (provider === undefined || announced.has(provider)) return;
    if (announced.size >= mostWallets) return;
    const [key, name, icon] = ['rdns', 'name', 'icon'].map((field) => fieldOf(info, field));
    announced.set(provider, { family: 'tron', key, name, icon, provider });
    for (const listener of listeners) listener();
  });
  globalThis.dispatchEvent(new Event('TIP6963:requestProvider'));
  return {
    said: (): Said[] => {
      const provider = fieldOf(globalThis, 'tron') ?? fieldOf(globalThis, 'tronLink');
      if (announced.size > 0 || fieldOf(provider, 'request') === undefined) {
        return [...announced.values()];
      }
      return [{ family: 'tron', key: 'tronlink', name: 'TronLink', icon: null, provider }];
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function saidOfSolana(): Said[] {
  return getWallets()
    .get()
    .filter(isOfSolana)
    .map((provider) => {
      const [name, icon] = ['name', 'icon'].map((field) => fieldOf(provider, field));
      return { family: 'solana', key: name, name, icon, provider };
    });
}

function onStandard(look: () => void): () => void {
  const { on } = getWallets();
  const stops = [on('register', look), on('unregister', look)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** WBIP-004: a list, and each provider at the path that its id is. */
function saidOfBitcoin(): Said[] {
  const lists = ['btc_providers', 'webbtc_providers'].map((name) => fieldOf(globalThis, name));
  const all = lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  const seen = new Set<unknown>();
  return all.slice(0, mostWallets).flatMap((each): Said[] => {
    const id = fieldOf(each, 'id');
    if (typeof id !== 'string' || id.length > 100) return [];
    const provider = id.split('.').reduce<unknown>(fieldOf, globalThis);
    if (fieldOf(provider, 'request') === undefined || seen.has(provider)) return [];
    seen.add(provider);
    const name = fieldOf(each, 'name');
    const icon = fieldOf(each, 'icon');
    return [{ family: 'bitcoin', key: id, name, icon, provider }];
  });
}

function lookAgain(look: () => void): () => void {
  const timer = setInterval(look, lookEveryMs);
  const end = setTimeout(() => clearInterval(timer), lookForMs);
  return () => {
    clearInterval(timer);
    clearTimeout(end);
  };
}
