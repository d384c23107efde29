// Puts the development tokens on a development chain, at addresses that are always the same: they
// follow from the init code. Anyone can mint them: only the dev network calls this.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, getCreate2Address, type Hex } from 'viem';
import {
  codeHashAt,
  type DeployOptions,
  deployer,
  reader,
  sendThroughDeployer,
} from './create2.ts';

export const DEV_TOKENS = ['DevDollar', 'DevTether', 'ReturnsFalse', 'FeeToken'] as const;
export type DevToken = (typeof DEV_TOKENS)[number];

const salt = '0xdc6c2443c0abc4b8b874da31885053513a6a9317f96d119735a7e39d71214ee6';

/** Deploys it unless it is there. */
export async function deployDevToken(options: DeployOptions, initCode: Hex): Promise<Address> {
  const address = getCreate2Address({ from: deployer.address, salt, bytecode: initCode });
  const isThere = async () => (await codeHashAt(reader(options), address)) !== null;
  if (!(await isThere())) await sendThroughDeployer(options, { salt, initCode });
  if (!(await isThere())) throw new Error(`no code was deployed at ${address}`);
  return address;
}

export function initCodeOf(name: DevToken): Hex {
  const file = join(import.meta.dirname, 'artifacts', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8')).bytecode;
}
