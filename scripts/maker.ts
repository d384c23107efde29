// `npm run maker`: the maker program of this checkout. `-- dev` makes it a counterparty on the dev
// network of a running market: keys, coins and settings of its own, quotes for every pair.

import { join, resolve } from 'node:path';
import { marketHome, runningMarket } from '@parley/dev/demo/market.ts';
import { Misused, parsed, understood, wholeNumber } from '@parley/host/command.ts';
import { main } from '@parley/maker/main.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { prepareDevMaker } from './maker-dev.ts';

const usage = `usage: npm run maker -- CONFIG [COMMAND]   all commands: npm run maker -- CONFIG --help
       npm run maker -- dev [--url URL] [--dev URL] [--folder FOLDER] [--metrics PORT]
  CONFIG          a file of settings (docs/maker.md), such as .parley/maker/maker.toml of dev
  dev             a maker for the market of \`npm start\`, with play money; writes its
                  settings anew at each start
  --url URL       that market; default from its ready.json, in PARLEY_HOME or .parley
  --dev URL       control address of its dev network; default: from its ready.json
  --folder FOLDER where its settings, keys and store are; default maker
                  in PARLEY_HOME, or .parley/maker
  --metrics PORT  where Prometheus reads it; default nowhere`;

function understand(args: string[]) {
  const [first = '', ...rest] = args;
  const isDev = first === 'dev';
  if (first === '' || first === '--help' || (isDev && rest.includes('--help'))) return null;
  if (first.startsWith('-')) throw new Misused(`"${first}" is no file of settings`);
  if (!isDev) return { command: args };
  const { values } = parsed({
    args: rest,
    options: {
      url: { type: 'string' },
      dev: { type: 'string' },
      folder: { type: 'string' },
      metrics: { type: 'string' },
    },
  });
  const { metrics, ...dev } = values;
  const port = metrics === undefined ? null : wholeNumber('--metrics', metrics, { most: 65_535 });
  return { dev: { ...dev, metrics: port } };
}

const program = 'npm run -s maker --';
const asked = understood({ usage, understand });
if ('command' in asked) process.exitCode = await main(asked.command, { program });
else {
  const { url, dev, folder = join(marketHome(), 'maker'), metrics } = asked.dev;
  try {
    const stage = await runningMarket(url, dev);
    const { file, movedMs } = await prepareDevMaker(stage, resolve(folder), metrics);
    process.exitCode = await main([file], { movedMs, program });
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}
