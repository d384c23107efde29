// Logs in ranges that suit the provider (kit/widths.ts).

import { ParleyError } from '@parley/core/errors.ts';
import type { LaunchReader } from '@parley/tokens/launches.ts';
import { getAddress } from 'viem/utils';
import { claimedTopic, fundedTopic, refundedTopic } from '../escrows/calls.ts';
import { type EscrowState, rankOf, settledRank } from '../escrows/state.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { firstHeight, reorgMargin } from '../kit/follow.ts';
import { type Factory, launchReader, type Steps } from '../kit/launches.ts';
import { learn } from '../kit/watch.ts';
import { inPart } from '../kit/widths.ts';
import type { Opened } from '../nodes/opened.ts';
import { RpcError } from '../nodes/rpc.ts';
import {
  blockAt,
  codeAt,
  headBlock,
  type Log,
  type LogFilter,
  logsOf,
  type Receipt,
  receiptOf,
  refused,
  txOf,
} from './node.ts';
import { decodeCall, deploymentOf, idOfEscrow } from './plan.ts';
import { stateAt } from './state.ts';
import { type Known, type Mark, noteLog, touchesOf, type Verb, type Watch } from './watch.ts';

/** Ranges read in one call: at 10 000 blocks each, a month of half-second blocks. */
export const mostRequests = 600;
/** A chain's clock may be behind ours when a swap is agreed. */
const mostHours = 1_000;
const clockSlackSeconds = 3_600;

/** First topics of the contract's events. */
export const ours = [fundedTopic, claimedTopic, refundedTopic];

type Scanned = Pick<Watch, 'chain' | 'rpc' | 'logRange'>;

function logsAbout(watch: Pick<Watch, 'deployment'>, { address, terms }: WatchedEscrow): LogFilter {
  const { contract } = deploymentOf(watch, terms);
  return { address: contract, topics: [ours, idOfEscrow(address)] };
}

/** Calls `take` with the logs of each range, in order; a range is taken whole or not at all. */
export async function eachRange(
  watch: Scanned,
  filters: readonly LogFilter[],
  from: number,
  to: number,
  signal: AbortSignal,
  take: (logs: readonly Log[], end: number) => void,
): Promise<void> {
  const { rpc, logRange } = watch;
  let start = from;
  for (let requests = 0; start <= to; requests += 1) {
    if (requests === mostRequests) throw tooLong(watch, from, to);
    const first = start;
    const logsOfFirst = (count: number) => {
      const last = first + count - 1;
      return Promise.all(filters.map((filter) => logsOf(rpc, filter, first, last, signal)));
    };
    const part = inPart(logRange, to - first + 1, logsOfFirst, kindOf, signal);
    const { count, answer } = await part.catch((error: unknown) => {
      throw error instanceof RpcError ? refused(rpc, 'eth_getLogs', error) : error;
    });
    start = first + count;
    take(answer.flat(), start - 1);
  }
}

const kindOf = (error: unknown) => (error instanceof RpcError ? 'refusal' : 'silence');

function tooLong(watch: Scanned, from: number, to: number): ParleyError {
  return new ParleyError(
    'chain_timeout',
    `the logs of blocks ${from} to ${to} of ${watch.chain} take more than ${mostRequests} ` +
      'requests; the next call goes on from there',
    { chain: watch.chain, from, to },
  );
}

export async function scanEscrow(
  watch: Watch,
  known: Known,
  to: number,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { requiredConfirmations, since } = known.watched;
  const from =
    known.scannedTo === null
      ? await firstBlock(watch, since, signal)
      : Math.max(0, scannedTo(watch, known) - reorgMargin - requiredConfirmations);
  const filters = [logsAbout(watch, known.watched)];
  const fresh = new Set<string>();
  await eachRange(watch, filters, from, to, signal, (logs, end) => {
    for (const log of logs) if (noteLog(watch, log) !== null) fresh.add(log.txid);
    known.scannedTo = Math.max(known.scannedTo ?? 0, end);
  });
  return fresh;
}

/** How far this escrow's logs are known, the followed blocks included. */
function scannedTo(watch: Watch, known: Known): number {
  const tip = watch.blocks.at(-1)?.number ?? -1;
  const own = known.scannedTo ?? -1;
  return own >= watch.followedFrom - 1 ? Math.max(own, tip) : own;
}

/** A block from before `since` (Unix seconds), an hour's slack included. */
async function firstBlock(watch: Watch, since: number, signal: AbortSignal): Promise<number> {
  const hour = Math.floor((since - clockSlackSeconds) / 3_600);
  const before = watch.hours.get(hour);
  if (before !== undefined) return before;
  const { number: head } = await headBlock(watch.rpc, signal);
  const isLater = async (height: number) => {
    const block = await blockAt(watch.rpc, height, false, signal);
    return block === null || block.timestamp > hour * 3_600;
  };
  const first = (await firstHeight(1, head + 1, isLater)) - 1;
  // Hours that swaps began in: most are asked for once.
  if (watch.hours.size >= mostHours) watch.hours.clear();
  watch.hours.set(hour, first);
  return first;
}

/** Receipts asked for in one look for what the logs do not tell; the next look goes on from there. */
const mostReceipts = 300;
/** Transactions kept that did nothing to an escrow. */
const mostCleared = 20_000;

/** null when the transaction did not do this, or is on chain no more. */
export async function confirmed(
  watch: Watch,
  known: Known,
  txid: string,
  verb: Verb,
  signal: AbortSignal,
): Promise<Mark | null> {
  const receipt = await receiptOf(watch.rpc, txid, signal);
  return receipt === null ? null : doneBy(watch, known, { ...receipt, txid }, [verb], signal);
}

async function doneBy(
  watch: Watch,
  known: Known,
  receipt: Receipt & { readonly txid: string },
  verbs: readonly Verb[],
  signal: AbortSignal,
): Promise<Mark | null> {
  if (!receipt.succeeded) return null;
  const { txid } = receipt;
  const { address } = known.watched;
  for (const log of receipt.logs) {
    if (noteLog(watch, log) !== address) continue;
    for (const verb of verbs) {
      const found = known.marks.get(`${verb} ${txid}`);
      if (found !== undefined) return found;
    }
  }
  const tx = await txOf(watch.rpc, txid, signal);
  const call = tx?.to ? decodeCall(tx.to, tx.input, watch.deployment) : null;
  if (call?.escrow !== address || !verbs.includes(call.verb)) return null;
  if (call.secret !== null) learn(watch, call.secret);
  return { verb: call.verb, txid, block: receipt.block, index: 0 };
}

/**
 * The last of these verbs, by the block from which on its state is at least this one, or is settled,
 * where a node keeps states so old. `void`: its counter went to another escrow.
 */
export async function changeOf(
  watch: Watch,
  known: Known,
  verbs: readonly Verb[],
  state: EscrowState,
  signal: AbortSignal,
): Promise<Mark | 'void' | null> {
  let left = mostReceipts;
  const { rpc, deployment } = watch;
  const { address, terms, since } = known.watched;
  const firstOf = async (txs: Iterable<readonly [string, string]>) => {
    for (const [txid, block] of txs) {
      const tried = `${verbs.join()} ${txid} ${block}`;
      if (known.cleared.has(tried)) continue;
      if (left === 0) return null;
      left -= 1;
      const receipt = await receiptOf(rpc, txid, signal);
      if (receipt?.blockHash !== block) continue;
      const found = await doneBy(watch, known, { ...receipt, txid }, verbs, signal);
      if (found !== null) return found;
      if (receipt.logs.some((log) => usesUp(watch, known, log))) return 'void';
      if (known.cleared.size < mostCleared) known.cleared.add(tried);
    }
    return null;
  };
  const called = await firstOf(known.callers);
  if (called !== null) return called;
  const { number: head } = await headBlock(rpc, signal);
  const first = await firstBlock(watch, since, signal);
  const rank = Math.min(rankOf(state), settledRank);
  const below: { state: EscrowState['state'] | null } = { state: null };
  const number = await firstHeight(first, head, async (height) => {
    const then = await stateAt(rpc, deployment, terms, height, signal).catch(unlessRefused);
    const isThere = then !== null && rankOf(then) >= rank;
    if (!isThere) below.state = then?.state ?? null;
    return isThere;
  });
  if (below.state === 'void') return 'void';
  const block = await blockAt(rpc, number, true, signal);
  if (block === null) return null;
  // A secret in its calldata is learned, whatever the receipts tell.
  const named = block.txs.filter((tx) => touchesOf(watch, tx).has(address));
  // Above a state that is gone the change may be anywhere.
  const others = below.state === null ? [] : block.txs;
  return firstOf([...named, ...others].map(({ hash }) => [hash, block.hash] as const));
}

const lanePlaces = { payout: 1, refund: 2, lane: 7, counter: 8 } as const;

/** Whether it is the funding of another escrow at this one's lane and counter. */
function usesUp(watch: Watch, { watched }: Known, { topics, data, ...log }: Log): boolean {
  const { address, terms } = watched;
  const { lane } = terms;
  const [topic, id] = topics;
  if (lane === undefined || log.address !== deploymentOf(watch, terms).contract) return false;
  if (topic !== fundedTopic || id === idOfEscrow(address)) return false;
  const wordAt = (place: number) => BigInt(`0x0${data.slice(2 + 64 * place, 66 + 64 * place)}`);
  const number = BigInt(`0x${lane.number}`);
  const owner = number >> 95n === 1n ? 'payout' : 'refund';
  return (
    wordAt(lanePlaces.lane) === number &&
    wordAt(lanePlaces.counter) === BigInt(lane.counter) &&
    wordAt(lanePlaces[owner]) === BigInt(terms[owner].address)
  );
}

/** A node's own no, as one gives that has pruned what it is asked for; not its silence. */
export function isRefusal(error: unknown): error is ParleyError {
  return error instanceof ParleyError && error.facts.rpcCode !== undefined;
}

function unlessRefused(error: unknown): null {
  if (isRefusal(error)) return null;
  throw error;
}

/** `depth`: blocks that hold a launch, its own included, before it counts. */
export function launchesOf(watch: Watch, depth: number, opened: Opened): LaunchReader {
  return launchReader(watch, stepsAt(depth), opened);
}

function stepsAt(depth: number): Steps<Watch> {
  const steps: Steps<Watch> = {
    pageBlocks: 10_000,
    rewindBlocks: 512,
    newest: async ({ rpc }, signal) => {
      const { number, timestamp } = await headBlock(rpc, signal);
      return { deep: Math.max(0, number - depth + 1), seconds: timestamp };
    },
    blockAt: async ({ rpc }, height, signal) => {
      const block = await blockAt(rpc, height, false, signal);
      return block && { number: block.number, hash: block.hash, seconds: block.timestamp };
    },
    read: async (watch, factory, { last, to }, signal) => {
      const { address, topic } = factory;
      const filters = [{ address, topics: [`0x${topic}`] }];
      const tokens: (string | null)[] = [];
      let end = last.number;
      try {
        await eachRange(watch, filters, last.number + 1, to, signal, (logs, rangeEnd) => {
          for (const log of logs) {
            const isIn = log.block > end && log.block <= rangeEnd;
            if (log.address === address && isIn) tokens.push(tokenOf(factory, log));
          }
          end = rangeEnd;
        });
      } catch (error) {
        // The ranges read so far count: some providers give little at a time.
        if (end === last.number) throw error;
      }
      return { tokens, end };
    },
    isContract: async ({ rpc }, token, signal) => {
      return (await codeAt(rpc, token, 'latest', signal)) !== '0x';
    },
  };
  return steps;
}

function tokenOf(factory: Factory, { topics, data }: Log): string | null {
  const plain = (hex: string) => hex.slice(2).toLowerCase();
  const token = factory.tokenIn(topics.map(plain), plain(data));
  return token === null ? null : getAddress(`0x${token}`);
}
