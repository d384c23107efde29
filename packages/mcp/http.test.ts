// HTTP answers whoever has the token and asks for this machine by name, and nobody else.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type HttpServer, serveHttp } from './http.ts';

const token = 'a'.repeat(64);
let server: HttpServer;
before(async () => {
  server = await serveHttp({
    port: 0,
    token,
    hosts: ['mcp.example'],
    origins: ['app.example'],
    note: () => {},
    serve: () => {
      const made = new McpServer({ name: 'x', version: '1' });
      const inputSchema = z.object({ text: z.string() });
      made.registerTool('echo', { inputSchema }, async ({ text }) => ({
        content: [{ type: 'text', text }],
      }));
      return made;
    },
  });
});
after(() => server.close());

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
