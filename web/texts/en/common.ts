// Texts of every screen.

export const common = {
  'common.loading': 'Loading…',
  'layout.skip': 'Skip to the content',
  'layout.product': 'Parley',
  'layout.navigation': 'Screens',
  'layout.book': 'Book',
  'layout.status': 'Status',
  'fault.title': 'This screen failed',
  'fault.safe': 'Nothing was signed or sent by it. Swaps that run are not touched.',
  'fault.again': 'Try again',
  'missing.title': 'There is nothing at this address',
  'missing.back': 'To the book',
} as const;
