// The app starts: its language, one router, one cache of what the market says.

// Before any other sheet: it says in which order the layers count.
import './style/style.css';
import './style/font.css';
import './style/shell.css';

import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { driveOpenSwaps } from './app/open-swaps.ts';
import { router } from './app/router.tsx';
import { askForFirstScreen } from './market/answers.ts';
import { queries } from './market/site.ts';
import { keepApp } from './offline/keep.ts';
import { Spoken } from './parts/spoken.tsx';
import { opensBy } from './parts/tell.ts';
import { keptLanguage, languageFor } from './texts/languages.ts';
import { speak } from './texts/texts.ts';

const place = document.querySelector('#app');
if (place === null) throw new Error('index.html has no #app');
keepApp();
opensBy((path) => router.history.push(path));
window.addEventListener('load', driveOpenSwaps);
start(place).catch((error) => {
  // No words are there to say it by.
  place.textContent = 'Parts of this app did not arrive. Reload the page. · Bitte neu laden.';
  throw error;
});

async function start(place: Element): Promise<void> {
  const language = languageFor(keptLanguage(), navigator.languages);
  // Code of the screen, words and what it shows first are asked for at once.
  const { pathname } = window.location;
  if (pathname === '/') askForFirstScreen();
  const [routes] = router.getMatchedRoutes(pathname);
  // The screen says it where its code does not arrive.
  const code = routes.map((each) => router.loadRouteChunk(each)?.catch(() => {}));
  // The page has a shell until then: it gives way to the whole screen at once.
  await Promise.all([speak(language, { isWhole: pathname !== '/' }), ...code]);
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Spoken>
          <RouterProvider router={router} />
        </Spoken>
      </QueryClientProvider>
    </StrictMode>,
  );
}
