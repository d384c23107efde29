// Rows about clients: the identity of clients, a proxy's limits, and slow ones.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientNetwork } from '@parley/market/edge/budgets.ts';
import { waitUntil } from '../support/waiting.ts';
import type { Change, Kind, RunningProxy } from './programs.ts';
import { json, refused } from './requests.ts';
import { type Row, rateLimit, type Scene } from './scene.ts';
import { ask, openSession, say } from './wire.ts';

/** How many requests a client has left after this one. */
async function left(
  proxy: Pick<RunningProxy, 'port' | 'certificate'>,
  from: string,
  forwarded = '',
) {
  const headers: Record<string, string> = {};
  if (forwarded !== '') headers['x-forwarded-for'] = forwarded;
  const answer = await ask(proxy, '/v1/keys/nonce', { from, headers });
  assert.equal(answer.status, 200, answer.body);
  return Number(answer.headers['ratelimit-remaining']);
}

/** Addresses that no row before has used; each counts by itself. */
let last = 256;
const fresh = () => {
  last += 1;
  return `127.0.${last >> 8}.${last & 255}`;
};

async function namedRight({ markets, with: opened }: Scene): Promise<string> {
  return opened([markets.one.port], async (proxy) => {
    const ann = fresh();
    const ben = fresh();
    assert.deepEqual(
      [await left(proxy, ann), await left(proxy, ann), await left(proxy, ben)],
      [rateLimit - 1, rateLimit - 2, rateLimit - 1],
    );
    assert.equal(await left(proxy, ben, '198.51.100.7'), rateLimit - 2, 'not believed');
    const { body } = await ask(proxy, '/v1/keys/nonce', { from: ann });
    assert.match(body, /"nonce"/);
    return 'each client has a budget of its own, whatever it writes into X-Forwarded-For';
  });
}

async function notNamed({ markets, with: opened }: Scene): Promise<string> {
  return opened([markets.missing.port], async (proxy) => {
    const first = await left(proxy, fresh());
    assert.equal(await left(proxy, fresh()), first - 1, 'another client, the same budget');
    const warned = () => markets.missing.market.log().match(/"peer":"127\.0\.0\.1"[^\n]*/)?.[0];
    const line = await waitUntil(warned);
    assert.match(line, /name it in PARLEY_TRUSTED_PROXIES/);
    return 'two clients share one budget, and the log warns and names the proxy’s address';
  });
}

async function sixtyFours({ with: opened, markets, program }: Scene): Promise<string> {
  assert.equal(program.kind, 'nginx');
  const told: Change = [
    'location = /v1/ws {',
    `set_real_ip_from 127.0.0.1;
    real_ip_header X-Real-IP;
    location = /which { return 200 $parley_client; }
    location = /v1/ws {`,
  ];
  return opened(
    [markets.one.port],
    async (proxy) => {
      const session = await openSession(proxy);
      const keyOf = async (address: string) =>
        (await session.ask('/which', { headers: { 'x-real-ip': address } })).body;
      const groups = ['0', '0', '1', 'db8', 'ffff', '2001'];
      const first = ['2001', '2a02', 'fd00', 'fe80'];
      const draw = (from: readonly string[]) => from[Math.floor(Math.random() * from.length)];
      const addresses = Array.from({ length: 2_000 }, () =>
        [draw(first), ...Array.from({ length: 7 }, () => draw(groups))].join(':'),
      );
      const keys = new Map<string, string>();
      for (const each of ['192.0.2.1', '192.0.2.2', '2001:db8::1', ...addresses]) {
        const key = await keyOf(each);
        const network = clientNetwork(each);
        assert.equal(keys.get(network) ?? key, key, `${each} is ${network} to the market`);
        keys.set(network, key);
      }
      session.close();
      assert.equal(new Set(keys.values()).size, keys.size, 'no two networks are one');
      return `${addresses.length} addresses are ${keys.size} clients, as the market counts them`;
    },
    [told],
  );
}

async function manyAtOnce({ proxy, program }: Scene): Promise<string> {
  assert.equal(program.kind, 'nginx');
  const busy = fresh();
  const other = fresh();
  const sessions = await Promise.all([openSession(proxy, busy), openSession(proxy, busy)]);
  let isHeld = true;
  // A request whose end never comes. The proxy ends it after 30 s: on a busy machine those begun
  // first had ended before the last ones were under way.
  const hold = async (session: (typeof sessions)[0]) => {
    const open = { method: 'POST', headers: json, isOpen: true };
    while (isHeld) {
      await session.ask('/v1/keys', open).catch(() => {});
      await sleep(100);
    }
  };
  try {
    for (const session of sessions) for (let count = 0; count < 100; count += 1) void hold(session);
    const over = await waitUntil(async () => {
      const answer = await ask(proxy, '/v1/keys/nonce', { from: busy });
      return answer.status === 429 && answer;
    });
    refused(over, '429 rate_limited');
    assert.equal(over.headers['retry-after'], '1');
    assert.equal((await ask(proxy, '/v1/keys/nonce', { from: other })).status, 200);
  } finally {
    isHeld = false;
    for (const session of sessions) session.close();
  }
  const flood = await openSession(proxy, fresh());
  const statuses = new Map<number, number>();
  for (let round = 0; round < 30; round += 1) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => flood.ask('/status')));
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  flood.close();
  assert.ok((statuses.get(200) ?? 0) >= 1_000 && (statuses.get(429) ?? 0) > 0, 'pages');
  const told = [...statuses].map(([status, count]) => `${count} times ${status}`).join(', ');
  return `the 201st request under way is 429, for that client alone; 3000 pages: ${told}`;
}

/** In a proxy of its own: Caddy allows minutes for an answer. */
function slowOnes({ program, markets, with: opened }: Scene): Promise<string> {
  const changes: Change[] = program.kind === 'caddy' ? [['write 5m', 'write 60s']] : [];
  return opened([markets.one.port], (proxy) => slow(proxy, program.kind), changes);
}

async function slow(proxy: RunningProxy, kind: Kind): Promise<string> {
  const host = 'Host: localhost\r\n';
  const letters = (count: number) => Array.from({ length: count }, () => 'a');
  const head = `POST /v1/keys HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
  const all = { mostMs: 120_000 };
  const stop = new AbortController();
  const others = (async () => {
    let count = 0;
    for (; !stop.signal.aborted; count += 1) {
      const { status } = await ask(proxy, '/v1/keys/nonce', { from: fresh() });
      assert.equal(status, 200, 'others are served meanwhile');
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    return count;
  })();
  others.catch(() => {});
  const [headers, body, dribble, unread] = await Promise.all([
    say(proxy, ['GET /v1/keys/nonce HTTP/1.1\r\nX: ', ...letters(110)], { ...all, everyMs: 1_000 }),
    say(proxy, [`${head}Content-Length: 100\r\n\r\n{`], all),
    say(proxy, [`${head}Content-Length: 100\r\n\r\n{`, ...letters(99)], { ...all, everyMs: 700 }),
    say(proxy, [`GET /v1/docs/scalar-1.72.1.js HTTP/1.1\r\n${host}\r\n`.repeat(30)], {
      mostMs: 75_000,
      isDeaf: true,
    }),
  ]);
  stop.abort();
  const count = await others;
  assert.ok(headers.closed && headers.ms < 40_000, `headers: ${headers.ms} ms`);
  assert.ok(body.closed && body.ms < 60_000, `body: ${body.ms} ms`);
  const late = /^HTTP\/1\.1 408 [\s\S]*request_timeout/i;
  assert.match(body.text, kind === 'nginx' ? /^$/ : late);
  // nginx waits for it, and asks the market then.
  assert.match(dribble.text, kind === 'nginx' ? /^HTTP\/1\.1 400 / : late);
  const answers = unread.text.split('HTTP/1.1 200 OK').length - 1;
  assert.ok(unread.closed && answers < 30, `who reads nothing had ${answers} answers`);
  const seconds = [headers, body, dribble].map(({ ms, closed: isClosed }) =>
    isClosed ? `${Math.round(ms / 1_000)} s` : 'open',
  );
  const [a, b, c] = seconds;
  const buffers = kind === 'nginx' ? 'the market saw none of them' : 'the market ends them';
  return (
    `headers end after ${a}, a body that stops after ${b}, one that dribbles after ${c}, ` +
    `who reads nothing is cut off; ${count} others were served; ${buffers}`
  );
}

export const clientRows: readonly Row[] = [
  { name: 'proxy named', play: namedRight },
  { name: 'proxy not named', play: notNamed },
  { name: 'IPv6 clients', only: 'nginx', play: sixtyFours },
  { name: 'many at once', only: 'nginx', play: manyAtOnce },
  { name: 'slow clients', play: slowOnes },
];
