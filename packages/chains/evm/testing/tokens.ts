import { defaultPowerRules, type Inspection, type PowerRules } from '@parley/tokens/inspection.ts';
import { type Address, encodeAbiParameters, type Hex, keccak256, stringToHex, toHex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { noToken } from '../../escrows/calls.ts';
import { evmAdapter } from '../adapter.ts';
import { evmChains } from '../policy.ts';
import { accounts, deploy, send, type TestChain } from './anvil.ts';
import { compileTestContracts } from './compile.ts';

const { policy } = evmChains['evm-dev'];
export const deployer = accounts[9]!;

export const slot1967 = toHex(BigInt(keccak256(stringToHex('eip1967.proxy.implementation'))) - 1n, {
  size: 32,
});

/** Arguments of `Proxy`: where its target lies, and its admin. */
export function proxyArgs(slot: Hex, admin: string = noToken) {
  const types = [{ type: 'bytes32' }, { type: 'address' }, { type: 'address' }] as const;
  return (target: Address) => encodeAbiParameters(types, [slot, target, admin as Address]);
}

export const oneAddress = (address: Address) =>
  encodeAbiParameters([{ type: 'address' }], [address]);

export function notPassed({ findings }: Inspection): { short: string[]; reasons: string } {
  const bad = findings.filter(({ outcome }) => outcome !== 'pass');
  return {
    short: bad.map(({ check, outcome }) => `${check}: ${outcome}`),
    reasons: bad.map(({ reason }) => reason).join('\n'),
  };
}

export type Hands = ReturnType<typeof handsOn>;

/** `chain` is asked when it is needed: a test starts it in its `before`. */
export function handsOn(chain: () => TestChain) {
  const tokens = compileTestContracts('Tokens.sol');
  const put = (name: string, args: Hex = '0x'): Promise<Address> =>
    deploy(chain(), `${tokens.get(name)!.bytecode}${args.slice(2)}` as Hex);
  const tell = async (name: string, to: string, functionName: string) => {
    const data = encodeFunctionData({ abi: tokens.get(name)!.abi, functionName, args: [] });
    await send(chain(), deployer, { to, data });
  };
  return {
    put,
    tell,
    pay: async (name: string, to: string, payee: string, amount: bigint) => {
      const { abi } = tokens.get(name)!;
      const args = [payee, amount];
      const data = encodeFunctionData({ abi, functionName: 'transfer', args });
      await send(chain(), deployer, { to, data });
    },
    renounced: async (name: string): Promise<string> => {
      const token = await put(name);
      await tell(name, token, 'renounceOwnership');
      return token;
    },
    /** A proxy with `name` behind it. */
    behind: async (proxy: string, args: (target: Address) => Hex, name = 'PlainBehind') => {
      const token = await put(proxy, args(await put(name)));
      await tell('PlainBehind', token, 'begin');
      return token;
    },
    clone: async (name: string): Promise<string> => {
      const target = (await put(name)).slice(2).toLowerCase();
      const code = `363d3d373d3d3d363d73${target}5af43d82803e903d91602b57fd5bf3`;
      const token = await deploy(chain(), `0x3d602d80600a3d3981f3${code}`);
      await tell('PlainBehind', token, 'begin');
      return token;
    },
    look: (
      token: string,
      rules: PowerRules = defaultPowerRules,
      rpcUrl = chain().rpcUrl,
      signal = AbortSignal.timeout(60_000),
    ): Promise<Inspection> => {
      const options = { chain: 'evm-dev', chainId: 31_337, rpcUrls: [rpcUrl], policy };
      return evmAdapter(options).inspect!(token, rules, signal);
    },
  };
}
