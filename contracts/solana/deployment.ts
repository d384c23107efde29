// The command that asks a node whether what is deployed at an address is this program, for good.
//
//   node contracts/solana/deployment.ts --rpc URL --program ADDRESS
//                                                       exit status 1 where it is not

import { parseArgs } from 'node:util';
import { isEntry } from '../evm/entry.ts';
import { deploymentFault, type ReadAccount } from './deployed.ts';
import { accountAt, rpcTo } from './node-rpc.ts';

export function readerOf(rpcUrl: string): ReadAccount {
  const rpc = rpcTo(rpcUrl);
  return async (address) => {
    const account = await accountAt(rpc, address, 'finalized');
    if (account === null) return null;
    const { owner, executable, data } = account;
    return { owner, isExecutable: executable, data: Buffer.from(data[0], 'base64') };
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rpc: { type: 'string' }, program: { type: 'string' } },
  });
  if (values.rpc === undefined || values.program === undefined) {
    throw new Error('--rpc URL and --program ADDRESS are needed');
  }
  const fault = await deploymentFault(values.program, readerOf(values.rpc));
  console.log(`${values.program}: ${fault ?? 'the committed program, and nobody can replace it'}`);
  if (fault !== null) process.exitCode = 1;
}

if (isEntry(import.meta.url)) await main();
