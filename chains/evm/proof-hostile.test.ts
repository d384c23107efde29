import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { getAddress as ethersAddress, verifyMessage, Wallet } from 'ethers';
import fc from 'fast-check';
import { encodeAbiParameters, encodeDeployData, encodeFunctionData, type Hex } from 'viem';
import { runs } from '../../test/support/runs.ts';
import { rpcClient } from '../nodes/rpc.ts';
import { type Lie, lyingNode, untilTested } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { parseEvmAddress } from './address.ts';
import { mostProofBytes, verifyEvmProof } from './proof.ts';
import { accounts, deploy, startAnvil } from './testing/anvil.ts';
import { compileTestContracts } from './testing/compile.ts';

const signal = AbortSignal.timeout(120_000);
const contracts = compileTestContracts('Wallets.sol');
const owned = compileTestContracts('Zoo.sol').get('OwnedWallet')!;
const message = 'Parley - link this wallet';
const some = `0x${'ab'.repeat(65)}`;
const magic = `0x1626ba7e${'0'.repeat(56)}`;

const chain = await startAnvil({ deploy: false });
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.rpcUrl, lie));

const node = (url = chain.rpcUrl) => rpcClient({ chain: 'evm-dev', urls: [url], rounds: 1 });
const refused = (proof: Promise<string>) => assert.rejects(proof, refuses('bad_signature'));

const verify = (address: string, signature: string, nodes = [node()], text = message) =>
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
      const address = await deploy(chain, contracts.get(contract)!.bytecode);
      await refused(verify(address, some));
      // Wrapped for EIP-6492 it is asked in another way, to the same end.
      const words = [accounts[0]!.address, '0x', some as Hex] as const;
      const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const;
      const wrapped = `${encodeAbiParameters(types, words)}${'6492'.repeat(16)}`;
      if (contract !== 'Moody') await refused(verify(address, wrapped));
    });
  }

  test('was there once and is gone', async () => {
    const address = await deploy(chain, contracts.get('YesWallet')!.bytecode);
    assert.equal(await verify(address, some), address);
    await chain.client.setCode({ address, bytecode: '0x' });
    await refused(verify(address, some));
  });
});

test('an answer beyond any wallet’s is a no, read no further and asked for no second time', async () => {
  const address = await deploy(chain, contracts.get('YesWallet')!.bytecode);
  let asked = 0;
  const long = `${magic}${'0'.repeat(4 * mostProofBytes)}`;
  const liar = await lying(({ method }, forward) => {
    if (method !== 'eth_call') return forward();
    asked += 1;
    return { result: long };
  });
  const limits = { mostBytes: mostProofBytes, rounds: 3 };
  const limited = rpcClient({ chain: 'evm-dev', urls: [liar.url], ...limits });
  await refused(verify(address, some, [limited]));
  assert.equal(asked, 1);
  assert.equal(
    await verify(address, some, [rpcClient({ chain: 'evm-dev', urls: [chain.rpcUrl], ...limits })]),
    address,
  );
});

test('a contract that says yes to everything is believed alone, and not against another', async (t) => {
  const second = await startAnvil({ chainId: 31_338, deploy: false });
  t.after(() => second.stop());
  const nodes = [node(), node(second.rpcUrl)];
  const address = await deploy(chain, contracts.get('YesWallet')!.bytecode);
  // Whoever made it lets anybody sign for it: that is its own matter.
  assert.equal(await verify(address, some, nodes), address);
  for (const contract of ['NoWallet', 'Silent', 'Burner', 'Echo']) {
    const bytecode = contracts.get(contract)!.runtime;
    await second.client.setCode({ address, bytecode });
    await refused(verify(address, some, nodes));
    await refused(verify(address, some, nodes.toReversed()));
  }
  await second.client.setCode({ address, bytecode: contracts.get('YesWallet')!.runtime });
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
    assert.equal(await verify(address, signature, [node()], text), address);
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
      await refused(verify(nobody, `0x${inner}${'6492'.repeat(16)}`));
    }
  });

  for (const factory of ['Reverts', 'Burner', 'Silent', 'Huge', 'Destroyed', 'YesWallet']) {
    test(`its factory is ${factory} and makes nothing`, async () => {
      const from = await deploy(chain, contracts.get(factory)!.bytecode);
      await refused(verify(nobody, wrapped(from, '0x1234', some as Hex)));
    });
  }

  test('there is nothing at its factory', () =>
    refused(verify(nobody, wrapped('0x00000000000000000000000000000000000000bb', '0x', '0xab'))));

  test('the address is that of a key, which signs without a wrapper', async () => {
    const owner = accounts[2]!;
    const signature = await owner.signMessage({ message });
    assert.equal(await verify(owner.address, signature), owner.address);
    await refused(verify(owner.address, wrapped(nobody, '0x', signature)));
  });

  test('its factory makes the wallet, and the wallet is at another address', async () => {
    const factory = compileTestContracts('Zoo.sol').get('WalletFactory')!;
    const from = await deploy(chain, factory.bytecode);
    const owner = accounts[2]!;
    const salt = `0x${'07'.repeat(32)}` as const;
    const args = [owner.address, salt];
    const data = encodeFunctionData({ abi: factory.abi, functionName: 'make', args });
    const signature = await owner.signMessage({ message });
    await refused(verify(nobody, wrapped(from, data, signature)));
  });
});

describe('a node', () => {
  const yes = () => deploy(chain, contracts.get('YesWallet')!.bytecode);

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
    await assert.rejects(verify(address, some, [node(), patient]), refuses('chain_timeout'));
  });

  test('that is too busy is chain_unavailable, not a refusal', async () => {
    const address = await yes();
    for (const code of [-32005, 429]) {
      const busy = await lying(({ method }, forward) =>
        method === 'eth_call' ? { error: { code, message: 'limit exceeded' } } : forward(),
      );
      await assert.rejects(verify(address, some, [node(busy.url)]), refuses('chain_unavailable'));
    }
  });

  test('is asked with a limit of gas', async () => {
    const address = await yes();
    const asked: unknown[] = [];
    const watched = await lying((request, forward) => {
      if (request.method === 'eth_call') asked.push(request.params[0]);
      return forward();
    });
    await verify(address, some, [node(watched.url)]);
    assert.equal((asked[0] as { gas: string }).gas, `0x${(3_000_000).toString(16)}`);
  });

  test('that answers nonsense makes nobody a signer', async () => {
    const address = await yes();
    for (const result of [null, 1, true, '', '0x', magic.slice(0, 10), `0x${magic}`]) {
      const liar = await lying(({ method }, forward) =>
        method === 'eth_call' ? { result } : forward(),
      );
      await refused(verify(address, some, [node(liar.url)]));
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
          await refused(verifyEvmProof({ ...proof, signature: changed }, signal));
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
