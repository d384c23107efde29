// All that is looked at before a Solana token may be listed, in order, on what the chain shows.

import type { Inspection, PowerRules } from '@parley/tokens/inspection.ts';
import {
  checkAuthorities,
  checkExtensions,
  checkMint,
  mostMintBytes,
  readMintAt,
} from './checks/mint.ts';
import { checkName, metadataAddress, readNames } from './checks/name.ts';
import { checkTransfer } from './checks/transfer.ts';
import { accountsAt } from './node.ts';
import type { Watch } from './watch.ts';

export async function inspect(
  watch: Watch,
  token: string,
  rules: PowerRules,
  signal: AbortSignal,
): Promise<Inspection> {
  const { rpc, chain } = watch;
  const both = [token, metadataAddress(token)];
  const { accounts } = await accountsAt(rpc, both, 'confirmed', signal, mostMintBytes + 1);
  const mint = readMintAt(chain, token, accounts[0] ?? null);
  const named = readNames(mint, accounts[1] ?? null);
  const itself = [checkMint(mint), checkExtensions(mint)];
  const findings = [...itself, ...checkAuthorities(mint, rules), checkName(named)];
  // A zero supply cannot be tried; and a trial meets every refusal of the program too.
  if (itself.every(({ outcome }) => outcome === 'pass')) {
    findings.push(await checkTransfer(watch, mint, signal));
  }
  const { symbol, name } = typeof named === 'string' ? { symbol: '', name: '' } : named;
  return { address: token, symbol, name, decimals: mint.decimals, findings };
}
