// Texts of help.

export const help = {
  'help.title': 'Help',
} as const;
