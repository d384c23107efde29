// Shapes of assets.

import Type from 'typebox';
import { named, nextCursor, uuid } from './common.ts';

export const asset = named(
  'Asset',
  Type.Object({
    id: uuid,
    chain: Type.String({ description: 'chain key, such as `bitcoin`' }),
    symbol: Type.String(),
    address: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'token contract; null = the native asset',
    }),
    decimals: Type.Integer(),
    enabled: Type.Boolean({ description: 'false = closed to trade' }),
    verified: Type.Boolean({
      description: 'true = curated; false = listed by itself: trade it by address, not by symbol',
    }),
    source: Type.String({ description: '`curated`, `launchpad:<name>` or `api`' }),
  }),
);

export const assetList = named('AssetList', Type.Object({ assets: Type.Array(asset), nextCursor }));
