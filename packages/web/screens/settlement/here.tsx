// The swap whose screen it is: every part of that screen asks for it here.

import type { Asset } from '@parley/sdk/types.ts';
import { createContext, use } from 'react';
import type { Engine } from '../../engine/engine.ts';
import type { Shown } from '../../parts/swap/shown.ts';
import type { Seen } from '../../parts/swap/situation.ts';

type Here = {
  readonly engine: Engine;
  readonly seen: Seen;
  readonly said: Shown;
  readonly listed: readonly Asset[];
  /** A saved copy of the page: no market, and nothing to come back to. */
  readonly isCopy: boolean;
};

export const HereContext = createContext<Here | null>(null);

export function useHere(): Here {
  const here = use(HereContext);
  if (here === null) throw new Error('this is a part of the screen of a swap');
  return here;
}
