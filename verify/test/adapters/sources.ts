// Every adapter's promises about its nodes: those that are gone, hang, talk nonsense or belong to
// another network; two that differ; and several that a signed transaction is offered to.

import assert from 'node:assert/strict';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { fixedNode, hangingNode, type TestNode } from '@parley/chains/testing/nodes.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { AdapterPromise, Driver } from './driver.ts';
import {
  allChanges,
  codeOf,
  deepLeg,
  facts,
  inputOf,
  type Leg,
  newLeg,
  read,
  signal,
} from './leg.ts';
import { keepingNode, lyingNode, tells } from './nodes.ts';

const password = 'hunter2';

/** A provider's address with a key in it. */
function keyed({ family }: Driver, url: string): string {
  return family === 'bitcoin' ? url.replace('://', `://u:${password}@`) : `${url}/${password}`;
}

async function among<T>(node: Promise<TestNode>, work: (url: string) => Promise<T>): Promise<T> {
  const { url, stop } = await node;
  try {
    return await work(url);
  } finally {
    await stop();
  }
}

type Call = (adapter: ChainAdapter, signal: AbortSignal) => Promise<unknown>;

/** All that asks a node. */
function calls({ escrow, secret }: Leg): Readonly<Record<string, Call>> {
  const input = inputOf({ escrow, secret });
  return {
    heads: (adapter, until) => adapter.heads(until),
    changes: (adapter, until) => adapter.changes(until),
    readEscrow: (adapter, until) => adapter.readEscrow(escrow, until),
    preflight: (adapter, until) => adapter.preflight(escrow.terms, 'payout', until),
    checkAmount: (adapter, until) => adapter.checkAmount(null, escrow.terms.amount, until),
    buildFund: (adapter, until) => adapter.buildFund(input, until),
    buildClaim: (adapter, until) => adapter.buildClaim(input, secret, until),
    buildRefund: (adapter, until) => adapter.buildRefund(input, until),
  };
}

/** Each call ends with the code, and says no key of a provider. */
async function allEnd(adapter: ChainAdapter, leg: Leg, code: string, family: string) {
  for (const [name, call] of Object.entries(calls(leg))) {
    // A payment to a Bitcoin escrow is built without a node.
    if (family === 'bitcoin' && name === 'buildFund') continue;
    const started = performance.now();
    // A busy machine has time for what is said at once; an answer that never comes need not be
    // awaited.
    const limitMs = code === 'chain_timeout' ? 250 : 10_000;
    const error: unknown = await call(adapter, AbortSignal.timeout(limitMs)).then(
      () => 'an answer',
      (cause: unknown) => cause,
    );
    assert.ok(error instanceof ParleyError, `${name}: ${String(error)}`);
    assert.equal(error.code, code, `${name}: ${error.message}`);
    assert.ok(!error.message.includes(password), `${name}: ${error.message}`);
    assert.ok(performance.now() - started < 9_000, `${name} took too long`);
  }
}

/** A claim that is signed, of a leg that a fresh adapter over these nodes follows. */
async function signedClaim(driver: Driver, urls: readonly string[], attemptMs = 5_000) {
  const honest = driver.adapter();
  const leg = await deepLeg(driver, honest);
  const adapter = driver.adapter(urls, attemptMs);
  adapter.watch([leg.escrow]);
  const built = await honest.buildClaim(inputOf(leg), leg.secret, signal());
  return { leg, adapter, claiming: await read(driver, adapter, 'receiver', built, leg.secret) };
}

const bothOrders = ({ url }: Driver, other: string) => [
  [url, other],
  [other, url],
];

export const unspoken: AdapterPromise = {
  name: 'the secret is told to no node before its claim is broadcast, and is known from then on',
  run: async (driver) => {
    const heard: string[] = [];
    const ear = lyingNode(driver, ({ text }, answer) => {
      heard.push(text);
      return answer;
    });
    await among(ear, async (url) => {
      const { leg, adapter, claiming } = await signedClaim(driver, [url]);
      await adapter.preflight(leg.escrow.terms, 'payout', signal());
      await adapter.buildClaim(inputOf(leg), leg.secret, signal());
      await adapter.isKnown(claiming, signal());
      await allChanges(adapter);
      assert.equal((await facts(adapter, leg)).secret, null, 'it was only read');
      assert.ok(heard.length > 3 && heard.every((text) => !tells(text, leg.secret)));
      await adapter.broadcast(claiming, signal());
      assert.ok(heard.some((text) => tells(text, leg.secret)));
      assert.equal((await facts(adapter, leg)).secret, leg.secret);
      assert.ok((await adapter.changes(signal())).touched.includes(leg.escrow.address));
    });
    await driver.show();
  },
};

export const sources: readonly AdapterPromise[] = [
  {
    name: 'a node that is gone or talks nonsense is chain_unavailable; one that hangs is chain_timeout',
    run: async (driver) => {
      const leg = newLeg(driver);
      const { family } = driver;
      const gone = driver.adapter([keyed(driver, 'http://127.0.0.1:1')]);
      await allEnd(gone, leg, 'chain_unavailable', family);
      for (const [status, text] of [
        [503, 'Work queue depth exceeded'],
        [401, ''],
        [200, '<html>'],
        [200, 'null'],
        [200, '{}'],
      ] as const) {
        await among(fixedNode(text, status), (url) =>
          allEnd(driver.adapter([keyed(driver, url)]), leg, 'chain_unavailable', family),
        );
      }
      await among(hangingNode(), async (url) => {
        for (const limitMs of [100, 60_000]) {
          const slow = driver.adapter([keyed(driver, url)], limitMs);
          await allEnd(slow, leg, 'chain_timeout', family);
        }
      });
    },
  },
  {
    name: 'a node that comes back as another network’s is refused until it is right',
    run: async (driver) => {
      let stage: 'right' | 'gone' | 'wrong' = 'right';
      const node = lyingNode(driver, (asked, answer) => {
        if (stage === 'gone') return '<html>';
        return stage === 'right' ? answer : driver.otherNetwork(asked, answer);
      });
      await among(node, async (url) => {
        const adapter = driver.adapter([url]);
        await adapter.heads(signal());
        stage = 'gone';
        assert.equal(await codeOf(adapter.heads(signal())), 'chain_unavailable');
        stage = 'wrong';
        for (let poll = 0; poll < 2; poll += 1) {
          assert.equal(await codeOf(adapter.heads(signal())), 'chain_unavailable');
        }
        stage = 'right';
        await adapter.heads(signal());
      });
    },
  },
  {
    name: 'two sources that differ pause funding and revealing, never refunds or public claims',
    run: async (driver) => {
      const honest = driver.adapter();
      const leg = await deepLeg(driver, honest);
      const quiet = newLeg(driver);
      const { state, chain } = driver.differ(leg.escrow);
      for (const lie of [state, chain]) {
        if (lie === undefined) continue;
        await among(lyingNode(driver, lie), async (liar) => {
          // A Bitcoin adapter follows its first source, and asks the second.
          const orders = bothOrders(driver, liar).slice(0, driver.family === 'bitcoin' ? 1 : 2);
          for (const urls of orders) {
            const both = driver.adapter(urls);
            const agreeing = both.mustAgree?.(leg.escrow, signal());
            assert.equal(await codeOf(Promise.resolve(agreeing)), 'sources_disagree');
            const revealing = both.buildClaim(inputOf(leg), leg.secret, signal());
            assert.equal(await codeOf(revealing), 'sources_disagree');
            const other = await codeOf(Promise.resolve(both.mustAgree?.(quiet.escrow, signal())));
            assert.equal(other, lie === chain ? 'sources_disagree' : 'none', 'about another');
            // The first node's word decides what there is to claim and to refund.
            if (urls[0] === liar && lie === state) continue;
            // Shown on the other chain of the swap, of which this one knows nothing.
            await both.buildClaim({ ...inputOf(leg), isPublic: true }, leg.secret, signal());
            await both.buildRefund(inputOf(leg), signal());
          }
        });
      }
      await among(lyingNode(driver, state ?? chain), async (liar) => {
        const both = driver.adapter([driver.url, liar]);
        both.watch([leg.escrow]);
        await both.changes(signal());
        assert.equal((await both.readEscrow(leg.escrow, signal())).funded?.deep, true);
        const material = await honest.buildClaim(inputOf(leg), leg.secret, signal());
        const sent = await read(driver, both, 'receiver', material, leg.secret);
        await both.broadcast(sent, signal());
        await both.readEscrow(leg.escrow, signal());
        // It waits in a pool; a public claim may be built, whatever they say.
        const again = await codeOf(both.buildClaim(inputOf(leg), leg.secret, signal()));
        assert.ok(['none', 'nothing_there'].includes(again), again);
      });
    },
  },
  {
    name: 'two sources that show the same agree, and so does one alone, funded or not',
    run: async (driver) => {
      const leg = await deepLeg(driver, driver.adapter());
      const quiet = newLeg(driver);
      const agree = async (urls: readonly string[]) => {
        const adapter = driver.adapter(urls, 1_000);
        await adapter.mustAgree?.(leg.escrow, signal());
        await adapter.mustAgree?.(quiet.escrow, signal());
        await adapter.buildClaim(inputOf(leg), leg.secret, signal());
      };
      await agree([driver.url]);
      await among(
        lyingNode(driver, (_, answer) => answer),
        (same) => agree([driver.url, same]),
      );
    },
  },
  {
    name: 'a source that hangs or is gone is left out where another answers; of none nothing is said',
    run: async (driver) => {
      const leg = await deepLeg(driver, driver.adapter());
      await among(hangingNode(), async (silent) => {
        for (const other of [silent, 'http://127.0.0.1:1']) {
          for (const urls of bothOrders(driver, other)) {
            await driver.adapter(urls, 400).mustAgree?.(leg.escrow, signal());
            await driver.adapter(urls, 400).buildClaim(inputOf(leg), leg.secret, signal());
          }
        }
        const none = driver.adapter([silent, silent], 300).mustAgree?.(leg.escrow, signal());
        assert.equal(await codeOf(Promise.resolve(none)), 'chain_timeout');
      });
    },
  },
  {
    name: 'a claim that one node refuses, swallows or is silent about is sent by the other',
    run: async (driver) => {
      for (const said of [driver.refusal, { body: {} }, { status: 401, body: {} }, undefined]) {
        await among(
          keepingNode(driver, () => said),
          async (bad) => {
            // As the second one, all that answer no are alike.
            const isAlike = said !== undefined && said !== driver.refusal;
            for (const urls of bothOrders(driver, bad).slice(isAlike ? 1 : 0)) {
              const { leg, adapter, claiming } = await signedClaim(driver, urls);
              assert.equal(await adapter.broadcast(claiming, signal()), claiming.txid);
              await driver.show();
              const { claimed, secret } = await facts(driver.adapter(), leg);
              assert.deepEqual([claimed?.txid, secret], [claiming.txid, leg.secret]);
              await adapter.close();
            }
          },
        );
      }
    },
  },
  {
    name: 'what a node is too busy for is offered it again, and refused by nobody where that lasts',
    run: async (driver) => {
      let isForGood = true;
      let answers: (typeof driver.busy)[number][] = [];
      const node = keepingNode(driver, () => {
        const [first = 'as it is'] = isForGood ? driver.busy : answers.splice(0, 1);
        return first;
      });
      await among(node, async (url) => {
        const { leg, adapter, claiming } = await signedClaim(driver, [url]);
        const code = await codeOf(adapter.broadcast(claiming, signal()));
        assert.ok(['chain_timeout', 'chain_unavailable'].includes(code), code);
        isForGood = false;
        for (const each of driver.busy) {
          answers = [each];
          assert.equal(await adapter.broadcast(claiming, signal()), claiming.txid);
          assert.deepEqual(answers, [], JSON.stringify(each));
        }
        await driver.show();
        assert.equal((await facts(driver.adapter(), leg)).secret, leg.secret);
      });
    },
  },
  {
    name: 'what one node refuses and another may have is not refused; what both refuse is',
    except: { bitcoin: 'of a claim the first source decides there (two-sources.test.ts)' },
    run: async (driver) => {
      const refusing = keepingNode(driver, () => driver.refusal);
      await among(refusing, (no) =>
        among(
          keepingNode(driver, () => undefined),
          async (silent) => {
            const { leg, adapter, claiming } = await signedClaim(driver, [no, silent], 1_000);
            assert.equal(await codeOf(adapter.broadcast(claiming, signal())), 'chain_timeout');
            assert.equal((await facts(adapter, leg)).secret, null, 'no node is known to have it');
            for (const [urls, code] of [
              [[silent, no], 'chain_timeout'],
              [[no, no], 'refused_by_node'],
              [[no, 'http://127.0.0.1:1'], 'refused_by_node'],
            ] as const) {
              const among = driver.adapter(urls, 1_000);
              assert.equal(await codeOf(among.broadcast(claiming, signal())), code, urls.join());
            }
            // A signed transaction has a nonce, which others wait for.
            await driver.adapter().broadcast(claiming, signal());
            await driver.show();
          },
        ),
      );
    },
  },
];
