import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import { encodeAbiParameters, encodeDeployData, getCreate2Address, type Hex } from 'viem';
import { encodeFunctionData, toHex } from 'viem/utils';
import { rpcClient } from '../nodes/rpc.ts';
import type { Lie } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { mostProofBytes, verifyEvmProof } from './proof.ts';
import { accounts, deploy, deployRuntime, startAnvil } from './testing/anvil.ts';
import { compileTestContracts } from './testing/compile.ts';
import { evmWorld } from './testing/world.ts';

const { chain, urlOf } = await evmWorld();
const soon = () => AbortSignal.timeout(120_000);
const contracts = compileTestContracts('Zoo.sol');
const { abi, bytecode } = contracts.get('OwnedWallet')!;
const factory = contracts.get('WalletFactory')!;
const owner = accounts[1]!;
const stranger = accounts[2]!;

const nodeAt = (url = chain.rpcUrl) => rpcClient({ chain: 'evm-dev', urls: [url], rounds: 1 });
const nodeThat = async (lie: Lie) => nodeAt(await urlOf(lie));
const onCall = (answer: Awaited<ReturnType<Lie>>) =>
  nodeThat(({ method }, forward) => (method === 'eth_call' ? answer : forward()));

const message = 'Parley - link this wallet';
const some: Hex = `0x${'ab'.repeat(65)}`;
const yes = `1626ba7e${'0'.repeat(56)}`;
const magic = `0x${yes}`;
/** Answers a word, or as many bytes of it; fd in place of f3: reverts with it. */
const saying = (word: string, bytes = '20', how = 'f3') => `7f${word}5f5260${bytes}5f${how}`;
/** The code of contracts that are no wallets: code, hex. */
const hostile = {
  'says no': saying('f'.repeat(8).padEnd(64, '0')),
  'echoes what it is asked': '365f5f37365ff3',
  'answers the magic value with something behind it': saying(`${yes.slice(0, -2)}01`),
  'answers four bytes and no word': saying(yes, '04'),
  'answers true': saying('1'.padStart(64, '0')),
  'answers nothing': '00',
  reverts: '5f5ffd',
  'reverts with the magic value': saying(yes, '20', 'fd'),
  'consumes all gas': '5b5f56',
  'returns megabytes': '621cfde05ff3',
  'destroys itself': '33ff',
  // sload(0) times the magic value, and from then on 1 is there
  'would say yes only when asked again': `5f5460015f557f${yes}025f5260205ff3`,
} as const;
const yesWallet = saying(yes);
const nobody = '0x00000000000000000000000000000000000000aa';

const verify = (address: string, signature: string, nodes = [nodeAt()], text = message) =>
  verifyEvmProof({ address, message: text, signature, nodes }, soon());
const isRefused = (proof: Promise<string>) => assert.rejects(proof, refuses('bad_signature'));
const put = (code: string) => deployRuntime(chain, code);
const ownedBy = (by: Hex) => encodeDeployData({ abi, bytecode, args: [by] });
const wrapped = (from: string, data: Hex, signature: Hex): Hex => {
  const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const;
  return `${encodeAbiParameters(types, [from as Hex, data, signature])}${'6492'.repeat(16)}`;
};

const published = [
  // web3.js documentation, web3.eth.accounts.sign
  {
    address: '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23',
    message: 'Some data',
    signature:
      '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd' +
      '6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c',
  },
  // MetaMask/eth-sig-util, src/personal-sign.test.ts: key 0x69 32 times
  {
    address: '0xbE93f9BacBcFFC8ee6663f2647917ed7A20a57BB',
    message: 'hello world',
    signature:
      '0xce909e8ea6851bc36c007a0072d0524b07a3ff8d4e623aca4c71ca8e57250c4d' +
      '0a3fc38fa8fbaaa81ead4b9f6bd03356b6f8bf18bccad167d78891636e1d69561b',
  },
] as const;
const [first] = published;
const withV = (v: number) => first.signature.slice(0, -2) + toHex(v, { size: 1 }).slice(2);

test('published personal_sign signatures are accepted, in any case of the address', async () => {
  for (const proof of published) {
    for (const address of [proof.address, proof.address.toLowerCase()]) {
      assert.equal(await verifyEvmProof({ ...proof, address }, soon()), proof.address);
    }
  }
});

test('v may be 27, 28, 0 or 1, and nothing else', async () => {
  assert.equal(first.signature.endsWith('1c'), true);
  const proofWith = (v: number) => verifyEvmProof({ ...first, signature: withV(v) }, soon());
  assert.equal(await proofWith(1), first.address);
  for (const v of [0, 2, 3, 26, 27, 29, 35, 36, 37, 255]) await isRefused(proofWith(v));
});

test('high s, other lengths and what is no hex are refused', async () => {
  const { signature: good } = first;
  const s = BigInt(`0x${good.slice(66, 130)}`);
  const high = toHex(secp256k1.Point.CURVE().n - s, { size: 32 }).slice(2);
  for (const signature of [
    `${good.slice(0, 66)}${high}1b`,
    `${good}00`,
    '0x',
    '',
    '0xzz',
    `0x${'00'.repeat(65)}`,
    `0x${'ff'.repeat(65)}`,
    `0x${'00'.repeat(100_000)}`,
  ]) {
    await isRefused(verifyEvmProof({ ...first, signature }, soon()));
    await isRefused(verifyEvmProof({ ...first, signature, nodes: [nodeAt()] }, soon()));
  }
});

test('a signature may lack 0x, and what copying leaves around it', async () => {
  const { signature: good } = first;
  const all = [good.slice(2), `0X${good.slice(2).toUpperCase()}`, `\u200b ${good}\r\n`];
  for (const signature of all) {
    assert.equal(await verifyEvmProof({ ...first, signature }, soon()), first.address);
  }
});

test('compact form and other encodings are refused by their name, with a node and without', async () => {
  const bytes = Buffer.from(first.signature.slice(2), 'hex');
  for (const [signature, why] of [
    [first.signature.slice(0, 130), /a compact signature \(EIP-2098\), and 65 bytes/],
    [bytes.toString('base64'), /it is base64, and hex is wanted/],
    [base58.encode(bytes), /it is base58, and hex is wanted/],
    ['0xzz', /it is not hex/],
  ] as const) {
    for (const nodes of [[], [nodeAt()]]) {
      const checked = verifyEvmProof({ ...first, signature, nodes }, soon());
      await assert.rejects(checked, refuses('bad_signature', why));
    }
  }
});

test('a contract wallet signs by its owner, and only for the right message and wallet', async () => {
  const address = await deploy(chain, ownedBy(owner.address));
  const signature = await owner.signMessage({ message });
  assert.equal(await verify(address, signature), address);
  await isRefused(verify(address, signature, []));
  await isRefused(verify(address, signature, [nodeAt()], 'another'));
  await isRefused(verify(address, await stranger.signMessage({ message })));
  await isRefused(verify(stranger.address, signature));
});

test('a contract whose owners approved the text on its chain signs with nothing', async () => {
  // The magic word where the signature is empty, or else a revert, as Safe does it.
  const address = await put('60443515600c5760006000fd5b631626ba7e60e01b60005260206000f3');
  for (const signature of ['0x', ' 0x\n']) assert.equal(await verify(address, signature), address);
  await isRefused(verify(address, '0x', []));
  for (const signature of ['', '0', 'x', '0x00', some]) await isRefused(verify(address, signature));
  await isRefused(verify(owner.address, '0x'));
});

test('a contract that is another one, or another owner’s, elsewhere is believed on no chain', async (t) => {
  const second = await startAnvil({ chainId: 31_338, deploy: false });
  t.after(() => second.stop());
  const nodes = [nodeAt(), nodeAt(second.rpcUrl)];
  const owned = await deploy(chain, ownedBy(owner.address));
  const [byOwner, byStranger] = await Promise.all(
    [owner, stranger].map((each) => each.signMessage({ message })),
  );
  assert.equal(await verify(owned, byOwner ?? '', nodes), owned);
  const other = await deploy(second, ownedBy(stranger.address));
  const code = await second.client.getCode({ address: other });
  await second.client.setCode({ address: owned, bytecode: code! });
  const index = toHex(0, { size: 32 });
  const value = await second.client.getStorageAt({ address: other, slot: index });
  await second.client.setStorageAt({ address: owned, index, value: value! });
  for (const signature of [byOwner, byStranger]) {
    await isRefused(verify(owned, signature ?? '', nodes));
  }
  // The maker of this wallet lets anybody sign for it: that is its own matter.
  const address = await put(yesWallet);
  assert.equal(await verify(address, some, nodes), address);
  const setCode = (code: string) => second.client.setCode({ address, bytecode: `0x${code}` });
  for (const how of [
    'says no',
    'answers nothing',
    'consumes all gas',
    'echoes what it is asked',
  ] as const) {
    await setCode(hostile[how]);
    await isRefused(verify(address, some, nodes));
    await isRefused(verify(address, some, nodes.toReversed()));
  }
  await setCode(yesWallet);
  assert.equal(await verify(address, some, nodes), address);
});

describe('a contract is no wallet of the signer when it', () => {
  for (const [name, code] of Object.entries(hostile)) {
    test(name, async () => {
      const address = await put(code);
      await isRefused(verify(address, some));
      // Wrapped for EIP-6492 it is asked in another way, to the same end.
      const twice = wrapped(accounts[0]!.address, '0x', some);
      if (!name.endsWith('again')) await isRefused(verify(address, twice));
    });
  }

  test('was there once and is gone', async () => {
    const address = await put(yesWallet);
    assert.equal(await verify(address, some), address);
    await chain.client.setCode({ address, bytecode: '0x' });
    await isRefused(verify(address, some));
  });
});

test('an answer beyond any wallet’s is a no, read no further and asked for no second time', async () => {
  const address = await put(yesWallet);
  let asked = 0;
  const liar = await urlOf(({ method }, forward) => {
    if (method !== 'eth_call') return forward();
    asked += 1;
    return { result: `${magic}${'0'.repeat(4 * mostProofBytes)}` };
  });
  const limited = (url: string) =>
    rpcClient({ chain: 'evm-dev', urls: [url], mostBytes: mostProofBytes, rounds: 3 });
  await isRefused(verify(address, some, [limited(liar)]));
  assert.equal(asked, 1);
  assert.equal(await verify(address, some, [limited(chain.rpcUrl)]), address);
});

describe('EIP-6492', () => {
  const salt = toHex(7, { size: 32 });
  const args = [owner.address, salt];
  const making = encodeFunctionData({ abi: factory.abi, functionName: 'make', args });

  test('a wallet that is not deployed yet signs by it, and no other address does', async () => {
    const from = await deploy(chain, factory.bytecode);
    const address = getCreate2Address({ from, salt, bytecode: ownedBy(owner.address) });
    const signature = wrapped(from, making, await owner.signMessage({ message }));
    assert.equal(await verify(address, signature), address);
    const foreign = wrapped(from, making, await stranger.signMessage({ message }));
    await isRefused(verify(address, foreign));
    for (const other of [stranger.address, nobody]) await isRefused(verify(other, signature));
  });

  test('it is refused where what it wraps is no factory, call and signature', async () => {
    for (const inner of ['', 'ab'.repeat(40), '00'.repeat(96), 'ff'.repeat(96)]) {
      await isRefused(verify(nobody, `0x${inner}${'6492'.repeat(16)}`));
    }
    await isRefused(verify(nobody, wrapped(`0x${'bb'.repeat(20)}`, '0x', '0xab')));
  });

  for (const [how, code] of Object.entries({ ...hostile, 'says yes to everything': yesWallet })) {
    test(`it is refused where its factory ${how} and makes nothing`, async () => {
      await isRefused(verify(nobody, wrapped(await put(code), '0x1234', some)));
    });
  }

  test('it is refused of the address of a key, which signs without a wrapper', async () => {
    const signature = await owner.signMessage({ message });
    assert.equal(await verify(owner.address, signature), owner.address);
    await isRefused(verify(owner.address, wrapped(nobody, '0x', signature)));
  });
});

describe('a node', () => {
  test('that does not answer the call in time is chain_timeout, not a refusal', async () => {
    const address = await put(yesWallet);
    const url = await urlOf(({ method }, forward) =>
      method === 'eth_call' ? undefined : forward(),
    );
    const slow = rpcClient({ chain: 'evm-dev', urls: [url], attemptTimeoutMs: 200, rounds: 1 });
    // Another chain that accepts does not make up for one that did not say.
    for (const nodes of [[slow], [nodeAt(), slow]]) {
      await assert.rejects(verify(address, some, nodes), refuses('chain_timeout'));
    }
  });

  for (const [why, code, message, status] of [
    ['is over a limit', -32005, 'limit exceeded'],
    ['lags', -32000, 'header not found'],
    ['is of another key', -32000, 'this key may not', 403],
    ['says what nobody knows', -32000, 'no'],
  ] as const) {
    test(`that ${why} (${code}, ${message}) is chain_unavailable, not a refusal`, async () => {
      const address = await put(yesWallet);
      const error = { code, message };
      for (const asked of ['eth_call', 'eth_getCode']) {
        const node = await nodeThat(({ method }, forward) =>
          method === asked ? { error, ...(status && { status }) } : forward(),
        );
        await assert.rejects(verify(address, some, [node]), refuses('chain_unavailable'));
      }
    });
  }

  test('a node whose machine says that the wallet failed is believed, in any words', async () => {
    const address = await put(yesWallet);
    for (const error of [
      { code: 3, message: 'execution reverted: too many requests' },
      { code: -32_015, message: 'VM execution error.' },
      { code: -32_000, message: 'out of gas' },
      { code: -32_000, message: 'invalid jump destination' },
    ]) {
      await isRefused(verify(address, some, [await onCall({ error })]));
    }
  });

  test('is asked with a limit of gas', async () => {
    const asked: unknown[] = [];
    const watched = await nodeThat((request, forward) => {
      if (request.method === 'eth_call') asked.push(request.params[0]);
      return forward();
    });
    await verify(await put(yesWallet), some, [watched]);
    assert.equal((asked[0] as { gas: string }).gas, `0x${(3_000_000).toString(16)}`);
  });

  test('that answers nonsense makes nobody a signer', async () => {
    const address = await put(yesWallet);
    for (const result of [null, 1, true, '', '0x', magic.slice(0, 10), `0x${magic}`]) {
      await isRefused(verify(address, some, [await onCall({ result })]));
    }
  });
});
