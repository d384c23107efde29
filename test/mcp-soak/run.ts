// `npm run soak -- packages`: the MCP server as an outsider has it. Its tarball is installed by npm into
// an empty folder, and one command makes the first trade. Then an agent is killed at random moments
// of trades in every direction, which `--seed N` repeats. Each must end with both sides paid, and
// funded once. The official SDK 1.x reads what tools answer and refuse. Asks the registry of this
// machine's npm.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { pack } from '../../scripts/package-build.ts';
import { install } from '../package-soak/install.ts';
import { type Chance, chanceOf } from '../sim/chance.ts';
import { type Agent, type Answer, serveMcp, stdioAgent } from '../support/agents.ts';
import { type RunningMarket, startMarketProcess } from '../support/market.ts';
import { triesFormerSdk } from './former-sdk.ts';

const rounds = 12;
/** Of a swap on dev chains, by when its funding, claim and end are usually there. */
const killWithinMs = 9_000;

const trades = [
  { side: 'sell', amount: '0.002', base: 'bitcoin-regtest', quote: 'evm-dev:USDV', price: '128' },
  { side: 'buy', amount: '0.002', base: 'bitcoin-regtest', quote: 'evm-dev:USDV', price: '128' },
  { side: 'sell', amount: '0.01', base: 'evm-dev', quote: 'tron-dev', price: '60' },
  { side: 'buy', amount: '0.01', base: 'evm-dev', quote: 'solana-dev', price: '0.2' },
] as const;

type Trade = (typeof trades)[number];

/** The commands of the package, installed as anybody does. */
async function installed(folder: string): Promise<string> {
  const { file, bytes, unpackedBytes } = await pack('mcp', folder);
  await install(folder, [file]);
  console.log(`tarball: ${bytes} bytes, unpacked ${unpackedBytes}`);
  return join(folder, 'node_modules/.bin/parley-mcp');
}

async function agreed(taker: Agent, maker: Agent, { price, ...asked }: Trade): Promise<string> {
  const { rfqId } = await taker.trade('post_rfq', asked);
  const { threadId } = await maker.trade('quote', { rfqId, amount: price });
  await taker.trade('accept', { threadId, price });
  return (await maker.trade('accept', { threadId, price })).swapId;
}

async function ended(agent: Agent, swapId: string): Promise<Answer> {
  for (;;) {
    const { swap } = await agent.call('swap', { swapId, waitSeconds: 30 });
    if (swap.driven?.state !== 'running') return swap;
  }
}

async function isWhole(agent: Agent, swapId: string): Promise<void> {
  const { legs } = await agent.call('verify', { swapId });
  for (const { leg, claimed, balance } of legs) {
    assert.deepEqual([claimed, balance.units], [true, '0'], `leg ${leg} of ${swapId}`);
  }
}

async function main(work: string, market: RunningMarket, chance: Chance): Promise<void> {
  const outside = join(work, 'outside');
  const aliceHome = join(work, 'alice');
  const bobHome = join(work, 'bob');
  for (const each of [outside, aliceHome, bobHome]) await mkdir(each);
  const bin = await installed(outside);
  const { url, dev } = market.ready;
  const args = ['--dev', '--market', url, '--control', dev ?? ''];
  const start = (home: string) => stdioAgent(home, args, [bin]);
  const began = Date.now();
  let alice = await start(aliceHome);
  const bob = await start(bobHome);
  const first = await agreed(alice, bob, trades[0]);
  for (const each of [alice, bob]) await each.trade('settle', { swapId: first });
  assert.equal((await ended(alice, first)).driven.step, 'received');
  console.log(`first trade ${Math.round((Date.now() - began) / 1_000)} s after its one command`);
  let kills = 0;
  for (let round = 0; round < rounds; round += 1) {
    const trade = trades[round % trades.length] ?? trades[0];
    // Alice is the taker in the first half, and the maker in the second.
    const isTaker = round < rounds / 2;
    const swapId = await (isTaker ? agreed(alice, bob, trade) : agreed(bob, alice, trade));
    for (const each of [alice, bob]) await each.trade('settle', { swapId });
    const afterMs = chance.int(0, killWithinMs);
    await sleep(afterMs);
    alice.kill();
    kills += 1;
    alice = await start(aliceHome);
    const other = await ended(bob, swapId);
    const { driven } = await ended(alice, swapId);
    // One that had ended before it was killed is driven no more.
    assert.ok(driven === null || driven.step === 'received', JSON.stringify(driven));
    assert.equal(other.driven.step, 'received');
    await isWhole(alice, swapId);
    console.log(`round ${round}: ${trade.base} for ${trade.quote}, killed after ${afterMs} ms`);
  }
  await alice.close();
  await bob.close();
  const served = await serveMcp(bobHome, args);
  console.log(`mcp: ${await triesFormerSdk(join(work, 'sdk'), served)}`);
  await served.stop();
  console.log(`mcp: ${rounds + 1} swaps whole, ${kills} kills`);
}

const { seed } = understood({
  usage: `usage: npm run node -- test/mcp-soak/run.ts [--seed N]
  --seed  of the moments of kills, default drawn
Exit status: 0 all held, 1 something did not, 2 not understood.`,
  understand: (args) => {
    const options = { seed: { type: 'string' }, help: { type: 'boolean' } } as const;
    const { values } = parsed({ args, options });
    if (values.help) return null;
    const drawn = values.seed ?? String(randomInt(2 ** 32));
    return { seed: wholeNumber('--seed', drawn, { least: 0, most: 2 ** 32 - 1 }) };
  },
});
console.log(`--seed ${seed}: of the moments at which it is killed`);
const work = await mkdtemp(join(tmpdir(), 'parley-mcp-soak-'));
const undo: (() => Promise<unknown>)[] = [];
try {
  const home = join(work, 'market');
  await mkdir(home);
  const market = await startMarketProcess({ after: (step) => undo.unshift(step) }, home);
  await main(work, market, chanceOf(seed));
} finally {
  for (const step of undo) await step();
  await rm(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
