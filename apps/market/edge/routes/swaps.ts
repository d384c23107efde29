// Swaps: reading them, and setting addresses. The transactions that a party signs are built in
// legs.ts.

import type { FastifyInstance } from 'fastify';
import { partyOf, swapsOfAccount } from '../../db/swaps.ts';
import type { Deps } from '../../ports/deps.ts';
import { sharedSwapsOfCallers } from '../../settle/access.ts';
import { prepareAddress, storeAddress } from '../../settle/addresses.ts';
import { createRentLooks } from '../../settle/rent-left.ts';
import { swapView } from '../../settle/view.ts';
import { createWarnings } from '../../settle/warnings.ts';
import { command, read } from '../command.ts';
import { pageOf } from '../cursor.ts';
import { idParams, swapId } from '../schemas/common.ts';
import { setAddress, swapPage, swapReply, swapSchema, swapsQuery } from '../schemas/swap.ts';

const params = idParams(swapId);

export function registerSwaps(app: FastifyInstance, deps: Deps): void {
  const place = { app, deps, tag: 'swaps' };
  const warnings = createWarnings(deps);
  const rents = createRentLooks(deps);
  const swapOfCaller = sharedSwapsOfCallers(deps.db);
  read(place, '/v1/swaps', 'listSwaps', {
    about: 'Your swaps, newest first. Those of both roles.',
    query: swapsQuery,
    replies: { 200: swapPage },
    handle: async ({ caller: { accountId }, query }) => {
      const status = query.status ?? null;
      const filters = { list: 'swaps', accountId, status };
      const { rows, nextCursor } = await pageOf(deps, query, filters, (from, limit) =>
        swapsOfAccount(deps.db, { accountId, status, before: from?.[0] ?? null, limit }),
      );
      const swaps = rows.map((each) =>
        swapView(each, partyOf(each, accountId) ?? 'maker', deps.now()),
      );
      return { swaps, nextCursor };
    },
  });

  read(place, '/v1/swaps/:id', 'getSwap', {
    about:
      'One of your swaps; the authoritative state. `next` says what each side can do now, and ' +
      'until when.',
    params,
    replies: { 200: swapSchema },
    handle: async ({ caller, params }) => {
      const { swap: stored, party } = await swapOfCaller(params.id, caller.accountId);
      const swap = await rents.of(stored);
      return swapView(swap, party, deps.now(), await warnings.of(swap));
    },
  });

  command(place, 'POST /v1/swaps/:id/address', 'setAddress', {
    about:
      'Your address on one chain of the swap. It is paid where you receive, and refunded where ' +
      'you fund.',
    params,
    body: setAddress,
    replies: { 200: swapReply },
    before: async ({ caller: { accountId }, params, body, signal }) => {
      const { chain, leg = null, address, keySignature = null, form, ownLane = false } = body;
      const told = { chain, leg, address, keySignature, form, ownLane };
      const request = { accountId, swapId: params.id, ...told };
      return { request, address: await prepareAddress(deps, request, signal) };
    },
    run: async (tx, { prepared: { request, address } }) => {
      const swap = await storeAddress(tx, deps, request, address);
      return { status: 200, body: { swap: swapView(swap, address.party, deps.now()) } };
    },
  });
}
