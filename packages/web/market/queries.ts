// Answers of the market are kept for a moment, and asked again when the page is looked at.

import { QueryClient } from '@tanstack/react-query';

export const queries = new QueryClient({
  defaultOptions: {
    // The client repeats by itself what is safe to repeat.
    queries: { retry: false, staleTime: 2_000 },
    mutations: { retry: false },
  },
});
