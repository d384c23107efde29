// A record of the Python driver in a store of the simulation, which reads of it what the rules are
// about: where the legs are, what was signed, and what was seen at depth.

import type { SwapRecord } from '@parley/sdk/stores/store.ts';
import type { SimWallet } from './hands.ts';
import { legNames } from './world.ts';

type Leg = { readonly escrow: { readonly address: string } | null };
type Sighting = { readonly txid: string; readonly confirmations: number; readonly deep: boolean };

/** As `parley` writes it, as far as the simulation reads it. */
type Written = {
  readonly swap: { readonly id: string; readonly a: Leg; readonly b: Leg };
  readonly funding: unknown;
  readonly by_hand: boolean;
  readonly restored: boolean;
  readonly given_up: unknown;
  readonly seen: Readonly<Record<string, { readonly funded: Sighting | null }>>;
};

type WithText = SwapRecord & { readonly python?: string };

export function keptBy({ world, person }: SimWallet, text: string): SwapRecord {
  const said = JSON.parse(text) as Written;
  const escrowIn = (leg: 'a' | 'b') => {
    const { escrow } = said.swap[leg];
    if (escrow === null) return null;
    const terms = world.chains[leg].plans.get(escrow.address);
    return { address: escrow.address, terms };
  };
  const legs = Object.fromEntries(legNames.map((leg) => [leg, { escrow: escrowIn(leg) }]));
  const record = {
    trade: person.trade,
    swap: { id: said.swap.id, legs },
    funding: said.funding,
    claim: null,
    refund: null,
    publicSecret: null,
    byHand: said.by_hand,
    seen: said.seen,
    ...(said.given_up === null ? {} : { givenUp: said.given_up }),
    ...(said.restored ? { restored: true as const } : {}),
    python: text,
  };
  return record as unknown as SwapRecord;
}

/** `isRestored`: the simulation has left of it what a phrase gives back. */
export function heldBy(record: SwapRecord | null) {
  const { python: text, restored = false } = (record ?? {}) as Partial<WithText>;
  return text === undefined ? null : { text, isRestored: restored };
}
