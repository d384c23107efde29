import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import devCoinArtifact from '@parley/contracts/escrows/artifacts/DevCoin.json' with {
  type: 'json',
};
import type { Abi, AbiFunction, Address } from 'viem';
import { encodeFunctionData, getAbiItem, toFunctionSelector } from 'viem/utils';
import { typedDataToSign } from '../escrows/typed-data.ts';
import type { TokenAbilities } from '../interface/fund-ways.ts';
import type { Lie } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { trialCode } from './artifacts/trial.ts';
import { evmDeployment } from './plan.ts';
import { accounts, deploy, send } from './testing/anvil.ts';
import { deployDevCoin } from './testing/authorization.ts';
import { compileTestContracts } from './testing/compile.ts';
import {
  anyone,
  deployToken,
  fund,
  funder,
  type Leg,
  later,
  mint,
  newLeg,
} from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';
import { signedCall, typedDataProblems } from './ways.ts';

const { chain, adapterOf, adapterOver: lying, urlOf, mine, signal } = await evmWorld();
const tokens = compileTestContracts('Ways.sol');
let devCoin: Address;
const put = (name: string) => deploy(chain, tokens.get(name)!.bytecode);
before(async () => {
  devCoin = await deployDevCoin(chain);
});

const abilities = (token: string, adapter = adapterOf()) =>
  adapter.ways!.abilities(token, signal());
const nothing: TokenAbilities = { permit: null, authorization: null };

const domainOf = (token: string, name: string, version: string) => ({
  name,
  version,
  chainId: '31337',
  verifyingContract: token,
});

test('the code that is lent to actors is what its source compiles to', () => {
  const settings = { evmVersion: 'paris', isOptimised: true } as const;
  assert.equal(trialCode, compileTestContracts('../Trial.sol', settings).get('Trial')?.runtime);
});

test('a token that takes permits and authorizations is found to', async () => {
  const domain = domainOf(devCoin, 'Dev Coin', '2');
  const both = { permit: domain, authorization: domain };
  assert.deepEqual(await abilities(devCoin), both);
});

test('a domain is the one that the token hashes, of a bridge too', async () => {
  const bridged = await put('Bridged');
  const permit = async (token: string) => (await abilities(token)).permit;
  assert.deepEqual(await permit(bridged), {
    name: 'Signed',
    version: '1',
    verifyingContract: bridged,
    salt: `0x${'7a69'.padStart(64, '0')}`,
  });
});

test('an authorization that moves no nothing is tried with a balance that is lent', async () => {
  const token = await put('NoNothing');
  const domain = domainOf(token, 'Signed', '7');
  assert.deepEqual(await abilities(token), { permit: domain, authorization: domain });
});

test('a token that takes no signature, or anybody’s, or hashes another domain, has no ability', async () => {
  const plain = await deployToken(chain, 'DevDollar');
  assert.deepEqual(await abilities(plain), nothing);
  for (const name of ['Careless', 'Lying', 'DaiLike', 'TakesCalls', 'AnswersAll']) {
    const token = await put(name);
    assert.deepEqual(await abilities(token), nothing, name);
  }
});

test('an authorization that others may bring to the token is none: they would burn the money', async () => {
  for (const name of ['Unguarded', 'ForContracts', 'ForPeople']) {
    const token = await put(name);
    const permitOnly = { permit: domainOf(token, 'Signed', '7'), authorization: null };
    assert.deepEqual(await abilities(token), permitOnly, name);
  }
});

test('a permit that sets no allowance is none; a name of a megabyte ends the look and no more', async () => {
  for (const name of ['Ignoring', 'Megabyte']) {
    assert.deepEqual(await abilities(await put(name)), nothing, name);
  }
});

for (const name of ['DOMAIN_SEPARATOR', 'nonces', 'permit', 'receiveWithAuthorization']) {
  test(`a question that the node cannot answer throws, and says nothing of the token: ${name}`, async () => {
    const item = getAbiItem({ abi: devCoinArtifact.abi as Abi, name }) as AbiFunction;
    const about = toFunctionSelector(item).slice(2);
    const adapter = await lying(({ method, params }, forward) =>
      method === 'eth_call' && JSON.stringify(params).toLowerCase().includes(about)
        ? { error: { code: -32000, message: 'header not found' } }
        : forward(),
    );
    await assert.rejects(abilities(devCoin, adapter), refuses('chain_unavailable'));
  });
}

async function leg(token: string, over = {}): Promise<Leg> {
  return newLeg(chain, { token, ...over });
}

async function waysOf(each: Leg, found: TokenAbilities, over = {}, adapter = adapterOf()) {
  const input = {
    escrow: each.escrow,
    abilities: found,
    isFresh: false,
    needsAllowance: true,
    allowance: 'exact' as const,
    authorizes: true,
    deadline: each.terms.fundBefore!,
    ...over,
  };
  return adapter.ways!.alternatives(input, signal());
}

test('a token that lets others bring an authorization since is to be tried anew', async () => {
  const token = await put('Guarded');
  const found = await abilities(token);
  const each = await leg(token);
  assert.equal((await waysOf(each, found))?.length, 2);
  const { abi } = tokens.get('Guarded')!;
  const data = encodeFunctionData({ abi, functionName: 'open', args: [] });
  await send(chain, anyone, { to: token, data });
  assert.equal(await waysOf(each, found), null);
});

test('an account with code, its own or a lent one, is offered nothing to sign', async () => {
  const found = await abilities(devCoin);
  const { address } = accounts[8]!;
  const each = await leg(devCoin, { refund: { address, pubkey: null } });
  const signs = () => adapterOf().ways!.signsByKey(address, signal());
  assert.equal((await waysOf(each, found))?.length, 2);
  assert.equal(await signs(), true);
  for (const bytecode of ['0x60006000fd', `0xef0100${devCoin.slice(2)}`] as const) {
    await chain.client.setCode({ address, bytecode });
    assert.deepEqual(await waysOf(each, found), []);
    assert.deepEqual(await waysOf(each, found, { isFresh: true }), []);
    assert.equal(await signs(), false);
  }
  const silent = await lying(({ method, params }, forward) =>
    method === 'eth_getCode' && params[0] === address
      ? { error: { code: -32000, message: 'not now' } }
      : forward(),
  );
  await assert.rejects(waysOf(each, found, {}, silent), refuses('chain_unavailable'));
});

async function viewOf(token: string) {
  const { abi } = tokens.get('Permitting')!;
  const read = (functionName: string, args: readonly unknown[] = []) =>
    chain.client.readContract({ abi, address: token as Address, functionName, args });
  return {
    separator: (await read('DOMAIN_SEPARATOR')) as string,
    nonce: (await read('nonces', [funder.address])) as bigint,
    allowance: 'exact' as const,
    latestDeadline: Number.MAX_SAFE_INTEGER,
  };
}

test('each way that is offered funds the escrow with one signature and one transaction', async () => {
  const found = await abilities(devCoin);
  await mint(chain, devCoin, funder.address, 1_000_000n);
  for (const way of ['permit', 'permit', 'authorization'] as const) {
    const each = await leg(devCoin);
    const offered = (await waysOf(each, found))!;
    assert.deepEqual(
      offered.map((one) => one.way),
      ['permit', 'authorization'],
    );
    const one = offered.find((other) => other.way === way)!;
    const deployment = evmDeployment(chain.chainId);
    const view = await viewOf(devCoin);
    assert.deepEqual(typedDataProblems(one, each.terms, deployment, view), []);
    const signature = await funder.signTypedData(typedDataToSign(one.typedData!));
    // The funder itself, or whoever has the signature.
    await send(chain, way === 'permit' ? funder : anyone, signedCall(one.call!, signature));
    const { funded } = await adapterOf().readEscrow(each.escrow, signal());
    assert.ok(funded !== null, way);
  }
});

test('the text of an authorization is given when it is asked for, a permit when it is needed', async () => {
  const found = await abilities(devCoin);
  const each = await leg(devCoin);
  const [only, ...others] = (await waysOf(each, found, {
    needsAllowance: false,
    authorizes: false,
  }))!;
  assert.deepEqual(others, []);
  assert.deepEqual(only, {
    way: 'authorization',
    from: null,
    typedData: null,
    call: null,
    relay: false,
  });
  assert.deepEqual(await waysOf(await leg(devCoin, { token: null }), found), []);
});

test('a signature may open its escrow until its lane is used, or its fund-by has passed, at depth', async () => {
  const adapter = adapterOf();
  const mayOpen = (each: Leg) => adapter.ways!.mayOpen(each.escrow, signal());
  const first = await leg(devCoin);
  const second = await leg(devCoin);
  assert.equal(await mayOpen(first), true);
  const { terms } = first;
  const other = await newLeg(chain, { ...terms, token: null, hashlock: 'ab'.repeat(32) });
  await fund(chain, other);
  assert.equal(await mayOpen(first), true, 'one block is not two');
  await mine();
  assert.equal(await mayOpen(first), false);
  assert.equal(await mayOpen(second), true);
  await later(chain, 3_700);
  assert.equal(await mayOpen(second), true, 'one block is not two');
  await mine();
  assert.equal(await mayOpen(second), false);
});

test('one node alone of two takes no signature’s power away', async () => {
  const kept = await leg(devCoin);
  const { hashlock } = kept.terms;
  const used = `0x${(5).toString(16).padStart(64, '0')}`;
  const claimsUsed: Lie = ({ method, params }, forward) =>
    method === 'eth_call' && JSON.stringify(params).includes(hashlock)
      ? { result: used }
      : forward();
  const liar = await urlOf(claimsUsed);
  const mayOpen = (...rpcUrls: string[]) =>
    adapterOf({ rpcUrls }).ways!.mayOpen(kept.escrow, signal());
  assert.equal(await mayOpen(liar), false, 'what it says by itself');
  assert.equal(await mayOpen(liar, chain.rpcUrl), true);
  assert.equal(await mayOpen(chain.rpcUrl, liar), true);
});
