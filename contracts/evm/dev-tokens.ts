// Puts the development tokens on a development chain, at addresses that are always the same.
// Anyone can mint them: only the dev network calls this.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Address, Hex } from 'viem';
import {
  codeHashAt,
  DeploymentError,
  type DeployOptions,
  reader,
  sendThroughDeployer,
} from './create2.ts';

export const DEV_TOKENS = ['DevDollar', 'DevTether', 'ReturnsFalse', 'FeeToken'] as const;
export type DevToken = (typeof DEV_TOKENS)[number];

/** Their addresses follow from it. */
export const devSalt = '0xdc6c2443c0abc4b8b874da31885053513a6a9317f96d119735a7e39d71214ee6';

const artifacts = join(import.meta.dirname, 'artifacts');

/** Addresses and code hashes, equal on every chain. */
export function pinnedDevTokens(): Record<DevToken, { address: Address; codeHash: Hex }> {
  return JSON.parse(readFileSync(join(artifacts, 'devTokens.json'), 'utf8'));
}

/** Deploys those that are missing. Repeating it changes nothing. */
export async function deployDevTokens(
  options: DeployOptions,
  names: readonly DevToken[] = DEV_TOKENS,
): Promise<Partial<Record<DevToken, Address>>> {
  const client = reader(options);
  const pinned = pinnedDevTokens();
  const deployed: Partial<Record<DevToken, Address>> = {};
  for (const name of names) {
    const { address, codeHash } = pinned[name];
    if ((await codeHashAt(client, address)) === null) {
      const artifact = JSON.parse(readFileSync(join(artifacts, `${name}.json`), 'utf8'));
      const { bytecode } = artifact as { bytecode: Hex };
      await sendThroughDeployer(options, { salt: devSalt, initCode: bytecode });
    }
    const found = await codeHashAt(client, address);
    if (found !== codeHash) {
      const sentence = `${name} at ${address} has code hash ${found ?? 'none'}, not ${codeHash}`;
      throw new DeploymentError('code_differs', sentence, { name, address });
    }
    deployed[name] = address;
  }
  return deployed;
}
