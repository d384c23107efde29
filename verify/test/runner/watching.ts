// node:test follows every promise and socket of its process (async_hooks). While files load it
// tells by that to which suite a test belongs. Afterwards only from which test an error came that
// nobody caught, and that took a tenth to a quarter of all processor time. Without it such an error
// fails the file, and its text says where it was thrown.
//
// `describe` with a function that waits is declared when this has ended: no file has one
// (groups.test.ts).

import { type AsyncHook, createHook } from 'node:async_hooks';

/** The hooks that `work` enables, to be disabled. */
export function enabledBy(work: () => void): readonly AsyncHook[] {
  const hooks: AsyncHook[] = [];
  const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook;
  const { enable } = prototype;
  prototype.enable = function (this: AsyncHook) {
    hooks.push(this);
    return enable.call(this);
  };
  work();
  prototype.enable = enable;
  return hooks;
}
