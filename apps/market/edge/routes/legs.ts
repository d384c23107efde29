// The transactions that a party of a leg signs: its funding, claim and refund, built, or sent by
// the market; claims and refunds signed beforehand; and sending what was signed.

import { mustBeRate } from '@parley/chains/bitcoin/spending.ts';
import type { Signed, SignedPsbt } from '@parley/chains/interface/material.ts';
import type { ScheduledVerb } from '@parley/chains/interface/scheduled.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { parseSecret } from '@parley/core/hashlock.ts';
import type { Asking, Desk, Relayed } from '@parley/watchtower/port.ts';
import type { FastifyInstance } from 'fastify';
import { partyOf } from '../../db/swaps.ts';
import type { Deps } from '../../ports/deps.ts';
import { broadcast } from '../../settle/broadcast.ts';
import * as builders from '../../settle/builders.ts';
import { keepCosigning, prepareCosigning } from '../../settle/cosigning.ts';
import { openLane } from '../../settle/own-lane.ts';
import { keepRelease, prepareRelease } from '../../settle/releases.ts';
import {
  prepareSchedule,
  type ScheduleRequest,
  storeSchedule,
} from '../../settle/scheduled-spends.ts';
import { handOut, takeSignature } from '../../settle/signed-funding.ts';
import { createFreshness } from '../../settle/take-up.ts';
import { swapView } from '../../settle/view.ts';
import { limited } from '../budgets.ts';
import { command } from '../command.ts';
import { HttpError } from '../errors.ts';
import { broadcasts } from '../reserve.ts';
import * as shapes from '../schemas/material.ts';
import { swapReply } from '../schemas/swap.ts';

const tag = 'swaps';

export function registerLegs(app: FastifyInstance, deps: Deps): void {
  buildFunding(app, deps);
  buildSpending(app, deps);
  openLaneOf(app, deps);
  releaseLeg(app, deps);
  cosign(app, deps);
  scheduleSpends(app, deps);
}

function buildFunding(app: FastifyInstance, deps: Deps): void {
  command({ app, deps, tag }, 'POST /v1/swaps/:id/legs/:leg/fund', 'buildFund', {
    about:
      'Unsigned funding of your leg, or its sending by your signature (`relay`). Ways to fund: ' +
      'docs/funding.md.',
    params: shapes.legParams,
    query: shapes.fundQuery,
    body: shapes.fundBody,
    replies: { 200: shapes.fundReply },
    // Asked to relay again it answers the one there is.
    anew: true,
    lasts: true,
    before: async (input) => {
      const request = buildRequest(input);
      const signed = signedIn(input.body);
      if (signed !== null) {
        const asked = { ...request, ...signed };
        await takeSignature(deps, asked);
        const relay = await relayed(app, deps, request, (desk, more) =>
          desk.fund({ ...asked, ...more }),
        );
        return { relay };
      }
      const { allowance = 'exact', sign } = input.query;
      const isSent = (await deps.watchtower?.fundsBySignature()) ?? (() => false);
      const built = await builders.buildFund(deps, {
        ...request,
        allowance,
        authorizes: sign === 'authorization',
        relays: (leg, token) => isSent({ ...leg, token }),
      });
      return { relay: null, built };
    },
    run: async (tx, { params, prepared }) => {
      if (prepared.relay !== null) return { status: 200, body: prepared.relay };
      const { built } = prepared;
      const about = { swapId: params.id, leg: params.leg, escrow: built.escrow };
      await handOut(tx, deps, about, builders.authorizesFunding(built));
      return { status: 200, body: built };
    },
    // A stored funding whose escrow has moved since would send money to the former one.
    replay: async (tx, { params, body, reply }) => {
      if (body.relay) return;
      const { escrow } = reply.body as builders.Built;
      await builders.mustStillBe(tx, { swapId: params.id, leg: params.leg, escrow });
      mustStillLive(deps, reply);
    },
  });
}

/** The signed part to be sent; null: a funding is to be built. */
function signedIn({ relay = false, signature, escrow }: FundBody) {
  if (relay && signature !== undefined && escrow !== undefined) return { signature, escrow };
  if (!relay && signature === undefined && escrow === undefined) return null;
  throw new HttpError(
    'bad_field',
    '`relay`, `signature` and `escrow` go together, or none is given',
  );
}
type FundBody = {
  readonly relay?: boolean;
  readonly signature?: string;
  readonly escrow?: string;
};

function buildSpending(app: FastifyInstance, deps: Deps): void {
  const place = { app, deps, tag };
  command(place, 'POST /v1/swaps/:id/legs/:leg/claim', 'buildClaim', {
    about:
      'Unsigned claim of the leg that pays you, or its sending (`relay`). It reveals the secret: ' +
      'check the other leg first (docs/dont-trust-verify.md).',
    params: shapes.legParams,
    query: shapes.buildQuery,
    body: shapes.claimBody,
    replies: { 200: shapes.claimReply },
    secret: true,
    anew: true,
    lasts: true,
    before: async (input) => {
      const request = { ...buildRequest(input), secret: input.body.secret };
      await builders.hearSecret(deps, request);
      if (!input.body.relay) return builders.buildClaim(deps, request);
      return relayed(app, deps, request, (desk, more) => desk.claim({ ...request, ...more }));
    },
    run: async (_tx, { prepared }) => ({ status: 200, body: prepared }),
    replay: async (_tx, { reply, body }) => {
      if (!body.relay) mustStillLive(deps, reply);
    },
  });

  command(place, 'POST /v1/swaps/:id/legs/:leg/claim/announce', 'announceClaim', {
    about:
      'Say, before you show the secret elsewhere, that you claim: the leg is not given up from ' +
      'then on. It is refused where another device has given it up: docs/lifecycle.md.',
    params: shapes.legParams,
    replies: { 200: swapReply },
    anew: true,
    run: async (tx, { caller: { accountId }, params }) => {
      const asked = { accountId, swapId: params.id, leg: params.leg };
      const { swap, party } = await builders.announceClaim(tx, deps, asked);
      return { status: 200, body: { swap: swapView(swap, party, deps.now()) } };
    },
  });

  command(place, 'POST /v1/swaps/:id/legs/:leg/refund', 'buildRefund', {
    about: 'Unsigned refund of your leg after its timelock, or of an escrow that it moved off.',
    params: shapes.legParams,
    query: shapes.refundQuery,
    replies: { 200: shapes.material },
    anew: true,
    before: (input) =>
      builders.buildRefund(deps, { ...buildRequest(input), escrow: input.query.escrow ?? null }),
    run: async (_tx, { prepared }) => ({ status: 200, body: prepared }),
    replay: async (_tx, { reply }) => mustStillLive(deps, reply),
  });
}

function openLaneOf(app: FastifyInstance, deps: Deps): void {
  command({ app, deps, tag }, 'POST /v1/swaps/:id/legs/:leg/lane', 'openLane', {
    about:
      'Sign for your lane, in which the leg that pays you is to be funded: its funder pays less ' +
      'gas there (docs/funding.md).',
    params: shapes.legParams,
    body: shapes.laneBody,
    replies: { 200: shapes.laneReply },
    run: async (tx, { caller: { accountId }, params, body }) => {
      const { signature, escrow } = body;
      if ((signature === undefined) !== (escrow === undefined)) {
        throw new HttpError('bad_field', '`signature` and `escrow` go together');
      }
      const given = signature === undefined || escrow === undefined ? null : { signature, escrow };
      const asked = { accountId, swapId: params.id, leg: params.leg, given };
      const { swap, material } = await openLane(tx, deps, asked);
      const party = partyOf(swap, accountId) ?? 'maker';
      return { status: 200, body: { swap: swapView(swap, party, deps.now()), material } };
    },
  });
}

function releaseLeg(app: FastifyInstance, deps: Deps): void {
  command({ app, deps, tag }, 'POST /v1/swaps/:id/legs/:leg/release', 'releaseLeg', {
    about:
      'Give the swap up: release the leg that would pay you, so that its funder has it back at ' +
      'once. It cannot be taken back: docs/lifecycle.md.',
    params: shapes.legParams,
    body: shapes.releaseBody,
    replies: { 200: shapes.releaseReply },
    before: ({ caller: { accountId }, params, body: { signature = null }, signal }) =>
      prepareRelease(deps, { accountId, swapId: params.id, leg: params.leg, signature, signal }),
    run: async (tx, { caller: { accountId }, params, prepared }) => {
      const swap = await keepRelease(tx, deps, params.id, prepared);
      const party = partyOf(swap, accountId) ?? 'maker';
      const body = { swap: swapView(swap, party, deps.now()), material: prepared.material };
      return { status: 200, body };
    },
    replay: async (_tx, { reply }) => {
      const { material } = reply.body as Awaited<ReturnType<typeof prepareRelease>>;
      if (material !== null) builders.mustLive(material, Math.floor(deps.now() / 1_000));
    },
  });
}

function cosign(app: FastifyInstance, deps: Deps): void {
  const { processorTime, reserve } = app.edge;
  command({ app, deps, tag }, 'POST /v1/swaps/:id/legs/:leg/cosign', 'cosign', {
    about:
      'Taproot: sign a claim or refund with the other side. The side that it pays asks, and the ' +
      'other one answers: docs/chains.md#spends-that-both-sides-sign.',
    params: shapes.legParams,
    body: shapes.cosignBody,
    replies: { 200: shapes.cosignReply },
    anew: true,
    before: ({ caller: { accountId }, client, params: { id, leg }, body, signal }) => {
      const isParty = () => reserve(accountId, id.toLowerCase(), client);
      const inTurns = processorTime.meter({ accountId, client, isParty });
      return prepareCosigning(deps, { accountId, swapId: id, leg, body, inTurns, signal });
    },
    run: async (tx, { params, prepared }) => {
      const exchange = await keepCosigning(tx, deps, params.id, prepared);
      return { status: 200, body: { exchange } };
    },
  });
}

/** An accepted relay costs nothing of the account's budget; a refused one does. */
async function relayed(
  app: FastifyInstance,
  { watchtower }: Deps,
  { accountId }: builders.BuildRequest,
  send: (desk: Desk, more: Pick<Asking, 'admit'>) => Promise<Relayed>,
): Promise<Relayed> {
  if (watchtower === undefined) {
    throw new ParleyError('relay_unavailable', 'this market has no gas key: send it yourself', {});
  }
  const { budgets } = app.edge;
  let wasAdmitted = false as boolean;
  const admit = async () => {
    await budgets.charge('relays', accountId);
    wasAdmitted = true;
  };
  const sent = await send(watchtower, { admit });
  // It is taken on: a later failure must not be the answer.
  const giveBack = async () => wasAdmitted && (await budgets.giveBack('relays', accountId));
  await giveBack().catch(() => {});
  return sent;
}

function mustStillLive(deps: Deps, reply: { readonly body: unknown }): void {
  builders.mustLive(reply.body as builders.Built, Math.floor(deps.now() / 1_000));
}

function buildRequest(input: {
  caller: { accountId: string };
  params: { id: string; leg: string };
  query: { feeRate?: number };
  signal: AbortSignal;
}): builders.BuildRequest {
  const { caller, params, query, signal } = input;
  const { feeRate = null } = query;
  if (feeRate !== null) mustBeRate(feeRate);
  const { accountId } = caller;
  return { accountId, swapId: params.id, leg: params.leg, feeRateSatPerVbyte: feeRate, signal };
}

/**
 * To check signed spends takes more of a core than anything else that a request can ask for, so it
 * has a budget of its own and one of an account is under way at a time.
 */
function scheduleSpends(app: FastifyInstance, deps: Deps): void {
  const { budgets, processorTime, reserve } = app.edge;
  const busy = new Set<string>();
  const place = { app, deps, tag };
  type Asked = Pick<ScheduleRequest, 'accountId' | 'transactions' | 'escrow' | 'signal'> & {
    readonly client: string;
    readonly params: { readonly id: string; readonly leg: string };
  };
  const prepare = async (verb: ScheduledVerb, { params, client, ...asked }: Asked) => {
    const { accountId } = asked;
    if (busy.has(accountId)) throw underWay();
    busy.add(accountId);
    try {
      await budgets.charge('schedules', accountId);
      const { id: swapId, leg } = params;
      const isParty = () => reserve(accountId, swapId.toLowerCase(), client);
      const inTurns = processorTime.meter({ accountId, client, isParty });
      return await prepareSchedule(deps, { ...asked, verb, swapId, leg, inTurns });
    } finally {
      busy.delete(accountId);
    }
  };
  command(place, 'POST /v1/swaps/:id/legs/:leg/refund/scheduled', 'scheduleRefunds', {
    about:
      'Bitcoin: signed refunds of your leg at rising fees. They are kept, and sent when they are ' +
      'due: docs/bitcoin-fees.md.',
    params: shapes.legParams,
    body: shapes.scheduleBody,
    replies: { 200: shapes.scheduleReply },
    anew: true,
    before: async ({ caller: { accountId }, client, params, body, signal }) => {
      const { transactions, escrow = null } = body;
      return prepare('refund', { accountId, client, params, transactions, escrow, signal });
    },
    run: async (tx, { params, prepared }) => {
      const scheduledRefunds = await storeSchedule(tx, deps, params.id, prepared);
      return { status: 200, body: { scheduledRefunds } };
    },
  });
  command(place, 'POST /v1/swaps/:id/legs/:leg/claim/scheduled', 'scheduleClaims', {
    about:
      'Bitcoin: signed claims of the leg that pays you, at rising fees and without the secret. ' +
      'They are kept, and sent once it is public: docs/bitcoin-fees.md.',
    params: shapes.legParams,
    body: shapes.scheduleClaimsBody,
    replies: { 200: shapes.scheduleClaimsReply },
    anew: true,
    before: async ({ caller: { accountId }, client, params, body, signal }) => {
      const { transactions } = body;
      return prepare('claim', { accountId, client, params, transactions, escrow: null, signal });
    },
    run: async (tx, { params, prepared }) => {
      const scheduledClaims = await storeSchedule(tx, deps, params.id, prepared);
      return { status: 200, body: { scheduledClaims } };
    },
  });
}

function underWay(): HttpError {
  const sentence =
    'signed spends of this account are being checked, 1 request at a time; try again in 1 s';
  return limited('schedule_rate_limited', sentence, 1);
}

export function registerTx(app: FastifyInstance, deps: Deps): void {
  const fresh = createFreshness(deps);
  command({ app, deps, tag: 'transactions' }, 'POST /v1/tx/broadcast', 'broadcast', {
    about:
      'Send a signed transaction. It passes the same gates as its building; on 504 the header ' +
      'names the txid to look up.',
    body: shapes.broadcastBody,
    replies: { 200: shapes.broadcastReply },
    // A claim carries the swap's secret, and a node's refusal may quote what it was sent.
    secret: true,
    // Sent outside the transaction: the same bytes give the same txid however often.
    anew: true,
    before: ({ body, caller: { accountId }, client, signal }) => {
      const { processorTime, reserve } = app.edge;
      const isParty = () => reserve(accountId, broadcasts, client);
      const inTurns = processorTime.meter({ accountId, client, isParty });
      const { chain, signed } = body;
      return broadcast(deps, fresh, { chain, signed: signedOf(signed), inTurns, signal });
    },
    run: async (_tx, { prepared }) => ({ status: 200, body: prepared }),
  });
}

type Given =
  | string
  | { psbtBase64: string; signaturesHex: string[]; preimageHex?: string }
  | { psbtBase64: string; signatureHex: string; preimageHex?: string }
  | { raw_data_hex: string; signature: string[]; txID?: string };

function signedOf(signed: Given): Signed {
  if (typeof signed === 'string' || 'raw_data_hex' in signed) return signed;
  const { psbtBase64, preimageHex } = signed;
  const signaturesHex = 'signatureHex' in signed ? [signed.signatureHex] : signed.signaturesHex;
  const psbt: SignedPsbt = { psbtBase64, signaturesHex };
  if (preimageHex === undefined) return psbt;
  return { ...psbt, preimageHex: parseSecret(preimageHex, 'preimageHex') };
}
