// The maker's side of its threads: it accepts a thread that a taker has accepted where the guard,
// the caps and the inventory of now allow it, and it answers a taker's proposals. Decided one at a
// time; said side by side, so that a market or a chain that is slow for one swap holds up no other.

import { pageLimit } from '@parley/core/limits.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { queue } from '@parley/core/queue.ts';
import { accept } from '@parley/sdk/agree.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { codeOf, messageOf, ParleyApiError } from '@parley/sdk/errors.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import type { OwnChains } from './chains.ts';
import type { PairConfig } from './config/config.ts';
import type { Deal, Journal } from './journal.ts';
import type { Refusal, Step } from './rules/decide.ts';
import { type Match, matchOf, quoteAmountOf, termsOf } from './rules/matching.ts';
import type { Price } from './rules/price.ts';
import type { Settling } from './settling.ts';
import type { Trading } from './trading.ts';

/** The pages of one's own threads, a hundred each. */
const mostPages = 10;
/** Answers to proposals on one thread. */
const mostAnswers = 20;
/** Threads whose refusal or answers are remembered. */
const mostRemembered = 5_000;
/** A thread on which the market, or the check of its terms, refused is left alone for so long. */
const refusedRestMs = 30_000;
/** All tries of one request together take less. */
const onItsWayMs = 120_000;
/** Beyond the market's 10 minutes for an acceptance, and the clocks' tolerance. */
const lapsedMs = 15 * 60_000;

/** The states of a swap in which something is still to be done. */
const begins: readonly string[] = ['agreed', 'initiator_funded', 'counterparty_funded'];

export type AcceptingInput = Trading & {
  readonly client: ParleyClient;
  readonly userId: string;
  readonly chains: OwnChains;
  readonly store: Store;
  readonly journal: Journal;
  readonly settling: Settling;
  /** Whether a hedge is told of what is agreed. */
  readonly isHedged: boolean;
  /** By name. */
  readonly assets: ReadonlyMap<string, PinnedAsset>;
};

export function createAccepting(input: AcceptingInput) {
  const { client, userId, journal, promises, settling, pairs, limits, assets } = input;
  const { log, metrics, mode, now, signal, turns } = input;
  const idOf = (name: string) => assets.get(name)?.id;
  /** The last report about a thread, and how often its proposals were answered. */
  const told = createMemory<string>();
  const answers = createMemory<number>();
  const resting = createMemory<Millis>();
  /** Threads whose acceptance is being said: all of them are promised, so there are few. */
  const saying = new Set<string>();

  const refuse = async (
    { id, rfqId, quoteAmount }: Thread,
    step: Step,
    { code, sentence }: Refusal,
  ) => {
    const words = `${step} ${quoteAmount} ${code}`;
    if (told.get(id) === words) return;
    told.set(id, words);
    metrics.refused.inc({ step, code });
    log.warn('not_accepted', { threadId: id, rfqId, step, code, why: sentence });
    // A price that moved is quoted anew; anything else would keep the taker waiting.
    const isMoved = (code === 'guard' || code === 'no_price') && promises.quotes.has(rfqId);
    if (step === 'acceptance' && !isMoved) await withdraw(id, rfqId);
  };

  const withdraw = async (threadId: string, rfqId: string) => {
    promises.unquoted(rfqId);
    turns.take(rfqId);
    try {
      await client.withdrawQuote(threadId, { signal });
    } finally {
      turns.end(rfqId);
    }
    log.info('withdrawn', { threadId, rfqId });
  };

  const agreeOn = async (thread: Thread, match: Match<PairConfig>) => {
    const { id: threadId, rfq, takerId } = thread;
    const quoteAmount = BigInt(thread.quoteAmount);
    const terms = termsOf(rfq, match, quoteAmount);
    const verdict = promises.verdict(rfq, match, terms, 'acceptance', threadId);
    if (verdict.refused !== null) return refuse(thread, 'acceptance', verdict.refused);
    const acceptedAt = Math.floor(now() / 1_000);
    const deal: Deal = {
      market: client.baseUrl,
      threadId,
      rfqId: rfq.id,
      takerId,
      pair: match.pair.name,
      ...terms,
      acceptedAt,
      swapId: null,
      end: null,
      endedAt: null,
      ...(input.isHedged && { hedged: true }),
      ...priceKept(input.prices.of(match.pair.price), match.pair),
    };
    promises.dealt(deal, verdict.takes);
    saying.add(threadId);
    // If this process ends here, the next one asks how the acceptance ended.
    await journal.keep(deal).catch((error: unknown) => {
      saying.delete(threadId);
      throw error;
    });
    log.info('accepting', { threadId, rfqId: rfq.id, pair: deal.pair, ...terms });
    void conclude(thread, match, deal);
  };

  const conclude = async (thread: Thread, match: Match<PairConfig>, deal: Deal) => {
    const { id: threadId } = thread;
    try {
      const isRefused = await say(input, thread, match);
      if (isRefused) resting.set(threadId, now() + refusedRestMs);
      await follow(deal, isRefused);
    } catch (error) {
      if (!signal.aborted) failed(threadId, error);
    } finally {
      saying.delete(threadId);
    }
  };

  /** Looks whether the swap is there, and begins to settle it. */
  const follow = async (deal: Deal, isRefused = false) => {
    const { threadId } = deal;
    const { swapId, status, makerAccepted } = await client.thread(threadId, { signal });
    if (swapId !== null) {
      const agreed = { ...deal, swapId };
      await journal.keep(agreed);
      promises.changed(agreed);
      metrics.agreed.inc({ pair: deal.pair });
      log.info('agreed', { threadId, swapId });
      return settling.begin(agreed);
    }
    // A sent acceptance may still be on its way to the market.
    const ageMs = now() - deal.acceptedAt * 1_000;
    const isUnsaid = !makerAccepted && (isRefused || ageMs > onItsWayMs);
    if (status === 'closed' || isUnsaid || ageMs > lapsedMs) await settling.drop(deal, 'lapsed');
  };

  /**
   * A price that is good enough is named as one's own; any other is answered with one's own. An
   * acceptance first would bind the maker for ten minutes, and the taker to nothing.
   */
  const answer = async (thread: Thread, match: Match<PairConfig>) => {
    const { id: threadId, rfq } = thread;
    const proposed = BigInt(thread.quoteAmount);
    const theirs = termsOf(rfq, match, proposed);
    const onTheirs = promises.verdict(rfq, match, theirs, 'proposal');
    const agrees = onTheirs.refused === null;
    const terms = agrees ? theirs : promises.termsFor(match);
    if ('code' in terms) return;
    const verdict = agrees ? onTheirs : promises.verdict(rfq, match, terms, 'quote');
    if (verdict.refused !== null) return refuse(thread, 'proposal', verdict.refused);
    const count = (answers.get(threadId) ?? 0) + 1;
    if (count > mostAnswers) return;
    answers.set(threadId, count);
    const before = promises.quotes.get(rfq.id);
    const untilMs = promises.untilMs();
    promises.quoted({ rfq, match, terms, takes: verdict.takes, untilMs, threadId });
    const quoteAmount = quoteAmountOf(match, terms);
    const how = { validForSeconds: limits.quoteSeconds, signal };
    turns.take(rfq.id);
    try {
      await client.propose(threadId, quoteAmount.toString(), how);
    } catch (error) {
      // An acceptance without an answer may have been taken.
      if (error instanceof ParleyApiError && !error.unreachable) {
        if (before === undefined) promises.unquoted(rfq.id);
        else promises.quoted(before);
      }
      throw error;
    } finally {
      turns.end(rfq.id);
    }
    log.info('answered', { threadId, rfqId: rfq.id, proposed, quoteAmount, agrees });
  };

  const look = async (thread: Thread) => {
    if (thread.status !== 'open' || thread.makerId !== userId) return;
    if (saying.has(thread.id)) return;
    if ((journal.deals.get(thread.id)?.market ?? client.baseUrl) !== client.baseUrl) {
      throw new Error('the thread is one of another market');
    }
    const match = matchOf(thread.rfq, pairs, idOf);
    const begun = promises.open.get(thread.id)?.deal;
    if (match === null || (begun !== undefined && begun.swapId !== null)) return;
    if (now() < (resting.get(thread.id) ?? 0)) return;
    // The decision is on the thread as a price that is on its way makes it, and not as it was.
    if (turns.isTaken(thread.rfqId)) return turns.after(thread.rfqId, () => again(thread.id));
    // One that an earlier process has quoted, too.
    const isShut = mode() === 'killed' || mode() === 'clock';
    if (isShut && begun === undefined && !thread.makerAccepted) {
      return withdraw(thread.id, thread.rfqId);
    }
    // Also where a crash came between: the same words are said again.
    if (thread.takerAccepted && !thread.makerAccepted) return agreeOn(thread, match);
    if (begun !== undefined) return;
    if (thread.proposedBy === 'taker' && !thread.makerAccepted) await answer(thread, match);
  };

  const one = async (thread: Thread) => {
    try {
      await look(thread);
    } catch (error) {
      signal.throwIfAborted();
      failed(thread.id, error);
    }
  };

  const failed = (threadId: string, error: unknown) => {
    metrics.failures.inc({ what: 'thread' });
    log.warn('thread_failed', { threadId, code: codeOf(error), error: messageOf(error) });
  };

  const again = (threadId: string) => {
    lookAt(threadId).catch((error: unknown) => {
      if (!signal.aborted) log.warn('thread_failed', { threadId, error: messageOf(error) });
    });
  };

  /** One decision at a time: the next one counts what this one has promised. */
  const alone = queue();

  const lookAt = (threadId: string) =>
    alone(async () => one(await client.thread(threadId, { signal })));

  return {
    /** All of one's own open threads. */
    look: () =>
      alone(async () => {
        for (const thread of await openThreads(client, signal)) await one(thread);
      }),
    /** One that the feed tells of. */
    lookAt: again,
    /** Swaps that the journal calls over: their acceptance landed late. */
    adopt: async () => {
      const { swaps } = await client.swaps({ limit: pageLimit.most }, { signal });
      for (const { id: swapId, threadId, status } of swaps) {
        const before = journal.deals.get(threadId);
        if (!begins.includes(status) || before?.market !== client.baseUrl) continue;
        if (before.swapId !== null || promises.open.has(threadId)) continue;
        const over = promises.overCaps(before);
        // A market that called it over has freed its share of the caps, which others have by now.
        if (over !== null && (await input.store.getSwap(swapId)) === null) {
          log.error('not_adopted', { threadId, swapId, code: over.code, why: over.sentence });
          continue;
        }
        const deal: Deal = { ...before, swapId, end: null, endedAt: null };
        await journal.keep(deal);
        promises.dealt(deal, null);
        log.warn('adopted', { threadId, swapId });
        settling.begin(deal);
      }
    },
    /** Acceptances whose swap is not known yet. */
    followUp: () =>
      alone(async () => {
        for (const { deal } of [...promises.open.values()]) {
          if (deal.swapId !== null || saying.has(deal.threadId)) continue;
          await follow(deal).catch(async (error: unknown) => {
            signal.throwIfAborted();
            log.warn('follow_failed', { threadId: deal.threadId, error: messageOf(error) });
            const isUnknown = error instanceof ParleyApiError && error.status === 404;
            if (isUnknown) await settling.drop(deal, 'lapsed');
          });
        }
      }),
  };
}

function priceKept(price: Price | null, { base, quote }: PairConfig): Pick<Deal, 'value'> {
  const decimals = { base: base.decimals, quote: quote.decimals };
  return price === null ? {} : { value: { ...price, decimals } };
}

/** Accepts on the market; true: it was refused. An answer that is lost is found by `followUp`. */
async function say(
  { client, userId, chains, store, assets, log, now, signal }: AcceptingInput,
  thread: Thread,
  { pair, asked }: Match<PairConfig>,
): Promise<boolean> {
  const base = assets.get(pair.base.name);
  const quote = assets.get(pair.quote.name);
  if (base === undefined || quote === undefined) throw new Error(`${pair.name} is not pinned`);
  const own = asked.flipped ? { base: quote, quote: base } : { base, quote };
  try {
    await accept(
      {
        client,
        userId,
        chains,
        store,
        party: 'maker',
        rfqId: thread.rfqId,
        threadId: thread.id,
        // As they were judged.
        direction: asked.direction,
        baseAmount: asked.amount,
        ...own,
        quoteAmount: BigInt(thread.quoteAmount),
        now: () => Math.floor(now() / 1_000),
      },
      { signal },
    );
    return false;
  } catch (error) {
    signal.throwIfAborted();
    const facts = { threadId: thread.id, code: codeOf(error), error: messageOf(error) };
    log.error('acceptance_failed', facts);
    return !(error instanceof ParleyApiError && error.unreachable);
  }
}

async function openThreads(client: ParleyClient, signal: AbortSignal): Promise<Thread[]> {
  const all: Thread[] = [];
  const pages = pagesOf(mostPages, (from) =>
    client.quotes({ limit: pageLimit.most, ...from }, { signal }),
  );
  for await (const { threads } of pages) all.push(...threads);
  return all;
}

/** The newest of what was noted. */
function createMemory<T>() {
  const kept = new Map<string, T>();
  return {
    get: (id: string) => kept.get(id),
    set: (id: string, value: T) => {
      kept.delete(id);
      kept.set(id, value);
      if (kept.size <= mostRemembered) return;
      const [oldest = ''] = kept.keys();
      kept.delete(oldest);
    },
  };
}
