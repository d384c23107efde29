// The text that an operator reads on the screen when the market is ready.

import type { Settings } from '../settings/config.ts';
import type { Ready } from './boot.ts';

/** Bitcoin, TRON and Solana, beside the EVM chains of the settings. */
const otherDevChains = 3;

/** Before anything is started: that takes seconds. */
export function partsLine({
  chains,
  databaseUrl,
  devEvmChains,
}: Pick<Settings, 'chains' | 'databaseUrl' | 'devEvmChains'>): string {
  const database = databaseUrl === null ? ['PostgreSQL'] : [];
  const parts =
    chains === null ? [...database, `${devEvmChains + otherDevChains} dev chains`] : database;
  if (parts.length === 0) return 'Its database and chains are those of the settings.';
  return `It starts ${parts.join(' and ')} first.`;
}

export function banner(ready: Ready): string {
  const lines = ready.chains.map(({ chain, family, rpcUrl, chainId, node, gasKey }) => {
    const id = chainId === undefined ? '' : `, chain id ${chainId}`;
    const what = node === undefined ? family : `${family}${id}, ${node.name} ${node.version}`;
    const where = rpcUrl === undefined ? '' : `  ${withoutLogin(rpcUrl)}`;
    const gas = gasKey === undefined ? '' : `  gas key ${gasKey}`;
    return `  ${chain.padEnd(16)} ${what}${where}${gas}`;
  });
  return [
    `App: ${ready.url}${ready.app === null ? '' : `  (${ready.app})`}`,
    `Chains (${ready.network}):`,
    ...lines,
    `  ${'database'.padEnd(16)} PostgreSQL, ${ready.database}`,
    ...place('dev control', ready.dev),
    ...place('inbox', ready.inbox),
    ...place('dev identity', ready.identityProvider),
    ...place('API reference', `${ready.url}/v1/docs`),
    ...place('operator', ready.operator),
    `Ready: ${ready.url}`,
  ].join('\n');
}

function place(name: string, url: string | null | undefined): string[] {
  return typeof url === 'string' ? [`  ${name.padEnd(16)} ${url}`] : [];
}

/** A text on a screen stays on it: the whole address is in the file ready.json. */
function withoutLogin(address: string): string {
  const url = new URL(address);
  [url.username, url.password] = ['', ''];
  return url.href.replace(/\/$/, '');
}

/** `held`: the missing times that agreements wait for. */
export function heldLine(held: readonly string[]): string[] {
  if (held.length === 0) return [];
  const how = 'Everything else goes on. npm run ops -- resume --agreements ends it.';
  return [`Agreements wait: time is missing from the database (${held.join('; ')}). ${how}`];
}
