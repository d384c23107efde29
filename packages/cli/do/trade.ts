// `parley ask`, `cancel`, `quote`, `threads`, `propose` and `accept`: coming to an agreement.

import { accept as acceptThread } from '@parley/sdk/agree.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import type { Rfq, Thread } from '@parley/sdk/types.ts';
import {
  type Catalogue,
  catalogueOf,
  type OwnAsset,
  ownPair,
  pinnedAsset,
  shownAmount,
  typedAmount,
} from '@parley/trader/assets.ts';
import {
  examined,
  lackings,
  lookedAt,
  ownAssets,
  planOf,
  unitsIn,
  walletsOn,
} from '@parley/trader/deal.ts';
import { Failure, misused, needsYou } from '@parley/trader/failures.ts';
import { answer, type Cli, mustConfirm, note } from '@parley/trader/io.ts';
import {
  inSession,
  type Session,
  type SignedIn,
  signedIn,
  unlocked,
} from '@parley/trader/session.ts';
import { ageOf, deadlineOf, tableOf } from '@parley/trader/show.ts';
import { sidesOf } from '@parley/trader/sides.ts';
import {
  compareTerms,
  keepTerms,
  mustBeTerms,
  type Named,
  namedBy,
  otherThan,
} from '@parley/trader/terms.ts';
import { rowsOf, wordsOf } from './market.ts';

const lookMs = 2_000;

type Party = OwnTrade['party'];

type Side = 'sell' | 'buy';
type Ask = { readonly price?: string; readonly for: number; readonly to?: string };

export const ask = (
  cli: Cli,
  side: Side,
  amount: string,
  base: string,
  quote: string,
  { price: asked, for: ttlSeconds, to: target }: Ask,
) =>
  inSession(cli, async (session) => {
    const [ownBase, ownQuote] = ownPair(session, base, quote);
    const baseAmount = typedAmount(amount, ownBase);
    const askAmount = asked === undefined ? null : typedAmount(asked, ownQuote);
    const { client } = await signedIn(session);
    const pinnedBase = await pinnedAsset(client, ownBase);
    const pinnedQuote = await pinnedAsset(client, ownQuote);
    const price = askAmount === null ? 'any price' : shownAmount(askAmount, ownQuote);
    const what = `${side} ${shownAmount(baseAmount, ownBase)} for ${ownQuote.name}, at ${price}`;
    const whom = target === undefined ? 'makers' : `the account of ${target}`;
    const plan = [`${what}. It stands ${ttlSeconds} seconds, and binds nobody.`];
    await mustConfirm(cli, plan, `Ask ${whom}?`);
    const rfq = await client.createRfq({
      direction: directionOf(side),
      baseAssetId: pinnedBase.id,
      baseAmount: baseAmount.toString(),
      quoteAssetId: pinnedQuote.id,
      ttlSeconds,
      ...(askAmount === null ? {} : { askAmount: askAmount.toString() }),
      ...(target === undefined ? {} : { visibility: 'private', targetAddress: target }),
    });
    const direction = directionOf(side);
    const pair = { base: ownBase, quote: ownQuote };
    await keepTerms(session, rfq.id, { party: 'taker', direction, baseAmount, ...pair });
    answer(cli, { rfq }, `asked: ${rfq.id}\nQuotes: "parley threads ${rfq.id}".`);
  });

const directionOf = (side: Side): Rfq['direction'] => (side === 'sell' ? 'sell_base' : 'buy_base');

export const cancel = (cli: Cli, id: string) =>
  inSession(cli, async (session) => {
    const { client } = await signedIn(session);
    const names = await catalogueOf(session, client);
    const [, what = ''] = wordsOf(names, await client.rfq(id));
    await mustConfirm(cli, [`${id}: the taker ${what}`], 'Cancel it?');
    const rfq = await client.cancelRfq(id);
    answer(cli, { rfq }, `cancelled ${id}`);
  });

/** The asset of an RFQ's or thread's amount, as the profile pins it. */
async function priced(session: Session, signed: SignedIn, rfq: Rfq, amount: string) {
  const names = await catalogueOf(session, signed.client);
  const { base, quote } = ownAssets(session, names, { rfq });
  return { names, base, quote, units: typedAmount(amount, quote) };
}

/** How long a price holds; none: as long as its RFQ. */
type Valid = { readonly valid?: number };
const lifetimeOf = ({ valid }: Valid) => (valid === undefined ? {} : { validForSeconds: valid });

/**
 * The words of the person or script about the request must match what the market shows. Throws
 * Failure `other_terms`, and `usage` where --yes would agree to what nobody has named.
 */
function mustBeNamed(
  session: Session,
  said: Named,
  terms: { readonly direction: Rfq['direction']; readonly baseAmount: bigint } & Sided,
  { isNeeded, shown }: { readonly isNeeded: boolean; readonly shown: string },
): void {
  const missing = namedBy.filter((each) => said[each] === undefined);
  if (isNeeded && missing.length > 0) {
    const names = missing.map((each) => `--${each}`).join(', ');
    throw misused(`with --yes the request must be named, by ${names} too: the taker ${shown}`);
  }
  const other = otherThan(session, said, terms);
  if (other === null) return;
  const sentence = `the taker ${shown}, which is not --${other} ${said[other]}: this program quoted nothing`;
  throw needsYou('other_terms', sentence);
}

type Sided = Readonly<Record<'base' | 'quote', OwnAsset>>;

export const quote = (cli: Cli, id: string, amount: string, given: Valid & Named) =>
  inSession(cli, async (session) => {
    const lifetime = lifetimeOf(given);
    const signed = await signedIn(session);
    const rfq = await signed.client.rfq(id);
    const { names, base, quote: asset, units } = await priced(session, signed, rfq, amount);
    const { direction } = rfq;
    const baseAmount = unitsIn('rfq.baseAmount', rfq.baseAmount);
    const terms = { party: 'maker', direction, baseAmount, base, quote: asset } as const;
    const kept = await compareTerms(session, id, terms);
    const [, what = ''] = wordsOf(names, rfq);
    mustBeNamed(session, given, terms, { isNeeded: cli.yes && kept === null, shown: what });
    const plan = [`the taker ${what}`, `you offer ${shownAmount(units, asset)} for all of it`];
    await mustConfirm(cli, plan, 'Quote it?');
    await keepTerms(session, id, terms);
    const thread = await signed.client.quote(id, units.toString(), lifetime);
    answer(cli, { thread }, `quoted: thread ${thread.id}`);
  });

export const withdraw = (cli: Cli, id: string | undefined, { all }: { readonly all?: true }) =>
  inSession(cli, async (session) => {
    if ((id === undefined) !== (all === true)) throw misused('"withdraw" wants THREAD, or --all');
    const { client } = await signedIn(session);
    if (id === undefined) return withdrawAll(cli, client);
    const names = await catalogueOf(session, client);
    const { quoteAmount, rfq } = await client.thread(id);
    const price = shownAmount(quoteAmount, names.of(rfq.quoteAssetId));
    await mustConfirm(cli, [`${id}: ${price}`], 'Withdraw it?');
    const thread = await client.withdrawQuote(id);
    answer(cli, { thread }, `withdrawn: thread ${id}`);
  });

async function withdrawAll(cli: Cli, client: ParleyClient): Promise<void> {
  await mustConfirm(cli, ['every open quote of this account'], 'Withdraw them?');
  const sum = { withdrawn: 0, committed: 0 };
  let after: string | null = null;
  do {
    const from: { after?: string } = after === null ? {} : { after };
    const { withdrawn, committed, next } = await client.withdrawQuotes(from);
    sum.withdrawn += withdrawn;
    sum.committed += committed;
    after = next;
  } while (after !== null);
  const left = sum.committed === 0 ? '' : `; ${sum.committed} stay: you accepted them`;
  answer(cli, sum, `withdrawn: ${sum.withdrawn}${left}`);
}

export const propose = (cli: Cli, id: string, amount: string, given: Valid) =>
  inSession(cli, async (session) => {
    const lifetime = lifetimeOf(given);
    const signed = await signedIn(session);
    const before = await signed.client.thread(id);
    const { quote: asset, units } = await priced(session, signed, before.rfq, amount);
    const plan = [
      `the price is ${shownAmount(before.quoteAmount, asset)}, by the ${before.proposedBy}`,
      `you propose ${shownAmount(units, asset)}`,
    ];
    await mustConfirm(cli, plan, 'Propose it?');
    const thread = await signed.client.propose(id, units.toString(), lifetime);
    answer(cli, { thread }, `proposed ${shownAmount(units, asset)} on thread ${id}`);
  });

/** A taker who asks for its threads and names nothing would else believe that it has none. */
const noOpenQuotes =
  'you have no open quotes; quotes on your own requests: "parley threads --role taker"';

type Which = { readonly role?: Party; readonly status?: Thread['status'] };

export const threads = (
  cli: Cli,
  rfqId: string | undefined,
  { limit, ...which }: Which & { readonly limit: number },
) =>
  inSession(cli, async (session) => {
    const { client, account } = await signedIn(session);
    const isChosen = (which.role ?? which.status) !== undefined;
    const all = await rowsOf(limit, async (page) => {
      const { threads: rows, nextCursor } =
        rfqId === undefined || isChosen
          ? await client.quotes({ ...which, ...(rfqId && { rfqId }), ...page })
          : await client.threadsOfRfq(rfqId, page);
      return { rows, nextCursor };
    });
    const names = await catalogueOf(session, client);
    const rows = all.map((each) => rowOf(names, each, account.userId, session.now()));
    const head = ['thread', 'price', 'by', 'state', 'since', 'holds'];
    const none = rfqId === undefined && !isChosen ? noOpenQuotes : 'none';
    answer(cli, { threads: all }, rows.length === 0 ? none : tableOf(head, rows));
  });

function rowOf(names: Catalogue, thread: Thread, userId: string, now: number): string[] {
  const { id, quoteAmount, proposedBy, makerAccepted, takerAccepted, swapId, updatedAt } = thread;
  const own = thread.makerId === userId ? 'maker' : 'taker';
  const ownAccepted = own === 'maker' ? makerAccepted : takerAccepted;
  const otherAccepted = own === 'maker' ? takerAccepted : makerAccepted;
  const accepted = [ownAccepted ? 'you' : '', otherAccepted ? 'they' : ''].filter(Boolean);
  const state = accepted.length > 0 ? `${accepted.join(' and ')} accepted` : thread.status;
  return [
    id,
    shownAmount(quoteAmount, names.of(thread.rfq.quoteAssetId)),
    proposedBy === own ? 'you' : 'them',
    swapId === null ? state : `swap ${swapId}`,
    ageOf(updatedAt, now),
    thread.quoteExpiresAt == null ? '' : `ends ${ageOf(thread.quoteExpiresAt, now)}`,
  ];
}

type Accept = { readonly price?: string; readonly wait?: true };

export const accept = (cli: Cli, id: string, { price: wanted, wait }: Accept) =>
  inSession(cli, async (session) => {
    const signed = await signedIn(session);
    const thread = await signed.client.thread(id);
    const names = await catalogueOf(session, signed.client);
    const looked = lookedAt(session, signed.account.userId, names, thread);
    const { price, assets, terms } = looked;
    if (cli.yes && wanted === undefined) {
      throw misused('with --yes the price must be named: --price AMOUNT');
    }
    if (wanted !== undefined && typedAmount(wanted, assets.quote) !== price) {
      const sentence = `the price is ${shownAmount(price, assets.quote)}, and not ${wanted}`;
      throw needsYou('price_moved', `${sentence}: this program accepted nothing`);
    }
    const own = await unlocked(cli, session);
    await mustBeTerms(cli, session, thread.rfqId, { ...terms, ...assets });
    const found = await examined(session, signed, own, looked);
    const sides = sidesOf(found.trade, assets);
    const wallets = await walletsOn(own, sides);
    const plan = planOf(found, sides, wallets, session.now());
    const lacking = await lackings(session, sides, wallets);
    for (const line of lacking) plan.push(`lacking   ${line}`);
    const { quoteExpiresAt: ends } = thread;
    if (ends != null) plan.push(`the price ends ${ageOf(ends, session.now())}`);
    await mustConfirm(cli, plan, 'Accept? It binds you');
    const { swapId: begun } = await acceptThread({ ...found.dealing, store: own.store });
    const swapId = begun ?? (wait === true ? await agreedOn(cli, session, signed, id) : null);
    const { role, deadlines } = found;
    const next =
      swapId === null
        ? `accepted: the other side has yet to. Then "parley settle" drives the swap.`
        : `agreed: swap ${swapId}\nNext: "parley settle".`;
    answer(cli, { threadId: id, swapId, role, deadlines, lacking }, next);
  });

/** Until there is a swap. Throws Failure `lapsed` where the acceptance stands no more. */
async function agreedOn(cli: Cli, session: Session, { client }: SignedIn, id: string) {
  let isTold = false;
  for (;;) {
    const { swapId, status, acceptanceExpiresAt } = await client.thread(id);
    if (swapId !== null) return swapId;
    const until = acceptanceExpiresAt == null ? null : Date.parse(acceptanceExpiresAt) / 1_000;
    if (status === 'closed' || until === null || until < session.now()) {
      const why = status === 'closed' ? 'the thread was closed' : 'the acceptance has lapsed';
      throw new Failure('not_received', 'lapsed', `${why}: the sides agreed on nothing`);
    }
    if (!isTold) note(cli, `waits for the other side until ${deadlineOf(until, session.now())}`);
    isTold = true;
    await new Promise((next) => setTimeout(next, lookMs));
    cli.signal.throwIfAborted();
  }
}
