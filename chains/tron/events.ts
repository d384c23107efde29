// What a node's index of events tells of an escrow where its lane's word does not: eth_getLogs of
// java-tron's JSON-RPC, which is off by default. It says only where to look: what is found is
// remembered like a log that was followed, and has to be in its block still.

import type { WatchedEscrow } from '../adapter.ts';
import { once } from '../sources.ts';
import { firstFrom } from './block-time.ts';
import { type Http, jsonRpcPath } from './http.ts';
import type { Block, Log } from './node.ts';
import { bareAddress } from './plan.ts';
import { ourTopics, verbOfTopic } from './topics.ts';
import { madeBy, noteLog, noteMade, type Watch } from './watch.ts';

/** node.jsonrpc.maxBlockRange of java-tron, unless its operator says otherwise. */
const blocksAsked = 5_000;
/** Of one search: ten days of blocks. */
const mostRequests = 60;
const searchMs = 30_000;
/** A node may be given the setting, or be replaced. */
const againMs = 600_000;
/** A chain's clock may be behind ours when a swap is agreed. */
const slackSeconds = 600;

/** `fund`: which transaction funded it. `end`: also how it ended. */
export type Sought = 'fund' | 'end';

/** Waits as long as the signal lets it; the search goes on, and its news is told by changes(). */
export async function lookInEvents(
  watch: Watch,
  watched: WatchedEscrow,
  about: { readonly sought: Sought; readonly head: Block },
  signal: AbortSignal,
): Promise<void> {
  const known = watch.known.get(watched.address);
  if (known === undefined || isFound(watch, watched, about.sought)) return;
  const { events } = known;
  if (events.going === null && performance.now() >= events.againAt) {
    events.againAt = performance.now() + againMs;
    const until = AbortSignal.any([watch.closed.signal, AbortSignal.timeout(searchMs)]);
    events.going = search(watch, watched, about, until)
      .catch((error: unknown) => {
        const facts = { chain: watch.chain, escrow: watched.address, why: String(error) };
        once(watch, 'no_events', facts);
      })
      .finally(() => {
        events.going = null;
      });
  }
  const late = Promise.withResolvers<void>();
  const end = () => late.resolve();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  await Promise.race([events.going, late.promise]);
  signal.removeEventListener('abort', end);
}

function isFound(watch: Watch, { address: escrow }: WatchedEscrow, sought: Sought): boolean {
  const has = (verb: 'fund' | 'claim' | 'refund') => madeBy(watch, { escrow, verb }) !== null;
  return sought === 'fund' ? has('fund') : has('claim') || has('refund');
}

async function search(
  watch: Watch,
  watched: WatchedEscrow,
  { sought, head }: { readonly sought: Sought; readonly head: Block },
  signal: AbortSignal,
): Promise<void> {
  const { address: escrow, since, terms } = watched;
  const { contract } = watch.deployment;
  const first = await firstFrom(watch, since - slackSeconds, head, signal);
  const fundBefore = terms.fundBefore ?? Number.POSITIVE_INFINITY;
  const lastFunding = (await firstFrom(watch, fundBefore, head, signal))?.number ?? head.number;
  const id = escrow.split(':')[1] ?? '';
  const topics = [[...ourTopics], [id]].map((each) => each.map((topic) => `0x${topic}`));
  let from = first?.number ?? head.number;
  for (let requests = 0; from <= head.number && requests < mostRequests; requests += 1) {
    const to = Math.min(head.number, from + blocksAsked - 1);
    const filter = { address: bareAddress(contract), topics, from, to };
    for (const { txid, block, log } of await eventsOf(watch.http, filter, signal)) {
      const verb = verbOfTopic.get(log.topics[0] ?? '');
      if (verb === undefined || noteLog(watch, log) !== escrow) continue;
      noteMade(watch, { escrow, verb, second: 0 }, { txid, block, isSolid: false });
      watch.owed.add(escrow);
    }
    if (isFound(watch, watched, sought)) return;
    // Nothing ends that was not funded in time.
    if (to >= lastFunding && !isFound(watch, watched, 'fund')) return;
    from = to + 1;
  }
}

type Event = { readonly txid: string; readonly block: number; readonly log: Log };

type Filter = {
  readonly address: string;
  /** Any of the first as first topic, any of the second as second. */
  readonly topics: readonly (readonly string[])[];
  readonly from: number;
  readonly to: number;
};

async function eventsOf(http: Http, filter: Filter, signal: AbortSignal): Promise<Event[]> {
  const { address, topics, from, to } = filter;
  const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
  const params = [{ address, topics, ...range }];
  const body = { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params };
  const { result, error } = (await http.call(jsonRpcPath, body, signal)) as Json;
  if (!Array.isArray(result)) throw new Error(`no logs: ${JSON.stringify(error)?.slice(0, 200)}`);
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
