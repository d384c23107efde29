// What became of the transactions of a block, and which of them did something to an escrow.

import { ParleyError } from '../../core/errors.ts';
import { learn } from '../kit/watch.ts';
import { type Block, blockAt, type Info, infoOf, infosAt } from './node.ts';
import { bareAddress, callsIn } from './plan.ts';
import { topicOfVerb } from './topics.ts';
import { noteLog, touchesOf, type Verb, type Watch } from './watch.ts';

const batch = 8;
/** A stranger may quote our calls in as many transactions as he likes: so many are asked for. */
const mostAsked = 16;

/**
 * All receipts of a block. Where they are too much for one answer, as logs of strangers can make
 * them, each is asked for by itself.
 */
export async function infosOf(watch: Watch, block: Block, signal: AbortSignal): Promise<Info[]> {
  const { http } = watch;
  try {
    return await infosAt(http, block.number, signal);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'chain_unavailable') throw error;
  }
  const infos: Info[] = [];
  for (let from = 0; from < block.txs.length; from += batch) {
    const some = block.txs.slice(from, from + batch);
    const read = await Promise.all(some.map(({ txid }) => infoOf(http, txid, 'head', signal)));
    infos.push(...read.filter((each) => each !== null));
  }
  return infos;
}

/**
 * The transaction of this block that did this to an escrow: by its log, or, where the node keeps
 * logs back, by having been that very call. Learns a secret either way. Null where none is found.
 */
export async function transactionIn(
  watch: Watch,
  escrow: string,
  number: number,
  verb: Verb,
  signal: AbortSignal,
): Promise<string | null> {
  const block = await blockAt(watch.http, number, signal);
  if (block === null) return null;
  const calls = ownCalls(watch, block, escrow, verb);
  for (const txid of calls.slice(0, mostAsked)) {
    const info = await infoOf(watch.http, txid, 'head', signal);
    if (info !== null && didIt(watch, info, escrow, verb)) return txid;
  }
  // By another contract, or without its log.
  const infos = await infosOf(watch, block, signal);
  const made = infos.find((info) => didIt(watch, info, escrow, verb));
  if (made !== undefined) return made.txid;
  if (verb === 'claim') for (const { rawData } of block.txs) touchesOf(watch, rawData);
  return calls[0] ?? null;
}

/** The transaction of this block whose log says so; null where no log does. */
export async function loggedIn(
  watch: Watch,
  escrow: string,
  number: number,
  verb: Verb,
  signal: AbortSignal,
): Promise<string | null> {
  const block = await blockAt(watch.http, number, signal);
  if (block === null) return null;
  const infos = await infosOf(watch, block, signal);
  return infos.find((info) => didIt(watch, info, escrow, verb))?.txid ?? null;
}

/** Successful transactions with this call inside, which may be a mere quotation. */
function ownCalls(watch: Watch, block: Block, escrow: string, verb: Verb): string[] {
  const { deployment } = watch;
  const contract = bareAddress(deployment.contract).slice(2);
  return block.txs.flatMap(({ txid, succeeded, rawData }) => {
    if (!succeeded || !rawData.includes(contract)) return [];
    const own = callsIn(rawData, deployment).filter(
      (call) => call.verb === verb && call.escrow === escrow,
    );
    for (const { secret } of own) if (secret !== null) learn(watch, secret);
    return own.length > 0 ? [txid] : [];
  });
}

function didIt(watch: Watch, { succeeded, logs }: Info, escrow: string, verb: Verb): boolean {
  if (!succeeded) return false;
  const said = logs.filter(({ topics }) => topics[0] === topicOfVerb[verb]);
  return said.some((log) => noteLog(watch, log) === escrow);
}
