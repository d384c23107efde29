import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { numberToHex } from 'viem/utils';
import { rpcClient } from '../nodes/rpc.ts';
import { type Lie, lyingNode, type TestNode } from '../testing/nodes.ts';
import { evmAdapter } from './adapter.ts';
import { evmChains } from './policy.ts';
import { startAnvil, type TestChain } from './testing/anvil.ts';
import { fund, type Leg, later, newLeg } from './testing/swap.ts';

const { policy } = evmChains['evm-dev'];
const signal = () => AbortSignal.timeout(60_000);
const mostPages = 50;
let chain: TestChain;
let legs: { readonly old: Leg; readonly missing: Leg };
let blocks: { readonly old: Shown; readonly newest: Shown };
type Shown = { readonly number: bigint; readonly timestamp: bigint };

before(async () => {
  chain = await startAnvil();
  const [old, missing] = [await newLeg(chain), await newLeg(chain)];
  legs = { old, missing };
  await fund(chain, old);
  const last = await chain.client.getBlock();
  await later(chain, 600);
  await fund(chain, missing);
  await chain.client.mine({ blocks: 100 });
  blocks = { old: last, newest: await chain.client.getBlock() };
});
after(() => chain?.stop());
const nodes: TestNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((each) => each.stop()));
});

async function nodeThat(lie: Lie): Promise<string> {
  const node = await lyingNode(chain.rpcUrl, lie);
  nodes.push(node);
  return node.url;
}

type Range = { readonly fromBlock: string; readonly toBlock: string };

async function limited(most: number) {
  const told = { asked: 0 };
  const url = await nodeThat(({ method, params }, forward) => {
    if (method !== 'eth_getLogs') return forward();
    told.asked += 1;
    const { fromBlock, toBlock } = params[0] as Range;
    const isTooLarge = Number(toBlock) - Number(fromBlock) + 1 > most;
    return isTooLarge ? { error: { code: -32_602, message: 'range too large' } } : forward();
  });
  return { url, told };
}

function behind(): Promise<string> {
  return nodeThat(async ({ method, params }, forward) => {
    const { number } = blocks.old;
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest') {
      const rpc = rpcClient({ chain: 'evm-dev', urls: [chain.rpcUrl] });
      return { result: await rpc.call(method, [numberToHex(number), false], signal()) };
    }
    const answer = await forward();
    if (method !== 'eth_getLogs' || !('result' in answer)) return answer;
    const logs = answer.result as { readonly blockNumber: string }[];
    return { result: logs.filter(({ blockNumber }) => BigInt(blockNumber) <= number) };
  });
}

function readerOver(...rpcUrls: string[]) {
  const rpc = { attemptTimeoutMs: 5_000, rounds: 1 };
  const adapter = evmAdapter({ chain: 'evm-dev', chainId: 31_337, rpcUrls, policy, rpc });
  assert.ok(adapter.hashlocks);
  return adapter.hashlocks;
}

type Reader = ReturnType<typeof readerOver>;

async function readAll(reader: Reader) {
  let cursor = await reader.begin(Number(blocks.old.timestamp) - 60, signal());
  const hashlocks = new Set<string>();
  for (let pages = 0; pages < mostPages; pages += 1) {
    const page = await reader.next(cursor, signal());
    for (const each of page.hashlocks) hashlocks.add(each);
    cursor = page.cursor;
    if (page.isWhole) return { hashlocks, cursor, shownUntil: page.shownUntil };
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
  const { hashlocks, shownUntil, cursor } = await readAll(reader);
  assert.equal(shownUntil, Number(blocks.old.timestamp));
  assert.deepEqual([...hashlocks], [hashlockOf(legs.old)]);
  const { asked } = none.told;
  await reader.next(cursor, signal());
  assert.equal(none.told.asked, asked + 1, 'what it refuses is not tried in parts again');
});

test('what no node gives is not read', async () => {
  const reader = readerOver((await limited(0)).url, (await limited(0)).url);
  const cursor = await reader.begin(Number(blocks.old.timestamp), signal());
  const refused = { code: 'chain_unavailable', message: /refused eth_getLogs: range too large/ };
  await assert.rejects(reader.next(cursor, signal()), refused);
  await Promise.all(nodes.splice(0).map((each) => each.stop()));
  await assert.rejects(reader.next(cursor, signal()), { code: 'chain_unavailable' });
});
