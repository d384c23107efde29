// Opens the engine of this page, once.

import { type Engine, EngineError } from './types.ts';

/** The same promise each time. */
const opened: Promise<Engine> = Promise.reject(
  new EngineError('no_config', 'this version of the app has no engine yet'),
);
// Whoever asks is told.
opened.catch(() => undefined);

export function pageEngine(): Promise<Engine> {
  return opened;
}
