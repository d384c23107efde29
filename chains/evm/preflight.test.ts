import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Hex } from 'viem';
import { encodeDeployData, encodeFunctionData, getAbiItem, toFunctionSelector } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import type { EscrowTerms, Lane } from '../../core/terms.ts';
import { answerOf, type Lie, lyingNode, untilTested } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import type { EvmAdapterOptions } from './adapter.ts';
import { probeCode } from './artifacts/probe.ts';
import { evmDeployment, fundCalls } from './plan.ts';
import { lentOpen } from './simulate.ts';
import { accounts, deploy, send, startAnvil } from './testing/anvil.ts';
import { compileTestContracts } from './testing/compile.ts';
import {
  adapterOn,
  claim,
  deployToken,
  fund,
  funder,
  later,
  mint,
  newLeg,
  receiver,
} from './testing/swap.ts';

const signal = () => AbortSignal.timeout(60_000);
const zoo = compileTestContracts('Zoo.sol');
const chain = await startAnvil();
after(() => chain.stop());
const lyingFor = untilTested(lyingNode);
const lying = (lie: Lie) => lyingFor(chain.rpcUrl, lie);

const adapterOf = (over: Partial<EvmAdapterOptions> = {}) => adapterOn(chain, over);

const terms = async (over: Partial<EscrowTerms>) => (await newLeg(chain, over)).terms;
const to = (address: string) => ({ address, pubkey: null });

const claimSelector = toFunctionSelector(getAbiItem({ abi: escrowsAbi, name: 'claim' })).slice(2);

const answerOn = (method: string, params: readonly unknown[]) =>
  answerOf(chain.rpcUrl, method, params);

async function tell(name: string, address: Hex, functionName: string, args: readonly unknown[]) {
  const { abi } = zoo.get(name)!;
  await send(chain, accounts[9]!, {
    to: address,
    data: encodeFunctionData({ abi, functionName, args }),
  });
}

test('the probe is what its source compiles to', () => {
  const compiled = compileTestContracts('../Probe.sol', {
    evmVersion: 'paris',
    isOptimised: true,
  }).get('Probe');
  assert.equal(probeCode, compiled?.runtime);
});

test('native payouts to plain addresses work, whatever the funder has', async () => {
  const adapter = adapterOf();
  await adapter.preflight(await terms({}), 'payout', signal());
  await adapter.preflight(await terms({ amount: 10n ** 30n }), 'funding', signal());
});

test('a receiver that rejects the native coin is refused, in its own words, at both ends', async () => {
  const adapter = adapterOf();
  const rejecting = await deploy(chain, zoo.get('Rejecting')!.bytecode);
  const words = /to the payout address .* refuses the payment: it says "no deposits today"/;
  for (const about of ['payout', 'funding'] as const) {
    const paid = adapter.preflight(await terms({ payout: to(rejecting) }), about, signal());
    await assert.rejects(paid, refuses('payout_would_fail', words));
    const back = adapter.preflight(await terms({ refund: to(rejecting) }), about, signal());
    await assert.rejects(back, refuses('payout_would_fail', /to the refund address/));
  }
  await tell('Rejecting', rejecting, 'set', [true]);
  await adapter.preflight(await terms({ payout: to(rejecting) }), 'funding', signal());
});

for (const name of ['DevDollar', 'DevTether', 'ReturnsFalse'] as const) {
  test(`${name} works with and without a balance and an approval of the funder`, async () => {
    const adapter = adapterOf();
    const token = await deployToken(chain, name);
    const wanted = await terms({ token });
    await adapter.preflight(wanted, 'funding', signal());
    await mint(chain, token, funder.address, 1_000n);
    await send(chain, funder, fundCalls({ ...wanted, amount: 1n }, evmDeployment(31_337), 0n)[0]!);
    await adapter.preflight(wanted, 'funding', signal());
  });
}

test('a token that takes a fee is refused with the numbers', async () => {
  const adapter = adapterOf();
  const token = await deployToken(chain, 'FeeToken');
  // It burns its fee, so there must be some supply.
  await mint(chain, token, receiver.address, 10_000_000n);
  const wanted = await terms({ token, amount: 1_000_000n });
  const words = /would gain \d+ instead of 1000000/;
  const payout = adapter.preflight(wanted, 'payout', signal());
  await assert.rejects(payout, refuses('payout_would_fail', words));
  const funding = adapter.preflight(wanted, 'funding', signal());
  await assert.rejects(funding, refuses('funding_would_fail', words));
});

test('a blacklisted receiver, a blacklisted funder and a paused token are refused', async () => {
  const adapter = adapterOf();
  const token = await deploy(chain, zoo.get('Governed')!.bytecode);
  const wanted = await terms({ token });
  await adapter.preflight(wanted, 'funding', signal());
  await tell('Governed', token, 'setBlacklisted', [receiver.address, true]);
  const payout = adapter.preflight(wanted, 'payout', signal());
  const own =
    /to the payout address .*the token refuses the transfer: it reverts with the error 0x/;
  await assert.rejects(payout, refuses('payout_would_fail', own));
  await tell('Governed', token, 'setBlacklisted', [receiver.address, false]);
  await tell('Governed', token, 'setBlacklisted', [funder.address, true]);
  const back = adapter.preflight(wanted, 'payout', signal());
  await assert.rejects(back, refuses('payout_would_fail', /to the refund address/));
  const funding = adapter.preflight(wanted, 'funding', signal());
  await assert.rejects(funding, refuses('funding_would_fail', /the token refuses the transfer/));
  await tell('Governed', token, 'setBlacklisted', [funder.address, false]);
  await tell('Governed', token, 'setPaused', [true]);
  const paused = adapter.preflight(wanted, 'payout', signal());
  await assert.rejects(paused, refuses('payout_would_fail', /says "the token is paused"/));
});

test('balances that lie in another contract are found where the token reads them', async () => {
  const token = await deploy(chain, zoo.get('Separated')!.bytecode);
  await adapterOf().preflight(await terms({ token }), 'funding', signal());
});

test('without access lists, balances are found where compilers put a mapping', async () => {
  const node = await lying(({ method }, forward) =>
    method === 'eth_createAccessList'
      ? { error: { code: -32_601, message: 'the method does not exist' } }
      : forward(),
  );
  const events: string[] = [];
  const log = (event: string) => void events.push(event);
  const adapter = adapterOf({ rpcUrls: [node.url], log });
  const token = await deployToken(chain, 'DevDollar');
  await adapter.preflight(await terms({ token }), 'payout', signal());
  assert.deepEqual(events, []);
  // Its ledger cannot be guessed: said in the log, and nothing is refused.
  const hidden = await deploy(chain, zoo.get('Separated')!.bytecode);
  await adapter.preflight(await terms({ token: hidden }), 'payout', signal());
  assert.deepEqual(events, ['preflight_without_balance']);
});

test('a node without state overrides tries what the funder could send, and says so', async () => {
  const node = await lying(({ method, params }, forward) =>
    method === 'eth_call' && params.length > 2
      ? { error: { code: -32_602, message: 'too many arguments, want at most 2' } }
      : forward(),
  );
  const events: string[] = [];
  const log = (event: string) => void events.push(event);
  const adapter = adapterOf({ rpcUrls: [node.url], log });
  const token = await deploy(chain, zoo.get('Governed')!.bytecode);
  await tell('Governed', token, 'setBlacklisted', [receiver.address, true]);
  await adapter.preflight(await terms({ token }), 'funding', signal());
  await mint(chain, token, funder.address, 1_000n);
  const payout = adapter.preflight(await terms({ token }), 'funding', signal());
  await assert.rejects(payout, refuses('payout_would_fail', /to the payout address/));
  await adapter.preflight(await terms({}), 'funding', signal());
  assert.deepEqual(events, ['preflight_without_overrides']);
});

test('a token that is no contract, a leg funded before and a late timelock are refused', async () => {
  const adapter = adapterOf();
  const none = adapter.preflight(await terms({ token: accounts[7]!.address }), 'payout', signal());
  await assert.rejects(none, refuses('payout_would_fail', /no contract at/));
  const leg = await newLeg(chain);
  await fund(chain, leg);
  const again = adapter.preflight(leg.terms, 'funding', signal());
  await assert.rejects(
    again,
    refuses('funding_would_fail', /the lane was used 1 times: number 1 is not its next/),
  );
  const { timestamp } = await chain.client.getBlock();
  const soon = await terms({ timelock: Number(timestamp) + 60 });
  const late = adapter.preflight(soon, 'funding', signal());
  await assert.rejects(late, refuses('funding_would_fail', /30 minutes to 30 days/));
  await adapter.preflight(soon, 'payout', signal());
});

test('a contract wallet can be the funder and be paid back', async () => {
  const wallet = zoo.get('OwnedWallet')!;
  const { abi, bytecode } = wallet;
  const args = [funder.address];
  const address = await deploy(chain, encodeDeployData({ abi, bytecode, args }));
  const token = await deployToken(chain, 'DevTether');
  const adapter = adapterOf();
  await adapter.preflight(await terms({ refund: to(address) }), 'funding', signal());
  await adapter.preflight(await terms({ refund: to(address), token }), 'funding', signal());
});

test('once a leg is funded, its funder’s own address stops no reveal, lent balances or not', async () => {
  const plain = await lying(({ method, params }, forward) =>
    method === 'eth_call' && params.length > 2
      ? { error: { code: -32_602, message: 'too many arguments, want at most 2' } }
      : forward(),
  );
  const token = await deploy(chain, zoo.get('Governed')!.bytecode);
  const leg = await newLeg(chain, { token });
  await mint(chain, token, funder.address, 2n * leg.terms.amount);
  await fund(chain, leg);
  const adapters = [adapterOf(), adapterOf({ rpcUrls: [plain.url] })];
  await tell('Governed', token, 'setBlacklisted', [funder.address, true]);
  for (const adapter of adapters) {
    const both = adapter.preflight(leg.terms, 'payout', signal());
    await assert.rejects(both, refuses('payout_would_fail', /./));
    await adapter.preflight(leg.terms, 'claim', signal());
  }
  await tell('Governed', token, 'setBlacklisted', [receiver.address, true]);
  for (const adapter of adapters) {
    const claim = adapter.preflight(leg.terms, 'claim', signal());
    await assert.rejects(claim, refuses('payout_would_fail', /to the payout address/));
  }
});

test('of an open escrow the claim itself is tried, from what the contract holds', async () => {
  const heard: string[] = [];
  const ear = await lying(({ method, params }, forward) => {
    heard.push(`${method} ${JSON.stringify(params)}`);
    return forward();
  });
  const token = await deploy(chain, zoo.get('Governed')!.bytecode);
  await mint(chain, token, funder.address, 10_000n);
  const adapter = adapterOf({ rpcUrls: [ear.url] });
  for (const asset of [null, token]) {
    const leg = await newLeg(chain, { token: asset });
    await fund(chain, leg);
    heard.length = 0;
    await adapter.preflight(leg.terms, 'claim', signal());
    const claimed = heard.filter((each) => each.includes(claimSelector));
    // A token is also tried as it arrives: a fee that it takes by now no claim would notice.
    assert.equal(claimed.length, asset === null ? 1 : 2, heard.join('\n'));
    assert.ok(heard.every((each) => !each.includes(leg.secret)));
    // For the claim itself nothing but the lane's word is lent, under another hashlock.
    assert.ok(claimed.every((each) => !each.includes(leg.terms.hashlock)));
    assert.ok(heard.every((each) => !each.includes('"balance"')));
  }
});

test('no secret is shown for a token that takes a fee by now out of what arrives', async () => {
  const token = await deploy(chain, zoo.get('LateFee')!.bytecode);
  await mint(chain, token, funder.address, 10_000n);
  const leg = await newLeg(chain, { token });
  await fund(chain, leg);
  const adapter = adapterOf();
  await adapter.preflight(leg.terms, 'claim', signal());
  await tell('LateFee', token, 'setFee', [true]);
  const short = adapter.preflight(leg.terms, 'claim', signal());
  await assert.rejects(short, refuses('payout_would_fail', /would gain 900 instead of 1000/));
});

test('a claim that its time has passed for, or that the contract cannot pay, is refused', async () => {
  const token = await deployToken(chain, 'DevDollar');
  await mint(chain, token, funder.address, 10_000n);
  const leg = await newLeg(chain, { token });
  // Open, and the contract has nothing of it: as after a seizure.
  const { contract } = evmDeployment(31_337);
  const lent = lentOpen(leg.terms, evmDeployment(31_337))[contract]?.stateDiff ?? {};
  for (const [index, value] of Object.entries(lent)) {
    await chain.client.setStorageAt({
      address: contract as Hex,
      index: index as Hex,
      value: value as Hex,
    });
  }
  const seized = adapterOf().preflight(leg.terms, 'claim', signal());
  await assert.rejects(seized, refuses('payout_would_fail', /the token refuses the transfer/));
  const fork = await chain.client.snapshot();
  const native = await newLeg(chain, {});
  await fund(chain, native);
  await later(chain, 7_200);
  const late = adapterOf().preflight(native.terms, 'claim', signal());
  await assert.rejects(late, refuses('payout_would_fail', /ClaimTooLate/));
  await chain.client.revert({ id: fork });
});

test('where storage is not lent, the contract itself is the one that pays in a plain trial', async () => {
  const rejecting = await deploy(chain, zoo.get('Rejecting')!.bytecode);
  const leg = await newLeg(chain, { payout: to(rejecting) });
  await fund(chain, leg);
  // It lends code, and forgets the words.
  const forgetful = await lying(async ({ method, params }, forward) =>
    method === 'eth_call' && JSON.stringify(params[2] ?? {}).includes('stateDiff')
      ? answerOn(method, params.slice(0, 2))
      : forward(),
  );
  // Lent or not, the receiver's own words are told.
  const words = /to the payout address .*no deposits today/;
  const lent = adapterOf().preflight(leg.terms, 'claim', signal());
  await assert.rejects(lent, refuses('payout_would_fail', words));
  const payers: unknown[] = [];
  const ear = await lyingFor(forgetful.url, ({ params }, forward) => {
    payers.push((params[0] as { from?: unknown } | undefined)?.from);
    return forward();
  });
  const adapter = adapterOf({ rpcUrls: [ear.url] });
  const claim = adapter.preflight(leg.terms, 'claim', signal());
  await assert.rejects(claim, refuses('payout_would_fail', words));
  assert.ok(payers.includes(evmDeployment(31_337).contract));
});

test('addresses that lose money are refused before a lane is named, trials or not', async () => {
  const plain = await lying(({ method, params }, forward) =>
    method === 'eth_call' && params.length > 2
      ? { error: { code: -32_602, message: 'too many arguments, want at most 2' } }
      : forward(),
  );
  const { lane: _, fundBefore: __, ...bare } = await terms({});
  for (const adapter of [adapterOf(), adapterOf({ rpcUrls: [plain.url] })]) {
    await adapter.preflight(bare, 'payout', signal());
    for (const field of ['payout', 'refund'] as const) {
      const lost = { ...bare, [field]: to(evmDeployment(31_337).contract) };
      const refused = adapter.preflight(lost, 'payout', signal());
      await assert.rejects(refused, refuses('bad_address', /is the escrow contract/));
    }
  }
});

test('a trial is no lane of anybody, and the money of others stands in no way', async () => {
  const token = await deployToken(chain, 'DevTether');
  await mint(chain, token, funder.address, 10_000n);
  const others = await newLeg(chain, { token });
  await fund(chain, others);
  const next = await terms({
    token,
    lane: { ...(others.terms.lane as Lane), counter: 2 },
  });
  const adapter = adapterOf();
  // The trial does not need the lane, whose money is not settled yet; the funding does.
  await adapter.preflight(next, 'payout', signal());
  const funding = adapter.preflight(next, 'funding', signal());
  await assert.rejects(funding, refuses('funding_would_fail', /the lane was used 1 times/));
  await claim(chain, others);
  await adapter.preflight(next, 'funding', signal());
});
