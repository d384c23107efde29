// `npm run soak -- operations`: markets behind Debian's nginx with the file of
// apps/market/deploy/, over TLS on loopback. Prints a line for each row, and throws at the first
// that is not as promised.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, maxHeaderSize } from 'node:http';
import http2 from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { freePort } from '@parley/host/free-port.ts';
import { bodyLimitBytes } from '@parley/market/edge/body.ts';
import { openFeed } from '@parley/market/edge/testing/feed-client.ts';
import { makeCertificate, trusted } from '../support/certificate.ts';
import { newCustomer } from '../support/customers.ts';
import { startStage } from '../support/stage.ts';
import { type Nginx, obtainNginx, type Place, startNginx } from './nginx.ts';

type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};
type Asked = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** An address of this machine. */
  readonly from?: string;
};

/** Requests without a key that a client may make in a minute. */
const rateLimit = 1_000;
/** Longer than nginx waits by itself for a connection that says nothing. */
const quietMs = 70_000;
const json = { 'content-type': 'application/json' };

function connected({ port, certificate: { ca } }: Place, from: string, options = {}) {
  // Node takes the local address, and its types do not know it.
  const local: tls.ConnectionOptions & { localAddress: string } = {
    host: '127.0.0.1',
    port,
    localAddress: from,
    servername: 'localhost',
    ca,
    ...options,
  };
  return tls.connect(local);
}

/** One request on a connection of its own. */
async function ask(proxy: Place, path: string, asked: Asked = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, from = '127.0.0.1' } = asked;
  const request = httpRequest({
    method,
    path,
    headers: { host: `localhost:${proxy.port}`, ...headers },
    createConnection: () => connected(proxy, from),
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  const text = (await response.toArray()).join('');
  return { status: response.statusCode ?? 0, headers: response.headers, body: text };
}

function refused({ status, headers, body }: Answer, wanted: string): void {
  assert.equal(`${status} ${headers['x-parley-error']}`, wanted, body);
  assert.equal(typeof (JSON.parse(body) as { error: unknown }).error, 'string');
}

const handshake = (proxy: Place, options: tls.ConnectionOptions) =>
  new Promise<string>((resolve) => {
    const socket = connected(proxy, '127.0.0.1', { ciphers: 'DEFAULT@SECLEVEL=0', ...options });
    socket.on('error', ({ message }) => resolve(`refused: ${message}`));
    socket.on('secureConnect', () => {
      resolve(socket.getProtocol() ?? 'none');
      socket.destroy();
    });
  });

async function protocols(proxy: Nginx, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const one = await ask(proxy, '/v1/rules', { headers });
  assert.equal(one.headers['strict-transport-security'], 'max-age=31536000');
  const session = http2.connect(`https://localhost:${proxy.port}`);
  const stream = session.request({ ':path': '/v1/rules', ...headers });
  const [{ ':status': two }] = (await once(stream, 'response')) as [{ ':status': number }];
  session.destroy();
  assert.deepEqual([one.status, two], [200, 200]);
  const spoken = await Promise.all([
    handshake(proxy, { maxVersion: 'TLSv1.2' }),
    handshake(proxy, { minVersion: 'TLSv1.3' }),
  ]);
  assert.deepEqual(spoken, ['TLSv1.2', 'TLSv1.3']);
  const old = await handshake(proxy, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' });
  assert.notEqual(old, 'TLSv1.1');
  assert.match(await handshake(proxy, { servername: 'other.example' }), /^refused/);
  const stranger = { headers: { host: 'other.example' } };
  assert.equal((await ask(proxy, '/v1/rules', stranger)).status, 421);
  const plain = await fetch(`http://localhost:${proxy.httpPort}/v1/rfqs`, { method: 'POST' });
  assert.equal(plain.headers.get('x-parley-error'), 'https_only');
  return 'HTTP/1.1 and 2, TLS 1.2 and 1.3; older TLS, other names and plain HTTP are refused';
}

async function sizes(proxy: Nginx, key: string): Promise<string> {
  const headers = { ...json, authorization: `Bearer ${key}` };
  const post = (bytes: number) =>
    ask(proxy, '/v1/rfqs', { method: 'POST', headers, body: `{${' '.repeat(bytes - 2)}}` });
  refused(await post(bodyLimitBytes), '400 bad_field');
  refused(await post(bodyLimitBytes + 1), '413 body_too_large');
  const withHead = async (bytes: number) =>
    (await ask(proxy, '/v1/rules', { headers: { ...headers, 'x-long': 'a'.repeat(bytes) } }))
      .status;
  // Room for the proxy's own headers.
  assert.equal(await withHead(maxHeaderSize - 1_000), 200);
  assert.equal(await withHead(maxHeaderSize + 6_000), 431);
  return `bodies of ${bodyLimitBytes} bytes pass, one more is 413; headers have the market's limit`;
}

async function closed(proxy: Nginx): Promise<string> {
  for (const path of ['/readyz', '/livez', '/%72eadyz', '//readyz'])
    refused(await ask(proxy, path), '404 not_found');
  await writeFile(proxy.maintenance, '');
  try {
    for (const path of ['/v1/rules', '/account/session', '/v1/ws']) {
      const answer = await ask(proxy, path);
      refused(answer, '503 unavailable');
      assert.equal(answer.headers['retry-after'], '30');
    }
  } finally {
    await rm(proxy.maintenance);
  }
  assert.equal((await ask(proxy, '/v1/keys/nonce')).status, 200);
  return 'probes are not for the outside; one file closes the market, and its end opens it';
}

async function noSecretInLogs(proxy: Nginx, key: string): Promise<string> {
  const secret = 'code-that-signs-in';
  const headers = { 'x-api-key': key, cookie: `parley_session=${secret}` };
  await ask(proxy, `/account/provider/return/one?code=${secret}&state=${secret}`, { headers });
  const log = await proxy.log();
  assert.ok(log.includes('/account/provider/return/one'), 'the path is there');
  assert.ok(!log.includes(secret) && !log.includes(key), 'a secret is in the log');
  return 'no query and no header in the log';
}

/** How many requests a client has left after this one. */
async function left(proxy: Place, from: string, forwarded?: string): Promise<number> {
  const headers: Record<string, string> =
    forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const answer = await ask(proxy, '/v1/keys/nonce', { from, headers });
  return Number(answer.headers['ratelimit-remaining']);
}

async function named(proxy: Nginx): Promise<string> {
  const ann = '127.0.1.1';
  const ben = '127.0.1.2';
  const counted = [await left(proxy, ann), await left(proxy, ann), await left(proxy, ben)];
  assert.deepEqual(counted, [rateLimit - 1, rateLimit - 2, rateLimit - 1]);
  assert.equal(await left(proxy, ben, '198.51.100.7'), rateLimit - 2, 'not believed');
  return 'each client has a budget of its own, whatever it writes into X-Forwarded-For';
}

/** Processes that end in the middle of each request. */
async function sentOnce(opened: Opened): Promise<string> {
  const heard: number[] = [];
  const servers = [0, 1].map((at) =>
    createServer((socket) => {
      socket.once('data', () => {
        heard.push(at);
        socket.destroy();
      });
    }).listen(0, '127.0.0.1'),
  );
  await Promise.all(servers.map((each) => once(each, 'listening')));
  const ports = servers.map((each) => (each.address() as AddressInfo).port);
  try {
    return await opened(ports, async (proxy) => {
      for (const method of ['POST', 'DELETE']) {
        heard.length = 0;
        const answer = await ask(proxy, '/v1/rfqs/x', { method, headers: json });
        refused(answer, '502 bad_gateway');
        assert.equal(heard.length, 1, `a ${method} is sent once`);
      }
      return 'a POST and a DELETE are sent to one process, once, and are 502 when that ends';
    });
  } finally {
    for (const each of servers) each.close();
  }
}

type Opened = <T>(upstreams: readonly number[], work: (proxy: Nginx) => Promise<T>) => Promise<T>;

const program = await obtainNginx();
const certificate = trusted(makeCertificate(['DNS:localhost']));
const placed = async (): Promise<Place> => {
  return { certificate, port: await freePort(), httpPort: await freePort() };
};
const opened: Opened = async (upstreams, work) => {
  const proxy = await startNginx(program, await placed(), upstreams);
  return work(proxy).finally(proxy.stop);
};
const place = await placed();
const url = `https://localhost:${place.port}`;
const env = { PARLEY_PUBLIC_URL: url, PARLEY_RATE_LIMIT: String(rateLimit) };
const stage = await startStage({ env });
let rows = 0;
const told = (name: string, what: string) => {
  rows += 1;
  console.log(`nginx ${program.version} ${name}: ${what}`);
};
try {
  const trusting = (proxies: string) =>
    stage.startServer({ env: { PARLEY_TRUSTED_PROXIES: proxies } });
  const proxy = await startNginx(program, place, [(await trusting('127.0.0.1')).port]);
  try {
    const ann = await newCustomer({ ...stage, url }, 'Ann');
    const ben = await newCustomer({ ...stage, url }, 'Ben', 'bitcoin');
    const feed = await openFeed(url);
    feed.send({ apiKey: ben.key });
    await feed.of('ready');
    const quiet = sleep(quietMs);
    told('protocols', await protocols(proxy, ann.key));
    told('sizes', await sizes(proxy, ann.key));
    told('closed', await closed(proxy));
    told('logs', await noSecretInLogs(proxy, ann.key));
    told('proxy named', await named(proxy));
    told('a process that dies', await sentOnce(opened));
    await quiet;
    const { id } = await ann.client.createRfq({
      direction: 'sell_base',
      baseAssetId: ann.assets.ETH.id,
      baseAmount: '7000000000000000',
      quoteAssetId: ann.assets.SOL.id,
      ttlSeconds: 600,
    });
    await feed.frame(({ rfq }) => rfq?.id === id);
    feed.close();
    told('a quiet feed', `a socket without a word for ${quietMs / 1_000} s hears the next RFQ`);
  } finally {
    await proxy.stop();
  }
  const missing = await trusting('');
  await opened([missing.port], async (unnamed) => {
    const first = await left(unnamed, '127.0.2.1');
    assert.equal(await left(unnamed, '127.0.2.2'), first - 1, 'another client, the same budget');
    assert.match(
      missing.market.log(),
      /"peer":"127\.0\.0\.1"[^\n]*name it in PARLEY_TRUSTED_PROXIES/,
    );
  });
  told('proxy not named', 'two clients share one budget, and the log names the proxy’s address');
} finally {
  await stage.close();
}
console.log(`proxy: ${rows} rows passed behind nginx ${program.version}`);
