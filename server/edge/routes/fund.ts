// The funding of a leg: unsigned, or sent by the market for who signed it.

import type { FastifyInstance } from 'fastify';
import type { Desk, FundAsking } from '../../../watchtower/port.ts';
import type { Deps } from '../../ports/deps.ts';
import { authorizesFunding, type Built, buildFund, mustStillBe } from '../../settle/builders.ts';
import { pinLeg, takeSignature } from '../../settle/signed-funding.ts';
import { command } from '../command.ts';
import { HttpError } from '../errors.ts';
import { fundBody, fundQuery, fundReply, legParams } from '../schemas/material.ts';
import { buildRequest, relayedBy, replayOf } from './building.ts';

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
      const signed = signedIn(input.body);
      if (signed !== null) {
        await takeSignature(deps, { ...request, ...signed });
        const send = (desk: Desk, asking: FundAsking) => desk.fund(asking);
        return { relay: await relayedBy(deps, budgets, { ...request, ...signed }, send) };
      }
      const { allowance = 'exact', sign } = input.query;
      const funds = (await deps.watchtower?.fundsBySignature()) ?? (() => false);
      const built = await buildFund(deps, {
        ...request,
        allowance,
        authorizes: sign === 'authorization',
        relays: (leg, token) => funds({ ...leg, token }),
      });
      return { relay: null, built };
    },
    run: async (tx, { params, prepared }) => {
      if (prepared.relay !== null) return { status: 200, body: prepared.relay };
      const { built } = prepared;
      const about = { swapId: params.id, leg: params.leg, escrow: built.escrow };
      if (authorizesFunding(built)) await pinLeg(tx, deps, about);
      else await mustStillBe(tx, about);
      return { status: 200, body: built };
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
