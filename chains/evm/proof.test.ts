import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { encodeAbiParameters, encodeDeployData, getCreate2Address, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { concatHex, encodeFunctionData, toHex } from 'viem/utils';
import { ParleyError } from '../../core/errors.ts';
import { rpcClient } from '../nodes/rpc.ts';
import { type EvmProof, verifyEvmProof } from './proof.ts';
import { accounts, deploy, startAnvil } from './testing/anvil.ts';
import { compileTestContracts } from './testing/compile.ts';

const signal = AbortSignal.timeout(120_000);
const contracts = compileTestContracts('Zoo.sol');
const walletCode = contracts.get('OwnedWallet')!;
const chain = await startAnvil({ deploy: false });
after(() => chain.stop());

const node = () => rpcClient({ chain: 'evm-dev', urls: [chain.rpcUrl] });
const refused = (proof: EvmProof) =>
  assert.rejects(
    verifyEvmProof(proof, signal),
    (error) => error instanceof ParleyError && error.code === 'bad_signature',
  );

// web3.js documentation, web3.eth.accounts.sign
const published = {
  address: '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23',
  message: 'Some data',
  signature:
    '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd' +
    '6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c',
};

const withV = (signature: string, v: number) =>
  signature.slice(0, -2) + toHex(v, { size: 1 }).slice(2);

test('a published personal_sign signature is accepted, in any case of the address', async () => {
  assert.equal(await verifyEvmProof(published, signal), published.address);
  const lower = { ...published, address: published.address.toLowerCase() };
  assert.equal(await verifyEvmProof(lower, signal), published.address);
});

test('signatures of viem verify for text of any script, and for no other text', async () => {
  for (const message of ['', 'a', 'Nonce: 1\n\nLine', '東京 🗼 é', 'x'.repeat(10_000)]) {
    const account = privateKeyToAccount(generatePrivateKey());
    const signature = await account.signMessage({ message });
    const proof = { address: account.address, message, signature };
    assert.equal(await verifyEvmProof(proof, signal), account.address);
    await refused({ ...proof, message: `${message} ` });
    await refused({ ...proof, address: published.address });
  }
});

test('v may be 27, 28, 0 or 1, and nothing else', async () => {
  assert.equal(published.signature.endsWith('1c'), true);
  const accepted = { ...published, signature: withV(published.signature, 1) };
  assert.equal(await verifyEvmProof(accepted, signal), published.address);
  for (const v of [0, 2, 3, 26, 27, 29, 35, 36, 37, 255]) {
    await refused({ ...published, signature: withV(published.signature, v) });
  }
});

test('high s, compact form, other lengths and what is no hex are refused', async () => {
  const s = BigInt(`0x${published.signature.slice(66, 130)}`);
  const high = toHex(secp256k1.Point.CURVE().n - s, { size: 32 }).slice(2);
  const mirrored = `${published.signature.slice(0, 66)}${high}1b`;
  for (const signature of [
    mirrored,
    published.signature.slice(0, 130),
    `${published.signature}00`,
    published.signature.slice(2),
    '0x',
    '',
    '0xzz',
    `0x${'00'.repeat(65)}`,
    `0x${'ff'.repeat(65)}`,
    `0x${'00'.repeat(100_000)}`,
  ]) {
    await refused({ ...published, signature });
    await refused({ ...published, signature, nodes: [node()] });
  }
});

test('a contract wallet signs by its owner, and only for the right message and wallet', async () => {
  const [owner, stranger] = [accounts[1]!, accounts[2]!];
  const { abi, bytecode } = walletCode;
  const address = await deploy(chain, encodeDeployData({ abi, bytecode, args: [owner.address] }));
  const message = 'Parley - link this wallet';
  const proof = { address, message, signature: await owner.signMessage({ message }) };
  assert.equal(await verifyEvmProof({ ...proof, nodes: [node()] }, signal), address);
  await refused(proof);
  await refused({ ...proof, nodes: [node()], message: 'another' });
  const foreign = await stranger.signMessage({ message });
  await refused({ ...proof, nodes: [node()], signature: foreign });
  await refused({ ...proof, nodes: [node()], address: stranger.address });
});

test("a contract that is another owner's elsewhere is believed on no chain", async (t) => {
  const second = await startAnvil({ chainId: 31_338, deploy: false });
  t.after(() => second.stop());
  const far = rpcClient({ chain: 'evm-dev-2', urls: [second.rpcUrl] });
  const [owner, stranger] = [accounts[1]!, accounts[2]!];
  const { abi, bytecode } = walletCode;
  const created = (by: Hex) => encodeDeployData({ abi, bytecode, args: [by] });
  const address = await deploy(chain, created(owner.address));
  const message = 'Parley - create an API key';
  const nodes = [node(), far];
  const proof = { address, message, signature: await owner.signMessage({ message }), nodes };
  assert.equal(await verifyEvmProof(proof, signal), address);
  const other = await deploy(second, created(stranger.address));
  const code = await second.client.getCode({ address: other });
  await second.client.setCode({ address, bytecode: code! });
  const slot = toHex(0, { size: 32 });
  const value = await second.client.getStorageAt({ address: other, slot });
  await second.client.setStorageAt({ address, index: slot, value: value! });
  await refused(proof);
  await refused({ ...proof, signature: await stranger.signMessage({ message }) });
});

test('a wallet that is not deployed yet signs by EIP-6492', async () => {
  const owner = accounts[3]!;
  const factory = contracts.get('WalletFactory')!;
  const from = await deploy(chain, factory.bytecode);
  const salt = toHex(7, { size: 32 });
  const { abi, bytecode } = walletCode;
  const init = encodeDeployData({ abi, bytecode, args: [owner.address] });
  const address = getCreate2Address({ from, salt, bytecode: init });
  const data = encodeFunctionData({
    abi: factory.abi,
    functionName: 'make',
    args: [owner.address, salt],
  });
  const wrap = (signature: Hex) =>
    concatHex([
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
        [from, data, signature],
      ),
      `0x${'6492'.repeat(16)}`,
    ]);
  const message = 'before deployment';
  const proof = { address, message, nodes: [node()] };
  const signature = wrap(await owner.signMessage({ message }));
  assert.equal(await verifyEvmProof({ ...proof, signature }, signal), address);
  await refused({ ...proof, signature: wrap(await accounts[4]!.signMessage({ message })) });
  await refused({ ...proof, signature, address: accounts[4]!.address });
});
