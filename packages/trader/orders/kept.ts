// Orders on disk: each before its request is posted, and until its end was told. By them a process
// that was killed goes on, and trades nothing twice.

import { join } from 'node:path';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { z } from 'zod';
import { type OwnAsset, ownAsset } from '../assets.ts';
import { Failure, needsYou } from '../failures.ts';
import { namedFiles } from '../named-files.ts';
import type { Session } from '../session.ts';
import type { Order } from './order.ts';

/** The body of `POST /v1/rfqs`. */
export type RequestBody = Parameters<ParleyClient['createRfq']>[0];

const units = z.string().regex(/^[1-9]\d{0,77}$/);
const asset = z.object({ chain: z.string(), token: z.string().nullable() });
const shape = z.object({
  id: z.string(),
  isNamed: z.boolean(),
  side: z.enum(['sell', 'buy']),
  base: asset,
  baseAmount: units,
  quote: asset,
  limit: units.nullable(),
  waitSeconds: z.int(),
  minSettled: z.int().nullable(),
  /** The idempotency key of its request, and what was asked under it. */
  key: z.string(),
  body: z.record(z.string(), z.unknown()),
  /** Unix seconds; `until`: quotes are taken. */
  askedAt: z.int(),
  until: z.int(),
  rfqId: z.string().nullable(),
  /** The last price that was accepted, or was about to be: before the market heard of it. */
  accepted: z.object({ threadId: z.string(), price: units, at: z.int() }).nullable(),
  swapId: z.string().nullable(),
});

export type KeptOrder = Readonly<Omit<z.infer<typeof shape>, 'body'>> & {
  readonly body: RequestBody;
};

/** Orders that are read at once; a batch has fewer rows. */
const mostOrders = 2_000;
const mostOrderBytes = 16_384;

type Placed = Pick<Session, 'places'>;

const openIn = ({ places }: Placed) => namedFiles(join(places.data, 'orders'));
const doneIn = ({ places }: Placed) => namedFiles(join(places.data, 'orders', 'done'));

/** null: there is none, neither open nor done. Throws Failure `bad_order`, `unreadable`. */
export async function readOrder(session: Placed, id: string): Promise<KeptOrder | null> {
  for (const files of [openIn(session), doneIn(session)]) {
    const text = await files.read(id, mostOrderBytes);
    if (text !== null) return parsed(text, files.fileOf(id));
  }
  return null;
}

/** A damaged file must not be a trade that nobody knows of. */
function parsed(text: string, file: string): KeptOrder {
  try {
    return shape.parse(JSON.parse(text)) as KeptOrder;
  } catch (cause) {
    const sentence = `${file} is damaged: look at "parley swaps", then remove the file`;
    throw new Failure('local', 'bad_order', sentence, { cause });
  }
}

/** On disk when it resolves. */
export async function keepOrder(session: Placed, kept: KeptOrder): Promise<void> {
  await openIn(session).write(kept.id, `${JSON.stringify(kept)}\n`);
}

/** An order of which nothing was agreed: the next one of its name begins anew. */
export async function dropOrder(session: Placed, id: string): Promise<void> {
  await openIn(session).remove(id);
}

/** Its end was told. A named one stays, so that nothing trades under that name again. */
export async function closeOrder(session: Placed, kept: KeptOrder): Promise<void> {
  const { id, isNamed } = kept;
  if (!isNamed) return dropOrder(session, id);
  await openIn(session).moveTo(id, doneIn(session));
}

/** Those whose end was not told. Throws Failure `too_many_orders`. */
export async function openOrders(session: Placed): Promise<string[]> {
  const { folder, ids: idsIn } = openIn(session);
  const ids = await idsIn();
  if (ids.length <= mostOrders) return ids;
  const sentence = `${ids.length} trades are open in ${folder}, more than ${mostOrders}`;
  throw new Failure('local', 'too_many_orders', sentence);
}

/** As the profile has its assets now. Throws Failure `not_pinned`. */
export function orderIn(session: Pick<Session, 'chain'>, kept: KeptOrder): Order {
  const { id, isNamed, side, baseAmount, limit, waitSeconds, minSettled } = kept;
  const own = ({ chain, token }: KeptOrder['base']): OwnAsset =>
    ownAsset(session, token === null ? chain : `${chain}:${token}`);
  return {
    id,
    isNamed,
    side,
    base: own(kept.base),
    baseAmount: BigInt(baseAmount),
    quote: own(kept.quote),
    limit: limit === null ? null : BigInt(limit),
    waitSeconds,
    minSettled,
  };
}

/** The part of a file that is the order itself. */
export function wordsOfOrder(order: Order) {
  const { id, isNamed, side, base, baseAmount, quote, limit, waitSeconds, minSettled } = order;
  const of = ({ chain, token }: OwnAsset) => ({ chain, token });
  const amounts = { baseAmount: String(baseAmount), limit: limit === null ? null : String(limit) };
  const pair = { base: of(base), quote: of(quote) };
  return { id, isNamed, side, ...pair, ...amounts, waitSeconds, minSettled };
}

/** Throws Failure `other_trade` where a name stands for another trade already. */
export function mustBeSame(kept: KeptOrder, order: Order): void {
  const textOf = ({ side, base, baseAmount, quote }: ReturnType<typeof wordsOfOrder>) =>
    JSON.stringify([side, base, baseAmount, quote]);
  if (textOf(kept) === textOf(wordsOfOrder(order))) return;
  const name = kept.id.replace(/^id-/, '');
  const sentence = `"${name}" names another trade already: give this one a name of its own`;
  throw needsYou('other_trade', sentence);
}
