// A gas key's account, whichever the family: made of what each knows of its own chain.

import type { EscrowTerms } from '@parley/core/terms.ts';
import { type Opened, opening } from '../nodes/opened.ts';
import { type Client, foundBySome, saidInTime } from '../nodes/sources.ts';
import type {
  GasAccount,
  GasOutcome,
  GasSent,
  GasSlot,
  GasTransaction,
  GasWork,
  Paid,
} from './account.ts';
import type { GasFamily, GasKey } from './keys.ts';
import { mustBeOf, touchesOf } from './work.ts';

/** `Work`: all that a key of the family can send. */
export type GasParts<Work extends GasWork> = {
  readonly address: string;
  escrowOf(terms: EscrowTerms): { readonly address: string };
  /** Throws for work of another family. */
  able(work: GasWork): Work;
  balance(signal: AbortSignal): Promise<bigint>;
  reserve(work: Work, signal: AbortSignal): Promise<bigint>;
  quote(work: Work, signal: AbortSignal): Promise<bigint>;
  sign(
    work: Work,
    slot: GasSlot,
    signal: AbortSignal,
  ): Promise<Omit<GasTransaction, 'touches' | 'payer'>>;
  outcome(sent: GasSent, signal: AbortSignal): Promise<GasOutcome>;
  /** The cost by the word of one node; null: it cannot tell. */
  costAt(source: number, txid: string, signal: AbortSignal): Promise<bigint | null>;
  /** For a chain that counts nonces. */
  nonces?(opened: Opened): Partial<GasAccount>;
};

type Options = {
  readonly key: GasKey;
  readonly adapter: {
    readonly chain: string;
    readonly node: { readonly sources: number };
    open(signal: AbortSignal): Promise<void>;
  };
};

export function gasAccountOf<Work extends GasWork>(
  { key, adapter }: Options,
  family: GasFamily,
  partsOf: () => GasParts<Work>,
): GasAccount {
  const { chain, node } = adapter;
  if (key.family !== family) throw new Error(`a ${key.family} key signs nothing on ${chain}`);
  const parts = partsOf();
  const { address } = parts;
  const { opened } = opening((signal) => adapter.open(signal));
  const able = (work: GasWork): Work => {
    mustBeOf(chain, work);
    return parts.able(work);
  };
  return {
    chain,
    address,
    balance: opened((signal) => parts.balance(signal)),
    minedNonce: async () => null,
    reserve: opened((work: GasWork, signal) => parts.reserve(able(work), signal)),
    quote: opened((work: GasWork, signal) => parts.quote(able(work), signal)),
    sign: opened(async (work: GasWork, slot: GasSlot, signal) => {
      const signed = await parts.sign(able(work), slot, signal);
      return { ...signed, touches: touchesOf(work, parts.escrowOf), payer: address };
    }),
    outcome: opened((sent: GasSent, signal) => parts.outcome(sent, signal)),
    paid: opened((txid: string, signal) => {
      const ask = (at: number, until: AbortSignal) => parts.costAt(at, txid, until);
      return paidByAll(node.sources, ask, signal);
    }),
    ...parts.nonces?.(opened),
  };
}

/** Once one has said it the others have so long: a node that hangs holds up no job. */
export const othersMs = 1_000;

/**
 * The cost of a transaction by every node of its chain: the highest of what they say, as one alone
 * could say any number. A failure or an impossible word is none.
 */
export async function paidByAll(
  sources: number,
  ask: (at: number, signal: AbortSignal) => Promise<bigint | null>,
  signal: AbortSignal,
): Promise<Paid | null> {
  const said = await saidInTime(sources, ask, othersMs, signal);
  signal.throwIfAborted();
  if (said.length === 0) return null;
  let cost = 0n;
  for (const each of said) if (each > cost) cost = each;
  return { cost, said: said.length };
}

/** The outcome where a transaction dies by itself. */
export async function mortalOutcome<Node extends Client>(
  node: Node,
  diesAt: number | null,
  of: {
    /** By the best block of a node; null: it has seen nothing of it. */
    readonly seen: (one: Node) => Promise<GasOutcome | null>;
    /** By a final block: as late as `diesAt`, no later one takes the transaction. */
    readonly finalClock: () => Promise<number>;
    readonly waits: () => Promise<boolean>;
  },
  signal: AbortSignal,
): Promise<GasOutcome> {
  const found = await of.seen(node);
  if (found !== null) return found;
  if (diesAt === null || (await of.finalClock()) < diesAt) {
    return (await of.waits()) ? 'pending' : 'unknown';
  }
  // The node that was asked may be behind others, or keep no history.
  return (await foundBySome(node, of.seen, signal)) ?? 'gone';
}
