// A turn that is somebody else's for as long as a test wants, however slow the machine is.

import type { ChainKey } from '../../../core/families.ts';
import type { Tx } from '../../db/database.ts';
import { endTurn, type TurnKind, takeTurn } from '../../db/keeper-turns.ts';
import { turnAwaitedMs, turnMs } from '../bounds.ts';

const holder = '00000000-0000-4000-8000-00000000000f';

/** Returns what ends it; again is no harm. */
export async function holdTurn(db: Tx, chain: ChainKey, kind: TurnKind) {
  const asked = { kind, milliseconds: turnMs, lapseMs: turnAwaitedMs, clock: null } as const;
  const take = () => takeTurn(db, chain, holder, asked);
  if (!(await take())) throw new Error(`somebody signs on ${chain}`);
  let last: Promise<unknown> = Promise.resolve();
  const again = setInterval(() => {
    last = take().catch(() => {});
  }, 1_000);
  return async () => {
    clearInterval(again);
    await last;
    await endTurn(db, chain, holder, null);
  };
}
