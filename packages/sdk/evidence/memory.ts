// The memory of an escrow: all that was seen at depth, with the block that held it. Only the node
// that shows something else can take it back, by another block at that height.

import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';

export const kinds = ['funded', 'claimed', 'refunded'] as const;
export type Kind = (typeof kinds)[number];

/** The block that held a transaction when it was seen at depth. */
export type Mark = { readonly height: number; readonly hash: string };
/** The place of a node, of so many that were configured. */
export type Place = { readonly node: number; readonly of: number };
export type Marks = Readonly<Partial<Record<Kind, Mark>>> & {
  /**
   * Facts that one of several nodes alone has shown, while the others were silent or did not count.
   */
  readonly alone?: Readonly<Partial<Record<Kind, Place>>>;
};

/** `facts` as the nodes agreed on them last; null before the first observation. */
export type Memory = { readonly facts: EscrowFacts | null; readonly marks: Marks };

/** All that was at depth and is not any more in this answer. */
export function withdrawnBy(facts: EscrowFacts, { facts: kept }: Memory): Kind[] {
  return kinds.filter((kind) => kept?.[kind]?.deep === true && facts[kind]?.deep !== true);
}

/**
 * The answer, with the depth that is known of a transaction whose block the node holds and that it
 * counts too few blocks on. null: it denies what was at depth. A funding with all its blocks that
 * is not deep lacks its tokens: an issuer has taken them.
 */
export function heldAgainst(
  facts: EscrowFacts,
  withdrawn: readonly Kind[],
  requiredConfirmations: number,
): EscrowFacts | null {
  let held = facts;
  for (const kind of withdrawn) {
    const shown = facts[kind];
    if (shown === null || shown.confirmations === 0) return null;
    if (shown.confirmations >= requiredConfirmations) continue;
    held = { ...held, [kind]: { ...shown, deep: true } satisfies Sighting };
  }
  return held;
}

/** Facts that were confirmed by one of several nodes alone, with another node among these. */
export function doubtfulBy({ marks: { alone = {} } }: Memory, deniers: readonly Place[]): Kind[] {
  return kinds.filter((kind) => {
    const by = alone[kind];
    const isOther = ({ node, of }: Place) => node !== by?.node || of !== by.of;
    return by !== undefined && deniers.some(isOther);
  });
}

/** Without these. */
export function without({ facts, marks }: Memory, forgotten: readonly Kind[]): Memory {
  const blank = Object.fromEntries(forgotten.map((kind) => [kind, null]));
  const { alone, ...blocks } = marks;
  const kept = Object.entries(blocks).filter(([kind]) => !(kind in blank));
  return { facts: facts === null ? null : { ...facts, ...blank }, marks: Object.fromEntries(kept) };
}

/** Believed where no answer can be: all that was at depth, and nothing that was not. */
export function remembered({ facts }: Memory): EscrowFacts {
  return facts ?? nothingSeen;
}
