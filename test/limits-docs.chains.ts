// Rows of docs/limits.md that chains and the SDK alone make true, as limits-docs.declared.ts has
// the rest.

import type { Declared } from './limits-docs.declared.ts';

export const declaredByChains: readonly Declared[] = [
  {
    what: ['a Solana transaction that a node lists and does not give, while it gives others'].join(
      ' ',
    ),
    limit: 'asked for 20 times',
    by: { 'chains/solana/launches.ts': ['mostTries = 20;'] },
  },
  {
    what: 'payments and spends kept of one Bitcoin escrow',
    limit: '500',
    by: { 'chains/bitcoin/escrow-index.ts': ['maxRecordsPerEscrow = 500;'] },
  },
  {
    what: [
      'second Bitcoin source: asked before a signed refund is sent, waited for where it is silent,',
      'for so many ladders; asked for claims that the first forgot',
    ].join(' '),
    limit: '3 s, 30 minutes (then 500 ms), 10 000; 1 s',
    by: {
      'chains/bitcoin/second-look.ts': [
        'secondPatienceSeconds = 30 * 60;',
        'secondMs = 3_000;',
        'hastyMs = 500;',
        'mostWaiting = 10_000;',
      ],
      'chains/bitcoin/follower.ts': ['otherMs = 1_000;'],
    },
  },
  {
    what: "price of the escrow's account that a gas key follows on Solana, of a compute unit",
    limit: '10 lamports',
    by: { 'chains/solana/gas-policy.ts': ['reserveUnitPrice: 10_000_000n }'] },
  },
  {
    what: 'inputs of one Bitcoin refund',
    limit: '50, the largest',
    by: { 'chains/bitcoin/spending.ts': ['mostInputs = 50;'] },
  },
  {
    what: 'inputs, outputs and entries of one map of a PSBT that is read',
    limit: '50, 10, 16',
    by: { 'chains/bitcoin/psbt.ts': ['mostOutputs = 10;', 'mostEntries = 16;'] },
  },
  {
    what: 'a PSBT',
    limit: "400 000 characters (over HTTP the body's limit comes first)",
    by: { 'chains/bitcoin/psbt.ts': ['maxPsbtCharacters = 400_000;'] },
  },
  {
    what: 'escrows asked about in one pass of an Esplora server',
    limit: '20',
    by: { 'chains/bitcoin/esplora-backend.ts': ['addressesPerPass = 20;'] },
  },
  {
    what: 'wait of a read for the history of a Solana escrow',
    limit: '500 ms; 5 s where its account is gone and nothing else tells how it ended',
    by: {
      'chains/solana/watch.ts': ['usualHistoryWaitMs = 500;'],
      'chains/solana/history.ts': ['goneWaitMs = 5_000;'],
    },
  },
  {
    what: 'history of a Solana escrow',
    limit: [
      '1 000 transactions and 5 pages a look, 10 s for lists and 4 s for the rest; 256',
      'that a node does not give',
    ].join(' '),
    by: {
      'chains/solana/history.ts': [
        'mostTransactions = 1_000;',
        'mostPages = 5;',
        'listsMs = 10_000;',
        'lookMs = 4_000;',
        'mostMissing = 256;',
      ],
    },
  },
  {
    what: 'Solana transactions that a node is late with',
    limit: [
      '2 s in a look, then 30 s; 32 at once, 12 of an escrow, 8 of the program; 8 MiB',
      'each',
    ].join(' '),
    by: {
      'chains/solana/history.ts': ['oneMs = 2_000;', 'mostAsking = 12;'],
      'chains/solana/program.ts': ['oneMs = 2_000;', 'mostAsking = 8;'],
      'chains/solana/late.ts': ['lateMs = 30_000;', 'mostBytes = 8 * 2 ** 20;'],
      'chains/solana/watch.ts': ['[mostLate, mostHunts] = [32, 8];'],
    },
  },
  {
    what: 'search for a buried Solana claim',
    limit: '8 at once, 5 000 transactions listed, a turn of 60 s',
    by: {
      'chains/solana/hunt.ts': ['mostListed = 5_000;', 'turnMs = 60_000;'],
      'chains/solana/watch.ts': ['[mostLate, mostHunts] = [32, 8];'],
    },
  },
  {
    what: 'transactions of the Solana program in one look',
    limit: [
      '5 pages, 1 000 read, 10 s; one that a node does not give, or looks that do not',
      'keep up, 30 s',
    ].join(' '),
    by: {
      'chains/solana/program.ts': [
        'mostPages = 5;',
        'mostTransactions = 1_000;',
        'programMs = 10_000;',
        'patienceSeconds = 30;',
      ],
    },
  },
  {
    what: 'Bitcoin fee',
    limit: [
      "from what the node's mempool takes (at least 1 sat/vB) to 500 sat/vB and a",
      'quarter of the value',
    ].join(' '),
    by: {
      'chains/bitcoin/fees.ts': [
        'floorSatPerVbyte: 1,',
        'capSatPerVbyte: 500,',
        'capShareBps: 2_500n,',
      ],
    },
  },
  {
    what: 'lanes of a funder that are looked at for one that is ready',
    limit: '16 beside the leg’s own',
    by: { 'server/settle/ready-lane.ts': ['mostOthers = 16;'] },
  },
  {
    what: 'uses of a lane',
    limit: '1 073 741 823',
    by: {
      'server/db/lanes.ts': ['mostUses = 2 ** 30 - 1;'],
      'sdk/verify.ts': ['mostUses = 2 ** 30 - 1;'],
    },
  },
  {
    what: 'life of unsigned TRON and Solana transactions',
    limit: '10 minutes, about one (`validUntil`)',
    by: {
      'chains/tron/policy.ts': ['signSeconds: 600,'],
      'chains/solana/read.ts': ['blockhashAge = 150;'],
    },
  },
  {
    what: [
      'wait for the other nodes once one has said what blocks of an EVM chain take; blocks',
      'that nodes may be apart',
    ].join(' '),
    limit: '400 ms; 64',
    by: { 'chains/evm/gas-present.ts': ['othersMs = 400;', 'reachBlocks = 64;'] },
  },
  {
    what: 'the one price of an EVM chain without a base fee',
    limit: 'twice `reserveFeePerGas`',
    by: { 'chains/evm/gas-present.ts': ['believedPrices = 2n;'] },
  },
  {
    what: [
      "the SDK: what a customer's node is waited for, a transaction kept and not yet seen",
      'counts as on its way',
    ].join(' '),
    limit: '15 s (`chainTimeoutMs`), 35 s',
    by: {
      'sdk/settle/context.ts': ['limitMs = input.chainTimeoutMs ?? 15_000;'],
      'sdk/settle/hands/nonces.ts': ['onItsWayMs = 35_000;'],
    },
  },
  {
    what: 'the SDK: what one read or write of its store is waited for',
    limit: 'a third of `chainTimeoutMs`',
    by: { 'sdk/settle/context.ts': ['storeShare = 1 / 3;'] },
  },
  {
    what: 'what an EVM node gives: digits of a number, an answer that is one, a head, code or fees',
    limit: '64 (hex), 16 KiB, 8 MiB',
    by: {
      'chains/nodes/rpc.ts': [
        '/^0x[0-9a-f]{1,64}$/i',
        'mostBytes: 16 * 2 ** 10',
        'mostBytes: 8 * 2 ** 20',
      ],
    },
  },
  {
    what: 'escrows of one look at a chain: a leg’s own and those that it moved off',
    limit: '50',
    by: { 'chains/kit/watching.ts': ['mostEscrows = 50;'] },
  },
  {
    what: 'views that a TRON node is asked together; energy of each',
    limit: '64; 200 000',
    by: { 'chains/tron/views.ts': ['mostTogether = 64;', 'viewEnergy = 200_000;'] },
  },
  {
    what: [
      'the SDK’s `settleMany`: escrows of one transaction, its gas; raises of one; swaps looked',
      'at at once',
    ].join(' '),
    limit: '20 (`most`), 500 000 (Arbitrum 5 000 000); 5; 8',
    by: {
      'chains/escrows/batch.ts': ['mostInBatch = 20;'],
      'sdk/settle-many.ts': ['looksAtOnce = 8;', 'mostRaises = 5;'],
    },
  },
];
