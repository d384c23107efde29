// The rescue file of a profile: written anew whenever a swap has begun or was funded, so that it
// can be copied at any time (docs/rescue.md).

import { writePrivate } from './places.ts';
import type { Session, Unlocked } from './session.ts';

/** Resolves to its text. */
export async function keepRescue(
  session: Session,
  { store, isTyped }: Pick<Unlocked, 'store' | 'isTyped'>,
) {
  const { rescueText } = await import('./rescue.ts');
  const text = await rescueText(store, session.source);
  // Sealed by other words it would take the place of the only one that the profile's own open.
  if (!isTyped) await writePrivate(session.places.rescue, text);
  return text;
}
