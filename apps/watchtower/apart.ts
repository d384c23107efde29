// A watchtower in a process of its own, and the desk of a server that has no gas key. A request
// is a sealed row, and its answer is written in the transaction that keeps what was signed. A
// server that gives up waiting deletes the row, so nothing is signed for it any more.

import { randomUUID } from 'node:crypto';
import { type Fact, ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import {
  apartPatienceMs,
  apartPollMs,
  lanes,
  lanesOfAccount,
  pauseMs,
  postSeconds,
  tellEveryMs,
} from './bounds.ts';
import * as asked from './db/asked.ts';
import type { AskedLeg, Asking, Desk, Gas, Loop, Parts, Relayed } from './port.ts';
import {
  type AskedVerb,
  ableOf,
  relayedBefore,
  unanswered,
  unavailable,
  unclaimable,
  unfundable,
} from './relay.ts';
import { realTime } from './step.ts';

type Answer =
  | { readonly txid: string }
  | {
      readonly code: string;
      readonly sentence: string;
      readonly facts: Readonly<Record<string, Fact>>;
    }
  | { readonly fault: true };

type Own = { readonly secret: string } | { readonly signature: string; readonly escrow: string };
type ServerParts = Pick<Parts, 'db' | 'market' | 'seal' | 'signingTime'>;

/** For a server: it knows which chains have a key by what watchtowers say of themselves. */
export function apartDesk(deps: ServerParts): Desk {
  const posts = async () => new Set(await asked.posts(deps.db, postSeconds));
  return {
    claim: async (asking) => {
      const leg = await deps.market.claimAsked(asking);
      const before = await takenOn(deps, leg, 'claim');
      if (before !== null) return before;
      const why = unclaimable(await posts(), leg);
      if (why !== null) throw unavailable('claim', why, { chain: leg.chain });
      return ask(deps, asking, leg, 'claim', { secret: asking.secret });
    },
    fund: async (asking) => {
      const leg = await deps.market.fundAsked(asking);
      const before = await takenOn(deps, { ...leg, escrow: asking.escrow }, 'fund');
      if (before !== null) return before;
      const why = unfundable(await posts(), leg);
      if (why !== null) throw unavailable('fund', why, { chain: leg.chain });
      const { signature, escrow } = asking;
      return ask(deps, asking, leg, 'fund', { signature, escrow });
    },
    fundsBySignature: async () => {
      const chains = await posts();
      return (leg) => unfundable(chains, leg) === null;
    },
    claimsOn: posts,
  };
}

/** A request that was taken on is answered, whether or not a watchtower is there now. */
async function takenOn(
  { db }: Pick<Parts, 'db'>,
  { chain, escrow }: Pick<AskedLeg, 'chain' | 'escrow'>,
  verb: AskedVerb,
): Promise<Relayed | null> {
  return escrow ? relayedBefore(db, { chain, verb, escrow }) : null;
}

async function ask(
  { db, market, seal, signingTime = realTime }: ServerParts,
  { accountId, admit, signal }: Asking,
  { swapId, leg, chain }: Pick<AskedLeg, 'swapId' | 'leg' | 'chain'>,
  verb: AskedVerb,
  own: Own,
): Promise<Relayed> {
  await admit();
  const { version: sealedVersion, sealed } = seal.encrypt(Buffer.from(JSON.stringify(own)));
  const id = randomUUID();
  let kept: asked.StoredAnswer | null = null;
  try {
    await db.transaction(async (tx) => {
      await asked.insertRow(tx, { id, verb, accountId, swapId, leg, sealed, sealedVersion });
      await market.ringWatchtower(tx);
    });
    const until = signingTime.elapsedMs() + apartPatienceMs;
    const isOver = () => signingTime.elapsedMs() >= until || signal.aborted;
    while (!isOver() && !(await asked.isAnswered(db, id).catch(() => false))) {
      await signingTime.pause(apartPollMs, signal).catch(() => {});
    }
  } finally {
    // The sealed row does not outlive the wait, however that ended.
    kept = await asked.takeBack(db, id).catch(() => asked.takeBack(db, id));
  }
  if (kept === null) throw unanswered(chain);
  const answer = openAnswer({ seal }, kept);
  // By a key that this server does not have yet.
  if (answer === null) throw unanswered(chain);
  if ('txid' in answer) return { relayed: true, txid: answer.txid };
  if ('fault' in answer) throw new Error('the watchtower failed to answer');
  const { code, sentence, facts } = answer;
  throw new ParleyError(code as ParleyError['code'], sentence, facts);
}

/** A refusal of a chain may quote what was to be sent; the id of a transaction is public. */
function sealAnswer({ seal }: Pick<Parts, 'seal'>, answer: Answer): asked.StoredAnswer {
  if ('txid' in answer) return answer;
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
  const { version, sealed } = seal.encrypt(Buffer.from(JSON.stringify(answer, plain)));
  return { version, sealed: sealed.toString('base64') };
}

function openAnswer({ seal }: Pick<Parts, 'seal'>, kept: asked.StoredAnswer): Answer | null {
  if ('txid' in kept) return kept;
  const plain = seal.decrypt(kept.version, Buffer.from(kept.sealed, 'base64'));
  return plain === null ? null : JSON.parse(plain.toString());
}

type InHand = {
  readonly chain: ChainKey;
  readonly accountId: string;
  readonly done: Promise<void>;
};

/** Answers what servers ask, of each chain a few at once: one that hangs holds up no other. */
export function createAnswering(deps: Parts, desk: Desk): Loop {
  const inHand = new Map<string, InHand>();
  const chains = [...deps.gas.keys()];
  const { elapsedMs } = deps.signingTime ?? realTime;
  let toldAtMs = -Infinity;
  const loop = deps.loop({
    name: 'watchtower answers',
    everyMs: pauseMs,
    isBump: true,
    pass: async (stop) => {
      if (elapsedMs() - toldAtMs >= tellEveryMs) {
        await tellPosts(deps);
        toldAtMs = elapsedMs();
      }
      const most = { each: lanes, ofAccount: lanesOfAccount };
      const of = { chains, patienceMs: apartPatienceMs, ...most, except: [...inHand.keys()] };
      for (const row of await asked.waitingRows(deps.db, of)) {
        const { id, chain, accountId } = row;
        const all = [...inHand.values()].filter((each) => each.chain === chain);
        const own = all.filter((each) => each.accountId === accountId);
        if (all.length >= lanes || own.length >= lanesOfAccount) continue;
        const done = answerOne(deps, desk, row, stop).finally(() => {
          inHand.delete(id);
          loop.ring();
        });
        inHand.set(id, { chain, accountId, done });
      }
      return undefined;
    },
  });
  return {
    ...loop,
    stop: async () => {
      await loop.stop();
      await Promise.all([...inHand.values()].map(({ done }) => done));
    },
  };
}

/** Says on which chains it sends. */
export async function tellPosts({ db, gas }: Pick<Parts, 'db' | 'gas'>): Promise<void> {
  for (const chain of ableOf(gas)) {
    const { address } = (gas.get(chain) as Gas).account;
    await asked.notePost(db, { chain, address });
  }
  await asked.forgetRows(db);
}

class TakenBack extends Error {}

/** Does not throw. A request that a stop ends is another's to answer. */
async function answerOne(
  deps: Parts,
  desk: Desk,
  row: asked.AskedRow,
  stop: AbortSignal,
): Promise<void> {
  const { limit } = deps.signingTime ?? realTime;
  const { id, accountId, swapId, leg } = row;
  const plain = deps.seal.decrypt(row.sealedVersion, row.sealed);
  const asking: Asking = {
    accountId,
    swapId,
    leg,
    signal: AbortSignal.any([stop, limit(apartPatienceMs)]),
    // The server has asked that.
    admit: async () => {},
    keep: async (tx, { txid }) => {
      if (!(await asked.answerRow(tx, id, sealAnswer(deps, { txid })))) throw new TakenBack();
    },
  };
  try {
    if (plain === null) throw new Error('the question cannot be opened');
    const own = JSON.parse(plain.toString());
    const { txid } = await desk[row.verb]({ ...asking, ...own });
    await asked.answerRow(deps.db, id, sealAnswer(deps, { txid }));
  } catch (error) {
    if (stop.aborted || error instanceof TakenBack) return;
    const known = error instanceof ParleyError ? error : null;
    if (known === null) deps.log.error({ fault: (error as Error).name }, 'a relay failed');
    const answer: Answer =
      known === null
        ? { fault: true }
        : { code: known.code, sentence: known.message, facts: known.facts };
    await asked.answerRow(deps.db, id, sealAnswer(deps, answer)).catch(() => {});
  }
}
