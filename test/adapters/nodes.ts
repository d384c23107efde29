// Bad nodes in front of real ones: silent, gone, or changing one answer. For HTTP bodies of JSON,
// which all four families speak.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Alter, Asked, Driver } from './driver.ts';

export type BadNode = { readonly url: string; stop(): Promise<void> };

/** Takes every request and answers none. */
export const silentNode = (): Promise<BadNode> => listen(() => {});

/**
 * The node, whose chain moves before it answers one of the questions that come once it is told to
 * begin: those before and after it are as of two nodes that are not at one block.
 */
export async function movingNode(
  driver: Pick<Driver, 'url' | 'urlOf'>,
  at: number,
  move: () => Promise<void>,
): Promise<BadNode & { begin(): void; asked(): number }> {
  let count: number | null = null;
  const node = await lyingNode(
    driver,
    (_, answer) => answer,
    async () => {
      if (count === null) return;
      count += 1;
      if (count === at) await move();
    },
  );
  return {
    ...node,
    begin: () => {
      count = 0;
    },
    asked: () => count ?? 0,
  };
}

/** Whether a call or an answer holds the secret: in hex, or in the bytes of a base64 text. */
export function tells(text: string, secret: string): boolean {
  const bytes = Buffer.from(secret, 'hex');
  const quoted = text.match(/"[^"]*"/g) ?? [];
  return (
    text.includes(secret) || quoted.some((each) => Buffer.from(each, 'base64').includes(bytes))
  );
}

/** Answers everything with the same status and text. */
export const fixedNode = (status: number, text: string): Promise<BadNode> =>
  listen((_, reply) => reply(status, text));

/** What a node answers in place of the real one; undefined: nothing, ever. */
export type Instead = { readonly status?: number; readonly body: unknown } | undefined;

/** The node, which never hears what it is asked to send and answers it so. */
export function keepingNode(
  { url, urlOf = () => url, isSending }: Pick<Driver, 'url' | 'urlOf' | 'isSending'>,
  instead: (asked: Asked) => Instead,
): Promise<BadNode> {
  return listen(async (request, reply) => {
    const path = request.url ?? '/';
    const text = await textOf(request);
    if (!isSending({ path, text })) {
      const real = await forwarded(urlOf(path), path, text);
      reply(real.status, await real.text());
      return;
    }
    const said = instead({ path, text });
    if (said !== undefined) reply(said.status ?? 200, JSON.stringify(said.body));
  });
}

function forwarded(url: string, path: string, body: string): Promise<Response> {
  const to = new URL(path, url);
  const { username, password } = to;
  const login = Buffer.from(`${username}:${password}`).toString('base64');
  [to.username, to.password] = ['', ''];
  const headers = {
    'content-type': 'application/json',
    ...(username === '' ? {} : { authorization: `Basic ${login}` }),
  };
  return fetch(to, { method: 'POST', headers, body });
}

/** A node, but for what `alter` makes of its answers. */
export function lyingNode(
  { url, urlOf = () => url }: Pick<Driver, 'url' | 'urlOf'>,
  alter: Alter,
  before: () => Promise<void> = async () => {},
): Promise<BadNode> {
  return listen(async (request, reply) => {
    await before();
    const path = request.url ?? '/';
    const text = await textOf(request);
    const answer = await forwarded(urlOf(path), path, text);
    const said = alter({ path, text }, JSON.parse(await answer.text()));
    reply(answer.status, JSON.stringify(said));
  });
}

type Reply = (status: number, text: string) => void;

function listen(
  handle: (request: IncomingMessage, reply: Reply) => Promise<void> | void,
): Promise<BadNode> {
  const server = createServer((request, response) => {
    const reply: Reply = (status, text) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(text);
    };
    // A test may stop the real node while it is still asked.
    void Promise.resolve(handle(request, reply)).catch(() => response.destroy());
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const stop = () =>
        new Promise<void>((done) => {
          server.closeAllConnections();
          server.close(() => done());
        });
      resolve({ url: `http://127.0.0.1:${port}`, stop });
    });
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}
