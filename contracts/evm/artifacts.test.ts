// What other programs take from artifacts/abi.ts, used as they use it, against a real EVM.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createTestClient,
  encodeAbiParameters,
  getContractAddress,
  getCreate2Address,
  type Hex,
  http,
  keccak256,
  parseEventLogs,
  publicActions,
  walletActions,
  zeroAddress,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { withAnvil } from './anvil.ts';
import {
  deployment,
  erc20Abi,
  escrowAbi,
  factoryAbi,
  initCode,
  proxyInitCode,
} from './artifacts/abi.ts';
import { deployContracts } from './deploy.ts';
import { deployDevTokens } from './dev-tokens.ts';

const funder = privateKeyToAccount(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', // anvil's first
);
const PAYOUT: Address = '0x00000000000000000000000000000000DeaDBeef';
const START = 1_800_000_000n;
const SECRET: Hex = `0x${'5e'.repeat(32)}`;
const MINT = [
  {
    type: 'function',
    name: 'mint',
    stateMutability: 'nonpayable',
    outputs: [],
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
  },
] as const;

function termsOf(token: Address, timelock: bigint) {
  const hash = createHash('sha256')
    .update(Buffer.from(SECRET.slice(2), 'hex'))
    .digest('hex');
  const hashlock: Hex = `0x${hash}`;
  return { hashlock, payout: PAYOUT, refund: funder.address, token, amount: 1_000_000n, timelock };
}

type Terms = ReturnType<typeof termsOf>;

function escrowOffChain(terms: Terms): Address {
  const fund = factoryAbi.find((item) => item.type === 'function' && item.name === 'fund');
  assert.ok(fund && 'inputs' in fund);
  return getCreate2Address({
    from: deployment.factory.address,
    salt: keccak256(encodeAbiParameters(fund.inputs as never, [terms] as never)),
    bytecode: proxyInitCode(deployment.implementation.address),
  });
}

function connect(rpcUrl: string) {
  return createTestClient({
    mode: 'anvil',
    chain: foundry,
    transport: http(rpcUrl),
    account: funder,
  })
    .extend(publicActions)
    .extend(walletActions);
}

type Client = ReturnType<typeof connect>;

async function fund(client: Client, terms: Terms) {
  const hash = await client.writeContract({
    address: deployment.factory.address,
    abi: factoryAbi,
    functionName: 'fund',
    args: [terms],
    value: terms.token === zeroAddress ? terms.amount : 0n,
  });
  return client.waitForTransactionReceipt({ hash });
}

test('the pinned facts follow from each other', () => {
  const { deployer, salt, factory, implementation, proxy } = deployment;
  assert.equal(keccak256(initCode), factory.initCodeHash);
  assert.equal(
    getCreate2Address({ from: deployer.address, salt, bytecode: initCode }),
    factory.address,
  );
  assert.equal(getContractAddress({ from: factory.address, nonce: 1n }), implementation.address);
  const code = proxyInitCode(implementation.address);
  assert.equal(code.length, 2 + 2 * 47);
  assert.equal(keccak256(code), proxy.initCodeHash);
});

test('an address computed off chain is where the money goes, native or token', async () => {
  await withAnvil(
    async (rpcUrl) => {
      const client = connect(rpcUrl);
      await deployContracts({ rpcUrl, account: funder });
      const tokens = await deployDevTokens({ rpcUrl, account: funder });
      const { DevDollar, DevTether, ReturnsFalse } = tokens;
      assert.ok(DevDollar && DevTether && ReturnsFalse);
      for (const token of [zeroAddress, DevDollar, DevTether, ReturnsFalse] as Address[]) {
        if (token !== zeroAddress) await stock(client, token);
        const terms = termsOf(token, START + 7200n);
        const escrow = escrowOffChain(terms);
        const funded = await fund(client, terms);
        const [log] = parseEventLogs({
          abi: factoryAbi,
          logs: funded.logs,
          eventName: 'EscrowFunded',
        });
        assert.deepEqual(log?.args, { escrow, hashlock: terms.hashlock, terms });
        const before = await held(client, token, PAYOUT);
        const hash = await client.writeContract({
          address: escrow,
          abi: escrowAbi,
          functionName: 'claim',
          args: [terms, SECRET],
        });
        const claimed = await client.waitForTransactionReceipt({ hash });
        const [claim] = parseEventLogs({ abi: escrowAbi, logs: claimed.logs });
        assert.equal(claim?.address.toLowerCase(), escrow.toLowerCase());
        assert.deepEqual(claim?.args, { secret: SECRET });
        assert.equal((await held(client, token, PAYOUT)) - before, terms.amount);
      }
    },
    ['--timestamp', String(START)],
  );
});

test('an error of the implementation is named through the proxy, with its facts', async () => {
  await withAnvil(
    async (rpcUrl) => {
      const client = connect(rpcUrl);
      await deployContracts({ rpcUrl, account: funder });
      const terms = termsOf(zeroAddress, START + 7200n);
      await fund(client, terms);
      const early = client.simulateContract({
        address: escrowOffChain(terms),
        abi: escrowAbi,
        functionName: 'refund',
        args: [terms],
      });
      await assert.rejects(early, (error) => {
        assert.ok(error instanceof BaseError);
        const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
        assert.ok(reverted instanceof ContractFunctionRevertedError);
        assert.equal(reverted.data?.errorName, 'RefundTooEarly');
        assert.equal(reverted.data?.args?.[0], terms.timelock);
        return true;
      });
    },
    ['--timestamp', String(START)],
  );
});

test('a token with a fee is refused by name', async () => {
  await withAnvil(
    async (rpcUrl) => {
      const client = connect(rpcUrl);
      await deployContracts({ rpcUrl, account: funder });
      const { FeeToken } = await deployDevTokens({ rpcUrl, account: funder }, ['FeeToken']);
      assert.ok(FeeToken);
      await stock(client, FeeToken);
      await assert.rejects(fund(client, termsOf(FeeToken, START + 7200n)), /WrongAmountReceived/);
    },
    ['--timestamp', String(START)],
  );
});

async function stock(client: Client, token: Address): Promise<void> {
  const mint = await client.writeContract({
    address: token,
    abi: MINT,
    functionName: 'mint',
    args: [funder.address, 5_000_000n],
  });
  await client.waitForTransactionReceipt({ hash: mint });
  const approve = await client.writeContract({
    address: token,
    abi: erc20Abi,
    functionName: 'approve',
    args: [deployment.factory.address, 2n ** 256n - 1n],
  });
  await client.waitForTransactionReceipt({ hash: approve });
}

async function held(client: Client, token: Address, who: Address): Promise<bigint> {
  if (token === zeroAddress) return client.getBalance({ address: who });
  return client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [who],
  });
}
