// Whether this page tells by notifications: what does is loaded once a person wants it.

import { onTellState, showSeen, tellState } from '../parts/tell.ts';

/** Once a page. */
export function tellsWhenWanted(): void {
  let isStarted = false;
  const look = () => {
    if (isStarted || tellState() !== 'on') return;
    isStarted = true;
    showSeen();
    // Whatever keeps the engine from opening is said by the screens that need it.
    import('./telling.ts').then(({ telling }) => telling()).catch(() => {});
  };
  onTellState(look);
  look();
}
