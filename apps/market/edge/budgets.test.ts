// Budgets of keys, accounts and client addresses: specification part 8. One suite, run against the
// memory of a process and against a real Valkey.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startValkey, type TestValkey } from '@parley/verify/test/support/valkey.ts';
import { pino } from 'pino';
import { createMetrics } from '../ports/metrics.ts';
import { connectValkey, type Valkey } from '../ports/valkey.ts';
import { type Budgets, clientNetwork, createBudgets } from './budgets.ts';
import { createMemoryBuckets } from './memory-buckets.ts';
import { createValkeyBuckets } from './valkey-buckets.ts';

const settings = {
  rateLimit: 3,
  rateLimitPerNetwork: 1_000,
  mintLimit: 2,
  signInLimit: 120,
  listingLimit: 2,
  feedSocketsPerIp: 1,
  feedSocketsPerNetwork: 10,
  clientPrefixes: { ipv4: 32, ipv6: 56 },
};

type World = {
  readonly budgets: Budgets;
  /** Limits of accounts that have another one. */
  readonly grown: Map<string, number>;
  /** Lets time pass. In Valkey the machine's passes as well: tests leave it seconds. */
  pass(ms: number): Promise<void>;
  close(): void;
};
type Work = (world: World) => Promise<void>;

let valkey: TestValkey;
let admin: Valkey;
const opened: Valkey[] = [];
before(async () => {
  valkey = await startValkey();
  admin = connectValkey(valkey.url);
  await new Promise((resolve) => admin.once('ready', resolve));
});
after(async () => {
  // An open connection would keep a failed test from ending.
  for (const each of opened) each.disconnect();
  admin?.disconnect();
  await valkey?.stop();
});

function inMemory(limits = settings): World {
  let now = 1_000;
  const grown = new Map<string, number>();
  return {
    grown,
    budgets: createBudgets(
      limits,
      createMemoryBuckets(() => now),
      (id) => grown.get(id) ?? limits.rateLimit,
    ),
    pass: async (ms) => {
      now += ms;
    },
    close: () => {},
  };
}

/** Every key is brought nearer to its end by so much. */
async function passInValkey(client: Valkey, prefix: string, ms: number): Promise<void> {
  for (const key of await client.keys(`${prefix}*`)) {
    const left = await client.pttl(key);
    if (left > ms) await client.pexpire(key, left - ms);
    else await client.del(key);
  }
}

async function inValkey(
  limits = settings,
  url = valkey.url,
  prefix = `t${randomBytes(6).toString('hex')}:`,
): Promise<World & { prefix: string }> {
  const client = connectValkey(url);
  const buckets = createValkeyBuckets({
    client,
    alone: {
      spend: () => assert.fail('counted alone'),
      giveBack: () => assert.fail('counted alone'),
    },
    prefix,
    log: pino({ level: 'silent' }),
    metrics: createMetrics('parley'),
    // Tests run on machines with more to do.
    answerLimitMs: 20_000,
  });
  opened.push(client);
  await buckets.started;
  const grown = new Map<string, number>();
  return {
    prefix,
    grown,
    budgets: createBudgets(limits, buckets, (id) => grown.get(id) ?? limits.rateLimit),
    pass: (ms) => passInValkey(admin, prefix, ms),
    close: () => client.disconnect(),
  };
}

const caller = (keyId: string, accountId = 'a') => ({ keyId, accountId });

for (const [where, open] of [
  ['memory', inMemory],
  ['Valkey', inValkey],
] as const) {
  describe(`in ${where}`, () => {
    /** A test in a world of its own. */
    const promise = (name: string, work: Work, limits = settings): void => {
      test(name, async () => {
        const world = await open(limits);
        try {
          await work(world);
        } finally {
          world.close();
        }
      });
    };

    promise('a request in vain is given back, and never more than was taken', async (world) => {
      const { budgets } = world;
      const spend = async () => (await budgets.spend('listings', 'a')).allowed;
      await budgets.giveBack('listings', 'a');
      assert.deepEqual([await spend(), await spend(), await spend()], [true, true, false]);
      await budgets.giveBack('listings', 'a');
      assert.deepEqual([await spend(), await spend()], [true, false]);
      await world.pass(3_600_000);
      await budgets.giveBack('listings', 'a');
      assert.deepEqual([await spend(), await spend(), await spend()], [true, true, false]);
    });

    promise('a limit that grows or shrinks within a window counts from then on', async (world) => {
      const { budgets, grown } = world;
      const spend = async (key: string, account: string) => {
        const { allowed, limit, remaining } = await budgets.spendCaller(
          caller(key, account),
          '::1',
        );
        return [allowed, limit, remaining];
      };
      for (const left of [2, 1, 0]) assert.deepEqual(await spend('k', 'a'), [true, 3, left]);
      assert.deepEqual(await spend('k', 'a'), [false, 3, 0]);
      grown.set('a', 5);
      assert.deepEqual(await spend('other', 'a'), [true, 5, 1]);
      assert.deepEqual(await spend('k', 'a'), [true, 5, 0]);
      assert.deepEqual(await spend('k', 'a'), [false, 5, 0]);
      assert.deepEqual(await spend('l', 'b'), [true, 3, 2]);
      grown.set('a', 3);
      assert.deepEqual(await spend('k', 'a'), [false, 3, 0]);
    });

    promise('exactly as many calls at once pass as the limit says', async ({ budgets }) => {
      const calls = Array.from({ length: 60 }, (_, at) =>
        budgets.spendCaller(caller(`key ${at % 3}`), '192.0.2.1'),
      );
      const allowed = (await Promise.all(calls)).filter((each) => each.allowed);
      assert.deepEqual(allowed.map((each) => each.remaining).sort(), [0, 1, 2]);
    });

    promise('a client network has a larger budget, whoever calls', async ({ budgets }) => {
      const small = await open({ ...settings, rateLimitPerNetwork: 4 });
      const from = (ip: string, account: string) =>
        small.budgets.spendCaller(caller(`key of ${account}`, account), ip);
      try {
        for (const account of ['a', 'b', 'c']) {
          assert.equal((await from('2001:db8:0:f2::1', account)).remaining, 2);
        }
        assert.equal((await small.budgets.spendClient('2001:db8:0:f3::1')).remaining, 2);
        const refused = await from('2001:db8:0:f4::1', 'd');
        const { allowed, whose, limit, remaining } = refused;
        assert.deepEqual([allowed, whose, limit, remaining], [false, 'network', 4, 0]);
        assert.equal((await small.budgets.spendClient('2001:db8:0:f5::1')).allowed, false);
        assert.equal((await from('2001:db8:0:1f2::1', 'd')).allowed, true);
        assert.equal((await budgets.spendClient('2001:db8:0:f2::1')).allowed, true);
      } finally {
        small.close();
      }
    });

    promise(
      'sockets are opened so often by an address, and by the network around it',
      async ({ budgets }) => {
        const opens = async (ip: string, times: number) => {
          const spend = () => budgets.spend('sockets', ip);
          const spent = await Promise.all(Array.from({ length: times }, spend));
          const refused = spent.find(({ allowed }) => !allowed);
          return [spent.filter(({ allowed }) => allowed).length, refused?.whose];
        };
        for (const [one, two, three, elsewhere] of [
          ['192.0.2.1', '192.0.2.2', '192.0.2.255', '192.0.3.1'],
          ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:0:ffff::1', '2001:db8:1::1'],
        ] as const) {
          // A refusal of the client itself takes nothing from its network.
          assert.deepEqual(await opens(one, 30), [10, 'address']);
          assert.deepEqual(await opens(two, 5), [5, undefined]);
          assert.deepEqual(await opens(three, 9), [5, 'network']);
          assert.deepEqual(await opens(elsewhere, 9), [9, undefined]);
        }
      },
      { ...settings, feedSocketsPerNetwork: 2 },
    );

    promise(
      "a client's refusal takes nothing from others of its network",
      async ({ budgets }) => {
        const spend = (ip: string) => budgets.spendCaller(caller('k'), ip);
        for (let count = 0; count < 20; count += 1) await budgets.spendClient('192.0.2.1');
        for (const left of [2, 1]) assert.equal((await spend('192.0.2.1')).remaining, left);
        for (const _ of [1, 2]) assert.equal((await spend('192.0.2.1')).whose, 'network');
        // Nor from itself elsewhere.
        assert.equal((await spend('192.0.2.2')).allowed, true);
      },
      { ...settings, rateLimitPerNetwork: 5 },
    );

    promise('a party has 60 on each part of the API, and 300 on all together', async (world) => {
      const taken = async (part: string, times: number, account = 'a') => {
        const spend = () => world.budgets.spendReserve(account, part, '192.0.2.1');
        const spent = await Promise.all(Array.from({ length: times }, spend));
        return spent.filter(({ allowed }) => allowed).length;
      };
      assert.equal(await taken('1', 61), 60);
      for (const part of ['2', '3', '4', '5']) assert.equal(await taken(part, 50), 50);
      assert.equal(await taken('6', 60), 40);
      assert.equal(await taken('6', 60, 'b'), 60);
    });

    promise('mints are counted an hour long, and apart from other calls', async (world) => {
      const { budgets, pass } = world;
      const mint = () => budgets.spend('mints', '2001:db8::1');
      assert.equal((await mint()).remaining, 1);
      assert.equal((await budgets.spend('mints', '2001:db8::2')).remaining, 0);
      assert.equal((await mint()).allowed, false);
      assert.equal((await budgets.spendClient('2001:db8::1')).remaining, 2);
      assert.equal(
        (await budgets.spend('mints', '2001:db8:0:ff::1')).allowed,
        false,
        'the same /56',
      );
      assert.equal((await budgets.spend('mints', '2001:db8:0:100::1')).allowed, true);
      await pass(3_500_000);
      assert.equal((await mint()).allowed, false);
      await pass(100_000);
      assert.equal((await mint()).allowed, true);
    });
  });
}

describe('only in memory', () => {
  test('a window ends to the millisecond, and not before', async () => {
    const { budgets, pass } = inMemory();
    for (let count = 0; count < 3; count += 1) await budgets.spendClient('192.0.2.1');
    await pass(59_999);
    const refused = await budgets.spendClient('192.0.2.1');
    assert.deepEqual([refused.allowed, refused.resetSeconds], [false, 1]);
    await pass(1);
    assert.equal((await budgets.spendClient('192.0.2.1')).allowed, true);
  });

  test('a clock set back does not lengthen a window', async () => {
    const { budgets, pass } = inMemory();
    for (let count = 0; count < 3; count += 1) await budgets.spendClient('192.0.2.1');
    assert.equal((await budgets.spendClient('192.0.2.1')).allowed, false);
    await pass(-1_000_000);
    assert.equal((await budgets.spendClient('192.0.2.1')).allowed, true);
  });

  test('memory is bounded: the oldest are dropped when all windows are open', () => {
    const buckets = createMemoryBuckets(() => 0, 100);
    const rule = { name: 'clients', limit: 3, windowMs: 60_000 } as const;
    const used = (name: string) => buckets.spend(rule, [name]).buckets[0]!.used;
    for (let count = 0; count < 1_000; count += 1) used(`${count}`);
    assert.equal(used('999'), 2);
    assert.equal(used('901'), 2);
    assert.equal(used('899'), 1);
  });
});

describe('only in Valkey', () => {
  test('every key that is left ends with its window', async () => {
    const { budgets, prefix, close } = await inValkey();
    await budgets.spendCaller(caller('k'), '192.0.2.1');
    await budgets.spendClient('192.0.2.1');
    await budgets.spend('mints', '192.0.2.1');
    const keys = await admin.keys(`${prefix}*`);
    const left = await Promise.all(keys.map(async (key) => [key, await admin.pttl(key)] as const));
    const ends = left.filter(([key]) => !key.endsWith('probe'));
    assert.equal(ends.length, 5);
    for (const [key, ms] of ends) {
      assert.ok(ms > 0 && ms <= (key.includes(':mints:') ? 3_600_000 : 60_000), `${key}: ${ms}`);
    }
    close();
  });

  test('a server that forgot the script is given it again', async () => {
    const { budgets, close } = await inValkey();
    await admin.script('FLUSH');
    const calls = [1, 2, 3, 4].map(() => budgets.spendCaller(caller('k'), '192.0.2.1'));
    const allowed = (await Promise.all(calls)).map((each) => each.allowed);
    assert.deepEqual(allowed, [true, true, true, false]);
    close();
  });
});

describe('a client is counted by', () => {
  const cases = [
    ['its IPv4 address', '192.0.2.7', '192.0.2.7'],
    ['its IPv4 address, mapped', '::ffff:192.0.2.7', '192.0.2.7'],
    ['its IPv4 address, without the port', '192.0.2.7:4711', '192.0.2.7'],
    ['the /64 of its IPv6 address', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['the /64, without the port', '[2001:db8:1:2::5]:4711', '2001:db8:1:2::/64'],
    ['the /64, shortened', '2001:db8::5', '2001:db8::/64'],
    ['the /64, in capitals', '2001:DB8:A::5', '2001:db8:a::/64'],
    ['the /64, with a zone', 'fe80::1%eth0', 'fe80::/64'],
    ["a proxy's word, cut short", 'x'.repeat(200), 'x'.repeat(64)],
  ] as const;
  for (const [name, ip, expected] of cases) {
    test(name, () => assert.equal(clientNetwork(ip), expected));
  }

  test('or what a setting makes of them: any number of leading bits', () => {
    const of = (ip: string, ipv4: number, ipv6: number) => clientNetwork(ip, { ipv4, ipv6 });
    assert.equal(of('192.0.2.255', 24, 56), '192.0.2.0/24');
    assert.equal(of('::ffff:192.0.255.7', 20, 56), '192.0.240.0/20');
    assert.equal(of('192.0.2.7', 32, 56), '192.0.2.7');
    assert.equal(of('2001:db8:1:2ff:3::4', 32, 56), '2001:db8:1:200::/56');
    assert.equal(of('2001:db8:1:2ff:3::4', 32, 48), '2001:db8:1::/48');
  });
});
