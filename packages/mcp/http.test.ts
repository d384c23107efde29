// HTTP answers whoever has the token and asks for this machine by name, and nobody else.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer, type ServerEvent, type ServerEventBus } from '@modelcontextprotocol/server';
import { aborted } from '@parley/sdk/waiting.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { z } from 'zod';
import { type HttpServer, serveHttp } from './http.ts';
import { createSessions, mostSessions } from './sessions.ts';

const token = 'a'.repeat(64);
let server: HttpServer;
/** Calls of the tool `hang` that have begun and not ended. */
let hanging = 0;
const listeners = new Set<(event: ServerEvent) => void>();
const bus: ServerEventBus = {
  publish: (event) => {
    for (const each of listeners) each(event);
  },
  subscribe: (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
before(async () => {
  server = await serveHttp({
    bus,
    port: 0,
    token,
    hosts: ['mcp.example'],
    origins: ['app.example'],
    note: () => {},
    serve: () => {
      const made = new McpServer({ name: 'x', version: '1' });
      const inputSchema = z.object({ text: z.string() });
      made.registerTool('echo', { inputSchema }, async ({ text }, { mcpReq }) => {
        const { progressToken } = mcpReq._meta ?? {};
        const params = { progressToken: progressToken ?? 0, progress: 1 };
        if (progressToken !== undefined) {
          await mcpReq.notify({ method: 'notifications/progress', params });
        }
        return { content: [{ type: 'text', text }] };
      });
      made.registerTool('hang', {}, async ({ mcpReq }) => {
        hanging += 1;
        const progressToken = mcpReq._meta?.progressToken ?? 0;
        const params = { progressToken, progress: 1, message: 'hangs' };
        await mcpReq.notify({ method: 'notifications/progress', params });
        await aborted(mcpReq.signal);
        hanging -= 1;
        return { content: [] };
      });
      made.server.registerCapabilities({ resources: { subscribe: true } });
      made.server.setRequestHandler('resources/subscribe', async ({ params }) => {
        listeners.add(() => void made.server.sendResourceUpdated(params));
        return {};
      });
      return made;
    },
  });
});
after(() => server.close());

type Progress = { readonly message?: string | undefined };
type Asked = { readonly path?: string; readonly method?: string; readonly body?: string };
type Headers = Readonly<Record<string, string>>;

/** `fetch` lets nobody say another Host. */
function status(headers: Headers, { path = '/mcp', method = 'POST', body = '{}' }: Asked = {}) {
  const { hostname, port } = new URL(server.url);
  const json = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return new Promise<number>((resolve, reject) => {
    const options = {
      hostname,
      port,
      path,
      method,
      headers: { ...json, ...headers },
      agent: false,
    };
    const asked = request(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once('error', reject);
    asked.end(method === 'GET' ? undefined : body);
  });
}
const authorization = `Bearer ${token}`;

test('the protocol’s own client calls a tool with the token, of either version of the protocol', async () => {
  for (const mode of ['auto', 'legacy'] as const) {
    const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization } };
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
    const said = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    assert.deepEqual(said.content, [{ type: 'text', text: 'hello' }]);
    await client.close();
  }
});

test('an Accept of one type, a wildcard or none is answered in a form that it takes', async () => {
  const json = 'application/json';
  const stream = 'text/event-stream';
  const expected = [
    [json, json],
    [stream, stream],
    ['*/*', json],
    ['application/*', json],
    ['text/*', stream],
    ['', json],
    [`${stream};q=0, */*`, json],
    [`${json};q=0, */*;q=0.1`, stream],
    [`text/html, ${json}; charset=utf-8`, json],
  ] as const;
  for (const mode of ['auto', 'legacy'] as const) {
    for (const [accept, form] of expected) {
      const forms: (string | null)[] = [];
      const asked: typeof fetch = async (url, init) => {
        const headers = { ...Object.fromEntries(new Headers(init?.headers)), accept };
        const answer = await fetch(url, { ...init, headers });
        if (answer.status === 200) forms.push(answer.headers.get('content-type'));
        return answer;
      };
      const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode } });
      const requestInit = { headers: { authorization } };
      const options = { requestInit, fetch: asked };
      await client.connect(new StreamableHTTPClientTransport(new URL(server.url), options));
      const text = 'data: a\n\nb\u2028c\u2029d\u0085e';
      const said = await client.callTool({ name: 'echo', arguments: { text } });
      assert.deepEqual(said.content, [{ type: 'text', text }]);
      await client.close();
      assert.deepEqual([...new Set(forms)], [form], `${mode} ${accept}`);
    }
  }
  const listen = { 'mcp-method': 'subscriptions/listen' };
  for (const headers of [
    { accept: 'text/html' },
    { accept: '*/*;q=0' },
    { accept: json, ...listen },
  ]) {
    assert.equal(await status({ authorization, ...headers }), 406, headers.accept);
  }
});

function sent(message: object, more: Headers = {}) {
  const headers = {
    authorization,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...more,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return fetch(server.url, { method: 'POST', headers, body });
}

const modes = ['auto', 'legacy'] as const;

async function connected(mode: (typeof modes)[number]) {
  const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
  return client;
}

test('a call tells how far it is, and ends in the server when its client takes it back', async () => {
  for (const mode of modes) {
    const client = await connected(mode);
    const stop = new AbortController();
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const how = { signal: stop.signal, onprogress: ({ message }: Progress) => resolve(message) };
    const call = client.callTool({ name: 'hang', arguments: {} }, how);
    assert.deepEqual([await promise, hanging], ['hangs', 1], mode);
    stop.abort(new Error('enough'));
    await assert.rejects(call, /enough/);
    await waitUntil(() => hanging === 0);
    await client.close();
  }
});

test('the stream of a call that is taken back ends, also where its client leaves it open', async () => {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  };
  const begun = await sent({ id: 1, method: 'initialize', params });
  await begun.text();
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  const of = { name: 'hang', arguments: {}, _meta: { progressToken: 1 } };
  const call = await sent({ id: 2, method: 'tools/call', params: of }, session);
  await sent({ method: 'notifications/cancelled', params: { requestId: 2 } }, session);
  assert.match(await call.text(), /notifications\/progress/);
});

test('a client hears that a resource has changed, of either version of the protocol', async () => {
  for (const mode of modes) {
    const client = await connected(mode);
    const { promise, resolve } = Promise.withResolvers<string>();
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      resolve(params.uri);
    });
    const uri = 'swap://s';
    if (mode === 'auto') await client.listen({ resourceSubscriptions: [uri] });
    else await client.subscribeResource({ uri });
    bus.publish({ kind: 'resource_updated', uri });
    assert.equal(await promise, uri, mode);
    listeners.clear();
    await client.close();
  }
});

test('streams have a limit of their own, and take no place of a call', async () => {
  const client = await connected('auto');
  const resourceSubscriptions = ['swap://s'];
  const one = () => client.listen({ resourceSubscriptions });
  const open = await Promise.all(Array.from({ length: mostSessions }, one));
  await assert.rejects(one());
  const stop = new AbortController();
  const hang = () => client.callTool({ name: 'hang', arguments: {} }, { signal: stop.signal });
  const calls = Promise.allSettled(Array.from({ length: 20 }, hang));
  await waitUntil(() => hanging === 20);
  const { content } = await client.callTool({ name: 'echo', arguments: { text: 'a' } });
  assert.deepEqual(content, [{ type: 'text', text: 'a' }]);
  stop.abort(new Error('enough'));
  await calls;
  await open[0]?.close();
  await waitUntil(() => listeners.size < mostSessions);
  await (await one()).close();
  await client.close();
});

test('a session that is unknown or was ended is not found, so that the client begins anew', async () => {
  const ping = { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) };
  assert.equal(await status({ authorization, 'mcp-session-id': 'none' }, ping), 404);
  assert.equal(await status({ authorization, 'mcp-session-id': 'none' }, { method: 'GET' }), 404);
});

test('more sessions than may be end the one that was quiet for longest, and quiet ones end', async () => {
  let at = 0;
  const serve = () => new McpServer({ name: 'x', version: '1' });
  const sessions = createSessions({ serve, maxRequestBodySize: 10_000, now: () => at });
  const send = async (message: object, id?: string) => {
    at += 1;
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(id === undefined ? {} : { 'mcp-session-id': id }),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message });
    const made = await sessions.answer(new Request(server.url, { method: 'POST', headers, body }));
    await made?.body?.cancel();
    return made;
  };
  const clientInfo = { name: 'c', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const begin = async () =>
    (await send({ method: 'initialize', params }))?.headers.get('mcp-session-id') ?? '';
  const stream = new AbortController();
  const listen = async (id: string) => {
    const headers = { accept: 'text/event-stream', 'mcp-session-id': id };
    await sessions.answer(new Request(server.url, { headers, signal: stream.signal }));
  };
  const isOpen = async (id: string) => (await send({ method: 'ping' }, id))?.status === 200;
  const first = await begin();
  const second = await begin();
  for (let made = 2; made < mostSessions; made += 1) await begin();
  assert.ok(await isOpen(first), 'it is used after the second');
  const last = await begin();
  assert.deepEqual([await isOpen(first), await isOpen(second)], [true, false]);
  at += 3_600_000;
  assert.ok(await isOpen(last));
  await listen(last);
  at += 1;
  await begin();
  assert.deepEqual([await isOpen(last), await isOpen(first)], [true, false]);
  at += 3_600_000;
  await begin();
  assert.ok(await isOpen(last), 'its client listens');
  stream.abort();
  at += 3_600_000;
  await begin();
  assert.equal(await isOpen(last), false);
  const one = await begin();
  assert.equal(await send({ method: 'ping' }), null, 'a request of no session stands by itself');
  await sessions.close();
  assert.equal(await isOpen(one), false);
});

test('a client that takes no stream gets the answer alone', async () => {
  const params = { name: 'echo', arguments: { text: 'a' }, _meta: { progressToken: 1 } };
  const made = await sent({ id: 7, method: 'tools/call', params }, { accept: 'application/json' });
  const { id, result } = (await made.json()) as { id: number; result: { content: object } };
  assert.deepEqual([id, result.content], [7, [{ type: 'text', text: 'a' }]]);
});

test('without the token, by another name, from another page, elsewhere and too long: refused', async () => {
  const ping = { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) };
  assert.equal(await status({ authorization }, ping), 200);
  assert.equal(await status({}, ping), 401);
  assert.equal(await status({ authorization: `Bearer ${token}a` }, ping), 401);
  assert.equal(await status({ authorization, host: 'evil.example' }, ping), 403);
  assert.equal(await status({ authorization, host: 'mcp.example' }, ping), 200);
  assert.equal(await status({ authorization, origin: 'https://evil.example' }, ping), 403);
  assert.equal(await status({ authorization, origin: 'null' }, ping), 403);
  assert.equal(await status({ authorization, origin: 'https://app.example' }, ping), 200);
  assert.equal(await status({ authorization }, { ...ping, path: '/other' }), 404);
  assert.equal(await status({ authorization }, { ...ping, path: '/mcp?a=b' }), 200);
  // An image of any page asks so, without a token: it must not end the process.
  for (const path of ['//', '//[', 'http://[/']) {
    assert.equal(await status({}, { path, method: 'GET' }), 404, path);
  }
  assert.equal(await status({ authorization }, { body: `"${'x'.repeat(262_144)}"` }), 413);
  assert.equal(await status({ authorization }, { method: 'GET' }), 405);
});
