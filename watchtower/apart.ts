// A watchtower in a process of its own, and the desk of a server that has no gas key: what is asked
// for is a sealed row, and the answer is written in the transaction that keeps what was signed. So
// whoever gives up waiting takes his row back, and nothing is signed for it any more.

import { randomUUID } from 'node:crypto';
import { type Fact, ParleyError } from '../core/errors.ts';
import type { ChainKey } from '../core/families.ts';
import { inParallel } from '../host/in-parallel.ts';
import { apartPatienceMs, apartPollMs, askedKeptSeconds, lanes, postSeconds } from './bounds.ts';
import {
  type AskedRow,
  answerOf,
  answerRow,
  forgetRows,
  insertAskedRow,
  notePost,
  postsSince,
  waitingRows,
} from './db/asked.ts';
import type { AskedLeg, Asking, Desk, Parts, Relayed, Tx } from './port.ts';
import { type AskedVerb, tooBusy } from './refusals.ts';
import { claimantOf, funderOf, relayClaim, relayedBefore, relayFunding } from './relay.ts';
import { realTime } from './sign.ts';

type Answer =
  | { readonly txid: string }
  | { readonly code: string; readonly sentence: string; readonly facts: Record<string, Fact> }
  | { readonly fault: true };

type Own = { readonly secret: string } | { readonly signature: string; readonly escrow: string };
type ServerParts = Pick<Parts, 'db' | 'market' | 'seal' | 'now' | 'signingTime'>;

/** For a server: it knows which chains have a key by what watchtowers say of themselves. */
export function apartDesk(deps: ServerParts): Desk {
  const posts = async () => {
    const since = new Date(deps.now() - postSeconds * 1_000);
    const all = await postsSince(deps.db, since);
    return new Map(all.map((each) => [each.chain, { fundings: { cap: each.funds ? 1n : 0n } }]));
  };
  return {
    claim: async (asking) => {
      const asked = await deps.market.claimAsked(asking);
      mustHave(asked, await posts());
      return ask(deps, asking, asked, 'claim', { secret: asking.secret });
    },
    fund: async (asking) => {
      const asked = await deps.market.fundAsked(asking);
      const { signature, escrow } = asking;
      return ask(deps, asking, { ...asked, escrow }, 'fund', { signature, escrow });
    },
    fundsBySignature: async () => {
      const keys = await posts();
      return (leg) => typeof funderOf(keys, leg) !== 'string';
    },
  };
}

function mustHave(asked: AskedLeg, posts: ReadonlyMap<ChainKey, unknown>): void {
  if (!posts.has(asked.chain)) claimantOf({ gas: new Map() }, asked);
}

async function ask(
  deps: ServerParts,
  { accountId, admit, signal }: Asking,
  { swapId, leg, chain, escrow }: AskedLeg,
  verb: AskedVerb,
  own: Own,
): Promise<Relayed> {
  const before = escrow && (await relayedBefore(deps.db, { chain, verb, escrow }));
  if (before) return before;
  await admit();
  const { elapsedMs, pause } = deps.signingTime ?? realTime;
  const { version: sealedVersion, sealed } = deps.seal.encrypt(Buffer.from(JSON.stringify(own)));
  const id = randomUUID();
  const row = { id, verb, accountId, swapId, leg, sealed, sealedVersion };
  await insertAskedRow(deps.db, { ...row, at: new Date(deps.now()) });
  const until = elapsedMs() + apartPatienceMs;
  let answer: Answer | null = null;
  while (answer === null && elapsedMs() < until && !signal.aborted) {
    await pause(apartPollMs, signal).catch(() => {});
    answer = await answerOf<Answer>(deps.db, id);
  }
  if (answer === null && (await answerRow(deps.db, id, { fault: true }))) {
    throw tooBusy(verb, chain, null);
  }
  answer ??= await answerOf<Answer>(deps.db, id);
  if (answer !== null && 'txid' in answer) return { relayed: true, txid: answer.txid };
  if (answer === null || 'fault' in answer) throw new Error('the watchtower failed to answer');
  const { code, sentence, facts } = answer;
  throw new ParleyError(code as ParleyError['code'], sentence, facts);
}

/** Answers what waits. Returns how many there were. */
export async function answerAsked(deps: Parts, signal: AbortSignal): Promise<number> {
  const since = new Date(deps.now() - apartPatienceMs);
  const chains = [...deps.gas.keys()];
  const rows = await waitingRows(deps.db, { chains, since, limit: lanes });
  await inParallel(rows, lanes, (row) => answerOne(deps, row, signal));
  return rows.length;
}

/** Says which chains it has keys of; what was asked long ago is forgotten. */
export async function tellPosts(deps: Parts): Promise<void> {
  const now = deps.now();
  for (const [chain, { account, fundings }] of deps.gas) {
    const post = { chain, address: account.address, funds: fundings.cap > 0n };
    await notePost(deps.db, post, new Date(now));
  }
  await forgetRows(deps.db, new Date(now - askedKeptSeconds * 1_000));
}

async function answerOne(deps: Parts, row: AskedRow, stop: AbortSignal): Promise<void> {
  const { limit } = deps.signingTime ?? realTime;
  const { id, accountId, swapId, leg } = row;
  const plain = deps.seal.decrypt(row.sealedVersion, row.sealed);
  const asking: Asking = {
    ...{ accountId, swapId, leg, signal: AbortSignal.any([stop, limit(apartPatienceMs)]) },
    // The server has asked that.
    admit: async () => {},
    keep: async (tx: Tx, { txid }: Relayed) => {
      if (!(await answerRow(tx, id, { txid }))) throw new TakenBack();
    },
  };
  try {
    if (plain === null) throw new Error('what was asked cannot be opened');
    const own = JSON.parse(plain.toString());
    const relay = row.verb === 'claim' ? relayClaim : relayFunding;
    const { txid } = await relay(deps, { ...asking, ...own });
    await answerRow(deps.db, id, { txid });
  } catch (error) {
    if (error instanceof TakenBack) return;
    const known = error instanceof ParleyError ? error : null;
    if (known === null) deps.log.error({ fault: (error as Error).name }, 'a relay failed');
    const { code, message: sentence, facts } = known ?? {};
    await answerRow(deps.db, id, known === null ? { fault: true } : { code, sentence, facts });
  }
}

class TakenBack extends Error {}
