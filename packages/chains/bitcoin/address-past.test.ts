// The past of an escrow that a stranger paid a thousand times, at a made-up Esplora server which
// counts what it is asked.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bytesToHex } from '@noble/hashes/utils.js';
import { nothingSeen } from '@parley/core/facts.ts';
import { nodeOf, type Reply, untilTested } from '../testing/nodes.ts';
import { readAddresses } from './address-past.ts';
import { escrowFacts } from './escrow-facts.ts';
import { connectBlock, historyOf } from './escrow-index.ts';
import { esploraBackend } from './esplora-backend.ts';
import { createFollower, follow, followToEnd } from './follower.ts';
import { bitcoinNetworks } from './networks.ts';
import { testSwap, watchedBytes } from './testing/swaps.ts';

const network = bitcoinNetworks.regtest;
const { escrow, terms, secret } = testSwap({ timelock: 1_800_000_000, since: 0 });
const { address } = escrow;
const bytes = watchedBytes(terms, network);
const signal = () => AbortSignal.timeout(60_000);
const pageLength = 25;
/** A past that is read without end is refused in the end. */
const mostRequests = 1_000;

const hashAt = (height: number) => height.toString(16).padStart(64, '0');
const txidOf = (kind: string, at = 0) => bytesToHex(Buffer.from(kind)).padEnd(60, '0') + at;
const funding = txidOf('fund');
const claim = txidOf('claim');

type Mined = ReturnType<typeof mined>;
/** A payment of so much, or the claim of the funding. */
function mined(txid: string, height: number, value: number | 'claim') {
  const witness = ['00'.repeat(71), secret, '01', bytesToHex(bytes.branches.claim.script)];
  const spent = value === 'claim' ? { txid: funding, witness } : { txid: hashAt(1), witness: [] };
  const script = value === 'claim' ? '0014' : bytesToHex(bytes.script);
  return {
    txid,
    vin: [{ ...spent, vout: 0, is_coinbase: false }],
    vout: [{ scriptpubkey: script, value: value === 'claim' ? 1 : value }],
    status: { confirmed: true, block_height: height, block_hash: hashAt(height) },
  };
}

/** The newest first. Mined at 101, with all dust at 102. */
const pastWith = (dust: number, ...older: Mined[]): Mined[] => [
  ...Array.from({ length: dust }, (_, at) => mined(txidOf('dust', at), 102, 330)),
  ...older,
];
const funded = mined(funding, 101, Number(terms.amount));

type Chain = {
  past: Mined[];
  tip: number;
  /** About the escrow and its transactions. */
  readonly asked: string[];
};
const chainOf = (past: Mined[], tip = 102): Chain => ({ past, tip, asked: [] });
type Instead = (path: string) => string | Reply | null;

/** Its blocks hold nothing: a missing transaction is noticed by the count. */
function answered({ past, tip }: Seen, path: string): string | null {
  const [, first, second = '', third, fourth, last] = path.split('/');
  if (first === 'blocks') return hashAt(tip);
  if (first === 'block-height') return Number(second) > tip ? null : hashAt(Number(second));
  if (first === 'block') {
    return JSON.stringify({ id: second, height: Number(`0x${second}`), mediantime: 1 });
  }
  if (first === 'tx') return JSON.stringify(past.find(({ txid }) => txid === second));
  if (third === undefined) return JSON.stringify({ chain_stats: { tx_count: past.length } });
  if (fourth === 'mempool') return '[]';
  const start = last === undefined ? 0 : past.findIndex(({ txid }) => txid === last) + 1;
  return JSON.stringify(past.slice(start, start + pageLength));
}

const serverOf = untilTested((chain: Chain, instead: Instead = () => null) =>
  nodeOf(async (_, { url: path = '' }) => {
    const { asked } = chain;
    if (/^\/(address|tx)\//.test(path) && !path.endsWith('mempool')) asked.push(path);
    if (asked.length > mostRequests) return { status: 503, text: 'too many requests' };
    const said = instead(path) ?? answered(chain, path);
    if (typeof said === 'string') return { text: said };
    return said ?? { status: 404, text: 'not found' };
  }),
);

function followerOf({ url }: { readonly url: string }) {
  const esplora = esploraBackend({ url, network });
  const block = async (hash: string) => {
    const previous = hashAt(Number(`0x${hash}`) - 1);
    return { hash, previous, size: 0, transactions: async () => [] };
  };
  return createFollower({ ...esplora, block }, () => 1_000);
}

const shown = ({ index }: ReturnType<typeof followerOf>) => {
  const facts = escrowFacts(historyOf(index, address), terms.amount, 2);
  return [facts.funded?.confirmations, facts.claimed?.confirmations, facts.secret];
};

/** One that was started after all of it was mined. */
async function restartedOn(chain: Chain) {
  const follower = followerOf(await serverOf(chain));
  follow(follower, escrow, bytes);
  await followToEnd(follower, address, signal());
  return follower;
}

type Seen = Pick<Chain, 'past' | 'tip'>;

it('funding and claim are found below 1,100 payments of dust, and no page is read thrice', async () => {
  const chain = chainOf(pastWith(1_100, mined(claim, 101, 'claim'), funded));
  assert.deepEqual(shown(await restartedOn(chain)), [2, 2, secret]);
  // The reading takes 40 of 45 pages twice, each time after a count.
  assert.ok(chain.asked.length <= 90, `${chain.asked.length} requests`);
});

it('one more payment has its page read again, and not a past of 1,101', async () => {
  const chain = chainOf(pastWith(1_100, funded));
  const follower = await restartedOn(chain);
  for (const more of [0, 1]) {
    chain.tip += 1;
    if (more === 1) chain.past.unshift(mined(txidOf('more'), chain.tip, 330));
    chain.asked.length = 0;
    await followToEnd(follower, address, signal());
    // Two counts more, and two pages.
    assert.equal(chain.asked.length, more === 0 ? 1 : 5, chain.asked.join(' '));
  }
  assert.deepEqual(shown(follower), [4, undefined, null]);
});

it('a funding that is stored is found by its id before its page is read', async () => {
  const follower = followerOf(await serverOf(chainOf(pastWith(1_100, funded))));
  connectBlock(follower.index, { height: 102, hash: hashAt(102), readAt: 1 }, []);
  const stored = { ...nothingSeen, funded: { txid: funding, confirmations: 1, deep: false } };
  follow(follower, { ...escrow, stored }, bytes);
  const { past } = follower.backend;
  assert.ok(past.kind === 'by_address');
  await readAddresses(follower, past, address, { blocks: 1 }, signal());
  assert.deepEqual(shown(follower), [2, undefined, null]);
});
