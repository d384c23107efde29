// The events in a node's index (java-tron's eth_getLogs). It only says where to look.

import { ParleyError } from '@parley/core/errors.ts';
import { jsonOf } from '@parley/core/unchecked.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { keptStart } from '../kit/follow.ts';
import { type Failure, inPart } from '../kit/widths.ts';
import { once, unlessAborted } from '../nodes/sources.ts';
import { type Http, jsonRpcBody, jsonRpcPath, NotServed, TronRefusal } from './http.ts';
import type { Head } from './node.ts';
import { bareAddress, deploymentOf } from './plan.ts';
import { firstFrom } from './receipts.ts';
import {
  type Event,
  madeBy,
  noteLog,
  noteMade,
  ourTopics,
  type Searched,
  type Verb,
  verbOfTopic,
  type Watch,
} from './watch.ts';

/** Answers of one search: more than a month of blocks, or a week where only 500 are given. */
const mostRequests = 400;
const searchMs = 30_000;
/** A node may be given the setting, or be replaced. */
const againMs = 600_000;
/** After a search that failed: a node may be slow for a while. */
const failedMs = 60_000;
/** Searches that are remembered, of escrows that nobody looks at just now too. */
const mostSearched = 1_000;
/** In one answer: an escrow is funded and ended once, and more are lies. */
const mostFound = 8;
/** A chain's clock may be behind ours when a swap is agreed. */
const slackSeconds = 600;

/** `fund`: which transaction funded it. `end`: also how it ended. */
type Sought = 'fund' | 'end';

/** Waits as long as the signal lets it; the search goes on, and its news is told by changes(). */
export async function lookInEvents(
  watch: Watch,
  watched: WatchedEscrow,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  const isFound = () => has(watch, watched, about.sought);
  if (!watch.known.has(watched.address) || isFound()) return;
  const searched = searchOf(watch, watched, about);
  take(watch, watched, searched.found);
  if (searched.going === null || isFound()) return;
  await unlessAborted(searched.going, signal).catch(() => {});
}

type About = { readonly sought: Sought; readonly head: Head };

/** The one under way, or the last where it is too soon for another; else one that begins now. */
function searchOf(watch: Watch, watched: WatchedEscrow, about: About): Searched {
  const key = `${about.sought} ${watched.address}`;
  const { searched } = watch;
  const last = searched.get(key);
  const now = watch.clock();
  if (last !== undefined && (last.going !== null || now < last.againAt)) return last;
  const begun: Searched = { going: null, againAt: now + againMs, found: [] };
  searched.delete(key);
  searched.set(key, begun);
  const [oldest] = searched.keys();
  if (searched.size > mostSearched && oldest !== undefined) searched.delete(oldest);
  const until = AbortSignal.any([watch.closed.signal, AbortSignal.timeout(searchMs)]);
  begun.going = search(watch, watched, { ...about, found: begun.found }, until)
    .catch((error: unknown) => {
      begun.againAt = watch.clock() + failedMs;
      once(watch, 'no_events', { chain: watch.chain, escrow: watched.address, why: String(error) });
    })
    .finally(() => {
      begun.going = null;
    });
  return begun;
}

function has(watch: Watch, { address: escrow }: WatchedEscrow, sought: Sought): boolean {
  const made = (verb: Verb) => madeBy(watch, { escrow, verb }) !== null;
  return sought === 'fund' ? made('fund') : made('claim') || made('refund');
}

function take(watch: Watch, { address: escrow }: WatchedEscrow, found: readonly Event[]): void {
  for (const { txid, block, log } of found) {
    const verb = verbOf({ log });
    if (verb === undefined || noteLog(watch, log) !== escrow) continue;
    noteMade(watch, { escrow, verb }, { txid, block, hash: null, isSolid: false });
  }
}

const verbOf = ({ log }: Pick<Event, 'log'>) => verbOfTopic.get(log.topics[0] ?? '');

/** A node may give what it was not asked for. */
function isAbout({ log }: Event, id: string, contract: string): boolean {
  const isOurs = verbOf({ log }) !== undefined && `0x${log.address}` === contract;
  return isOurs && log.topics[1] === id;
}

async function search(
  watch: Watch,
  watched: WatchedEscrow,
  { sought, head, found }: About & { readonly found: Event[] },
  signal: AbortSignal,
): Promise<void> {
  const { address: escrow } = watched;
  const isSeen = (wanted: Sought) =>
    has(watch, watched, wanted) ||
    found.some((each) => (verbOf(each) === 'fund') === (wanted === 'fund'));
  const { first, lastFunding } = await boundsOf(watch, watched, head, signal);
  let next = first;
  for (let requests = 0; next <= head.number && requests < mostRequests; requests += 1) {
    const from = next;
    const eventsOfFirst = (count: number) =>
      eventsIn(watch, watched, { from, to: from + count - 1 }, signal);
    const left = head.number - from + 1;
    const { count, answer } = await inPart(watch.eventRange, left, eventsOfFirst, kindOf, signal);
    next += count;
    const fresh = answer.slice(0, mostFound);
    found.push(...fresh);
    take(watch, watched, fresh);
    if (fresh.length > 0 && watch.known.has(escrow)) watch.owed.add(escrow);
    if (isSeen(sought)) return;
    // Only an escrow that was funded in time can end.
    if (next > lastFunding && !isSeen('fund')) return;
  }
}

/** A node without an index has nothing at that path, however little it is asked. */
function kindOf(error: unknown): Failure {
  if (error instanceof TronRefusal) return 'refusal';
  return error instanceof ParleyError && error.cause instanceof NotServed ? 'other' : 'silence';
}

type Range = { readonly from: number; readonly to: number };

/** The first block since its swap was agreed, and the last that may fund it. */
async function boundsOf(
  watch: Watch,
  { since, terms }: WatchedEscrow,
  head: Head,
  signal: AbortSignal,
): Promise<{ readonly first: number; readonly lastFunding: number }> {
  const first = (await firstSince(watch, since, head, signal)) ?? head.number;
  const fundBefore = terms.fundBefore ?? Number.POSITIVE_INFINITY;
  const lastFunding = (await firstFrom(watch, fundBefore, head, signal))?.number ?? head.number;
  return { first, lastFunding };
}

/** A block from which on a swap may have been funded; null: the chain's clock is not there yet. */
export async function firstSince(
  watch: Pick<Watch, 'http' | 'starts'>,
  since: number,
  head: Head,
  signal: AbortSignal,
): Promise<number | null> {
  const second = since - (since % slackSeconds) - slackSeconds;
  const search = async () => (await firstFrom(watch, second, head, signal))?.number ?? null;
  return keptStart(watch.starts, second, search);
}

async function eventsIn(
  watch: Watch,
  { address: escrow, terms }: WatchedEscrow,
  range: Range,
  signal: AbortSignal,
): Promise<Event[]> {
  const contract = bareAddress(deploymentOf(watch, terms).contract);
  const id = escrow.split(':')[1] ?? '';
  const topics = [[...ourTopics], [id]].map((each) => each.map((topic) => `0x${topic}`));
  const events = await eventsOf(watch.http, { address: contract, topics, ...range }, signal);
  return events.filter((each) => isAbout(each, id, contract));
}

type Filter = {
  readonly address: string;
  /** Any of the first as first topic, any of the second as second. */
  readonly topics: readonly (readonly string[])[];
  readonly from: number;
  readonly to: number;
};

/** Throws a TronRefusal where the node has no such index, or gives no answer of such a range. */
export async function eventsOf(http: Http, filter: Filter, signal: AbortSignal): Promise<Event[]> {
  const { address, topics, from, to } = filter;
  const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
  const params = [{ address, topics, ...range }];
  const body = jsonRpcBody('eth_getLogs', params);
  const { result, error } = (await http.call(jsonRpcPath, body, signal)) as Json;
  if (!Array.isArray(result)) {
    throw new TronRefusal('', `no logs: ${jsonOf(error)?.slice(0, 200)}`);
  }
  return result.map(readEvent);
}

type Json = Readonly<{ [field: string]: unknown }>;

function readEvent(value: unknown): Event {
  const { blockNumber, transactionHash, address, topics, data } = value as Json;
  const block = Number(blockNumber);
  if (!Number.isSafeInteger(block) || !Array.isArray(topics)) throw new Error('a log of no block');
  const log = { address: bare(address, 40), topics: topics.map((each) => bare(each, 64)) };
  return { txid: bare(transactionHash, 64), block, log: { ...log, data: bare(data) } };
}

function bare(value: unknown, digits?: number): string {
  const hex = String(value).toLowerCase().replace(/^0x/, '');
  const isGood = /^([0-9a-f]{2})*$/.test(hex) && (digits === undefined || hex.length === digits);
  if (!isGood) throw new Error('a log that is not in hex');
  return hex;
}
