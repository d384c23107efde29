// Rows of docs/limits.md whose numbers no other file needs: each with the declarations, as they
// stand in the source, that make it true.

export type Declared = {
  readonly what: string;
  readonly limit: string;
  /** File by file. */
  readonly by: Readonly<Record<string, readonly string[]>>;
};

export const declared: readonly Declared[] = [
  {
    what: 'time to send headers, a request',
    limit: '15 s, 30 s (looked at every second)',
    by: {
      'server/edge/app.ts': [
        'headersTimeoutMs = 15_000;',
        'requestTimeoutMs = 30_000;',
        'slowClientCheckMs = 1_000;',
      ],
    },
  },
  {
    what: 'a connection that does not read what waits for it',
    limit: '30 s',
    by: { 'server/edge/connections.ts': ['lookMs = 5_000;', 'unreadMs = 20_000;'] },
  },
  {
    what: 'a webhook whose every attempt fails',
    limit: 'a day',
    by: { 'server/db/deliveries.ts': ["failing_since + interval '1 day'"] },
  },
  {
    what: 'budgets that a process remembers',
    limit: '100 000 of a kind',
    by: { 'server/edge/memory-buckets.ts': ['capacity = 100_000;'] },
  },
  {
    what: 'a decision on a budget by Valkey',
    limit: '100 ms',
    by: { 'server/edge/valkey-buckets.ts': ['answerLimit = 100;'] },
  },
  {
    what: 'key mints of a client network',
    limit: '20 an hour (`PARLEY_MINT_LIMIT`)',
    by: {
      'server/settings/config.ts': ["'PARLEY_MINT_LIMIT', dev ? 1_000 : 20,"],
      'server/edge/budgets.ts': ['mintWindowSeconds = 3_600;'],
    },
  },
  {
    what: 'steps of sign-ins of a client network',
    limit: '120 an hour (`PARLEY_SIGN_IN_LIMIT`)',
    by: {
      'server/settings/config.ts': ["'PARLEY_SIGN_IN_LIMIT', dev ? 10_000 : 120,"],
      'server/edge/budgets.ts': ['signInWindowSeconds = 3_600;'],
    },
  },
  {
    what: 'a sign-in that was begun',
    limit: '10 minutes; one use, in one browser',
    by: { 'server/people/bounds.ts': ['ceremonyMs = 10 * minuteMs;'] },
  },
  {
    what: 'sessions of an account',
    limit: '50; 30 days without use, 90 in all',
    by: {
      'server/people/bounds.ts': ['mostSessions = 50;', 'sessionMs = 90 * dayMs;'],
      'server/market/bounds.ts': ['idleDays = 30;'],
    },
  },
  {
    what: 'tickets for the feed that a session has at once',
    limit: '20, 30 s each; one use',
    by: { 'server/people/bounds.ts': ['mostTickets = 20;', 'ticketMs = 30_000;'] },
  },
  {
    what: 'last uses of keys and sessions that a process notes before it writes them',
    limit: '20 000, every 30 s, 500 a statement; a session once a minute',
    by: {
      'server/edge/last-uses.ts': ['mostHeld = 20_000;', 'writeEveryMs = 30_000;', 'batch = 500;'],
      'server/db/sessions.ts': ["used.at - interval '1 minute'"],
    },
  },
  {
    what: 'what a stop waits for the last of them',
    limit: '2 s',
    by: { 'server/edge/last-uses.ts': ['mostStopMs = 2_000;'] },
  },
  {
    what: 'a preflight that a browser keeps',
    limit: '7 200 s',
    by: { 'server/edge/cors.ts': ['keptSeconds = 7_200;'] },
  },
  {
    what: 'identity providers; scopes asked of one',
    limit: '20; 20',
    by: { 'server/settings/people.ts': ['mostProviders = 20;', 'mostScopes = 20;'] },
  },
  {
    what: 'an answer of an identity provider',
    limit: [
      '5 s, or `PARLEY_CHAIN_TIMEOUT_MS` where that is less; 262 144 bytes unpacked;',
      'no redirect',
    ].join(' '),
    by: { 'server/people/provider-fetch.ts': ['mostMs = 5_000;', 'mostBytes = 256 * 1024;'] },
  },
  {
    what: [
      'what is remembered of an identity provider: endpoints, keys, a failure; keys asked',
      'for again',
    ].join(' '),
    limit: 'an hour, 5 minutes, 3 s; every 10 s',
    by: {
      'server/people/provider-server.ts': [
        'metadataMs = 60 * minuteMs;',
        'keysMs = 5 * minuteMs;',
        'failureMs = 3_000;',
        'keysAgainMs = 10_000;',
      ],
    },
  },
  {
    what: 'clocks of an identity provider and of the market apart',
    limit: '2 minutes',
    by: { 'server/people/provider-server.ts': ['toleranceSeconds = 120;'] },
  },
  {
    what: 'look that a request waits for',
    limit: 'four fifths of `PARLEY_CHAIN_TIMEOUT_MS`',
    by: { 'server/listing/requests.ts': ['shareOfTime = 0.8;'] },
  },
  {
    what: 'one look at a launchpad',
    limit: '60 s; 10 000 blocks of an EVM chain, 100 of TRON, 400 transactions of Solana',
    by: {
      'server/listing/launchpads/bounds.ts': ['readMs = 60_000;'],
      'chains/evm/launches.ts': ['pageBlocks: 10_000,'],
      'chains/tron/launches.ts': ['pageBlocks: 100,'],
      'chains/solana/launches.ts': ['mostTransactions = 400;'],
    },
  },
  {
    what: 'launches after a stop',
    limit: '7 days back; on Solana 21 000 transactions too',
    by: {
      'server/listing/launchpads/bounds.ts': ['mostSecondsBack = candidateForMs / 1_000;'],
      'server/listing/bounds.ts': ['candidateForMs = 7 * dayMs;'],
      'chains/solana/launches.ts': ['mostPages = 20;'],
      'chains/solana/node.ts': ['signaturesPage = 1_000;'],
    },
  },
  {
    what: 'assets or candidates that `npm run assets` shows',
    limit: '1 000',
    by: { 'scripts/assets.ts': ['mostShown = 1_000;'] },
  },
  {
    what: 'key lifetime',
    limit: '90 days',
    by: { 'server/market/keys.ts': ['keyLifeDays = 90;'] },
  },
  {
    what: 'keys that a process remembers; those that turned out to be none',
    limit: '20 000; 20 000; a second each',
    by: {
      'server/edge/auth.ts': ['mostRemembered = 20_000;', 'mostUnknown = 20_000;'],
      'server/edge/revocations.ts': ['rememberedMs = 1_000;'],
    },
  },
  {
    what: 'look-ups of keys',
    limit: '4 queries at once, 500 keys each',
    by: { 'server/edge/auth.ts': ['{ queriesAtOnce: 4, questionsOfQuery: 500 }'] },
  },
  {
    what: 'wait of a mint for other processes to drop the replaced key',
    limit: '1 s',
    by: { 'server/edge/revocations.ts': ['rememberedMs = 1_000;'] },
  },
  {
    what: 'live keys',
    limit: '1 (wallet account), 10 (browser account)',
    by: {
      'server/market/keys.ts': [
        'mostBrowserKeys = 10;',
        "(kind === 'wallet') {\n    replaced = (await revokeKeys(tx, accountId, id, createdAt))",
      ],
    },
  },
  {
    what: 'mint, link and authorize nonces',
    limit: '5, 10, 10 minutes; one use',
    by: {
      'server/market/nonces.ts': ['mint: 300,', 'link: 600,', 'authorize: 600,'],
      'server/db/nonces.ts': ['and (used_at is null or used_by = $5) and expires_at > $4'],
    },
  },
  {
    what: 'signed message',
    limit: '4 096 characters',
    by: { 'server/market/messages.ts': ['longestMessage = 4_096;'] },
  },
  {
    what: 'wallets proven on an account',
    limit: '1 000',
    by: { 'server/market/wallets.ts': ['mostProofs = 1_000;'] },
  },
  {
    what: 'page',
    limit: '`limit` 1 to 100, default 20; threads of an RFQ default 100',
    by: {
      'server/edge/schemas/common.ts': ['pageLimit = { least: 1, most: 100, otherwise: 20 }'],
      'server/market/bounds.ts': ['threadsPage = 100;'],
    },
  },
  {
    what: 'amount',
    limit: '1 to 2^256-1 base units',
    by: { 'core/amounts.ts': ['maxAmount = 2n ** 256n - 1n;'] },
  },
  {
    what: '`ttlSeconds`',
    limit: '30 to 604 800',
    by: { 'server/market/bounds.ts': ['ttlSeconds = { least: 30, most: 604_800 }'] },
  },
  {
    what: 'prices a thread remembers',
    limit: '100, the oldest are dropped',
    by: { 'server/market/bounds.ts': ['mostMessages = 100;'] },
  },
  {
    what: 'standing acceptance',
    limit: '10 minutes (`PARLEY_ACCEPT_TTL`; in the SDK `acceptTtlSeconds`)',
    by: {
      'server/settings/config.ts': ["'PARLEY_ACCEPT_TTL', 600,"],
      'sdk/trade.ts': ['defaultAcceptTtlSeconds = 600;'],
    },
  },
  {
    what: 'escrows a leg may have had',
    limit: '20',
    by: { 'server/settle/addresses.ts': ['escrowsALeg = 20;'] },
  },
  {
    what: 'looks at what a claim on Solana left, of a swap that is over; time of one; escrows remembered',
    limit: 'one in 15 s; 500 ms; 1 000',
    by: {
      'server/settle/rent-left.ts': [
        'freshMs = 15_000;',
        'patienceMs = 500;',
        'mostEscrows = 1_000;',
      ],
    },
  },
  {
    what: 'threads that make them; work and memory of one look',
    limit: '4; 10 s, 128 MB and as much of buffers',
    by: {
      'server/listing/apart.ts': [
        'threads: 4,',
        'workMs: 10_000,',
        'memoryMb: 128,',
        'buffersMb: 128,',
      ],
    },
  },
  {
    what: 'processor time of dear requests: of an account, of a client network',
    limit: [
      '2 s and then a tenth of a core; twice that (a fifth of what',
      '`PARLEY_RATE_LIMIT_PER_NETWORK` is to `PARLEY_RATE_LIMIT`);',
      'the first 20 ms of a request pass while its network has of these 10 s and then half a core;',
      'of a party of an open swap 60 such requests a minute always pass',
    ].join(' '),
    by: {
      'server/edge/processor-time.ts': [
        'freeMs = 20;',
        'burstMs = 2_000;',
        'refillShare = 0.1;',
        'sharers = 5;',
        'free = { burstMs: 5_000, refillShare: 0.25 }',
      ],
    },
  },
  {
    what: '`Idempotency-Key`',
    limit: '255 characters',
    by: { 'server/edge/idempotency/once.ts': ['longestKey = 255;'] },
  },
  {
    what: 'first frame of a socket',
    limit: 'within 10 s, 3 tries',
    by: { 'server/edge/feed/inbox.ts': ['greetingMs = 10_000;', 'mostGreetings = 3;'] },
  },
  {
    what: 'frames of a socket being answered',
    limit: '64',
    by: { 'server/edge/feed/inbox.ts': ['mostInHand = 64;'] },
  },
  {
    what: 'answers that no budget pays for (pongs, "too many requests")',
    limit: '200 a second and socket',
    by: { 'server/edge/feed/inbox.ts': ['mostFree = 200;'] },
  },
  {
    what: 'a burst (500 frames at once and more to come)',
    limit: 'readers are waited for 250 ms after the last one got free, 2 s at most',
    by: {
      'server/edge/feed/follow.ts': ['batch = 500;'],
      'server/edge/feed/hub.ts': ['stillMs = 250;', 'mostWaitMs = 2_000;'],
    },
  },
  {
    what: 'names that the system is asked for (a hosts file)',
    limit: '2 at a time',
    by: { 'server/webhooks/send.ts': ['mostLookups = 2;'] },
  },
  {
    what: "what is read of a receiver's answer",
    limit: '16 KiB, for 1 s',
    by: { 'server/webhooks/send.ts': ['mostAnswerBytes = 16_384;', 'answerMs = 1_000;'] },
  },
  {
    what: 'chain reads of one request',
    limit: '5 s (`PARLEY_CHAIN_TIMEOUT_MS`)',
    by: { 'server/settings/config.ts': ["'PARLEY_CHAIN_TIMEOUT_MS', 5_000,"] },
  },
  {
    what: 'warnings in `next[]`',
    limit: 'read within half a second, kept for 15 s, of 1 000 escrows',
    by: {
      'server/settle/warnings.ts': [
        'patienceMs = 500;',
        'freshMs = 15_000;',
        'mostEscrows = 1_000;',
      ],
    },
  },
  {
    what: 'timelock on chain (EVM)',
    limit: '30 minutes to 30 days ahead of the funding',
    by: {
      'contracts/escrows/src/ParleyEscrows.sol': [
        'MIN_AHEAD = 30 minutes;',
        'MAX_AHEAD = 30 days;',
      ],
    },
  },
  {
    what: 'a try of a request for market data, its tries, its answer (unpacked)',
    limit: '8 s, 2, 1 MiB',
    by: {
      'server/listing/providers/http.ts': [
        'tryMs = 8_000;',
        'tries = 2;',
        'mostBytes = 1_048_576;',
      ],
    },
  },
  {
    what: "requests for market data that wait for a provider's pace",
    limit: '50, 15 s each',
    by: { 'server/listing/providers/pace.ts': ['mostWaiting = 50;', 'mostWaitMs = 15_000;'] },
  },
  {
    what: 'pause that a provider of market data asks for',
    limit: '10 minutes',
    by: { 'server/listing/providers/pace.ts': ['mostPauseMs = 600_000;'] },
  },
  {
    what: 'failures in a row of a provider of market data',
    limit: '5',
    by: { 'server/listing/providers/breaker.ts': ['mostFailures = 5;'] },
  },
  {
    what: 'time that a relay of a secret which is not public needs before `revealBy`',
    limit: 'EVM 60 s, TRON 240 s, Solana 270 s',
    by: { 'server/keeper/bounds.ts': ['relayLeadSeconds = { evm: 60, tron: 240, solana: 270 }'] },
  },
  {
    what: 'key name',
    limit: '80 characters',
    by: { 'server/market/messages.ts': ['longestName = 80;'] },
  },
  {
    what: 'quotes waiting in a process',
    limit: '10 000',
    by: { 'server/market/grouped-quotes.ts': ['mostWaiting = 10_000;'] },
  },
  {
    what: 'swaps reconciled in one pass',
    limit: '200',
    by: { 'server/settle/follow.ts': ['swaps: 200,'] },
  },
  {
    what: 'chains, nodes of an EVM, TRON or Solana chain, contracts of escrows on a chain, curated assets',
    limit: '100, 20, 8, 10 000',
    by: {
      'chains/escrows/plan.ts': ['mostContracts = 8;'],
      'server/settings/chains.ts': [
        'mostChains = 100;',
        'mostAssets = 10_000;',
        // EVM, Solana, TRON.
        'rpcUrls: Type.Array(url, { minItems: 1, maxItems: 20, uniqueItems: true }),\n    contract:',
        'rpcUrls: Type.Array(url, { minItems: 1, maxItems: 20, uniqueItems: true }),\n    program:',
        '{ minItems: 1, maxItems: 20, uniqueItems: true },',
      ],
    },
  },
  {
    what: 'stored idempotent replies',
    limit: '24 hours',
    by: { 'server/db/idempotency.ts': ['keptMs = 24 * 3_600_000;'] },
  },
  {
    what: [
      "calls of strangers' contracts (EIP-1271, EIP-6492) under way, gas of each,",
      'answer read',
    ].join(' '),
    limit: '4 a process, 3 000 000, 64 KiB',
    by: {
      'server/market/turns.ts': ['mostCalls = 4;'],
      'chains/evm/proof.ts': ['mostProofBytes = 65_536;', '(3_000_000).toString(16)'],
    },
  },
  {
    what: [
      'wait for the other nodes once one has said how many transactions of a gas key',
      'blocks have',
    ].join(' '),
    limit:
      '400 ms; above all that the key has signed, until every other one has failed, to sign 1 s',
    by: {
      'chains/evm/own-nonce.ts': ['usualOthersMs = 400;'],
      'server/keeper/bounds.ts': ['countMs = 1_000;'],
    },
  },
  {
    what: [
      'parts of `npm run doctor` in which the database may be silent, reads of one kind that',
      'a chain may fail in a row',
    ].join(' '),
    limit: '2, 3',
    by: {
      'server/doctor/parts.ts': ['silentParts = 2;'],
      'server/doctor/reads.ts': ['failedReads = 3;'],
    },
  },
  {
    what: 'chains whose nodes `npm run doctor` asks at once',
    limit: '8',
    by: { 'server/doctor/nodes.ts': ['parallel = 8;'] },
  },
];
