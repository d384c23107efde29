// A side of a swap in words, for a person without any wallet: the program that it wants.

import { has } from '@parley/core/families.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { text } from '../../texts/texts.ts';
import { familyOf } from '../giving.tsx';
import { chainName } from '../words.ts';
import { programsToGet } from './programs.ts';

/** null: the asset, or its chain, is not known. */
export function needOf(side: 'give' | 'get', asset: Asset | undefined): string | null {
  const family = familyOf(asset);
  if (asset === undefined || family === undefined) return null;
  if (has(family, 'coins')) return text(`connect.need.${side}.bitcoin`);
  const { name } = programsToGet[family];
  return text(`connect.need.${side}`, { chain: chainName(asset.chain), name });
}
