// A `Book` of the SDK as a program of its own, for the soak. Each change is a line of JSON, and so
// is the whole book, after each line that is read. `URL`, `KEY`, and `PAIRS`, a list in JSON.

import { createInterface } from 'node:readline';
import { type AssetPair, openBook } from '@parley/sdk/book.ts';

const { URL: baseUrl = '', KEY: key = '', PAIRS } = process.env;
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

const book = openBook({
  baseUrl,
  key,
  ...(PAIRS === undefined ? {} : { pairs: JSON.parse(PAIRS) as AssetPair[] }),
  onChange: ({ kind, rfq }) => say({ kind, id: rfq.id }),
  onError: (sentence) => process.stderr.write(`${sentence}\n`),
});
book.ready.catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
createInterface({ input: process.stdin })
  .on('line', () =>
    say({
      state: book.state(),
      leftOut: book.leftOut(),
      ids: [...book.rfqs.keys()],
      rssBytes: process.memoryUsage.rss(),
    }),
  )
  .on('close', () => process.exit(0));
