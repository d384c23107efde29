// Signed refunds that a malicious party leaves with the market: what must be refused, whatever its
// key signs, and its own ladder twice at once.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { RawTx } from '@scure/btc-signer';
import type { LegName } from '../../core/trade.ts';
import type { Turn } from './attacks.ts';
import { asOutput, deepCoins, noteStored } from './ladders.ts';
import { ask, keyOf, ownLeg } from './people.ts';
import { signLadder } from './rungs.ts';
import { isPutOff } from './trouble.ts';
import { count, tell, violate } from './world.ts';

type Raw = NonNullable<Parameters<typeof RawTx.encode>[0]>;

const changed = (raw: string, change: (tx: Raw) => Partial<Raw>): string => {
  const tx = RawTx.decode(hexToBytes(raw));
  return bytesToHex(RawTx.encode({ ...tx, ...change(tx) }));
};

/** P2WPKH of a key that nobody has. */
const elsewhere = hexToBytes(`0014${'5a'.repeat(20)}`);
const early = 3_600;

/** Each makes something that is no ladder of the own escrow of what is one. */
const twists: Readonly<Record<string, (rungs: readonly string[]) => string[]>> = {
  'pays elsewhere': (rungs) =>
    rungs.map((raw) =>
      changed(raw, ({ outputs }) => ({
        outputs: outputs.map((each) => ({ ...each, script: elsewhere })),
      })),
    ),
  'pays too little': (rungs) =>
    rungs.map((raw) =>
      changed(raw, ({ outputs }) => ({
        outputs: outputs.map((each) => ({ ...each, amount: 1_000n })),
      })),
    ),
  'at once': (rungs) => rungs.map((raw) => changed(raw, () => ({ lockTime: 0 }))),
  'too early': (rungs) =>
    rungs.map((raw) => changed(raw, ({ lockTime }) => ({ lockTime: lockTime - early }))),
  final: (rungs) =>
    rungs.map((raw) =>
      changed(raw, ({ inputs }) => ({
        inputs: inputs.map((each) => ({ ...each, sequence: 0xffff_ffff })),
      })),
    ),
  'of nothing': (rungs) =>
    rungs.map((raw) =>
      changed(raw, ({ inputs }) => ({
        inputs: inputs.map((each) => ({ ...each, txid: new Uint8Array(32).fill(7) })),
      })),
    ),
  huge: ([first = '']) => [`${first}${'00'.repeat(3_000)}`],
  'too many': (rungs) => Array.from({ length: 13 }, (_, at) => rungs[at % rungs.length] as string),
  falling: (rungs) => [...rungs].reverse(),
  'badly signed': (rungs) =>
    rungs.map((raw) =>
      changed(raw, ({ witnesses = [] }) => ({
        witnesses: witnesses.map(([signature = new Uint8Array(), ...rest]) => [
          signature.map((byte, at) => (at === 20 ? byte ^ 1 : byte)),
          ...rest,
        ]),
      })),
    ),
  nonsense: () => ['zz', '00'],
};

const most = 6;

export async function plotLadder(turn: Turn): Promise<void> {
  const { world, side, deal, own, other } = turn;
  const { ladders } = world;
  const leg = ownLeg(deal, side.role);
  const tries = side.busyUntil.get('plots ladders') ?? 0;
  if (ladders === null || world.ending || tries >= most) return;
  const { chance } = ladders;
  if (!chance.hits(0.3)) return;
  const chain = own.family === 'bitcoin' ? own : other;
  const escrow = turn.view.legs[chain === own ? leg : otherOf(leg)].escrow ?? '';
  const terms = chain.plans.get(escrow);
  const coins = deepCoins(chain, escrow);
  const isBitcoin = chain.family === 'bitcoin';
  if (!isBitcoin || terms === undefined || coins.length === 0) return;
  side.busyUntil.set('plots ladders', tries + 1);
  if (chain !== own) return stealLadder(turn, escrow);
  const rungs = signLadder(chain, terms, coins.map(asOutput), keyOf(terms.refund.pubkey ?? ''));
  const right = rungs.map(({ raw }) => raw);
  if (chance.hits(0.15)) {
    const answers = await Promise.all([post(turn, leg, right), post(turn, leg, right)]);
    count(world, 'attack with a ladder twice');
    if (!answers.some(({ status }) => status === 200)) return;
    const about = { chain, escrow, terms, deal, leg, by: side.party, rungs };
    return noteStored(world, { ...about, coins: coins.map(({ txid }) => txid) });
  }
  const [name, twist] = chance.pick(Object.entries(twists));
  await mustRefuse(turn, leg, name, twist(right));
}

const otherOf = (leg: LegName): LegName => (leg === 'a' ? 'b' : 'a');

/** A ladder of somebody else's escrow, as the leg of that one and as its own. */
async function stealLadder(turn: Turn, escrow: string): Promise<void> {
  const { world, side, deal } = turn;
  const stored = [...(world.ladders?.stored.values() ?? [])];
  const theirs = stored.find((each) => each.escrow !== escrow) ?? stored[0];
  if (theirs === undefined) return;
  const right = theirs.rungs.map(({ raw }) => raw);
  const own = ownLeg(deal, side.role);
  await mustRefuse(turn, own, "somebody else's", right);
  await mustRefuse(turn, otherOf(own), "of somebody else's leg", right);
}

async function mustRefuse(turn: Turn, leg: LegName, name: string, transactions: string[]) {
  const { world, deal, side } = turn;
  const answer = await post(turn, leg, transactions);
  const { status } = answer;
  count(world, 'attack with a ladder');
  tell(world, `${side.party.name} leaves a ladder of ${deal.name}, ${name}: ${status}`);
  if (status === 200) {
    violate(world, 'only refunds of the own escrow are kept', `${deal.name}: ${name}`);
  } else if (isPutOff(answer)) return;
  else if (status >= 400 && status < 500) count(world, 'ladders refused');
  else {
    violate(world, 'what is no ladder is refused', `${deal.name}: ${name}, ${status}`);
  }
}

async function post({ world, side, deal }: Turn, leg: LegName, transactions: readonly string[]) {
  const url = `/v1/swaps/${deal.id}/legs/${leg}/refund/scheduled`;
  return ask(world, side.party, { method: 'POST', url, body: { transactions } });
}
