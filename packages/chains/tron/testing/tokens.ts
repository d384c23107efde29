import { hexToBytes } from '@noble/hashes/utils.js';
import devCoin from '@parley/contracts/escrows/artifacts/DevCoin.json' with { type: 'json' };
import falseCoin from '@parley/contracts/escrows/artifacts/FalseCoin.json' with { type: 'json' };
import { selectorOf } from '@parley/tokens/words.ts';
import { encodeAbiParameters } from 'viem/utils';
import { compileTestContracts, type TestContract } from '../../evm/testing/compile.ts';
import { slot1967 } from '../../evm/testing/tokens.ts';
import { tronHex } from '../address.ts';
import { bareAddress } from '../plan.ts';
import { create, type TestChain } from './chain.ts';

const tokens = compileTestContracts('Tokens.sol');

/** One of packages/chains/evm/testing/Tokens.sol, with what its constructor wants: addresses, and words. */
export function deployToken(
  chain: TestChain,
  name: string,
  ...given: readonly string[]
): Promise<string> {
  const isWord = (each: string) => each.startsWith('0x');
  const types = given.map((each) => ({ type: isWord(each) ? 'bytes32' : 'address' }));
  const values = given.map((each) => (isWord(each) ? each : bareAddress(each)));
  const code = (tokens.get(name) as TestContract).bytecode;
  return create(chain, code.slice(2) + encodeAbiParameters(types, values).slice(2));
}

/** A proxy by EIP-1967 that stands for `target`. */
export async function deployProxy(chain: TestChain, target: string, admin: string) {
  const proxy = await deployToken(chain, 'Proxy', slot1967, target, admin);
  await byOwner(chain, proxy, 'begin()');
  return proxy;
}

const measured = { DevCoin: devCoin, FalseCoin: falseCoin };

export async function deployCoin(
  chain: TestChain,
  name: keyof typeof measured,
  holders: Readonly<Record<string, bigint>>,
): Promise<string> {
  const token = await create(chain, measured[name].bytecode.slice(2));
  for (const [holder, amount] of Object.entries(holders)) {
    const types = [{ type: 'address' }, { type: 'uint256' }] as const;
    const args = encodeAbiParameters(types, [bareAddress(holder), amount]).slice(2);
    await byOwner(chain, token, 'mint(address,uint256)', args);
  }
  return token;
}

/** `args`: words in hex. */
export async function byOwner(
  { dev }: TestChain,
  token: string,
  signature: string,
  ...args: readonly string[]
): Promise<void> {
  const contract_address = hexToBytes(tronHex(token));
  const data = hexToBytes(selectorOf(signature) + args.join(''));
  await dev.simulator.sendAsFaucet('TriggerSmartContract', { contract_address, data });
}
