// Texts of settings: own nodes, and the language.

export const settings = {
  'settings.title': 'Settings',
  'settings.browser': 'They are of this browser, and are sent nowhere.',
  'settings.language': 'Language',
  'settings.language.what':
    'The app speaks English so far. Numbers and times are written as this browser writes them:',
  'settings.theme.what': 'Light or dark is as your system is.',
  'nodes.title': 'Nodes of your own',
  'nodes.what':
    'Before you sign anything, this browser reads the chains itself. Whoever runs those nodes could lie to it: with nodes of your own you believe nobody.',
  'nodes.none': 'This market tells of no chains.',
} as const;
