// Levels: at which prices the maker would quote, published before anybody asks. They follow the
// price, say nothing that could not be quoted now, and go when quoting stops.

import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import type { Direction } from '@parley/core/trade.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { codeOf, messageOf, ParleyApiError } from '@parley/sdk/errors.ts';
import type { MakerFeed } from '@parley/sdk/feed.ts';
import type { Rfq, WantedLevel } from '@parley/sdk/types.ts';
import type { PairConfig } from './config/config.ts';
import type { Terms } from './rules/price.ts';
import { leastAlike } from './rules/spread.ts';
import type { Trading } from './trading.ts';

const answerMs = 5_000;
/** Published anew when this part of their time is left. */
const lastPart = 3;
/** After a refusal of the market, or none of its answers. */
const restMs = 30_000;
/** Publications of one look, a second apart: the market takes 120 a minute. */
const mostALook = 2;
const directions: Readonly<Record<Direction, Terms['gives']>> = {
  sell_base: 'quote',
  buy_base: 'base',
};
/**
 * A request of no party: the question is whether it could be quoted, to any taker that has settled
 * enough.
 */
const nobody = {
  id: 'levels',
  creatorId: 'levels',
  creatorStanding: { settled: Number.POSITIVE_INFINITY },
} as Rfq;

/** The levels of a pair that the market has, as it was sent them. */
type Told = { readonly levels: readonly WantedLevel[]; readonly untilMs: Millis };

type LevelsInput = Omit<Trading, 'turns' | 'metrics'> & {
  readonly feed: () => Pick<MakerFeed, 'state'> | null;
  readonly client: Pick<ParleyClient, 'publishLevels' | 'withdrawLevels'>;
  readonly idOf: (name: string) => string | undefined;
};

export function createLevels(input: LevelsInput) {
  const { feed, client, promises, idOf, limits, log, mode, now, signal } = input;
  const pairs = input.pairs.filter(({ levels }) => levels.length > 0);
  const told = new Map<string, Told>();
  /** Some may be there that this process knows nothing of: those of an earlier one, or in doubt. */
  let mayStand = pairs.length > 0;
  let restUntilMs = 0;
  const limit = () => AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);

  const levelOf = (pair: PairConfig, direction: Direction, size: BaseUnits): WantedLevel | null => {
    const asked = { direction, flipped: false, amount: size };
    const match = { pair, asked, ids: { base: '', quote: '' } };
    const terms = promises.termsFor(match);
    if ('code' in terms) return null;
    if (promises.verdict(nobody, match, terms, 'quote').refused !== null) return null;
    return {
      direction,
      baseAmount: terms.base.toString(),
      quoteAmount: terms.quote.toString(),
      leastBaseAmount: leastAlike(pair, size, pair.least).toString(),
      validForSeconds: limits.levelSeconds,
    };
  };

  const levelsOf = (pair: PairConfig) =>
    (Object.keys(directions) as Direction[])
      .filter((direction) => pair.gives.includes(directions[direction]))
      .flatMap((direction) => pair.levels.flatMap((size) => levelOf(pair, direction, size) ?? []));

  /** Whether the market has these, near enough, for a while still. */
  const stands = (pair: PairConfig, levels: readonly WantedLevel[]): boolean => {
    const before = told.get(pair.name);
    if (levels.length === 0 && (before?.levels ?? []).length === 0) return true;
    if (before === undefined || before.levels.length !== levels.length) return false;
    if ((before.untilMs - now()) * lastPart <= limits.levelSeconds * 1_000) return false;
    return levels.every((each, at) => isNear(each, before.levels[at]!, pair.slipBps));
  };

  /** Whether the market was asked. */
  const publish = async (pair: PairConfig): Promise<boolean> => {
    const levels = levelsOf(pair);
    if (stands(pair, levels)) return false;
    const baseAssetId = idOf(pair.base.name) ?? '';
    const quoteAssetId = idOf(pair.quote.name) ?? '';
    const untilMs = now() + limits.levelSeconds * 1_000;
    const before = told.get(pair.name)?.levels;
    // The entry goes whether or not the request succeeds.
    told.delete(pair.name);
    await client.publishLevels({ baseAssetId, quoteAssetId, levels }, { signal: limit() });
    told.set(pair.name, { levels, untilMs });
    // Prices move all the time: that their number has changed is news.
    if (before?.length !== levels.length) {
      log.debug('levels', { pair: pair.name, published: levels.length });
    }
    return true;
  };

  const withdraw = async (): Promise<void> => {
    if (!mayStand && told.size === 0) return;
    told.clear();
    mayStand = true;
    const { withdrawn } = await client.withdrawLevels({ signal: limit() });
    mayStand = false;
    log.info('levels_withdrawn', { withdrawn });
  };

  const failed = (error: unknown) => {
    if (signal.aborted) return;
    const isRefused = error instanceof ParleyApiError && !error.unreachable;
    if (!isRefused) mayStand = true;
    restUntilMs = now() + restMs;
    log.warn('levels_failed', { code: codeOf(error), error: messageOf(error) });
  };

  return {
    /** Publishes what has changed or ends soon; withdraws all where nothing is quoted. */
    look: async (): Promise<void> => {
      if (pairs.length === 0) return;
      const isOpen = mode() === 'open';
      // Withdrawing waits for nothing.
      // Longer than a rest only by a clock that was set back.
      const restMsLeft = restUntilMs - now();
      if (isOpen && restMsLeft > 0 && restMsLeft <= restMs) return;
      try {
        if (!isOpen) return await withdraw();
        if (feed()?.state() !== 'live') {
          // The market withdraws them, with the quotes, if that lasts.
          told.clear();
          mayStand = true;
          return;
        }
        if (mayStand) await withdraw();
        const ends = ({ name }: PairConfig) => told.get(name)?.untilMs ?? 0;
        let published = 0;
        for (const pair of pairs.toSorted((a, b) => ends(a) - ends(b))) {
          if (published < mostALook && (await publish(pair))) published += 1;
        }
      } catch (error) {
        failed(error);
      }
    },
    /** At the end of the process. */
    withdraw: () => withdraw().catch(failed),
  };
}

/** Within half of the slip, as a quote that is not moved. */
function isNear(one: WantedLevel, other: WantedLevel, slipBps: bigint): boolean {
  if (one.direction !== other.direction || one.baseAmount !== other.baseAmount) return false;
  const a = BigInt(one.quoteAmount);
  const b = BigInt(other.quoteAmount);
  const difference = a > b ? a - b : b - a;
  return difference * 20_000n <= slipBps * b;
}
