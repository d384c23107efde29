// The description of the feed (AsyncAPI 3.0.0), made of the schemas that check its frames.

import type { TSchema } from 'typebox';
import type { Settings } from '../../settings/config.ts';
import { exampleOf, type Json } from '../examples.ts';
import { apiVersion, branded, type Components, publish } from '../openapi.ts';
import * as frames from '../schemas/feed.ts';
import { feedPath } from './upgrade.ts';

/** The messages of a client. */
const heard = {
  first: frames.firstFrame,
  quote: frames.quoteFrame,
  quotes: frames.quotesFrame,
  levels: frames.levelsFrame,
  ping: frames.pingFrame,
  switch: frames.switchFrame,
};

/** The messages of the server. */
const said = {
  snapshot: frames.snapshotFrame,
  ready: frames.readyFrame,
  rfq: frames.rfqFrame,
  quoted: frames.quotedFrame,
  outcomes: frames.outcomesFrame,
  published: frames.publishedFrame,
  error: frames.errorFrame,
  resumed: frames.resumedFrame,
  reset: frames.resetFrame,
  gone: frames.goneFrame,
  pong: frames.pongFrame,
  subscribed: frames.subscribedFrame,
  ...frames.eventFrames,
  cancelOnDisconnect: frames.switchedFrame,
};

const description =
  'What makers are told, and their quotes and levels. Frames are JSON in text. Closing codes and what ' +
  '`resume` adds: docs/feed.md.';

export function describeFeed(names: Pick<Settings, 'productName' | 'shortName'>): Json {
  const components: Components = new Map();
  const all = Object.entries<TSchema>({ ...heard, ...said });
  const messages = all.map(([name, payload]) => [
    name,
    {
      name,
      summary: (payload as { description?: string }).description,
      contentType: 'application/json',
      payload: publish(payload, components),
      examples: [{ payload: exampleOf(payload) }],
    },
  ]);
  const operations = (action: 'send' | 'receive', names: object) =>
    Object.keys(names).map((name) => [
      `${action}${name[0]?.toUpperCase()}${name.slice(1)}`,
      {
        action,
        channel: { $ref: '#/channels/feed' },
        messages: [{ $ref: `#/channels/feed/messages/${name}` }],
      },
    ]);
  const described = {
    asyncapi: '3.0.0',
    info: {
      title: `${names.productName} maker feed`,
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
          all.map(([name]) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
      },
    },
    operations: Object.fromEntries([...operations('receive', heard), ...operations('send', said)]),
    components: {
      messages: Object.fromEntries(messages),
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
  return branded(described, names);
}
