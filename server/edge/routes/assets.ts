// What may be traded.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { listAssets } from '../../db/assets.ts';
import type { Deps } from '../../deps.ts';
import { assetView } from '../../market/views.ts';
import { read } from '../command.ts';
import { cursorSecrets, decodeCursor, encodeCursor } from '../cursor.ts';
import { assetList } from '../schemas/asset.ts';
import { pageLimit, pageQuery } from '../schemas/common.ts';

export function registerAssets(app: FastifyInstance, deps: Deps): void {
  const secrets = cursorSecrets(deps);
  read(app, deps, {
    url: '/v1/assets',
    operationId: 'listAssets',
    summary: 'Assets, oldest first',
    tags: ['assets'],
    query: pageQuery({
      chain: Type.Optional(Type.String({ maxLength: 64 })),
      symbol: Type.Optional(Type.String({ maxLength: 64 })),
      address: Type.Optional(Type.String({ maxLength: 128 })),
      enabled: Type.Optional(Type.Boolean()),
    }),
    replies: { 200: assetList },
    handle: async ({ query }) => {
      const { limit = pageLimit.otherwise, cursor } = query;
      const filters = {
        chain: query.chain ?? null,
        symbol: query.symbol ?? null,
        address: query.address ?? null,
        enabled: query.enabled ?? null,
      };
      const bound = { list: 'assets', ...filters };
      const after = cursor === undefined ? null : decodeCursor(secrets, bound, cursor)[0]!;
      const found = await listAssets(deps.db, filters, after, limit + 1);
      const assets = found.slice(0, limit);
      const last = assets.at(-1);
      return {
        assets: assets.map(assetView),
        nextCursor:
          found.length > limit && last !== undefined
            ? encodeCursor(secrets, bound, [last.id])
            : null,
      };
    },
  });
}
