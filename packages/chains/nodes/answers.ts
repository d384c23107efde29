// The errors of nodes and of gateways before them mean these, for every family and provider. The
// words of real ones are in answers.test.ts.

import { turnsAway } from './exchange.ts';

export type Said = {
  readonly words: string;
  /** JSON-RPC's or java-tron's; without, the words alone decide. */
  readonly code?: number | string;
  /** HTTP's; without, it is 200. */
  readonly status?: number;
};

/**
 * `turned away`: no node has heard it. `busy`: one may have, and says nothing of it for now.
 * `barred`: the same for long, as our key may not. `lagging`: it lacks a block or its state.
 * `other block`: the transaction names a block that this machine lacks, or one that is too old.
 * `reverted`: a contract's answer, the same at every node. `known`: it has these bytes. `too
 * cheap`: it takes no transaction at such a fee. `no`: any other refusal of the node's own.
 */
export type Meaning =
  | 'turned away'
  | 'busy'
  | 'barred'
  | 'lagging'
  | 'other block'
  | 'reverted'
  | 'known'
  | 'too cheap'
  | 'no';

const anyOf = (...words: readonly string[]) => new RegExp(words.join('|'), 'i');

/** java-tron's names of its answers to a transaction. The words of some are a contract's. */
const byName: ReadonlyMap<unknown, Meaning> = new Map([
  ['DUP_TRANSACTION_ERROR', 'known'],
  ['TAPOS_ERROR', 'other block'],
  ['NO_CONNECTION', 'busy'],
  ['NOT_ENOUGH_EFFECTIVE_CONNECTION', 'busy'],
  ['SERVER_BUSY', 'busy'],
  ['BLOCK_UNSOLIDIFIED', 'lagging'],
  ['SIGERROR', 'no'],
  ['CONTRACT_VALIDATE_ERROR', 'no'],
  ['CONTRACT_EXE_ERROR', 'no'],
  ['BANDWITH_ERROR', 'no'],
  ['TOO_BIG_TRANSACTION_ERROR', 'no'],
  ['TRANSACTION_EXPIRATION_ERROR', 'no'],
]);

/** A Solana node finds these when it tries a transaction; further words of it are a program's. */
const triedBefore = /already been processed|AlreadyProcessed/;
const triedTooSoon = /Blockhash not found|BlockhashNotFound/;

/** A contract or program may have any words behind these. */
const reverted = anyOf(
  'revert|out ?of ?gas|gas required|exceeds allowance|opcode|EVM error|VM (execution|exception)',
  'stack ?(under|over)flow|(invalid|bad) ?jump|bad ?instruction|gas uint64|out of bounds',
  'write protection|code ?size|simulation failed|custom program error',
);
/** Geth's code of a revert. */
const revertCode = 3;
/** Nethermind's; Solana: a version that was not asked for. Gateways use it for other things. */
const ofTheQuestionCode = -32_015;

const known = anyOf(
  'already ?known|already_exists|\\bknown transaction|already imported|existing tx with same hash',
  '(transaction|tx|hash \\S+|hash) (is )?already (exists?|in)\\b',
);

const cheap = anyOf(
  'under ?priced|base ?fee(?! sub-pool)|fee ?(is )?too ?low|(fee ?cap|tip( ?cap)?) (is )?too low',
  "gas ?prices?( supplied| '\\d+')? (is )?(too low|below|less than|lower than)",
  'minimum global fee',
  'fee per gas (is )?(too low|below|less than|lower than)',
  'could not replace existing|replacement ?not ?allowed|replacement ?gas ?too ?low',
  'due to limit. try increasing the fee',
);

/** Providers say these of how much is asked. Nodes limit transactions in other words. */
const overLimit = anyOf(
  'too many (concurrent |open )?(request|call|connection)s?\\b|throttl|quota|ratelimit',
  '(?<!gas )\\b(rate|requests?|calls?|frequency|throughput|usage|capacity|credits?|c?[ru]ps)[ -]limit',
  '(daily|monthly|hourly) (limit|quota|usage)|query frequency',
  '(rate|request count) exceeded|requests limited|usage reached|concurrent requests|over capacity',
  '(compute units|credits|requests?|calls?) per (sec|min|hour|day|month)|user balance exceeded',
  'upgrade your (account|plan|tier)|lack of computing resources|server is suspended',
);
const barred = /api[ -]?key|project id|access key|must be authenticated|^unauthori[sz]ed/i;
/** These of java-tron and TronGrid come without a code. */
const beforeTheNode = /lack of computing resources|server is suspended|query frequency/;
/** An op-geth hands on what its sequencer answered: it has heard the bytes itself. */
const handedOn = /^\d{3} /;
/** Codes of gateways that limit, and codes that nodes use for other things. */
const limitCodes: ReadonlySet<unknown> = new Set([
  429, -32_005, -32_016, -32_029, -32_090, -32_097, -32_429,
]);
const sharedCodes: ReadonlySet<unknown> = new Set([15, -32_003, -32_007, -32_012, -32_017]);

/** They are of the question, though with a limit's code or words (Besu; providers, of logs). */
const ofTheQuestion = anyOf(
  '\\bgas\\b|\\brange|batch|\\bresults?\\b|\\blogs?\\b|\\bsize|blob|nonce|signature|chain ?id',
  'insufficient (funds|balance)|(account|transfer|transaction) limit|pooled',
);

const lagging = anyOf(
  '(header|block) not found|unknown block|missing trie node|state (is )?(not |un)available',
  'indexing is in progress|block is out of range',
);

const busy = anyOf(
  'try again|please retry|retry (in|after|later)|timed?[ -]?out|deadline exceeded|overload',
  'temporar(y|ily)|(service|resource|currently|code =) unavailable|unable to complete',
  'cannot fulfill',
  'no (available |synced )?(backend|server|provider|node)s?\\b|upstream|not healthy|bad gateway',
  'backend (is |request |returned )?(offline|failed|an invalid)|suitable provider',
  'prevented the request|connection (refused|reset|error)|ECONN|\\bEOF$|context canceled|\\bbusy\\b',
  'broken pipe|no such host|socket hang up|getaddrinfo|network error|GOAWAY|shutting down',
  '^internal (json-rpc |server )?error(\\.|,|$)|loading block|verifying blocks|work queue depth',
  'refusing to proxy|\\bdaemon\\b',
  // An op-geth hands on the status that its sequencer gave, and its body.
  '^(40[138]|5\\d\\d) [A-Z<]',
  // bitcoind says this while it starts; an Esplora hands it on with its words or without.
  'RPC error(: \\{"code": ?| )-28\\b|^failed to send raw transaction$',
  // java-tron says these of what is behind it.
  'StatusRuntimeException|RejectedExecution',
  'too much load|not (yet )?(in sync|synced|ready|connected)',
  '(pool|queue) ?is ?full|node is (behind|unhealthy)|context slot|\\bsyncing',
  'initial (block )?(sync|download)',
);

export function meaningOf({ words, code = 0, status = 200 }: Said): Meaning {
  if (turnsAway(status)) return 'turned away';
  if (status > 500) return 'busy';
  const named = byName.get(code);
  if (named !== undefined) return named;
  if (triedBefore.test(words)) return 'known';
  if (triedTooSoon.test(words)) return 'other block';
  if (code === revertCode || reverted.test(words)) return 'reverted';
  if (known.test(words)) return 'known';
  if (cheap.test(words)) return 'too cheap';
  if (overLimit.test(words)) {
    const isGateways = limitCodes.has(code) || sharedCodes.has(code) || beforeTheNode.test(words);
    return isGateways && !handedOn.test(words) ? 'turned away' : 'busy';
  }
  if (barred.test(words)) return 'barred';
  if (lagging.test(words)) return 'lagging';
  if (!ofTheQuestion.test(words)) {
    if (busy.test(words)) return 'busy';
    if (limitCodes.has(code)) return 'turned away';
  }
  return code === ofTheQuestionCode ? 'reverted' : 'no';
}

/** Whether it says nothing of bytes that a node may have heard. */
export function isNotOfBytes(meaning: Meaning): boolean {
  return meaning === 'busy' || meaning === 'barred' || meaning === 'lagging';
}

/** Whether a refusal in this sentence is for its fee: waiting at that fee is of no use. */
export function saysFeeTooLow(sentence: string): boolean {
  return cheap.test(sentence);
}
