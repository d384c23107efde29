// Own swaps as resources, `swap://ID`: listed, read, and told of when they change. The content is
// that of the tool `swap`, with the words of others marked.

import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import { codeOf } from '@parley/sdk/errors.ts';
import { jsonOf } from '@parley/trader/io.ts';
import { type Desk, inWords } from './desk.ts';
import { errorOf } from './refusal.ts';
import { swapMade, swapView } from './tools/views.ts';
import { type Change, mostWatched } from './watch.ts';

const mimeType = 'application/json';
const idIn = /^swap:\/\/([0-9A-Za-z-]{1,64})$/;
/** The limit of one client. */
const mostSubscribed = 100;

const uriOf = (swapId: string) => `swap://${swapId}`;

export function registerSwaps(server: McpServer, desk: Desk): void {
  const list = async () => {
    const { swaps } = await read(() => desk.client.swaps({ limit: mostWatched }));
    const made = await Promise.all(swaps.map((each) => swapMade(desk, each)));
    const resources = made.map(({ swapId, status, gives, gets }) => ({
      uri: uriOf(swapId),
      name: `swap ${swapId}`,
      description: `${status}: gives ${inWords(gives)}, gets ${inWords(gets)}`,
    }));
    return { resources };
  };
  const about = { description: 'As the tool "swap" answers', mimeType };
  server.registerResource('swap', new ResourceTemplate('swap://{id}', { list }), about, (uri) =>
    contentOf(desk, uri.href),
  );
  subscribing(server, desk);
}

async function contentOf(desk: Desk, uri: string) {
  const swap = await swapAt(desk, uri);
  return { contents: [{ uri, mimeType, text: jsonOf(await swapView(desk, swap)) }] };
}

async function swapAt({ client }: Desk, uri: string) {
  const [, swapId] = idIn.exec(uri) ?? [];
  if (swapId === undefined) throw new ResourceNotFoundError(uri);
  return read(() => client.swap(swapId), uri);
}

/** The market's words are no error of the protocol: a client shows those as the server's own. */
async function read<T>(work: () => Promise<T>, uri?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (uri !== undefined && codeOf(error) === 'unknown_swap') throw new ResourceNotFoundError(uri);
    throw new ProtocolError(ProtocolErrorCode.InternalError, errorOf(error).sentence);
  }
}

/** As clients subscribe up to protocol 2025-11-25; newer ones ask the transport (`busOf`). */
function subscribing(server: McpServer, desk: Desk): void {
  const uris = new Set<string>();
  let stop: (() => void) | null = null;
  const end = () => {
    stop?.();
    stop = null;
  };
  const isWanted = ({ swapId }: Change) => uris.has(uriOf(swapId));
  server.server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    await swapAt(desk, uri);
    if (uris.size >= mostSubscribed && !uris.has(uri)) {
      const sentence = `${mostSubscribed} swaps are subscribed to, as many as may be`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, sentence);
    }
    uris.add(uri);
    stop ??= telling(server, desk, isWanted);
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
    uris.delete(uri);
    if (uris.size === 0) end();
    return {};
  });
  const before = server.server.onclose;
  server.server.onclose = () => {
    end();
    before?.();
  };
}

/** Tells the client of changes until the result is called. */
export function telling(
  { server }: McpServer,
  { watch }: Desk,
  isWanted: (change: Change) => boolean = () => true,
): () => void {
  const ignored = () => {};
  return watch.listen((change) => {
    if (change.isNew) server.sendResourceListChanged().catch(ignored);
    if (isWanted(change)) server.sendResourceUpdated({ uri: uriOf(change.swapId) }).catch(ignored);
  });
}

/** For subscriptions of protocol 2026-07-28, which the library's HTTP keeps and filters. */
export function busOf({ watch }: Desk): ServerEventBus {
  return {
    publish: () => {},
    subscribe: (listener) =>
      watch.listen(({ swapId, isNew }) => {
        if (isNew) listener({ kind: 'resources_list_changed' });
        listener({ kind: 'resource_updated', uri: uriOf(swapId) });
      }),
  };
}
