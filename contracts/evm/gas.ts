// Measures what users pay: gasUsed of the receipts of real transactions on a real EVM, so with the
// 21,000 of a transaction, its calldata, and the refund for a cleared balance.
//
//   node contracts/evm/gas.ts            prints the figures
//   node contracts/evm/gas.ts --write    rewrites gas.snapshot.json
//   node contracts/evm/gas.ts --check    fails above a limit or on a difference from the snapshot

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Address,
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  publicActions,
  zeroAddress,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { HARDFORK, withAnvil } from './anvil.ts';
import { deployment, erc20Abi, escrowAbi, factoryAbi } from './artifacts/abi.ts';
import { EVM_VERSION, SOLC_VERSION } from './compile.ts';
import { deployContracts } from './deploy.ts';
import { isEntry } from './entry.ts';

const SNAPSHOT = join(import.meta.dirname, 'gas.snapshot.json');
const MNEMONIC = 'test test test test test test test test test test test junk';
const START = 1_800_000_000n;
const TIMELOCK = START + 86_400n;
const MAX_UINT = 2n ** 256n - 1n;

/** The bars of the project. Best contracts of the same class: 67.2k/45.0k/41.5k native,
 *  105.8k/46.7k/45.7k ERC-20. */
const GAS_LIMITS = {
  'native fund': 67_000,
  'native claim': 40_000,
  'native refund': 37_000,
  'erc20 fund': 106_000,
  'erc20 claim': 46_000,
  'erc20 refund': 45_000,
} as const;

export type GasFigure = { limit: number; gas: number; how: string };
export type GasFigures = Record<keyof typeof GAS_LIMITS, GasFigure>;
type Terms = {
  hashlock: Hex;
  payout: Address;
  refund: Address;
  token: Address;
  amount: bigint;
  timelock: bigint;
};

const HOW = {
  fund:
    'transaction of the refund address to the factory, every word of the terms realistic; ' +
    'deploys the escrow, logs the terms in full',
  claim:
    'transaction of a third party to the escrow; the recipient already holds a balance ' +
    'and was never touched in this transaction',
  refund:
    'transaction of a third party to the escrow after the timelock; the recipient still ' +
    'holds a balance',
  erc20: 'DevDollar (plain Solidity ERC-20); balances compared',
} as const;

function sha256(bytes: Uint8Array): Hex {
  return `0x${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Secrets without zero bytes, so that calldata costs what it mostly costs. */
function secretOf(n: number): Hex {
  let bytes = createHash('sha256').update(`gas ${n}`).digest();
  while (bytes.includes(0)) bytes = createHash('sha256').update(bytes).digest();
  return `0x${bytes.toString('hex')}`;
}

function connect(rpcUrl: string) {
  const transport = http(rpcUrl);
  const [funder, recipient, third] = [0, 1, 2].map((addressIndex) =>
    mnemonicToAccount(MNEMONIC, { addressIndex }),
  ) as [
    ReturnType<typeof mnemonicToAccount>,
    ReturnType<typeof mnemonicToAccount>,
    ReturnType<typeof mnemonicToAccount>,
  ];
  const chain = createTestClient({ mode: 'anvil', chain: foundry, transport }).extend(
    publicActions,
  );
  const send = async (account: typeof funder, to: Address, data: Hex, value = 0n) => {
    const wallet = createWalletClient({ account, chain: foundry, transport });
    const hash = await wallet.sendTransaction({ to, data, value, gas: 1_000_000n });
    const receipt = await chain.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    if (receipt.status !== 'success') throw new Error(`measured transaction ${hash} reverted`);
    return Number(receipt.gasUsed);
  };
  return { chain, send, funder, recipient, third };
}

type Session = ReturnType<typeof connect>;

async function threeVerbs(session: Session, token: Address, amount: bigint, seed: number) {
  const { chain, send, funder, recipient, third } = session;
  const open = async (n: number) => {
    const secret = secretOf(n);
    const terms: Terms = {
      hashlock: sha256(Buffer.from(secret.slice(2), 'hex')),
      payout: recipient.address,
      refund: funder.address,
      token,
      amount,
      timelock: TIMELOCK,
    };
    const { address } = deployment.factory;
    const escrow = await chain.readContract({
      address,
      abi: factoryAbi,
      functionName: 'escrowOf',
      args: [terms],
    });
    const data = encodeFunctionData({ abi: factoryAbi, functionName: 'fund', args: [terms] });
    const value = token === zeroAddress ? amount : 0n;
    return { terms, secret, escrow, gas: await send(funder, address, data, value) };
  };
  const [claimed, refunded] = [await open(seed), await open(seed + 1)];
  const claim = await send(
    third,
    claimed.escrow,
    encodeFunctionData({
      abi: escrowAbi,
      functionName: 'claim',
      args: [claimed.terms, claimed.secret],
    }),
  );
  const refund = (): Promise<number> =>
    send(
      third,
      refunded.escrow,
      encodeFunctionData({ abi: escrowAbi, functionName: 'refund', args: [refunded.terms] }),
    );
  // two fundings differ by the zero bytes of their hashlocks at most: report the dearer
  return { fund: Math.max(claimed.gas, refunded.gas), claim, refund };
}

async function devDollar(session: Session): Promise<Address> {
  const { chain, send, funder, recipient, third } = session;
  const file = join(import.meta.dirname, 'artifacts/DevDollar.json');
  const { bytecode } = JSON.parse(readFileSync(file, 'utf8')) as { bytecode: Hex };
  const wallet = createWalletClient({
    account: third,
    chain: foundry,
    transport: http(chain.transport.url as string),
  });
  const hash = await wallet.deployContract({ abi: [], bytecode });
  const { contractAddress } = await chain.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  if (!contractAddress) throw new Error('DevDollar was not deployed');
  const mint = [
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
  for (const to of [funder.address, recipient.address]) {
    const args = [to, 1_000_000_000_000n] as const;
    await send(third, contractAddress, encodeFunctionData({ abi: mint, args }));
  }
  const approval = [deployment.factory.address, MAX_UINT] as const;
  await send(
    funder,
    contractAddress,
    encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: approval }),
  );
  return contractAddress;
}

async function measureOn(rpcUrl: string): Promise<GasFigures> {
  const session = connect(rpcUrl);
  await deployContracts({ rpcUrl, account: session.third });
  const token = await devDollar(session);
  const native = await threeVerbs(session, zeroAddress, 1_234_567_890_123_456_789n, 1);
  const erc20 = await threeVerbs(session, token, 12_345_678_901n, 3);
  await session.chain.setNextBlockTimestamp({ timestamp: TIMELOCK });
  const nativeRefund = await native.refund();
  const erc20Refund = await erc20.refund();
  const figure = (name: keyof typeof GAS_LIMITS, gas: number): GasFigure => {
    const [asset, verb] = name.split(' ') as ['native' | 'erc20', 'fund' | 'claim' | 'refund'];
    const how = asset === 'erc20' ? `${HOW[verb]}; ${HOW.erc20}` : HOW[verb];
    const approval = name === 'erc20 fund' ? '; unlimited approval given before' : '';
    return { limit: GAS_LIMITS[name], gas, how: how + approval };
  };
  return {
    'native fund': figure('native fund', native.fund),
    'native claim': figure('native claim', native.claim),
    'native refund': figure('native refund', nativeRefund),
    'erc20 fund': figure('erc20 fund', erc20.fund),
    'erc20 claim': figure('erc20 claim', erc20.claim),
    'erc20 refund': figure('erc20 refund', erc20Refund),
  };
}

/** Total transaction gas of each verb, on a chain of its own. Deterministic. */
export function measureGas(): Promise<GasFigures> {
  return withAnvil(measureOn, ['--timestamp', String(START)]);
}

function snapshotOf(figures: GasFigures): string {
  const measured =
    'gasUsed of receipts on anvil: whole transactions, with the 21000, calldata and refunds';
  const settings = { measured, hardfork: HARDFORK, solc: SOLC_VERSION, evmVersion: EVM_VERSION };
  return `${JSON.stringify({ ...settings, figures }, null, 2)}\n`;
}

/** What is wrong with the figures: nothing, or one sentence each. */
export async function checkGas(): Promise<string[]> {
  const figures = await measureGas();
  const wrong: string[] = [];
  for (const [name, { gas, limit }] of Object.entries(figures)) {
    if (gas > limit) wrong.push(`${name} takes ${gas} gas, the limit is ${limit}`);
  }
  if (readFileSync(SNAPSHOT, 'utf8') !== snapshotOf(figures)) {
    wrong.push('gas.snapshot.json differs from what was measured; run gas.ts --write and look');
  }
  return wrong;
}

async function main(): Promise<void> {
  if (process.argv.includes('--check')) {
    const wrong = await checkGas();
    for (const sentence of wrong) process.stderr.write(`gas: ${sentence}\n`);
    if (wrong.length > 0) process.exitCode = 1;
    else process.stdout.write('gas: within the limits and as in the snapshot\n');
    return;
  }
  const figures = await measureGas();
  for (const [name, { gas, limit }] of Object.entries(figures)) {
    process.stdout.write(`${name.padEnd(14)} ${String(gas).padStart(7)}  limit ${limit}\n`);
  }
  if (process.argv.includes('--write')) writeFileSync(SNAPSHOT, snapshotOf(figures));
}

if (isEntry(import.meta.url)) await main();
