// Blocks and time of the Bitcoin dev chain.
import { pace } from './pace.ts';
import { type Calls, rpcBatchTo, rpcTo } from './rpc.ts';

/** Everyday blocks pay to OP_TRUE: the faucet's wallet stays small however long the chain runs. */
export const everydayMiner = 'raw(51)#8lvh9jxk';
/** The median of eleven block times moves when six of them did. */
const blocksToMoveMedian = 6;

type ChainState = { blocks: number; time: number; mediantime: number; bestblockhash: string };
type Mempool = { size: number; bytes: number };

/** `isMoved()`: whether the dev network's clock has left the machine's. */
export type NodeClock = { now(): number; isMoved(): boolean };

export function bitcoinMining(rpcUrl: string, clock: NodeClock) {
  const rpc = rpcTo(rpcUrl);
  const batch = rpcBatchTo(rpcUrl);
  const rhythm = pace();
  let ownTip = '';
  /**
   * Transactions that waited when a block left them out: fees too low to mine, so no reason to mine
   * again.
   */
  let leftOut = '';

  const readState = () => rpc<ChainState>('getblockchaininfo');
  const make = async (blocks: number, before: Calls = []) => {
    const answers = await batch<unknown[]>([
      ...before,
      ['generatetodescriptor', [blocks, everydayMiner]],
      // This command alone writes the chain state at once: a kill -9 would take an hour of it.
      ['gettxoutsetinfo', ['none']],
    ]);
    const hashes = answers[before.length] as readonly string[];
    ownTip = hashes.at(-1) ?? ownTip;
    rhythm.mined(performance.now());
  };
  const makeEmpty = async (blocks: number) => {
    for (let made = 0; made < blocks; made += 1) {
      const { hash } = await rpc<{ hash: string }>('generateblock', [everydayMiner, []]);
      ownTip = hash;
    }
    await rpc('gettxoutsetinfo', ['none']);
    rhythm.mined(performance.now());
  };
  const makeNow = async (blocks: number) => {
    // A mock time stands still: it is set again before every block. 0 is the machine's clock.
    await make(blocks, [['setmocktime', [clock.isMoved() ? clock.now() : 0]]]);
  };
  /** Until the median time has reached `now`. `empty`: by blocks without transactions. */
  const moveTo = async (now: number, empty = false) => {
    for (let time = now; (await readState()).mediantime < now; time++) {
      await rpc('setmocktime', [time]);
      await (empty ? makeEmpty : make)(blocksToMoveMedian);
    }
    await rpc('setmocktime', [clock.isMoved() ? clock.now() : 0]);
    rhythm.wake((await readState()).blocks);
  };
  const head = async () => {
    const { blocks, time, mediantime } = await readState();
    return { height: blocks, time, medianTime: mediantime };
  };
  return {
    head,
    moveTo,
    mine: async (blocks: number) => {
      await makeNow(blocks);
      rhythm.wake((await readState()).blocks);
    },
    tick: async (): Promise<void> => {
      const [{ blocks, bestblockhash }, before] = await batch<[ChainState, Mempool]>([
        ['getblockchaininfo'],
        ['getmempoolinfo'],
      ]);
      // Somebody else mined, or a block was taken back: the one that did so waits for depth.
      if (bestblockhash !== ownTip) rhythm.wake(blocks);
      ownTip = bestblockhash;
      const waiting = before.size > 0 && nameOf(before) !== leftOut;
      if (!rhythm.isDue(blocks, waiting, performance.now())) return;
      await makeNow(1);
      if (!waiting) return;
      const after = await rpc<Mempool>('getmempoolinfo');
      leftOut = nameOf(after);
      if (leftOut !== nameOf(before)) rhythm.wake(blocks + 1);
    },
  };
}

function nameOf({ size, bytes }: Mempool): string {
  return `${size}:${bytes}`;
}
