import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { freshLane } from '@parley/core/testing.ts';
import { type Hex, parseTransaction } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { typedDataToSign } from '../escrows/typed-data.ts';
import { refuses } from '../testing/refusals.ts';
import { dearestGas } from './gas-policy.ts';
import { evmDeployment, laneText } from './plan.ts';
import { stateAt } from './state.ts';
import { deploy, send } from './testing/anvil.ts';
import { deployDevCoin, fundingOf } from './testing/authorization.ts';
import { compileTestContracts } from './testing/compile.ts';
import { devGas, type Stranger, strangerOn } from './testing/gas.ts';
import { anyone, funder, later, mint, newLeg, receiver } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const { chain, signal } = await evmWorld();
let token: Hex;
let stranger: Stranger;
before(async () => {
  token = await deployDevCoin(chain);
  await mint(chain, token, funder.address, 100_000n);
  stranger = await strangerOn(chain);
});

const stateOf = async (terms: EscrowTerms) => {
  const { node } = stranger.adapter;
  return (await stateAt(node, evmDeployment(chain.chainId), terms, 'latest', signal())).state;
};
const outcome = (sent: Parameters<Stranger['account']['outcome']>[0]) =>
  stranger.account.outcome(sent, signal());

test('the key pays for the gas of a funding, and its funder for nothing but the amount', async () => {
  const leg = await newLeg(chain, { token });
  const coins = (address: string) => chain.client.getBalance({ address: address as Hex });
  const had = await coins(funder.address);
  const paid = await coins(stranger.account.address);
  const work = await fundingOf(chain, leg.terms);
  const mostCost = await stranger.account.quote(work, signal());
  const sent = await stranger.send(work);
  assert.equal(await stateOf(leg.terms), 'open');
  assert.equal(await coins(funder.address), had);
  const cost = paid - (await coins(stranger.account.address));
  assert.ok(cost > 0n && cost <= sent.mostCost && sent.mostCost <= mostCost, `${cost}`);
  assert.deepEqual(sent.touches, [{ escrow: leg.escrow.address, verb: 'fund', secret: null }]);
  const reserve = await stranger.account.reserve(work, signal());
  const least = dearestGas('prague', 'authorized');
  assert.ok(reserve >= sent.mostCost && reserve >= least * devGas.reserveFeePerGas);
  assert.equal(await outcome(sent), 'mined');
  await chain.client.mine({ blocks: 4 });
  assert.equal(await outcome(sent), 'deep');
  // By wallets that give 0 or 1 it is the same call.
  const other = await newLeg(chain, { token });
  const signed = await fundingOf(chain, other.terms);
  const bare = { '1b': '00', '1c': '01' }[signed.signature.slice(-2)] ?? assert.fail();
  const one = await stranger.sign(signed);
  const two = await stranger.sign({ ...signed, signature: signed.signature.slice(0, -2) + bare });
  const dataOf = (raw: string) => parseTransaction(raw as Hex).data;
  assert.equal(dataOf(one.raw), dataOf(two.raw));
});

test("the key funds in a lane of the payee by two signatures, and not without the payee's", async () => {
  const lane = { number: `f${freshLane().number.slice(1)}`, counter: 1 };
  const leg = await newLeg(chain, { token, lane });
  const work = await fundingOf(chain, leg.terms);
  await assert.rejects(stranger.sign(work), refuses('bad_signature', /65 bytes/));
  const text = typedDataToSign(laneText(leg.terms, evmDeployment(chain.chainId)));
  const alien = { ...work, laneSignature: await anyone.signTypedData(text) };
  await assert.rejects(stranger.sign(alien), refuses('bad_signature', /who owns it/));
  await stranger.send({ ...work, laneSignature: await receiver.signTypedData(text) });
  assert.equal(await stateOf(leg.terms), 'open');
});

test('a signature of somebody else, for other terms or of another form is refused as such', async () => {
  const leg = await newLeg(chain, { token });
  const work = await fundingOf(chain, leg.terms);
  const alien = await fundingOf(chain, leg.terms, anyone);
  const foreign = refuses('bad_signature', /is none of 0x\w{40} for the funding of this leg/);
  await assert.rejects(stranger.sign(alien), foreign);
  const terms = { ...leg.terms, amount: 999n };
  await assert.rejects(stranger.sign({ ...work, terms }), foreign);
  for (const signature of ['0x', `${work.signature}00`, `${work.signature.slice(0, -2)}1d`]) {
    await assert.rejects(
      stranger.sign({ ...work, signature }),
      refuses('bad_signature', /must be 65 bytes|has v 29/),
    );
  }
  assert.equal(await stateOf(leg.terms), 'never');
});

test('a funding that the chain would not take is not signed, and says why', async () => {
  const leg = await newLeg(chain, { token });
  const late = await newLeg(chain, { token });
  const poor = await newLeg(chain, { token, amount: 10n ** 12n });
  const fails = (words: RegExp) => refuses('funding_would_fail', words);
  await assert.rejects(
    stranger.sign(await fundingOf(chain, poor.terms)),
    fails(/InsufficientBal|0x/),
  );
  const work = await fundingOf(chain, leg.terms);
  // Simulated well, and used by somebody else before it is mined: it has failed.
  const signed = await stranger.sign(work);
  await stranger.send(work);
  await assert.rejects(stranger.sign(work), fails(/the lane was used 1 times/));
  const nonce = (signed.nonce ?? 0) + 1;
  const second = await newLeg(chain, { token });
  const beaten = await stranger.sign(await fundingOf(chain, second.terms), { nonce });
  const { data, to } = parseTransaction(beaten.raw as Hex);
  await send(chain, anyone, { to: to as Hex, data: data as Hex });
  await stranger.broadcast(beaten);
  assert.equal(await outcome(beaten), 'failed');
  await later(chain, 3_600);
  const tooLate = stranger.sign(await fundingOf(chain, late.terms));
  await assert.rejects(tooLate, fails(/it had to be funded before/));
});

test('a token that burns all gas, or answers too much, is not paid for', async () => {
  const { abi, bytecode } = compileTestContracts('GasZoo.sol').get('Burner') ?? assert.fail();
  const burner = await deploy(chain, bytecode);
  const leg = await newLeg(chain, { token: burner });
  const work = await fundingOf(chain, leg.terms);
  const tried = new RegExp(`tried with ${devGas.mostGas} gas`);
  await assert.rejects(stranger.sign(work), refuses('funding_would_fail', tried));
  const data = encodeFunctionData({ abi, functionName: 'set', args: [true] });
  await send(chain, anyone, { to: burner, data });
  await assert.rejects(stranger.sign(work), refuses('funding_would_fail', tried));
});
