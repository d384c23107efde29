// Texts of settings: own nodes, and the language.

export const settings = {
  'settings.title': 'Settings',
  'settings.browser': 'They are of this browser, and are sent nowhere.',
  'settings.language': 'Language',
  'settings.language.choose': 'Language of the app',
  'settings.language.browser': 'As this browser: {language}',
  'settings.language.what': 'Numbers and times are written so:',
  'settings.language.market':
    'What the market and its chains answer, such as a refusal, is in English in every language.',
  'settings.theme.what': 'Light or dark is as your system is.',
  'nodes.title': 'Nodes of your own',
  'nodes.what':
    'Before you sign anything, this browser reads the chains itself. Whoever runs those nodes could lie to it: with nodes of your own you believe nobody.',
  'nodes.how':
    'Each is asked which chain it is of, and how far it is, before it is kept. It must answer pages of other sites (CORS). Several are compared with each other.',
  'nodes.unknown': 'The app does not know this chain by itself: it is of a dev network.',
  'nodes.market': 'Without nodes of yours, those that the market names are asked:',
  'nodes.market.none': 'The market names none: nothing can be settled on this chain without yours.',
  'nodes.own': 'Your nodes for {chain}',
  'nodes.own.hint':
    'One address a line. It is kept in this browser alone, with whatever key it holds.',
  'nodes.type': 'Type the address of a node.',
  'nodes.keep': 'Check and keep',
  'nodes.drop': "Ask the market's nodes again",
  'nodes.good': '{host} is of this chain, at block {height}.',
  'nodes.kept': 'They are asked from now on, and no others.',
  'nodes.refused': 'Nothing was kept or changed. Mend or remove the ones that failed.',
  'nodes.too_many': 'At most {most} nodes a chain: {count} are typed.',
  'nodes.fault.bad_url': '{host} is no address that this page may ask',
  'nodes.fault.unreachable': '{host} does not answer this page',
  'nodes.fault.other_chain': '{host} is of another chain',
  'nodes.fault.behind': '{host} is behind',
  'nodes.fault.bad_answer': '{host} answers what no node of this chain would',
  'nodes.none': 'This market tells of no chains.',
} as const;
