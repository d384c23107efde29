// Shapes of assets.

import Type from 'typebox';
import { input, named, nextCursor, oneOf, uuid } from './common.ts';

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

export const listAsset = input({
  chain: Type.String({ minLength: 1, maxLength: 64, description: 'chain key, such as `base`' }),
  address: Type.String({ minLength: 1, maxLength: 128, description: 'token contract or mint' }),
});

const reasons = Type.Array(Type.String(), {
  description: 'each begins with the name of the check that says so',
});
const notChecked = Type.Array(Type.String(), {
  description: 'checks that this deployment does not make, having nobody to ask',
});

export const listedAsset = named(
  'ListedAsset',
  Type.Object({ status: oneOf(['listed']), asset, notChecked: Type.Optional(notChecked) }),
);

export const waitingAsset = named(
  'WaitingAsset',
  Type.Object({
    status: oneOf(['pending', 'closed'], '`pending`: looked at again every hour for seven days'),
    reasons,
    notChecked: Type.Optional(notChecked),
  }),
);

export const refusedAsset = named(
  'RefusedAsset',
  Type.Object({
    error: Type.String({ description: 'one plain sentence' }),
    status: oneOf(['rejected', 'delisted'], 'both for ever'),
    reasons,
  }),
);

export const assetList = named('AssetList', Type.Object({ assets: Type.Array(asset), nextCursor }));
