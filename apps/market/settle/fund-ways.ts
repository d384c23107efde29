// The permits that the funder of a token may sign instead of an approval, beside the plain funding.
// The funding methods of a token are found once, by trying, and kept; each build tries again what
// it offers.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { signerOf } from '@parley/chains/escrows/typed-data.ts';
import { noAbilities } from '@parley/chains/evm/ways.ts';
import type { Allowance, TokenAbilities } from '@parley/chains/interface/fund-ways.ts';
import type { FundAlternative } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { PlannedEscrow } from '@parley/watchtower/port.ts';
import { keepAbilities, keptAbilities } from '../db/token-abilities.ts';
import type { Deps } from '../ports/deps.ts';
import { openingOf } from './escrows.ts';

/** How long a token that takes nothing is believed: it may learn to. */
const nothingForMs = 24 * 60 * 60_000;
/** The share of a build's time for methods that it can do without. */
const tryingShare = 0.5;

type Found = { readonly abilities: TokenAbilities; readonly isFresh: boolean };

async function abilitiesOf(
  deps: Deps,
  adapter: ChainAdapter,
  token: string,
  signal: AbortSignal,
): Promise<Found> {
  const kept = await keptAbilities(deps.db, adapter.chain, token);
  if (kept === null) return findAnew(deps, adapter, token, signal);
  const { abilities, foundAt } = kept;
  const takesNothing = abilities.permit === null && abilities.authorization === null;
  const isOld = deps.now() - foundAt.getTime() > nothingForMs;
  if (takesNothing && isOld) return findAnew(deps, adapter, token, signal);
  return { abilities, isFresh: false };
}

async function findAnew(
  deps: Deps,
  { chain, ways }: ChainAdapter,
  token: string,
  signal: AbortSignal,
): Promise<Found> {
  if (ways === undefined) return { abilities: noAbilities, isFresh: true };
  const abilities = await within(signal, chain, ways.abilities(token, signal));
  await keepAbilities(deps.db, { chain, token, abilities, at: new Date(deps.now()) });
  return { abilities, isFresh: true };
}

type WaysWanted = {
  readonly needsAllowance: boolean;
  readonly allowance: Allowance;
  readonly authorizes: boolean;
  /** Unix seconds. */
  readonly deadline: number;
};

/**
 * The alternatives to the plain funding of this escrow; null where its chain or its asset has none.
 * Where the node cannot try them there are none this time, unless a text was asked for.
 */
export async function fundAlternatives(
  deps: Deps,
  adapter: ChainAdapter,
  escrow: PlannedEscrow,
  wanted: WaysWanted,
  signal: AbortSignal,
): Promise<readonly FundAlternative[] | null> {
  const { token } = escrow.terms;
  const { ways, chain } = adapter;
  if (ways === undefined || token === null) return null;
  const until = wanted.authorizes
    ? signal
    : AbortSignal.any([signal, AbortSignal.timeout(deps.settings.chainTimeoutMs * tryingShare)]);
  const offered = (found: Found) => {
    const input = { escrow, ...found, ...wanted, ...openingOf(escrow) };
    return within(until, chain, ways.alternatives(input, until));
  };
  try {
    const found = await abilitiesOf(deps, adapter, token, until);
    const first = await offered(found);
    if (first !== null || found.isFresh) return first ?? [];
    // Upgraded since, or nothing that this node can try in one call.
    return (await offered(await findAnew(deps, adapter, token, until))) ?? [];
  } catch (error) {
    const isAway =
      error instanceof ParleyError && (error.kind === 'unavailable' || error.kind === 'timeout');
    if (!isAway || wanted.authorizes || signal.aborted) throw error;
    deps.log.warn({ chain, token, err: error }, 'the ways to fund a token are not tried');
    return [];
  }
}

/**
 * Throws `bad_signature` unless it is the refund address's over the escrow's authorization, and
 * `relay_unavailable` where the token takes none.
 */
export async function mustAuthorize(
  deps: Deps,
  adapter: ChainAdapter,
  { terms }: WatchedEscrow,
  signature: string,
  signal: AbortSignal,
): Promise<void> {
  const { token, chain, refund } = terms;
  const { ways } = adapter;
  if (ways === undefined || token === null) return;
  const { abilities } = await abilitiesOf(deps, adapter, token, signal);
  const typedData = ways.authorization(terms, abilities);
  if (typedData === null) {
    const sentence = `${token} on "${chain}" takes no authorization: send the funding yourself`;
    throw new ParleyError('relay_unavailable', sentence, { chain, token });
  }
  const signer = signerOf(typedData, signature);
  if (signer === refund.address) return;
  const sentence =
    `over this escrow's authorization the signature is one of ${signer}; ` +
    `the refund address is ${refund.address}`;
  throw new ParleyError('bad_signature', sentence, { signer, refund: refund.address });
}
