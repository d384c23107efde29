// The dev network's control server: gifts, blocks, time. Loopback only; every answer is JSON.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Queue } from '@parley/core/queue.ts';
import { RefusedRequest } from '@parley/host/failure.ts';
import type { Log } from '@parley/host/log.ts';
import type { Clock } from './clock.ts';
import type { DevChain } from './dev-chain.ts';
import { isSameAddress } from './faucet.ts';
import { closeServer, listen } from './listening.ts';
import { loopback } from './processes.ts';

const bodyLimitBytes = 16 * 1024;
const requestLimitMs = 60_000;
const blocksLimit = 1_000;
const secondsLimit = 30 * 24 * 60 * 60;

/** The asset that an id or symbol stands for; `address` is null for a native coin. */
export type ResolvedAsset = { chain: string; address: string | null; symbol: string };
export type ResolveAsset = (
  idOrSymbol: string,
) => ResolvedAsset | null | undefined | Promise<ResolvedAsset | null | undefined>;

/** The market that runs on the dev network, once it listens. */
export type DevMarket = {
  readonly url: string;
  readonly productName: string;
  readonly shortName: string;
};

export type ControlParts = {
  readonly chains: ReadonlyMap<string, { readonly chain: DevChain; readonly queue: Queue }>;
  readonly clock: Clock;
  readonly clockQueue: Queue;
  readonly moveClock: (seconds: number) => void | Promise<void>;
  readonly resolveAsset: ResolveAsset | undefined;
  readonly market: () => DevMarket | null;
  readonly log: Log;
};

type Handler = (parts: ControlParts, body: Record<string, unknown>) => Promise<object>;

const routes: Readonly<Record<string, { method: 'GET' | 'POST'; handle: Handler }>> = {
  '/faucet': { method: 'POST', handle: giveGift },
  '/mine': { method: 'POST', handle: mineBlocks },
  '/time': { method: 'POST', handle: moveTime },
  '/mining': { method: 'POST', handle: switchMining },
  '/status': { method: 'GET', handle: (parts) => readStatus(parts) },
  '/chains': { method: 'GET', handle: async (parts) => listChains(parts) },
};

export async function listenForControl(
  parts: ControlParts,
  port: number,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => void answer(parts, request, response));
  server.requestTimeout = requestLimitMs;
  const taken = await listen(server, loopback, port);
  return { url: `http://${loopback}:${taken}`, close: () => closeServer(server) };
}

async function answer(parts: ControlParts, request: IncomingMessage, response: ServerResponse) {
  try {
    mustBeLocal(request);
    const path = new URL(request.url ?? '/', 'http://control').pathname;
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (route === undefined) {
      throw new RefusedRequest(404, `There is ${Object.keys(routes).join(', ')}, not ${path}.`);
    }
    if (request.method !== route.method) {
      throw new RefusedRequest(405, `${path} takes ${route.method}, not ${request.method}.`);
    }
    const body = route.method === 'POST' ? parseObject(await readBody(request)) : {};
    reply(response, 200, await route.handle(parts, body));
  } catch (error) {
    const refused = error instanceof RefusedRequest;
    const message = error instanceof Error ? error.message : String(error);
    if (!refused) parts.log.error({ err: error, url: request.url }, 'a control request failed');
    reply(response, refused ? error.status : 500, { error: message });
  }
}

/** Not by a name that somebody points at this machine. */
export function mustNameThisMachine({ headers: { host = '' } }: IncomingMessage): void {
  if (/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i.test(host)) return;
  throw new RefusedRequest(403, `Host is "${host.slice(0, 100)}", not this machine.`);
}

/** Nor from a page of somebody else's. */
export function mustBeLocal(request: IncomingMessage): void {
  mustNameThisMachine(request);
  const { host = '', origin, 'sec-fetch-site': site } = request.headers;
  const isOwn = origin === undefined || origin === `http://${host}`;
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new RefusedRequest(403, 'A page of another origin may not ask this.');
}

export function reply(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed || response.headersSent) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    // The rest of a body that was too long to read is still on the wire.
    ...(status === 413 ? { connection: 'close' } : {}),
  });
  response.end(text);
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > bodyLimitBytes) {
      throw new RefusedRequest(413, `A body may have ${bodyLimitBytes} bytes.`);
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RefusedRequest(400, 'The body is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RefusedRequest(400, 'The body is not a JSON object.');
  }
  return value as Record<string, unknown>;
}

function allowOnly(body: Record<string, unknown>, names: readonly string[]): void {
  for (const name of Object.keys(body)) {
    if (!names.includes(name)) {
      throw new RefusedRequest(400, `There is no field "${name}": only ${names.join(', ')}.`);
    }
  }
}

function textField(body: Record<string, unknown>, name: string): string {
  const value = body[name];
  if (typeof value === 'string' && value !== '' && value.length <= 200) return value;
  throw new RefusedRequest(400, `"${name}" must be a string of 1 to 200 characters.`);
}

function wholeNumberField(body: Record<string, unknown>, name: string, limit: number): number {
  const value = body[name];
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= limit) {
    return value as number;
  }
  throw new RefusedRequest(400, `"${name}" must be a whole number from 1 to ${limit}.`);
}

function chainField(parts: ControlParts, body: Record<string, unknown>) {
  const name = textField(body, 'chain');
  const found = parts.chains.get(name);
  if (found !== undefined) return found;
  const known = [...parts.chains.keys()].join(', ');
  throw new RefusedRequest(400, `There is no dev chain "${name}": only ${known}.`);
}

async function giveGift(parts: ControlParts, body: Record<string, unknown>): Promise<object> {
  allowOnly(body, ['chain', 'address', 'asset', 'amount']);
  const { chain, queue } = chainField(parts, body);
  const address = textField(body, 'address');
  const asset = body.asset === undefined ? null : textField(body, 'asset');
  const token = asset === null ? null : await tokenOf(parts, chain, asset);
  const amount = body.amount === undefined ? null : amountField(body);
  const sent = await queue(() => chain.give({ address, token, amount }));
  return { txid: sent.txid, amount: sent.amount.toString() };
}

function amountField(body: Record<string, unknown>): bigint {
  const text = body.amount;
  if (typeof text === 'string' && /^[1-9]\d{0,77}$/.test(text)) return BigInt(text);
  throw new RefusedRequest(400, '"amount" must be a string: a whole number of base units.');
}

async function tokenOf(parts: ControlParts, chain: DevChain, asset: string) {
  if (asset === chain.nativeSymbol) return null;
  const { tokens = [], hostileTokens = [] } = chain.info;
  const own = [...tokens, ...hostileTokens].find(
    ({ symbol, address }) => symbol === asset || isSameAddress(address, asset),
  );
  if (own !== undefined) return own.address;
  const resolved = await parts.resolveAsset?.(asset);
  if (resolved?.chain === chain.info.chain) return resolved.address;
  const where = resolved ? `, it is on ${resolved.chain}` : '';
  throw new RefusedRequest(400, `${chain.info.chain} has no asset "${asset}"${where}.`);
}

async function mineBlocks(parts: ControlParts, body: Record<string, unknown>): Promise<object> {
  allowOnly(body, ['chain', 'blocks']);
  const { chain, queue } = chainField(parts, body);
  const blocks = wholeNumberField(body, 'blocks', blocksLimit);
  return queue(async () => {
    await chain.mine(blocks);
    return { chain: chain.info.chain, height: (await chain.head()).height };
  });
}

/** Additional to the published interface: lets a test look between two blocks. */
async function switchMining(parts: ControlParts, body: Record<string, unknown>): Promise<object> {
  allowOnly(body, ['chain', 'automatic']);
  const { chain, queue } = chainField(parts, body);
  const { automatic } = body;
  if (typeof automatic !== 'boolean') {
    throw new RefusedRequest(400, '"automatic" must be true or false.');
  }
  await queue(() => chain.setAutomatic(automatic));
  return { chain: chain.info.chain, automatic };
}

async function moveTime(parts: ControlParts, body: Record<string, unknown>): Promise<object> {
  allowOnly(body, ['seconds', 'emptyBlocks']);
  const { emptyBlocks = false } = body;
  if (typeof emptyBlocks !== 'boolean') {
    throw new RefusedRequest(400, '"emptyBlocks" must be true or false.');
  }
  const seconds = wholeNumberField(body, 'seconds', secondsLimit);
  return parts.clockQueue(async () => {
    const entries = [...parts.chains.values()];
    // Before the clock moves: a block that comes in between must not be moved once more.
    const heads = await Promise.allSettled(entries.map(({ chain }) => chain.head()));
    // First the note on disk: if anything fails from here on, a restart finds one time everywhere.
    await parts.clock.move(seconds);
    const moves = entries.map(({ chain, queue }, at) =>
      queue(async () => {
        const head = heads[at]!;
        if (head.status === 'rejected') throw head.reason;
        const now = Math.max(parts.clock.now(), head.value.medianTime + seconds);
        await chain.moveTo(now, emptyBlocks);
      }),
    );
    // Chains before the market: it must never think itself ahead of them by the whole move.
    const failed = (await Promise.allSettled(moves)).find(({ status }) => status === 'rejected');
    await parts.moveClock(seconds);
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
    return readStatus(parts);
  });
}

/** The facts that are known without asking a node: one that hangs does not keep this from being
 * answered. */
function listChains(parts: ControlParts): object {
  const chains = [...parts.chains.values()].map(({ chain }) => chain.info);
  return { clockOffsetSeconds: parts.clock.offsetSeconds(), chains };
}

async function readStatus(parts: ControlParts): Promise<object> {
  const chains = await Promise.all(
    [...parts.chains.values()].map(async ({ chain }) => ({
      ...chain.info,
      ...(await chain.head()),
      native: chain.nativeSymbol,
    })),
  );
  return {
    market: parts.market(),
    now: parts.clock.now(),
    clockOffsetSeconds: parts.clock.offsetSeconds(),
    chains,
  };
}
