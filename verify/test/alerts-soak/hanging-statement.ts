// Loaded into a server before its own code: a defect that no fault outside of a process makes.
// One statement of a pass is never answered, past all its limits, and eleven minutes go by at once.

import pg from 'pg';

/** With it the pass of messages begins. */
const statement = 'messages_wait';
/** A pass hangs after ten. */
const passedMs = 11 * 60_000;

type Query = (this: pg.Client, ...args: unknown[]) => unknown;
const { prototype } = pg.Client as unknown as { prototype: { query: Query } };
const { query } = prototype;
const monotonic = performance.now.bind(performance);
let isHung = false;

prototype.query = function (this: pg.Client, ...args: unknown[]) {
  if (isHung || (args[0] as { name?: unknown } | undefined)?.name !== statement) {
    return query.apply(this, args);
  }
  isHung = true;
  performance.now = () => monotonic() + passedMs;
  return new Promise(() => {});
};
