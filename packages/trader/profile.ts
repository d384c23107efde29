// A profile: one market, its network, and each chain as this customer pins it, with nodes of its
// own choice. A file that a person writes and reads; nodes' addresses may hold passwords.

import { z } from 'zod';
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

const http = z.string().refine((text) => /^https?:\/\/./.test(text) && URL.canParse(text), {
  message: 'must be an http or https URL',
  abort: true,
});
/** The API key goes there: a third party on the way must not read it. */
const market = http.refine((url) => {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}, 'must be https, or http of this machine');
const node = z.union([http, z.object({ url: http, solidityUrl: http })], 'must be such a URL');
const known = {
  nodes: z.array(node).max(mostNodes).default([]),
  tokens: z.record(z.string(), z.object({ address: z.string(), decimals: z.int() })).default({}),
};
const chain = z.discriminatedUnion('family', [
  z.looseObject({
    ...known,
    family: z.literal('bitcoin'),
    bitcoin: z.enum(['mainnet', 'testnet', 'regtest']),
    form: z.enum(['p2tr', 'p2wsh']).optional(),
  }),
  z.looseObject({ ...known, family: z.literal('evm'), chainId: z.int() }),
  z.looseObject({
    ...known,
    family: z.literal('tron'),
    chainId: z.int(),
    contract: z.string(),
    creation: z.string(),
  }),
  z.looseObject({
    ...known,
    family: z.literal('solana'),
    genesisHash: z.string(),
    program: z.string(),
  }),
]);
const shape = z.object({
  market,
  productName: z
    .string()
    .regex(/^[^\r\n]*$/)
    .default('Parley'),
  shortName: z
    .string()
    .regex(/^[a-z\d]{1,16}$/)
    .default('parley'),
  network: z.enum(['mainnet', 'testnet', 'dev']),
  chains: z.record(z.string(), chain).refine((all) => Object.keys(all).length <= mostChains),
  dev: http.optional(),
  keyFile: z.string().optional(),
});

/** Throws Failure `bad_profile` with the field and what is wrong with it. */
export function readProfile(text: string, file: string): Profile {
  const bad = (why: string, cause?: unknown) =>
    new Failure('local', 'bad_profile', `${file}: ${why}`, { cause });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw bad('it is no JSON', cause);
  }
  const { data, error } = shape.safeParse(json);
  if (data !== undefined) return data as Profile;
  const each = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw bad(each.join('; '));
}
