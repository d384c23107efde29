// What is asked of a node: against the simulator, against answers of real nodes as TRON's
// documentation shows them, and against nodes that hang, fail, refuse and lie.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import { type Http, httpClient, parseAnswer, plainWords, TronRefusal } from './http.ts';
import {
  accountOf,
  allowanceOf,
  blockAt,
  blocksOf,
  chainIdOf,
  codeAt,
  headBlock,
  infosAt,
  knows,
  pricesOf,
  resourcesOf,
  sendHex,
  tokenBalance,
  tryCall,
} from './node.ts';
import { claimCall, fundCalls, refundCall } from './plan.ts';
import {
  anyone,
  funder,
  newcomer,
  newLeg,
  send,
  sendAndMine,
  solidityLag,
  startTron,
  type TestChain,
} from './testing/chain.ts';
import { hangingNode, type Lie, lyingNode } from './testing/nodes.ts';

const signal = () => AbortSignal.timeout(60_000);
let chain: TestChain;
let http: Http;
before(async () => {
  chain = await startTron();
  http = httpOf(chain.url);
});
after(() => chain.stop());

function httpOf(...urls: string[]): Http {
  const sources = urls.map((url) => ({ url }));
  return httpClient({ chain: 'tron-dev', sources, attemptTimeoutMs: 1_000, rounds: 1 });
}

async function through(lie: Lie, work: (http: Http) => Promise<void>): Promise<void> {
  const node = await lyingNode(chain.url, lie);
  try {
    await work(httpOf(node.url));
  } finally {
    await node.stop();
  }
}

const fails = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ParleyError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, words);
  return true;
};

test('heads, blocks and their transactions, failed ones too', async () => {
  const leg = newLeg(chain);
  const [fund] = fundCalls(leg.terms, chain.deployment, 0n);
  assert.ok(fund);
  const good = await send(chain, funder, fund);
  const bad = await send(chain, anyone, refundCall(leg.terms, chain.deployment));
  await chain.dev.mine(1);
  const head = await headBlock(http, 'head', signal());
  assert.equal((await headBlock(http, 'solid', signal())).number, head.number - solidityLag);
  const shown = head.txs.map(({ txid, succeeded }) => [txid, succeeded]);
  assert.deepEqual(shown, [
    [good, true],
    [bad, false],
  ]);
  assert.deepEqual(await blockAt(http, head.number, signal()), head);
  const [before, same, ...none] = await blocksOf(http, head.number - 1, head.number, signal());
  assert.deepEqual([same, none], [head, []]);
  assert.equal(before?.id, head.parentId);
  assert.equal(await blockAt(http, head.number + 1, signal()), null);
  assert.deepEqual(await blocksOf(http, head.number + 1, head.number + 2, signal()), []);
  const infos = await infosAt(http, head.number, signal());
  const logs = infos.map(({ txid, succeeded, logs: { length } }) => [txid, succeeded, length]);
  assert.deepEqual(logs, [
    [good, true, 1],
    [bad, false, 0],
  ]);
});

test('a transaction is known from its block on, another is not', async () => {
  const txid = await send(chain, anyone, refundCall(newLeg(chain).terms, chain.deployment));
  assert.equal(await knows(http, txid, signal()), false); // the simulator shows no pending ones
  await chain.dev.mine(1);
  assert.equal(await knows(http, txid, signal()), true);
  assert.equal(await knows(http, '00'.repeat(32), signal()), false);
});

test('one that waits is known where the node shows what waits', async () => {
  const waits: Lie = ({ path, body }, forward) =>
    path === 'wallet/gettransactionfrompending' ? { body: { txID: body.value } } : forward();
  await through(waits, async (node) => {
    assert.equal(await knows(node, '00'.repeat(32), signal()), true);
  });
});

test('a call is tried: what it uses, what it returns, how it fails', async () => {
  const leg = newLeg(chain);
  const [call] = fundCalls(leg.terms, chain.deployment, 0n);
  assert.ok(call);
  const good = await tryCall(http, 'head', call, signal());
  assert.equal(good.failure, null);
  assert.ok(good.energy > 20_000n && good.energy < 30_000n, String(good.energy));
  const early = await tryCall(
    http,
    'head',
    claimCall(leg.terms, chain.deployment, leg.secret),
    signal(),
  );
  assert.match(early.failure ?? '', /REVERT/);
  assert.equal(early.output.length, 8 + 2 * 64);
  const nobody = { ...call, to: newcomer() };
  await assert.rejects(tryCall(http, 'head', nobody, signal()), TronRefusal);
  const poor = { ...nobody, from: newcomer(), to: chain.deployment.contract };
  await assert.rejects(tryCall(http, 'head', poor, signal()), TronRefusal);
});

test('accounts, tokens, prices, code and the chain id', async () => {
  const { balance } = (await accountOf(http, funder.address, signal())) ?? {};
  assert.ok(balance !== undefined && balance > 0n);
  assert.equal(await accountOf(http, newcomer(), signal()), null);
  const token = chain.token('ReturnsFalse');
  assert.ok((await tokenBalance(http, 'solid', token, funder.address, signal())) > 0n);
  assert.equal(await tokenBalance(http, 'head', token, newcomer(), signal()), 0n);
  const { contract } = chain.deployment;
  assert.equal(await allowanceOf(http, token, funder.address, contract, signal()), 0n);
  assert.deepEqual(await pricesOf(http, signal()), { energySun: 100n, byteSun: 1_000n });
  assert.ok((await codeAt(http, contract, signal()))?.length);
  assert.equal(await codeAt(http, newcomer(), signal()), null);
  assert.equal(await chainIdOf(http, signal()), chain.deployment.chainId);
  const nothing = { energy: 0n, bandwidth: 0n };
  assert.deepEqual(await resourcesOf(http, newcomer(), signal()), nothing);
  assert.equal((await resourcesOf(http, anyone.address, signal())).energy, 0n);
  const noToken = tokenBalance(http, 'head', newcomer(), anyone.address, signal());
  await assert.rejects(noToken, fails('chain_unavailable', /Smart contract is not exist/));
});

test('resources are what is left of the free or the staked, whichever is more', async () => {
  const said = {
    freeNetUsed: 557,
    freeNetLimit: 600,
    NetUsed: 10,
    NetLimit: 353,
    EnergyUsed: 100,
    EnergyLimit: 1_500,
    TotalNetLimit: 43_200_000_000,
  };
  await through(
    () => ({ body: said }),
    async (node) => {
      const has = await resourcesOf(node, anyone.address, signal());
      assert.deepEqual(has, { energy: 1_400n, bandwidth: 343n });
    },
  );
});

test('int64 beyond what a number holds are read exactly', () => {
  const text =
    '{"balance":99000000000123457,"list":[-99000000000123457,12],"id":"9900000000012345"}';
  assert.deepEqual(parseAnswer(text), {
    balance: '99000000000123457',
    list: ['-99000000000123457', 12],
    id: '9900000000012345',
  });
});

test("a node's words are read from hex or as they are, printable and cut", () => {
  const words = 'contract validate error : No contract or not a smart contract';
  assert.equal(plainWords(Buffer.from(words).toString('hex')), words);
  assert.equal(plainWords(words), words);
  assert.equal(plainWords(Buffer.from('a\nb\u0000').toString('hex')), 'ab');
  assert.equal(plainWords('x'.repeat(9_999)).length, 500);
  for (const nothing of [undefined, '', 5]) assert.equal(plainWords(nothing), 'no reason given');
});

test('what is broadcast twice is refused with code and words', async () => {
  const call = refundCall(newLeg(chain).terms, chain.deployment);
  const txid = await sendAndMine(chain, anyone, call);
  const place = chain.dev.simulator.chain.find(txid);
  const stored = place?.block.transactions[place.index];
  assert.ok(stored);
  await assert.rejects(
    sendHex(http, hexOf(stored.raw, stored.signatures[0] as string), signal()),
    (error: unknown) =>
      error instanceof TronRefusal &&
      error.code === 'DUP_TRANSACTION_ERROR' &&
      /Dup transaction/.test(error.message),
  );
});

/** A whole transaction of its two fields. */
function hexOf(raw: string, signature: string): string {
  const length = (hex: string) => {
    const bytes = hex.length / 2;
    const low = bytes > 127 ? [(bytes & 127) | 128, bytes >> 7] : [bytes];
    return Buffer.from(low).toString('hex');
  };
  return `0a${length(raw)}${raw}12${length(signature)}${signature}`;
}

test('a node that hangs ends in chain_timeout, one that is gone in chain_unavailable', async () => {
  const hanging = await hangingNode();
  try {
    await assert.rejects(
      headBlock(httpOf(hanging.url), 'head', signal()),
      fails('chain_timeout', /did not answer wallet\/getnowblock in time/),
    );
    const second = await headBlock(httpOf(hanging.url, chain.url), 'head', signal());
    assert.deepEqual(second, await headBlock(http, 'head', signal()));
  } finally {
    await hanging.stop();
  }
  const gone = headBlock(httpOf(hanging.url), 'head', signal());
  await assert.rejects(gone, fails('chain_unavailable', /ECONNREFUSED|UND_ERR_SOCKET/));
});

test('answers that are no JSON, of another shape, too large, or of a gateway do not pass', async () => {
  const cases: [unknown, number, RegExp][] = [
    ['<html>', 502, /HTTP 502 and no JSON/],
    [{}, 503, /HTTP 503/],
    [{ Error: 'request rate exceeded' }, 429, /HTTP 429/],
    [{ Error: 'class java.lang.NullPointerException : null' }, 200, /refused.*NullPointer/],
    [{}, 200, /cannot be read/],
    [[], 200, /cannot be read: not an object/],
    [{ blockID: 'xx' }, 200, /cannot be read/],
    [{ blockID: '00'.repeat(32), block_header: { raw_data: { number: -1.5 } } }, 200, /integer/],
  ];
  for (const [body, status, words] of cases) {
    await through(
      () => ({ status, body }),
      async (node) => {
        const head = headBlock(node, 'head', signal());
        await assert.rejects(head, fails('chain_unavailable', words), String(words));
      },
    );
  }
  const node = await lyingNode(chain.url, () => ({ body: `"${'x'.repeat(2_000)}"` }));
  try {
    const sources = [{ url: node.url }];
    const small = httpClient({ chain: 'tron-dev', sources, rounds: 1, mostBytes: 1_000 });
    const head = headBlock(small, 'head', signal());
    await assert.rejects(head, fails('chain_unavailable', /more than 1000 bytes/));
  } finally {
    await node.stop();
  }
});

test('the solid view is asked at its own address where it has one', async () => {
  const paths: string[] = [];
  const solid = await lyingNode(chain.url, ({ path }, forward) => {
    paths.push(path);
    return forward();
  });
  try {
    const sources = [{ url: `${chain.url}/`, solidityUrl: solid.url }];
    const both = httpClient({ chain: 'tron-dev', sources });
    await headBlock(both, 'head', signal());
    await headBlock(both, 'solid', signal());
    assert.deepEqual(paths, ['walletsolidity/getnowblock']);
  } finally {
    await solid.stop();
  }
});
