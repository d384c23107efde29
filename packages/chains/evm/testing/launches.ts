import type { EventSource } from '@parley/tokens/launches.ts';
import type { Hex } from 'viem';
import { encodeFunctionData, getAddress } from 'viem/utils';
import { accounts, deploy, send, type TestChain } from './anvil.ts';
import { compileTestContracts } from './compile.ts';

export const launchpadContract = compileTestContracts('Launchpad.sol').get('Launchpad')!;

/** The event that tells of a launch, the token in a topic. */
export const tokenCreated = { event: 'TokenCreated(address indexed token, address creator)' };

export type Launching = {
  readonly factory: Hex;
  readonly source: EventSource;
  launch(...symbols: string[]): Promise<string[]>;
  say(word: bigint): Promise<void>;
};

export async function deployLaunchpad(chain: TestChain): Promise<Launching> {
  const { abi, bytecode } = launchpadContract;
  const factory = await deploy(chain, bytecode);
  const call = (functionName: string, args: readonly unknown[]) => {
    const data = encodeFunctionData({ abi, functionName, args });
    return send(chain, accounts[8]!, { to: factory, data, gas: 25_000_000n });
  };
  return {
    factory,
    source: { factory, ...tokenCreated, token: 'token' },
    launch: async (...symbols) => {
      const hash = await call('launchMany', [symbols]);
      const { logs } = await chain.client.getTransactionReceipt({ hash });
      const own = logs.filter(
        (log) => getAddress(log.address) === factory && log.topics[2] === undefined,
      );
      return own
        .filter((log) => log.data.length === 66)
        .map((log) => getAddress(`0x${log.topics[1]!.slice(26)}`));
    },
    say: async (word) => {
      await call('say', [word]);
    },
  };
}
