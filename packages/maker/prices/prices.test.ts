// Prices by each kind of source against real programs and servers, and which readings are believed.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { WebSocketServer } from 'ws';
import type { PriceConfig } from '../config/config.ts';
import { approximate, parsePrice } from '../rules/price.ts';
import { judge } from './median.ts';
import {
  type Hearing,
  jsonAt,
  nothingRead,
  openPrices,
  priceOf,
  read,
  stepStandsMs,
} from './sources.ts';

const free = { least: null, most: null, jumpBps: 1_000n };
const at = (price: string, ms: number) => [parsePrice(price), ms] as const;

test('a step too far is believed once it has stood, and quotes nothing meanwhile', () => {
  let { state, fault } = read(nothingRead, ...at('100', 0), free);
  ({ state, fault } = read(state, ...at('110', 1_000), free));
  assert.equal(fault, null, 'a tenth is no step too far');
  ({ state, fault } = read(state, ...at('50', 2_000), free));
  assert.match(fault ?? '', /moved by 12000 basis points at once/);
  assert.equal(priceOf(state, 2_000, 30_000), null);
  ({ state, fault } = read(state, ...at('51', 1_999 + stepStandsMs), free));
  assert.match(fault ?? '', /moved by 12000 basis points/, 'one fault while it stands');
  assert.equal(priceOf(state, 1_999 + stepStandsMs, 30_000), null);
  ({ state, fault } = read(state, ...at('51', 2_000 + stepStandsMs), free));
  assert.equal(approximate(priceOf(state, 2_000 + stepStandsMs, 30_000)!), 51);
  ({ state } = read(state, ...at('99', 70_000), free));
  ({ state, fault } = read(state, ...at('51', 71_000), free));
  assert.equal(fault, null, 'a price that comes back ends the step');
});

test('a price beyond the bounds is none; one is good until it is stale', () => {
  const bounds = { ...free, least: parsePrice('90'), most: parsePrice('110') };
  for (const [price, isGood] of [
    ['89.99', false],
    ['90', true],
    ['110', true],
    ['110.01', false],
  ] as const) {
    const { state, fault } = read(nothingRead, ...at(price, 0), bounds);
    assert.equal(fault === null, isGood, price);
    assert.equal(priceOf(state, 30_000, 30_000) !== null, isGood);
    assert.equal(priceOf(state, 30_001, 30_000), null);
    assert.equal(priceOf(state, -30_001, 30_000), null, 'the clock was set back');
    // Nor is the one before it, until one within them comes.
    const any = { ...bounds, jumpBps: null };
    const left = read(read(nothingRead, ...at('100', 0), any).state, ...at(price, 1), any);
    assert.equal(priceOf(left.state, 1, 30_000) !== null, isGood, price);
    const { state: back } = read(left.state, ...at('100', 2), any);
    assert.notEqual(priceOf(back, 2, 30_000), null);
  }
});

test('a source far from the median is left out, and too few make no price', () => {
  for (const [said, price, out] of [
    [{ a: '100', b: '101', c: '102.02' }, 101, []],
    [{ a: '100', b: '101', c: '102.03' }, 100.5, ['c']] as const,
    [{ a: '100', b: '101', c: '110' }, 100.5, ['c']],
    [{ a: '100', b: '101' }, 100.5, []],
    [{ a: '100', b: '104' }, null, ['a', 'b']],
    [{ a: '100' }, null, []],
    [{}, null, []],
  ] as const) {
    const readings = new Map(Object.entries(said).map(([name, each]) => [name, parsePrice(each)]));
    const judged = judge(readings, { outlierBps: 100n, quorum: 2 });
    assert.equal(judged.price && approximate(judged.price), price, JSON.stringify(said));
    assert.deepEqual([...judged.leftOut.keys()], out);
  }
});

test('a median is of the good prices of others, and says once which is left out', () => {
  const fixed = (name: string, value: string): PriceConfig => {
    const from = { type: 'fixed', value: parsePrice(value) } as const;
    return { ...free, name, folder: '.', staleMs: 1_000, from };
  };
  const of = ['a', 'b', 'c'];
  const from = { type: 'median', of, outlierBps: 100n, quorum: 2 } as const;
  const median: PriceConfig = { ...fixed('m', '1'), from, most: parsePrice('102') };
  for (const [last, price, said] of [
    ['100.5', 100.5, []],
    ['120', 100.5, ['m of c: left out: 1881 basis points from the median, 100 at most']],
  ] as const) {
    const heard: string[] = [];
    const sources = [fixed('a', '100'), fixed('b', '101'), fixed('c', last)];
    const prices = openPrices([median, ...sources], {
      now: () => 0,
      changed: () => {},
      said: (name, fault) => heard.push(`${name}: ${fault}`),
    });
    for (let time = 0; time < 2; time += 1) {
      assert.equal(approximate(prices.of(['m'])!), price);
    }
    assert.deepEqual(heard, said);
    prices.close();
  }
});

test('no source is blamed before each of a median has answered', () => {
  const hearings = new Map<string, Hearing>();
  const heard: string[] = [];
  const common = { ...free, folder: '.', staleMs: 1_000 };
  const type = 'command' as const;
  const command = { type, command: ['x'], everySeconds: 1, timeoutSeconds: 1 };
  const of = ['a', 'b', 'c'];
  const from = { type: 'median', of, outlierBps: 100n, quorum: 2 } as const;
  const sources = of.map((name): PriceConfig => ({ ...common, name, from: command }));
  const told = {
    now: () => 0,
    changed: () => {},
    said: (name: string, fault: string | null) => void heard.push(`${name}: ${fault}`),
  };
  const prices = openPrices([{ ...common, name: 'm', from }, ...sources], told, (config, hearing) =>
    hearings.set(config.name, hearing),
  );
  const read = (name: string, price: string) => {
    hearings.get(name)?.take(price);
    const found = prices.of(['m']);
    return found === null ? null : approximate(found);
  };
  assert.deepEqual([read('a', '100'), read('b', '120'), heard], [null, null, []]);
  assert.equal(read('c', '100.4'), 100.2);
  assert.equal(heard.length, 1);
  assert.match(heard[0] ?? '', /m of b: left out/);
  prices.close();
});

test('a path leads into JSON, and nowhere else', () => {
  const value = { data: [{ price: '5' }], 'a b': 1 };
  for (const [path, found] of [
    ['data.0.price', '5'],
    ['$.data[0].price', '5'],
    ['a b', 1],
    ['data.1.price', undefined],
    ['data.length.x', undefined],
    ['__proto__.toString', undefined],
  ] as const) {
    assert.equal(jsonAt(value, path), found, path);
  }
});

test('a command, HTTP and a WebSocket give prices; one that fails is told, and goes stale', async (t) => {
  let price = '20';
  const web = createServer((_, answer) => {
    answer.writeHead(price === '' ? 500 : 200).end(JSON.stringify({ data: [{ price }] }));
  }).listen(0, '127.0.0.1');
  await once(web, 'listening');
  const { port } = web.address() as AddressInfo;
  const sockets = new WebSocketServer({ server: web });
  let said = '';
  sockets.on('connection', (socket) => {
    socket.on('message', (text) => {
      said = String(text);
      socket.send('{"event":"subscribed"}');
      socket.send('{"p":3e1}');
    });
  });
  t.after(() => {
    for (const each of sockets.clients) each.terminate();
    web.close();
  });
  const polled = { everySeconds: 0.05, timeoutSeconds: 5 };
  const source = (name: string, from: PriceConfig['from']): PriceConfig => ({
    name,
    from,
    folder: '.',
    staleMs: 400,
    ...free,
  });
  const faults: string[] = [];
  let clock = 0;
  const prices = openPrices(
    [
      source('run', {
        type: 'command',
        ...polled,
        command: [process.execPath, '-p', '10.5'],
      }),
      source('http', {
        type: 'http',
        url: `http://127.0.0.1:${port}/`,
        path: 'data[0].price',
        ...polled,
      }),
      source('socket', {
        type: 'websocket',
        url: `ws://127.0.0.1:${port}/`,
        subscribe: ['ask'],
        path: 'p',
      }),
      source('fixed', { type: 'fixed', value: parsePrice('7') }),
    ],
    {
      now: () => clock,
      said: (name, fault) => faults.push(`${name}: ${fault}`),
      changed: () => undefined,
    },
  );
  t.after(prices.close);
  const known = () => [...prices.all().values()].map((each) => each && approximate(each));
  await waitUntil(() => !known().includes(null));
  assert.deepEqual(known(), [10.5, 20, 30, 7]);
  assert.equal(said, 'ask');
  assert.ok(Math.abs(approximate(prices.of(['http', 'run'])!) - 20 / 10.5) < 1e-9);
  price = '';
  // On a busy machine the socket may be told to be silent as well.
  await waitUntil(() => faults.includes('http: the source answered 500'));
  clock = 401;
  assert.equal(prices.of(['http']), null);
  assert.equal(prices.of(['run', 'http']), null);
  assert.equal(approximate(prices.of(['fixed'])!), 7);
});

test('a message that is too long ends the connection, and the one after it is heard on the next', async (t) => {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(sockets, 'listening');
  let connections = 0;
  sockets.on('connection', (socket) => {
    connections += 1;
    const rest = connections === 1 ? 'x'.repeat(1_048_576) : '';
    socket.send(JSON.stringify({ p: connections, rest }));
  });
  const faults: (string | null)[] = [];
  const { port } = sockets.address() as AddressInfo;
  const priced = Promise.withResolvers<void>();
  const prices = openPrices(
    [
      {
        name: 'socket',
        staleMs: 60_000,
        folder: '.',
        ...free,
        from: { type: 'websocket', url: `ws://127.0.0.1:${port}/`, subscribe: [], path: 'p' },
      },
    ],
    { now: () => 0, said: (_, fault) => faults.push(fault), changed: priced.resolve },
  );
  t.after(() => {
    prices.close();
    for (const each of sockets.clients) each.terminate();
    sockets.close();
  });
  await priced.promise;
  assert.equal(approximate(prices.of(['socket'])!), 2);
  assert.match(faults[0] ?? '', /the source closed it \(code 1006\)/);
});
