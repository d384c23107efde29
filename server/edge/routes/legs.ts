// What a party of a leg signs: its funding, claim and refund, built, or sent by the market; and
// refunds signed beforehand.

import type { FastifyInstance } from 'fastify';
import { mustBeRate } from '../../../chains/bitcoin/spending.ts';
import { swapById } from '../../db/swaps.ts';
import { endRelay } from '../../keeper/asked.ts';
import { prepareFundRelay, relaysFundings, storeFundRelay } from '../../keeper/fund-relay.ts';
import { prepareRelay, storeRelay } from '../../keeper/relay.ts';
import type { Deps } from '../../ports/deps.ts';
import * as builders from '../../settle/builders.ts';
import { prepareSchedule, storeSchedule } from '../../settle/scheduled-refunds.ts';
import { pinLeg, takeSignature } from '../../settle/signed-funding.ts';
import { limited } from '../budgets.ts';
import { command } from '../command.ts';
import { HttpError } from '../errors.ts';
import * as shapes from '../schemas/material.ts';

const tag = 'swaps';

export function registerLegs(app: FastifyInstance, deps: Deps): void {
  buildFunding(app, deps);
  buildSpending(app, deps);
  scheduleRefunds(app, deps);
}

function buildFunding(app: FastifyInstance, deps: Deps): void {
  const relays = relaysOf(app, deps);
  command({ app, deps, tag }, 'POST /v1/swaps/:id/legs/:leg/fund', 'buildFund', {
    about:
      'Unsigned funding of your leg, or its sending by your signature (`relay`). Ways to fund: ' +
      'docs/funding.md.',
    params: shapes.legParams,
    query: shapes.fundQuery,
    body: shapes.fundBody,
    replies: { 200: shapes.fundReply },
    ...relays,
    before: async (input) => {
      const request = buildRequest(input);
      const { accountId } = request;
      const signed = signedIn(input.body);
      if (signed !== null) {
        await takeSignature(deps, { ...request, ...signed });
        const admit = () => app.edge.budgets.charge('relays', accountId);
        const relay = await prepareFundRelay(deps, { ...request, ...signed, admit });
        return { relay, accountId };
      }
      const { allowance = 'exact', sign } = input.query;
      const built = await builders.buildFund(deps, {
        ...request,
        allowance,
        authorizes: sign === 'authorization',
        relays: (leg, token) => relaysFundings(deps, leg, token),
      });
      return { relay: null, built, accountId };
    },
    run: async (tx, { params, prepared }) => {
      if (prepared.relay !== null) {
        return { status: 200, body: await storeFundRelay(tx, deps, prepared.relay) };
      }
      const { built } = prepared;
      const about = { swapId: params.id, leg: params.leg, escrow: built.escrow };
      if (builders.authorizesFunding(built)) await pinLeg(tx, deps, about);
      else await builders.mustStillBe(tx, about);
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

/** What is to be sent; null: a funding is to be built. */
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
    ...relaysOf(app, deps),
    before: async (input) => {
      const request = { ...buildRequest(input), secret: input.body.secret };
      const { accountId } = request;
      if (input.body.relay) {
        const admit = () => app.edge.budgets.charge('relays', accountId);
        return { relay: await prepareRelay(deps, { ...request, admit }), accountId };
      }
      return { relay: null, built: await builders.buildClaim(deps, request), accountId };
    },
    run: async (tx, { prepared }) => {
      if (prepared.relay === null) return { status: 200, body: prepared.built };
      return { status: 200, body: await storeRelay(tx, deps, prepared.relay) };
    },
    replay: async (_tx, { reply, body }) => {
      if (!body.relay) mustStillLive(deps, reply);
    },
  });

  command(place, 'POST /v1/swaps/:id/legs/:leg/refund', 'buildRefund', {
    about: 'Unsigned refund of your leg after its timelock, or of an escrow that it moved off.',
    params: shapes.legParams,
    query: shapes.refundQuery,
    replies: { 200: shapes.material },
    withoutRoom: 'anew',
    before: (input) =>
      builders.buildRefund(deps, { ...buildRequest(input), escrow: input.query.escrow ?? null }),
    run: async (_tx, { prepared }) => ({ status: 200, body: prepared }),
    replay: async (_tx, { reply }) => mustStillLive(deps, reply),
  });
}

type Relayed = {
  readonly relay: Parameters<typeof endRelay>[1] | null;
  readonly accountId: string;
};

/** What fundings and claims have in common, either of which the market may send. */
function relaysOf(app: FastifyInstance, deps: Deps) {
  return {
    // Asked to relay again it answers the one there is.
    withoutRoom: 'anew' as const,
    /** What is taken on costs nothing. */
    release: async ({ relay, accountId }: Relayed) => {
      if (relay === null || !(await endRelay(deps, relay))) return;
      await app.edge.budgets.giveBack('relays', accountId);
    },
    /** What was kept is sent at once; the keeper would find it by itself. */
    after: async ({ params: { id, leg }, body }: AskedForLeg) => {
      if (body.relay !== true || deps.keeper === undefined) return;
      const swap = await swapById(deps.db, id);
      if (swap === null || (leg !== 'a' && leg !== 'b')) return;
      deps.keeper.wake(swap.state.legs[leg].chain);
    },
  };
}

type AskedForLeg = {
  readonly params: { readonly id: string; readonly leg: string };
  readonly body: { readonly relay?: boolean };
};

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
 * To check signed refunds takes more of a core than anything else that a request can ask for, so it
 * has a budget of its own and one of an account is under way at a time.
 */
function scheduleRefunds(app: FastifyInstance, deps: Deps): void {
  const { budgets, processorTime, reserve } = app.edge;
  const busy = new Set<string>();
  const at = 'POST /v1/swaps/:id/legs/:leg/refund/scheduled';
  command({ app, deps, tag }, at, 'scheduleRefunds', {
    about:
      'Bitcoin: signed refunds of your leg at rising fees. They are kept, and sent when they are ' +
      'due: docs/bitcoin-fees.md.',
    params: shapes.legParams,
    body: shapes.scheduleBody,
    replies: { 200: shapes.scheduleReply },
    // At most 20 a minute, and they guard what was funded.
    withoutRoom: 'keep',
    before: async ({ caller: { accountId }, client, params, body, signal }) => {
      if (busy.has(accountId)) throw underWay();
      busy.add(accountId);
      try {
        await budgets.charge('schedules', accountId);
        const { transactions, escrow = null } = body;
        const { id: swapId, leg } = params;
        const isParty = () => reserve(accountId, swapId.toLowerCase());
        const inTurns = processorTime.meter({ accountId, client, isParty });
        const request = { accountId, swapId, leg, transactions, escrow, inTurns, signal };
        return await prepareSchedule(deps, request);
      } finally {
        busy.delete(accountId);
      }
    },
    run: async (tx, { params, prepared }) => {
      const scheduledRefunds = await storeSchedule(tx, deps, params.id, prepared);
      return { status: 200, body: { scheduledRefunds } };
    },
  });
}

function underWay(): HttpError {
  const sentence =
    'signed refunds of this account are being checked, 1 request at a time; try again in 1 s';
  return limited('schedule_rate_limited', sentence, 1);
}
