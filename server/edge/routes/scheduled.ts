// Refunds signed beforehand. To check them takes more of a core than anything else that a request
// can ask for, so it has a budget of its own and one of an account is under way at a time.

import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../ports/deps.ts';
import { prepareSchedule, storeSchedule } from '../../settle/scheduled-refunds.ts';
import { type Spent, windowSeconds } from '../budgets.ts';
import { command } from '../command.ts';
import { HttpError } from '../errors.ts';
import { legParams, scheduleBody, scheduleReply } from '../schemas/material.ts';

export function registerScheduled(app: FastifyInstance, deps: Deps): void {
  const busy = new Set<string>();
  command(app, deps, {
    method: 'POST',
    url: '/v1/swaps/:id/legs/:leg/refund/scheduled',
    operationId: 'scheduleRefunds',
    summary: 'Bitcoin: signed refunds of your leg at rising fees, kept and sent when they are due',
    tags: ['swaps'],
    params: legParams,
    body: scheduleBody,
    replies: { 200: scheduleReply },
    // At most 20 a minute, and they guard what was funded.
    withoutRoom: 'keep',
    before: ({ caller: { accountId }, client, params, body, signal }) => {
      if (busy.has(accountId)) throw underWay();
      busy.add(accountId);
      const checking = async () => {
        const spent = await app.edge.budgets.spendSchedule(accountId);
        if (!spent.allowed) throw tooOften(spent);
        const { transactions, escrow = null } = body;
        const { id: swapId, leg } = params;
        const { processorTime, reserve } = app.edge;
        const isParty = () => reserve(accountId, swapId.toLowerCase());
        const inTurns = processorTime.meter({ accountId, client, isParty });
        const request = { accountId, swapId, leg, transactions, escrow, inTurns, signal };
        return prepareSchedule(deps, request);
      };
      return checking().finally(() => busy.delete(accountId));
    },
    run: async (tx, { params, prepared }) => {
      const scheduledRefunds = await storeSchedule(tx, deps, params.id, prepared);
      return { status: 200, body: { scheduledRefunds } };
    },
  });
}

function tooOften({ limit, resetSeconds }: Spent): HttpError {
  const sentence =
    `too many ladders of signed refunds from this account (${limit} in ${windowSeconds} s);` +
    ` try again in ${resetSeconds} s`;
  return refused(sentence, resetSeconds);
}

function underWay(): HttpError {
  const sentence =
    'signed refunds of this account are being checked, 1 request at a time; try again in 1 s';
  return refused(sentence, 1);
}

function refused(sentence: string, seconds: number): HttpError {
  return new HttpError('schedule_rate_limited', sentence, { 'retry-after': String(seconds) });
}
