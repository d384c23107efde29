import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { numberToHex } from 'viem/utils';
import type { UsedLane } from '../interface/history.ts';
import { answerOf } from '../testing/nodes.ts';
import { fund, type Leg, later, newLeg } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const { chain, adapterOf, urlOf, mine, signal } = await evmWorld();
const mostPages = 50;
type Shown = { readonly number: bigint; readonly timestamp: bigint };
let legs: { readonly old: Leg; readonly missing: Leg };
let blocks: { readonly old: Shown; readonly newest: Shown };

before(async () => {
  const old = await newLeg(chain);
  const missing = await newLeg(chain);
  legs = { old, missing };
  await fund(chain, old);
  const last = await chain.client.getBlock();
  await later(chain, 600);
  await fund(chain, missing);
  await mine(100);
  blocks = { old: last, newest: await chain.client.getBlock() };
});

type Range = { readonly fromBlock: string; readonly toBlock: string };

async function limited(most: number) {
  const told = { asked: 0 };
  const url = await urlOf(({ method, params }, forward) => {
    if (method !== 'eth_getLogs') return forward();
    told.asked += 1;
    const { fromBlock, toBlock } = params[0] as Range;
    const isTooLarge = Number(toBlock) - Number(fromBlock) + 1 > most;
    return isTooLarge ? { error: { code: -32_602, message: 'range too large' } } : forward();
  });
  return { url, told };
}

function behind(): Promise<string> {
  return urlOf(async ({ method, params }, forward) => {
    const { number } = blocks.old;
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest') {
      return answerOf(chain.rpcUrl, method, [numberToHex(number), false]);
    }
    const answer = await forward();
    if (method !== 'eth_getLogs' || !('result' in answer)) return answer;
    const logs = answer.result as { readonly blockNumber: string }[];
    return { result: logs.filter(({ blockNumber }) => BigInt(blockNumber) <= number) };
  });
}

function readerOver(...rpcUrls: string[]) {
  const { hashlocks } = adapterOf({ rpcUrls, rpc: { attemptTimeoutMs: 5_000, rounds: 1 } });
  return hashlocks ?? assert.fail();
}

type Reader = ReturnType<typeof readerOver>;

async function readAll(reader: Reader) {
  let cursor = await reader.begin(Number(blocks.old.timestamp) - 60, signal());
  const hashlocks = new Set<string>();
  const lanes: UsedLane[] = [];
  for (let pages = 0; pages < mostPages; pages += 1) {
    const page = await reader.next(cursor, signal());
    for (const each of page.hashlocks) hashlocks.add(each);
    lanes.push(...(page.lanes ?? []));
    cursor = page.cursor;
    if (page.isWhole) return { hashlocks, lanes, cursor, shownUntil: page.shownUntil };
  }
  throw new Error(`${mostPages} pages are not enough`);
}

const hashlockOf = ({ escrow }: Leg) => escrow.terms.hashlock;

test('what one node finds too large is asked of it in parts, not of another that is behind', async () => {
  const { url } = await limited(4);
  const { hashlocks, shownUntil } = await readAll(readerOver(url, await behind()));
  assert.equal(shownUntil, Number(blocks.newest.timestamp));
  assert.ok(hashlocks.has(hashlockOf(legs.missing)), 'a hashlock was missed');
  assert.ok(hashlocks.has(hashlockOf(legs.old)));
});

test('a page has shown what the node that gave its logs has, whatever another one says', async () => {
  const none = await limited(0);
  const reader = readerOver(none.url, await behind());
  const { hashlocks, lanes, shownUntil, cursor } = await readAll(reader);
  assert.equal(shownUntil, Number(blocks.old.timestamp));
  assert.deepEqual([...hashlocks], [hashlockOf(legs.old)]);
  const { lane, refund } = legs.old.escrow.terms;
  const [contract] = adapterOf({}).lanes?.contracts ?? [];
  assert.deepEqual(lanes, [{ contract, ...lane, funder: refund.address }]);
  const { asked } = none.told;
  await reader.next(cursor, signal());
  assert.equal(none.told.asked, asked + 1, 'what it refuses is not tried in parts again');
});

test('what no node gives is not read', async () => {
  const reader = readerOver((await limited(0)).url, (await limited(0)).url);
  const cursor = await reader.begin(Number(blocks.old.timestamp), signal());
  const refused = { code: 'chain_unavailable', message: /refused eth_getLogs: range too large/ };
  await assert.rejects(reader.next(cursor, signal()), refused);
});
