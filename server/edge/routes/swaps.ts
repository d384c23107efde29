// Swaps: reading them, setting addresses, and building what a party signs.

import type { FastifyInstance } from 'fastify';
import type { ClaimAsking, Desk } from '../../../watchtower/port.ts';
import { partyOf, swapsOfAccount } from '../../db/swaps.ts';
import type { Deps } from '../../ports/deps.ts';
import { swapOfCaller } from '../../settle/access.ts';
import { prepareAddress, storeAddress } from '../../settle/addresses.ts';
import { buildClaim, buildRefund } from '../../settle/builders.ts';
import { createRentLooks, type RentLooks } from '../../settle/rent-left.ts';
import { swapView } from '../../settle/view.ts';
import { createWarnings, type Warnings } from '../../settle/warnings.ts';
import { command, read } from '../command.ts';
import { cursorSecrets, decodeCursor, encodeCursor } from '../cursor.ts';
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
import { buildRequest, relayedBy, replayOf } from './building.ts';
import { buildFunding } from './fund.ts';
import { registerScheduled } from './scheduled.ts';

const tags = ['swaps'] as const;

export function registerSwaps(app: FastifyInstance, deps: Deps): void {
  readSwaps(app, deps, createWarnings(deps), createRentLooks(deps));
  writeAddress(app, deps);
  buildLegs(app, deps);
  registerScheduled(app, deps);
}

function readSwaps(app: FastifyInstance, deps: Deps, warnings: Warnings, rents: RentLooks): void {
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
      const { swap: stored, party } = await swapOfCaller(deps.db, params.id, caller.accountId);
      const swap = await rents.of(stored);
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
  buildFunding(app, deps);

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
      if (!input.body.relay) return buildClaim(deps, request);
      const send = (desk: Desk, asking: ClaimAsking) => desk.claim(asking);
      return relayedBy(deps, app.edge.budgets, request, send);
    },
    run: async (_tx, { prepared }) => ({ status: 200, body: prepared }),
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
