// The description of the feed (AsyncAPI 3.0.0), made of the schemas that check its frames.

import type { TSchema } from 'typebox';
import type { Settings } from '../../settings/config.ts';
import { apiVersion, type Components, publish } from '../openapi.ts';
import {
  errorFrame,
  firstFrame,
  goneFrame,
  pingFrame,
  pongFrame,
  quotedFrame,
  quoteFrame,
  readyFrame,
  resetFrame,
  resumedFrame,
  rfqFrame,
  snapshotFrame,
} from '../schemas/feed.ts';
import { feedPath } from './upgrade.ts';

type Json = Record<string, unknown>;
type Message = { readonly summary: string; readonly payload: TSchema };

/** Of a client. */
const heard: Readonly<Record<string, Message>> = {
  first: {
    summary: 'The key; the first frame, and the only one taken before',
    payload: firstFrame,
  },
  quote: { summary: 'A price for an RFQ, as POST /v1/rfqs/{id}/quotes', payload: quoteFrame },
  ping: { summary: 'With `resume`: asks for a pong', payload: pingFrame },
};

/** Of the server. */
const said: Readonly<Record<string, Message>> = {
  snapshot: { summary: 'The book as it is', payload: snapshotFrame },
  ready: { summary: 'From here on the stream', payload: readyFrame },
  rfq: { summary: 'An RFQ came, or left the book: an upsert by its id', payload: rfqFrame },
  quoted: { summary: 'The quote is stored on this thread', payload: quotedFrame },
  error: { summary: 'What was refused, or why the socket is closed', payload: errorFrame },
  resumed: { summary: 'With `since`: what was missed follows, then ready', payload: resumedFrame },
  reset: { summary: 'With `since`: the log does not reach back; a snapshot', payload: resetFrame },
  gone: { summary: 'With `resume`: an RFQ expired or was agreed', payload: goneFrame },
  pong: { summary: 'With `resume`: the answer to a ping', payload: pongFrame },
};

const description =
  'What makers are told, and their quotes. Frames are JSON in text. Closing codes and what ' +
  '`resume` adds: docs/feed.md.';

export function describeFeed({ productName }: Pick<Settings, 'productName'>): Json {
  const components: Components = new Map();
  const all = { ...heard, ...said };
  const messages = Object.fromEntries(
    Object.entries(all).map(([name, { summary, payload }]) => [
      name,
      { name, summary, contentType: 'application/json', payload: publish(payload, components) },
    ]),
  );
  const operations = {
    ...Object.fromEntries(Object.keys(heard).map((name) => operation('receive', name))),
    ...Object.fromEntries(Object.keys(said).map((name) => operation('send', name))),
  };
  return {
    asyncapi: '3.0.0',
    info: {
      title: `${productName} maker feed`,
      version: apiVersion,
      description,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      feed: {
        address: feedPath,
        description: 'One socket; the actions of the operations are those of the server.',
        messages: Object.fromEntries(
          Object.keys(all).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
      },
    },
    operations,
    components: {
      messages,
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operation(action: 'send' | 'receive', name: string): [string, Json] {
  const operationId = `${action}${name[0]?.toUpperCase()}${name.slice(1)}`;
  return [
    operationId,
    {
      action,
      channel: { $ref: '#/channels/feed' },
      messages: [{ $ref: `#/channels/feed/messages/${name}` }],
    },
  ];
}
