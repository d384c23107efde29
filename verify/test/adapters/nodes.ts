// Bad nodes in front of real ones, which change one answer or keep what they should send. For HTTP
// bodies of JSON, which all four families speak.

import { nodeOf, type TestNode } from '@parley/chains/testing/nodes.ts';
import type { Alter, Asked, Driver } from './driver.ts';

type Real = Pick<Driver, 'url' | 'urlOf'>;

/**
 * The node, whose chain moves before it answers one of the questions that come once it is told to
 * begin: those before and after it are as of two nodes that are not at one block.
 */
export async function movingNode(
  driver: Real,
  at: number,
  move: () => Promise<void>,
): Promise<TestNode & { begin(): void; asked(): number }> {
  let count: number | null = null;
  const before = async () => {
    if (count === null) return;
    count += 1;
    if (count === at) await move();
  };
  const node = await lyingNode(driver, (_, answer) => answer, before);
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

/** A node's answer in place of the real one, or as that; undefined: none, ever. */
export type Instead = { readonly status?: number; readonly body: unknown } | 'as it is' | undefined;

/** The node, which never hears what it is asked to send and answers it so. */
export function keepingNode(
  driver: Real & Pick<Driver, 'isSending'>,
  instead: (asked: Asked) => Instead,
): Promise<TestNode> {
  return nodeOf(async (text, { url: path = '/' }) => {
    if (!driver.isSending({ path, text })) return forwarded(driver, path, text);
    const said = instead({ path, text });
    if (said === 'as it is') return forwarded(driver, path, text);
    const { status = 200, body } = said ?? {};
    return body === undefined ? undefined : { status, text: JSON.stringify(body) };
  });
}

/** A node, but for what `alter` makes of its answers. */
export function lyingNode(
  driver: Real,
  alter: Alter,
  before: () => Promise<void> = async () => {},
): Promise<TestNode> {
  return nodeOf(async (text, { url: path = '/' }) => {
    await before();
    const { status, text: answer } = await forwarded(driver, path, text);
    return { status, text: JSON.stringify(alter({ path, text }, JSON.parse(answer))) };
  });
}

async function forwarded({ url, urlOf = () => url }: Real, path: string, body: string) {
  const to = new URL(path, urlOf(path));
  const login = Buffer.from(`${to.username}:${to.password}`).toString('base64');
  const authorization = to.username === '' ? {} : { authorization: `Basic ${login}` };
  [to.username, to.password] = ['', ''];
  const headers = { 'content-type': 'application/json', ...authorization };
  const reply = await fetch(to, { method: 'POST', headers, body });
  return { status: reply.status, text: await reply.text() };
}
