// A command whose steps a test decides, declared like every other.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { Tx } from '../../db/database.ts';
import type { Deps } from '../../ports/deps.ts';
import { command } from '../command.ts';
import { input } from '../schemas/common.ts';

/** The steps of the next request; how often one ran. */
export type Steps = {
  plan: { before?: () => Promise<unknown>; run?: (tx: Tx) => Promise<void> };
  runs: number;
};

/** POST and DELETE at the URL, which has a parameter `id`; answers 201 with the count of runs. */
export function addTestCommand(
  app: FastifyInstance,
  deps: Deps,
  steps: Steps,
  url: string,
  more: { secret?: true; anew?: true } = {},
  operationId = 'test',
): void {
  for (const method of ['POST', 'DELETE'] as const) {
    command({ app, deps, tag: 'test' }, `${method} ${url}`, operationId, {
      about: 'test',
      params: Type.Object({ id: Type.String() }),
      body: input({ n: Type.Optional(Type.Number()), m: Type.Optional(Type.String()) }),
      replies: { 201: Type.Object({ run: Type.Integer() }) },
      ...more,
      before: async () => steps.plan.before?.(),
      run: async (tx) => {
        steps.runs += 1;
        await steps.plan.run?.(tx);
        return { status: 201, body: { run: steps.runs } };
      },
    });
  }
}
