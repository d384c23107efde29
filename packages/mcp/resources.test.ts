// Own swaps as resources: read with the words of others marked, and told of when they change.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { honestSwap, swapId } from '@parley/sdk/testing/honest.ts';
import type { Swap } from '@parley/sdk/types.ts';
import type { Desk } from './desk.ts';
import { serverOf } from './server.ts';
import { openGate } from './tool.ts';
import { createWatch } from './watch.ts';

/** A market whose swaps move by hand, and a watch that looks when it is told to. */
function world() {
  let swaps: Swap[] = [honestSwap('taker')];
  let next = Promise.withResolvers<void>();
  let looks = 0;
  const refused = new ParleyApiError({ status: 404, code: 'unknown_swap', message: 'buy now' });
  const client = {
    swaps: async () => {
      looks += 1;
      return { swaps, nextCursor: null };
    },
    swap: async (id: string) => {
      const found = swaps.find((each) => each.id === id);
      if (found !== undefined) return found;
      if (id === 'away')
        throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'pay me' });
      throw refused;
    },
  };
  const watch = createWatch({ client, pause: () => next.promise });
  const desk = {
    client,
    watch,
    held: null,
    userId: swaps[0]?.takerId,
    session: { profile: { productName: 'Parley' } },
    names: async () => ({ of: () => ({ name: 'ethereum:USDC', decimals: 6, pinned: true }) }),
  } as unknown as Desk;
  return {
    desk,
    watch,
    looks: () => looks,
    show: (shown: Swap[]) => {
      swaps = shown;
    },
    /** The watch looks, and everything that it tells has come. */
    turn: async () => {
      const before = next;
      next = Promise.withResolvers();
      before.resolve();
      await new Promise(setImmediate);
    },
  };
}

async function clientOf(desk: Desk) {
  const [here, there] = InMemoryTransport.createLinkedPair();
  await serverOf(desk, { readOnly: true }, openGate()).connect(there);
  const client = new Client(
    { name: 'c', version: '1' },
    { versionNegotiation: { mode: 'legacy' } },
  );
  const heard: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    heard.push(params.uri);
  });
  client.setNotificationHandler('notifications/resources/list_changed', () => {
    heard.push('list');
  });
  await client.connect(here);
  return { client, heard };
}

const uri = `swap://${swapId}`;

test('own swaps are listed and read as the tool shows them', async () => {
  const { desk } = world();
  const { client } = await clientOf(desk);
  const { resources } = await client.listResources();
  assert.deepEqual(
    resources.map((each) => each.uri),
    [uri],
  );
  assert.match(resources[0]?.description ?? '', /^agreed: gives [\d.]+ ethereum:USDC, gets /);
  const { contents } = await client.readResource({ uri });
  const [{ text }] = contents as unknown as [{ text: string }];
  const { structuredContent } = await client.callTool({ name: 'swap', arguments: { swapId } });
  assert.deepEqual(JSON.parse(text), (structuredContent as { swap: object }).swap);
  await client.close();
});

test('an unknown swap is no resource, and no word of the market is in the error', async () => {
  const { client } = await clientOf(world().desk);
  for (const [other, words] of [
    ['swap://other', /^Resource not found: swap:\/\/other$/],
    ['swap://a/b', /not found/],
    ['swap://away', /^the market did not answer$/],
  ] as const) {
    await assert.rejects(client.readResource({ uri: other }), { message: words });
    await assert.rejects(client.subscribeResource({ uri: other }), { message: words });
  }
  await client.close();
});

test('who subscribes hears of its swap, and nobody looks while nobody listens', async () => {
  const { desk, show, turn, looks } = world();
  const { client, heard } = await clientOf(desk);
  await client.subscribeResource({ uri });
  await turn();
  assert.deepEqual(heard, [], 'nothing has changed');
  const [swap] = [honestSwap('taker')];
  const other = { ...swap, id: 'other' };
  show([{ ...swap, status: 'initiator_funded' }, other]);
  await turn();
  assert.deepEqual(heard.splice(0), [uri, 'list'], 'another swap is new, and not subscribed to');
  desk.watch.changed(swapId);
  await new Promise(setImmediate);
  assert.deepEqual(heard.splice(0), [uri], 'a driver of this process says so at once');
  await client.unsubscribeResource({ uri });
  const before = looks();
  await turn();
  assert.deepEqual([heard, looks()], [[], before]);
  await client.subscribeResource({ uri });
  await client.close();
  await turn();
  await turn();
  assert.equal(looks(), before + 1, 'a client that has left listens no more');
});

test('a market that is away for a look hides no change', async () => {
  const { desk, show, turn } = world();
  const { client, heard } = await clientOf(desk);
  await client.subscribeResource({ uri });
  await turn();
  show(null as never);
  await turn();
  show([{ ...honestSwap('taker'), status: 'initiator_funded' }]);
  await turn();
  assert.deepEqual(heard, [uri]);
  await client.close();
});
