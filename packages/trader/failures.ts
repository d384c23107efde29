// The errors that may end a command, by class: the exit status tells a script what to do next
// (docs/cli.md).

import {
  CodedError,
  codeOf,
  messageOf,
  ParleyApiError,
  RescueError,
  SettleError,
  StoreError,
  VerificationError,
} from '@parley/sdk/errors.ts';

export const statuses = {
  done: 0,
  /** A fault of this program. */
  fault: 1,
  usage: 2,
  refused: 3,
  market_unavailable: 4,
  not_verified: 5,
  chain_unavailable: 6,
  needs_you: 7,
  /** A swap ended, and this side was not paid: it is refunded, lost, or nothing moved. */
  not_received: 8,
  /** A file or port of this machine: missing, damaged, or in use by another process. */
  local: 9,
  /** No quote kept the bound in time, or its maker did not accept. */
  no_quote: 10,
  interrupted: 130,
} as const;

export type FailureClass = Exclude<keyof typeof statuses, 'done'>;

export class Failure extends CodedError<string> {
  override name = 'Failure';
  readonly class: FailureClass;

  constructor(of: FailureClass, code: string, sentence: string, options?: ErrorOptions) {
    super(code, sentence, options);
    this.class = of;
  }
}

export const misused = (sentence: string) => new Failure('usage', 'usage', sentence);
export const needsYou = (code: string, sentence: string) =>
  new Failure('needs_you', code, sentence);

/** As a script and a person read it. Holds no secret: errors of the SDK hold none. */
export type Told = {
  readonly class: FailureClass;
  readonly code: string;
  readonly sentence: string;
  /** The id of an answer of the market. */
  readonly requestId?: string;
};

export function toldOf(error: unknown): Told {
  const sentence = error instanceof Failure ? error.message : messageOf(error);
  const code = codeOf(error);
  const told = { class: classOf(error), code: code ?? classOf(error) };
  // Such as one that was revoked after this program kept it.
  const way = code === 'key_invalid' ? ': run "parley login"' : '';
  if (!(error instanceof ParleyApiError) || error.requestId === null) {
    return { ...told, sentence: sentence + way };
  }
  const { requestId, status } = error;
  // A fault of the market: the request id is for its operator. Its own sentence may name it
  // already.
  const isNamed = status < 500 || sentence.includes(requestId);
  const whole = isNamed ? sentence + way : `${sentence} (request ${requestId})`;
  return { ...told, sentence: whole, requestId };
}

/** Files and ports of the machine, by the codes of Node. */
const ofFiles =
  /^(?:EACCES|EADDRINUSE|ENOENT|ENOSPC|EROFS|EEXIST|EISDIR|ENOTDIR|EPERM|EIO|EMFILE)$/;
/** The errors of a node behind viem, and of fetch that was given up. */
const ofNodes = /^(?:HttpRequestError|RpcRequestError|TimeoutError|WebSocketRequestError)$/;

function classOf(error: unknown): FailureClass {
  if (error instanceof Failure) return error.class;
  if (error instanceof ParleyApiError) return error.unreachable ? 'market_unavailable' : 'refused';
  if (error instanceof VerificationError) return 'not_verified';
  if (error instanceof StoreError) return 'local';
  if (error instanceof RescueError) return classOfRescue(error);
  if (error instanceof SettleError) return 'needs_you';
  if (!(error instanceof Error)) return 'fault';
  const kind = 'kind' in error && 'facts' in error ? String(error.kind) : null;
  if (kind !== null) return classOfChain(kind, codeOf(error) ?? '');
  if (ofFiles.test(codeOf(error) ?? '')) return 'local';
  return ofNodes.test(error.name) ? 'chain_unavailable' : 'fault';
}

function classOfRescue({ code }: RescueError): FailureClass {
  return code === 'bad_phrase' || code === 'clock_unset' ? 'needs_you' : 'local';
}

/** Refusals of adapters and of amounts have the kinds of the market's own. */
function classOfChain(kind: string, code: string): FailureClass {
  if (code === 'refused_by_node') return 'chain_unavailable';
  if (kind === 'timeout' || kind === 'unavailable') return 'chain_unavailable';
  return kind === 'invalid' ? 'usage' : 'needs_you';
}
