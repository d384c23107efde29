// Texts of book.

export const book = {
  'book.title': 'Open requests',
  'book.empty': 'Nobody asks for quotes at the moment.',
  'book.amount': 'Amount',
} as const;
