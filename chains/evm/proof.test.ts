import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { getAddress as ethersAddress, verifyMessage, Wallet } from 'ethers';
import fc from 'fast-check';
import { encodeAbiParameters, encodeDeployData, getCreate2Address, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { concatHex, encodeFunctionData, toHex } from 'viem/utils';
import { ParleyError } from '../../core/errors.ts';
import { runs } from '../../test/support/runs.ts';
import { rpcClient } from '../nodes/rpc.ts';
import { type Lie, lyingNode, untilTested } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { parseEvmAddress } from './address.ts';
import { type EvmProof, mostProofBytes, verifyEvmProof } from './proof.ts';
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

const hostiles = compileTestContracts('Wallets.sol');

const owned = compileTestContracts('Zoo.sol').get('OwnedWallet')!;

const message = 'Parley - link this wallet';

const some = `0x${'ab'.repeat(65)}`;

const magic = `0x1626ba7e${'0'.repeat(56)}`;

const lying = untilTested((lie: Lie) => lyingNode(chain.rpcUrl, lie));

const nodeAt = (url = chain.rpcUrl) => rpcClient({ chain: 'evm-dev', urls: [url], rounds: 1 });

const isRefused = (proof: Promise<string>) => assert.rejects(proof, refuses('bad_signature'));

const verify = (address: string, signature: string, nodes = [nodeAt()], text = message) =>
  verifyEvmProof({ address, message: text, signature, nodes }, signal);

describe('a contract is no wallet of the signer when it', () => {
  const hostile: [string, string][] = [
    ['says no', 'NoWallet'],
    ['echoes what it is asked', 'Echo'],
    ['answers the magic value with something behind it', 'Dirty'],
    ['answers four bytes and no word', 'Short'],
    ['answers true', 'Boolean'],
    ['answers nothing', 'Silent'],
    ['reverts', 'Reverts'],
    ['reverts with the magic value', 'RevertsMagic'],
    ['consumes all gas', 'Burner'],
    ['returns megabytes', 'Huge'],
    ['destroys itself', 'Destroyed'],
    ['would say yes only when asked again', 'Moody'],
  ];
  for (const [name, contract] of hostile) {
    test(name, async () => {
      const address = await deploy(chain, hostiles.get(contract)!.bytecode);
      await isRefused(verify(address, some));
      // Wrapped for EIP-6492 it is asked in another way, to the same end.
      const words = [accounts[0]!.address, '0x', some as Hex] as const;
      const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const;
      const wrapped = `${encodeAbiParameters(types, words)}${'6492'.repeat(16)}`;
      if (contract !== 'Moody') await isRefused(verify(address, wrapped));
    });
  }

  test('was there once and is gone', async () => {
    const address = await deploy(chain, hostiles.get('YesWallet')!.bytecode);
    assert.equal(await verify(address, some), address);
    await chain.client.setCode({ address, bytecode: '0x' });
    await isRefused(verify(address, some));
  });
});

test('an answer beyond any wallet’s is a no, read no further and asked for no second time', async () => {
  const address = await deploy(chain, hostiles.get('YesWallet')!.bytecode);
  let asked = 0;
  const long = `${magic}${'0'.repeat(4 * mostProofBytes)}`;
  const liar = await lying(({ method }, forward) => {
    if (method !== 'eth_call') return forward();
    asked += 1;
    return { result: long };
  });
  const limits = { mostBytes: mostProofBytes, rounds: 3 };
  const limited = rpcClient({ chain: 'evm-dev', urls: [liar.url], ...limits });
  await isRefused(verify(address, some, [limited]));
  assert.equal(asked, 1);
  assert.equal(
    await verify(address, some, [rpcClient({ chain: 'evm-dev', urls: [chain.rpcUrl], ...limits })]),
    address,
  );
});

test('a contract that says yes to everything is believed alone, and not against another', async (t) => {
  const second = await startAnvil({ chainId: 31_338, deploy: false });
  t.after(() => second.stop());
  const nodes = [nodeAt(), nodeAt(second.rpcUrl)];
  const address = await deploy(chain, hostiles.get('YesWallet')!.bytecode);
  // Whoever made it lets anybody sign for it: that is its own matter.
  assert.equal(await verify(address, some, nodes), address);
  for (const contract of ['NoWallet', 'Silent', 'Burner', 'Echo']) {
    const bytecode = hostiles.get(contract)!.runtime;
    await second.client.setCode({ address, bytecode });
    await isRefused(verify(address, some, nodes));
    await isRefused(verify(address, some, nodes.toReversed()));
  }
  await second.client.setCode({ address, bytecode: hostiles.get('YesWallet')!.runtime });
  assert.equal(await verify(address, some, nodes), address);
});

test('EIP-1271 alone lets a signature serve every wallet of its owner: the text names one', async () => {
  const owner = accounts[1]!;
  const { abi, bytecode } = owned;
  const created = encodeDeployData({ abi, bytecode, args: [owner.address] });
  const [one, other] = [await deploy(chain, created), await deploy(chain, created)];
  const text = `Parley - link this wallet\nAddress: ${one}`;
  const signature = await owner.signMessage({ message: text });
  // EIP-1271 binds no address by itself. What does is the rule that the text contains it.
  for (const address of [one, other, owner.address]) {
    assert.equal(await verify(address, signature, [nodeAt()], text), address);
  }
  assert.ok(text.includes(one) && !text.includes(other) && !text.includes(owner.address));
});

describe('an EIP-6492 signature is refused when', () => {
  const nobody = '0x00000000000000000000000000000000000000aa';
  const wrapped = (factory: string, data: Hex, signature: Hex) => {
    const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const;
    return `${encodeAbiParameters(types, [factory as Hex, data, signature])}${'6492'.repeat(16)}`;
  };

  test('what it wraps is no factory, call and signature', async () => {
    for (const inner of ['', 'ab'.repeat(40), '00'.repeat(96), 'ff'.repeat(96)]) {
      await isRefused(verify(nobody, `0x${inner}${'6492'.repeat(16)}`));
    }
  });

  for (const factory of ['Reverts', 'Burner', 'Silent', 'Huge', 'Destroyed', 'YesWallet']) {
    test(`its factory is ${factory} and makes nothing`, async () => {
      const from = await deploy(chain, hostiles.get(factory)!.bytecode);
      await isRefused(verify(nobody, wrapped(from, '0x1234', some as Hex)));
    });
  }

  test('there is nothing at its factory', () =>
    isRefused(verify(nobody, wrapped('0x00000000000000000000000000000000000000bb', '0x', '0xab'))));

  test('the address is that of a key, which signs without a wrapper', async () => {
    const owner = accounts[2]!;
    const signature = await owner.signMessage({ message });
    assert.equal(await verify(owner.address, signature), owner.address);
    await isRefused(verify(owner.address, wrapped(nobody, '0x', signature)));
  });

  test('its factory makes the wallet, and the wallet is at another address', async () => {
    const factory = compileTestContracts('Zoo.sol').get('WalletFactory')!;
    const from = await deploy(chain, factory.bytecode);
    const owner = accounts[2]!;
    const salt = `0x${'07'.repeat(32)}` as const;
    const args = [owner.address, salt];
    const data = encodeFunctionData({ abi: factory.abi, functionName: 'make', args });
    const signature = await owner.signMessage({ message });
    await isRefused(verify(nobody, wrapped(from, data, signature)));
  });
});

describe('a node', () => {
  const yes = () => deploy(chain, hostiles.get('YesWallet')!.bytecode);

  test('that does not answer the call in time is chain_timeout, not a refusal', async () => {
    const address = await yes();
    const slow = await lying(({ method }, forward) =>
      method === 'eth_call' ? undefined : forward(),
    );
    const patient = rpcClient({
      chain: 'evm-dev',
      urls: [slow.url],
      attemptTimeoutMs: 200,
      rounds: 1,
    });
    await assert.rejects(verify(address, some, [patient]), refuses('chain_timeout'));
    // Another chain that accepts does not make up for one that did not say.
    await assert.rejects(verify(address, some, [nodeAt(), patient]), refuses('chain_timeout'));
  });

  test('that is too busy is chain_unavailable, not a refusal', async () => {
    const address = await yes();
    for (const code of [-32005, 429]) {
      const busy = await lying(({ method }, forward) =>
        method === 'eth_call' ? { error: { code, message: 'limit exceeded' } } : forward(),
      );
      await assert.rejects(verify(address, some, [nodeAt(busy.url)]), refuses('chain_unavailable'));
    }
  });

  test('is asked with a limit of gas', async () => {
    const address = await yes();
    const asked: unknown[] = [];
    const watched = await lying((request, forward) => {
      if (request.method === 'eth_call') asked.push(request.params[0]);
      return forward();
    });
    await verify(address, some, [nodeAt(watched.url)]);
    assert.equal((asked[0] as { gas: string }).gas, `0x${(3_000_000).toString(16)}`);
  });

  test('that answers nonsense makes nobody a signer', async () => {
    const address = await yes();
    for (const result of [null, 1, true, '', '0x', magic.slice(0, 10), `0x${magic}`]) {
      const liar = await lying(({ method }, forward) =>
        method === 'eth_call' ? { result } : forward(),
      );
      await isRefused(verify(address, some, [nodeAt(liar.url)]));
    }
  });
});

describe('beside ethers, an independent library', () => {
  // MetaMask/eth-sig-util, src/personal-sign.test.ts: key 0x69 32 times, "hello world".
  const published = {
    address: '0xbE93f9BacBcFFC8ee6663f2647917ed7A20a57BB',
    message: 'hello world',
    signature:
      '0xce909e8ea6851bc36c007a0072d0524b07a3ff8d4e623aca4c71ca8e57250c4d' +
      '0a3fc38fa8fbaaa81ead4b9f6bd03356b6f8bf18bccad167d78891636e1d69561b',
  };

  test('the published signature of eth-sig-util is accepted, and is what ethers signs', async () => {
    assert.equal(await verifyEvmProof(published, signal), published.address);
    const wallet = new Wallet(`0x${'69'.repeat(32)}`);
    assert.equal(await wallet.signMessage(published.message), published.signature);
  });

  test('what ethers signs is accepted, and nothing with one bit of the signature changed', async () => {
    const keys = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .filter((key) => key[0] !== 0 && key[0] !== 255);
    const flip = fc.record({ at: fc.nat(64), bit: fc.nat(7) });
    await fc.assert(
      fc.asyncProperty(
        keys,
        fc.string({ unit: 'binary' }),
        flip,
        async (key, text, { at, bit }) => {
          const wallet = new Wallet(`0x${Buffer.from(key).toString('hex')}`);
          const signature = await wallet.signMessage(text);
          const proof = { address: wallet.address, message: text, signature };
          assert.equal(await verifyEvmProof(proof, signal), wallet.address);
          const bytes = Buffer.from(signature.slice(2), 'hex');
          bytes[at] = (bytes[at] as number) ^ (1 << bit);
          const changed = `0x${bytes.toString('hex')}`;
          // Of v ethers also takes the form of EIP-155, which no wallet gives a message.
          if (at < 64) assert.notEqual(signerByEthers(text, changed), wallet.address);
          await isRefused(verifyEvmProof({ ...proof, signature: changed }, signal));
        },
      ),
      { numRuns: runs(60) },
    );
  });

  test('addresses have the same checksum', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const hex = `0x${Buffer.from(bytes).toString('hex')}`;
        assert.equal(parseEvmAddress(hex), ethersAddress(hex));
      }),
    );
  });
});

function signerByEthers(text: string, signature: string): string | null {
  try {
    return verifyMessage(text, signature);
  } catch {
    return null;
  }
}
