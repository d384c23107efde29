// `npm run faucet -- FILE`: gives coins of test networks to whoever asks, with keys of its own. It
// stands beside a market and has its settings, and knows nothing of its database.

import { Misused, parsed, runCommand } from '@parley/host/command.ts';
import { openLog } from '@parley/maker/log.ts';
import { readSettings } from '@parley/market/settings/config.ts';
import { openBook } from './book.ts';
import { createFaucet } from './give.ts';
import { openPayers } from './payers.ts';
import { readFaucetSettings } from './settings.ts';
import { createSite } from './site.ts';

const usage = `usage: npm run faucet -- FILE [--check]
  FILE     what it gives and by which keys: apps/market/deploy/testnet/faucet.json is one
  --check  only says what is wrong with the settings, keys and nodes, and its addresses
Settings as for npm start: PARLEY_NETWORK=testnet, PARLEY_CHAINS, PARLEY_ASSETS,
PARLEY_TRUSTED_PROXIES. Exit status: 0 ended, 1 not started, 2 not understood.`;

function understand(args: string[]) {
  const options = { help: { type: 'boolean' }, check: { type: 'boolean' } } as const;
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help === true) return null;
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Misused('it wants one file of settings');
  return { file, isCheck: values.check === true };
}

async function run({ file, isCheck }: NonNullable<ReturnType<typeof understand>>) {
  // Whom it gave to is nobody else's business.
  process.umask(0o077);
  const market = readSettings(process.env);
  const settings = readFaucetSettings(file, market);
  const log = openLog(process.stdout, Date.now);
  const now = () => Math.floor(Date.now() / 1_000);
  const payers = await openPayers(settings.chains, market, { now: Date.now, log });
  for (const { chain, address } of payers) log.info('pays', { chain, address });
  if (isCheck) {
    await Promise.all(payers.map((each) => each.close()));
    return 0;
  }
  const book = openBook(settings.file);
  const gifts = settings.chains.flatMap((each) => each.gifts);
  const { perClient } = settings;
  const faucet = createFaucet({ gifts, payers, book, perClient, log, now });
  const site = createSite(faucet, market);
  const url = await site.listen({ host: settings.host, port: settings.port });
  log.info('listening', { url });
  await new Promise((stop) => process.once('SIGINT', stop).once('SIGTERM', stop));
  await site.close();
  await faucet.close();
  return 0;
}

await runCommand({ usage, understand, run });
