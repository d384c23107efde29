// Pages of the market's own site on the feed: by a ticket that stands for a session, once, and
// from no page of anybody else.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { insertTrader, someAddress } from '../../../test/support/trading.ts';
import { revokeSession } from '../../db/sessions.ts';
import { mostTickets } from '../../people/bounds.ts';
import { caller } from '../testing/edge.ts';
import { type FeedClient, type Frame, openFeed, openMaker } from '../testing/feed-client.ts';
import { anotherProcess, type FeedMarket, feedMarket } from '../testing/feed-market.ts';
import { renewed, type SignedIn, signedIn, siteAt } from '../testing/session.ts';

const site = 'https://market.example';
const partner = 'https://desk.example';
let market: FeedMarket;
/** Of the dev network: it has no name. */
let loopback: FeedMarket;
before(async () => {
  market = await feedMarket({ ...siteAt(site, { corsOrigins: [partner] }), rateLimit: 40 });
  loopback = await feedMarket({ rateLimit: 6 }, { feed: { recheckMs: 0 } });
});
after(async () => {
  await market.close();
  await loopback.close();
});

const isError = (frame: Frame) => frame.type === 'error';
const server = () => ({ call: caller(market.app), deps: market.deps });
const someone = () => signedIn(server(), { origin: site });

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

const gone = /ticket is unknown, was used, or is older than 30 s/;

test('a ticket stands for its session in the first frame, and no second time', async () => {
  const ticket = await ticketOf(await someone());
  assert.match(ticket, /^parley_ticket_[0-9A-Za-z]{43}$/);
  assert.equal(await refused(ticket), null);
  assert.match((await refused(ticket)) ?? '', gone);
});

test('of two sockets that show one ticket at once, one is taken', async () => {
  const ticket = await ticketOf(await someone());
  const tries = await Promise.all([refused(ticket), refused(ticket), refused(ticket)]);
  assert.equal(tries.filter((each) => each === null).length, 1);
});

test('only its hash is stored', async () => {
  const ticket = await ticketOf(await someone());
  const rows = await market.sql('select row_to_json(feed_tickets)::text as text from feed_tickets');
  assert.ok(rows.length > 0);
  for (const { text } of rows) assert.ok(!text.includes(ticket.slice('parley_ticket_'.length)));
});

test('a handshake that fails has used its ticket up', async () => {
  const browser = await someone();
  for (const wrong of [{ more: 1 }, { since: 3 }, { resume: 'yes' }]) {
    const ticket = await ticketOf(browser);
    const client = await openFeed(market.at);
    client.send({ apiKey: ticket, ...wrong });
    await client.frame(isError);
    client.close();
    assert.match((await refused(ticket)) ?? '', gone, JSON.stringify(wrong));
  }
});

test('a ticket is good for 30 s to the millisecond', async () => {
  const browser = await someone();
  market.deps.freeze();
  const [early, late] = [await ticketOf(browser), await ticketOf(browser)];
  market.deps.advance(29_999);
  assert.equal(await refused(early), null);
  market.deps.advance(1);
  assert.match((await refused(late)) ?? '', gone);
});

test('a session has twenty tickets at once: the oldest makes room', async () => {
  const browser = await someone();
  const tickets: string[] = [];
  for (let count = 0; count <= mostTickets; count += 1) {
    tickets.push(await ticketOf(browser));
    market.deps.advance(1);
  }
  const [first = '', second = ''] = tickets;
  assert.match((await refused(first)) ?? '', gone);
  assert.equal(await refused(second), null);
});

test('a ticket of a session that has ended, or of no session, is none', async () => {
  const browser = await someone();
  const ticket = await ticketOf(browser);
  const { accountId, id } = browser.stored;
  await revokeSession(market.db, accountId, id, id, new Date(market.deps.now()));
  // As whoever ends one waits: a moment later no process remembers it.
  await market.app.edge.keys.revoked(accountId, id);
  assert.equal(await refused(ticket), 'the session has ended');
  assert.match((await refused(`parley_ticket_${'a'.repeat(43)}`)) ?? '', gone);
  assert.match((await refused(`parley_ticket_${'a'.repeat(42)}`)) ?? '', /API key is invalid/);
  assert.match((await refused(browser.session())) ?? '', /API key is invalid/);
});

test('a ticket wants a session: no cookie and a key in its place get none', async () => {
  const trader = await market.trader();
  const { call } = server();
  const headers = { host: 'market.example', origin: site, 'x-parley-request': '1' };
  for (const key of [undefined, trader.key]) {
    const shown = key === undefined ? {} : { key };
    const { status, headers: said } = await call('POST', '/account/feed-ticket', {
      headers,
      ...shown,
    });
    assert.deepEqual([status, said['x-parley-error']], [401, 'session_missing']);
  }
});

describe('a socket of a session ends in every process with 4401', () => {
  const ends: [string, (browser: SignedIn) => Promise<unknown>][] = [
    [
      'when the session is revoked',
      ({ stored: { accountId, id } }) =>
        revokeSession(market.db, accountId, id, id, new Date(market.deps.now())),
    ],
    ['when its person signs in again', (browser) => renewed(market.deps, browser)],
    [
      'when it expires',
      ({ stored: { id } }) =>
        market.sql(
          'update sessions set expires_at = $2 where id = $1',
          id,
          new Date(market.deps.now() + 200),
        ),
    ],
  ];
  let other: Awaited<ReturnType<typeof anotherProcess>>;
  before(async () => {
    other = await anotherProcess(market);
  });
  after(() => other.close());
  for (const [name, end] of ends) {
    test(name, { timeout: 20_000 }, async () => {
      const browser = await someone();
      const expires = name === 'when it expires';
      if (expires) await end(browser);
      const here = await openMaker(market.at, { apiKey: await ticketOf(browser) });
      const there = await openMaker(other.at, { apiKey: await ticketOf(browser) });
      if (expires) market.deps.advance(200);
      else await end(browser);
      for (const client of [here, there]) {
        assert.equal((await client.closed).code, 4401);
        assert.match(client.frames.at(-1).error, /^the session has ended or was signed in to anew/);
      }
    });
  }
});

test('what ended without a notice is found, others stay', { timeout: 20_000 }, async () => {
  const { db, deps, at } = loopback;
  const here = { call: caller(loopback.app), deps };
  const people = await Promise.all(Array.from({ length: 3 }, () => signedIn(here)));
  const [ended, renewedOne, stays] = people as [SignedIn, SignedIn, SignedIn];
  const trader = await loopback.trader();
  const opened = await Promise.all([
    ...people.map(async (browser) => {
      const { body } = await browser.post('/account/feed-ticket');
      return openMaker(at, { apiKey: body.ticket });
    }),
    loopback.maker(trader),
  ]);
  const [one, two, three, four] = opened as [FeedClient, FeedClient, FeedClient, FeedClient];
  const now = new Date(deps.now());
  const change = (name: string, text: string, values: unknown[]) => db.rows({ name, text, values });
  await change('test_end', 'update sessions set revoked_at = $2 where id = $1', [
    ended.stored.id,
    now,
  ]);
  await change('test_renew', 'update sessions set hash = $2 where id = $1', [
    renewedOne.stored.id,
    randomBytes(32),
  ]);
  await change('test_revoke', 'update api_keys set revoked_at = $2 where account_id = $1', [
    trader.accountId,
    now,
  ]);
  for (const client of [one, two, four]) assert.equal((await client.closed).code, 4401);
  assert.equal(three.ws.readyState, three.ws.OPEN);
  assert.equal((await stays.get('/v1/me')).status, 200);
  three.close();
});

test("a quote by ticket is the account's, and spends the budget of its keys", async () => {
  const own = loopback;
  const wallets = [
    { family: 'bitcoin', address: someAddress('bitcoin') },
    { family: 'evm', address: someAddress('evm') },
  ] as const;
  const taker = await own.trader();
  const { id: rfqId } = await own.rfq(taker);
  const mine = await insertTrader(own.deps, ['read', 'taker', 'maker'], wallets);
  const proven = { way: 'wallet', ...wallets[1], pubkey: null } as const;
  const here = { call: caller(own.app), deps: own.deps };
  const browser = await signedIn(here, { proven });
  assert.equal(browser.accountId, mine.accountId);
  const { body } = await browser.post('/account/feed-ticket');
  const client = await openMaker(own.at, { apiKey: body.ticket });
  for (const quoteAmount of ['65000000', '65000001', '65000002']) {
    client.send({ quote: { rfqId, quoteAmount } });
    await client.frame((frame) => frame.type === 'quoted');
  }
  const { headers } = await here.call('GET', '/v1/me', { key: mine.key });
  assert.equal(headers['ratelimit-remaining'], '1');
  await here.call('GET', '/v1/me', { key: mine.key });
  client.send({ quote: { rfqId, quoteAmount: '65000003' } });
  assert.match((await client.frame(isError)).error, /too many requests for this account/);
  client.close();
});

/** What HTTP answers to a handshake with these headers. */
function handshake(headers: Record<string, string>): Promise<[number, string | undefined]> {
  return new Promise((resolve, reject) => {
    const good = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const sent = request(`${market.at}/v1/ws`, { headers: { ...good, ...headers } });
    const told = ({ statusCode = 0, headers }: IncomingMessage) =>
      resolve([statusCode, headers['x-parley-error'] as string | undefined]);
    sent.on('upgrade', (answer, socket) => {
      socket.destroy();
      told(answer);
    });
    sent.on('response', (answer) => {
      answer.resume();
      told(answer);
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('a page opens a socket of our own site and of those that are named, and of no other', async () => {
  const rebound = { origin: 'http://rebound.example', host: 'rebound.example' };
  // No browser sends no Origin.
  for (const headers of [{}, { origin: site }, { origin: partner }]) {
    assert.deepEqual(await handshake(headers), [101, undefined]);
  }
  for (const headers of [
    ...['https://evil.example', 'https://a.market.example', 'http://market.example'].map(
      (origin) => ({ origin }),
    ),
    ...[{ origin: `${site}:444` }, { origin: 'null' }, rebound],
  ]) {
    assert.deepEqual(await handshake(headers), [403, 'cross_site'], JSON.stringify(headers));
  }
});

test('a cookie opens nothing: only the first frame says who it is', async () => {
  const browser = await someone();
  const cookie = `__Host-parley_session=${browser.session()}`;
  const client = await openFeed(market.at, { headers: { origin: site, cookie } });
  client.send({});
  assert.match((await client.frame(isError)).error, /"apiKey" is missing/);
  client.close();
});

test('on the dev network our own site is loopback at the port that was asked', async () => {
  const { at } = loopback;
  const sockets = async (headers: Record<string, string>) => {
    const opened = openFeed(at, { headers });
    return opened.then(
      (client) => {
        client.close();
        return true;
      },
      () => false,
    );
  };
  assert.equal(await sockets({ origin: at }), true);
  assert.equal(await sockets({ origin: 'http://127.0.0.1:9' }), false);
  const rebound = { host: 'rebound.example', origin: 'http://rebound.example' };
  assert.equal(await sockets(rebound), false);
});
