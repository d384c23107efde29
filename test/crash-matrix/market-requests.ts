// Rows of the matrix: RFQs, quotes, prices and acceptances.

import type { Row } from './matrix.ts';
import { later, request } from './request.ts';
import { acceptance, must, openRfq, openThread, openTraders, priceFor, rfqBody } from './trade.ts';

const rfqs: readonly Row[] = [
  request('public', 'POST /v1/rfqs', async (world) => {
    const traders = await openTraders(world);
    return { url: '/v1/rfqs', by: traders.taker, body: rfqBody(traders, 'btc') };
  }),
  request('private', 'POST /v1/rfqs', async (world) => {
    const traders = await openTraders(world);
    const targetAddress = `0x${'ab'.repeat(20)}`;
    const body = { ...rfqBody(traders, 'btc'), visibility: 'private', targetAddress };
    return { url: '/v1/rfqs', by: traders.taker, body };
  }),
  request('', 'POST /v1/rfqs/{id}/cancel', async (world) => {
    const { rfqId, taker } = await openThread(world);
    return { url: `/v1/rfqs/${rfqId}/cancel`, by: taker };
  }),
];

const quotes: readonly Row[] = [
  request('first', 'POST /v1/rfqs/{id}/quotes', async (world) => {
    const { rfqId, maker } = await openRfq(world);
    const body = { quoteAmount: priceFor('btc') };
    return { url: `/v1/rfqs/${rfqId}/quotes`, by: maker, body };
  }),
  request('another price', 'POST /v1/rfqs/{id}/quotes', async (world) => {
    const { rfqId, maker } = await openThread(world);
    return { url: `/v1/rfqs/${rfqId}/quotes`, by: maker, body: { quoteAmount: '2100000' } };
  }),
  {
    name: 'POST /v1/rfqs/{id}/quotes: without a key',
    of: 'POST /v1/rfqs/{id}/quotes',
    prepare: async (world) => {
      const { rfqId, maker } = await openRfq(world);
      const body = { quoteAmount: priceFor('btc') };
      const asked = { url: `/v1/rfqs/${rfqId}/quotes`, by: maker, body };
      return {
        act: later(asked),
        after: async () => {},
        // Whoever has no answer quotes again: the same price, once more in the thread.
        answer: ({ body }) => [body.thread.quoteAmount, body.thread.proposedBy],
        reading: { only: { threads: withoutRepeats, outbox: () => null } },
        right: async (world) => {
          const { threads } = await must(world, {
            method: 'GET',
            url: `/v1/rfqs/${rfqId}/threads`,
            by: maker,
          });
          const [told] = await world.real.rows<{ count: number }>({
            name: '',
            text: `select count(*) from outbox where topic = 'quote.created'`,
            values: [],
          });
          const said = threads.flatMap(({ messages }: { messages: unknown[] }) => messages);
          return said.length === told?.count
            ? []
            : [`${told?.count} told of ${said.length} quotes`];
        },
      };
    },
  },
];

const withoutRepeats = (row: Record<string, unknown>) => {
  const messages = row.messages as { quoteAmount: string }[];
  return { ...row, messages: [...new Set(messages.map(({ quoteAmount }) => quoteAmount))] };
};

const prices: readonly Row[] = [
  request('', 'POST /v1/threads/{id}/propose', async (world) => {
    const { threadId, taker } = await openThread(world);
    return {
      url: `/v1/threads/${threadId}/propose`,
      by: taker,
      body: { quoteAmount: '2200000' },
    };
  }),
  request('the initiator, first', 'POST /v1/threads/{id}/accept', async (world) => {
    const made = await openThread(world);
    return acceptance(made, made.initiator);
  }),
  request('the counterparty, first', 'POST /v1/threads/{id}/accept', async (world) => {
    const made = await openThread(world);
    return acceptance(made, made.counterparty);
  }),
  request('the counterparty, last', 'POST /v1/threads/{id}/accept', async (world) => {
    const made = await openThread(world);
    await must(world, acceptance(made, made.initiator));
    return acceptance(made, made.counterparty);
  }),
  request('the initiator, last', 'POST /v1/threads/{id}/accept', async (world) => {
    const made = await openThread(world, 'eth');
    await must(world, acceptance(made, made.counterparty));
    return acceptance(made, made.initiator);
  }),
];

export const marketRequests: readonly Row[] = [...rfqs, ...quotes, ...prices];
