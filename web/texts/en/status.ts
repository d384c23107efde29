export const status = {
  'status.title': 'Status of the market',
} as const;
