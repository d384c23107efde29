// The part of the world that a command reaches: two streams, a person who may be asked, the
// environment. Answers go to standard output, all else to standard error.

import { Failure, needsYou, type Told } from './failures.ts';
import type { Env } from './places.ts';
import { harmless, oneLine } from './show.ts';

export type Io = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether a person can be asked. */
  readonly isAsked: boolean;
  readonly env: Env;
  readonly cwd: string;
  /** Aborts when the person interrupts. */
  readonly signal: AbortSignal;
  readonly ask: (question: string) => Promise<string>;
  /** The terminal shows nothing of the answer. */
  readonly askHidden: (question: string) => Promise<string>;
  /** Up to its end, at most 64 KiB. */
  readonly readDescriptor: (descriptor: number) => Promise<string>;
};

export type Globals = {
  readonly profile: string | undefined;
  readonly json: boolean;
  readonly yes: boolean;
  readonly passphraseFd: number | null;
};

export type Cli = Io & Globals;

/** Amounts are bigint; on the wire they are decimal strings. No terminal acts on what it shows. */
export function jsonOf(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? part.toString() : part,
  );
  return text.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The one answer of a command: a JSON document, or text for a person. */
export function answer(cli: Cli, value: unknown, text: string): void {
  cli.out(cli.json ? `${jsonOf(value)}\n` : text === '' ? '' : `${harmless(text)}\n`);
}

/** One of many, of a command that goes on: a JSON line, or a line for a person. */
export const tell = answer;

export function note(cli: Pick<Cli, 'err'>, text: string): void {
  cli.err(`${harmless(text)}\n`);
}

export function failed(cli: Pick<Cli, 'err' | 'json'>, told: Told): void {
  cli.err(cli.json ? `${jsonOf({ error: told })}\n` : harmless(`parley: ${told.sentence}\n`));
}

/**
 * Shows what will be done and asks. Throws Failure `not_asked` where nobody can be, and `declined`.
 */
export async function mustConfirm(
  cli: Pick<Cli, 'yes' | 'isAsked' | 'ask' | 'err'>,
  plan: readonly string[],
  question: string,
) {
  if (plan.length > 0) note(cli, plan.map(oneLine).join('\n'));
  if (cli.yes) return;
  if (!cli.isAsked) {
    const sentence = `"${question}" has to be answered: give --yes, or run it in a terminal`;
    throw needsYou('not_asked', sentence);
  }
  const said = (await cli.ask(`${question} [y/N] `)).trim().toLowerCase();
  if (said === 'y' || said === 'yes') return;
  throw needsYou('declined', 'the answer was no: the command did nothing');
}

/** From the descriptor that `--passphrase-fd` names, else asked; never an argument. */
export async function passphraseOf(cli: Cli, question: string, isNew = false): Promise<string> {
  if (cli.passphraseFd !== null) {
    const text = (await cli.readDescriptor(cli.passphraseFd)).replace(/\r?\n$/, '');
    if (!/[\r\n]/.test(text)) return text;
    throw new Failure('usage', 'usage', 'the passphrase must be one line');
  }
  if (!cli.isAsked) {
    const sentence =
      'the keystore wants a passphrase: give --passphrase-fd N, or run in a terminal';
    throw needsYou('not_asked', sentence);
  }
  const first = await cli.askHidden(question);
  if (!isNew || first === (await cli.askHidden('Once more: '))) return first;
  throw needsYou('passphrases_differ', 'the two passphrases differ: this program made nothing');
}
