// The funding of a leg: unsigned, or sent by the market for who signed it.

import type { FastifyInstance } from 'fastify';
import { endRelay } from '../../keeper/asked.ts';
import { prepareFundRelay, relaysFundings, storeFundRelay } from '../../keeper/fund-relay.ts';
import type { Deps } from '../../ports/deps.ts';
import { authorizesFunding, type Built, buildFund, mustStillBe } from '../../settle/builders.ts';
import { pinLeg, takeSignature } from '../../settle/signed-funding.ts';
import { command } from '../command.ts';
import { HttpError } from '../errors.ts';
import { fundBody, fundQuery, fundReply, legParams } from '../schemas/material.ts';
import { buildRequest, mayAskRelay, replayOf, wakeKeeper } from './building.ts';

type Body = { readonly relay?: boolean; readonly signature?: string; readonly escrow?: string };

export function buildFunding(app: FastifyInstance, deps: Deps): void {
  const { budgets } = app.edge;
  command(app, deps, {
    method: 'POST',
    url: '/v1/swaps/:id/legs/:leg/fund',
    operationId: 'buildFund',
    summary: 'Unsigned funding of your leg, or its sending by your signature (`relay`)',
    tags: ['swaps'],
    params: legParams,
    query: fundQuery,
    body: fundBody,
    replies: { 200: fundReply },
    // Asked to relay again it tells the one there is.
    withoutRoom: 'anew',
    before: async (input) => {
      const request = buildRequest(input);
      const { accountId } = request;
      const signed = signedIn(input.body);
      if (signed !== null) {
        await takeSignature(deps, { ...request, ...signed });
        const admit = async () => mayAskRelay(await budgets.spendRelay(accountId));
        const relay = await prepareFundRelay(deps, { ...request, ...signed, admit });
        return { relay, accountId };
      }
      const { allowance = 'exact', sign } = input.query;
      const built = await buildFund(deps, {
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
      if (authorizesFunding(built)) await pinLeg(tx, deps, about);
      else await mustStillBe(tx, about);
      return { status: 200, body: built };
    },
    release: async ({ relay, accountId }) => {
      if (relay === null || !(await endRelay(deps, relay))) return;
      await budgets.giveBackRelay(accountId);
    },
    after: async ({ params, body }) => {
      if (body.relay) await wakeKeeper(deps, params);
    },
    // A stored funding whose escrow has moved since would send money to the former one.
    replay: async (tx, { params, body, reply }) => {
      if (body.relay) return;
      const { escrow } = reply.body as Built;
      await mustStillBe(tx, { swapId: params.id, leg: params.leg, escrow });
      replayOf(deps, reply);
    },
  });
}

/** What is to be sent; null: a funding is to be built. */
function signedIn({ relay = false, signature, escrow }: Body) {
  if (relay && signature !== undefined && escrow !== undefined) return { signature, escrow };
  if (!relay && signature === undefined && escrow === undefined) return null;
  throw new HttpError(
    'bad_field',
    '`relay`, `signature` and `escrow` go together, or none is given',
  );
}
