// The promises of adapters against a TRON node that somebody else runs: Nile, or a java-tron of
// one's own. Promises that need a clock or a reorganisation of ours are not run, and are listed.
//
//   npm run conformance -- --url URL --key-file FILE --contract ADDRESS --creation TXID
//
// It moves some ten TRX into escrows, which the funder of the key can take back after four hours.

import { Misused, parsed, understood } from '@parley/host/command.ts';
import { keepPromises } from './kept.ts';
import { promises } from './promises.ts';
import { remoteTron } from './remote-tron.ts';

const usage = `usage: npm run conformance -- --url URL --key-file FILE --contract ADDRESS
                              --creation TXID
  --url URL           a java-tron node, such as one of Nile
  --solidity-url URL  where /walletsolidity has a port of its own
  --key-file FILE     64 hex characters: an account with about 500 TRX
  --contract ADDRESS  the contract of escrows there (npm run deploy:tron)
  --creation TXID     the transaction that created it
  --token ADDRESS     a TRC-20 that this account has some of
  --only TEXT         only promises whose name has this in it
  --dev URL           control address of a dev network, which is asked for blocks
It takes about half an hour on a public network, where a block is solid after a minute, much
less with --dev. For all four families, each on its dev chain: npm test -- verify/test/adapters`;

function understand(args: string[]) {
  const { values } = parsed({
    args,
    options: {
      url: { type: 'string' },
      'solidity-url': { type: 'string' },
      'key-file': { type: 'string' },
      contract: { type: 'string' },
      creation: { type: 'string' },
      token: { type: 'string' },
      only: { type: 'string', default: '' },
      dev: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const { url, contract, creation, token = null, only, dev = null } = values;
  const { 'key-file': keyFile, 'solidity-url': solidityUrl } = values;
  if (url === undefined) throw new Misused('--url is missing');
  if (keyFile === undefined) throw new Misused('--key-file is missing');
  if (contract === undefined) throw new Misused('--contract is missing');
  if (creation === undefined) throw new Misused('--creation is missing');
  if (!promises.some(({ name }) => name.includes(only))) {
    throw new Misused(`no promise has "${only}" in its name`);
  }
  return { url, contract, creation, token, only, dev, keyFile, solidityUrl };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

async function main(asked: Asked): Promise<number> {
  const { url, contract, creation, token, only, dev, keyFile, solidityUrl } = asked;
  const source = solidityUrl === undefined ? { url } : { url, solidityUrl };
  const log = (text: string) => process.stderr.write(`${text}\n`);
  const driver = await remoteTron({ source, keyFile, contract, creation, token, dev, log });
  return (await keepPromises(driver, only, log)).isKept ? 0 : 1;
}

process.exitCode = await main(understood({ usage, understand })).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  return 1;
});
