// Texts of status.

export const status = {
  'status.title': 'Status of the market',
} as const;
