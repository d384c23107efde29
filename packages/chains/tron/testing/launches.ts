import { hexToBytes } from '@noble/hashes/utils.js';
import type { EventSource } from '@parley/tokens/launches.ts';
import { encodeFunctionData } from 'viem/utils';
import { launchpadContract, tokenCreated } from '../../evm/testing/launches.ts';
import { tronAddressOf } from '../address.ts';
import { anyone, create, sendAndMine, type TestChain } from './chain.ts';

export type Launching = {
  readonly factory: string;
  readonly source: EventSource;
  launch(...symbols: string[]): Promise<string[]>;
  say(word: bigint): Promise<void>;
};

export async function deployLaunchpad(chain: TestChain): Promise<Launching> {
  const { abi, bytecode } = launchpadContract;
  const factory = await create(chain, bytecode.slice(2));
  const call = (functionName: string, args: readonly unknown[]) => {
    const data = encodeFunctionData({ abi, functionName, args }).slice(2);
    return sendAndMine(chain, anyone, { from: anyone.address, to: factory, data, value: 0n });
  };
  const launch = async (symbol: string): Promise<string> => {
    const { header } = chain.dev.simulator.chain.tip('head');
    await call('launch', [symbol]);
    const body = JSON.stringify({ num: header.number + 1 });
    const path = `${chain.url}/wallet/gettransactioninfobyblocknum`;
    const infos = await (await fetch(path, { method: 'POST', body })).json();
    const [info] = infos as { log?: { topics: string[] }[]; receipt: { result: string } }[];
    const topics = info?.log?.find((each) => each.topics.length === 2 && each.topics[1])?.topics;
    if (topics === undefined) throw new Error(`not launched: ${info?.receipt.result}`);
    return tronAddressOf(hexToBytes(topics[1]!.slice(24)));
  };
  return {
    factory,
    source: { factory, ...tokenCreated, token: 'token' },
    launch: async (...symbols) => {
      const tokens: string[] = [];
      for (const each of symbols) tokens.push(await launch(each));
      return tokens;
    },
    say: async (word) => {
      await call('say', [word]);
    },
  };
}
