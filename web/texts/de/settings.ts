// Texts of settings: own nodes, and the language.

import type { settings as english } from '../en/settings.ts';
import type { Words } from '../words.ts';

export const settings: Words<typeof english> = {
  'settings.title': 'Einstellungen',
  'settings.browser': 'Sie gelten in diesem Browser und werden nirgends hin gesendet.',
  'settings.language': 'Sprache',
  'settings.language.choose': 'Sprache der App',
  'settings.language.browser': 'Wie dieser Browser: {language}',
  'settings.language.what': 'Zahlen und Zeiten stehen so da:',
  'settings.language.market':
    'Was der Markt und seine Chains antworten, etwa eine Ablehnung, ist in jeder Sprache Englisch.',
  'settings.theme.what': 'Hell oder dunkel ist es wie dein System.',
  'nodes.title': 'Eigene Nodes',
  'nodes.what':
    'Bevor du etwas signierst, liest dieser Browser die Chains selbst. Wer diese Nodes betreibt, könnte ihn belügen: mit eigenen glaubst du niemandem.',
  'nodes.how':
    'Jeder wird gefragt, zu welcher Chain er gehört und wie weit er ist, bevor er behalten wird. Er muss Seiten anderer Herkunft antworten (CORS). Mehrere werden miteinander verglichen.',
  'nodes.unknown':
    'Die App kennt diese Chain nicht von selbst: sie ist aus einem Entwicklungsnetz.',
  'nodes.market': 'Ohne eigene Nodes werden die gefragt, die der Markt nennt:',
  'nodes.market.none':
    'Der Markt nennt keine: ohne eigene kann auf dieser Chain nichts erledigt werden.',
  'nodes.own': 'Deine Nodes für {chain}',
  'nodes.own.hint':
    'Eine Adresse pro Zeile. Sie bleibt allein in diesem Browser, mit jedem Schlüssel darin.',
  'nodes.type': 'Gib die Adresse eines Nodes ein.',
  'nodes.keep': 'Prüfen und behalten',
  'nodes.drop': 'Wieder die Nodes des Markts fragen',
  'nodes.good': '{host} gehört zu dieser Chain, bei Block {height}.',
  'nodes.kept': 'Ab jetzt werden sie gefragt, und keine anderen.',
  'nodes.refused':
    'Nichts wurde behalten oder geändert. Verbessere oder entferne die, die nicht bestanden haben.',
  'nodes.too_many': 'Höchstens {most} Nodes pro Chain: eingegeben sind {count}.',
  'nodes.fault.bad_url': '{host} ist keine Adresse, die diese Seite fragen darf',
  'nodes.fault.unreachable': '{host} antwortet dieser Seite nicht',
  'nodes.fault.other_chain': '{host} gehört zu einer anderen Chain',
  'nodes.fault.behind': '{host} hinkt hinterher',
  'nodes.fault.bad_answer': '{host} antwortet, was kein Node dieser Chain antworten würde',
  'nodes.none': 'Dieser Markt nennt keine Chains.',
};
