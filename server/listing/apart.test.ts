// Looks in threads of their own: a real one, and ones that would not end.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { defaultPowerRules, LookRanOut } from '../../chains/tokens/inspection.ts';
import { deploy, startTron, type TestChain } from '../../chains/tron/testing/chain.ts';
import { deployToken } from '../../chains/tron/testing/tokens.ts';
import { ParleyError } from '../../core/errors.ts';
import { stubAdapter } from '../../test/support/adapter.ts';
import { nextEvent } from '../../test/support/waiting.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { type Apart, type ApartLimits, apartLimits, createApart } from './apart.ts';

const chain = 'tron-dev';
let tron: TestChain;
let hanging: string;
before(async () => {
  tron = await startTron();
  hanging = await deploy(tron, pairings());
});
after(() => tron?.stop());

/** Code that answers everything with 22 pairings: as much as the energy of a call pays for. */
function pairings(): string {
  const word = (value: number) => value.toString(16).padStart(64, '0');
  // The generators of both groups (EIP-197).
  const pair =
    word(1) +
    word(2) +
    '198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2' +
    '1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed' +
    '090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b' +
    '12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa';
  const input = pair.repeat(22);
  const size = (input.length / 2).toString(16).padStart(4, '0');
  const code = (at: string) => `61${size}61${at}5f39` + `60205f61${size}5f60085afa5060205ff3`;
  return code((code('0000').length / 2).toString(16).padStart(4, '0')) + input;
}

const settings = (url = tron.url): ChainSettings => ({
  family: 'tron',
  chain,
  chainId: tron.deployment.chainId,
  contract: tron.deployment.contract,
  creation: tron.deployment.creation,
  sources: [{ url }],
  world: 'dev',
});

async function withApart(
  limits: Partial<ApartLimits>,
  work: (look: (token: string, signal?: AbortSignal) => Promise<unknown>) => Promise<void>,
  on: ChainSettings = settings(),
): Promise<void> {
  const given = { chains: [on], chainTimeoutMs: 60_000 };
  const apart: Apart = createApart(given, { ...apartLimits, ...limits });
  const stub = { ...stubAdapter(chain, 'evm'), inspect: () => assert.fail('it looked here') };
  const adapter = apart.adapters(new Map([[chain, stub]])).get(chain);
  const within = AbortSignal.timeout(120_000);
  try {
    await work(async (token, signal = within) =>
      adapter?.inspect?.(token, defaultPowerRules, signal),
    );
  } finally {
    await apart.close();
  }
}

test('a look is made in a thread, and what it finds or is refused with comes back', async () => {
  await withApart({ workMs: 100_000 }, async (look) => {
    const good = (await look(await deployToken(tron, 'Plain'))) as { symbol: string };
    assert.equal(good.symbol, 'PLAIN');
    await assert.rejects(look('1000001'), (error) => {
      assert.ok(error instanceof ParleyError);
      return error.code === 'not_a_token' && error.facts.chain === chain;
    });
    const ended = new AbortController();
    const looking = look(hanging, ended.signal);
    setTimeout(() => ended.abort(new Error('enough')), 50);
    await assert.rejects(looking, /enough/);
  });
});

test('one that computes on and on, inside of a built-in contract, is killed, and the next one is made', async () => {
  await withApart({ threads: 1, workMs: 150, watchMs: 10 }, async (look) => {
    const killed = look(hanging);
    const next = look(hanging);
    for (const each of [killed, next]) {
      await assert.rejects(each, (error) => {
        assert.ok(error instanceof LookRanOut);
        assert.match(error.message, /more than 0.15 s of computing/);
        return true;
      });
    }
  });
});

/** Answers every question so. */
async function nodeThat(answers: (response: ServerResponse) => void): Promise<TestNode> {
  const server = createServer((_, response) => answers(response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await nextEvent(server.close(), 'close');
    },
  };
}
type TestNode = AsyncDisposable & { readonly url: string };

const someToken = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

test('one that fills the memory is killed, the process lives on, and the token is to wait', async () => {
  // Read number by number, since JSON.parse would round each.
  const numbers = `[${'9999999999999999,'.repeat(900_000)}0]`;
  await using node = await nodeThat((response) => response.end(numbers));
  // A thread begins with it.
  const limits = { memoryMb: 48, workMs: 100_000, watchMs: 100_000 };
  const filled = { name: 'LookRanOut', message: 'a look at it takes more than 48 MB' };
  await withApart(limits, (look) => assert.rejects(look(someToken), filled), settings(node.url));
});

test('one that fills buffers is killed too', async () => {
  // Less than an answer may have, and never its end.
  const part = Buffer.alloc(15 * 2 ** 20, ' ');
  await using node = await nodeThat((response) => response.write(part));
  const limits = { buffersMb: 12, workMs: 100_000, watchMs: 10 };
  const filled = { name: 'LookRanOut', message: 'a look at it takes more than 12 MB of buffers' };
  await withApart(limits, (look) => assert.rejects(look(someToken), filled), settings(node.url));
});

test('a thread that does not begin says nothing of a token', async () => {
  const none = { name: 'Error', message: 'no thread for looks begins within 8 MB' };
  await withApart({ memoryMb: 8 }, (look) => assert.rejects(look(someToken), none));
});

test('a look that nobody waits for any more waits for no thread to begin', async () => {
  let began = false;
  process.once('worker', (worker) => {
    worker.once('message', () => {
      began = true;
    });
  });
  await withApart({}, async (look) => {
    const ended = new AbortController();
    const looking = look(someToken, ended.signal);
    setImmediate(() => ended.abort(new Error('enough')));
    await assert.rejects(looking, /enough/);
  });
  assert.equal(began, false);
});
