// Tests only: screens of a settlement, of the phrase and of a rescue in every state, by an engine
// of fixtures. `showState(name)` shows one of `states`, or of `screenOf` below.

// Before any other sheet: it says in which order the layers count.
import '@parley/web/style/style.css';
import '@parley/web/style/font.css';

import { RescueError } from '@parley/sdk/errors.ts';
import { byWalletOf } from '@parley/web/engine/by-wallet.ts';
import type { Engine } from '@parley/web/engine/engine.ts';
import { memoryKept } from '@parley/web/engine/keeping.ts';
import type { SwapView, VaultState } from '@parley/web/engine/types.ts';
import { held } from '@parley/web/live.ts';
import { moveClock } from '@parley/web/market/config.ts';
import { queries } from '@parley/web/market/site.ts';
import { handOver } from '@parley/web/parts/page-wallets.ts';
import { Spoken } from '@parley/web/parts/spoken.tsx';
import type { Seen } from '@parley/web/parts/swap/situation.ts';
import {
  agreedAt,
  everyDoubt,
  healthy,
  payAsk,
  seen,
  states,
} from '@parley/web/parts/swap/testing/views.ts';
import { tell } from '@parley/web/parts/tell.ts';
import { TellMeWords } from '@parley/web/parts/tell-me.tsx';
import { OwnActivity } from '@parley/web/screens/activity/activity.tsx';
import { PhraseScreen } from '@parley/web/screens/phrase/phrase.tsx';
import { RescueScreen } from '@parley/web/screens/rescue/rescue.tsx';
import { SwapPage } from '@parley/web/screens/settlement/settlement.tsx';
import { languageFor } from '@parley/web/texts/languages.ts';
import { speak } from '@parley/web/texts/texts.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';

const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

type Given = {
  readonly swaps?: readonly SwapView[];
  readonly at?: Seen;
  readonly vault?: VaultState;
  readonly more?: Partial<Engine>;
};

/** One of the browser: a prompt of a wallet outlives a screen. */
const disk = memoryKept();

function engineOf({ swaps = [], at, vault = checked, more = {} }: Given): Engine {
  moveClock((at?.now ?? agreedAt + 60) - Math.floor(Date.now() / 1_000));
  const kept = held<VaultState>(vault);
  const chains = [
    { chain: 'bitcoin-regtest', family: 'bitcoin', title: 'Bitcoin regtest', isKnown: false },
    { chain: 'evm-dev', family: 'evm', title: 'A dev chain (chain id 31337)', isKnown: false },
  ] as const;
  const byWallet = byWalletOf({
    kept: disk,
    now: () => at?.now ?? agreedAt + 60,
    one: () => at?.swap ?? null,
    payments: async () => at?.payments ?? [],
  });
  const nodes = held(chains.map((each) => ({ ...each, nodes: [] as string[], isOwn: false })));
  const engine = {
    network: 'dev',
    now: () => at?.now ?? agreedAt + 60,
    vault: {
      state: kept,
      make: async () => kept.set({ kind: 'unchecked', madeAt: agreedAt }),
      words: async () => words.split(' '),
      asked: () => [2, 5, 11],
      check: async (typed: Record<number, string>) => {
        const wrong = [2, 5, 11].filter((place) => typed[place] !== words.split(' ')[place - 1]);
        if (wrong.length === 0) kept.set(checked);
        return { wrong };
      },
      read: async () => undefined,
      readBack: async (came: string) => {
        const isRight = came === words;
        if (isRight) kept.set(checked);
        return isRight;
      },
      restore: async () => assertNever(),
      forget: async () => kept.set({ kind: 'none' }),
    },
    nodes: {
      chains: nodes,
      check: async () => assertNever(),
      keep: async () => assertNever(),
    },
    swaps: {
      all: held(swaps),
      one: () => null,
      driver: held({ kind: 'this' } as const),
      takeOver: async () => false,
      look: async () => undefined,
      again: () => undefined,
      sign: () => undefined,
      payTo: async (_: string, address: string) => {
        throw new Error(`"${address}" is no address of Bitcoin regtest`);
      },
      payments: async () => at?.payments ?? [],
      giveExtra: (_: string, extra: bigint) =>
        document.body.setAttribute('data-gives', String(extra)),
      giveUp: async (id: string) => document.body.setAttribute('data-gives-up', id),
      raw: async () => {
        throw new RescueError('not_as_text', 'the secret is not public');
      },
    },
    health: held(healthy),
    use: () => undefined,
    bitcoinSigner: async () => assertNever(),
    examine: async () => assertNever(),
    accept: async () => assertNever(),
    rescue: rescueOf(),
    byWallet: at?.wallet == null ? byWallet : { ...byWallet, of: async () => at.wallet ?? null },
    ...more,
  } as unknown as Engine;
  return engine;
}

function rescueOf() {
  return {
    file: held({ swaps: 1, writtenAt: agreedAt, isSaved: true }),
    save: async () => '{}',
    open: async () => assertNever(),
    fromFile: async () => assertNever(),
    fromMarket: async () => assertNever(),
  };
}

function assertNever(): never {
  throw new Error('no fixture asks for this');
}

const checked: VaultState = {
  kind: 'checked',
  madeAt: agreedAt,
  checkedAt: agreedAt,
  keptIn: 'words',
};

const problems: SwapView['problems'] = (
  ['node', 'market', 'market_lied', 'clock', 'gas', 'store', 'settle', 'terms'] as const
).map((kind) => ({ kind, leg: null, code: null, sentence: `told of ${kind}` }));

function screenOf(name: string) {
  const unchecked = { kind: 'unchecked', madeAt: agreedAt } as const;
  switch (name) {
    case 'phrase none':
      return <PhraseScreen engine={engineOf({ vault: { kind: 'none' } })} />;
    case 'phrase unchecked':
      return <PhraseScreen engine={engineOf({ vault: unchecked })} />;
    case 'phrase checked':
      return <PhraseScreen engine={engineOf({})} />;
    case 'rescue':
      return <RescueScreen engine={engineOf({ vault: { kind: 'none' } })} />;
    case 'swaps':
      return <OwnActivity engine={engineOf({ swaps: listOf() })} />;
    case 'swaps none':
      return <OwnActivity engine={engineOf({})} />;
    case 'swap unknown':
      return <SwapPage engine={engineOf({})} id="none" />;
    case 'swap looked for': {
      const engine = engineOf({});
      const look = () => new Promise<void>(() => undefined);
      return <SwapPage engine={{ ...engine, swaps: { ...engine.swaps, look } }} id="agreed" />;
    }
    case 'swap warned': {
      const at = seen({ isByHand: true, problems, asks: [payAsk], doubts: everyDoubt });
      const other = held({ kind: 'other', isSilent: false } as const);
      const engine = engineOf({ swaps: [at.swap], at, vault: unchecked });
      const more = { ...engine, swaps: { ...engine.swaps, driver: other } };
      return <SwapPage engine={more} id={at.swap.id} />;
    }
    case 'file unsaved': {
      const at = seen({ isByHand: true, asks: [payAsk] });
      const file = held({ swaps: 1, writtenAt: agreedAt, isSaved: false });
      const engine = engineOf({
        swaps: [at.swap],
        at,
        more: { rescue: { ...engineOf({}).rescue, file } },
      });
      return <SwapPage engine={engine} id={at.swap.id} />;
    }
    case 'swap stopped': {
      const at = seen({ phase: 'stopped', problems: problems.slice(-1) });
      return <SwapPage engine={engineOf({ swaps: [at.swap], at })} id={at.swap.id} />;
    }
  }
  const at = states.find(([each]) => each === name)?.[2];
  if (at === undefined) throw new Error(`no state "${name}"`);
  const full: SwapView = {
    ...at.swap,
    checks: [
      { name: 'terms', ok: true, sentence: '0.01 BTC for 640 USDX' },
      { name: 'escrows', ok: true, sentence: 'both addresses follow from your terms' },
    ],
  };
  const tell = <TellMeWords path={`/swaps/${full.id}`} />;
  return <SwapPage engine={engineOf({ swaps: [full], at })} id={full.id} tell={tell} />;
}

function listOf(): SwapView[] {
  return states.map(([, , at], index) => ({ ...at.swap, id: `swap-${index}` }));
}

const shown = held('');

function Shown() {
  const name = useSyncExternalStore(shown.subscribe, shown.now);
  return name === '' ? null : (
    <main id="screen" key={name}>
      {screenOf(name)}
    </main>
  );
}

const language = languageFor(null, navigator.languages);
void speak(language, { isWhole: true }).then(() =>
  Object.assign(globalThis, {
    tell,
    showState: (name: string) => {
      queries.clear();
      shown.set(name);
    },
  }),
);
handOver(({ signer }) => document.body.setAttribute('data-uses', signer.address));
const root = createRootRoute({ component: Shown });
const paths = [
  '/activity',
  '/swaps/$id',
  '/phrase',
  '/rescue',
  '/wallets',
  '/settings',
  '/',
] as const;
const routes = paths.map((path) => createRoute({ getParentRoute: () => root, path }));
const router = createRouter({
  routeTree: root.addChildren(routes),
  history: createMemoryHistory({ initialEntries: ['/'] }),
});
const place = document.querySelector('#app');
if (place === null) throw new Error('the page has no #app');
createRoot(place).render(
  <QueryClientProvider client={queries}>
    <Spoken>
      <RouterProvider router={router as never} />
    </Spoken>
  </QueryClientProvider>,
);
