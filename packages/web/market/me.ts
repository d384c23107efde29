// The account's wallets, as the market knows them.

import { useQuery } from '@tanstack/react-query';
import { account } from './account.ts';
import { market } from './client.ts';

export function useMe(enabled = true) {
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => market.me({ signal }), enabled });
}

export function usePayouts() {
  return useQuery({ queryKey: ['payouts'], queryFn: ({ signal }) => account.payouts(signal) });
}
