// The errors that end a tool: a code, its facts, and one sentence of ours. The words of the market
// or a node are data of others, and are marked so.

import { ParleyApiError } from '@parley/sdk/errors.ts';
import { Failure, type FailureClass, toldOf } from '@parley/trader/failures.ts';
import { type Foreign, foreign } from './foreign.ts';

export type Facts = Readonly<Record<string, string | number | boolean | null>>;

/** A refusal of this server, with the numbers of it. */
export class Refusal extends Failure {
  override name = 'Refusal';
  readonly facts: Facts;

  constructor(
    of: FailureClass,
    code: string,
    sentence: string,
    facts: Facts = {},
    options?: ErrorOptions,
  ) {
    super(of, code, sentence, options);
    this.facts = facts;
  }
}

type ToldError = {
  readonly code: string;
  readonly class: FailureClass;
  readonly sentence: string;
  readonly facts: Facts;
  /** In the words of the market or a node. */
  readonly said?: Foreign;
};

export const howToSignIn = 'run "parley login", or give --api-key-file';

/** Holds no secret: errors of the SDK hold none. */
export function errorOf(error: unknown): ToldError {
  const { code, class: of, sentence: whole } = toldOf(error);
  const sentence = foreign(whole, mostSaid).untrusted;
  if (error instanceof Refusal) return { code, class: of, sentence, facts: error.facts };
  if (error instanceof Failure) return { code, class: of, sentence, facts: {} };
  if (error instanceof ParleyApiError) {
    const { status, retryAfterSeconds } = error;
    const facts = { status, retryAfterSeconds };
    const answered = code === 'key_invalid' ? `401: ${howToSignIn}` : `${status}`;
    const own = status === 0 ? 'the market did not answer' : `the market answered ${answered}`;
    return {
      code: foreign(code, 60).untrusted,
      class: of,
      sentence: own,
      facts,
      said: said(error),
    };
  }
  return { code, class: of, sentence: sentences[of] ?? 'it failed', facts: {}, said: said(error) };
}

const sentences: Partial<Record<FailureClass, string>> = {
  not_verified: 'the market says something else than the own terms: this server signed nothing',
  chain_unavailable: 'a node of the profile does not answer, or refused',
  needs_you: 'a person is needed',
  local: 'a file of this machine is missing, damaged or in use',
  fault: 'a fault of this program',
  usage: 'the input is not understood',
};

const mostSaid = 400;

function said(error: unknown): Foreign {
  return foreign(error instanceof Error ? error.message : String(error), mostSaid);
}
