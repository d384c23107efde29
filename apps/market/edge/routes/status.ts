// Whether the market works, for anybody.

import type { FastifyInstance } from 'fastify';
import { readStatus } from '../../market/status.ts';
import type { Deps } from '../../ports/deps.ts';
import { createMoments } from '../../ports/moments.ts';
import { open } from '../command.ts';
import { marketStatus } from '../schemas/pair.ts';

/** An answer about the status of the market is kept so long. */
const freshMs = 1_000;

export function registerStatus(app: FastifyInstance, deps: Deps): void {
  const kept = createMoments<object>(freshMs, 1);
  open({ app, deps, tag: 'market' }, 'GET /market/status', 'getMarketStatus', {
    about: 'Chains, halts, and whether swaps are agreed now.',
    replies: { 200: marketStatus },
    handle: () => kept.of('', () => readStatus(deps, deps.watchtower)),
  });
}
