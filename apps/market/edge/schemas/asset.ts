// Shapes of assets.

import { marketChecks } from '../../ports/markets.ts';
import * as s from './common.ts';

export const asset = s.model('Asset', 'What may be traded.', {
  id: s.assetId,
  chain: s.chainKey,
  symbol: s.text('as its contract spells it; several may have it', 'USDC'),
  address: s.nullable(s.text('token contract; null = the native asset', s.examples.usdc)),
  decimals: s.int('digits after the point of one whole unit', 6),
  enabled: s.flag('false = closed to trade', true),
  verified: s.flag('true = curated; false = listed by itself: trade it by address', true),
  source: s.text('`curated`, `launchpad:<name>` or `api`', 'curated'),
});

const wanted = {
  chain: s.bounded('chain key, such as `base`', 'ethereum', 64),
  address: s.bounded('token contract or mint', s.examples.usdc, 128),
};
export const listAsset = s.input(wanted, 'The token that is to be listed.');

const reasons = s.list(
  'each begins with the name of the check that says so',
  s.text('the name of a check, and what it found', 'tax: a transfer of 1000 arrives as 990'),
);
const check = s.named(
  'MarketCheck',
  s.told(s.text('the name of a check', 'liquidity'), { enum: marketChecks }),
);
const notChecked = s.optional(s.list('checks that are not made here, with nobody to ask', check));

export const listedAsset = s.model('ListedAsset', 'A token that is listed.', {
  status: s.oneOf(['listed'], 'open to trade'),
  asset,
  notChecked,
});

export const waitingAsset = s.model('WaitingAsset', 'A token that cannot be traded now.', {
  status: s.oneOf(['pending', 'closed'], '`pending`: looked at again every hour for seven days'),
  reasons,
  notChecked,
});

export const refusedAsset = s.model('RefusedAsset', 'A token that will never be listed.', {
  error: s.sentence,
  status: s.oneOf(['rejected', 'delisted'], 'both for ever'),
  reasons,
});

export const assetList = s.page('AssetList', 'A page of assets, oldest first.', 'assets', asset);

export const assetQuery = s.pageQuery({
  chain: s.optional(s.text('of this chain key', 'ethereum', { maxLength: 64 })),
  symbol: s.optional(s.text('with this symbol, in any case', 'USDC', { maxLength: 64 })),
  address: s.optional(s.text('of this contract or mint', s.examples.usdc, { maxLength: 128 })),
  enabled: s.optional(s.flag('`true`: open to trade; `false`: closed, halted or delisted', true)),
});
