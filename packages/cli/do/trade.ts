// `parley ask`, `cancel`, `quote`, `threads`, `propose` and `accept`: coming to an agreement.

import { ttlSeconds as lifetime, pageLimit, validForSeconds } from '@parley/core/limits.ts';
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
import { compareTerms, keepTerms, mustBeTerms, namedBy, otherThan } from '@parley/trader/terms.ts';
import { wholeNumber } from '../arguments.ts';
import type { Given, Run } from '../command.ts';
import { wordsOf } from './market.ts';

const usualSeconds = '600';
const mostRows = 10_000;
const lookMs = 2_000;

type Party = OwnTrade['party'];

export const ask: Run = (cli, { args, text }) =>
  inSession(cli, async (session) => {
    const [side = '', amount = '', base = '', quote = ''] = args;
    const [ownBase, ownQuote] = ownPair(session, base, quote);
    const asked = text('price');
    const ttlSeconds = wholeNumber('--for', text('for') ?? usualSeconds, {
      least: 1,
      most: lifetime.most,
    });
    const baseAmount = typedAmount(amount, ownBase);
    const askAmount = asked === undefined ? null : typedAmount(asked, ownQuote);
    const target = text('to');
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

const directionOf = (side: string): Rfq['direction'] =>
  side === 'sell' ? 'sell_base' : 'buy_base';

export const cancel: Run = (cli, { args: [id = ''] }) =>
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
function lifetimeOf({ text }: Given): { readonly validForSeconds?: number } {
  const given = text('valid');
  if (given === undefined) return {};
  return { validForSeconds: wholeNumber('--valid', given, validForSeconds) };
}

/**
 * The words of the person or script about the request must match what the market shows. Throws
 * Failure `other_terms`, and `usage` where --yes would agree to what nobody has named.
 */
function mustBeNamed(
  session: Session,
  { text }: Given,
  terms: { readonly direction: Rfq['direction']; readonly baseAmount: bigint } & Sided,
  { isNeeded, shown }: { readonly isNeeded: boolean; readonly shown: string },
): void {
  const missing = namedBy.filter((each) => text(each) === undefined);
  if (isNeeded && missing.length > 0) {
    const names = missing.map((each) => `--${each}`).join(', ');
    throw misused(`with --yes the request must be named, by ${names} too: the taker ${shown}`);
  }
  const other = otherThan(
    session,
    {
      side: text('side'),
      amount: text('amount'),
      base: text('base'),
      quote: text('quote'),
    },
    terms,
  );
  if (other === null) return;
  const sentence = `the taker ${shown}, which is not --${other} ${text(other)}: nothing was quoted`;
  throw needsYou('other_terms', sentence);
}

type Sided = Readonly<Record<'base' | 'quote', OwnAsset>>;

export const quote: Run = (cli, given) =>
  inSession(cli, async (session) => {
    const [id = '', amount = ''] = given.args;
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

export const withdraw: Run = (cli, { args: [id], has }) =>
  inSession(cli, async (session) => {
    if ((id === undefined) !== has('all')) throw misused('"withdraw" wants THREAD, or --all');
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

export const propose: Run = (cli, given) =>
  inSession(cli, async (session) => {
    const [id = '', amount = ''] = given.args;
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

export const threads: Run = (cli, { args: [rfqId], text }) =>
  inSession(cli, async (session) => {
    const role = text('role') as Party | undefined;
    const status = text('status') as Thread['status'] | undefined;
    const which = { ...(role && { role }), ...(status && { status }) };
    const { client, account } = await signedIn(session);
    const most = wholeNumber('--limit', text('limit') ?? '100', { least: 1, most: mostRows });
    const all = await readThreads(client, rfqId, most, which);
    const names = await catalogueOf(session, client);
    const rows = all.map((each) => rowOf(names, each, account.userId, session.now()));
    const head = ['thread', 'price', 'by', 'state', 'since', 'holds'];
    const isDefault = rfqId === undefined && role === undefined && status === undefined;
    const none = isDefault ? noOpenQuotes : 'none';
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

type Which = { readonly role?: Party; readonly status?: Thread['status'] };

async function readThreads(
  client: ParleyClient,
  rfqId: string | undefined,
  most: number,
  which: Which,
) {
  const all: Thread[] = [];
  let cursor: string | null = null;
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const query = { ...from, limit: Math.min(pageLimit.most, most - all.length) };
    const answered: Awaited<ReturnType<ParleyClient['quotes']>> =
      rfqId === undefined || (which.role ?? which.status) !== undefined
        ? await client.quotes({ ...query, ...which, ...(rfqId && { rfqId }) })
        : await client.threadsOfRfq(rfqId, query);
    all.push(...answered.threads.slice(0, query.limit));
    cursor = answered.nextCursor;
  } while (cursor !== null && all.length < most);
  return all;
}

export const accept: Run = (cli, { args: [id = ''], text, has }) =>
  inSession(cli, async (session) => {
    const signed = await signedIn(session);
    const thread = await signed.client.thread(id);
    const names = await catalogueOf(session, signed.client);
    const looked = lookedAt(session, signed.account.userId, names, thread);
    const { price, assets, terms } = looked;
    const wanted = text('price');
    if (cli.yes && wanted === undefined) {
      throw misused('with --yes the price must be named: --price AMOUNT');
    }
    if (wanted !== undefined && typedAmount(wanted, assets.quote) !== price) {
      const sentence = `the price is ${shownAmount(price, assets.quote)}, and not ${wanted}`;
      throw needsYou('price_moved', `${sentence}: nothing was accepted`);
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
    const swapId = begun ?? (has('wait') ? await agreedOn(cli, session, signed, id) : null);
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
      throw new Failure('not_received', 'lapsed', `${why}: nothing was agreed`);
    }
    if (!isTold) note(cli, `waits for the other side until ${deadlineOf(until, session.now())}`);
    isTold = true;
    await new Promise((next) => setTimeout(next, lookMs));
    cli.signal.throwIfAborted();
  }
}
