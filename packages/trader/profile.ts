// A profile: one market, its network, and each chain as this customer pins it, with nodes of its
// own choice. A file that a person writes and reads; nodes' addresses may hold passwords.

import { Failure } from './failures.ts';
import type { Network } from './keys/words.ts';
import type { PinnedChain } from './sources.ts';

/** Contract and decimals as pinned: symbols of no other token are taken for it. */
export type PinnedToken = { readonly address: string; readonly decimals: number };

export type ProfileChain = PinnedChain & {
  readonly tokens: Readonly<Record<string, PinnedToken>>;
};

export type Profile = {
  /** Its origin, such as `https://market.example`. */
  readonly market: string;
  /** In the texts that wallets sign, and in headers. */
  readonly productName: string;
  readonly shortName: string;
  readonly network: Network;
  readonly chains: Readonly<Record<string, ProfileChain>>;
  /** Control address of a dev network: its clock and its faucet. */
  readonly dev?: string;
  /** Words in the clear, instead of a keystore. */
  readonly keyFile?: string;
};

export const mostProfileBytes = 1_048_576;
const mostChains = 100;
export const mostNodes = 5;
const nameShape = /^[a-z0-9][a-z0-9._-]{0,40}$/i;

export function mustBeProfileName(name: string): string {
  if (nameShape.test(name)) return name;
  const shape = 'letters, digits, point, dash, at most 41 characters';
  const sentence = `"${name}" names no profile: ${shape}`;
  throw new Failure('usage', 'usage', sentence);
}

export function writeProfile(profile: Profile): string {
  return `${JSON.stringify(profile, null, 2)}\n`;
}

/** Throws Failure `bad_profile` with the field and what it must be. */
export function readProfile(text: string, file: string): Profile {
  const bad = (field: string, wanted: string) =>
    new Failure('local', 'bad_profile', `${file}: ${field} must be ${wanted}`);
  let read: Partial<Record<keyof Profile, unknown>>;
  try {
    read = JSON.parse(text) as typeof read;
  } catch (cause) {
    throw new Failure('local', 'bad_profile', `${file} is no JSON`, { cause });
  }
  const {
    market,
    productName = 'Parley',
    shortName = 'parley',
    network,
    chains,
    dev,
    keyFile,
  } = read;
  if (!isHttp(market) || !isSafe(market)) throw bad('market', 'https, or http of this machine');
  if (typeof productName !== 'string' || /[\r\n]/.test(productName)) {
    throw bad('productName', 'one line of text');
  }
  if (!/^[a-z\d]{1,16}$/.test(String(shortName)))
    throw bad('shortName', 'letters a to z and digits');
  if (network !== 'mainnet' && network !== 'testnet' && network !== 'dev') {
    throw bad('network', 'mainnet, testnet or dev');
  }
  if (dev !== undefined && !isHttp(dev)) throw bad('dev', 'an http URL');
  if (keyFile !== undefined && typeof keyFile !== 'string') throw bad('keyFile', 'a path');
  if (typeof chains !== 'object' || chains === null) throw bad('chains', 'an object');
  const entries = Object.entries(chains as Record<string, unknown>);
  if (entries.length > mostChains) throw bad('chains', `at most ${mostChains}`);
  const all = entries.map(
    ([name, chain]) => [name, chainOf(chain, `chains.${name}`, bad)] as const,
  );
  return {
    market,
    productName,
    shortName: String(shortName),
    network,
    chains: Object.fromEntries(all),
    ...(dev === undefined ? {} : { dev: String(dev) }),
    ...(keyFile === undefined ? {} : { keyFile }),
  };
}

type Bad = (field: string, wanted: string) => Failure;

function isHttp(text: unknown): text is string {
  return typeof text === 'string' && /^https?:\/\/./.test(text) && URL.canParse(text);
}

/** The API key goes there: a third party on the way must not read it. */
function isSafe(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

function chainOf(value: unknown, at: string, bad: Bad): ProfileChain {
  if (typeof value !== 'object' || value === null) throw bad(at, 'an object');
  const chain = value as { readonly [Name in string]?: unknown };
  const { nodes = [], tokens = {} } = chain;
  const isNode = (each: unknown) =>
    isHttp(each) ||
    (typeof each === 'object' &&
      each !== null &&
      isHttp((each as { url?: unknown }).url) &&
      isHttp((each as { solidityUrl?: unknown }).solidityUrl));
  if (!Array.isArray(nodes) || nodes.length > mostNodes || !nodes.every(isNode)) {
    throw bad(`${at}.nodes`, `a list of at most ${mostNodes} http or https URLs`);
  }
  if (typeof tokens !== 'object' || tokens === null) throw bad(`${at}.tokens`, 'an object');
  for (const [symbol, token] of Object.entries(tokens)) {
    const { address, decimals } = (token ?? {}) as Partial<PinnedToken>;
    const isToken = typeof address === 'string' && Number.isInteger(decimals);
    if (!isToken) throw bad(`${at}.tokens.${symbol}`, '{ "address": "…", "decimals": 6 }');
  }
  const known = { ...chain, nodes, tokens } as unknown as ProfileChain;
  const text = (name: string) => {
    if (typeof chain[name] !== 'string') throw bad(`${at}.${name}`, 'text');
  };
  const id = () => {
    if (!Number.isSafeInteger(chain.chainId)) throw bad(`${at}.chainId`, 'a whole number');
  };
  switch (known.family) {
    case 'bitcoin':
      if (!/^(?:mainnet|testnet|regtest)$/.test(String(chain.bitcoin))) {
        throw bad(`${at}.bitcoin`, 'mainnet, testnet or regtest');
      }
      return known;
    case 'evm':
      id();
      return known;
    case 'tron':
      id();
      text('contract');
      text('creation');
      return known;
    case 'solana':
      text('genesisHash');
      text('program');
      return known;
    default:
      throw bad(`${at}.family`, 'bitcoin, evm, tron or solana');
  }
}
