// Cursors of lists: opaque, signed, bound to the list's filters. A cursor of another list, of other
// filters or altered is refused.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { ParleyError } from '@parley/core/errors.ts';
import { pageLimit } from '@parley/core/limits.ts';
import type { Deps } from '../ports/deps.ts';
import { keyringOf } from '../ports/keyring.ts';

const longest = 1_024;
const tagBytes = 16;

type Filters = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * The first signs; a signature by any of them is accepted: keys are replaced while pages are read.
 */
type CursorSecrets = readonly Uint8Array[];

/** Where a list goes on: the id of its last row, or what else orders it. */
type Found<Row> = (from: readonly string[] | null, limit: number) => Promise<readonly Row[]>;

/** One page. `find` is asked for one row more than fits: it says whether more follow. */
export async function pageOf<Row extends { readonly id: string }>(
  deps: Pick<Deps, 'settings'>,
  { limit = pageLimit.otherwise, cursor }: { limit?: number; cursor?: string },
  filters: Filters,
  find: Found<Row>,
  placeOf: (row: Row) => readonly string[] = ({ id }) => [id],
): Promise<{ readonly rows: readonly Row[]; readonly nextCursor: string | null }> {
  const secrets = keyringOf(deps.settings).cursorSecrets;
  // `cursor=` asks for the first page.
  const from = cursor ? decodeCursor(secrets, filters, cursor) : null;
  const found = await find(from, limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const more = found.length > limit && last !== undefined;
  return { rows, nextCursor: more ? encodeCursor(secrets, filters, placeOf(last)) : null };
}

/** `filters` names the list and its filters; `position` is where the next page starts. */
export function encodeCursor(
  secrets: CursorSecrets,
  filters: Filters,
  position: readonly string[],
): string {
  const payload = Buffer.from(JSON.stringify(position));
  return Buffer.concat([tagOf(secrets[0]!, filters, payload), payload]).toString('base64url');
}

/** The position in a cursor that `encodeCursor` made for the same filters; throws `bad_cursor`. */
export function decodeCursor(secrets: CursorSecrets, filters: Filters, cursor: string): string[] {
  if (cursor.length <= longest && /^[A-Za-z0-9_-]+$/.test(cursor)) {
    const bytes = Buffer.from(cursor, 'base64url');
    const tag = bytes.subarray(0, tagBytes);
    const payload = bytes.subarray(tagBytes);
    if (
      payload.length > 0 &&
      // Base64 has spare bits: one cursor, one spelling.
      bytes.toString('base64url') === cursor &&
      secrets.some((secret) => timingSafeEqual(tagOf(secret, filters, payload), tag))
    ) {
      return JSON.parse(payload.toString()) as string[];
    }
  }
  throw new ParleyError(
    'bad_cursor',
    'the cursor was not given by this list with these filters; start again without one',
  );
}

function tagOf(secret: Uint8Array, filters: Filters, payload: Uint8Array): Buffer {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  given.sort(([a], [b]) => (a < b ? -1 : 1));
  const hmac = createHmac('sha256', secret).update(JSON.stringify(given)).update('\n');
  return hmac.update(payload).digest().subarray(0, tagBytes);
}
