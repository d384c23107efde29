// The swap whose screen it is: every part of that screen asks for it here.

import { createContext, use } from 'react';
import type { Engine } from '../../engine/engine.ts';
import type { Listed } from '../../parts/words.ts';
import type { Shown } from './shown.ts';
import type { Seen } from './situation.ts';

type Here = {
  readonly engine: Engine;
  readonly seen: Seen;
  readonly said: Shown;
  readonly listed: readonly Listed[];
};

export const HereContext = createContext<Here | null>(null);

export function useHere(): Here {
  const here = use(HereContext);
  if (here === null) throw new Error('this is a part of the screen of a swap');
  return here;
}
