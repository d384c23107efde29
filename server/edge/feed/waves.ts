// The end of all sockets at once. Makers come back as they were closed: in waves.

import { setTimeout as sleep } from 'node:timers/promises';
import { closeCodes, type Peer } from './peer.ts';

export const waves = 20;
export const waveMs = 100;
/** For the last of them to answer. */
export const partingMs = 1_000;
const lookMs = 10;

type Open = { readonly peer: Pick<Peer, 'end' | 'drop'> };

/** `open` loses who has closed; whoever has not in time is dropped. */
export async function closeInWaves(
  open: ReadonlySet<Open>,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<void> {
  const all = [...open];
  const size = Math.ceil(all.length / waves);
  for (let from = 0; from < all.length; from += size) {
    if (from > 0) await pause(waveMs);
    for (const { peer } of all.slice(from, from + size)) {
      peer.end(closeCodes.restart, 'the server restarts: connect again');
    }
  }
  for (let waited = 0; open.size > 0 && waited < partingMs; waited += lookMs) await pause(lookMs);
  for (const { peer } of open) peer.drop();
}
