// Prices of coins in a currency, where the operator has a source: for people, beside amounts.

import type { FastifyInstance } from 'fastify';
import { pricedAssets } from '../../db/assets.ts';
import type { Deps, FiatPrices } from '../../ports/deps.ts';
import { createMoments } from '../../ports/moments.ts';
import { readsOf } from '../../ports/reads.ts';
import { open } from '../command.ts';
import { fiat } from '../schemas/fiat.ts';

const keptMs = 10_000;
const unknown = { currency: null, source: null, at: null, prices: [] };

export function registerFiat(app: FastifyInstance, deps: Deps): void {
  const kept = createMoments<object>(keptMs, 1, deps.now);
  open({ app, deps, tag: 'market' }, 'GET /market/fiat', 'getFiat', {
    about:
      'Prices of coins in a currency, by a source of the operator. They are a hint for people: ' +
      'the market decides nothing by them.',
    replies: { 200: fiat },
    handle: async () => {
      const told = deps.fiat?.() ?? null;
      return told === null ? unknown : kept.of(`${told.at.getTime()}`, () => view(deps, told));
    },
  });
}

async function view(deps: Deps, { currency, source, at, prices }: FiatPrices) {
  const found = await pricedAssets(readsOf(deps), prices);
  return { currency, source, at: at.toISOString(), prices: found };
}
