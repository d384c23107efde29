// Whether one's own clock is right: held against the market's, by the date of its answers, and
// against the last blocks of chains. A swap that a wrong clock agrees on is one nobody funds.

import type { ChainKey } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { ChainSource } from './chains.ts';
import { clockToleranceSeconds } from './clock-tolerance.ts';

/** Seconds by which one's own clock is ahead; below 0 it is behind. */
export type ClockLook = {
  /** Seconds to the market's clock; null: it has sent no date. */
  readonly market: number | null;
  /** The last block's time: it may be old, and in the future by its chain's drift alone. */
  readonly chains: Readonly<Record<ChainKey, BlockLook>>;
};

export type BlockLook = {
  readonly aheadSeconds: number;
  /** By which the chain's clock may be ahead of a right one. */
  readonly driftSeconds: number;
};

type Dated = { readonly clock?: Readonly<{ aheadSeconds: number | null }> };

/** By the date of its last answer; null: unknown, or no market is asked. */
export function aheadOfMarket(client: Dated | null): ClockLook['market'] {
  return client?.clock?.aheadSeconds ?? null;
}

/** Blocks of the chains whose nodes answer in time. */
export async function lookAtBlocks(
  sources: readonly ChainSource[],
  now: () => UnixSeconds | Promise<UnixSeconds>,
  signal: AbortSignal,
): Promise<ClockLook['chains']> {
  const looks = sources.map(async ({ adapter, view }) => {
    const { clock } = await adapter.heads(signal);
    const look = { aheadSeconds: (await now()) - clock, driftSeconds: view.policy.driftSeconds };
    return [view.chain, look] as const;
  });
  const answers = await Promise.allSettled(looks);
  return Object.fromEntries(
    answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
  );
}

/** In one sentence, by how much; null: no sign that it is wrong. */
export function clockFault({ market, chains }: ClockLook): string | null {
  const isOff = market !== null && Math.abs(market) > clockToleranceSeconds;
  const all = Object.entries(chains);
  const behind = all.filter(
    ([, { aheadSeconds, driftSeconds }]) => -aheadSeconds > driftSeconds + clockToleranceSeconds,
  );
  if (!isOff && behind.length === 0) return null;
  const [agreeing] =
    all.find(([, each]) => Math.abs(each.aheadSeconds) <= clockToleranceSeconds) ?? [];
  if (isOff && behind.length === 0 && agreeing !== undefined) {
    const way = market > 0 ? 'behind' : 'ahead of';
    const sentence = `the market's clock is ${Math.abs(market)} s ${way} this machine's`;
    return `${sentence}, which agrees with the last block of ${agreeing}`;
  }
  const off = isOff
    ? [`${Math.abs(market)} s ${market > 0 ? 'ahead of' : 'behind'} the market's`]
    : [];
  const late = behind.map(
    ([chain, { aheadSeconds }]) => `${-aheadSeconds} s behind the last block of ${chain}`,
  );
  return `this machine's clock is ${[...off, ...late].join(' and ')}: set it right`;
}
