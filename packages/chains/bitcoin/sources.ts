// Several sources of one chain: which of them is read, and whether they agree. A party funds
// and reveals only where they do. Refunds and public claims go on: waiting only loses money there.

import { ParleyError } from '@parley/core/errors.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { Cosigning } from '../interface/cosigning.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import * as kit from '../kit/agreement.ts';
import { nodeOrder } from '../nodes/heads.ts';
import type { Said } from '../nodes/sources.ts';
import { sleep } from '../nodes/turn.ts';
import { type Follower, followToEnd } from './follower.ts';
import { unavailable } from './http.ts';
import { factsOf } from './read.ts';

export type Followers = readonly [Follower, ...Follower[]];

/** Blocks by which one may be ahead: two arrive within a minute now and then. */
const mostAhead = 2;
/** A new block goes from one to the other within seconds: so often they are compared again. */
const mostTries = 15;
const pauseMs = 300;

/** The first source, or the one at a place. */
type Sources = {
  readonly sources: number;
  call(): Promise<Follower>;
  ask(at: number): Promise<Follower>;
};

type Compared = Said & { readonly nodes: Sources };

export type Agreement = {
  /** They must stand on one chain. Throws `sources_disagree`. */
  heads(signal: AbortSignal): Promise<void>;
  /** They must show the same payment at depth, too. Throws `sources_disagree`. */
  funding(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
};

export function agreementOf(
  followers: Followers,
  chain: string,
  { normal, lateClaimSeconds }: ChainPolicy,
): Agreement {
  const [first] = followers;
  const at = async (place: number) => followers[place] ?? first;
  const nodes = { sources: followers.length, call: () => at(0), ask: at };
  const watch: Compared = { chain, log: first.log, said: new Set(), nodes };
  /** The median of eleven blocks' times trails where nothing is wrong. */
  const mostOld = normal.outageSeconds + lateClaimSeconds;
  const by: kit.Compared<Compared, Sources> = {
    nodesOf: (each) => each.nodes,
    headOf: async (one, signal) => {
      const { backend, now } = await one.call();
      const { height, clock } = await backend.tip(signal);
      const old = now() - clock;
      if (old <= mostOld) return height;
      const why = `its newest block is ${old} s older than now, more than ${mostOld} s`;
      throw unavailable(backend.name, why);
    },
    heights: (lowest) => [0, 1, 2].map((below) => Math.max(0, lowest - below)),
    hashAt: async (one, height, signal) => (await one.call()).backend.blockHash(height, signal),
    mustMeet: false,
    unit: 'height',
    fundingBy: async (_watch, one, escrow, signal) => {
      const follower = await one.call();
      await followToEnd(follower, escrow.address, signal);
      const { funded } = factsOf(follower, escrow);
      if (funded === null) return 'no payment';
      const depth = funded.deep ? 'at its depth' : 'above its depth';
      return `the payment ${funded.txid} ${depth}`;
    },
  };
  const isSpreading = () => {
    const tips = followers.map(({ index }) => index.blocks.at(-1)?.height ?? 0);
    const apart = Math.max(...tips) - Math.min(...tips);
    return apart > 0 && apart <= mostAhead;
  };
  return {
    heads: async (signal) => {
      await kit.mustAgreeOnHeads(watch, by, signal);
    },
    funding: async (escrow, signal) => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await kit.mustAgree(watch, by, escrow, signal);
        } catch (error) {
          if (tries === mostTries || signal.aborted || !isSpreading()) throw error;
        }
        await sleep(pauseMs, signal);
      }
    },
  };
}

/** An adapter that reads by one source, and asks the others what that may have missed. */
export type Led = ChainAdapter &
  Required<Pick<ChainAdapter, 'catchUp' | 'mustAgree' | 'scheduledSpends' | keyof Cosigning>>;

const turned = [
  'changes',
  'look',
  'heads',
  'catchUp',
  'readEscrow',
  'blockHash',
  'payments',
  'preflight',
  'buildClaim',
  'buildRefund',
  'planTogether',
  'checkRequest',
  'isKnown',
  'stuckFunding',
  'checkAmount',
  'costs',
] as const;

/** How old the median of its newest blocks' times may be while blocks come: an hour as a rule. */
const headSeconds = 7_200;

type Asks = Readonly<Record<PropertyKey, (...args: readonly unknown[]) => Promise<unknown>>>;

/** Led by each source in turn: where one is silent the next one is read. */
export function inTurns(adapters: readonly [Led, ...Led[]], followers: Followers): Led {
  const [first] = adapters;
  const read = async (at: number, signal: AbortSignal) => {
    const { height, clock: time } = await (followers[at] as Follower).backend.tip(signal);
    return { height, time };
  };
  const rules = { blocks: mostAhead, seconds: headSeconds, read };
  const order = nodeOrder(adapters.length, rules, undefined, followers[0].now);
  const placesOf = async (signal: AbortSignal) => {
    const { first: well, last } = await order.now(signal);
    return [...well, ...last];
  };
  const ask = async <T>(signal: AbortSignal, by: (one: Led) => Promise<T>): Promise<T> => {
    let failure: unknown = null;
    for (const at of await placesOf(signal)) {
      try {
        const answer = await by(adapters[at] ?? first);
        order.answered(at);
        return answer;
      } catch (error) {
        if (signal.aborted || !isSilence(error)) throw error;
        order.failed(at, signal);
        failure ??= error;
      }
    }
    throw failure;
  };
  const inTurn = <T extends object>(of: (one: Led) => T, names: readonly (keyof T)[]): T => {
    const asking =
      (name: keyof T) =>
      (...args: readonly unknown[]) => {
        const signal = args.find((each) => each instanceof AbortSignal) as AbortSignal;
        return ask(signal, async (one) => (of(one) as Asks)[name](...args));
      };
    return { ...of(first), ...Object.fromEntries(names.map((name) => [name, asking(name)])) };
  };
  const leader = async (signal: AbortSignal) => adapters[(await placesOf(signal))[0] ?? 0] ?? first;
  const ofSpends = ({ scheduledSpends }: Led) => scheduledSpends;
  return {
    ...inTurn((one) => one, turned),
    watch: (escrows) => {
      for (const each of adapters) each.watch(escrows);
    },
    unwatch: (addresses) => {
      for (const each of adapters) each.unwatch(addresses);
    },
    scheduledSpends: inTurn(ofSpends, ['check', 'spendable', 'next', 'rival']),
    // Each offers it to all sources.
    broadcast: async (transaction, signal) => (await leader(signal)).broadcast(transaction, signal),
    close: async () => {
      await Promise.all(adapters.map((each) => each.close()));
    },
  };
}

function isSilence(error: unknown): boolean {
  if (!(error instanceof ParleyError)) return false;
  return error.code === 'chain_timeout' || error.code === 'chain_unavailable';
}
