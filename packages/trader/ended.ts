// How swaps of a profile have ended, a file each: those are driven no more.

import { jsonOf } from './io.ts';
import { namedFiles } from './named-files.ts';
import type { Session } from './session.ts';

const mostBytes = 65_536;

export type EndedSwap = Readonly<Record<string, unknown>>;
type Placed = Pick<Session, 'places'>;

const endedIn = ({ places }: Placed) => namedFiles(places.ended);

export const endedIds = (session: Placed) => endedIn(session).ids();

/** On disk when it resolves. */
export async function keepEnded(session: Placed, swapId: string, ended: EndedSwap): Promise<void> {
  await endedIn(session).write(swapId, `${jsonOf(ended)}\n`);
}

/**
 * null: it has not ended, or its file cannot be read. Then it is driven once more: its record in the
 * store says that it has ended, and its file is written anew.
 */
export async function endedOf(session: Placed, swapId: string): Promise<EndedSwap | null> {
  try {
    const text = await endedIn(session).read(swapId, mostBytes);
    const ended: unknown = text === null ? null : JSON.parse(text);
    return typeof ended === 'object' ? (ended as EndedSwap | null) : null;
  } catch {
    return null;
  }
}
