// Compiles the contracts and writes what is committed: artifacts/ and deployment.json.
//
//   node contracts/evm/build.ts            rewrites them
//   node contracts/evm/build.ts --check    fails when a committed file differs from the source
//
// Code hashes are read from a real EVM after a real deployment, so they include the immutables.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Address,
  createTestClient,
  createWalletClient,
  getContractAddress,
  getCreate2Address,
  type Hex,
  http,
  keccak256,
  publicActions,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { withAnvil } from './anvil.ts';
import {
  type Compiled,
  compileContracts,
  EVM_VERSION,
  OPTIMIZER_RUNS,
  SOLC_VERSION,
} from './compile.ts';
import { isEntry } from './entry.ts';
import { typescript } from './typescript.ts';

const here = import.meta.dirname;
/** Deployed on most chains by a transaction without a key, and part of anvil. */
const DEPLOYER = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
const SALT = keccak256(new TextEncoder().encode('Parley escrow 1'));
const ESCROW_CONTRACTS = ['ParleyFactory', 'ParleyEscrow'] as const;
const DEV_TOKENS = ['DevDollar', 'DevTether', 'ReturnsFalse', 'FeeToken'] as const;
/** The proxy's init code around the implementation's address; src/ProxyCode.sol explains it. */
const PROXY_HEAD = '0x60268060093d393df3363d3d37363d363d73';
const PROXY_TAIL = '0x5af46025573d5ffd5b';

export type Pinned = {
  deployer: { address: Address; codeHash: Hex };
  salt: Hex;
  factory: { address: Address; initCodeHash: Hex; codeHash: Hex };
  implementation: { address: Address; codeHash: Hex };
  proxy: { head: Hex; tail: Hex; initCodeHash: Hex; codeHash: Hex };
  devTokens: Record<(typeof DEV_TOKENS)[number], { address: Address; codeHash: Hex }>;
};

function need(compiled: ReadonlyMap<string, Compiled>, name: string): Compiled {
  const contract = compiled.get(name);
  if (contract === undefined) throw new Error(`no contract ${name} in the sources`);
  return contract;
}

function testWallet(rpcUrl: string) {
  const account = mnemonicToAccount('test test test test test test test test test test test junk');
  const transport = http(rpcUrl);
  const reader = createTestClient({ mode: 'anvil', chain: foundry, transport }).extend(
    publicActions,
  );
  return { reader, wallet: createWalletClient({ account, chain: foundry, transport }) };
}

async function deployed(
  rpcUrl: string,
  bytecode: Hex,
): Promise<{ address: Address; codeHash: Hex }> {
  const { reader, wallet } = testWallet(rpcUrl);
  const data: Hex = `${SALT}${bytecode.slice(2)}`;
  const hash = await wallet.sendTransaction({ to: DEPLOYER, data });
  await reader.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  const address = getCreate2Address({ from: DEPLOYER, salt: SALT, bytecode });
  return { address, codeHash: await codeHash(rpcUrl, address) };
}

async function codeHash(rpcUrl: string, address: Address): Promise<Hex> {
  const code = await testWallet(rpcUrl).reader.getCode({ address });
  if (code === undefined) throw new Error(`nothing was deployed at ${address}`);
  return keccak256(code);
}

async function pin(compiled: ReadonlyMap<string, Compiled>, rpcUrl: string): Promise<Pinned> {
  const { bytecode } = need(compiled, 'ParleyFactory');
  const factory = await deployed(rpcUrl, bytecode);
  const implementation = getContractAddress({ from: factory.address, nonce: 1n });
  const bare = implementation.slice(2).toLowerCase();
  const proxyCode: Hex = `${PROXY_HEAD}${bare}${PROXY_TAIL.slice(2)}`;
  const tokens = {} as Pinned['devTokens'];
  for (const name of DEV_TOKENS) {
    tokens[name] = await deployed(rpcUrl, need(compiled, name).bytecode);
  }
  return {
    deployer: { address: DEPLOYER, codeHash: await codeHash(rpcUrl, DEPLOYER) },
    salt: SALT,
    factory: { ...factory, initCodeHash: keccak256(bytecode) },
    implementation: { address: implementation, codeHash: await codeHash(rpcUrl, implementation) },
    proxy: {
      head: PROXY_HEAD,
      tail: PROXY_TAIL,
      initCodeHash: keccak256(proxyCode),
      codeHash: keccak256(`0x${proxyCode.slice(2 + 2 * 9)}`),
    },
    devTokens: tokens,
  };
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Every generated file, by its path under contracts/evm. */
export async function generate(): Promise<Map<string, string>> {
  const compiled = compileContracts();
  const pinned = await withAnvil((rpcUrl) => pin(compiled, rpcUrl));
  const { devTokens, ...deployment } = pinned;
  const compiler = { solc: SOLC_VERSION, evmVersion: EVM_VERSION, optimizerRuns: OPTIMIZER_RUNS };
  const files = new Map<string, string>();
  const hashes: Record<string, Hex> = {
    ParleyFactory: pinned.factory.codeHash,
    ParleyEscrow: pinned.implementation.codeHash,
  };
  for (const name of DEV_TOKENS) hashes[name] = devTokens[name].codeHash;
  for (const name of [...ESCROW_CONTRACTS, ...DEV_TOKENS]) {
    const { abi, bytecode } = need(compiled, name);
    files.set(`artifacts/${name}.json`, json({ abi, bytecode, deployedCodeHash: hashes[name] }));
  }
  files.set('artifacts/devTokens.json', json(devTokens));
  files.set('deployment.json', json({ compiler, ...deployment }));
  const { abi, bytecode } = need(compiled, 'ParleyFactory');
  files.set(
    'artifacts/abi.ts',
    typescript({
      factoryAbi: abi,
      escrowAbi: need(compiled, 'ParleyEscrow').abi,
      tokenAbi: need(compiled, 'DevDollar').abi,
      initCode: bytecode,
      deployment,
    }),
  );
  return files;
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Committed files that are not what the sources make, by their path under contracts/evm. */
export async function staleFiles(): Promise<string[]> {
  const generated = await generate();
  return [...generated.keys()].filter((path) => read(join(here, path)) !== generated.get(path));
}

async function main(): Promise<void> {
  if (process.argv.includes('--check')) {
    const stale = await staleFiles();
    if (stale.length === 0) process.stdout.write('build: artifacts are current\n');
    else {
      process.stderr.write(`build: differ from the source: ${stale.join(', ')}\n`);
      process.exitCode = 1;
    }
    return;
  }
  mkdirSync(join(here, 'artifacts'), { recursive: true });
  for (const [path, text] of await generate()) writeFileSync(join(here, path), text);
  process.stdout.write('build: written\n');
}

if (isEntry(import.meta.url)) await main();
