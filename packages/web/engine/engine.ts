// The engine of a page, put together: phrase, nodes, acceptances, swaps, rescue.

import type { AppChain } from '@parley/core/app-chain.ts';
import { type ChainKey, has, type Network } from '@parley/core/families.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import type { StoreError } from '@parley/sdk/errors.ts';
import { type GasSide, gasOf } from '@parley/sdk/gas.ts';
import { storeWith } from '@parley/sdk/rescue/store.ts';
import type { StoreHealth } from '@parley/sdk/stores/indexed-db.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import { held, type Live } from '../live.ts';
import { mostClockOffSeconds } from '../market/config.ts';
import { byWalletOf } from './by-wallet.ts';
import { dealsOf, escrowKey } from './deals.ts';
import { chainsAtStake, type Kept } from './keeping.ts';
import { openNodes } from './nodes.ts';
import { openRescue } from './rescue.ts';
import { sleep } from './sleep.ts';
import { type OpenSwaps, openSwaps } from './swaps.ts';
import type { Said } from './tabs.ts';
import type { Health, Problem } from './types.ts';
import { openVault } from './vault.ts';
import { handsOf, keyWallet } from './wallets.ts';

const gasMs = 20_000;

type EngineParts = {
  /** One for all tabs of a person. */
  readonly name: string;
  readonly network: Network;
  readonly chains: readonly AppChain[];
  readonly client: ParleyClient;
  readonly store: Store & { health?(): Promise<StoreHealth> };
  readonly kept: Kept;
  /** Whether a market served the page: its content policy says which nodes may be asked. */
  readonly isServed: boolean;
  /** `offsetSeconds` is for a dev network; `atMs` is the market's, null where it does not say. */
  readonly marketClock: () => Promise<{
    readonly offsetSeconds: number;
    readonly atMs: number | null;
  }>;
  readonly clockEveryMs: number;
  readonly pollMs: number;
};

export type OpenEngine = Awaited<ReturnType<typeof openEngine>>;
/** As screens have it; `pageEngine()` (page.ts) opens the one of a page. */
export type Engine = Omit<OpenEngine, 'close'>;

export async function openEngine(parts: EngineParts) {
  const { name, network, chains, client, store, kept } = parts;
  const over = new AbortController();
  const health = held<Health>({ store: 'opening', storeSentence: null, clockOffSeconds: null });
  let offsetSeconds = 0;
  let swaps: OpenSwaps | null = null;
  const now = () => Math.floor(Date.now() / 1_000) + offsetSeconds;
  const say = (said: Said) => swaps?.say(said);
  const onStoreFault = ({ code, message }: StoreError) =>
    health.set({ ...health.now(), store: code, storeSentence: message });
  const askClock = async () => {
    const { offsetSeconds: offset, atMs } = await parts.marketClock();
    offsetSeconds = offset;
    const clockOffSeconds = atMs === null ? null : Math.round((Date.now() - atMs) / 1_000);
    const before = health.now();
    if (before.clockOffSeconds !== clockOffSeconds) health.set({ ...before, clockOffSeconds });
  };
  // Before the first swap looks at a deadline.
  await askClock().catch(() => {});
  const vault = await openVault({
    kept,
    network,
    now,
    onChange: () => {
      say({ kind: 'changed', what: 'vault' });
      swaps?.restart();
    },
    atRisk: async (since) => ({
      open: (await swaps?.open(since)) ?? 0,
      isSaved: rescue.file.now().isSaved,
    }),
  });
  const phraseStore = async () => storeWith(await vault.keys(), store, now);
  const atStake = network === 'dev' ? new Set<string>() : await chainsAtStake(store, kept);
  const nodes = await openNodes({
    chains,
    atStake,
    network,
    kept,
    now,
    isServed: parts.isServed,
    onChange: (chain) => {
      say({ kind: 'changed', what: 'nodes' });
      swaps?.restart((leg) => leg.chain === chain);
    },
  });
  const onRestored = () => void swaps?.look();
  const rescue = await openRescue({
    client,
    kept,
    nodes,
    phraseStore,
    onRestored,
    onChange: () => say({ kind: 'changed', what: 'rescue' }),
  });
  // A swap of other accounts would read its chains from the beginning for nothing.
  const hands = handsOf({
    onLink: (isOf, isHere) => {
      swaps?.restart(isOf);
      if (isHere) swaps?.comeHere(isOf);
    },
  });
  const deals = dealsOf({
    client,
    kept,
    vault,
    nodes,
    now,
    phraseStore,
    open: async () => (await swaps?.open()) ?? 0,
    health: health.now,
    onEntry: () => void swaps?.look(),
  });
  const onSaid = (said: Said) => {
    if (said.kind !== 'changed' || said.what === 'deals') return;
    if (said.what === 'rescue') void rescue.read();
    else void { vault, nodes }[said.what].read().then(() => swaps?.restart());
  };
  swaps = await openSwaps({
    name,
    client,
    store,
    kept,
    vault,
    nodes,
    deals,
    hands,
    now,
    onStoreFault,
    onSaid,
    pollMs: parts.pollMs,
    problems: () => clockProblem(health.now()),
    onRescue: rescue.due,
  });
  const open = swaps;
  await askHealth(parts, health);
  const clocks = (async () => {
    const isOver = () => over.signal.aborted;
    while (!isOver()) {
      await sleep(parts.clockEveryMs, over.signal);
      // A market that is away changes no clock.
      if (!isOver()) await askClock().catch(() => {});
    }
  })();
  return {
    network,
    /** The own clock, Unix seconds. A dev network's where the market has moved it. */
    now,
    vault,
    nodes,
    swaps,
    rescue,
    byWallet: byWalletOf({ kept, now, one: open.one, payments: open.payments }),
    health: health as Live<Health>,
    examine: deals.examine,
    /**
     * The own wallet's amount of a chain's coin, and the amount that its side may take; null: it
     * needs none. Errors of a node pass through.
     */
    gas: async (chain: ChainKey, side: GasSide) =>
      gasOf(await nodes.source(chain), side, AbortSignal.timeout(gasMs)),
    accept: deals.accept,
    /** A wallet that the person has connected (`packages/web/wallets`): it signs for swaps of its account. */
    use: hands.use,
    /**
     * The phrase's key of all escrows on Bitcoin. The market pays only keys that the account has
     * linked: for `linkWallet` of the SDK, with the login wallet, or an account's payout. Throws
     * EngineError `no_phrase`, `unknown_chain`.
     */
    bitcoinSigner: async () => {
      const { chain = 'bitcoin' } =
        nodes.chains.now().find(({ family }) => has(family, 'coins')) ?? {};
      return keyWallet(await nodes.source(chain), (await vault.keys()).bitcoinKey(escrowKey), null);
    },
    close: async () => {
      over.abort();
      await Promise.all([clocks, open.close()]);
      await nodes.close();
    },
  };
}

async function askHealth({ store }: EngineParts, health: ReturnType<typeof held<Health>>) {
  const { kept = 'persisted' } = (await store.health?.()) ?? {};
  health.set({ ...health.now(), store: kept });
}

function clockProblem({ clockOffSeconds: off }: Health): Problem[] {
  if (off === null || Math.abs(off) <= mostClockOffSeconds) return [];
  const way = off > 0 ? 'ahead of' : 'behind';
  const sentence = `this device's clock is ${Math.abs(off)} s ${way} the market's: set it right`;
  return [{ kind: 'clock', leg: null, code: null, sentence }];
}
