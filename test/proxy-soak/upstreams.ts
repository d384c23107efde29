// Rows about what is behind a proxy: a process that ends in the middle of a request, hangs or is
// gone, and a trade as customers make it, with the feed and webhooks.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyWebhook } from '../../sdk/webhooks.ts';
import { agreed, endsRight, finish } from '../support/deals.ts';
import { waitUntil } from '../support/waiting.ts';
import { openFeed } from './feed.ts';
import type { Change, RunningProxy } from './programs.ts';
import { json, refused } from './requests.ts';
import type { Row, Scene } from './scene.ts';
import { mark, openTap, type Tap } from './tap.ts';
import { type Answer, type Asked, ask } from './wire.ts';

/** What of an RFQ is enough, with an amount by which it is found again. */
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

async function webhooks(scene: Scene): Promise<string> {
  const { receiver } = scene.stage;
  const path = `/hook/${randomUUID()}`;
  const url = new URL(path, receiver.url).href;
  const made = await postJson(scene, '/v1/webhooks', { url });
  const { webhook, secret } = JSON.parse(made.body) as {
    webhook: { id: string };
    secret: string;
  };
  const ping = await postJson(scene, `/v1/webhooks/${webhook.id}/ping`, {});
  assert.equal(ping.status, 200, ping.body);
  const got = await waitUntil(() => receiver.received.find((each) => each.path === path));
  const headers = got.headers as Record<string, string>;
  verifyWebhook({ secret, headers, body: got.body });
  return 'registered, pinged and delivered with a good signature';
}

async function swap(scene: Scene): Promise<string> {
  const { stage, customers, proxy } = scene;
  const ground = { ...stage, url: proxy.url };
  const deal = await agreed(ground, customers, 'SOL', 'ETH');
  const ends = await finish(ground, deal);
  await endsRight(stage, deal, ends, 'received');
  return 'two customers swapped, and webhooks told both the same';
}

async function reload({ markets, program, customers, with: opened }: Scene): Promise<string> {
  const headers = { authorization: `Bearer ${customers[1].key}` };
  return opened([markets.one.port, markets.two.port], async (proxy) => {
    const feed = await openFeed(proxy, customers[1].key);
    const state = { isDone: false };
    const asking = (async () => {
      let count = 0;
      for (; !state.isDone; count += 1) {
        const { status, body } = await ask(proxy, '/v1/rules', { headers });
        assert.equal(status, 200, body);
      }
      return count;
    })();
    asking.catch(() => {});
    for (let times = 0; times < 3; times += 1) {
      await proxy.reload();
      await sleep(1_000);
    }
    state.isDone = true;
    const count = await asking;
    if (program.kind === 'nginx') assert.ok(feed.isOpen(), 'the feed goes on');
    const left = feed.isOpen() ? 'a socket of the feed went on' : 'sockets of the feed were closed';
    feed.close();
    return `of ${count} requests beside three reloads none failed; ${left}`;
  });
}

async function noDatabase({ stage, proxy, program, customers }: Scene): Promise<string> {
  const headers = { authorization: `Bearer ${customers[0].key}` };
  const read = () => ask(proxy, '/v1/rfqs?own=true', { headers });
  stage.database.fail({ kind: 'cut' });
  try {
    const away = await waitUntil(async () => {
      const answer = await read();
      return answer.status !== 200 && answer;
    });
    refused(away, '503 unavailable');
    assert.ok(Number(away.headers['retry-after']) > 0);
    if (program.kind === 'nginx') assert.ok(away.headers['ratelimit-limit'], 'the market’s own');
  } finally {
    stage.database.heal();
  }
  await waitUntil(async () => (await read()).status === 200);
  return 'without its database it is 503, and it comes back by itself';
}

export const upstreamRows: readonly Row[] = [
  { name: 'a process that dies', play: diesInTheMiddle },
  { name: 'one that hangs or is gone', play: hangsOrIsGone },
  { name: 'no database', play: noDatabase },
  { name: 'a reload', play: reload },
  { name: 'webhooks', play: webhooks },
  { name: 'a swap', play: swap },
  { name: 'a quiet feed', play: quietFeed },
];
