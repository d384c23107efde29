// Links of the API description: the operations that may follow an answer, from an RFQ to its last
// broadcast, so that a program (schemathesis, say) can walk through a whole swap.

import type { TSchema } from 'typebox';
import type { Json } from './examples.ts';

/** A value that begins with `$` is a place in the answered shape: `$/legs/a/chain`. */
type Values = Readonly<Record<string, string>>;
type Next = {
  readonly operationId: string;
  readonly parameters?: Values;
  readonly body?: Values;
  /** Names the link where several lead to one operation. */
  readonly leg?: 'a' | 'b';
};

const withId = (...operationIds: readonly string[]): Next[] =>
  operationIds.map((operationId) => ({ operationId, parameters: { id: '$/id' } }));
const ofLeg = (leg: 'a' | 'b'): Next[] => [
  {
    operationId: 'setAddress',
    leg,
    parameters: { id: '$/id' },
    body: { chain: `$/legs/${leg}/chain` },
  },
  { operationId: 'buildFund', leg, parameters: { id: '$/id', leg } },
  { operationId: 'buildClaim', leg, parameters: { id: '$/id', leg }, body: { secret: '$/secret' } },
  { operationId: 'buildRefund', leg, parameters: { id: '$/id', leg } },
  { operationId: 'scheduleRefunds', leg, parameters: { id: '$/id', leg } },
  { operationId: 'scheduleClaims', leg, parameters: { id: '$/id', leg } },
];
const toBroadcast: readonly Next[] = [{ operationId: 'broadcast', body: { chain: '$/chain' } }];
const ofWebhook = withId('pingWebhook', 'deleteWebhook');
const pair = { baseAssetId: '$/0/id', quoteAssetId: '$/1/id' };

/** By the name of the shape that was answered. */
const following: Readonly<Record<string, readonly Next[]>> = {
  Rfq: withId('getRfq', 'cancelRfq', 'quoteRfq', 'listThreads'),
  Thread: [
    ...withId('getThread', 'proposePrice', 'withdrawQuote', 'getOtherRecord'),
    {
      operationId: 'acceptPrice',
      parameters: { id: '$/id' },
      body: { quoteAmount: '$/quoteAmount' },
    },
  ],
  Swap: [...withId('getSwap'), ...ofLeg('a'), ...ofLeg('b')],
  Webhook: ofWebhook,
  ListedWebhook: ofWebhook,
  ProvenWallet: [{ operationId: 'removeWallet', parameters: { address: '$/address' } }],
  QuotesReply: [{ operationId: 'getThread', parameters: { id: '$/outcomes/0/threadId' } }],
  WithdrawReply: [{ operationId: 'withdrawQuotes', body: { after: '$/next' } }],
  Material: toBroadcast,
  FundReply: toBroadcast,
  ClaimReply: toBroadcast,
};

/** The first two assets of a list are a trade. */
const ofAssets: readonly Next[] = [
  { operationId: 'createRfq', body: pair },
  { operationId: 'getPair', parameters: pair },
  { operationId: 'getPairPrice', parameters: pair },
];

type Shape = {
  readonly 'x-name'?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
};

/** The links of an answer of this shape; null: none. */
export function linksOf(own: string, reply: TSchema): Json | null {
  const { 'x-name': name = '', properties = {} } = reply as Shape;
  const fields = Object.entries(properties).flatMap(([field, { 'x-name': one = '', items }]) => {
    const each = items?.['x-name'] ?? '';
    return [
      ...linksAt(`/${field}`, following[one] ?? []),
      ...linksAt(`/${field}/0`, following[each] ?? []),
      ...(each === 'Asset' ? linksAt(`/${field}`, ofAssets) : []),
    ];
  });
  const links = [...linksAt('', following[name] ?? []), ...fields].filter(
    ([, { operationId, requestBody }]) => operationId !== own || requestBody !== undefined,
  );
  return links.length === 0 ? null : Object.fromEntries(links);
}

function linksAt(place: string, all: readonly Next[]): [string, Json][] {
  const at = (values: Values, wrap: (expression: string) => string): Json =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        value.startsWith('$') ? wrap(`$response.body#${place}${value.slice(1)}`) : value,
      ]),
    );
  return all.map(({ operationId, leg, parameters, body }) => [
    leg === undefined ? operationId : `${operationId}_${leg}`,
    {
      operationId,
      ...(parameters && { parameters: at(parameters, (expression) => expression) }),
      // An object would be a value as it stands; expressions stand in texts, in braces.
      ...(body && { requestBody: JSON.stringify(at(body, (expression) => `{${expression}}`)) }),
    },
  ]);
}
