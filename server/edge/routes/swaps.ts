// Swaps: reading them, setting addresses, and building what a party signs.

import type { FastifyInstance } from 'fastify';
import { mustBeRate } from '../../../chains/bitcoin/spending.ts';
import { partyOf, swapById, swapsOfAccount } from '../../db/swaps.ts';
import type { Deps } from '../../deps.ts';
import { endRelay, prepareRelay, storeRelay } from '../../keeper/relay.ts';
import { swapOfCaller } from '../../settle/access.ts';
import { prepareAddress, storeAddress } from '../../settle/addresses.ts';
import {
  type BuildRequest,
  type Built,
  buildClaim,
  buildFund,
  buildRefund,
  mustLive,
  mustStillBe,
} from '../../settle/builders.ts';
import { swapView } from '../../settle/view.ts';
import { createWarnings, type Warnings } from '../../settle/warnings.ts';
import { type Spent, windowSeconds } from '../budgets.ts';
import { command, read } from '../command.ts';
import { cursorSecrets, decodeCursor, encodeCursor } from '../cursor.ts';
import { HttpError } from '../errors.ts';
import { idParams, pageLimit } from '../schemas/common.ts';
import {
  buildQuery,
  claimBody,
  claimReply,
  legParams,
  material,
  refundQuery,
} from '../schemas/material.ts';
import { setAddress, swapPage, swapReply, swapSchema, swapsQuery } from '../schemas/swap.ts';
import { registerScheduled } from './scheduled.ts';

const tags = ['swaps'] as const;

export function registerSwaps(app: FastifyInstance, deps: Deps): void {
  readSwaps(app, deps, createWarnings(deps));
  writeAddress(app, deps);
  buildLegs(app, deps);
  registerScheduled(app, deps);
}

function readSwaps(app: FastifyInstance, deps: Deps, warnings: Warnings): void {
  read(app, deps, {
    url: '/v1/swaps',
    operationId: 'listSwaps',
    summary: 'Your swaps, newest first',
    tags,
    query: swapsQuery,
    replies: { 200: swapPage },
    handle: async ({ caller, query }) => {
      const { accountId } = caller;
      const status = query.status ?? null;
      const filters = { list: 'swaps', accountId, status };
      const secrets = cursorSecrets(deps);
      const [before = null] = query.cursor ? decodeCursor(secrets, filters, query.cursor) : [];
      const limit = query.limit ?? pageLimit.otherwise;
      const found = await swapsOfAccount(deps.db, { accountId, status, before, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = found.length > limit && last !== undefined;
      return {
        swaps: page.map((each) => swapView(each, partyOf(each, accountId) ?? 'maker', deps.now())),
        nextCursor: more ? encodeCursor(secrets, filters, [last.id]) : null,
      };
    },
  });

  read(app, deps, {
    url: '/v1/swaps/:id',
    operationId: 'getSwap',
    summary: 'One of your swaps; the authoritative state',
    tags,
    params: idParams,
    replies: { 200: swapSchema },
    handle: async ({ caller, params }) => {
      const { swap, party } = await swapOfCaller(deps.db, params.id, caller.accountId);
      return swapView(swap, party, deps.now(), await warnings.of(swap));
    },
  });
}

function writeAddress(app: FastifyInstance, deps: Deps): void {
  command(app, deps, {
    method: 'POST',
    url: '/v1/swaps/:id/address',
    operationId: 'setAddress',
    summary:
      'Your address on one chain of the swap: payout where you receive, refund where you fund',
    tags,
    params: idParams,
    body: setAddress,
    replies: { 200: swapReply },
    before: ({ caller, params, body, signal }) =>
      prepareAddress(deps, addressRequest(caller.accountId, params.id, body), signal),
    run: async (tx, { caller, params, body, prepared }) => {
      const request = addressRequest(caller.accountId, params.id, body);
      const swap = await storeAddress(tx, deps, request, prepared);
      return { status: 200, body: { swap: swapView(swap, prepared.party, deps.now()) } };
    },
  });
}

function addressRequest(
  accountId: string,
  swapId: string,
  body: { chain: string; address: string; keySignature?: string },
) {
  const { chain, address, keySignature = null } = body;
  return { accountId, swapId, chain, address, keySignature };
}

function buildLegs(app: FastifyInstance, deps: Deps): void {
  command(app, deps, {
    method: 'POST',
    url: '/v1/swaps/:id/legs/:leg/fund',
    operationId: 'buildFund',
    summary: 'Unsigned funding of your leg',
    tags,
    params: legParams,
    query: buildQuery,
    replies: { 200: material },
    withoutRoom: 'anew',
    before: (input) => buildFund(deps, buildRequest(input)),
    run: async (tx, { params, prepared }) => {
      await mustStillBe(tx, { swapId: params.id, leg: params.leg, escrow: prepared.escrow });
      return { status: 200, body: prepared };
    },
    // A stored funding whose escrow has moved since would send money to the former one.
    replay: async (tx, { params, reply }) => {
      const { escrow } = reply.body as Built;
      await mustStillBe(tx, { swapId: params.id, leg: params.leg, escrow });
      replayOf(deps, reply);
    },
  });

  command(app, deps, {
    method: 'POST',
    url: '/v1/swaps/:id/legs/:leg/claim',
    operationId: 'buildClaim',
    summary:
      'Unsigned claim of the leg that pays you, or its sending (`relay`); it reveals the secret',
    tags,
    params: legParams,
    query: buildQuery,
    body: claimBody,
    replies: { 200: claimReply },
    secret: true,
    // Asked to relay again it tells the one there is.
    withoutRoom: 'anew',
    before: async (input) => {
      const request = { ...buildRequest(input), secret: input.body.secret };
      const { accountId } = request;
      if (input.body.relay) {
        const admit = async () => mayAskRelay(await app.edge.budgets.spendRelay(accountId));
        const relay = await prepareRelay(deps, { ...request, admit });
        return { relay, accountId };
      }
      return { relay: null, built: await buildClaim(deps, request), accountId };
    },
    run: async (tx, { prepared }) => {
      if (prepared.relay === null) return { status: 200, body: prepared.built };
      return { status: 200, body: await storeRelay(tx, deps, prepared.relay) };
    },
    release: async ({ relay, accountId }) => {
      if (relay === null || !(await endRelay(deps, relay))) return;
      await app.edge.budgets.giveBackRelay(accountId);
    },
    after: async ({ params, body }) => {
      if (body.relay) await wakeKeeper(deps, params);
    },
    replay: async (_tx, { reply, body }) => {
      if (!body.relay) replayOf(deps, reply);
    },
  });

  command(app, deps, {
    method: 'POST',
    url: '/v1/swaps/:id/legs/:leg/refund',
    operationId: 'buildRefund',
    summary: 'Unsigned refund of your leg after its timelock, or of an escrow that it moved off',
    tags,
    params: legParams,
    query: refundQuery,
    replies: { 200: material },
    withoutRoom: 'anew',
    before: (input) =>
      buildRefund(deps, { ...buildRequest(input), escrow: input.query.escrow ?? null }),
    run: async (_tx, { prepared }) => ({ status: 200, body: prepared }),
    replay: async (_tx, { reply }) => replayOf(deps, reply),
  });
}

/** Each has chains read, and may hold up those of others; what is taken on is given back. */
function mayAskRelay({ allowed, limit, resetSeconds }: Spent): void {
  if (allowed) return;
  const sentence =
    `${limit} relays that this account asked for within ${windowSeconds} s were refused or are not ` +
    `answered yet; try again in ${resetSeconds} s, or send the claim yourself`;
  throw new HttpError('relay_rate_limited', sentence, { 'retry-after': String(resetSeconds) });
}

/** What was kept is sent at once; the keeper would find it by itself. */
async function wakeKeeper(deps: Deps, { id, leg }: { id: string; leg: string }): Promise<void> {
  const swap = deps.keeper === undefined ? null : await swapById(deps.db, id);
  if (swap === null || (leg !== 'a' && leg !== 'b')) return;
  deps.keeper?.wake(swap.state.legs[leg].chain);
}

function replayOf(deps: Deps, reply: { readonly body: unknown }): void {
  mustLive(reply.body as Built, Math.floor(deps.now() / 1_000));
}

function buildRequest(input: {
  caller: { accountId: string };
  params: { id: string; leg: string };
  query: { feeRate?: number };
  signal: AbortSignal;
}): BuildRequest {
  const { feeRate } = input.query;
  if (feeRate !== undefined) mustBeRate(feeRate);
  return {
    accountId: input.caller.accountId,
    swapId: input.params.id,
    leg: input.params.leg,
    feeRateSatPerVbyte: feeRate ?? null,
    signal: input.signal,
  };
}
