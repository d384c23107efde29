// Rows about the processes behind a proxy: one ends in the middle of a request, hangs or is gone,
// and the feed of one is quiet for long.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { waitUntil } from '../support/waiting.ts';
import type { Change, RunningProxy } from './programs.ts';
import { json, refused } from './requests.ts';
import type { Row, Scene } from './scene.ts';
import { mark, openTap, type Tap } from './tap.ts';
import { type Answer, type Asked, ask } from './wire.ts';

/** The least fields of an RFQ, with an amount by which it is found again. */
function rfqOf({ customers }: Scene, baseAmount: string) {
  const { assets } = customers[0];
  const pair = { baseAssetId: assets.ETH.id, quoteAssetId: assets.SOL.id };
  return JSON.stringify({ direction: 'sell_base', baseAmount, ...pair, ttlSeconds: 3_600 });
}

const idOf = ({ body }: Answer) => (JSON.parse(body) as { rfq: { id: string } }).rfq.id;

/** Asks until the deadly one had it: which is asked first is the proxy's choice. */
async function dying(proxy: RunningProxy, deadly: Tap, path: string, asked: () => Asked) {
  for (let tries = 0; tries < 12; tries += 1) {
    const name = randomUUID();
    const { headers = {}, ...rest } = asked();
    const answer = await ask(proxy, path, { ...rest, headers: { ...headers, [mark]: name } });
    if (deadly.seen(name) > 0) return { answer, name };
  }
  throw new Error('the process that dies was never asked');
}

async function diesInTheMiddle(scene: Scene): Promise<string> {
  const { markets, customers, with: opened } = scene;
  const [{ key, client }] = customers;
  const deadly = await openTap(markets.one.port, true);
  const well = await openTap(markets.two.port);
  const authorization = `Bearer ${key}`;
  const times = (name: string) => [deadly.seen(name), well.seen(name)];
  const attempt = (path: string, asked: () => Asked) =>
    opened([deadly.port, well.port], (proxy) => dying(proxy, deadly, path, asked));
  try {
    const read = await attempt('/v1/rules', () => ({ headers: { authorization } }));
    assert.equal(read.answer.status, 200, 'a GET is asked of the other process');
    assert.equal(well.seen(read.name), 1);

    let amount = 1_000_000_000_000_000n;
    let sent: Asked = {};
    const rfq = () => {
      amount += 1n;
      const headers = { ...json, authorization, 'idempotency-key': randomUUID() };
      sent = { method: 'POST', headers, body: rfqOf(scene, String(amount)) };
      return sent;
    };
    const made = await attempt('/v1/rfqs', rfq);
    refused(made.answer, '502 bad_gateway');
    assert.deepEqual(times(made.name), [1, 0], 'a POST is sent once');
    assert.ok(Number(made.answer.headers['retry-after']) > 0);
    const own = async () => (await client.rfqs({ own: true, limit: 100 })).rfqs;
    const there = (await own()).filter(({ baseAmount }) => baseAmount === String(amount));
    assert.equal(there.length, 1, 'it had its effect, once');
    const again = await opened([well.port], (proxy) => ask(proxy, '/v1/rfqs', sent));
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.equal(idOf(again), there[0]?.id);

    const url = 'https://127.0.0.1:9/none';
    const hook = await postJson(scene, '/v1/webhooks', { url });
    const { webhook } = JSON.parse(hook.body) as { webhook: { id: string } };
    const gone = await attempt(`/v1/webhooks/${webhook.id}`, () => {
      return { method: 'DELETE', headers: { authorization } };
    });
    refused(gone.answer, '502 bad_gateway');
    assert.deepEqual(times(gone.name), [1, 0], 'a DELETE is sent once');
    return 'GET is asked of the other process; POST and DELETE are sent once and are 502; the key repeats';
  } finally {
    await deadly.close();
    await well.close();
  }
}

function postJson({ proxy, customers }: Scene, path: string, body: object): Promise<Answer> {
  const headers = { ...json, authorization: `Bearer ${customers[0].key}` };
  return ask(proxy, path, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function hangsOrIsGone(scene: Scene): Promise<string> {
  const { markets, program, with: opened } = scene;
  const hanging = await openTap(markets.one.port);
  const gone = await openTap(markets.two.port);
  await gone.close();
  // A minute otherwise.
  const sooner: Readonly<Record<typeof program.kind, Change>> = {
    nginx: ['proxy_read_timeout 60s;', 'proxy_read_timeout 6s;'],
    caddy: ['response_header_timeout 60s', 'response_header_timeout 6s'],
  };
  const post = { method: 'POST', headers: json, body: '{}' };
  try {
    await opened(
      [hanging.port],
      async (proxy) => {
        assert.equal((await ask(proxy, '/v1/keys/nonce')).status, 200);
        hanging.mute();
        const late = await ask(proxy, '/v1/keys', post);
        // Caddy may have found out by its probe meanwhile.
        if (late.status !== 503) refused(late, '504 gateway_timeout');
      },
      [sooner[program.kind]],
    );
    await opened([gone.port, markets.two.port], async (proxy) => {
      for (let count = 0; count < 20; count += 1)
        refused(await ask(proxy, '/v1/keys', post), '400 bad_field');
    });
    await opened([gone.port], async (proxy) => {
      const answer = await ask(proxy, '/v1/keys', post);
      refused(
        answer,
        program.kind === 'nginx'
          ? '502 bad_gateway'
          : `${answer.status} ${answer.status === 502 ? 'bad_gateway' : 'unavailable'}`,
      );
      const page = await ask(proxy, '/', { headers: { accept: 'text/html' } });
      const isPage = page.headers['content-type']?.startsWith('text/html');
      assert.equal(isPage, program.kind === 'nginx', 'a page for people');
    });
    return 'who hangs is 504; a process that is gone costs nobody a request; all gone is 502 or 503';
  } finally {
    await hanging.close();
  }
}

/** Opened before all rows, and quiet until now. */
async function quietFeed(scene: Scene): Promise<string> {
  const feed = scene.feed;
  // Longer than every wait of a proxy for a connection that says nothing.
  await waitUntil(() => performance.now() - feed.openedAt > 100_000, { mostMs: 120_000 });
  assert.ok(feed.isOpen(), 'it is open');
  const amount = '7000000000000000';
  const made = await postJson(scene, '/v1/rfqs', JSON.parse(rfqOf(scene, amount)) as object);
  assert.equal(made.status, 201, made.body);
  const id = idOf(made);
  await waitUntil(() => feed.frames.some(({ type, rfq }) => type === 'rfq' && rfq?.id === id));
  return `a socket without a word for ${Math.round((performance.now() - feed.openedAt) / 1_000)} s hears the next RFQ`;
}

export const upstreamRows: readonly Row[] = [
  { name: 'a process that dies', play: diesInTheMiddle },
  { name: 'one that hangs or is gone', play: hangsOrIsGone },
  { name: 'a quiet feed', play: quietFeed },
];
