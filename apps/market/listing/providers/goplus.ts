// GoPlus token security: holders, how much the ten largest have, and whether it can be sold. Its
// liquidity is not taken: it counts one side of a pool with two. An answer does not say its chain.
// Form: docs.gopluslabs.io, token security API, and GoPlus's own SDK for Solana.

import { goPlusNames, nameOf, sameAddress, spelt } from './chains.ts';
import { type Provider, ProviderFailure } from './facts.ts';
import type { JsonClient } from './http.ts';
import { type Json, type Reader, readerOf } from './read.ts';

const complete = 1;
/** The rest follows in about 15 seconds: a part that is still missing must not seem unknown. */
const partial = 2;
const tooMany = 4_029;
const topHolders = 10;

/** Where tokens are sent to be gone. */
const burnAddresses: ReadonlySet<unknown> = new Set([
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
  const read = readerOf(client.name);
  return {
    name: client.name,
    chainOf: (chain) => nameOf(goPlusNames, chain),
    look: async (chain, address, _wanted, signal) => {
      const path =
        chain === goPlusNames.solana ? ['solana', 'token_security'] : ['token_security', chain];
      const query = { contract_addresses: spelt(address) };
      const { found, body } = await client.get(path, query, signal);
      if (!found) throw read.spoilt('answer');
      const record = recordOf(read, body, address);
      if (record === null) return {};
      const { is_honeypot: said } = record;
      return {
        holders: read.holders(record, 'holder_count'),
        topHoldersShare: topShare(read, record),
        // Not there = not known, as for contracts whose source nobody has published.
        honeypot: said === '1' ? true : said === '0' ? false : null,
      };
    },
  };
}

function recordOf(read: Reader, body: unknown, address: string): Json | null {
  const { code, result = null } = read.object(body, '');
  if (code === partial) {
    throw new ProviderFailure('limited', `${read.name} has not looked at all of the token yet`);
  }
  if (code !== complete) {
    const which = typeof code === 'number' ? ` with code ${code}` : '';
    throw new ProviderFailure('unreachable', `${read.name} refuses${which}`);
  }
  const records = read.object(result ?? {}, '');
  const keys = Object.keys(records);
  // Some chains' addresses are said to come back in small letters.
  const key =
    keys.find((each) => sameAddress(each, address)) ??
    keys.find((each) => each === address.toLowerCase());
  if (key !== undefined) return read.object(records[key], '');
  if (keys.length === 0) return null;
  throw read.misanswered();
}

/** Null where no holders are listed; they cannot hold more than there is. */
function topShare(read: Reader, record: Json): number | null {
  const holders = read.objects(record, 'holders').slice(0, topHolders);
  if (holders.length === 0) return null;
  const pools = read.objects(record, 'dex').flatMap(({ pair, pool_manager, id }) => {
    return [pair, pool_manager, id].map(speltIf).filter((each) => each !== null);
  });
  const gone = new Set([...burnAddresses, ...pools]);
  const shares = holders.map((each) => ({
    share: read.share(each, 'percent') ?? 0,
    // A pool or a burn address does not. Time locks count as holders: they open.
    counts: ![each.address, each.account, each.token_account].some((at) => gone.has(speltIf(at))),
  }));
  if (shares.reduce((sum, { share }) => sum + share, 0) > 1.001) throw read.spoilt('holders');
  const counted = shares.filter(({ counts }) => counts);
  const sum = counted.reduce((all, { share }) => all + share, 0);
  // Where some of ten were left out, others follow who have no more than the least of the list.
  const more = holders.length === topHolders ? topHolders - counted.length : 0;
  return Math.min(1, sum + more * Math.min(...shares.map(({ share }) => share)));
}

const speltIf = (address: unknown) => (typeof address === 'string' ? spelt(address) : null);
