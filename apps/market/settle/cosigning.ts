// A claim or refund of a Taproot escrow that both sides sign: the side that it pays asks, and the
// other one answers. The market passes both on, once its gates let it and what was given fits. It
// sees no secret nonce and sends nothing: the asking side does.

import { createHash } from 'node:crypto';
import type { CosignAnswer, CosignRequest } from '@parley/chains/interface/cosigning.ts';
import type { InTurns } from '@parley/chains/interface/turns.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { answerGate, askGate, mustFund, mustReceive } from '@parley/core/gates.ts';
import { isTaproot } from '@parley/core/release.ts';
import type { LegName } from '@parley/core/trade.ts';
import {
  type Cosigning,
  cosigningsOf,
  putAnswer,
  putRequest,
  type WiredRequest,
} from '../db/cosigning.ts';
import type { Tx } from '../db/database.ts';
import { storeRelease } from '../db/legs.ts';
import { insertOutbox } from '../db/outbox.ts';
import { lockSwap, type Swap, touchSwap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { legNamed, swapOfCaller } from './access.ts';
import { planned } from './builders.ts';
import { type Live, readBothLegs, readForClaim, sourcesAgree } from './live.ts';
import { adapterOf } from './preview.ts';
import { stateNow } from './releases.ts';

/** Requests for one verb of a leg, ever: fees may rise while the other side is away. */
export const mostRequests = 20;

type CosignBody = {
  readonly request?: WiredRequest;
  readonly answer?: CosignAnswer & { readonly id: string };
};

type Asked = {
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  readonly body: CosignBody;
  readonly inTurns: InTurns;
  readonly signal: AbortSignal;
};

type Given = {
  readonly id: string;
  readonly verb: CosignRequest['verb'];
  /** null: the request is new. */
  readonly answer: CosignAnswer | null;
  readonly request: WiredRequest;
  readonly live: Live;
};

/** `given` null: only what there is is asked for. */
type Prepared = { readonly name: LegName; readonly given: Given | null };

/** Reads the chains, and checks what is given. */
export async function prepareCosigning(deps: Deps, asked: Asked): Promise<Prepared> {
  const { body, swapId, signal, inTurns } = asked;
  const { swap, party } = await swapOfCaller(deps.db, swapId, asked.accountId);
  const leg = legNamed(swap, asked.leg);
  const { leg: name, chain } = leg;
  if (!isTaproot(leg)) {
    const sentence = `leg ${name} is no Taproot escrow: only such a one has the key of both sides`;
    throw new ParleyError('bad_field', sentence, { leg: name, chain });
  }
  const { answer = null } = body;
  if (answer !== null && body.request !== undefined) {
    throw new ParleyError('bad_field', 'give a `request` or an `answer`, not both');
  }
  const rows = await cosigningsOf(deps.db, { swapId: swap.id, leg: name });
  const request = answer === null ? body.request : current(rows, name, answer.id).request;
  if (request === undefined) return { name, given: null };
  const { verb } = request;
  const isPayees = (verb === 'claim') === (answer === null);
  (isPayees ? mustReceive : mustFund)(swap.state.legs[name], party);
  const escrow = planned(swap, name);
  if (request.escrow !== escrow.address) throw moved(name, request.escrow, escrow.address);
  const live = await (verb === 'claim'
    ? readForClaim(deps, swap, name, signal)
    : readBothLegs(deps, swap, signal));
  const { checkRequest, checkAnswer } = adapterOf(deps, chain);
  if (checkRequest === undefined || checkAnswer === undefined) {
    throw new ParleyError('bad_chain', `on ${chain} nothing is signed by both sides`, { chain });
  }
  const read = requestOf(request);
  if (answer === null) {
    askGate(live.state, name, verb);
    const input = { escrow, isPublic: live.state.secret !== null };
    await within(signal, chain, checkRequest(input, read, inTurns, signal));
    const id = idOf(request);
    return { name, given: { id, verb, answer, request, live } };
  }
  answerGate(live.state, name, verb, live.clocks);
  // The own leg of the side that gives its claim up is back by what these chains show.
  if (verb === 'refund' && leg.long) await sourcesAgree(deps, swap, signal);
  const { id, nonces, signatures } = answer;
  const exchange = { request: read, answer: { nonces, signatures } };
  await checkAnswer(escrow.terms, exchange, inTurns, signal);
  return { name, given: { id, verb, answer: exchange.answer, request, live } };
}

/** Throws `nothing_there` where another one is in its place, or none. */
function current(rows: readonly Cosigning[], leg: LegName, id: string): Cosigning {
  const found = rows.find((each) => each.id === id);
  if (found !== undefined) return found;
  const sentence = `leg ${leg} has no request ${id} now: read the newest one, and answer that`;
  throw new ParleyError('nothing_there', sentence, { leg });
}

function moved(leg: LegName, was: string, is: string | null): ParleyError {
  return new ParleyError('escrow_moved', `the escrow of leg ${leg} is ${is}, not ${was}`, { leg });
}

const requestOf = ({ verb, outputs, feeSats, paysTo, nonces }: WiredRequest): CosignRequest => ({
  verb,
  outputs: outputs.map((each) => ({ ...each, amount: BigInt(each.amount) })),
  feeSats: BigInt(feeSats),
  paysTo,
  nonces,
});

/** The fields in the order in which they are stored here. */
function plain({ escrow, verb, outputs, feeSats, paysTo, nonces }: WiredRequest): WiredRequest {
  const each = outputs.map(({ txid, vout, amount }) => ({ txid, vout, amount }));
  return { escrow, verb, outputs: each, feeSats, paysTo, nonces };
}

const idOf = (request: WiredRequest) =>
  createHash('sha256')
    .update(JSON.stringify(plain(request)))
    .digest('hex');

/** Stores it, and tells both sides of what is new. */
export async function keepCosigning(
  tx: Tx,
  deps: Deps,
  swapId: string,
  { name: leg, given }: Prepared,
): Promise<Exchanges> {
  if (given === null) return exchangesOf(tx, swapId, leg);
  const { id, verb, answer, request, live } = given;
  const at = new Date(deps.now());
  const swap = (await lockSwap(tx, swapId)) as Swap;
  const { escrow } = swap.state.legs[leg];
  if (escrow !== request.escrow) throw moved(leg, request.escrow, escrow);
  const before = await cosigningsOf(tx, { swapId, leg });
  const former = before.find((each) => each.request.verb === verb);
  // A wish, a secret or a claim that came meanwhile is known by now.
  const state = stateNow(swap, live);
  if (answer === null) {
    askGate(state, leg, verb);
    if (former?.id === id) return exchangesOf(tx, swapId, leg);
    if ((former?.requests ?? 0) >= mostRequests) throw tooMany(leg, verb);
    await putRequest(tx, { swapId, leg, id, request: plain(request), at });
  } else {
    answerGate(state, leg, verb, live.clocks);
    if (current(before, leg, id).answer !== null) return exchangesOf(tx, swapId, leg);
    await putAnswer(tx, { swapId, leg, id, answer, at });
    if (verb === 'refund') {
      const seconds = Math.floor(at.getTime() / 1_000);
      await storeRelease(tx, { swapId, leg, at: seconds, isGiven: true, signature: null });
    }
  }
  await touchSwap(tx, swapId, at);
  const payload = { swapId: swap.id, status: swap.status, leg, verb, answered: answer !== null };
  await insertOutbox(
    tx,
    [swap.makerId, swap.takerId].map((accountId) => ({
      topic: 'swap.cosign' as const,
      accountId,
      payload,
      at,
    })),
  );
  return exchangesOf(tx, swapId, leg);
}

function tooMany(leg: LegName, verb: string): ParleyError {
  const sentence = `the ${verb} of leg ${leg} was asked for ${mostRequests} times: sign it alone`;
  return new ParleyError('too_many_open', sentence, { leg, most: mostRequests });
}

type Exchanges = Readonly<Record<CosignRequest['verb'], ReturnType<typeof exchangeOf> | null>>;

async function exchangesOf(tx: Tx, swapId: string, leg: LegName): Promise<Exchanges> {
  const rows = await cosigningsOf(tx, { swapId, leg });
  const of = (verb: CosignRequest['verb']) => {
    const row = rows.find(({ request }) => request.verb === verb);
    return row === undefined ? null : exchangeOf(row);
  };
  return { claim: of('claim'), refund: of('refund') };
}

function exchangeOf({ id, request, askedAt, answer, answeredAt }: Cosigning) {
  const answered = answer && { ...answer, at: answeredAt?.toISOString() };
  return { id, ...plain(request), at: askedAt.toISOString(), answer: answered };
}
