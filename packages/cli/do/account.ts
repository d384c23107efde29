// `parley login`, `whoami` and `words`: keys, and the account that they sign in to.

import { resolve } from 'node:path';
import { type Family, factsOf, has } from '@parley/core/families.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { Scope } from '@parley/sdk/types.ts';
import { minted, takeKeyFile } from '@parley/trader/account.ts';
import { shownAmount } from '@parley/trader/assets.ts';
import { coinSourceOf } from '@parley/trader/chains.ts';
import { misused, needsYou } from '@parley/trader/failures.ts';
import { answer, type Cli, mustConfirm, note, passphraseOf } from '@parley/trader/io.ts';
import { mustBePassphrase, type Sealed, sealed } from '@parley/trader/keys/keystore.ts';
import { keysOf, mustBeSecret, mustBeWords, newWords } from '@parley/trader/keys/words.ts';
import { readUpTo, writePrivate } from '@parley/trader/places.ts';
import {
  inSession,
  keysIn,
  type Session,
  sealedIn,
  signedIn,
  unlockedBy,
} from '@parley/trader/session.ts';
import { ageOf, tableOf } from '@parley/trader/show.ts';

const nodeMs = 15_000;
/** Places, from 0 on, of words that were shown and are asked for. */
const askedWords = [1, 5, 9];

/** Where words come from that are typed, or read from a descriptor. */
export type Typed = { readonly words?: true; readonly wordsFd?: number };
type Sources = Typed & {
  readonly new?: true;
  readonly web3?: string;
  readonly keyFile?: string;
};
type Login = Sources & {
  readonly with?: Family;
  readonly scope?: readonly Scope[];
  readonly name?: string;
};

const sources: Readonly<Record<keyof Sources, string>> = {
  new: '--new',
  words: '--words',
  wordsFd: '--words-fd',
  web3: '--web3',
  keyFile: '--key-file',
};

export const login = (cli: Cli, given: Login) =>
  inSession(cli, async (session) => {
    const names = Object.keys(sources) as (keyof Sources)[];
    const from = names.filter((each) => given[each] !== undefined);
    const { places, profile } = session;
    const file = profile.keyFile ?? places.keystore;
    const isThere = (await readUpTo(file)) !== null;
    if (isThere && from.length > 0) {
      const sentence = `${file} is there already: without ${flagsOf(from)} its keys sign in`;
      throw needsYou('keys_exist', `${sentence}. Other keys belong into another profile`);
    }
    mustBeOne(from);
    if (!isThere && from.length === 0) {
      const sentence = 'there are no keys yet: say --new, --words, --web3 FILE or --key-file FILE';
      throw needsYou('no_keys', sentence);
    }
    const keys = isThere ? await keysIn(cli, session) : await madeKeys(cli, session, given);
    const own = await unlockedBy(session, keys);
    const made = await minted(session, own, {
      by: given.with,
      name: given.name,
      scopes: given.scope,
    });
    answer(
      cli,
      {
        userId: made.userId,
        key: made.prefix,
        expiresAt: made.expiresAt,
        addresses: made.addresses,
      },
      [
        `signed in as ${made.userId}; API key ${made.prefix}…, until ${made.expiresAt}`,
        ...Object.entries(made.addresses).map(([chain, address]) => `  ${chain}: ${address}`),
      ].join('\n'),
    );
  });

/** New words may go into a key file; all else is one or the other. */
function mustBeOne(from: readonly (keyof Sources)[]): void {
  const places = from.filter((each) => !(each === 'new' && from.includes('keyFile')));
  if (places.length < 2) return;
  throw misused(`${flagsOf(places)} are several places of keys: say one of them`);
}

const flagsOf = (from: readonly (keyof Sources)[]) =>
  from.map((each) => sources[each]).join(' and ');

async function madeKeys(cli: Cli, session: Session, given: Sources) {
  const { places, profile } = session;
  const isNew = given.new === true;
  await mustBelongHere(cli, session, given);
  if (given.keyFile !== undefined)
    return takeKeyFile(cli, session, resolve(cli.cwd, given.keyFile), isNew);
  const opened = given.web3 === undefined ? null : await openedWeb3(cli, given.web3);
  const areDrawn = isNew || opened !== null;
  const words = areDrawn ? newWords() : await typedWords(cli, given);
  mustBeSecret(words, profile.network);
  const passphrase =
    opened?.passphrase ?? (await passphraseOf(cli, 'Passphrase of the new keystore: ', true));
  mustBePassphrase(passphrase);
  if (areDrawn) await mustBeWrittenDown(cli, words);
  const content: Sealed = opened === null ? { words } : { words, imported: opened.imported };
  await writePrivate(places.keystore, await sealed(content, passphrase), { isNew: true });
  note(cli, `wrote ${places.keystore}`);
  return keysOf(words, profile.network, content.imported);
}

/** The EVM key of a Web3 keystore. Its passphrase becomes that of the keystore here. */
async function openedWeb3(cli: Cli, file: string) {
  const text = await readUpTo(resolve(cli.cwd, file));
  if (text === null) throw misused(`there is no file ${file}`);
  const { openWeb3 } = await import('@parley/trader/keys/web3.ts');
  const passphrase = await passphraseOf(cli, `Passphrase of ${file}: `);
  return { passphrase, imported: { evm: openWeb3(text, passphrase) } };
}

/** Real words on a network of play money, and real money under words that lie open. */
async function mustBelongHere(cli: Cli, { profile }: Session, given: Sources): Promise<void> {
  const { network, market, productName } = profile;
  const isOpen = given.keyFile !== undefined;
  const isNew = given.new === true;
  if (network !== 'mainnet' && !isNew) {
    const plan = [
      `${productName} at ${market} calls itself a ${network} network: its coins are worth nothing.`,
      'Words of a real wallet do not belong here: its operator links their addresses with you.',
    ];
    await mustConfirm(cli, plan, 'Use words of your own, and not --new?');
  }
  if (network === 'mainnet' && isOpen) {
    const plan = ['On a real network whoever reads that file takes every coin of its words.'];
    await mustConfirm(cli, plan, 'Keep them in the clear, and not in a keystore?');
  }
}

/** From a descriptor, else asked; never an argument. */
export async function typedWords(cli: Cli, { wordsFd }: Typed): Promise<string> {
  if (wordsFd !== undefined) return mustBeWords(await cli.readDescriptor(wordsFd));
  if (!cli.isAsked) {
    throw needsYou('not_asked', 'the words have to be typed: give --words-fd N, or a terminal');
  }
  return mustBeWords(await cli.askHidden('Your words, with blanks between them: '));
}

/** A person who has not written them down loses the funds in swaps with the machine. */
async function mustBeWrittenDown(cli: Cli, words: string): Promise<void> {
  if (!cli.isAsked)
    return note(cli, 'the new words are in the keystore: "parley words" shows them');
  const each = words.split(' ');
  note(cli, 'Write these words down, on paper. They bring back wallets and open swaps:\n');
  note(cli, `${each.map((word, at) => `  ${String(at + 1).padStart(2)} ${word}`).join('\n')}\n`);
  if (cli.yes) return;
  for (const at of askedWords) {
    const typed = (await cli.askHidden(`Word ${at + 1}: `)).trim().toLowerCase();
    if (typed === each[at]) continue;
    throw needsYou('words_differ', `that is not word ${at + 1}: this program made nothing`);
  }
}

export const words = (cli: Cli) =>
  inSession(cli, async (session) => {
    const plan = ['A person who sees these words can take every coin of these wallets.'];
    await mustConfirm(cli, plan, 'Show them?');
    const { words: shown, imported } = await sealedIn(cli, session);
    if (imported !== undefined) note(cli, 'the EVM key was imported: it is not in the words');
    const { rescue } = await keysOf(shown, session.profile.network);
    const lines = rescue === shown ? [shown] : [shown, `rescue words: ${rescue}`];
    answer(cli, { words: shown, rescue }, lines.join('\n'));
  });

type Held = { readonly asset: string; readonly address: string; readonly amount: bigint | null };

export const whoami = (cli: Cli) =>
  inSession(cli, async (session) => {
    const { client, account } = await signedIn(session);
    const me = await client.me();
    const held: Held[] = [];
    const silent: string[] = [];
    const each = Object.entries(account.addresses).map(async ([chain, address]) => {
      try {
        held.push(...(await holdings(session, chain, address)));
      } catch (error) {
        silent.push(`${chain}: ${messageOf(error)}`);
      }
    });
    await Promise.all(each);
    // As they came, by whichever node was first.
    held.sort((one, other) => (one.asset < other.asset ? -1 : 1));
    const names = held.map(({ asset, address, amount }) => {
      const own = { name: asset, decimals: decimalsOf(session, asset) };
      return [amount === null ? `? ${asset}` : shownAmount(amount, own), address];
    });
    for (const line of silent) note(cli, line);
    const { userId, scopes: may } = me;
    const { prefix, expiresAt } = account;
    const lines = [
      `${userId} at ${account.market}`,
      `API key ${prefix}… (${may.join(', ')}), ends ${ageOf(expiresAt, session.now())}`,
      tableOf(['holds', 'address'], names),
    ];
    answer(
      cli,
      {
        userId,
        scopes: may,
        market: account.market,
        key: { prefix, expiresAt },
        held,
        wallets: me.wallets,
      },
      lines.join('\n'),
    );
  });

function decimalsOf({ profile }: Session, asset: string): number {
  const [chain = '', symbol] = asset.split(':');
  const of = profile.chains[chain];
  if (of === undefined) return 0;
  return symbol === undefined
    ? factsOf[of.family].coin.decimals
    : (of.tokens[symbol]?.decimals ?? 0);
}

async function holdings(session: Session, chain: string, address: string): Promise<Held[]> {
  const { adapter } = await session.source(chain);
  const signal = AbortSignal.timeout(nodeMs);
  const of = session.chain(chain);
  const coin = await coinsOf(session, chain, address, signal);
  const tokens = Object.entries(of.tokens).map(async ([symbol, { address: token }]) => {
    const refund = { address, pubkey: null };
    const amount = (await adapter.held?.({ token, refund }, signal)) ?? null;
    return { asset: `${chain}:${symbol}`, address, amount };
  });
  return [{ asset: chain, address, amount: coin }, ...(await Promise.all(tokens))];
}

async function coinsOf(session: Session, chain: string, address: string, signal: AbortSignal) {
  const of = session.chain(chain);
  const { adapter } = await session.source(chain);
  if (!has(of, 'coins')) return (await adapter.coins?.(address, signal)) ?? null;
  const coins = await (await coinSourceOf(chain, of)).coins(address, signal);
  return coins.reduce((sum, { amountSats }) => sum + amountSats, 0n);
}
