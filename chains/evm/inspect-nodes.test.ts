import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import {
  type Answer,
  hangingNode,
  type Lie,
  lyingNode,
  type Request,
  untilTested,
} from '../testing/nodes.ts';
import { defaultPowerRules, type Inspection } from '../tokens/inspection.ts';
import { startAnvil, type TestChain } from './testing/anvil.ts';
import { handsOn, notPassed, proxyArgs, slot1967 } from './testing/tokens.ts';

let chain: TestChain;
const { put, tell, behind, look } = handsOn(() => chain);
before(async () => {
  chain = await startAnvil();
});
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.rpcUrl, lie));
const silentNode = untilTested(hangingNode);

test('rules decide what a power means; what is stopped now waits under any', async () => {
  const token = await put('Pausable');
  const rule = (pausable: 'pass' | 'reject') => ({ ...defaultPowerRules, pausable });
  assert.deepEqual(notPassed(await look(token, rule('pass'))).short, []);
  assert.deepEqual(notPassed(await look(token, rule('reject'))).short, ['pausable: reject']);
  await tell('Pausable', token, 'pause');
  const stopped = notPassed(await look(token, rule('pass'))).short;
  assert.deepEqual(stopped, ['transfer: wait', 'pausable: wait']);
  const proxy = await behind('Proxy', proxyArgs(slot1967));
  const lax = { ...defaultPowerRules, upgradeable: 'pass' } as const;
  assert.deepEqual(notPassed(await look(proxy, lax)).short, []);
});

async function lookBy(lie: Lie, token: string): Promise<Inspection> {
  const node = await lying(lie);
  return await look(token, defaultPowerRules, node.url);
}

const unknownMethod = { error: { code: -32_601, message: 'the method does not exist' } };
const without =
  (...methods: string[]): Lie =>
  ({ method }, forward) =>
    methods.includes(method) ? unknownMethod : forward();
const lends = ({ method, params }: Request) => method === 'eth_call' && params.length > 2;

test('a node that lends nothing cannot try transfers, and the rest is found', async () => {
  const token = await put('Blacklisting');
  const refuse = { error: { code: -32_602, message: 'too many arguments' } };
  const found = notPassed(
    await lookBy((request, forward) => (lends(request) ? refuse : forward()), token),
  );
  assert.deepEqual(found.short, ['transfer: wait', 'blacklist: wait']);
  assert.match(found.reasons, /^it cannot be tried with this node, which takes no state overrides/);
});

test('a node that plays no transactions finds what one call can show', async () => {
  const lie = without('eth_simulateV1');
  const find = async (name: string) => notPassed(await lookBy(lie, await put(name))).short;
  assert.deepEqual(await find('Plain'), []);
  assert.deepEqual(await find('Fee'), ['transfer: reject']);
  assert.deepEqual(await find('Honeypot'), ['transfer: reject']);
  // Later steps may fail because they are made in one transaction.
  assert.deepEqual(await find('NoSpender'), ['transfer: wait']);
  assert.deepEqual(await find('OneABlock'), ['transfer: wait']);
  assert.deepEqual(await find('TimeBomb'), ['transfer: wait']);
  // There is gas for all of it.
  assert.deepEqual(await find('BurnsGas'), []);
});

test('a trial whose gas ends is a finding and no failure of the node', async () => {
  const lie: Lie = ({ method, params }, forward) =>
    method === 'eth_call' && JSON.stringify(params[0]).length > 1_000
      ? { error: { code: -32_003, message: 'EVM error OutOfGas' } }
      : forward();
  const found = notPassed(await lookBy(lie, await put('Plain')));
  assert.deepEqual(found.short, ['transfer: wait']);
  assert.match(found.reasons, /a round of transfers .* breaks the trial off: EVM error OutOfGas$/);
});

test('a node that breaks off a trial says nothing of the token', async () => {
  const lie: Lie = ({ method, params }, forward) =>
    method === 'eth_simulateV1' && JSON.stringify(params).length > 500
      ? { error: { code: -38_015, message: 'block gas limit reached' } }
      : forward();
  const found = notPassed(await lookBy(lie, await put('Plain')));
  assert.deepEqual(found.short, ['transfer: wait']);
  assert.match(found.reasons, /the node broke off/);
});

test('where balances cannot be lent, a recent holder is borrowed; else it waits', async () => {
  const lie = without('eth_createAccessList');
  const token = await put('Elsewhere');
  assert.deepEqual(notPassed(await lookBy(lie, token)).short, []);
  const blind = without('eth_createAccessList', 'eth_getLogs');
  const found = notPassed(await lookBy(blind, token));
  assert.deepEqual(found.short, ['transfer: wait']);
  assert.match(found.reasons, /nor a recent holder$/);
});

test('a borrowed holder whom a token bars makes it wait, where others can move it', async () => {
  const lie = without('eth_createAccessList');
  for (const [name, words] of [
    ['Barring', /^a transfer from one holder .* units fails: it says "not you"$/],
    ['Ignoring', /^a transfer from one holder .* units moves nothing$/],
  ] as const) {
    const token = await put(name);
    // A balance is lent to somebody else.
    assert.deepEqual(notPassed(await look(token)).short, [], name);
    // The one who holds all of it is borrowed.
    const found = notPassed(await lookBy(lie, token));
    assert.deepEqual(found.short, ['transfer: wait'], name);
    assert.match(found.reasons, words);
  }
});

test('a node that fails says nothing of the token', async () => {
  const token = await put('Plain');
  const fails = (code: string) => (error: unknown) => {
    assert.ok(error instanceof ParleyError, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  };
  const busy: Answer = { error: { code: -32_000, message: 'daily request count exceeded' } };
  const calls = lookBy(({ method }, forward) => (method === 'eth_call' ? busy : forward()), token);
  await assert.rejects(calls, fails('chain_unavailable'));
  const trials = lookBy(
    ({ method, params }, forward) =>
      method === 'eth_call' && JSON.stringify(params[0]).length > 1_000 ? busy : forward(),
    token,
  );
  await assert.rejects(trials, fails('chain_unavailable'));
  const hanging = await silentNode();
  const soon = look(token, defaultPowerRules, hanging.url, AbortSignal.timeout(300));
  await assert.rejects(soon, fails('chain_timeout'));
});
