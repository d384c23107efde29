// Under which rules swaps are agreed here.

import { formulaVersion } from '@parley/core/deadlines.ts';
import { policyFields } from '@parley/core/rules.ts';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../ports/deps.ts';
import { rulesOfChain } from '../../settle/preview.ts';
import { windowSeconds } from '../budgets.ts';
import { read } from '../command.ts';
import { grownLimit, settledDays } from '../grown-limits.ts';
import { marketRules } from '../schemas/rules.ts';

export function registerRules(app: FastifyInstance, deps: Deps): void {
  read({ app, deps, tag: 'rules' }, '/v1/rules', 'getRules', {
    about:
      'The formula of all times, and each chain’s contract and policy. Compare them with yours. ' +
      'And how many requests an account has.',
    replies: { 200: marketRules },
    handle: async () => ({
      formula: formulaVersion,
      limits: limitsOf(deps.settings.rateLimit),
      chains: [...deps.adapters.values()].map((adapter) => {
        const { chain, family, policy, contract } = adapter;
        const { contract: id, policies: policyDigest } = rulesOfChain(adapter);
        const { address, version, shards = [] } = contract;
        return {
          chain,
          family,
          contract: { id, address, version, shards },
          policy: policyFields(policy),
          policyDigest,
        };
      }),
    }),
  });
}

function limitsOf(requests: number) {
  return {
    windowSeconds,
    requests,
    requestsOfSettledSwap: requests / 10,
    mostRequests: grownLimit(requests, Number.POSITIVE_INFINITY),
    settledDays,
  };
}
