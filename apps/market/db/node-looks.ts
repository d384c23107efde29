// Which process looks at all nodes: whichever holds a lock of its session, until that ends.

import { is } from '@parley/host/postgres/statements.ts';

/** Asked on one connection again and again, it would count: ask once of each. */
export const takeNodeLooks = is('node_looks_take')`
  select pg_try_advisory_lock(hashtext('node looks')) as locked`;
