// The coins that the wallets of a swap may lack before their next step, and the market's help.

import type { Engine, SwapView } from '../../engine/types.ts';
import { GasNotes } from '../../parts/gas-notes.tsx';
import { sidesAhead } from './ahead.ts';
import { fundByOf, sidesOf } from './situation.ts';

type Props = { readonly engine: Engine; readonly swap: SwapView };

/** Where a problem says what is missing, it alone does. */
export function Gas({ engine, swap }: Props) {
  const { own, other } = sidesOf(swap);
  const times = {
    fundBy: fundByOf(swap),
    refundAt: own.timelock,
    collectBy: other.timelock,
  };
  return <GasNotes engine={engine} sides={sidesAhead(swap)} times={times} isShort />;
}
