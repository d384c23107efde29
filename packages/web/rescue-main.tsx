// The rescue page as one file, opened from a disk: the same screens, by an engine that begins with
// what a rescue file says. It has no market, and keeps nothing.

// Before any other sheet: it says in which order the layers count.
import './style/style.css';

import { readRescue } from '@parley/sdk/rescue/file.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { copyEngine } from './engine/copy.ts';
import type { Engine } from './engine/engine.ts';
import { held } from './live.ts';
import { now } from './market/config.ts';
import { queries } from './market/site.ts';
import { useLive } from './market/use-live.ts';
import { Notice, Select, useAnnounced } from './parts/controls.tsx';
import { Icon } from './parts/icons.tsx';
import { Screen } from './parts/page.tsx';
import { handOver } from './parts/page-wallets.ts';
import { Spoken } from './parts/spoken.tsx';
import { OwnActivity } from './screens/activity/activity.tsx';
import { FromFile } from './screens/rescue/from-file.tsx';
import { RescueScreen } from './screens/rescue/rescue.tsx';
import type { Opened } from './screens/rescue/told.ts';
import { SwapPage } from './screens/settlement/settlement.tsx';
import { allLanguages, languageFor, languages } from './texts/languages.ts';
import { language, speak, text } from './texts/texts.ts';

type Begun = { readonly engine: Engine; readonly copyOf: Opened };

/** Outlives the screens: one engine a page. */
const begun = held<Begun | null>(null);

window.addEventListener('beforeunload', (event) => {
  const swaps = begun.now()?.engine.swaps.all.now() ?? [];
  if (swaps.some(({ phase }) => phase !== 'ended')) event.preventDefault();
});

function Start() {
  const from = useLive(begun);
  const [opened, setOpened] = useState<Opened | null>(null);
  const open = async (content: string) => {
    const { network } = readRescue(content);
    const engine = await copyEngine(network);
    handOver(engine.use);
    const file = await engine.rescue.open(content);
    if (file.swaps.length > 0) begun.set({ engine, copyOf: { file, text: content } });
    return file;
  };
  if (from !== null) return <RescueScreen engine={from.engine} copyOf={from.copyOf} />;
  return (
    <Screen title={text('rescue.title')} narrow>
      <p>{text('rescue.intro')}</p>
      <section className="panel">
        <FromFile now={now} open={open} opened={opened} set={setOpened} />
      </section>
    </Screen>
  );
}

function One() {
  const from = useLive(begun);
  const { id } = one.useParams();
  return from === null ? <Start /> : <SwapPage engine={from.engine} id={id} key={id} />;
}

function All() {
  const from = useLive(begun);
  return from === null ? <Start /> : <OwnActivity engine={from.engine} />;
}

function Layout() {
  const announced = useAnnounced();
  return (
    <>
      <header className="top">
        <Link to="/rescue" className="brand">
          <Icon name="rescue" />
          {text('rescue.copy.title')}
        </Link>
        <nav aria-label={text('layout.navigation')}>
          <Link to="/activity">{text('activity.title')}</Link>
        </nav>
        <div className="top-right">
          <Select
            label={text('settings.language')}
            value={language()}
            onChange={(to) => void speak(to, { isWhole: true })}
            options={allLanguages.map((value) => ({ value, label: languages[value].name }))}
          />
        </div>
      </header>
      <main id="screen" tabIndex={-1}>
        <Notice kind="warn">{text('rescue.memory')}</Notice>
        <Outlet />
      </main>
      <div className="unseen" aria-live="polite">
        {announced}
      </div>
    </>
  );
}

const root = createRootRoute({ component: Layout, notFoundComponent: Start });
const getParentRoute = () => root;
const start = createRoute({ getParentRoute, path: '/rescue', component: Start });
const all = createRoute({ getParentRoute, path: '/activity', component: All });
const one = createRoute({ getParentRoute, path: '/swaps/$id', component: One });
const router = createRouter({
  routeTree: root.addChildren([start, all, one]),
  history: createMemoryHistory({ initialEntries: ['/rescue'] }),
});

const place = document.querySelector('#app');
if (place === null) throw new Error('rescue.html has no #app');
void speak(languageFor(null, navigator.languages), { isWhole: true }).then(() =>
  createRoot(place).render(
    <QueryClientProvider client={queries}>
      <Spoken>
        {/* Its routes are not those of the app, whose types the links have. */}
        <RouterProvider router={router as never} />
      </Spoken>
    </QueryClientProvider>,
  ),
);
