// The app starts: one router, one cache of what the market says.

import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './app/router.tsx';
import { queries } from './market/queries.ts';
import { keepApp } from './offline/keep.ts';
import './style/style.css';

const place = document.querySelector('#app');
if (place === null) throw new Error('index.html has no #app');
window.addEventListener('load', () => void keepApp());
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
