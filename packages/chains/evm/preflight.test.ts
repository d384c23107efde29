import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Hex } from 'viem';
import { encodeFunctionData, getAbiItem, toFunctionSelector } from 'viem/utils';
import { refuses } from '../testing/refusals.ts';
import { probeCode } from './artifacts/probe.ts';
import { accounts, deploy, send } from './testing/anvil.ts';
import { compileTestContracts } from './testing/compile.ts';
import {
  deployToken,
  fund,
  funder,
  later,
  mint,
  newLeg,
  openByStorage,
  receiver,
} from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const zoo = compileTestContracts('Zoo.sol');
const { chain, adapterOf, adapterOver, signal } = await evmWorld();

const termsOf = async (over: Partial<EscrowTerms> = {}) => (await newLeg(chain, over)).terms;
const put = (name: string) => deploy(chain, zoo.get(name)!.bytecode);
const tell = (name: string, address: Hex, functionName: string, ...args: unknown[]) => {
  const data = encodeFunctionData({ abi: zoo.get(name)!.abi, functionName, args });
  return send(chain, accounts[9]!, { to: address, data });
};
type About = 'payout' | 'funding' | 'claim';
const tried = (terms: EscrowTerms, about: About, adapter = adapterOf()) =>
  adapter.preflight(terms, about, signal());
const fails = (trial: Promise<void>, words: RegExp, what = 'payout') =>
  assert.rejects(trial, refuses(`${what}_would_fail`, words));
/** Funded, of what the funder has enough of. */
async function fundedIn(token: Hex) {
  await mint(chain, token, funder.address, 10_000n);
  const leg = await newLeg(chain, { token });
  await fund(chain, leg);
  return leg;
}
test('the probe is what its source compiles to', () => {
  const settings = { evmVersion: 'paris', isOptimised: true } as const;
  const compiled = compileTestContracts('../Probe.sol', settings).get('Probe');
  assert.equal(probeCode, compiled?.runtime);
});

test('a token that takes a fee is refused with the numbers', async () => {
  const token = await deployToken(chain, 'FeeToken');
  // It burns its fee, so there must be some supply.
  await mint(chain, token, receiver.address, 10_000_000n);
  const terms = await termsOf({ token, amount: 1_000_000n });
  for (const about of ['payout', 'funding'] as const) {
    await fails(tried(terms, about), /would gain \d+ instead of 1000000/, about);
  }
});

test('a blacklisted receiver, a blacklisted funder and a paused token are refused', async () => {
  const token = await put('Governed');
  const terms = await termsOf({ token });
  const list = (who: Hex, isListed: boolean) =>
    tell('Governed', token, 'setBlacklisted', who, isListed);
  await tried(terms, 'funding');
  await list(receiver.address, true);
  const own = /to the payout address .*the token refuses the transfer: it reverts with the error/;
  await fails(tried(terms, 'payout'), own);
  await list(receiver.address, false);
  await list(funder.address, true);
  await fails(tried(terms, 'payout'), /to the refund address/);
  await fails(tried(terms, 'funding'), /the token refuses the transfer/, 'funding');
  await list(funder.address, false);
  await tell('Governed', token, 'setPaused', true);
  await fails(tried(terms, 'payout'), /says "the token is paused"/);
});

test('balances are found where a token reads them; without access lists where compilers put them', async () => {
  const plain = await deployToken(chain, 'DevDollar');
  const hidden = await put('Separated');
  await tried(await termsOf({ token: hidden }), 'funding');
  const events: string[] = [];
  const adapter = await adapterOver(
    ({ method }, forward) =>
      method === 'eth_createAccessList'
        ? { error: { code: -32_601, message: 'the method does not exist' } }
        : forward(),
    { log: (event) => events.push(event) },
  );
  await tried(await termsOf({ token: plain }), 'payout', adapter);
  assert.deepEqual(events, []);
  // Its ledger cannot be guessed: said in the log, and nothing is refused.
  await tried(await termsOf({ token: hidden }), 'payout', adapter);
  assert.deepEqual(events, ['preflight_without_balance']);
});

test('a trial is made anew where the first place that a token reads is not its ledger', async () => {
  const token = await deployToken(chain, 'DevDollar');
  const adapter = await adapterOver(async ({ method }, forward) => {
    const answer = await forward();
    if (method !== 'eth_createAccessList' || 'error' in answer) return answer;
    const { accessList } = answer.result as { accessList: { storageKeys: string[] }[] };
    for (const { storageKeys } of accessList) storageKeys.unshift(`0x${'77'.repeat(32)}`);
    return answer;
  });
  await tried(await termsOf({ token }), 'payout', adapter);
});

test('of an open escrow the claim itself is tried, from what the contract holds', async () => {
  const claimSelector = toFunctionSelector(getAbiItem({ abi: escrowsAbi, name: 'claim' })).slice(2);
  const heard: string[] = [];
  const adapter = await adapterOver(({ method, params }, forward) => {
    heard.push(`${method} ${JSON.stringify(params)}`);
    return forward();
  });
  const coins = await newLeg(chain);
  await fund(chain, coins);
  for (const leg of [coins, await fundedIn(await put('Governed'))]) {
    heard.length = 0;
    await tried(leg.terms, 'claim', adapter);
    const claimed = heard.filter((each) => each.includes(claimSelector));
    // A token is also tried as it arrives: a fee that it takes by now no claim would notice.
    assert.equal(claimed.length, leg === coins ? 1 : 2, heard.join('\n'));
    assert.ok(heard.every((each) => !each.includes(leg.secret)));
    // For the claim itself nothing but the lane's word is lent, under another hashlock.
    assert.ok(claimed.every((each) => !each.includes(leg.terms.hashlock)));
    assert.ok(heard.every((each) => !each.includes('"balance"')));
  }
});

test('no secret is shown for a token that takes a fee by now out of what arrives', async () => {
  const token = await put('LateFee');
  const { terms } = await fundedIn(token);
  await tried(terms, 'claim');
  await tell('LateFee', token, 'setFee', true);
  await fails(tried(terms, 'claim'), /would gain 900 instead of 1000/);
});

test('a claim that its time has passed for, or that the contract cannot pay, is refused', async () => {
  const { terms } = await newLeg(chain, { token: await deployToken(chain, 'DevDollar') });
  // Open, and the contract has nothing of it: as after a seizure.
  await openByStorage(chain, terms);
  await fails(tried(terms, 'claim'), /the token refuses the transfer/);
  const native = await newLeg(chain);
  await fund(chain, native);
  await later(chain, 7_200);
  await fails(tried(native.terms, 'claim'), /ClaimTooLate/);
});
