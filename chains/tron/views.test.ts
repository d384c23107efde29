import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bytesToHex } from '@noble/hashes/utils.js';
import { untilTested } from '../testing/nodes.ts';
import { tronAdapter } from './adapter.ts';
import { type Http, httpClient } from './http.ts';
import { headBlock, pricesOf } from './node.ts';
import { tronDevPolicy } from './policy.ts';
import { deploy, funder, newcomer, newLeg, startTron, type TestChain } from './testing/chain.ts';
import { type Lie, lyingNode } from './testing/nodes.ts';
import {
  allowanceOf,
  energyPrice,
  isContract,
  isOf,
  type Moment,
  momentOf,
  solidBlock,
  sunOf,
  tokenBalance,
  wordsOf,
} from './views.ts';

let chain: TestChain;
/** Burns up to 5 million of energy, else answers a word; fails and says one; answers one. */
const bad: string[] = [];
before(async () => {
  chain = await startTron();
  for (const code of [
    '63004c4b405a11600e575b600a565b602a60005260206000f3',
    '602a60005260206000fd',
    '602a60005260206000f3',
  ]) {
    bad.push(await deploy(chain, code));
  }
});
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.url, lie));

const signal = () => AbortSignal.timeout(20_000);
const unused = newcomer();
const asked: string[] = [];
function client(url: string): Http {
  const http = httpClient({ chain: 'tron-dev', sources: [{ url }] });
  const call: Http['call'] = (path, body, until) => {
    asked.push(path);
    return http.call(path, body, until);
  };
  return { ...http, call };
}

const asView = (http: Http | Moment, to = '') =>
  wordsOf(http, 'head', to, '00'.repeat(40), 1, signal());

async function all(http: Http | Moment) {
  const token = chain.token('DevDollar');
  const { contract } = chain.deployment;
  const [, fails, answers] = bad;
  const settled = await Promise.allSettled([
    tokenBalance(http, 'head', token, funder.address, signal()),
    asView(http, fails),
    asView(http, answers),
    allowanceOf(http, token, funder.address, contract, signal()),
    isContract(http, token, signal()),
    isContract(http, funder.address, signal()),
    sunOf(http, funder.address, signal()),
    sunOf(http, unused, signal()),
    asView(http, unused),
  ]);
  return settled.map((each) => (each.status === 'fulfilled' ? each.value : 'refused'));
}

test('views of one moment go in one call, say what each says alone, and none spoils another', async () => {
  const http = client(chain.url);
  const moment = momentOf(http);
  const burning = asView(moment, bad[0]);
  const together = await all(moment);
  assert.deepEqual(await burning, [42n]);
  assert.equal(asked.length, 4, 'and one for each that fails there');
  assert.deepEqual(together.slice(1, 3), ['refused', [42n]]);
  const seen = moment.seen('head');
  const head = await headBlock(http, 'head', signal());
  assert.ok(seen !== null && isOf(seen, head));
  assert.equal(isOf({ ...seen, second: seen.second + 1 }, head), false);
  assert.equal(isOf({ ...seen, parentHash: head.hash }, head), false);
  asked.splice(0);
  assert.deepEqual(together, await all(http));
  asked.splice(0);
  await Promise.all([headBlock(moment, 'head', signal()), headBlock(moment, 'head', signal())]);
  await all(moment);
  const { energySun } = await pricesOf(client(chain.url), signal());
  assert.equal(await energyPrice(moment, signal()), energySun);
  const again = ['wallet/triggerconstantcontract', 'wallet/triggerconstantcontract'];
  const fresh = ['wallet/getnowblock', ...again, 'wallet/getchainparameters'];
  assert.deepEqual(asked.splice(0), fresh);
});

test('the solid block that comes with views is one below the newest', async () => {
  const http = client(chain.url);
  const moment = momentOf(http);
  const newest = await solidBlock(moment, signal());
  assert.equal(newest.hash, (await headBlock(http, 'solid', signal())).hash);
  await tokenBalance(moment, 'solid', chain.token('DevDollar'), funder.address, signal());
  const { number, parentHash } = await headBlock(http, 'solid', signal());
  assert.deepEqual(await solidBlock(moment, signal()), { number: number - 1, hash: parentHash });
});

test('a node that runs no code of a contract that is never made is asked view by view', async () => {
  let refused = 0;
  const node = await lying(({ path, body }, forward) => {
    const isOurs = path === 'wallet/triggerconstantcontract' && body.contract_address === undefined;
    if (!isOurs) return forward();
    refused += 1;
    const message = bytesToHex(new TextEncoder().encode('no contract'));
    return { body: { result: { code: 'CONTRACT_VALIDATE_ERROR', message } } };
  });
  const http = client(node.url);
  const first = momentOf(http);
  assert.deepEqual(await all(first), await all(http));
  assert.equal(first.seen('head'), null);
  const { energySun } = await pricesOf(http, signal());
  assert.equal(await energyPrice(first, signal()), energySun);
  const second = momentOf(http);
  assert.equal(second.isTogether, false);
  await all(second);
  assert.equal(refused, 1, 'it is remembered');
});

test('beside a look nothing is asked again that the look has asked, nor twice what it has not', async () => {
  let count = 0;
  const node = await lying((_, forward) => {
    count += 1;
    return forward();
  });
  const asked = async (work: Promise<unknown>) => {
    const before = count;
    await work;
    return count - before;
  };
  const { deployment } = chain;
  const of = { contract: deployment.contract, funder: funder.address };
  const adapter = tronAdapter({
    chain: 'tron-dev',
    deployment,
    sources: [node],
    policy: tronDevPolicy,
  });
  const { escrow } = newLeg(chain, { token: chain.token('DevDollar') });
  const lanes = [escrow.terms.lane?.number ?? ''];
  const { heads } = await adapter.look([escrow], signal());
  const asks = () => adapter.at?.(heads) ?? adapter;
  assert.equal(await asked(asks().lanes!.read(of, lanes, signal())), 0);
  const other = ['1'];
  assert.equal(await asked(asks().lanes!.read(of, other, signal())), 1);
  assert.equal(await asked(asks().lanes!.read(of, other, signal())), 0);
  assert.equal(await asked(adapter.lanes!.read(of, lanes, signal())), 1);
  const whole = await asked(adapter.preflight(escrow.terms, 'funding', signal()));
  const rest = await asked(asks().preflight(escrow.terms, 'funding', signal()));
  assert.ok(rest < whole, `${rest} of ${whole}`);
});
