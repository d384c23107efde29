// Tests only: a market of one swap that can lie, refuse and die, in front of REAL chains. It
// answers what an honest one would, made by the same plans and adapters, unless it is told to lie.

import { createHash } from 'node:crypto';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { laneOwner } from '@parley/chains/interface/lanes.ts';
import type { Signed } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { Bump, ScheduledVerb } from '@parley/chains/interface/scheduled.ts';
import { atAStretch } from '@parley/chains/interface/turns.ts';
import { deadlines } from '@parley/core/deadlines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { fundBy } from '@parley/core/gates.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { mustWant } from '@parley/core/release.ts';
import { type Destination, type EscrowTerms, formOf } from '@parley/core/terms.ts';
import { funderOf, type LegName, otherLeg, type Party } from '@parley/core/trade.ts';
import type { ChainSource } from '../chains.ts';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError } from '../errors.ts';
import type { Cosign, CosignExchange, CosignReply } from '../generated.ts';
import type { OwnTrade, PinnedAsset } from '../trade.ts';
import type { Swap, SwapLeg, Thread } from '../types.ts';
import { legShown, swapShown } from './honest.ts';

/** The taker gives `b` (long, on Bitcoin), the maker gives `a`. */
type PaperSwap = {
  readonly id: string;
  readonly secret: string;
  readonly agreedAt: number;
  readonly assets: Record<LegName, PinnedAsset>;
  readonly amounts: Record<LegName, bigint>;
  /** The addresses of each party, on each leg's chain. */
  readonly homes: Record<Party, Record<LegName, Destination>>;
  readonly sources: Record<LegName, ChainSource>;
};

export type PaperMarket = {
  client(party: Party): ParleyClient;
  trade(party: Party): OwnTrade;
  watched(leg: LegName): WatchedEscrow;
  /** From now on nobody answers. */
  die(): void;
  /** Changes what the market says of the swap. */
  lie(alter: (swap: Swap) => Swap): void;
  /** Names of the calls made, in order, such as `taker fund b`. */
  readonly calls: string[];
  /** Signed spends of that verb that it was last given. */
  left(verb: ScheduledVerb): readonly Bump[];
  /** Puts a leg in a lane of its payee's, who has signed so; null: not yet. Absent: takes it out. */
  lend(leg: LegName, laneSignature?: string | null): void;
  /** Absent: the lane of this leg is its funder's. */
  readonly lent: Partial<Record<LegName, string | null>>;
  /** From now on it keeps no more of them than so many. */
  keepsSpends(count: number): void;
  /** Changes what it says of spends that both sides sign. */
  lieOfCosigning(alter: (said: Exchanges, party: Party) => Exchanges): void;
  /** The next requests are refused, so many of them. */
  refuseWords(count: number): void;
};

export type Exchanges = CosignReply['exchange'];

/** With the counter of each leg's lane, where its chain has lanes. */
type Paper = PaperSwap & {
  readonly counters: Record<LegName, number>;
  readonly lent: Partial<Record<LegName, string | null>>;
  /** Legs whose funding was built: they stay in their lanes. */
  readonly built: Set<LegName>;
};

export function paperMarket(given: PaperSwap): PaperMarket {
  const paper: Paper = { ...given, counters: { a: 1, b: 1 }, lent: {}, built: new Set() };
  const left: Record<ScheduledVerb, readonly Bump[]> = { claim: [], refund: [] };
  const state = {
    dead: false,
    alter: (swap: Swap) => swap,
    keepsSpends: Infinity,
    exchanges: { claim: null, refund: null } as Exchanges,
    refusals: 0,
    alterCosigning: (said: Exchanges, _: Party) => said,
  };
  const released = new Set<LegName>();
  const shown = (party: Party) => {
    const swap = swapFor(paper, party);
    const legs = { ...swap.legs };
    for (const leg of released) {
      legs[leg] = { ...legs[leg], release: { askedAt: 0, at: null, signature: null } };
    }
    return state.alter({ ...swap, legs });
  };
  const mayTake = () => {
    state.refusals -= 1;
    if (state.refusals >= 0) throw new ParleyError('not_releasable', 'not yet');
  };
  const cosign = (verb: 'claim' | 'refund', change: Partial<CosignExchange>) => {
    state.exchanges = { ...state.exchanges, [verb]: { ...state.exchanges[verb], ...change } };
  };
  const calls: string[] = [];
  const reach = (name: string) => {
    if (state.dead) {
      throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'the market is gone' });
    }
    calls.push(name);
  };
  const signal = () => AbortSignal.timeout(60_000);
  const keep = async (verb: ScheduledVerb, leg: LegName, transactions: readonly string[]) => {
    const escrow = watchedOf(paper, leg);
    const { scheduledSpends } = paper.sources[leg].adapter;
    const asking = { verb, transactions, known: [], inTurns: atAStretch };
    const checked = await scheduledSpends?.check(escrow, asking, signal());
    const kept = (checked ?? []).slice(0, state.keepsSpends);
    left[verb] = kept;
    const rates = kept.map((each) => each.feeRateSatPerVbyte);
    return {
      escrow: escrow.address,
      txids: kept.map(({ txid }) => txid),
      count: kept.length,
      lowestFeeRate: rates[0],
      highestFeeRate: rates.at(-1),
      sentTxid: null,
    };
  };
  const client = (party: Party) => {
    const build = async (name: string, work: () => Promise<unknown>) => {
      reach(`${party} ${name}`);
      return refusing(work);
    };
    const input = (leg: LegName) => ({
      escrow: watchedOf(paper, leg),
      feeRateSatPerVbyte: null,
      isPublic: false,
    });
    const of = (leg: LegName) => paper.sources[leg].adapter;
    return {
      baseUrl: 'http://paper.invalid',
      swap: async () => build('swap', async () => shown(party)),
      swaps: async () =>
        build('swaps', async () => {
          return { swaps: [shown(party)], nextCursor: null };
        }),
      thread: async () => build('thread', async () => threadFor(paper, party)),
      setAddress: async (_: string, { chain, ownLane }: { chain: string; ownLane?: boolean }) =>
        build('address', async () => {
          const leg = paper.assets.a.chain === chain ? 'a' : 'b';
          if (ownLane && !paper.built.has(leg)) paper.lent[leg] ??= null;
          return shown(party);
        }),
      openLane: async (_: string, leg: LegName, { signature = '' }: { signature?: string }) =>
        build(`open ${leg}`, async () => {
          of(leg).lanes?.mustOpen(termsOf(paper, leg), signature);
          paper.lent[leg] = signature;
        }),
      fund: async (_: string, leg: LegName) =>
        build(`fund ${leg}`, async () => {
          await mustHaveReadyLane(paper, leg, signal());
          const laneSignature = paper.lent[leg];
          if (laneSignature === null) throw new ParleyError('not_fundable_yet', 'it is not signed');
          paper.built.add(leg);
          return of(leg).buildFund(
            { ...input(leg), ...(laneSignature && { laneSignature }) },
            signal(),
          );
        }),
      scheduleRefunds: async (
        _: string,
        leg: LegName,
        { transactions }: { readonly transactions: readonly string[] },
      ) => build(`refunds ${leg}`, () => keep('refund', leg, transactions)),
      scheduleClaims: async (
        _: string,
        leg: LegName,
        { transactions }: { readonly transactions: readonly string[] },
      ) => build(`claims ${leg}`, () => keep('claim', leg, transactions)),
      release: async (_: string, leg: LegName) =>
        build(`release ${leg}`, async () => {
          mayTake();
          released.add(leg);
        }),
      cosign: async (_: string, leg: LegName, { request, answer }: Cosign) =>
        build(`cosign ${leg} ${request ? 'request' : answer ? 'answer' : ''}`, async () => {
          if (request !== undefined) mayTake();
          if (request !== undefined) {
            const id = crypto.randomUUID();
            const outputs = [...request.outputs];
            const nonces = [...request.nonces];
            cosign(request.verb, { ...request, outputs, nonces, id, at: '', answer: null });
          }
          const { claim, refund } = state.exchanges;
          const about = [claim, refund].find((each) => each !== null && each.id === answer?.id);
          if (answer !== undefined && !about) throw new ParleyError('nothing_there', 'no request');
          if (answer !== undefined && about) {
            const nonces = [...answer.nonces];
            cosign(about.verb, { answer: { nonces, signatures: [...answer.signatures], at: '' } });
          }
          return { exchange: state.alterCosigning(state.exchanges, party) };
        }),
      announceClaim: async (_: string, leg: LegName) =>
        build(`announce ${leg}`, async () => {
          const swap = shown(party);
          const { release } = swap.legs[leg];
          mustWant({ leg, release: release ?? null });
          return swap;
        }),
      broadcast: async (chain: string, signed: Signed) =>
        build('broadcast', () => relay(adapterOf(paper, chain), signed, signal())),
    } as unknown as ParleyClient;
  };
  return {
    client,
    trade: (party) => tradeFor(paper, party),
    watched: (leg) => watchedOf(paper, leg),
    die: () => {
      state.dead = true;
    },
    lie: (alter) => {
      state.alter = alter;
    },
    calls,
    lend: (leg, laneSignature) => {
      if (laneSignature === undefined) delete paper.lent[leg];
      else paper.lent[leg] = laneSignature;
    },
    lent: paper.lent,
    left: (verb) => left[verb],
    keepsSpends: (count) => {
      state.keepsSpends = count;
    },
    refuseWords: (count) => {
      state.refusals = count;
    },
    lieOfCosigning: (alter) => {
      state.alterCosigning = alter;
    },
  };
}

/** A refusal of the builder as the API shows it. */
async function refusing(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const { code, message } = error;
    throw new ParleyApiError({ status: 409, code, message }, { cause: error });
  }
}

async function relay(adapter: ChainAdapter, signed: Signed, signal: AbortSignal) {
  return { txid: await adapter.broadcast(await adapter.readSigned(signed, signal), signal) };
}

function adapterOf(paper: Paper, chain: string): ChainAdapter {
  const leg = paper.assets.a.chain === chain ? 'a' : 'b';
  return paper.sources[leg].adapter;
}

function timesOf(paper: Paper) {
  const timing = (leg: LegName) => {
    const { policy } = paper.sources[leg].view;
    return { policy, depth: policy.normal };
  };
  return deadlines(paper.agreedAt, { a: timing('a'), b: timing('b') }, 'b');
}

function termsOf(paper: Paper, leg: LegName): EscrowTerms {
  const funder = funderOf(leg);
  const payout = paper.homes[funder === 'maker' ? 'taker' : 'maker'][leg];
  const refund = paper.homes[funder][leg];
  return {
    chain: paper.assets[leg].chain,
    hashlock: hashlockOf(paper.secret),
    payout,
    refund,
    ...formOf(payout, refund),
    token: paper.assets[leg].token,
    amount: paper.amounts[leg],
    timelock: timesOf(paper).refundAt[leg],
    ...placeOf(paper, leg),
  };
}

/** A lane for the leg alone, where the chain has lanes. */
function placeOf(paper: Paper, leg: LegName): Pick<EscrowTerms, 'lane' | 'fundBefore'> {
  if (paper.sources[leg].adapter.lanes === undefined) return {};
  const fundBefore = fundBy({ deadlines: timesOf(paper) }, { long: leg === 'b' });
  const digest = createHash('sha256').update(`${paper.id} ${leg}`).digest('hex');
  const number = `${paper.lent[leg] === undefined ? '0' : 'f'}${digest.slice(0, 23)}`;
  return { fundBefore, lane: { number, counter: paper.counters[leg] } };
}

/** Moves a leg that was never funded to what the chain's counter is at, and says so. */
async function mustHaveReadyLane(paper: Paper, leg: LegName, signal: AbortSignal): Promise<void> {
  const { adapter } = paper.sources[leg];
  const terms = termsOf(paper, leg);
  const { lane } = terms;
  if (adapter.lanes === undefined || lane === undefined) return;
  const owner = laneOwner(terms);
  const contract = adapter.lanes.contractFor(owner);
  const [state] = await adapter.lanes.read({ contract, owner }, [lane.number], signal);
  const { funded } = await adapter.readEscrow(watchedOf(paper, leg), signal);
  if (funded !== null || state === undefined || state.counter < lane.counter) return;
  paper.counters[leg] = state.counter + 1;
  throw new ParleyError('escrow_moved', `leg ${leg} moved to another escrow`, { leg });
}

function watchedOf(paper: Paper, leg: LegName): WatchedEscrow {
  const terms = termsOf(paper, leg);
  const { adapter, view } = paper.sources[leg];
  return {
    address: adapter.plan(terms).address,
    terms,
    requiredConfirmations: view.policy.normal.confirmations,
    since: paper.agreedAt,
  };
}

const ids = {
  maker: '0193f0a0-0000-7000-8000-0000000000a1',
  taker: '0193f0a0-0000-7000-8000-0000000000a2',
} as const;

function tradeFor(paper: Paper, party: Party): OwnTrade {
  const gives: LegName = party === 'maker' ? 'a' : 'b';
  return {
    party,
    rfqId: paper.id,
    threadId: paper.id,
    makerId: ids.maker,
    takerId: ids.taker,
    direction: 'sell_base',
    base: paper.assets.b,
    baseAmount: paper.amounts.b,
    quote: paper.assets.a,
    quoteAmount: paper.amounts.a,
    hashlock: party === 'taker' ? hashlockOf(paper.secret) : null,
    acceptedAt: paper.agreedAt,
    refundTo: paper.homes[party][gives],
    payTo: paper.homes[party][otherLeg(gives)],
  };
}

function swapFor(paper: Paper, party: Party): Swap {
  const legs = { a: legFor(paper, 'a'), b: legFor(paper, 'b') };
  const showing = { id: paper.id, legs, deadlines: timesOf(paper), next: [] };
  return swapShown(tradeFor(paper, party), paper.secret, paper.agreedAt, showing);
}

function threadFor(paper: Paper, party: Party): Partial<Thread> {
  const { threadId: id, rfqId, makerId, takerId, ...trade } = tradeFor(paper, party);
  const { direction, base, baseAmount, quote, quoteAmount } = trade;
  const amounts = { baseAmount: baseAmount.toString(), quoteAmount: quoteAmount.toString() };
  const asked = { id: rfqId, direction, baseAssetId: base.id, quoteAssetId: quote.id };
  const rfq = { ...asked, baseAmount: amounts.baseAmount } as Thread['rfq'];
  return { id, rfqId, makerId, takerId, quoteAmount: amounts.quoteAmount, rfq };
}

function legFor(paper: Paper, leg: LegName): SwapLeg {
  const { terms, requiredConfirmations: depth } = watchedOf(paper, leg);
  const escrow = paper.sources[leg].adapter.plan(terms);
  const { [leg]: laneSignature } = paper.lent;
  const shown = legShown(leg, terms, escrow, { assetId: paper.assets[leg].id, depth });
  const ownLane = laneSignature !== undefined;
  return { ...shown, ownLane, laneSignature: laneSignature ?? null };
}
