// Texts of book.

export const book = {
  'book.title': 'Open requests',
} as const;
