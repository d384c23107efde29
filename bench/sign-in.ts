// Whether the time of an answer tells who has an account: codes for addresses that have one and for
// others, asked for in turn, and wrong codes given for both.

import { performance } from 'node:perf_hooks';
import { browserOn } from '@parley/market/edge/testing/browser.ts';
import { startPeople } from '@parley/market/edge/testing/people.ts';
import { sendCode } from '@parley/market/messages/codes.ts';
import type { CodeMail } from '@parley/market/ports/deps.ts';
import { bars } from './bars.ts';
import { usually } from './miniature.ts';
import { atMost, median, type Row } from './report.ts';

/** The addresses of each kind, in a round. */
const addresses = usually(100, 2);
/** Medians of the two kinds are as near as those of one kind are to each other. */
const bar = bars.signIn.known;

type Deps = Parameters<typeof sendCode>[1];
type Took = { readonly ask: number[]; readonly give: number[] };

export async function benchSignIn({ rounds }: { readonly rounds: number }): Promise<Row[]> {
  let deps: Deps | null = null;
  const codes = new Map<string, string>();
  const edge = await startPeople({
    settings: { signInLimit: 1_000_000 },
    messaging: {
      // As in a market: the code waits in the database for the mail server.
      sendCode: async (tx, mail: CodeMail) => {
        codes.set(mail.address, mail.code);
        if (deps !== null) await sendCode(tx, deps, mail);
      },
      mailIsDown: () => false,
    },
  });
  deps = edge.deps;
  try {
    const all: Record<'known' | 'unknown', Took> = {
      known: { ask: [], give: [] },
      unknown: { ask: [], give: [] },
    };
    // One round more: the first warms everything up and is not counted.
    for (let round = -1; round < rounds; round += 1) {
      for (let at = 0; at < addresses; at += 1) {
        const name = `person${round + 1}-${at}`;
        const known = `${name}@known.example`;
        await signIn(edge, known, codes);
        const pair = [
          ['known', known],
          ['unknown', `${name}@nobody.example`],
        ] as const;
        // The second place is not always the same kind's.
        for (const [kind, address] of at % 2 === 0 ? pair : pair.toReversed()) {
          const took = await tryAs(edge, address, codes);
          if (round < 0) continue;
          all[kind].ask.push(took.ask);
          all[kind].give.push(took.give);
        }
      }
    }
    return [
      rowFor('a code is asked for', all.known.ask, all.unknown.ask),
      rowFor('a wrong code is given', all.known.give, all.unknown.give),
    ];
  } finally {
    await edge.close();
  }
}

type Edge = Parameters<typeof browserOn>[0];

async function signIn(edge: Edge, address: string, codes: Map<string, string>): Promise<void> {
  const browser = browserOn(edge);
  await browser.post('/account/email', { address, purpose: 'sign-in' });
  await browser.post('/account/email/code', { address, code: codes.get(address) });
}

/** Milliseconds of both requests, by a stranger. */
async function tryAs(edge: Edge, address: string, codes: Map<string, string>) {
  const browser = browserOn(edge);
  await browser.get('/account/ways');
  const began = performance.now();
  const asked = await browser.post('/account/email', { address, purpose: 'sign-in' });
  const between = performance.now();
  const code = codes.get(address) === '000000' ? '000001' : '000000';
  const given = await browser.post('/account/email/code', { address, code });
  const ended = performance.now();
  if (asked.status !== 200 || given.status !== 400) {
    throw new Error(`answered ${asked.status} and ${given.status}`);
  }
  return { ask: between - began, give: ended - between };
}

function rowFor(row: string, known: readonly number[], unknown: readonly number[]): Row {
  const [limit = 0, value = 0] = [median(known), median(unknown)].sort((a, b) => a - b);
  const name = `sign-in: ${row}: the slower of addresses with an account and without`;
  return atMost(name, { value, unit: 'ms', limit, bar }, `the faster; ${known.length} of each`);
}
