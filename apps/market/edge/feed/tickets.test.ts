// Pages of the market's own site on the feed: by a ticket that stands for a session, once, and
// from no page of anybody else.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { revokeSession } from '../../db/sessions.ts';
import { caller } from '../testing/edge.ts';
import { openFeed, openMaker } from '../testing/feed-client.ts';
import { anotherProcess, type FeedMarket, feedMarket } from '../testing/feed-market.ts';
import { renewed, type SignedIn, signedIn, siteAt } from '../testing/session.ts';

const site = 'https://market.example';
const partner = 'https://desk.example';
const market = await feedMarket({
  ...siteAt(site, { corsOrigins: [partner] }),
  rateLimit: 40,
});
/** A market of the dev network: it has no site name. */
const loopback = await feedMarket({ rateLimit: 7 });
after(async () => {
  await market.close();
  await loopback.close();
});

const callsOf = ({ app, deps }: FeedMarket) => ({ call: caller(app), deps });
const someone = () => signedIn(callsOf(market), { origin: site });

async function ticketOf(browser: SignedIn): Promise<string> {
  const { status, body } = await browser.post('/account/feed-ticket');
  assert.equal(status, 201, JSON.stringify(body));
  return body.ticket;
}

/** Why a first frame with this ticket is refused; null = it is not. */
async function refused(apiKey: string): Promise<string | null> {
  const client = await openFeed(market.at);
  client.send({ apiKey });
  const { type, error } = await client.frame(({ type }) => type === 'ready' || type === 'error');
  client.close();
  return type === 'ready' ? null : error;
}

const limits = { timeout: 20_000 };
const gone = /ticket is unknown, was used, or is older than 30 s/;

test('a ticket stands for its session in one first frame, of three at once too', async () => {
  const ticket = await ticketOf(await someone());
  assert.match(ticket, /^parley_ticket_[0-9A-Za-z]{43}$/);
  // Only its hash is stored.
  const [row] = await market.sql(
    'select row_to_json(feed_tickets)::text as text from feed_tickets',
  );
  assert.ok(!row.text.includes(ticket.slice('parley_ticket_'.length)));
  const tries = await Promise.all([refused(ticket), refused(ticket), refused(ticket)]);
  assert.equal(tries.filter((each) => each === null).length, 1);
  assert.match((await refused(ticket)) ?? '', gone);
});

test('a ticket is good for 30 s to the millisecond', async () => {
  const browser = await someone();
  market.deps.freeze();
  const early = await ticketOf(browser);
  const late = await ticketOf(browser);
  market.deps.advance(29_999);
  assert.equal(await refused(early), null);
  market.deps.advance(1);
  assert.match((await refused(late)) ?? '', gone);
});

test('a ticket of a session that has ended, or of no session, is none', async () => {
  const browser = await someone();
  const ticket = await ticketOf(browser);
  const { accountId, id } = browser.stored;
  await revokeSession(market.db, accountId, id, new Date(market.deps.now()));
  // As whoever ends one waits: a moment later no process remembers it.
  await market.app.edge.keys.revoked(accountId);
  assert.equal(await refused(ticket), 'the session has ended');
  assert.match((await refused(`parley_ticket_${'a'.repeat(43)}`)) ?? '', gone);
  assert.match((await refused(`parley_ticket_${'a'.repeat(42)}`)) ?? '', /API key is invalid/);
  assert.match((await refused(browser.session())) ?? '', /API key is invalid/);
});

test('a socket of a session that ends is closed in every process with 4401', limits, async () => {
  const other = await anotherProcess(market);
  const at = () => new Date(market.deps.now());
  const ends: ((browser: SignedIn) => Promise<unknown>)[] = [
    ({ stored: { accountId, id } }) => revokeSession(market.db, accountId, id, at()),
    // Its person signs in again.
    (browser) => renewed(market.deps, browser),
    async ({ stored: { id } }) => {
      const soon = new Date(market.deps.now() + 200);
      await market.sql('update sessions set expires_at = $2 where id = $1', id, soon);
    },
  ];
  for (const [index, end] of ends.entries()) {
    const browser = await someone();
    const expires = index === 2;
    if (expires) await end(browser);
    const here = await openMaker(market.at, { apiKey: await ticketOf(browser) });
    const there = await openMaker(other.at, { apiKey: await ticketOf(browser) });
    if (expires) market.deps.advance(200);
    else await end(browser);
    for (const client of [here, there]) {
      assert.equal((await client.closed).code, 4401);
      assert.match(client.frames.at(-1).error, /^the session has ended or was signed in to anew/);
    }
  }
  await other.close();
});

test('a ticket counts from our own pages and those that are named; a key from everywhere', async () => {
  const browser = await someone();
  const { key } = await market.trader();
  const said = async (headers: Record<string, string>, apiKey: string) => {
    const client = await openFeed(market.at, { headers });
    client.send({ apiKey });
    const { type, error } = await client.frame(({ type }) => type === 'ready' || type === 'error');
    client.close();
    return error ?? type;
  };
  // A program sends no Origin.
  for (const headers of [{}, { origin: site }, { origin: partner }]) {
    assert.equal(await said(headers, await ticketOf(browser)), 'ready');
  }
  const rebound = { origin: 'http://rebound.example', host: 'rebound.example' };
  for (const headers of [
    ...['https://evil.example', 'https://a.market.example', 'http://market.example'].map(
      (origin) => ({ origin }),
    ),
    { origin: `${site}:444` },
    { origin: 'null' },
    rebound,
  ]) {
    const ticket = await ticketOf(browser);
    assert.match(await said(headers, ticket), /^pages of ".*" may show no ticket here/);
    assert.match((await refused(ticket)) ?? '', gone, 'it is used up');
    assert.equal(await said(headers, key), 'ready', JSON.stringify(headers));
  }
});
