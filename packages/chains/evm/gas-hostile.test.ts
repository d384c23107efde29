import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { before, test } from 'node:test';
import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { type Hex, parseTransaction } from 'viem';
import { encodeFunctionData, getAbiItem, toFunctionSelector } from 'viem/utils';
import type { GasWork } from '../gas/account.ts';
import type { Lie, Request } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { offerAt, type Present, replacing } from './gas-fees.ts';
import { evmGasPolicies, evmGasPolicyOf } from './gas-policy.ts';
import { decodeCall, evmDeployment, evmEscrow } from './plan.ts';
import { evmChains } from './policy.ts';
import { accounts, deploy, send } from './testing/anvil.ts';
import { compileTestContracts } from './testing/compile.ts';
import { claimOf, devGas, type Stranger, strangerOn } from './testing/gas.ts';
import { anyone, claim, fund, funder, mint, newLeg } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const zoo = compileTestContracts('GasZoo.sol');
const { chain, urlOf, signal } = await evmWorld();
let stranger: Stranger;
before(async () => {
  stranger = await strangerOn(chain);
});
const strangerBehind = async (lie: Lie) => strangerOn(chain, {}, { rpcUrls: [await urlOf(lie)] });

const put = (name: string) => deploy(chain, zoo.get(name)!.bytecode);
const tell = async (name: string, to: string, args: readonly unknown[]) => {
  const data = encodeFunctionData({ abi: zoo.get(name)!.abi, functionName: 'set', args });
  await send(chain, accounts[9]!, { to, data });
};
const deployment = evmDeployment(31_337);
const stateSelector = toFunctionSelector(getAbiItem({ abi: escrowsAbi, name: 'stateOf' }));
/** The answer of `stateOf` for an open escrow. */
const openState = `0x${'1'.padStart(64, '0')}`;
const isAskedForState = ({ method, params }: Request) => {
  const { data = '' } = (params[0] ?? {}) as { data?: string };
  return method === 'eth_call' && data.startsWith(stateSelector);
};

const gasIn = (raw: string) => parseTransaction(raw as Hex).gas ?? 0n;
const costOf = async (sent: { readonly txid: string }) => {
  const receipt = await chain.client.waitForTransactionReceipt({ hash: sent.txid as Hex });
  return { ...receipt, paid: receipt.gasUsed * receipt.effectiveGasPrice };
};

/** A token with a leg in it, and what it is told to do: burn so much, answer so, know trials. */
async function whimsical() {
  const token = await put('Whim');
  await mint(chain, token, funder.address, 10_000n);
  const leg = await newLeg(chain, { token });
  await fund(chain, leg);
  const whim = (burns: bigint, answers = false, knows = false) =>
    tell('Whim', token, [burns, answers, knows]);
  return { leg, whim };
}

test('a token that burns more gas than is allowed, or answers too much, is not paid for', async () => {
  const { leg, whim } = await whimsical();
  const legs = [{ terms: leg.terms, secret: leg.secret }];
  const batch = async () =>
    stranger.adapter.buildBatch?.({ verb: 'claim', legs }, anyone.address, signal());
  await whim(0n, true);
  for (const isPublic of [true, false]) {
    await assert.rejects(stranger.sign(claimOf(leg, isPublic)), refuses('payout_would_fail'));
  }
  await whim(40n);
  for (const isPublic of [true, false]) {
    await assert.rejects(stranger.sign(claimOf(leg, isPublic)), refuses('payout_would_fail'));
  }
  assert.equal((await batch())?.settles, 0, 'a batch of a party leaves it');
  await whim(4n);
  const dear = await stranger.sign(claimOf(leg));
  assert.ok(gasIn(dear.raw) > 120_000n && gasIn(dear.raw) <= devGas.mostGas);
  const { settles, gas } = (await batch()) ?? assert.fail();
  assert.ok(settles === 1 && gas !== null && gas > 100_000n && gas <= devGas.mostGas);
  await whim(0n);
  const sent = await stranger.send(claimOf(leg));
  assert.equal((await costOf(sent)).status, 'success');
});

test('a token that turns on its claim after the trial costs no more than was said', async () => {
  const { leg, whim } = await whimsical();
  const signed = await stranger.sign(claimOf(leg));
  await whim(1_000n);
  await stranger.broadcast(signed);
  const { status, gasUsed, paid } = await costOf(signed);
  assert.equal(status, 'reverted');
  assert.ok(gasUsed <= 150_000n && paid <= signed.mostCost);
});

test('a token that knows a trial by its price is found out, if the key has coins', async () => {
  const { leg, whim } = await whimsical();
  await whim(0n, false, true);
  await assert.rejects(stranger.sign(claimOf(leg)), refuses('payout_would_fail'));
});

test('a node that lies about gas and fees cannot raise the cost above the limit', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  const answers: Record<string, unknown> = {};
  const deceived = await strangerBehind(({ method }, forward) =>
    method in answers ? { result: answers[method] } : forward(),
  );
  const mostCost = 10n ** 16n;
  answers.eth_estimateGas = '0xffffffffffff';
  const { raw, mostCost: cost } = await deceived.sign(claimOf(leg), { mostCost });
  assert.ok(gasIn(raw) <= devGas.mostGas && cost <= mostCost);
  answers.eth_feeHistory = { baseFeePerGas: ['0xffffffffffff'], reward: [['0xffffffffffff']] };
  const dear = deceived.sign(claimOf(leg), { mostCost });
  await assert.rejects(dear, refuses('fee_above_limit'));
  answers.eth_feeHistory = { baseFeePerGas: [] };
  await assert.rejects(deceived.sign(claimOf(leg)), refuses('chain_unavailable'));
  delete answers.eth_feeHistory;
  answers.eth_estimateGas = { much: 'nonsense' };
  await assert.rejects(deceived.sign(claimOf(leg)), refuses('chain_unavailable'));
});

test('an escrow that a node behind shows as open, and was settled since, is nothing to take', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await claim(chain, leg);
  const late = await strangerBehind((request, forward) =>
    isAskedForState(request) ? { result: openState } : forward(),
  );
  await assert.rejects(late.sign(claimOf(leg)), refuses('nothing_there', /NotOpen/));
});

const chance = (sides: number) => randomInt(sides) === 0;
const address = () => `0x${randomBytes(20).toString('hex')}`;

function anyTerms(secret: string, key: string): EscrowTerms {
  const some = [key, deployment.contract, address(), '0x'.padEnd(42, '0'), 'T9yD14Nj9j7xAB4d'];
  const where = () => ({
    address: chance(4) ? some[randomInt(some.length)]! : address(),
    pubkey: null,
  });
  const timelock = 30 * 86_400 + randomInt(2 ** 40);
  return {
    chain: chance(9) ? 'ethereum' : 'evm-dev',
    hashlock: chance(9) ? randomBytes(32).toString('hex') : hashlockOf(secret),
    payout: where(),
    refund: where(),
    token: chance(2) ? null : chance(4) ? key : address(),
    amount: BigInt(`0x${randomBytes(1 + randomInt(32)).toString('hex')}`),
    timelock,
    fundBefore: timelock - randomInt(30 * 86_400),
    lane: { number: randomBytes(12).toString('hex'), counter: 1 + randomInt(2 ** 30 - 1) },
  };
}

test('whatever it is asked, the key signs nothing but calls that settle escrows, without value', async () => {
  // A node that says yes to everything: a refusal is then this code's own.
  const easy = await strangerBehind(({ method, params }, forward) => {
    if (method === 'eth_estimateGas') return { result: '0x9000' };
    return isAskedForState({ method, params }) ? { result: openState } : forward();
  });
  const own = easy.account.address;
  let signed = 0;
  for (let round = 0; round < 150; round += 1) {
    const secret = randomBytes(32).toString('hex');
    const terms = anyTerms(secret, own);
    const work: GasWork = chance(8)
      ? { verb: 'void' }
      : chance(2)
        ? { verb: 'refund', terms }
        : { verb: 'claim', terms, secret, isPublic: true };
    const made = await easy.sign(work, { nonce: round }).catch((error: unknown) => {
      assert.ok(error instanceof ParleyError, String(error));
      return null;
    });
    if (made === null) continue;
    signed += 1;
    const {
      to,
      data = '0x',
      value = 0n,
      chainId,
      nonce,
      ...rest
    } = parseTransaction(made.raw as Hex);
    assert.deepEqual([value, chainId, nonce ?? 0, rest.accessList], [0n, 31_337, round, undefined]);
    if (work.verb === 'void') {
      assert.deepEqual([to?.toLowerCase(), data], [own.toLowerCase(), '0x']);
      continue;
    }
    const call = decodeCall(to ?? '', data, deployment);
    assert.equal(call?.verb, work.verb);
    assert.equal(call?.escrow, evmEscrow(work.terms, deployment).address);
    assert.equal(to?.toLowerCase(), deployment.contract.toLowerCase());
  }
  assert.ok(signed > 40, `${signed} of 150`);
});

test('an offer is never above what is affordable nor, as a replacement, below an eighth more', () => {
  const some = () => BigInt(randomInt(2 ** 40)) >> BigInt(randomInt(40));
  for (let round = 0; round < 20_000; round += 1) {
    const present: Present = { base: some(), tip: some() };
    const tip = some();
    const above = chance(2) ? null : { maxFee: tip + some(), tip };
    const affordable = some();
    const mostTip = some();
    const offer = offerAt(present, above, affordable, { mostTip });
    if (offer === null) continue;
    assert.ok(offer.maxFee <= affordable && offer.tip <= offer.maxFee);
    assert.ok(offer.maxFee >= present.base + offer.tip);
    if (above === null) continue;
    assert.ok(offer.maxFee >= replacing(above.maxFee) && offer.tip >= replacing(above.tip));
    assert.ok(replacing(above.tip) <= 4n * mostTip, 'no tip grows without end');
    assert.ok(replacing(above.tip) * 8n >= above.tip * 9n);
  }
});

test('a policy is of the chain id: each chain of the market has its own, any other that of Ethereum', () => {
  for (const [chain, { chainId }] of Object.entries(evmChains)) {
    assert.equal(evmGasPolicyOf(chainId), evmGasPolicies[chain]);
  }
  assert.deepEqual(evmGasPolicyOf(123_456_789), { ...evmGasPolicies.ethereum, pragueUpTo: null });
});
