// The needs of the Bitcoin adapter of an Esplora server: every path, and the payments of an
// address.

import { esploraBackend } from '@parley/chains/bitcoin/esplora-backend.ts';
import type { EsploraQuestion } from '@parley/chains/bitcoin/esplora-paths.ts';
import {
  bitcoinNetworkOf,
  paidAddress,
  witnessScriptHashAddress,
} from '@parley/chains/bitcoin/networks.ts';
import { parseBlock } from '@parley/chains/bitcoin/raw-transaction.ts';
import { worldOfBitcoin } from '@parley/core/worlds.ts';
import type { Of } from '../../settings/chains.ts';
import { type Look, type Node, once, type Probe, refusesNonsense } from './probes.ts';

type Eyes = ReturnType<typeof eyesOn>;

function eyesOn(node: Node) {
  const source = node.source as Of<'bitcoin'>;
  const { esploraUrl: url = '' } = source;
  const network = bitcoinNetworkOf(worldOfBitcoin(source.network));
  const backend = esploraBackend({ url, limits: { timeMs: node.callMs }, network });
  const nobodys = witnessScriptHashAddress(Uint8Array.of(0, 32, ...new Uint8Array(32)), network);
  const tip = once((signal) => backend.tip(signal));
  /** The payment of the newest block to its miner, who has an address as a rule. */
  const paid = once(async (signal) => {
    const { transactions } = parseBlock(await backend.block((await tip(signal)).hash, signal));
    const [coinbase] = transactions;
    if (coinbase === undefined) throw new Error('its best block is empty');
    const outputs = coinbase.outputs.map(({ script }) => paidAddress(script, network)?.address);
    const address = outputs.find((each) => each !== undefined) ?? nobodys;
    return { txid: coinbase.txid(), address };
  });
  return { backend, tip, paid };
}

export function lookAtEsplora(node: Node): Look {
  const eyes = eyesOn(node);
  const { backend, tip, paid } = eyes;
  return {
    methods: pathsOf(eyes),
    properties: {},
    load: {
      // Escrows are asked one after the other, 20 a pass.
      neededPerSecond: 5,
      asks: [
        (signal) => backend.tip(signal),
        async (signal) => backend.blockHash((await tip(signal)).height, signal),
        async (signal) => backend.rawOf((await paid(signal)).txid, null, signal),
      ],
    },
  };
}

function pathsOf({ backend, tip, paid }: Eyes): Record<EsploraQuestion, Probe> {
  const past = once(async (signal) => {
    const { address } = await paid(signal);
    if (backend.past.kind !== 'by_address') throw new Error('no past by address');
    const most = await backend.past.count(address, signal);
    const { mined } = await backend.past.read(address, { most, below: null }, signal);
    return `${mined.length} payments of ${address}`;
  });
  const payments: Probe = { without: 'no payment of an escrow is seen', ask: past };
  const interest = { outpoints: () => [], isNewInterest: false, about: null };
  const waiting: Probe = {
    without: payments.without,
    ask: async (signal) => {
      const { address } = await paid(signal);
      const asked = { ...interest, unmined: [], addresses: () => [address] };
      const { transactions } = await backend.mempool(asked, signal);
      return `${transactions.length} of ${address} wait`;
    },
  };
  const status: Probe = {
    without: 'what a transaction is worth and whether it waits is not seen',
    ask: async (signal) => {
      const { txid } = await paid(signal);
      const asked = { ...interest, unmined: [txid], addresses: () => [] };
      const { gone } = await backend.mempool(asked, signal);
      if (gone.length === 0) return 'of a transaction of its best block';
      return { says: `it does not know ${txid} of its best block`, verdict: 'lacks' };
    },
  };
  return {
    tipHash: {
      without: 'nothing is followed',
      ask: async (signal) => `best block ${(await tip(signal)).hash}`,
    },
    block: {
      without: 'the clock is not known',
      ask: async (signal) => `median time ${(await tip(signal)).clock}`,
    },
    blockHash: {
      without: 'no block is followed',
      ask: async (signal) => `block 0 is ${await backend.blockHash(0, signal)}`,
    },
    rawBlock: {
      without: 'nothing is followed',
      ask: async (signal) => `the best block, with ${(await paid(signal)).txid}`,
    },
    address: payments,
    minedOf: payments,
    waitingOf: waiting,
    tx: {
      without: 'no replacement is priced',
      ask: async (signal) => {
        await backend.mempoolEntry((await paid(signal)).txid, signal);
        return 'of a transaction of its best block';
      },
    },
    rawTx: {
      without: 'the bytes that an escrow’s payments were made with are not had',
      ask: async (signal) => {
        const { txid } = await paid(signal);
        const raw = await backend.rawOf(txid, null, signal);
        if (raw !== null) return `${raw.length / 2} bytes`;
        return { says: `it does not give ${txid} of its best block`, verdict: 'lacks' };
      },
    },
    txStatus: status,
    outspend: {
      without: 'no spend of an escrow is seen before its block',
      ask: async (signal) => {
        const spends = await backend.spenders([`${(await paid(signal)).txid}:0`], signal);
        return `${spends.length} spends wait`;
      },
    },
    feeEstimates: {
      without: 'fees are guessed',
      ask: async (signal) => {
        const found = await backend.feeEstimate(0, signal);
        if (found !== null && found.fast !== null) return `${found.fast} sat/vB for 2 blocks`;
        return {
          says: 'no estimate for 2, 3 and 6 blocks',
          verdict: 'weak',
          todo: 'fees are guessed until it has some',
        };
      },
    },
    send: {
      without: 'nothing is sent',
      ask: (signal) => refusesNonsense(backend.send('00', '0'.repeat(64), signal)),
    },
  };
}
