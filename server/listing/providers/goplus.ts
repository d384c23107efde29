// GoPlus token security: holders, how much the ten largest have, and whether it can be sold. Its
// liquidity is not taken: of a pool with two sides it counts one. An answer does not say its chain.
// Form: docs.gopluslabs.io, token security API, and GoPlus's own SDK for Solana.

import { goPlusNames, nameOf, sameAddress } from './chains.ts';
import { type Provider, ProviderFailure, type Told } from './facts.ts';
import type { JsonClient } from './http.ts';
import { holdersOf, type Json, listOf, objectOf, shareOf, unreadable } from './read.ts';

export const goPlusBase = 'https://api.gopluslabs.io/api/v1';
/** No figure is published for requests without a key: a guess on the careful side. */
export const goPlusPerMinute = 20;

const complete = 1;
/** The rest follows in about 15 seconds: what is not there yet must not look unknown. */
const partial = 2;
const tooMany = 4_029;
const topHolders = 10;

const burnAddresses: ReadonlySet<string> = new Set([
  '0x0000000000000000000000000000000000000000',
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000042069420694206942069',
  'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
  '1nc1nerator11111111111111111111111111111111',
]);

/** For the client: it says so with status 200. */
export function goPlusLimited(body: unknown): boolean {
  return typeof body === 'object' && body !== null && (body as Json).code === tooMany;
}

export function goPlus(client: JsonClient): Provider {
  const { name } = client;

  function recordOf(body: unknown, address: string): Json | null {
    const answer = objectOf(body, `the answer of ${name}`);
    if (answer.code === partial) {
      throw new ProviderFailure('limited', `${name} has not looked at all of the token yet`);
    }
    if (answer.code !== complete) {
      const code = typeof answer.code === 'number' ? ` with code ${answer.code}` : '';
      throw new ProviderFailure('unreachable', `${name} refuses${code}`);
    }
    const result = objectOf(answer.result ?? {}, `the answer of ${name}`);
    const keys = Object.keys(result);
    const key = keys.find((each) => sameAddress(each, address)) ?? lowerCased(keys, address);
    if (key !== undefined) return objectOf(result[key], `the answer of ${name}`);
    if (keys.length === 0) return null;
    throw new ProviderFailure('misanswered', `${name} answers about another token`);
  }

  /** Null where no holders are listed, and where they hold more than there is. */
  function topShare(record: Json): number | null {
    const holders = entries(record.holders).slice(0, topHolders);
    if (holders.length === 0) return null;
    const pools = new Set(
      entries(record.dex)
        .flatMap(({ pair, pool_manager, id }) => [pair, pool_manager, id])
        .flatMap((each) => (typeof each === 'string' ? [spelt(each)] : [])),
    );
    const shares = holders.map((each) => ({
      share: shareOf(each.percent, `the holders of ${name}`) ?? 0,
      counts: !isNobody(each, pools),
    }));
    if (shares.reduce((sum, { share }) => sum + share, 0) > 1.001) {
      throw unreadable(`the holders of ${name}`);
    }
    const counted = shares.filter(({ counts }) => counts);
    const sum = counted.reduce((all, { share }) => all + share, 0);
    // Where some of ten were left out, others follow who have no more than the least of the list.
    const more = holders.length === topHolders ? topHolders - counted.length : 0;
    return Math.min(1, sum + more * Math.min(...shares.map(({ share }) => share)));
  }

  function entries(value: unknown): readonly Json[] {
    if (value === undefined || value === null) return [];
    return listOf(value, `the answer of ${name}`).map((each) =>
      objectOf(each, `the answer of ${name}`),
    );
  }

  return {
    name,
    chainOf: (chain) => nameOf(goPlusNames, chain),
    look: async (chain, address, _wanted, signal): Promise<Told> => {
      const path =
        chain === goPlusNames.solana ? ['solana', 'token_security'] : ['token_security', chain];
      const query = { contract_addresses: spelt(address) };
      const { found, body } = await client.get(path, query, signal);
      if (!found) throw unreadable(`the answer of ${name}`);
      const record = recordOf(body, address);
      if (record === null) return {};
      return {
        holders: holdersOf(record.holder_count, `the holders of ${name}`),
        topHoldersShare: topShare(record),
        honeypot: cannotBeSold(record),
      };
    },
  };
}

/** A pool or a burn address. Time locks count as holders: they open. */
function isNobody(holder: Json, pools: ReadonlySet<string>): boolean {
  return [holder.address, holder.account, holder.token_account].some(
    (each) =>
      typeof each === 'string' && (pools.has(spelt(each)) || burnAddresses.has(spelt(each))),
  );
}

/** "1" and "0"; not there = not known, as for contracts whose source nobody has published. */
function cannotBeSold({ is_honeypot }: Json): boolean | null {
  if (is_honeypot === '1') return true;
  return is_honeypot === '0' ? false : null;
}

function spelt(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address;
}

/** Some chains' addresses are said to come back in small letters. */
function lowerCased(keys: readonly string[], address: string): string | undefined {
  return keys.find((each) => each === address.toLowerCase());
}
