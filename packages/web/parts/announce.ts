// Sentences for the live region of the layout: changes without a place on the screen.

import { held } from '../live.ts';
import { useLive } from '../market/use-live.ts';

const said = held('');

export function announce(sentence: string): void {
  // The same sentence again is heard again: a space makes it another text.
  said.set(said.now() === sentence ? `${sentence}\u00a0` : sentence);
}

export const useAnnounced = () => useLive(said);
