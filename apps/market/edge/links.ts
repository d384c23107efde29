// The operations that may follow an answer (OpenAPI links): a swap from its RFQ to its last
// broadcast. They follow from the shapes of answers, so that a new operation has those of its kind.

import type { TSchema } from 'typebox';
import type { Json } from './examples.ts';

/** `$` in parameters and body is the place of what was answered, as in `$response.body#/swap`. */
type Next = {
  readonly operationId: string;
  /** The leg, where several links lead to one operation. */
  readonly leg?: 'a' | 'b';
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly description: string;
};

const withId = (operationId: string, description: string, body?: Json): Next => ({
  operationId,
  description,
  parameters: { id: '$/id' },
  ...(body === undefined ? {} : { body }),
});

const legs = ['a', 'b'] as const;
const ofLegs = (operationId: string, what: string, bodyOf?: (leg: 'a' | 'b') => Json): Next[] =>
  legs.map((leg) => ({
    operationId,
    leg,
    description: `${what} leg ${leg}`,
    parameters: { id: '$/id', ...(operationId === 'setAddress' ? {} : { leg }) },
    ...(bodyOf === undefined ? {} : { body: bodyOf(leg) }),
  }));

const pair = { baseAssetId: '$/0/id', quoteAssetId: '$/1/id' };
const tradeOf = 'of the first two assets';
const ofWebhook = [
  withId('pingWebhook', 'sends it a test'),
  withId('deleteWebhook', 'removes it'),
] as const;
const toBroadcast: readonly Next[] = [
  {
    operationId: 'broadcast',
    body: { chain: '$/chain' },
    description: 'sends it: `signed` is what your wallet makes of it',
  },
];

/** By the name of the shape that was answered. */
const next: Readonly<Record<string, readonly Next[]>> = {
  Rfq: [
    withId('getRfq', 'reads the RFQ'),
    withId('cancelRfq', 'its creator takes it off the market'),
    withId('quoteRfq', 'a maker names its price'),
    withId('listThreads', 'the quotes that came'),
  ],
  Thread: [
    withId('getThread', 'reads the thread'),
    withId('proposePrice', 'either side names another price'),
    withId('acceptPrice', 'either side accepts this price', { quoteAmount: '$/quoteAmount' }),
    withId('withdrawQuote', 'the maker takes its quote back'),
    withId('getOtherRecord', 'how the other side kept its agreements'),
  ],
  Swap: [
    withId('getSwap', 'reads the swap: `next` says who does what'),
    ...ofLegs('setAddress', 'your address on the chain of', (leg) => ({
      chain: `$/legs/${leg}/chain`,
    })),
    ...ofLegs('buildFund', 'its funder pays into'),
    ...ofLegs('buildClaim', 'with the secret, the other side takes', () => ({
      secret: '$/secret',
    })),
    ...ofLegs('buildRefund', 'after the timelock, the funder takes back'),
    ...ofLegs('scheduleRefunds', 'Bitcoin: the funder leaves signed refunds of'),
  ],
  Webhook: ofWebhook,
  ListedWebhook: ofWebhook,
  ProvenWallet: [
    {
      operationId: 'removeWallet',
      parameters: { address: '$/address' },
      description: 'removes the proof',
    },
  ],
  QuotesReply: [
    {
      operationId: 'getThread',
      parameters: { id: '$/outcomes/0/threadId' },
      description: 'reads the thread of the first quote',
    },
  ],
  WithdrawReply: [
    {
      operationId: 'withdrawQuotes',
      body: { after: '$/next' },
      description: 'goes on, where `next` is not null',
    },
  ],
  Material: toBroadcast,
  FundReply: toBroadcast,
  ClaimReply: toBroadcast,
};

/** Two assets are a trade. */
const ofAssets: readonly Next[] = [
  { operationId: 'createRfq', body: pair, description: `asks for quotes ${tradeOf}` },
  { operationId: 'getPair', parameters: pair, description: `what a trade ${tradeOf} costs` },
  { operationId: 'getPairPrice', parameters: pair, description: `prices ${tradeOf}` },
];

type Shape = {
  readonly 'x-name'?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
};

/** The links of an answer of this shape; null: none. */
export function linksOf(own: string, reply: TSchema): Json | null {
  const { 'x-name': name = '', properties = {} } = reply as Shape;
  const links = [
    ...linksAt('', next[name] ?? []),
    ...Object.entries(properties).flatMap(([field, { 'x-name': one = '', items }]) => {
      const inside = items?.['x-name'] ?? '';
      const ofFirst = linksAt(`/${field}/0`, next[inside] ?? []);
      const ofAll = inside === 'Asset' ? linksAt(`/${field}`, ofAssets) : [];
      return [...linksAt(`/${field}`, next[one] ?? []), ...ofFirst, ...ofAll];
    }),
  ].filter(([, { operationId, requestBody }]) => operationId !== own || requestBody !== undefined);
  return links.length === 0 ? null : Object.fromEntries(links);
}

function linksAt(place: string, all: readonly Next[]): [string, Json][] {
  const at = (values: Json | undefined) =>
    values &&
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        String(value).replace(/^\$/, `$response.body#${place}`),
      ]),
    );
  // An object would be a value as it stands; expressions are embedded in texts, in braces.
  const template = (values: Record<string, string> | undefined) =>
    values && JSON.stringify(values).replace(/"(\$[^"]*)"/g, '"{$1}"');
  return all.map(({ operationId, leg, parameters, body, description }) => {
    const name = leg === undefined ? operationId : `${operationId}_${leg}`;
    const filled = { parameters: at(parameters), requestBody: template(at(body)) };
    const given = Object.entries(filled).filter(([, values]) => values !== undefined);
    return [name, { operationId, ...Object.fromEntries(given), description }];
  });
}
